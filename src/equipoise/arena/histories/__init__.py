"""Hand histories: reading, statistics, tables."""

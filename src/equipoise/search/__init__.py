"""Endgames solved at the table: subgames with the true pot and the real bet, gadgets, re-solving."""

"""Commands that serve others, or visit those who do."""

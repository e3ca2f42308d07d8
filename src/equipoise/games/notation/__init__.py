"""How games, bet sizes and actions are written."""

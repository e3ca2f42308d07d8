"""Subgame solving on games where the truth is known."""

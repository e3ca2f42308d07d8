"""One file a game."""

"""One file an algorithm, over the one sweep."""

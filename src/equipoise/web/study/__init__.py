"""The study page: a spot typed and painted, solved, walked, locked, compared, practised, shared."""

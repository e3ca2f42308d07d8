"""Jam or fold among three players, for chips or for the prizes of a tournament."""

"""The arena: matches that can be believed, formats and protocols."""

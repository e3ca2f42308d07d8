"""Spoiled inputs to everything that reads text or files."""

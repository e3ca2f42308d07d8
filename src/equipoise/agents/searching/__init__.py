"""Agents that search at the table."""

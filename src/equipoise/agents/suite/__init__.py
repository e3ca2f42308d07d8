"""Agents that learn as they play."""

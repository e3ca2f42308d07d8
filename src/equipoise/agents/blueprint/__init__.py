"""Agents that play a trained blueprint."""

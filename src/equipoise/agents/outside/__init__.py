"""Agents that think elsewhere: in a program of any language, or behind a chat server."""

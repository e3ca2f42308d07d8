"""Agents: policies that act, from what a player may see."""

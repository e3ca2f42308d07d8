"""Solvers that sample: one walk, its deals, its rows."""

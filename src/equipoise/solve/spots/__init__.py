"""Postflop spots: cost, solver, solution, files, export."""

"""Equilibrium solvers: one sweep over one tree, and a short file for each algorithm."""

"""Benchmarks: one module a suite, figures with their units and what they are compared with."""

"""Abstractions: many private states played as one."""

"""The version of this package, and nothing else: what the build and any module may read."""

__version__ = "0.1.0"

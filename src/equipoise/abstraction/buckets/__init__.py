"""One file a method of bucketing hands."""

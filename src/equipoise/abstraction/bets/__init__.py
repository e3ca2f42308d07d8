"""Where a real bet stands in a tree that lacks it."""

"""What players do with a solved spot: reports over cards and classes, comparisons, locks, drills."""

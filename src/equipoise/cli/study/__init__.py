"""Commands for studying: solved spots looked at, spots made from hands, drills."""

"""The one sweep under every solver: a game as flat arrays, row rules, terminals, and the walk."""

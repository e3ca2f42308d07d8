"""The recipe that tests train and spoil: a small tree, few buckets, few boards, ten iterations."""

from __future__ import annotations

TINY = """
name = "tiny"

[rules]
game = "nolimit"
stack = 1000

[menu]
bets = "100%,a"
max_raises = 2

[abstraction]
method = "equity"
count = 3

[model]
boards = 150

[solver]
name = "dcfr"

[limit]
iterations = 10
"""

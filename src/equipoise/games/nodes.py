"""Kinds of nodes of a betting tree: plain integers, for Python and compiled kernels alike.

0 and 1 are the player who decides there. The others end a line of betting, or hand it on:
"""

from __future__ import annotations

#: Somebody folded; the cards are shown, or dealt out after an all-in; the next round begins.
FOLD, SHOWDOWN, DEAL = 2, 3, 4
#: The line is cut here, and what it is worth to each private state is given by the caller.
GIVEN = 5

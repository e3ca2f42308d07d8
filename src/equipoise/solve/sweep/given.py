"""Terminals whose values are given by the caller: where a line of betting is cut.

A GIVEN node is worth `v(h) · N(h)` to private state `h`: the value that the caller supplies for the
state, times the opponent's reach that does not collide with it. It stands among the folds with a
coefficient of one, so that whichever evaluator is at work writes `N(h)` there; what is left to do is
to multiply.
"""

from __future__ import annotations

from equipoise.kernel import inlined_kernel
from equipoise.solve.sweep.lanes import LANES, load, store


@inlined_kernel
def scale_given(frame, board, part, player, work):
    """Multiply the reach that stands at a part's GIVEN nodes with the values given for them."""
    lines, given = frame.lines, frame.given
    width, start = frame.boards.width[board, player], given.start[board, player]
    for k in range(lines.given_start[part], lines.given_start[part + 1]):
        node = lines.givens[k]
        at, row = lines.home[node], start + lines.row[node] * width
        for h in range(0, width, LANES):
            reached = load(work.field, at + h)
            store(work.field, at + h, reached * load(given.values, row + h))

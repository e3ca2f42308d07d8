"""Which evaluator turns reach into values at the terminals of a board: one line a kind of tables.

A new way to weigh hands is a tuple of its tables, a kernel with the arguments of :func:`evaluate`, a
function that lays the tables out of a game (:mod:`.gamearrays`), and a line in `EVALUATORS`.
"""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from equipoise.solve.sweep.given import scale_given
from equipoise.solve.sweep.matrices import (
    Matrices,
    Panels,
    evaluate_matrices,
    evaluate_panels,
)
from equipoise.solve.sweep.showdown import SortedHands, evaluate_sorted

#: The kernel for each kind of tables.
EVALUATORS: dict[type, Any] = {
    SortedHands: evaluate_sorted,
    Matrices: evaluate_matrices,
    Panels: evaluate_panels,
}


def evaluate(layout, board, part, following, player, facing, numbers, work, par):
    """Values of all terminals of a part of the betting on a board, as `player` sees them.

    The opponent's reach stands in `work.field` at `work.slot[node]`, values go to `lines.home[node]`.
    `following` is the board that comes next, or -1: its rows may be fetched ahead. Compiled code only.
    """
    raise RuntimeError("only inside compiled kernels")


@overload(evaluate, inline="always")
def _evaluate_by_type(layout, board, part, following, player, facing, numbers, work, par):
    tables = layout.types[layout.fields.index("tables")].instance_class
    chosen = EVALUATORS[tables]

    def evaluate(layout, board, part, following, player, facing, numbers, work, par):
        chosen(layout, board, part, following, player, facing, numbers, work, par)
        scale_given(layout, board, part, player, work)

    return evaluate

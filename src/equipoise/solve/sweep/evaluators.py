"""The kernels of a sweep, by their addresses: which steps, and which evaluator for which tables.

A new way to weigh hands is a tuple of its tables, a kernel with the arguments of a step that turns
reach into values at all terminals of a part of the betting, a function that lays the tables out of a
game (:mod:`.gamearrays`), and a line in `EVALUATORS`. The opponent's reach stands in `work.field` at
`work.slot[node]`, values go to `lines.home[node]`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from equipoise.solve.sweep.bundles import SortedHands, evaluate_sorted
from equipoise.solve.sweep.handles import Handle, HandleType, address_of
from equipoise.solve.sweep.layout import FRAME, GOING_DOWN, GOING_UP
from equipoise.solve.sweep.matrices import (
    Matrices,
    Panels,
    evaluate_matrices,
    evaluate_panels,
)
from equipoise.solve.sweep.steps import down, enter, return_values, up

#: The kernel for each kind of tables.
EVALUATORS: dict[type, Any] = {
    SortedHands: evaluate_sorted,
    Matrices: evaluate_matrices,
    Panels: evaluate_panels,
}


def steps_for(layout: Handle, numbers: Handle, work: Handle) -> NDArray[np.int64]:
    """Addresses of the steps of a sweep, in the order of their codes; compiled if they are not yet."""
    evaluator = EVALUATORS[type(layout.held.tables)]
    return _addresses(evaluator, layout.type, numbers.type, work.type)


@cache
def _addresses(
    evaluator: Any, layout: HandleType, numbers: HandleType, work: HandleType
) -> NDArray[np.int64]:
    frame, whole = layout.only(FRAME), (types.int64,) * 4
    nothing = numbers.only(())
    return np.array(
        [
            address_of(enter, frame, nothing, work, *whole),
            address_of(down, frame, numbers.only(GOING_DOWN), work, *whole),
            address_of(evaluator, layout, nothing, work, *whole),
            address_of(up, frame, numbers.only(GOING_UP), work, *whole),
            address_of(return_values, frame, nothing, work, *whole),
        ],
        dtype=np.int64,
    )

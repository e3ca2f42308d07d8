"""Iterations of a game with a gadget: a whole chunk of them inside compiled code.

Entering compiled code takes longer than a gadget does. What is learnt is in :mod:`.gadgetrules`.
"""

from __future__ import annotations

from typing import Any

from equipoise.kernel import row_kernel
from equipoise.search.gadgetrules import learn_to_follow, learn_to_pick
from equipoise.solve.sweep.crew import meet
from equipoise.solve.sweep.sweep import run


@row_kernel
def iterate_gadget(
    task: Any,
    share: Any,
    codes: Any,
    schedule: Any,
    fading: Any,
    me: int,
    picks: bool,
    gadget: Any,
    values: Any,
    reach: Any,
) -> None:
    """For every row of parameters, and of fading: I sweep, then he, and then he learns.

    `codes` are the last numbers that :func:`~.sweep.run` is told, and its rule. Written here they would
    be constants, for which Numba compiles the whole of it once more. Of several threads each calls this
    with its share; what is learnt between the sweeps the first does.
    """
    frame, numbers, work, steps, copied = task
    rule, averaging, upward = codes
    for t in range(schedule.shape[0]):
        for turn in range(2):
            player = me if turn == 0 else 1 - me
            run(
                frame, numbers, work, steps, copied, schedule[t : t + 1], rule,
                (player, player), share, averaging, upward,
            )  # fmt: skip
        if share.member == 0:
            if picks:
                learn_to_pick(values, gadget, fading[t], reach)
            else:
                learn_to_follow(values, gadget, fading[t], reach)
        if not meet(share.board, share.owned.shape[0] - 1, share.rest):
            return

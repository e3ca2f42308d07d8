"""Folds and showdowns of hands in order of strength, hand by hand, sixteen terminals at a time.

For boards that are met once, as where they are drawn. On boards that are swept again and again hands are
bundled first (:mod:`.bundles`), which is twice as fast and gives the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.kernel import inlined_kernel, kernel_part
from equipoise.solve.sweep.lanes import LANES, load, splat, store
from equipoise.solve.sweep.layout import CARDS

Array = Any


class Side(NamedTuple):
    """A player's hands on a board: how many, and both cards of each."""

    count: Any
    card1: Array
    card2: Array


class Groups(NamedTuple):
    """My hands in groups of equal strength, beside the opponent's order."""

    count: Any
    #: End of the group among my hands.
    end: Array
    #: End, among his hands, of those weaker than the group, and of those not stronger.
    weaker_end: Array
    tied_end: Array


@inlined_kernel
def _no_cards(on_card, zero):
    nothing = splat(zero)
    for c in range(CARDS):
        store(on_card, c * LANES, nothing)


@kernel_part
def _meet(work, his, j, total):
    """Hand `j` of the opponent comes in: on each of its cards, and in all."""
    r = load(work.lanes_in, j * LANES)
    a, b = np.intp(his.card1[j]) * LANES, np.intp(his.card2[j]) * LANES
    store(work.on_card, a, load(work.on_card, a) + r)
    store(work.on_card, b, load(work.on_card, b) + r)
    return total + r


@kernel_part
def _apart(work, mine, i, total):
    """What has come in, less what holds one of my cards; hands that hold both are taken off twice."""
    a, b = np.intp(mine.card1[i]) * LANES, np.intp(mine.card2[i]) * LANES
    return total - load(work.on_card, a) - load(work.on_card, b)


@kernel_part
def fold_lanes(work, mine, his, same, zero):
    """Sixteen folds: `even * N` with `N` = all − on my first card − on my second + on both."""
    _no_cards(work.on_card, zero)
    total = splat(zero)
    for j in range(his.count):
        total = _meet(work, his, j, total)
    factor = load(work.even, 0)
    for i in range(mine.count):
        apart = _apart(work, mine, i, total) + load(work.lanes_in, np.intp(same[i]) * LANES)
        store(work.lanes_out, i * LANES, apart * factor)


@kernel_part
def showdown_lanes(work, mine, his, same, groups, raked, zero):
    """Sixteen showdowns in one ascending pass over both sorted hands.

    With `lt`, `le`, `all` the mass of his hands weaker than mine, not stronger, and all, each less
    what collides with my cards: `D = lt - (all - le)`. The identical hand is in `le` and in `all`,
    so it cancels; only the rake term needs it back.
    """
    _no_cards(work.on_card, zero)
    total = splat(zero)
    i0 = np.intp(0)
    j = np.intp(0)
    for g in range(groups.count):
        i1 = np.intp(groups.end[g])
        lower = np.intp(groups.weaker_end[g])
        upper = np.intp(groups.tied_end[g])
        while j < lower:
            total = _meet(work, his, j, total)
            j += 1
        for i in range(i0, i1):
            store(work.lanes_out, i * LANES, _apart(work, mine, i, total))
        if upper > lower:
            while j < upper:
                total = _meet(work, his, j, total)
                j += 1
            for i in range(i0, i1):
                tied = _apart(work, mine, i, total)
                store(work.lanes_out, i * LANES, load(work.lanes_out, i * LANES) + tied)
        else:
            for i in range(i0, i1):
                weaker = load(work.lanes_out, i * LANES)
                store(work.lanes_out, i * LANES, weaker + weaker)
        i0 = i1
    while j < his.count:
        total = _meet(work, his, j, total)
        j += 1
    factor, even_factor = load(work.swing, 0), load(work.even, 0)
    for i in range(mine.count):
        apart = _apart(work, mine, i, total)
        result = (load(work.lanes_out, i * LANES) - apart) * factor
        if raked:
            apart = apart + load(work.lanes_in, np.intp(same[i]) * LANES)
            result = result + apart * even_factor
        store(work.lanes_out, i * LANES, result)

"""Who wins between two hands, and by how many run-outs: hand by hand over the boards of a game.

The *margin* of a hand against another on a board is the number of run-outs that it wins less those
it loses. On a full board it is the sign of the difference in strength; before that it is the sum over
the boards that can come, which are added through the maps that say what each of their hands was
before (see :mod:`equipoise.games.boards`). Margins of hands that share a card mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.kernel import exact_kernel

#: [hand of player 0, hand of player 1]
Margins = NDArray[np.int16]
#: The parent's hand that each hand was, for both players.
Maps = tuple[NDArray[np.int64], NDArray[np.int64]]
#: Strengths of both players' hands; the higher wins.
Strengths = tuple[NDArray[np.int64], NDArray[np.int64]]


def run_outs(unseen: int, cards: Iterable[int]) -> int:
    """Ways in which so many cards of those unseen come, street by street.

    >>> run_outs(45, (1, 1))
    1980
    """
    ways = 1
    for count in cards:
        ways *= comb(unseen, count)
        unseen -= count
    return ways


def signs(strengths: Strengths) -> Margins:
    """Margins on a full board.

    >>> signs((np.array([3, 5]), np.array([3, 4])))
    array([[ 0, -1],
           [ 1,  1]], dtype=int16)
    """
    mine, theirs = strengths
    found: Margins = np.sign(mine[:, None] - theirs[None, :]).astype(np.int16)
    return found


def add_showdowns(margins: Margins, arrivals: Iterable[Maps], strengths: Strengths) -> None:
    """Add the margins of a full board to those of the board it was dealt from."""
    for maps in arrivals:
        # In the order of the board before: whole rows are added, hands that are blocked skipped.
        values = []
        for player in (0, 1):
            value = np.full(margins.shape[player], -1, dtype=np.int32)
            value[maps[player]] = strengths[player]
            values.append(value)
        _add_signs(margins, values[0], values[1])


def add_margins(margins: Margins, arrivals: Iterable[Maps], below: Margins) -> None:
    """Add the margins of a board to those of the board it was dealt from."""
    for mine, theirs in arrivals:
        _add_table(margins, mine, theirs, below)


@exact_kernel
def _add_signs(table: Any, mine: Any, theirs: Any) -> None:
    """Add the results of one full board; a strength below 0 is a hand that the board blocks."""
    for i in range(len(mine)):
        value = mine[i]
        if value < 0:
            continue
        for j in range(len(theirs)):
            other = theirs[j]
            table[i, j] += (other >= 0) * (np.int16(value > other) - np.int16(value < other))


@exact_kernel
def _add_table(table: Any, mine: Any, theirs: Any, below: Any) -> None:
    for i in range(len(mine)):
        for j in range(len(theirs)):
            table[mine[i], theirs[j]] += below[i, j]

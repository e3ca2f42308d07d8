"""Full boards in the order dealt: random ones, or every one up to a renaming of suits.

What a player remembers depends on which cards were the flop, so boards are told apart by flop, turn
and river: 51,979,200 of them, 2,554,656 up to suits. A board of each class, weighted by the boards
it stands for, makes sums over all boards exact.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.cards.isomorphism import dealt_boards
from equipoise.errors import GameError

#: Boards drawn at a time, so that more boards of a seed begin with the same ones.
_DRAWN = 1 << 16


def random_boards(count: int, seed: int) -> NDArray[np.uint8]:
    """Full boards, flop, turn and river in order: uint8[count, 5].

    >>> random_boards(3, seed=1).shape
    (3, 5)
    >>> bool((random_boards(2, seed=1) == random_boards(3, seed=1)[:2]).all())
    True
    """
    if count < 1:
        raise GameError(f"{count} boards: count at least one")
    rng = np.random.default_rng(seed)
    parts = [_draw(rng) for _ in range(-(-count // _DRAWN))]
    return np.concatenate(parts)[:count]


def _draw(rng: np.random.Generator) -> NDArray[np.uint8]:
    """The next boards of a stream, all equally likely."""
    boards = np.empty((_DRAWN, 5), dtype=np.uint8)
    for place in range(5):
        # The n-th of the cards still there: step over those gone, lowest first.
        card = rng.integers(DECK_SIZE - place, size=_DRAWN, dtype=np.uint8)
        for gone in np.sort(boards[:, :place], axis=1).T:
            card += card >= gone
        boards[:, place] = card
    return boards


@cache
def every_board(streets: int = 3) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """A board of each class after the flop (1), the turn (2) or the river (3), and their weights.

    >>> boards, weights = every_board(1)
    >>> boards.shape, int(weights.sum())
    ((1755, 3), 22100)
    """
    classes = np.arange(dealt_boards().size(streets - 1))
    boards = dealt_boards().unindex_many(streets - 1, classes)
    weights = dealt_boards().multiplicity_many(streets - 1, classes)
    boards.setflags(write=False)
    weights.setflags(write=False)
    return boards, weights

"""The streets of hold'em: their names, and the public cards on each of them."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.errors import CardError

#: Names of the betting rounds.
STREETS = ("preflop", "flop", "turn", "river")
STREET_COUNT = 4
#: Public cards that are dealt before each street.
BOARD_CARDS = (0, 3, 1, 1)
#: Public cards that lie on the table on each street.
BOARD_SIZES = (0, 3, 4, 5)


def street_of(board: Sequence[int]) -> int:
    """0 before the flop, 1 on the flop, 2 on the turn, 3 on the river.

    >>> street_of((0, 1, 2, 3)), STREETS[street_of(())]
    (2, 'preflop')
    """
    if len(board) not in BOARD_SIZES:
        raise CardError(f"a board of {len(board)} cards: it has 0, 3, 4 or 5")
    return BOARD_SIZES.index(len(board))

"""How small Rhode Island hold'em becomes by merging cards, and which merges lose nothing.

Gilpin and Sandholm (2007) solved it after lossless abstraction, by a linear program of 1,237,238 rows and
columns. With x classes of private cards, y of private card and flop and z of private card, flop and
turn, both players have 2 + 14 x + 98 y + 686 z sequences. Counted here are

    no merge      every card is itself
    suits         deals that differ by the names of suits alone are one: lossless
    flush         of the turn's suit only whether it is the flop's is kept: lossless still, since a flush
                  needs both public cards of one suit
    results       turns with as many wins, ties and losses against the cards left are one, and so are
                  flops with the same collection of such turns: the printed number exactly, but *not*
                  lossless, for it forgets which cards of the opponent the board helps
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.games.library.rhode_island import three_card_strength

SUITS, RANKS = 4, 13
#: Rows and columns of the published linear program.
PRINTED = 1_237_238


class Classes(NamedTuple):
    """Classes of what a player knows, by round."""

    private: int
    flop: int
    turn: int

    @property
    def sequences(self) -> int:
        """Sequences of both players.

        >>> Classes(52, 2652, 132600).sequences
        91224226
        """
        return 2 + 14 * self.private + 98 * self.flop + 686 * self.turn


def unmerged() -> Classes:
    """Every card is itself."""
    cards = SUITS * RANKS
    return Classes(cards, cards * (cards - 1), cards * (cards - 1) * (cards - 2))


def _deals() -> NDArray[np.int64]:
    """Private card, flop and turn of every deal: int64[132600, 3]."""
    cards = SUITS * RANKS
    grid = np.indices((cards, cards, cards)).reshape(3, -1).T
    apart = (grid[:, 0] != grid[:, 1]) & (grid[:, 0] != grid[:, 2]) & (grid[:, 1] != grid[:, 2])
    found: NDArray[np.int64] = grid[apart]
    return found


def by_suits() -> Classes:
    """Deals up to the names of suits, each renamed in the order in which it is first seen."""
    deals = _deals()
    ranks, suits = deals // SUITS, deals % SUITS
    second = np.where(suits[:, 1] == suits[:, 0], 0, 1)
    third = np.where(
        suits[:, 2] == suits[:, 0], 0, np.where(suits[:, 2] == suits[:, 1], second, second + 1)
    )
    flop = np.column_stack([ranks[:, :2], second])
    return Classes(
        RANKS, len(np.unique(flop, axis=0)), len(np.unique(np.column_stack([ranks, second, third]), axis=0))
    )  # fmt: skip


def by_flushes() -> Classes:
    """Of the suits only which cards match the flop's."""
    deals = _deals()
    ranks, suits = deals // SUITS, deals % SUITS
    same = suits[:, [0, 2]] == suits[:, [1]]
    flop = np.column_stack([ranks[:, :2], same[:, :1]])
    return Classes(
        RANKS, len(np.unique(flop, axis=0)), len(np.unique(np.column_stack([ranks, same]), axis=0))
    )


def result_classes(suits: int, ranks: int) -> list[NDArray[np.int64]]:
    """Class of every (private card), (private card, flop) and (private card, flop, turn), -1 if impossible.

    Turns are alike that have as many wins, ties and losses against the cards left; flops that have the
    same collection of such turns.
    """
    strength, cards = three_card_strength(suits, ranks), suits * ranks
    every = np.arange(cards, dtype=np.int16)[:, None]
    results = np.full((cards, cards, cards), -1, dtype=np.int64)
    for flop in range(cards):
        for turn in (card for card in range(cards) if card != flop):
            here = strength(every, (flop, turn)).astype(np.int64)
            left = np.delete(here, (flop, turn))
            won = (left[None] < here[:, None]).sum(axis=1)
            tied = (left[None] == here[:, None]).sum(axis=1) - 1  # my own card ties with itself
            results[:, flop, turn] = won * cards + tied
            results[[flop, turn], flop, turn] = -1
    rank = np.arange(cards) // suits
    collections = np.sort(results, axis=2).reshape(cards * cards, cards)
    keys = np.column_stack([np.repeat(rank, cards), collections])
    flops = np.full(cards * cards, -1, dtype=np.int64)
    wanted = ~np.eye(cards, dtype=bool).reshape(-1)
    flops[wanted] = np.unique(keys[wanted], axis=0, return_inverse=True)[1].reshape(-1)
    turns = np.full(cards**3, -1, dtype=np.int64)
    wanted = results.reshape(-1) >= 0
    keys = np.column_stack([np.repeat(flops, cards), results.reshape(-1)])[wanted]
    turns[wanted] = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    return [rank, flops.reshape(cards, cards), turns.reshape(cards, cards, cards)]


def by_results() -> Classes:
    """Turns with the same results are one, and flops with the same collection of turns."""
    return Classes(*(int(classes.max()) + 1 for classes in result_classes(SUITS, RANKS)))


def counts() -> list[dict[str, object]]:
    """All merges, with what they are."""
    merges = (
        ("no merge", unmerged, True),
        ("suits", by_suits, True),
        ("flush", by_flushes, True),
        ("results", by_results, False),
    )
    rows: list[dict[str, object]] = []
    for name, count, lossless in merges:
        found = count()
        rows.append(
            {"merge": name, **found._asdict(), "sequences": found.sequences, "lossless": lossless}
        )
    return rows

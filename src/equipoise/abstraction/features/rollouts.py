"""Rollout equity of every hand on every street, ready to be looked up.

The rollout equity of a hand is its mean share of the pot against any other two cards if all public
cards come without another bet: the means of :mod:`.equities`, which are exact.

Equities are whole numbers here, *levels*, in parts of :data:`FULL` = 45,540 and rounded down: two for
each of 990 opponents beaten, one for a tie, times 23. River equities are exact in it, and so are
the borders of two, three, four, five, six, nine, ten or twelve equal intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_COMBO, board_place
from equipoise.abstraction.features.equities import board_count, moments, river_scores, weights
from equipoise.abstraction.features.kernels import FULL_SCORE, NO_EQUITY
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cache import cached_table
from equipoise.cards.card import check_distinct
from equipoise.cards.combos import CLASS_SIZE, COMBO_CLASS, COMBO_COUNT, class_of, combo_index
from equipoise.cards.preflop import against_random
from equipoise.cards.streets import street_of

#: Levels in one point of a river score.
_PER_SCORE = 23
#: Level of a hand that always wins.
FULL = _PER_SCORE * FULL_SCORE
#: Runouts of a hand on the flop, turn and river in order, and on the turn.
_RUNOUTS = {1: 47 * 46, 2: 46}

Levels = NDArray[np.uint16]


@dataclass(frozen=True)
class RolloutTable:
    """Levels of all hands, and how often each level comes on each street."""

    #: On each canonical flop, as the next by combination: uint16[1755, 1326].
    flop: Levels
    #: On each canonical board of four cards.
    turn: Levels
    #: Scores, each worth 23 levels, on each canonical board of five cards.
    river: Levels
    #: Deals of each level on each street: int64[4, FULL + 1].
    counts: NDArray[np.int64]

    def level(self, hole: tuple[int, ...], board: tuple[int, ...] = ()) -> int:
        """Level of one hand, in a few microseconds.

        >>> from equipoise.cards.card import parse_cards
        >>> rollout_table().level(parse_cards("AsAh")) / FULL > 0.852
        True
        """
        street = street_of(board)
        check_distinct((*hole, *board))
        if street == 0:
            return int(_preflop_levels()[class_of(hole[0], hole[1])])
        row, renaming = board_place(board)
        combo = RENAMED_COMBO[renaming, combo_index(hole[0], hole[1])]
        if street == 3:
            return _PER_SCORE * int(self.river[row, combo])
        return int((self.flop if street == 1 else self.turn)[row, combo])

    def levels(self, board: Iterable[int] = ()) -> Levels:
        """Level of every combination on a board, :data:`BLOCKED` where they share a card."""
        common = tuple(int(card) for card in board)
        street = street_of(common)
        if street == 0:
            every: Levels = _preflop_levels()[COMBO_CLASS]
            return every
        row, renaming = board_place(common)
        table = (self.flop, self.turn, self.river)[street - 1]
        found: Levels = table[row][RENAMED_COMBO[renaming]]
        if street == 3:
            found[found != BLOCKED] *= np.uint16(_PER_SCORE)
        return found

    def equity(self, hole: tuple[int, ...], board: tuple[int, ...] = ()) -> float:
        """Rollout equity of a hand, exact to 1/45,540."""
        return self.level(hole, board) / FULL


@cache
def _preflop_levels() -> Levels:
    """Level of each class of hole cards."""
    return np.floor(against_random() * FULL + 1e-6).astype(np.uint16)


@cache
def rollout_table() -> RolloutTable:
    """The tables, mapped from the cache folder, or made and kept there: some ten seconds, once."""
    flop, turn, river = _levels(1), _levels(2), river_scores()

    def fill(out: NDArray[np.int64]) -> None:
        out[:] = 0
        np.add.at(out[0], _preflop_levels(), CLASS_SIZE)
        out[1], out[2] = (_level_counts(s, table) for s, table in ((1, flop), (2, turn)))
        out[3, ::_PER_SCORE] = _level_counts(3, river)[: FULL_SCORE + 1]

    counts = cached_table("rollout counts", {"full": FULL}, (4, FULL + 1), np.int64, fill)
    return RolloutTable(flop, turn, river, counts)


def _levels(street: int) -> Levels:
    """Level of every hand on the canonical boards of the flop or the turn."""

    def fill(out: Levels) -> None:
        mean = moments(street).mean
        # A mean times this is a whole number of points, up to the rounding of a float.
        points = FULL_SCORE * _RUNOUTS[street]
        for row, equities in zip(out, mean, strict=True):
            total = np.rint(equities.astype(np.float64) * points).astype(np.int64)
            row[:] = np.where(equities == NO_EQUITY, BLOCKED, total * FULL // points)

    shape = (board_count(street), COMBO_COUNT)
    return cached_table("rollout levels", {"street": street, "full": FULL}, shape, np.uint16, fill)


def _level_counts(street: int, table: Levels) -> NDArray[np.int64]:
    """Deals of each value of a street's table: boards count as often as they come."""
    counts = np.zeros(BLOCKED + 1, dtype=np.int64)
    for times in np.unique(weights(street)).tolist():
        for rows in np.array_split(np.flatnonzero(weights(street) == times), 32):
            counts += times * np.bincount(table[rows].ravel(), minlength=len(counts))
    return counts[: FULL + 1]

"""What the learning agents take for a state: the street, the bucket, and whether they face a bet.

With six equity buckets that is 4 · 6 · 2 = 48 states. Draws may have buckets of their own: suited
and offsuit connectors before the flop, flush, open-ended and inside straight draws on it, which
makes 2 · (8 + 9 + 6 + 6) = 58. A hand that is a draw is in the bucket of the draw, whatever its
equity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.buckets.equity import NO_BUCKET, EquityBuckets
from equipoise.abstraction.features.draws import DRAW_BUCKETS, draw_number
from equipoise.agents.suite.threeway import Move, moves
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.streets import BOARD_SIZES, STREET_COUNT, street_of
from equipoise.games.hand import HandResult
from equipoise.games.rules import Kind, State


@dataclass(frozen=True)
class Situations:
    """Numbers the states of a learner.

    >>> Situations().count, Situations(draws=False).count
    (58, 48)
    """

    buckets: EquityBuckets = field(default_factory=lambda: EquityBuckets(6))
    #: Draws have buckets of their own.
    draws: bool = True

    def width(self, street: int) -> int:
        """Buckets of a street, those of draws included."""
        return self.buckets.count + (DRAW_BUCKETS[street] if self.draws else 0)

    @cached_property
    def _first(self) -> tuple[int, ...]:
        """First state of each street, and how many there are."""
        starts = [0]
        for street in range(STREET_COUNT):
            starts.append(starts[-1] + 2 * self.width(street))
        return tuple(starts)

    @property
    def count(self) -> int:
        """How many states there are."""
        return self._first[-1]

    def bucket(self, hole: tuple[int, ...], board: tuple[int, ...]) -> int:
        """Bucket of a hand, the draws' after the others."""
        if self.draws:
            draw = draw_number(hole, board)
            if draw >= 0:
                return self.buckets.count + draw
        return self.buckets.bucket(hole, board)

    def number(self, hole: tuple[int, ...], board: tuple[int, ...], facing_bet: bool) -> int:
        """Number of a state."""
        street = street_of(board)
        return self._first[street] + 2 * self.bucket(hole, board) + facing_bet

    def numbers(self, board: tuple[int, ...], facing_bet: bool) -> NDArray[np.int64]:
        """Number of the state of every combination; those that the board blocks get some state."""
        street = street_of(board)
        found = self.buckets.buckets(board).astype(np.int64)
        found[found == NO_BUCKET] = 0
        if self.draws and DRAW_BUCKETS[street]:
            for combo, (hi, lo) in enumerate(COMBO_CARDS.tolist()):
                draw = draw_number((hi, lo), board)
                if draw >= 0:
                    found[combo] = self.buckets.count + draw
        return self._first[street] + 2 * found + facing_bet

    def lived(self, result: HandResult) -> list[tuple[int, Move]]:
        """States and actions of one player in a hand that is over."""
        board = result.full_board or result.board
        return [
            (self.number(result.hole, board[: BOARD_SIZES[move.round]], move.facing_bet), move)
            for move in moves(result.state)
            if move.player == result.position
        ]


def facing_bet(state: State) -> bool:
    """Whether the opponent's last action in this round was a bet or a raise."""
    part = state.history[-1]
    return bool(part) and part[-1].kind == Kind.RAISE

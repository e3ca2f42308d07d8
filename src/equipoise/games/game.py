"""A game: a betting tree, a tree of boards, and the words to print them with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from equipoise.games.betting import Betting
from equipoise.games.boards import Board, Deal

NameState = Callable[[Board, int, int], str]
NameBoard = Callable[[Board], str]


@dataclass(frozen=True, eq=False)
class Game:
    """Everything a solver needs to know, and nothing about how it solves.

    A *decision* is a (board, betting node) pair; an information set is a decision and a private
    state of the player who acts there.
    """

    #: What people call it, with its parameters: `leduc`, `jamfold(10)`.
    name: str
    betting: Betting
    deal: Deal
    #: Chips in one big blind (or ante): what milli-big-blinds are thousandths of.
    unit_chips: float
    #: Text of a private state: (board, player, state) -> "K", "AhKd", "nuts".
    state_name: NameState
    #: Text of the public cards of a board, empty before any are dealt.
    board_name: NameBoard
    #: Chips that the value to player 0 is counted from, if not from the start of the hand.
    value_offset_chips: float = 0.0
    #: A player never forgets what he saw or did: what EGT and the LP need.
    perfect_recall: bool = True
    #: (state, betting) is all that matters of the past: dynamic programming is exact even without.
    markov: bool = False

    def __repr__(self) -> str:
        first, second = self.information_sets()
        return f"<Game {self.name}: {first:,} + {second:,} information sets>"

    def until(self, rounds: int) -> Game:
        """The game cut after `rounds` rounds: what its lines are worth then is given to the solver.

        >>> from equipoise.games.library.leduc import leduc
        >>> leduc().until(1).information_sets()
        (9, 9)
        """
        return replace(
            self,
            name=f"{self.name} until round {rounds}",
            betting=self.betting.until(rounds),
            deal=self.deal.until(rounds),
        )

    def information_sets(self) -> tuple[int, int]:
        """Number of information sets of each player."""
        counts = [0, 0]
        for b, board in enumerate(self.deal.boards):
            for player in (0, 1):
                nodes = len(self.betting.of_kind(board.round, player))
                counts[player] += nodes * self.deal.states(b, player)
        return counts[0], counts[1]

    def sequences(self) -> tuple[int, int]:
        """Number of sequences (information set, action) of each player, the empty one included."""
        counts = [1, 1]
        for b, board in enumerate(self.deal.boards):
            for player in (0, 1):
                rows = int(self.betting.rows[board.round, player])
                counts[player] += rows * self.deal.states(b, player)
        return counts[0], counts[1]

    def fingerprint(self) -> str:
        """A hash of everything that decides the solution: betting, payoffs, cards and chances."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256(self.name.encode())
        betting, deal = self.betting, self.deal
        for array in (betting.kind, betting.first, betting.even, betting.swing, *deal.initial):
            digest.update(np.ascontiguousarray(array).data)
        for board in deal.boards:
            digest.update(repr((board.round, board.parent, board.cards, board.weight)).encode())
            tables = (board.mass, board.signed, *(board.transition or ()), *(board.strength or ()))
            for part in (*board.hands, *tables):
                if part is not None:
                    digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:16]

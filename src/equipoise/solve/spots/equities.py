"""How hands fare against hands if no more is bet: what equities are made of.

For two hands on a board, `won less lost` counts the run-outs that the first wins less those it loses.
On a full board it is the sign of the difference in strength; before that it is the sum over the
boards that can come. Against an opponent of reach `r`, with `N` his mass that shares no card with my
hand and `D` the mean of that count over the run-outs, weighted by `r`,

    equity = (N + D) / 2N

and a tie is worth half.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.games.boards import compatible
from equipoise.games.game import Game
from equipoise.kernel import exact_kernel


class Showdowns:
    """Tables of hand against hand for the boards of a game; counted when first asked for."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._tables: dict[int, NDArray[np.int16]] = {}
        self._children: dict[int, list[int]] = {}
        for b, board in enumerate(game.deal.boards):
            self._children.setdefault(board.parent, []).append(b)

    def run_outs(self, board: int) -> int:
        """Number of run-outs that two given hands can see from a board."""
        rules, start = self.game.betting.rules, self.game.deal.boards[board]
        unseen, ways = rules.suits * rules.ranks - len(start.cards) - 2 * rules.hole_cards, 1
        for count in rules.board_cards[start.round + 1 :]:
            ways *= comb(unseen, count)
            unseen -= count
        return ways

    def table(self, board: int) -> NDArray[np.int16]:
        """Run-outs that player 0 wins less those he loses: [hand of player 0, hand of player 1].

        Entries of hands that share a card mean nothing.
        """
        here = self.game.deal.boards[board]
        if here.strength is not None:
            mine, theirs = here.strength
            signs: NDArray[np.int16] = np.sign(mine[:, None] - theirs[None, :]).astype(np.int16)
            return signs
        if board not in self._tables:
            table = np.zeros((len(here.hands[0]), len(here.hands[1])), dtype=np.int16)
            for b in self._children.get(board, []):
                self._add(table, b)
            self._tables[board] = table
        return self._tables[board]

    def _add(self, table: NDArray[np.int16], child: int) -> None:
        """Add what comes after a card to the table of the board before it."""
        board = self.game.deal.boards[child]
        below = None if board.strength is not None else self.table(child)
        for maps in board.arrivals:
            if below is not None:
                table[np.ix_(*maps)] += below
                continue
            assert board.strength is not None
            values = []
            for player in (0, 1):
                value = np.full(table.shape[player], -1, dtype=np.int32)
                value[maps[player]] = board.strength[player]
                values.append(value)
            _add_results(table, values[0], values[1])

    def masses(
        self, player: int, board: int, reach: NDArray[np.float64], results: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`N` and `D` of a player's hands against the opponent's reach, [..., his hand].

        Without `results`, `D` is left at zero.
        """
        hands = self.game.deal.boards[board].hands
        apart = compatible(hands[1 - player], hands[player]).astype(np.float64)
        mass = reach @ apart
        if not results:
            return mass, np.zeros_like(mass)
        table = self.table(board)
        signed = (table.T if player == 0 else -table) * apart
        return mass, reach @ signed / self.run_outs(board)

    def equity(self, player: int, board: int, reach: NDArray[np.float64]) -> NDArray[np.float64]:
        """Equity of a player's hands against the opponent's reach; nan where he can hold nothing."""
        mass, signed = self.masses(player, board, reach)
        known = mass > 0
        return np.where(known, 0.5 + signed / np.where(known, 2 * mass, 1.0), np.nan)


@exact_kernel
def _add_results(table: Any, mine: Any, theirs: Any) -> None:
    """Add the results of one full board; a strength below 0 is a hand that the board blocks."""
    for i in range(len(mine)):
        value = mine[i]
        if value < 0:
            continue
        for j in range(len(theirs)):
            other = theirs[j]
            table[i, j] += (other >= 0) * (np.int16(value > other) - np.int16(value < other))

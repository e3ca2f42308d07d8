"""How hands fare against hands if no more is bet: what equities are made of.

For two hands on a board, `won less lost` counts the run-outs that the first wins less those it loses
(:mod:`equipoise.games.margins`). Against an opponent of reach `r`, with `N` his mass that shares no
card with my hand and `D` the mean of that count over the run-outs, weighted by `r`,

    equity = (N + D) / 2N

and a tie is worth half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.games.boards import compatible
from equipoise.games.game import Game
from equipoise.games.margins import Margins, add_margins, add_showdowns, run_outs, signs


class Showdowns:
    """Tables of hand against hand for the boards of a game; counted when first asked for."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._tables: dict[int, Margins] = {}
        self._children: dict[int, list[int]] = {}
        for b, board in enumerate(game.deal.boards):
            self._children.setdefault(board.parent, []).append(b)

    def run_outs(self, board: int) -> int:
        """Number of run-outs that two given hands can see from a board."""
        rules, start = self.game.betting.rules, self.game.deal.boards[board]
        unseen = rules.suits * rules.ranks - len(start.cards) - 2 * rules.hole_cards
        return run_outs(unseen, self.game.betting.board_cards[start.round + 1 :])

    def table(self, board: int) -> Margins:
        """Run-outs that player 0 wins less those he loses: [hand of player 0, hand of player 1].

        Entries of hands that share a card mean nothing.
        """
        here = self.game.deal.boards[board]
        if here.strength is not None:
            return signs(here.strength)
        if board not in self._tables:
            table = np.zeros((len(here.hands[0]), len(here.hands[1])), dtype=np.int16)
            for b in self._children.get(board, []):
                child = self.game.deal.boards[b]
                if child.strength is not None:
                    add_showdowns(table, child.arrivals, child.strength)
                else:
                    add_margins(table, child.arrivals, self.table(b))
            self._tables[board] = table
        return self._tables[board]

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

"""How hands fare against hands if no more is bet: what equities are made of.

For two hands on a board, `won less lost` counts the run-outs that the first wins less those it loses
(:mod:`equipoise.games.margins`). Against an opponent of reach `r`, with `N` his mass that shares no
card with my hand and `D` the mean of that count over the run-outs, weighted by `r`,

    equity = (N + D) / 2N

and a tie is worth half.
"""

from __future__ import annotations

from collections.abc import Callable

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
        self._last: tuple[int, dict[tuple[str, int, int], NDArray[np.float64]]] = (-1, {})
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
        apart = self._apart(board, player)
        mass = reach @ apart
        if not results:
            return mass, np.zeros_like(mass)
        return mass, reach @ self._signed(board, player) / self.run_outs(board)

    def _apart(self, board: int, player: int) -> NDArray[np.float64]:
        """Which hands of the opponent share no card with those of a player."""
        hands = self.game.deal.boards[board].hands
        return self._kept(
            ("apart", board, player),
            lambda: compatible(hands[1 - player], hands[player]).astype(np.float64),
        )

    def _signed(self, board: int, player: int) -> NDArray[np.float64]:
        """Run-outs that a player's hands win less those they lose, against hands that share no card."""

        def made() -> NDArray[np.float64]:
            table = self.table(board)
            return (table.T if player == 0 else -table) * self._apart(board, player)

        return self._kept(("signed", board, player), made)

    def _kept(
        self, key: tuple[str, int, int], make: Callable[[], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """A table of the board that was asked about last: who looks asks again and again."""
        if self._last[0] != key[1]:
            self._last = key[1], {}
        tables = self._last[1]
        if key not in tables:
            tables[key] = make()
        return tables[key]

    def equity(self, player: int, board: int, reach: NDArray[np.float64]) -> NDArray[np.float64]:
        """Equity of a player's hands against the opponent's reach; nan where he can hold nothing."""
        mass, signed = self.masses(player, board, reach)
        known = mass > 0
        return np.where(known, 0.5 + signed / np.where(known, 2 * mass, 1.0), np.nan)

"""Two rounds, the second solved again for one seat after every line and every board, by each method."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.bench.reproduce.subgames.sequences import Gadgets
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL
from equipoise.search.gadgets import UNSAFE, Gadget, SubgameSolver, meeting, with_gifts
from equipoise.search.gifts import line_gifts
from equipoise.solve.strategies.bestresponse import response_value
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Rows, Tableau

Floats = NDArray[np.float64]

#: Gadget and alternatives of each method.
METHODS: dict[str, tuple[Gadgets, str]] = {
    "unsafe": ("unsafe", "best"),
    "resolve, best response": ("resolve", "best"),
    "resolve, self-play": ("resolve", "self"),
    "maxmargin": ("maxmargin", "best"),
    "reach-maxmargin": ("maxmargin", "reach"),
}


class NextRound(NamedTuple):
    """A second round after one line of the first, on one board."""

    board: int
    root: int
    leaf: int
    game: Game
    #: Node of the whole tree that each of its nodes is.
    nodes: NDArray[np.int64]


class TwoRounds:
    """A game of two rounds, and what plans lose in it."""

    def __init__(self, game: Game, value: float) -> None:
        self.game, self.tableau = game, Tableau(game)
        #: What the game is worth to seat 0, in chips from the start of the hand.
        self.value = value

    @cached_property
    def rounds(self) -> list[NextRound]:
        """Every second round."""
        return list(self._rounds())

    def _rounds(self) -> Iterator[NextRound]:
        betting = self.game.betting
        for leaf in betting.of_kind(0, DEAL).tolist():
            root = int(betting.next_root[leaf])
            nodes = betting.below(root)[1]
            for b in self.game.deal.children(0):
                yield NextRound(b, root, leaf, self.game.below(root, b), nodes)

    def lost(self, plan: Rows) -> list[float]:
        """Exploitability of seat 0, seat 1 and their mean, in chips."""
        seats = [
            response_value(self.tableau, 1, plan) + self.value,
            response_value(self.tableau, 0, plan) - self.value,
        ]
        return [*seats, sum(seats) / 2]

    def reaches(self, plan: Rows) -> dict[int, list[Floats]]:
        """Reach of both players' states at every end of the first round."""
        betting, index = self.game.betting, self.tableau.index
        reach = {0: [np.array(own, dtype=np.float64) for own in self.game.deal.initial]}
        for node in betting.of_kind(0, 0, 1).tolist():
            player = int(betting.kind[node])
            play = probabilities(index.block(plan, 0, node))
            for a, child in enumerate(betting.children(node)):
                reach[child] = [
                    own * play[a] if p == player else own for p, own in enumerate(reach[node])
                ]
        return {leaf: reach[leaf] for leaf in betting.of_kind(0, DEAL).tolist()}

    def resolved(
        self, plan: Rows, me: int, method: str, iterations: int, believed: Rows | None = None
    ) -> tuple[Rows, float]:
        """The plan with a seat's second rounds solved again, and the least margin in % of the pot there.

        Ranges and alternatives are those of `believed`, the plan itself unless given.
        """
        kind, source = METHODS[method]
        he, new, least = 1 - me, plan.copy(), float("inf")
        told = plan if believed is None else believed
        best = self.tableau.rows()
        self.tableau.sweep(he, rowrules.BEST, facing=told, out=best)
        reach, worth = self.reaches(told), dict[int, dict[int, Floats]]()
        gifts: dict[int, Floats] = {}
        if source == "reach":
            gifts = {leaf: line_gifts(self.tableau, told, he, leaf) for leaf in reach}
        for one in self.rounds:
            board = self.game.deal.boards[one.board]
            if one.board not in worth:
                rows = None if source == "self" else best
                worth[one.board] = self.tableau.values(he, one.board, told, rows)
            mine, his = (reach[one.leaf][p][board.arrivals[0][p]] for p in (me, he))
            if mine.sum() < 1e-9:
                continue
            mass = meeting(one.game, he, mine)
            held = mass > 1e-5 * mass.max()
            chips = worth[one.board][one.root] / board.weight
            chips = np.where(held, chips / np.where(held, mass, 1.0), 0.0)
            if gifts:
                chips = with_gifts(chips, gifts[one.leaf][board.arrivals[0][he]])
            gadget = UNSAFE if kind == "unsafe" else Gadget(kind, chips)
            ranges = (mine, his) if me == 0 else (his, mine)
            solver = SubgameSolver(one.game, ranges=ranges, gadget=gadget, me=me)
            solver.advance(iterations)
            if kind != "unsafe":
                pot = one.game.betting.origin.pot
                least = min(least, 100 * float(solver.margins().min()) / pot)
            for own in one.game.betting.of_kind(0, me).tolist():
                play = probabilities(solver.tableau.index.block(solver.plan, 0, own))
                self.tableau.index.block(new, one.board, int(one.nodes[own]))[:] = play
        return new, least

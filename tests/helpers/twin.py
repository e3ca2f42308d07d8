"""The slow twin of the sweep: one board, one node and one pair of hands at a time, in float64.

It takes from the game its betting tree, its lists of hands and its arrival maps. Chance, card
removal and showdowns it works out again from the cards themselves; and it walks every deal that a
merged board stands for, one after another.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy.special import logsumexp

from equipoise.games.game import Game
from equipoise.games.nodes import DEAL, FOLD, SHOWDOWN
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.rowindex import RowIndex

Vector = np.ndarray


class Twin:
    """Sweeps over a game; `strength` is left out where private states are not cards."""

    def __init__(self, game: Game, strength: Callable[..., Any] | None = None) -> None:
        self.game, self.index = game, RowIndex(game)
        self.strength = strength
        self._values: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        #: [board]: for every pair of hands, the mass of the pair and that times who wins.
        self.mass: list[Vector] = []
        self.signed: list[Vector] = []
        #: [board]: factor on reach when the board is dealt.
        self.chance: list[float] = []
        for board in game.deal.boards:
            if strength is None:
                assert board.mass is not None
                assert board.signed is not None
                self.mass.append(board.mass)
                self.signed.append(board.signed)
                self.chance.append(1.0)
            else:
                self._lay_cards(board)
        #: [board, node]: values of my actions in the last sweep, [action, state].
        self.children: dict[tuple[int, int], Vector] = {}

    # ------------------------------------------------------------------------------ cards

    def _lay_cards(self, board: Any) -> None:
        rules, deal = self.game.betting.rules, self.game.deal
        left, ways = rules.suits * rules.ranks - 2 * rules.hole_cards, 1
        left -= len(deal.boards[0].cards)
        for number in range(1, board.round + 1):
            last = comb(left, rules.board_cards[number])
            ways *= last
            left -= rules.board_cards[number]
        mass = np.zeros([len(hands) for hands in board.hands])
        signed = np.zeros_like(mass)
        for i, mine in enumerate(board.hands[0].tolist()):
            for j, theirs in enumerate(board.hands[1].tolist()):
                if not set(mine) & set(theirs):
                    mass[i, j] = 1.0
                    result = self._result(tuple(mine), tuple(theirs), board.cards, board.round)
                    signed[i, j] = result
        if deal.evaluator == "matrix":
            pairs = self.mass[0] if self.mass else mass
            # The first board's own mass is already a share of all pairs.
            total = 1.0 if self.mass else pairs.sum()
            scale = pairs.max() if self.mass else 1.0
            mass, signed = mass * scale / total / ways, signed * scale / total / ways
            self.chance.append(1.0)
        else:
            self.chance.append(1.0 / last if board.round else 1.0)
        self.mass.append(mass)
        self.signed.append(signed)

    def _result(self, mine: tuple, theirs: tuple, cards: tuple, number: int) -> float:
        """Run-outs that player 0 wins less those he loses, as a share of all."""
        rules = self.game.betting.rules
        if number == rules.rounds - 1:
            values = self._strengths(cards)
            return float(np.sign(values[mine] - values[theirs]))
        gone = {*mine, *theirs, *cards}
        left = [c for c in range(rules.suits * rules.ranks) if c not in gone]
        results = [
            self._result(mine, theirs, cards + more, number + 1)
            for more in combinations(left, rules.board_cards[number + 1])
        ]
        return sum(results) / len(results)

    def _strengths(self, cards: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        cards = tuple(sorted(cards))
        if cards not in self._values:
            hands = {
                tuple(hand) for both in self.game.deal.boards[0].hands for hand in both.tolist()
            }
            alive = sorted(hand for hand in hands if not set(hand) & set(cards))
            assert self.strength is not None
            found = self.strength(np.array(alive, dtype=np.int16), cards)
            self._values[cards] = dict(zip(alive, found.tolist(), strict=True))
        return self._values[cards]

    # ------------------------------------------------------------------------------ sweep

    def sweep(
        self,
        player: int,
        rule: int,
        *,
        facing: Vector,
        rows: Vector | None = None,
        out: Vector | None = None,
        plan: Vector | None = None,
        weights: Vector | None = None,
        keep: float = 1.0,
        gain: float = 1.0,
        positive: float = 1.0,
        negative: float = 1.0,
        floor: float = -np.inf,
        step: float = 0.0,
        smoothing: float = 0.0,
    ) -> Vector:
        """What :meth:`Tableau.sweep` does."""
        self.player, self.rule, self.facing = player, rule, facing
        self.rows, self.out, self.plan, self.weights = rows, out, plan, weights
        self.keep, self.gain, self.smoothing = keep, gain, smoothing
        self.positive, self.negative, self.floor, self.step = positive, negative, floor, step
        return self._board(0, [self.game.deal.initial[1 - player]], True)[0]

    def _board(self, b: int, arriving: list[Vector], live: bool) -> list[Vector]:
        """Values of a board's roots; only a `live` visit writes."""
        betting, player = self.game.betting, self.player
        board = self.game.deal.boards[b]
        first, last = betting.spans()[board.round]
        reach = dict(enumerate(arriving, start=first))
        for node in range(first, last):
            kind = int(betting.kind[node])
            if kind == player:
                for child in betting.children(node):
                    reach[child] = reach[node]
            elif kind == 1 - player:
                mixture = matched(self.index.block(self.facing, b, node))
                for a, child in enumerate(betting.children(node)):
                    reach[child] = reach[node] * mixture[a]
                    if self.plan is not None and live:
                        row = self.index.block(self.plan, b, node)[a]
                        row[:] = self.keep * row + self.gain * reach[child]
        leaves = betting.of_kind(board.round, DEAL).tolist()
        mine = len(board.hands[player])
        value = {leaf: np.zeros(mine) for leaf in leaves}
        for c in self.game.deal.children(b):
            arrivals = self.game.deal.boards[c].arrivals
            for k in reversed(range(len(arrivals))):
                his, my = arrivals[k][1 - player], arrivals[k][player]
                below = [reach[leaf][his] * self.chance[c] for leaf in leaves]
                for leaf, part in zip(leaves, self._board(c, below, live and k == 0), strict=True):
                    value[leaf][my] += part
        mass, signed = self.mass[b], self.signed[b]
        if player == 1:
            mass, signed = mass.T, -signed.T
        for node in betting.of_kind(board.round, FOLD, SHOWDOWN).tolist():
            value[node] = betting.even[node, player] * (mass @ reach[node])
            value[node] += betting.swing[node] * (signed @ reach[node])
        for node in reversed(range(first, last)):
            kind = int(betting.kind[node])
            if kind > 1:
                continue
            children = np.array([value[child] for child in betting.children(node)])
            if kind == player:
                value[node] = self._decide(b, node, children, live)
            else:
                value[node] = children.sum(axis=0)
        return [value[root] for root in range(first, first + len(arriving))]

    def _decide(self, b: int, node: int, children: Vector, live: bool) -> Vector:
        """Value of my decision by the row rule."""
        if live:
            self.children[b, node] = children

        def block(rows: Vector | None) -> Vector:
            found = np.zeros_like(children) if rows is None else self.index.block(rows, b, node)
            return found if live else found.copy()

        rows, out = block(self.rows), block(self.out)
        value = (matched(rows) * children).sum(axis=0)
        if self.rule == rowrules.REGRET:
            old = rows * np.where(rows > 0, self.positive, self.negative)
            gains = children - value
            for h, most in enumerate(self.step * np.maximum(rows, 0.0).sum(axis=0)):
                if 0 < most < gains[:, h].max():
                    gains[:, h] *= most / gains[:, h].max()
            rows[:] = np.maximum(old + gains, self.floor)
        elif self.rule == rowrules.PREDICTIVE:
            old = out * np.where(out > 0, self.positive, self.negative)
            out[:] = np.maximum(old + children - value, self.floor)
            rows[:] = out + children - value
        elif self.rule == rowrules.BEST:
            out[:] = np.arange(len(children))[:, None] == children.argmax(axis=0)
            value = children.max(axis=0)
        elif self.rule == rowrules.GRADIENT:
            out[:] = children
        elif self.rule in (rowrules.ENTROPY, rowrules.EUCLIDEAN):
            assert self.weights is not None
            start = int(self.index.base[b, self.player])
            for h in range(children.shape[1]):
                scale = self.smoothing * self.weights[start + h]
                smoothed = entropy if self.rule == rowrules.ENTROPY else euclidean
                out[:, h], value[h] = smoothed(children[:, h], scale)
        return value


def matched(block: Vector) -> Vector:
    """Positive parts in proportion, uniform where there are none."""
    positive = np.maximum(block, 0.0)
    total = positive.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, positive / total, 1.0 / len(block))


def entropy(values: Vector, scale: float) -> tuple[Vector, float]:
    """Best answer and value with `scale * (ln n + sum x ln x)` taken off."""
    count = len(values)
    if scale == 0:
        return np.full(count, 1 / count), float(values.max())
    top = logsumexp(values / scale)
    return np.exp(values / scale - top), float(scale * (top - np.log(count)))


def euclidean(values: Vector, scale: float) -> tuple[Vector, float]:
    """Best answer and value with `scale / 2 |x - 1/n|²` taken off: bisect for the threshold."""
    count = len(values)
    if scale == 0:
        return np.full(count, 1 / count), float(values.max())
    aim = 1 / count + values / scale
    low, high = aim.min() - 1, aim.max()
    for _ in range(80):
        middle = (low + high) / 2
        if np.maximum(aim - middle, 0).sum() > 1:
            low = middle
        else:
            high = middle
    x = np.maximum(aim - (low + high) / 2, 0)
    return x, float(values @ x - scale / 2 * ((x - 1 / count) ** 2).sum())

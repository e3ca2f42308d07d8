"""Values on the last street of a spot from its strategy alone, without laying the game out for sweeps.

On a full board a terminal pays a hand what it pays for every unit of the opponent's mass that shares no
card with it, and more or less for what it beats (`even` and `swing` of the betting). The opponent's reach
is followed down the one line of boards and betting that leads there; all terminals under a root are then
one matrix product, and values come up by the players' strategies. So a solution that was opened to be
looked at shows a river at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.games.betting import Betting
from equipoise.games.game import Game
from equipoise.games.nodes import FOLD
from equipoise.solve.spots.equities import Showdowns

Vector = NDArray[np.float64]


class Played(Protocol):
    """What is played in a spot: as much of an answer as values follow from."""

    game: Game
    showdowns: Showdowns

    @property
    def betting(self) -> Betting:
        """The betting tree."""

    def rows(self, node: int, board: int | None = None) -> Vector:
        """Probabilities at a decision, [action, state]."""


class LastStreet(Mapping[int, Vector]):
    """Counterfactual values of a player's states at every node of a full board, as they are asked for."""

    def __init__(self, answer: Played, player: int, board: int) -> None:
        self._answer, self._player, self._board = answer, player, board
        self._found: dict[int, Vector] = {}
        first, last = answer.betting.spans()[answer.game.deal.boards[board].round]
        self._nodes = range(first, last)

    def __getitem__(self, node: int) -> Vector:
        if node not in self._nodes:
            raise KeyError(node)
        if node not in self._found:
            root, parent = node, self._answer.betting.parent
            while parent[root] >= 0:
                root = int(parent[root])
            self._found |= self._below(root)
        return self._found[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def _below(self, root: int) -> dict[int, Vector]:
        """Values at all nodes of the street under one of its roots."""
        answer, mine = self._answer, self._player
        betting = answer.betting
        facing, play = {root: self._facing(root)}, dict[int, Vector]()
        order = [root]
        for node in order:
            who = int(betting.kind[node])
            if who > 1:
                continue
            children = betting.children(node)
            order += children
            play[node] = answer.rows(node, self._board)
            for action, child in enumerate(children):
                facing[child] = facing[node] * play[node][action] if who != mine else facing[node]
        ends = [node for node in order if betting.kind[node] > 1]
        mass, signed = answer.showdowns.masses(
            mine, self._board, np.array([facing[node] for node in ends])
        )
        found: dict[int, Vector] = {}
        for k, node in enumerate(ends):
            found[node] = betting.even[node, mine] * mass[k]
            if betting.kind[node] != FOLD:
                found[node] = found[node] + betting.swing[node] * signed[k]
        for node in reversed(order):
            if node in play:
                below = np.array([found[child] for child in betting.children(node)])
                own = betting.kind[node] == mine
                found[node] = (play[node] * below).sum(axis=0) if own else below.sum(axis=0)
        return found

    def _facing(self, root: int) -> Vector:
        """The opponent's reach at a root of the street, times the chance of its cards."""
        answer, him = self._answer, 1 - self._player
        betting, boards = answer.betting, answer.game.deal.boards
        path = [self._board]
        while boards[path[0]].parent >= 0:
            path.insert(0, boards[path[0]].parent)
        # The line from the start, and which of its nodes stand at the beginning of a street.
        line, node = [root], root
        while betting.before[node] >= 0:
            node = int(betting.before[node])
            line.insert(0, node)
        reach: Vector = answer.game.deal.initial[him].astype(np.float64)
        number = 0
        for above, node in pairwise(line):
            if betting.parent[node] < 0:
                number += 1
                child = boards[path[number]]
                reach = reach[child.arrivals[0][him]] * child.weight
            elif betting.kind[above] == him:
                action = node - int(betting.first[above])
                reach = reach * answer.rows(above, path[number])[action]
        return reach

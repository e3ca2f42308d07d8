"""What a blueprint plays after post-processing: by decision, and by what a hand is on a board.

A *column* of a decision is what its player knows of his cards there: the bucket, or where classes of
boards are public, class · buckets + bucket. One column is read in a microsecond or two, straight from
the packed numbers; whole decisions, for policies and ranges, are unpacked and kept while they are in
use. Both give the same probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.lookup import BLOCKED, BOARD_SIZES, STREETS, bucket_path
from equipoise.cards.combos import combo_index
from equipoise.games.rules import Action, Kind
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.training.blueprint import FORMS, Blueprint

Table = NDArray[np.float64]
Columns = NDArray[np.int64]

#: Decisions, and boards, whose numbers are kept unpacked.
_KEPT_TABLES = 256
_KEPT_BOARDS = 256


class Book:
    """A blueprint, read for playing."""

    def __init__(self, blueprint: Blueprint, rules: PostProcessing) -> None:
        self.blueprint, self.rules = blueprint, rules
        self.betting = blueprint.betting
        layout = blueprint.layout
        self._offset, self._columns, self._count = layout.offset, layout.columns, layout.actions
        self._weights = np.asarray(blueprint.weights)
        #: 0 where a column holds the number of an action.
        self._parts = FORMS[blueprint.form]
        self._buckets = blueprint.abstraction.counts
        classed = blueprint.recipe.model.classed
        #: Cards of a board that decide its class.
        self._classed = classed + 2 if classed else None
        self._classes: dict[tuple[int, ...], int] = {}
        self._path = np.empty(STREETS, dtype=np.int64)
        self._lookup = blueprint.abstraction.lookup()
        self.table = lru_cache(maxsize=_KEPT_TABLES)(self._processed)
        self.raw = lru_cache(maxsize=_KEPT_TABLES)(self._unpacked)
        self.columns = lru_cache(maxsize=_KEPT_BOARDS)(self._columns_of)

    def actions(self, node: int) -> tuple[Action, ...]:
        """The actions of a decision, in the order of its rows."""
        found = (self.betting.actions[child] for child in self.betting.children(node))
        return tuple(action for action in found if action is not None)

    # -------------------------------------------------------------------------------- one hand

    def column(self, hole: Sequence[int], board: tuple[int, ...]) -> int:
        """Column of a hand on a board, at every decision of its street."""
        combo = combo_index(hole[0], hole[1])
        bucket_path(self._lookup, np.array(board, dtype=np.uint8), combo, self._path)
        street = BOARD_SIZES.index(len(board))
        return int(self._path[street]) + self._first(board)

    def mix(self, node: int, column: int, street: int) -> list[float]:
        """What is played at a decision with one column: a probability for each action."""
        start, columns, count = (
            int(numbers[node]) for numbers in (self._offset, self._columns, self._count)
        )
        if not self._parts:
            chosen = int(self._weights[start + column])
            return [float(action == chosen) for action in range(count)]
        parts = self._weights[start + column : start + count * columns : columns].tolist()
        rule = self.rules.rules[min(street, len(self.rules.rules) - 1)]
        if rule.name == "raw":
            return [part / self._parts for part in parts]
        most = max(parts)
        if rule.name == "purify" and parts.count(most) == 1:
            return [float(part == most) for part in parts]
        table = np.array(parts)[:, None] / float(self._parts)
        mixed = self.rules.apply(table, self._kinds(node), street, node, np.array([column]))
        found: list[float] = mixed[:, 0].tolist()
        return found

    # ------------------------------------------------------------------------------- all hands

    def _columns_of(self, board: tuple[int, ...]) -> tuple[Columns, ...]:
        """Column of every combination on each street that a board reaches; -1 if it is blocked."""
        path = self.blueprint.abstraction.path(board).astype(np.int64)
        found = []
        for street, buckets in enumerate(path):
            first = self._first(board[: BOARD_SIZES[street]])
            found.append(np.where(buckets == BLOCKED, -1, buckets + first))
        return tuple(found)

    def _processed(self, node: int) -> Table:
        """Probabilities that are played at a decision: float64[action, column]."""
        street = self.betting.round_of(node)
        return self.rules.apply(self._unpacked(node), self._kinds(node), street, node)

    def _unpacked(self, node: int) -> Table:
        """Probabilities of a decision before post-processing: float64[action, column]."""
        start, columns, count = (
            int(numbers[node]) for numbers in (self._offset, self._columns, self._count)
        )
        if not self._parts:
            chosen = self._weights[start : start + columns]
            pure: Table = (chosen[None] == np.arange(count)[:, None]).astype(np.float64)
            return pure
        block = self._weights[start : start + count * columns].reshape(count, columns)
        found: Table = block / float(self._parts)
        return found

    # ------------------------------------------------------------------------------------ parts

    def _kinds(self, node: int) -> list[Kind]:
        return [action.kind for action in self.actions(node)]

    def _first(self, board: tuple[int, ...]) -> int:
        """Column of bucket 0 in the class of the board."""
        return self._class(board) * self._buckets[BOARD_SIZES.index(len(board))]

    def _class(self, board: tuple[int, ...]) -> int:
        if self._classed is None:
            return 0
        known = board[: self._classed]
        found = self._classes.get(known)
        if found is None:
            found = self._classes[known] = self.blueprint.board_class(known)
        return found

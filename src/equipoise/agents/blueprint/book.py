"""What a blueprint plays after post-processing: by decision, and by what a hand is on a board.

A *column* of a decision is what its player knows of his cards there: the bucket, or where classes of
boards are public, class · buckets + bucket. One column is read straight from the packed numbers; whole
decisions, for policies and ranges, are unpacked and kept while they are in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.lookup import bucket_path
from equipoise.cards.combos import combo_index
from equipoise.cards.streets import STREET_COUNT, street_of
from equipoise.solve.strategies.postprocessing import PostProcessing, Processed
from equipoise.solve.training.blueprint import Blueprint

Table = NDArray[np.float64]

#: Decisions, and boards, whose numbers are kept unpacked.
_KEPT_TABLES = 256
_KEPT_BOARDS = 256


class Book:
    """A blueprint, read for playing."""

    def __init__(self, blueprint: Blueprint, rules: PostProcessing) -> None:
        self.blueprint, self.rules = blueprint, rules
        self.betting = blueprint.betting
        self.actions = blueprint.actions
        self._buckets = blueprint.abstraction.counts
        classed = blueprint.recipe.model.classed
        #: Cards of a board that decide its class.
        self._classed = classed + 2 if classed else None
        self._classes: dict[tuple[int, ...], int] = {}
        self._path = np.empty(STREET_COUNT, dtype=np.int64)
        self._lookup = blueprint.abstraction.lookup()
        self._played = Processed(blueprint, rules)
        self.table = lru_cache(maxsize=_KEPT_TABLES)(self._processed)
        self.raw = lru_cache(maxsize=_KEPT_TABLES)(blueprint.rows)
        self.columns = lru_cache(maxsize=_KEPT_BOARDS)(blueprint.columns)

    # -------------------------------------------------------------------------------- one hand

    def column(self, hole: Sequence[int], board: tuple[int, ...]) -> int:
        """Column of a hand on a board, at every decision of its street."""
        combo = combo_index(hole[0], hole[1])
        bucket_path(self._lookup, np.array(board, dtype=np.uint8), combo, self._path)
        street = street_of(board)
        return int(self._path[street]) + self._first(board)

    def mix(self, node: int, column: int, street: int) -> list[float]:
        """What is played at a decision with one column: a probability for each action."""
        chances = self.blueprint.mix(node, column)
        rule = self.rules.rules[min(street, len(self.rules.rules) - 1)]
        if rule.name == "raw":
            return chances
        most = max(chances)
        if rule.name == "purify" and chances.count(most) == 1:
            return [float(chance == most) for chance in chances]
        table, states = np.array(chances)[:, None], np.array([column])
        mixed = self.rules.apply(table, self._played.kinds(node), street, node, states)
        found: list[float] = mixed[:, 0].tolist()
        return found

    # ------------------------------------------------------------------------------- all hands

    def _processed(self, node: int) -> Table:
        """Probabilities that are played at a decision: float64[action, column]."""
        return self._played.rows(node)

    # ------------------------------------------------------------------------------------ parts

    def _first(self, board: tuple[int, ...]) -> int:
        """Column of bucket 0 in the class of the board."""
        return self._class(board) * self._buckets[street_of(board)]

    def _class(self, board: tuple[int, ...]) -> int:
        if self._classed is None:
            return 0
        known = board[: self._classed]
        found = self._classes.get(known)
        if found is None:
            found = self._classes[known] = self.blueprint.board_class(known)
        return found

"""What a strategy plays, without what never comes up.

Most of what a solver computes is never played: chances of a per mille for actions that it has given up, and
whole strategies for hands which, by their own earlier play, are never there. In a strategy near equilibrium
those are three quarters of all hands at all decisions. So

1. actions below :data:`LEAST` are dropped and the rest scaled up;
2. hands that never come to a decision keep its likeliest action alone: the second half of a
   strategy, for who asks what a player would do who got there by mistake.

Neither costs exploitability worth the name, and what is left packs into a fraction (:mod:`.symbols`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.games.betting import Betting
from equipoise.games.nodes import DEAL
from equipoise.solve.training.forms import Floats, Parts, quantised

#: Chance below which an action is dropped.
LEAST = 0.0005

Truths = NDArray[np.bool_]
#: Bucket before each bucket of a street, where buckets remember.
Parents = Sequence[NDArray[np.int64] | None]


class Slimmed:
    """A strategy in whole parts, slimmed: asked for decision by decision, in the order of the nodes."""

    def __init__(
        self,
        betting: Betting,
        columns: Sequence[int],
        parents: Parents,
        tables: Callable[[int], NDArray[Any]],
        parts: int,
    ) -> None:
        self._betting, self._tables, self._parts = betting, tables, parts
        self._columns, self._parents = columns, parents
        everybody = np.ones(columns[0], dtype=np.bool_)
        #: Which columns of each player come to a node, as far as his own play decides.
        self._come = {0: (everybody, everybody)}
        self._next = 0

    def rows(self, node: int) -> Floats:
        """What is played at a decision: [action, column]."""
        while self._next < node:
            self._pass(self._next)
            self._next += 1
        self._next = node + 1
        player = int(self._betting.kind[node])
        come = self._come.pop(node)
        shares = self._slim(self._tables(node), come[player])
        for child, played in zip(self._betting.children(node), shares, strict=True):
            goes_on = come[player] & (played > 0)
            self._come[child] = (come[0], goes_on) if player else (goes_on, come[1])
        found: Floats = shares / float(self._parts)
        return found

    def _slim(self, table: NDArray[Any], come: Truths) -> Parts:
        chances = np.asarray(table, dtype=np.float64)
        alone = np.arange(len(chances))[:, None] == np.argmax(chances, axis=0)
        kept = np.where((chances >= LEAST) | alone, chances, 0.0)
        kept = np.where(come, kept / kept.sum(axis=0), alone)
        return quantised(kept, self._parts)

    def _pass(self, node: int) -> None:
        """Go on behind a node at which nobody decides."""
        come = self._come.pop(node, None)
        if come is None or int(self._betting.kind[node]) != DEAL:
            return
        street = self._betting.round_of(node) + 1
        root = int(self._betting.next_root[node])
        self._come[root] = (self._dealt(come[0], street), self._dealt(come[1], street))

    def _dealt(self, come: Truths, street: int) -> Truths:
        """Which columns come to a street; where buckets forget, all if any did before."""
        parents = self._parents[street]
        if parents is not None and len(parents) == self._columns[street]:
            found: Truths = come[parents]
            return found
        return np.full(self._columns[street], come.any())

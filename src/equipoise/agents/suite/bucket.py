"""The bucket agent: from the bucket of its hand straight to an action distribution.

It looks at its own cards and the board only, never at what the opponent does. The two tables with
names are the *careful* player, who bluffs one time in twenty, and the *bluffing* one, who does so
one time in five.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equipoise.abstraction.buckets.equity import NO_BUCKET, EquityBuckets
from equipoise.agents.agent import Agent
from equipoise.agents.suite.threeway import choose, three_way_policy
from equipoise.errors import EquipoiseError
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action

#: Fold, call and raise of each bucket, weakest first.
STYLES: dict[str, tuple[tuple[float, float, float], ...]] = {
    "careful": (
        (0.5, 0.45, 0.05),
        (0.3, 0.6, 0.1),
        (0.1, 0.6, 0.3),
        (0.02, 0.5, 0.48),
        (0.0, 0.4, 0.6),
    ),
    "bluffing": (
        (0.4, 0.4, 0.2),
        (0.25, 0.5, 0.25),
        (0.1, 0.5, 0.4),
        (0.02, 0.4, 0.58),
        (0.0, 0.2, 0.8),
    ),
}


def _is_mixture(row: object) -> bool:
    """Whether a row is three chances, in any unit, that a file or a caller may have written."""
    try:
        chances = np.array(row, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    whole = chances.shape == (3,) and bool(np.isfinite(chances.sum()))
    return whole and bool(chances.min() >= 0 and chances.sum() > 0)


class BucketAgent(Agent):
    """Plays one mixture of fold, call and raise for each bucket.

    >>> BucketAgent("bluffing").table[0].tolist()
    [0.4, 0.4, 0.2]
    """

    name = "bucket"

    def __init__(
        self,
        style: str = "careful",
        table: Sequence[Sequence[float]] | None = None,
        division: str = "quantile",
    ) -> None:
        super().__init__()
        if table is None and style not in STYLES:
            raise EquipoiseError(f"style = {style!r}: choose {' or '.join(STYLES)}")
        rows = STYLES[style] if table is None else table
        if not rows or not all(_is_mixture(row) for row in rows):
            raise EquipoiseError("table: one row of fold, call and raise chances for each bucket")
        #: Fold, call and raise of each bucket.
        self.table = np.array(rows, dtype=np.float64)
        self.table /= self.table.sum(axis=1, keepdims=True)
        self._mixes = self.table.tolist()
        self.buckets = EquityBuckets(len(self.table), division)

    def act(self, view: View) -> Action:
        """Draw from the mixture of the hand's bucket."""
        mix = self._mixes[self.buckets.bucket(view.hole, view.board)]
        return choose(self.random, view.state, mix)

    def policy(self, public: PublicState) -> Policy:
        """The mixture of every hand's bucket."""
        found = self.buckets.buckets(public.board)
        return three_way_policy(public.state, self.table[np.where(found == NO_BUCKET, 0, found)])

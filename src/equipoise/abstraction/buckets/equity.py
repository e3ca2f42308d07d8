"""Equity buckets: hands of like rollout equity are played alike.

The first abstraction of poker programs (Billings et al., IJCAI 2003). Buckets are numbered from 0,
the weakest, on each street. The equity axis is cut

- by *width*: `count` equal intervals, so that bucket 0 of 5 is an equity below 1/5; or
- by *quantile*: intervals that are equally likely on their street, as nearly as equities allow.

A border belongs to the bucket above it, and an equity of 1 to the last bucket. A bucket depends on
cards only through an equity against a uniform hand, so it is the same for all renamings of suits.

A player who remembers holds a *sequence* of buckets, one for each street so far: a number in base
`count`, the latest bucket last. :meth:`EquityBuckets.lookup` gives those.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.features.rollouts import FULL, rollout_table
from equipoise.abstraction.lookup import BLOCKED, Lookup, lookup
from equipoise.cards.streets import STREET_COUNT, street_of
from equipoise.errors import GameError, TooLargeError

#: Bucket of a hand that the board blocks.
NO_BUCKET = 255
DIVISIONS = ("width", "quantile")
#: Sequences of buckets of which a player can still be said to remember one.
_MOST_SEQUENCES = 10_000


@dataclass(frozen=True)
class EquityBuckets:
    """Buckets of rollout equity on every street.

    >>> from equipoise.cards.card import parse_cards
    >>> five = EquityBuckets(5, "width")
    >>> five.bucket(parse_cards("AsAh")), five.bucket(parse_cards("7h2c"))
    (4, 1)
    >>> five.bucket(parse_cards("AdQc"), parse_cards("3h 4c Jh"))
    2
    """

    #: How many.
    count: int = 5
    #: `width` or `quantile`.
    division: str = "quantile"

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 100:
            raise GameError(f"{self.count} buckets: choose from 1 to 100")
        if self.division not in DIVISIONS:
            raise GameError(f"division = {self.division!r}: choose {' or '.join(DIVISIONS)}")

    @cached_property
    def borders(self) -> NDArray[np.int64]:
        """Least level of each bucket but the first: int64[street, count - 1]."""
        shares = np.arange(1, self.count)
        if self.division == "width":
            equal = -(-shares * FULL // self.count)
            return np.tile(equal.astype(np.int64), (STREET_COUNT, 1))
        borders = np.empty((STREET_COUNT, self.count - 1), dtype=np.int64)
        for street, counts in enumerate(rollout_table().counts):
            below = np.cumsum(counts)
            wanted = shares * (int(below[-1]) / self.count)
            # The border after the level that comes nearest to the wanted share.
            over = np.searchsorted(below, wanted)
            under = np.maximum(over - 1, 0)
            nearer_under = wanted - below[under] < below[over] - wanted
            borders[street] = np.where(nearer_under, under, over) + 1
        return borders

    @cached_property
    def _lookup(self) -> NDArray[np.uint8]:
        """Bucket of each level on each street; levels that mean blocked have none."""
        table = np.full((STREET_COUNT, BLOCKED + 1), NO_BUCKET, dtype=np.uint8)
        for street in range(STREET_COUNT):
            levels = np.arange(FULL + 1)
            table[street, : FULL + 1] = np.searchsorted(self.borders[street], levels, side="right")
        return table

    def bucket(self, hole: tuple[int, ...], board: tuple[int, ...] = ()) -> int:
        """Bucket of a hand, from 0, the weakest."""
        return int(self._lookup[street_of(board), rollout_table().level(hole, board)])

    def buckets(self, board: Iterable[int] = ()) -> NDArray[np.uint8]:
        """Bucket of every combination on a board, :data:`NO_BUCKET` where they share a card."""
        common = tuple(board)
        found: NDArray[np.uint8] = self._lookup[street_of(common), rollout_table().levels(common)]
        return found

    def masses(self, street: int) -> NDArray[np.float64]:
        """Probability of each bucket on a street, over all hands and boards: they sum to 1."""
        counts = rollout_table().counts[street]
        found = self._lookup[street, : FULL + 1]
        masses: NDArray[np.float64] = np.bincount(found, counts, self.count) / counts.sum()
        return masses

    @property
    def fingerprint(self) -> str:
        """Hash of what decides the buckets."""
        return artefact.fingerprint(["equity", self.count, self.division])

    def lookup(self) -> Lookup:
        """Sequences of buckets of cards, for kernels."""
        return self._sequences

    @cached_property
    def _sequences(self) -> Lookup:
        if self.count**STREET_COUNT > _MOST_SEQUENCES:
            raise TooLargeError(
                f"{self.count} buckets make {self.count**STREET_COUNT:,} sequences: at most 10 buckets a "
                "street fit"
            )
        table = rollout_table()
        features = []
        for street, levels in enumerate((table.levels(), table.flop, table.turn)):
            known = self._lookup[street].astype(np.uint16)
            known[known == NO_BUCKET] = BLOCKED
            features.append(known[levels])
        bucket = np.arange(self.count)
        river = self._lookup[3, np.arange(FULL_SCORE + 1) * (FULL // FULL_SCORE)]
        children = [
            (self.count * np.arange(self.count**street)[:, None] + digit).astype(np.uint16)
            for street, digit in enumerate((bucket, bucket, bucket, river))
        ]
        return lookup([*features, table.river], children)

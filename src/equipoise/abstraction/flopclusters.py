"""Public clusters of flops: boards on which hands fare alike stand together.

Brown, Ganzfried and Sandholm (AAMAS 2015) divide the game by its public flop first. A flop i is the
vector A_i of how its 1,176 private hands share themselves out over the buckets of a flat flop
abstraction, and two flops are as far apart as those shares do not overlap:

    d(i, j) = 1 - sum over b of min(A_i[b], A_j[b]) = 1/2 sum over b of |A_i[b] - A_j[b]|,

which is a metric, 0 for equal shares and 1 where no bucket is common to both. Clusters are those of
weighted k-medians in that distance (:mod:`.kmeans`): each of the 1,755 flops up to suits counts as
often as it comes, and a cluster is stood for by the median share of every bucket.

Clusters are numbered from the most likely one on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import BOARD_CLASSES, board_index, board_place
from equipoise.abstraction.features.equities import weights
from equipoise.abstraction.kmeans import cluster
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.card import parse_cards
from equipoise.errors import CardError, GameError

#: Flops up to suits.
FLOPS = BOARD_CLASSES[3]
#: Starts of which the best clustering is kept.
_RESTARTS = 8


def flop_shares(features: NDArray[np.uint16], buckets: int) -> NDArray[np.float32]:
    """A_i: share of each flop's private hands in each bucket, float32[1755, buckets].

    `features` are the buckets of a flat abstraction on every canonical flop, hands that the board
    blocks left out.
    """
    found = np.empty((len(features), buckets), dtype=np.float32)
    for row, buckets_here in zip(found, features, strict=True):
        dealt = buckets_here[buckets_here != BLOCKED]
        row[:] = np.bincount(dealt, minlength=buckets) / len(dealt)
    return found


def flop_distance(first: NDArray[Any], second: NDArray[Any]) -> float:
    """How far two flops are apart, given their shares: 1 less what they have in common.

    >>> flop_distance(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.25, 0.25]))
    0.25
    """
    return float(1 - np.minimum(first, second).sum())


@dataclass(frozen=True, eq=False)
class FlopClusters:
    """Which public cluster each flop is in."""

    #: Cluster of each canonical flop: uint16[1755].
    of_flop: NDArray[np.uint16]

    def __post_init__(self) -> None:
        found = self.of_flop
        numbered = np.array_equal(np.unique(found), np.arange(int(found.max(initial=0)) + 1))
        if found.shape != (FLOPS,) or found.dtype != np.uint16 or not numbered:
            raise GameError(
                f"clusters of flops: give each of the {FLOPS:,} flops one, numbered 0, 1, 2 …"
            )

    @property
    def count(self) -> int:
        """Number of clusters."""
        return int(self.of_flop.max()) + 1

    def of(self, flop: str | Iterable[int]) -> int:
        """Cluster of a flop, whatever its suits are called and in whatever order its cards came."""
        cards = parse_cards(flop) if isinstance(flop, str) else tuple(flop)
        if len(cards) != 3 or len(set(cards)) != 3:
            raise CardError("a flop has three different cards, such as Ks9d4c")
        return int(self.of_flop[board_place(cards)[0]])

    @cached_property
    def masses(self) -> NDArray[np.float64]:
        """Probability of each cluster: they sum to 1."""
        counts = np.bincount(self.of_flop, weights(1), self.count)
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def flops(self, number: int) -> NDArray[np.uint8]:
        """The canonical flops of a cluster: uint8[flops, 3]."""
        found: NDArray[np.uint8] = board_index(3).boards[self.of_flop == number]
        return found


def cluster_flops(shares: NDArray[np.float32], count: int, seed: int = 0) -> FlopClusters:
    """Put flops into `count` clusters by the shares of their hands."""
    if not 1 <= count <= FLOPS:
        raise GameError(f"{count} public clusters: choose from 1 to {FLOPS:,}")
    often = weights(1).astype(np.float64)
    found = cluster(shares, count, often, metric="emd", seed=seed, restarts=_RESTARTS)
    used, labels = np.unique(found.labels, return_inverse=True)
    place = np.empty(len(used), dtype=np.uint16)
    place[np.argsort(-np.bincount(labels, often), kind="stable")] = np.arange(len(used))
    return FlopClusters(place[labels])

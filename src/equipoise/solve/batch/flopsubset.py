"""A few flops that stand for all.

The 22,100 flops are 1,755 up to a renaming of suits. A subset of them is chosen so that every flop
has a similar one in it, and each chosen flop weighs as many flops as are most similar to it.

Flops are compared by what decides how they are played: the ranks of the high, middle and low card,
how many straights two hole cards can complete, whether the board is paired, how many suits it has,
and of two suits which card stands alone. No two of the 1,755 are alike in all of these. Distance is
the weighted sum of differences; another pairing or another number of suits counts more than nearly
any difference in rank. The cost of a subset is the mean distance of a flop to the nearest one
chosen, and flops are added one at a time, each the one that lowers the cost most (the greedy method
for medians, within 1 − 1/e of the best reduction: Nemhauser, Wolsey and Fisher 1978). So a larger
subset contains every smaller one, and a batch that grows solves only what is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.isomorphism import flops
from equipoise.errors import EquipoiseError

#: Every flop there is, suits told apart.
ALL_FLOPS = 22_100

#: What flops are compared by, and how much a difference of 1 counts.
FEATURES = {
    "high_rank": 1 / 6,
    "middle_rank": 1 / 12,
    "low_rank": 1 / 12,
    "straights": 1 / 4,
    "paired": 3.0,
    "trips": 3.0,
    "two_tone": 3.0,
    "monotone": 3.0,
    "lone_card": 1 / 8,
}


@dataclass(frozen=True)
class FlopSubset:
    """Flops with the number of flops that each stands for.

    >>> subset = choose_flops(25)
    >>> len(subset.flops), sum(subset.weights)
    (25, 22100)
    >>> set(choose_flops(10).flops) < set(subset.flops)
    True
    """

    #: Cards of each flop, highest first.
    flops: tuple[tuple[int, ...], ...]
    #: Flops that each stands for; they sum to 22,100.
    weights: tuple[int, ...]
    #: Mean of every feature over all flops and over the subset.
    means: dict[str, tuple[float, float]]

    @property
    def errors(self) -> dict[str, float]:
        """How far the subset's mean of every feature is from that of all flops.

        >>> max(map(abs, choose_flops(1755).errors.values()))
        0.0
        """
        return {name: chosen - every for name, (every, chosen) in self.means.items()}


def choose_flops(count: int | None = None) -> FlopSubset:
    """The `count` flops that represent all best by the greedy method; all 1,755 if not given."""
    boards, weights, features = _all_flops()
    size = len(boards)
    if count is None:
        count = size
    if not 1 <= count <= size:
        raise EquipoiseError(f"{count} flops: choose from 1 to {size:,}")
    chosen = np.array(_order()[:count])
    nearest = _distances()[:, chosen].argmin(axis=1)
    stands_for = np.bincount(nearest, weights=weights, minlength=count).astype(np.int64)
    every = weights @ features / ALL_FLOPS
    subset = stands_for @ features[chosen] / ALL_FLOPS
    order = np.argsort(chosen) if count == size else np.arange(count)
    return FlopSubset(
        flops=tuple(tuple(int(card) for card in boards[chosen[i]]) for i in order),
        weights=tuple(int(stands_for[i]) for i in order),
        means={
            name: (float(a), float(b)) for name, a, b in zip(FEATURES, every, subset, strict=True)
        },
    )


@lru_cache(maxsize=1)
def _all_flops() -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.float64]]:
    """Cards, multiplicity and features of the 1,755 flops."""
    numbers = np.arange(flops().size(0))
    boards = flops().unindex_many(0, numbers, threads=1)[:, ::-1].copy()
    weights = flops().multiplicity_many(0, numbers, threads=1)
    return boards, weights, flop_features(boards)


def flop_features(boards: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Features of flops whose cards stand from high to low: [flop, feature]."""
    ranks, suits = (boards >> 2).astype(np.int64), np.sort(boards & 3, axis=1)
    equal = (ranks[:, 0] == ranks[:, 1]).astype(int) + (ranks[:, 1] == ranks[:, 2])
    suit_count = 1 + (suits[:, 0] != suits[:, 1]).astype(int) + (suits[:, 1] != suits[:, 2])
    # A straight is five ranks in a row, the ace below the deuce or above the king; it takes three
    # ranks of the board.
    straights = np.zeros(len(boards))
    for lowest in range(-1, 9):
        row = [12 if lowest < 0 else lowest, *range(lowest + 1, lowest + 5)]
        straights += np.isin(ranks, row).all(axis=1) & (equal == 0)
    two_tone = suit_count == 2
    own = boards & 3
    # Of two suits on three ranks: 0 where the high card has a suit to itself, 2 where the low has.
    lone = 2 * (own[:, 0] == own[:, 1]) + 1 * (own[:, 0] == own[:, 2])
    return np.column_stack(
        [
            *ranks.T,
            straights,
            equal == 1,
            equal == 2,
            two_tone,
            suit_count == 1,
            lone * (two_tone & (equal == 0)),
        ]
    ).astype(np.float64)


@lru_cache(maxsize=1)
def _distances() -> NDArray[np.float32]:
    """Distance of every flop to every other."""
    scaled = (_all_flops()[2] * np.array(list(FEATURES.values()))).astype(np.float32)
    distances = np.zeros((len(scaled), len(scaled)), dtype=np.float32)
    for column in scaled.T:
        distances += np.abs(column[:, None] - column)
    return distances


@lru_cache(maxsize=1)
def _order() -> tuple[int, ...]:
    """All flops, each the one that lowers the cost most after those before it.

    What a flop would gain only shrinks as others are chosen, so gains are computed anew only for
    the flop that leads the queue.
    """
    _, weights, _ = _all_flops()
    distances, mass = _distances(), weights.astype(np.float64)
    nearest = np.full(len(mass), distances.max() + 1, dtype=np.float32)

    def gain(flop: int) -> float:
        return float(mass @ np.maximum(nearest - distances[flop], 0))

    queue = [(-gain(flop), flop, 0) for flop in range(len(mass))]
    heapify(queue)
    chosen: list[int] = []
    while queue and len(chosen) < len(mass):
        _, flop, known_at = queue[0]
        if known_at == len(chosen):
            chosen.append(flop)
            np.minimum(nearest, distances[flop], out=nearest)
            # Never again: a chosen flop gains nothing, and less than nothing keeps it last.
            heapreplace(queue, (1.0, flop, len(mass)))
        else:
            heapreplace(queue, (-gain(flop), flop, len(chosen)))
    return tuple(chosen)

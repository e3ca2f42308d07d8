"""How often the hands of a bucket come to each feature of the next street.

Bucketing top down, each bucket's hands are divided on the next street by feature; the division is
weighted by how often each feature comes. Counted are all deals of hole cards and board, the flop a
set and the turn a card after it: on a board of four cards any of them may have been the turn, so
each canonical board is counted with each of its four flops, times its multiplicity. All are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_COMBO, board_index, board_ranks
from equipoise.abstraction.features.equities import FULL_SCORE, next_places, weights
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS, COMBO_COUNT
from equipoise.errors import GameError
from equipoise.kernel import kernel, over_chunks

_NOT_DEALT = np.uint16(BLOCKED)
_RENAMING_BITS = np.uint64(5)
_RENAMING_MASK = np.uint64(31)

Table = NDArray[np.uint16]


@kernel
def _count_scores(scores: Table, multiplicity: NDArray[np.int64], mass: NDArray[np.int64]) -> None:
    for n in range(scores.shape[0]):
        for combo in range(np.uint64(COMBO_COUNT)):
            score = scores[n, combo]
            if score != _NOT_DEALT:
                mass[np.uint64(COMBO_CLASS[combo]), np.uint64(score)] += multiplicity[n]


def score_mass(scores: Table, multiplicity: NDArray[np.int64]) -> NDArray[np.float64]:
    """Deals of each class of hole cards and each river score: float64[169, 1981].

    `scores` are those of some canonical boards of five cards, `multiplicity` what they stand for.
    """
    parts: list[NDArray[np.int64]] = []

    def work(first: int, last: int) -> None:
        mass = np.zeros((CLASS_COUNT, FULL_SCORE + 1), dtype=np.int64)
        _count_scores(scores[first:last], multiplicity[first:last], mass)
        parts.append(mass)

    over_chunks(work, len(scores))
    total: NDArray[np.float64] = np.sum(parts, axis=0).astype(np.float64)
    return total


def flop_mass(preflop: Table, features: Table, buckets: int, count: int) -> NDArray[np.float64]:
    """Deals of each preflop bucket and flop feature: float64[buckets, count].

    `preflop` is the bucket of each combination, `features` the flop's table.
    """
    mass = np.zeros(buckets * count)
    for row, weight in zip(features, weights(1), strict=True):
        live = row != BLOCKED
        cells = preflop[live].astype(np.int64) * count + row[live]
        mass += weight * np.bincount(cells, minlength=len(mass))
    return mass.reshape(buckets, count)


def flop_bucket_table(hole_buckets: Table, features: Table, child: Table) -> Table:
    """Bucket of each hand on each canonical flop; blocked hands keep the mark."""
    dealt = features != BLOCKED
    found = child[np.broadcast_to(hole_buckets, features.shape), np.where(dealt, features, 0)]
    buckets: Table = np.where(dealt, found, np.uint16(BLOCKED)).astype(np.uint16)
    return buckets


def flops_of_turns() -> NDArray[np.uint32]:
    """The four flops that each canonical board of four cards may have come from: uint32[16432, 4].

    An entry is 32 times the class of the flop, plus the renaming that makes it canonical.
    """
    boards, index = board_index(4).boards, board_index(3)
    ranks = np.stack([board_ranks(np.delete(boards, card, axis=1)) for card in range(4)], axis=1)
    return (index.class_of[ranks] << 5 | index.renaming[ranks]).astype(np.uint32)


@kernel
def _count_turns(
    first: int,
    last: int,
    flops: NDArray[np.uint32],
    multiplicity: NDArray[np.int64],
    flop_buckets: Table,
    features: Table,
    mass: NDArray[np.int64],
) -> None:
    for n in range(first, last):
        for card in range(4):
            flop = np.uint64(flops[n, card]) >> _RENAMING_BITS
            renaming = np.uint64(flops[n, card]) & _RENAMING_MASK
            for combo in range(np.uint64(COMBO_COUNT)):
                feature = features[n, combo]
                if feature != _NOT_DEALT:
                    bucket = flop_buckets[flop, np.uint64(RENAMED_COMBO[renaming, combo])]
                    mass[np.uint64(bucket), np.uint64(feature)] += multiplicity[n]


@kernel
def _count_rivers(
    first: int,
    last: int,
    flops: NDArray[np.uint32],
    rivers: NDArray[np.uint32],
    multiplicity: NDArray[np.int64],
    flop_buckets: Table,
    turn_features: Table,
    turn_child: Table,
    features: Table,
    mass: NDArray[np.int64],
) -> None:
    """As for turns; the river's feature is read once for the four flops."""
    buckets = np.empty((COMBO_COUNT, 4), np.uint16)
    hands = np.empty(COMBO_COUNT, np.uint64)
    for n in range(first, last):
        live = np.uint64(0)
        for combo in range(np.uint64(COMBO_COUNT)):
            if turn_features[n, combo] != _NOT_DEALT:
                hands[live] = combo
                live += np.uint64(1)
        for card in range(4):
            flop = np.uint64(flops[n, card]) >> _RENAMING_BITS
            renaming = np.uint64(flops[n, card]) & _RENAMING_MASK
            for i in range(live):
                combo = hands[i]
                bucket = flop_buckets[flop, np.uint64(RENAMED_COMBO[renaming, combo])]
                buckets[i, card] = turn_child[np.uint64(bucket), np.uint64(turn_features[n, combo])]
        for j in range(rivers.shape[1]):
            river = np.uint64(rivers[n, j]) >> _RENAMING_BITS
            renaming = np.uint64(rivers[n, j]) & _RENAMING_MASK
            for i in range(live):
                feature = features[river, np.uint64(RENAMED_COMBO[renaming, hands[i]])]
                if feature != _NOT_DEALT:
                    for card in range(np.uint64(4)):
                        mass[np.uint64(buckets[i, card]), np.uint64(feature)] += multiplicity[n]


def turn_mass(
    flop_buckets: Table, features: Table, buckets: int, count: int
) -> NDArray[np.float64]:
    """Deals of each flop bucket and turn feature: float64[buckets, count].

    `flop_buckets` holds the bucket of each hand on each canonical flop.
    """
    flops, multiplicity = flops_of_turns(), weights(2)
    parts: list[NDArray[np.int64]] = []

    def work(first: int, last: int) -> None:
        mass = np.zeros((buckets, count), dtype=np.int64)
        _count_turns(first, last, flops, multiplicity, flop_buckets, features, mass)
        parts.append(mass)

    over_chunks(work, len(flops))
    total: NDArray[np.float64] = np.sum(parts, axis=0).astype(np.float64)
    return total


def river_mass(
    flop_buckets: Table,
    turn_features: Table,
    turn_child: Table,
    features: Table,
    count: int,
) -> NDArray[np.float64]:
    """Deals of each turn bucket and river feature: float64[buckets, count].

    `turn_child` gives the turn bucket of a flop bucket and a turn feature.
    """
    if features.shape != (len(weights(3)), COMBO_COUNT):
        raise GameError(f"river features of shape {features.shape}: give a row for each board")
    flops, rivers, multiplicity = flops_of_turns(), next_places(2), weights(2)
    buckets = int(turn_child.max()) + 1
    parts: list[NDArray[np.int64]] = []

    def work(first: int, last: int) -> None:
        mass = np.zeros((buckets, count), dtype=np.int64)
        _count_rivers(
            *(first, last, flops, rivers, multiplicity),
            *(flop_buckets, turn_features, turn_child, features, mass),
        )
        parts.append(mass)

    over_chunks(work, len(flops))
    total: NDArray[np.float64] = np.sum(parts, axis=0).astype(np.float64)
    return total

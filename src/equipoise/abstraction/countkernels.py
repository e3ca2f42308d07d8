"""How often buckets come, alone and one after another: counted over all deals, the compiled part.

The counting is described where it is used: :mod:`.childmass`, :mod:`.totals` and
:mod:`equipoise.abstraction.tables.transitions`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_COMBO, split_place
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.lookup import NOT_DEALT, Lookup, board_buckets
from equipoise.cards.combos import COMBO_CLASS, COMBO_COUNT
from equipoise.cards.streets import STREET_COUNT
from equipoise.kernel import kernel

Table = NDArray[np.uint16]


@kernel
def count_scores(scores: Table, multiplicity: NDArray[np.int64], mass: NDArray[np.int64]) -> None:
    """Add to `mass`[class of hole cards, score] the boards on which that class has that score."""
    for n in range(scores.shape[0]):
        for combo in range(np.uint64(COMBO_COUNT)):
            score = scores[n, combo]
            if score != NOT_DEALT:
                mass[np.uint64(COMBO_CLASS[combo]), np.uint64(score)] += multiplicity[n]


@kernel
def count_turns(
    first: int,
    last: int,
    flops: NDArray[np.uint32],
    multiplicity: NDArray[np.int64],
    flop_buckets: Table,
    features: Table,
    mass: NDArray[np.int64],
) -> None:
    """Add to `mass`[flop bucket, turn feature] the deals of boards of four cards."""
    for n in range(first, last):
        for card in range(4):
            flop, renaming = split_place(flops[n, card])
            for combo in range(np.uint64(COMBO_COUNT)):
                feature = features[n, combo]
                if feature != NOT_DEALT:
                    bucket = flop_buckets[flop, np.uint64(RENAMED_COMBO[renaming, combo])]
                    mass[np.uint64(bucket), np.uint64(feature)] += multiplicity[n]


@kernel
def count_rivers(
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
    """The same for `mass`[turn bucket, river feature], read once for the four flops of a turn."""
    buckets = np.empty((COMBO_COUNT, 4), np.uint16)
    hands = np.empty(COMBO_COUNT, np.uint64)
    for n in range(first, last):
        live = np.uint64(0)
        for combo in range(np.uint64(COMBO_COUNT)):
            if turn_features[n, combo] != NOT_DEALT:
                hands[live] = combo
                live += np.uint64(1)
        for card in range(4):
            flop, renaming = split_place(flops[n, card])
            for i in range(live):
                combo = hands[i]
                bucket = flop_buckets[flop, np.uint64(RENAMED_COMBO[renaming, combo])]
                buckets[i, card] = turn_child[np.uint64(bucket), np.uint64(turn_features[n, combo])]
        for j in range(rivers.shape[1]):
            river, renaming = split_place(rivers[n, j])
            for i in range(live):
                feature = features[river, np.uint64(RENAMED_COMBO[renaming, hands[i]])]
                if feature != NOT_DEALT:
                    for card in range(np.uint64(4)):
                        mass[np.uint64(buckets[i, card]), np.uint64(feature)] += multiplicity[n]


@kernel
def add_street(
    features: Table,
    row: NDArray[np.uint16],
    child: Table,
    equity: NDArray[np.float32],
    multiplicity: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Boards of one street, where a bucket's row of the child table depends on the hand alone."""
    for n in range(features.shape[0]):
        weight = multiplicity[n]
        for combo in range(np.uint64(COMBO_COUNT)):
            feature = features[n, combo]
            if feature != NOT_DEALT:
                bucket = np.uint64(child[np.uint64(row[combo]), np.uint64(feature)])
                value = np.float64(equity[n, combo])
                sums[bucket, 0] += weight
                sums[bucket, 1] += weight * value
                sums[bucket, 2] += weight * value * value


@kernel
def add_later(
    flops: NDArray[np.uint32],
    rivers: NDArray[np.uint32],
    multiplicity: NDArray[np.int64],
    flop_buckets: Table,
    turn_features: Table,
    turn_child: Table,
    turn_equity: NDArray[np.float32],
    river_features: Table,
    river_child: Table,
    scores: Table,
    sums: NDArray[np.float64],
) -> None:
    """Turns with each of their four flops; with rivers given, each river after them.

    A slice of boards: `flops`, `rivers`, `multiplicity` and the turn's tables have a row for each.
    """
    buckets = np.empty((4, COMBO_COUNT), np.uint16)
    remembered = turn_child.shape[0] > 1
    for n in range(flops.shape[0]):
        weight = multiplicity[n]
        for card in range(4):
            flop, renaming = split_place(flops[n, card])
            for combo in range(np.uint64(COMBO_COUNT)):
                feature = turn_features[n, combo]
                if feature == NOT_DEALT:
                    continue
                row = np.uint64(0)
                if remembered:
                    row = np.uint64(flop_buckets[flop, np.uint64(RENAMED_COMBO[renaming, combo])])
                bucket = turn_child[row, np.uint64(feature)]
                buckets[card, combo] = bucket
                if rivers.shape[1] == 0:
                    value = np.float64(turn_equity[n, combo])
                    sums[np.uint64(bucket), 0] += weight
                    sums[np.uint64(bucket), 1] += weight * value
                    sums[np.uint64(bucket), 2] += weight * value * value
        for j in range(rivers.shape[1]):
            river, renaming = split_place(rivers[n, j])
            for combo in range(np.uint64(COMBO_COUNT)):
                renamed = np.uint64(RENAMED_COMBO[renaming, combo])
                feature = river_features[river, renamed]
                if feature == NOT_DEALT:
                    continue
                value = np.float64(scores[river, renamed]) / FULL_SCORE
                for card in range(np.uint64(4)):
                    row = np.uint64(buckets[card, combo])
                    bucket = np.uint64(river_child[row, np.uint64(feature)])
                    sums[bucket, 0] += weight
                    sums[bucket, 1] += weight * value
                    sums[bucket, 2] += weight * value * value


@kernel
def count_steps(
    lookup: Lookup,
    boards: NDArray[np.uint8],
    weights: NDArray[np.int64],
    classes: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add all hands of the boards to `counts`[class, bucket of the last street, bucket before]."""
    buckets = np.empty((STREET_COUNT, COMBO_COUNT), np.uint16)
    street = boards.shape[1] - 2
    for n in range(boards.shape[0]):
        board_buckets(lookup, boards[n], buckets)
        for combo in range(np.uint64(COMBO_COUNT)):
            now = buckets[street, combo]
            if now != NOT_DEALT:
                counts[classes[n], now, buckets[street - 1, combo]] += weights[n]

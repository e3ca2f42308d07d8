"""How often the hands of a bucket come to each feature of the next street.

Bucketing top down, each bucket's hands are divided on the next street by feature; the division is
weighted by how often each feature comes. Counted are all deals of hole cards and board, the flop a
set and the turn a card after it: on a board of four cards any of them may have been the turn, so
each canonical board is counted with each of its four flops, times its multiplicity. All are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import board_index, board_places, board_ranks
from equipoise.abstraction.countkernels import Table, count_rivers, count_scores, count_turns
from equipoise.abstraction.features.equities import next_places, weights
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import CLASS_COUNT, COMBO_COUNT
from equipoise.errors import GameError
from equipoise.kernel import over_chunks


def score_mass(scores: Table, multiplicity: NDArray[np.int64]) -> NDArray[np.float64]:
    """Deals of each class of hole cards and each river score: float64[169, 1981].

    `scores` are those of some canonical boards of five cards, `multiplicity` what they stand for.
    """
    parts: list[NDArray[np.int64]] = []

    def work(first: int, last: int) -> None:
        mass = np.zeros((CLASS_COUNT, FULL_SCORE + 1), dtype=np.int64)
        count_scores(scores[first:last], multiplicity[first:last], mass)
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

    Entries are those of :func:`board_places`.
    """
    boards = board_index(4).boards
    ranks = np.stack([board_ranks(np.delete(boards, card, axis=1)) for card in range(4)], axis=1)
    places: NDArray[np.uint32] = board_places(3)[ranks]
    return places


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
        count_turns(first, last, flops, multiplicity, flop_buckets, features, mass)
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
        count_rivers(
            *(first, last, flops, rivers, multiplicity),
            *(flop_buckets, turn_features, turn_child, features, mass),
        )
        parts.append(mass)

    over_chunks(work, len(flops))
    total: NDArray[np.float64] = np.sum(parts, axis=0).astype(np.float64)
    return total

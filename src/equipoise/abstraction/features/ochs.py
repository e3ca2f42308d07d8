"""Equity against clusters of opponents' hands, for every hand on every river.

Equity against a uniform hand is one number; two hands may share it and yet be different, one that
beats all the weak hands and one that beats some of the strong. Opponent-cluster hand strength (OCHS;
Johanson, Burch, Valenzano and Bowling, AAMAS 2013) is a vector: the 169 classes of hole cards are
put into a few clusters, and entry c is the equity against the hands of cluster c that the cards
shown leave, ties half. It is counted by the sweep of :mod:`.equities` with one counter a cluster.

Entries are kept in 254 steps, one byte each. A cluster of which the cards leave no hand says 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.features.equities import in_batches
from equipoise.abstraction.tablecache import Progress, cached_table
from equipoise.cards.combos import CLASS_COUNT, COMBO_CARDS, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    fill_strengths,
    sort_by_strength,
    start_key,
    tables,
)
from equipoise.errors import GameError
from equipoise.kernel import kernel

#: Entry of an equity of 1.
FULL_STEPS = 254
#: Entry of a hand that the board blocks.
NO_STEPS = 255
#: Most clusters: as many fit the lanes of a vector.
MOST_CLUSTERS = 16


@kernel
def _sweep(
    boards: NDArray[np.uint8],
    cluster: NDArray[np.uint64],
    clusters: int,
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    out: NDArray[np.uint8],
) -> None:
    """Equity of every hand against each cluster: `out`[board, combination, cluster].

    Counters have a row of `MOST_CLUSTERS` for each card, and one more for all hands.
    """
    strengths = np.empty(COMBO_COUNT, np.uint16)
    half_sorted, order = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    lanes = np.uint64(MOST_CLUSTERS)
    every = np.uint64(52) * lanes
    passed, dealt = np.empty(53 * MOST_CLUSTERS, np.int32), np.empty(53 * MOST_CLUSTERS, np.int32)
    score = np.empty(COMBO_COUNT * MOST_CLUSTERS, np.int32)
    for n in range(boards.shape[0]):
        key, bits = start, np.uint64(0)
        for j in range(5):
            key += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
        fill_strengths(key, bits, values, rows, strengths)
        live = np.uint64(sort_by_strength(strengths, half_sorted, order))
        passed[:] = 0
        first = np.uint64(0)
        while first < live:
            value = strengths[order[first]]
            last = first
            while last < live and strengths[order[last]] == value:
                combo = np.uint64(order[last])
                hi = np.uint64(COMBO_CARDS[combo, 0]) * lanes
                lo = np.uint64(COMBO_CARDS[combo, 1]) * lanes
                base = combo * lanes
                for c in range(lanes):
                    score[base + c] = passed[every + c] - passed[hi + c] - passed[lo + c]
                last += np.uint64(1)
            for i in range(first, last):
                combo = np.uint64(order[i])
                mine = cluster[combo]
                passed[np.uint64(COMBO_CARDS[combo, 0]) * lanes + mine] += np.int32(1)
                passed[np.uint64(COMBO_CARDS[combo, 1]) * lanes + mine] += np.int32(1)
                passed[every + mine] += np.int32(1)
            for i in range(first, last):
                combo = np.uint64(order[i])
                hi = np.uint64(COMBO_CARDS[combo, 0]) * lanes
                lo = np.uint64(COMBO_CARDS[combo, 1]) * lanes
                base = combo * lanes
                for c in range(lanes):
                    score[base + c] += passed[every + c] - passed[hi + c] - passed[lo + c]
                # Of the hands that share a card only the hand itself is taken off twice.
                score[base + cluster[combo]] += np.int32(1)
            first = last
        dealt[:] = passed
        for hand in range(np.uint64(COMBO_COUNT)):
            if not strengths[hand]:
                out[n, hand, :] = NO_STEPS
                continue
            hi = np.uint64(COMBO_CARDS[hand, 0]) * lanes
            lo = np.uint64(COMBO_CARDS[hand, 1]) * lanes
            base = hand * lanes
            for c in range(np.uint64(clusters)):
                opponents = dealt[every + c] - dealt[hi + c] - dealt[lo + c]
                opponents += np.int32(c == cluster[hand])
                steps = np.float32(FULL_STEPS // 2)
                if opponents:
                    steps *= np.float32(score[base + c]) / np.float32(opponents)
                out[n, hand, c] = np.uint8(steps + np.float32(0.5))


def _clusters(cluster_of_class: Sequence[int]) -> tuple[NDArray[np.uint64], int]:
    given = [int(cluster) for cluster in cluster_of_class]
    count = max(given, default=-1) + 1
    if len(given) != CLASS_COUNT or sorted(set(given)) != list(range(count)):
        raise GameError(
            "clusters of opponents: give each of the 169 classes a cluster, numbered from 0"
        )
    if count > MOST_CLUSTERS:
        raise GameError(f"{count} clusters of opponents: at most {MOST_CLUSTERS} fit")
    return np.array(given, dtype=np.uint64)[COMBO_CLASS], count


def cluster_count(cluster_of_class: Sequence[int]) -> int:
    """How many clusters of opponents there are; what does not give each class one is refused."""
    return _clusters(cluster_of_class)[1]


def river_vectors(
    boards: NDArray[np.uint8],
    cluster_of_class: Sequence[int],
    out: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """Steps of equity against each cluster on boards of five cards: uint8[boards, 1326, clusters].

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.cards.combos import parse_combo
    >>> board = np.array([parse_cards("Ac Kd 8h 5s 2c")], dtype=np.uint8)
    >>> pairs_and_others = [0 if row == column else 1 for row in range(13) for column in range(13)]
    >>> river_vectors(board, pairs_and_others)[0, parse_combo("Ks Kh")]
    array([241, 250], dtype=uint8)
    """
    cluster, count = _clusters(cluster_of_class)
    found = np.empty((len(boards), COMBO_COUNT, count), np.uint8) if out is None else out
    values, rows = tables()
    _sweep(boards, cluster, count, np.uint64(start_key(7)), values, rows, found)
    return found


def ochs_vectors(
    cluster_of_class: Sequence[int], progress: Progress | None = None
) -> NDArray[np.uint8]:
    """:func:`river_vectors` of every canonical board, mapped from the cache (1.4 GB for 8)."""
    _, count = _clusters(cluster_of_class)
    boards = board_index(5).boards
    given = [int(cluster) for cluster in cluster_of_class]

    def fill(out: NDArray[np.uint8]) -> None:
        in_batches(lambda a, b: river_vectors(boards[a:b], given, out[a:b]), len(out), progress)

    shape = (len(boards), COMBO_COUNT, count)
    return cached_table("opponent cluster vectors", {"clusters": given}, shape, np.uint8, fill)

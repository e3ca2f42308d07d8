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
from equipoise.abstraction.features.equities import read_only
from equipoise.abstraction.features.kernels import MOST_CLUSTERS, sweep_clusters
from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import tables
from equipoise.errors import GameError
from equipoise.kernel import over_chunks


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
    sweep_clusters(read_only(np.ascontiguousarray(boards)), cluster, count, tables(), found)
    return found


def ochs_vectors(cluster_of_class: Sequence[int], boards: slice = slice(None)) -> NDArray[np.uint8]:
    """:func:`river_vectors` of canonical boards, on all cores; of all of them 1.4 GB for 8 clusters."""
    shown = board_index(5).boards[boards]
    given = [int(cluster) for cluster in cluster_of_class]
    out = np.empty((len(shown), COMBO_COUNT, cluster_count(given)), dtype=np.uint8)
    over_chunks(lambda a, b: _swept(shown[a:b], given, out[a:b]), len(shown))
    return out


def _swept(boards: NDArray[np.uint8], clusters: Sequence[int], out: NDArray[np.uint8]) -> None:
    river_vectors(boards, clusters, out)

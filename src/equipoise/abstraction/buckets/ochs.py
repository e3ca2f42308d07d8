"""River buckets by opponent-cluster hand strength, OCHS.

A river hand is the vector of its equities against a few groups of opponents' hole cards
(:mod:`equipoise.abstraction.features.ochs`), and hands are clustered by the Euclidean distance of
these vectors (Johanson, Burch, Valenzano and Bowling, AAMAS 2013). The groups are clusters of the
169 classes of hole cards by their histograms of river equity, by the earth mover's distance: hands
that develop alike before the flop. Groups and buckets are numbered from the weakest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.childmass import score_mass
from equipoise.abstraction.definition import Definition
from equipoise.abstraction.features.equities import river_scores, weights
from equipoise.abstraction.features.kernels import MOST_CLUSTERS, NO_STEPS
from equipoise.abstraction.features.ochs import river_vectors
from equipoise.abstraction.kmeans import Floats, cluster
from equipoise.errors import GameError

#: Groups of opponents' hole cards in the paper.
GROUPS = 8
#: Boards and hands that centroids are fitted to.
_BOARDS, _SAMPLE = 1500, 80_000


def opponent_groups(
    mass: NDArray[np.float64], groups: int = GROUPS, seed: int = 0
) -> NDArray[np.int64]:
    """Group of each class of hole cards, the weakest first: int64[classes].

    `mass` says how often each class comes to each river score: float64[classes, scores].
    """
    if not 1 <= groups <= MOST_CLUSTERS:
        raise GameError(f"{groups} groups of opponents: choose from 1 to {MOST_CLUSTERS}")
    sizes = mass.sum(axis=1)
    # Twenty cells tell histograms apart as well as two thousand scores do.
    ends = np.linspace(0, mass.shape[1], 21).astype(np.int64)[1:-1]
    below = (np.cumsum(mass, axis=1)[:, ends - 1] / sizes[:, None]).astype(np.float32)
    found = cluster(below, groups, sizes, metric="emd", seed=seed, restarts=100)
    return _weakest_first(found.labels, mass @ np.arange(mass.shape[1]) / sizes, sizes)


def _weakest_first(
    labels: NDArray[np.int32], equity: NDArray[np.float64], mass: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The labels renumbered by mean equity."""
    worth = np.bincount(labels, mass * equity) / np.bincount(labels, mass)
    place = np.empty(len(worth), dtype=np.int64)
    place[np.argsort(worth, kind="stable")] = np.arange(len(worth))
    return place[labels]


def fit_vectors(
    vectors: NDArray[np.uint8], mass: NDArray[np.float64], count: int, seed: int = 0
) -> Floats:
    """Centroids of river vectors, by mean equity against the groups: float32[count, groups]."""
    found = cluster(vectors, count, mass, seed=seed, iterations=25, sample=_SAMPLE).centroids
    ordered: Floats = found[np.argsort(found.sum(axis=1), kind="stable")]
    return ordered


def ochs_definition(
    count: int, groups: int = GROUPS, *, boards: int = _BOARDS, seed: int = 0
) -> Definition:
    """River features: the nearest of `count` centroids, fitted to hands on random boards."""
    mass = score_mass(river_scores(), weights(3))
    clusters = [int(group) for group in opponent_groups(mass, groups, seed)]
    rng = np.random.default_rng(seed)
    worth = weights(3) / weights(3).sum()
    drawn, times = np.unique(rng.choice(len(worth), boards, p=worth), return_counts=True)
    vectors = river_vectors(board_index(5).boards[drawn], clusters)
    dealt = vectors[:, :, 0] != NO_STEPS
    often = np.broadcast_to(times[:, None].astype(np.float64), dealt.shape)[dealt]
    found = fit_vectors(vectors[dealt], often, count, seed)
    told = {"of": "ochs", "clusters": clusters, "metric": "l2"}
    return Definition("nearest", told, {"centroids": found})

"""Hierarchical buckets: public clusters of flops first, private buckets under each of them.

Claudico and Tartanian7 (Brown, Ganzfried and Sandholm, AAMAS 2015) divide hold'em twice. The 1,755
flops are put into public clusters (:mod:`equipoise.abstraction.flopclusters`); then the hands of flop,
turn and river are put into private buckets for every cluster apart. A bucket is the pair (cluster,
index), so the flop's public class is remembered to the end of the hand and the buckets before are
forgotten. Before the flop each of the 169 classes of hole cards is a bucket of its own.

Under a cluster, what is divided are the cells of a flat abstraction of the street, many and small
(:mod:`.histograms`, on the river :mod:`.ochs`), each by its centroid and as heavy as it comes after
flops of that cluster, counted over all deals (:mod:`equipoise.abstraction.childmass`). A cell that is
common on dry flops and never comes on wet ones is divided finely there and not at all here. So a
look-up stays two reads a street, and definitions stay small.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.buckets.histograms import HistogramBuckets, histogram_buckets
from equipoise.abstraction.childmass import flop_mass, river_mass, turn_mass
from equipoise.abstraction.definition import Definition, feature_table
from equipoise.abstraction.flopclusters import FLOPS, FlopClusters, cluster_flops, flop_shares
from equipoise.abstraction.kmeans import cluster, nearest
from equipoise.abstraction.lookup import BLOCKED
from equipoise.errors import GameError
from equipoise.run import Event, Listener

#: Starts of which the best division of a cluster's cells is kept.
_RESTARTS = 4

Table = NDArray[np.uint16]


@dataclass(frozen=True)
class HierarchicalBuckets:
    """How to make the buckets."""

    #: Public clusters of flops; Tartanian7 had 60.
    clusters: int = 60
    #: Private buckets of flop, turn and river under each.
    counts: tuple[int, int, int] = (24, 20, 16)
    #: Cells of the flat abstractions of flop, turn and river.
    flat: tuple[int, int, int] = (300, 1000, 1000)
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.clusters <= FLOPS:
            raise GameError(f"clusters = {self.clusters}: choose from 1 to {FLOPS:,} public ones")
        if len(self.counts) != 3 or not all(1 <= count < BLOCKED for count in self.counts):
            raise GameError(
                f"counts {list(self.counts)}: give private buckets of flop, turn and river"
            )
        if len(self.flat) != 3 or not all(1 <= count < BLOCKED for count in self.flat):
            raise GameError(f"flat = {list(self.flat)}: give cells of flop, turn and river")
        for count, cells in zip(self.counts, self.flat, strict=True):
            if count > cells:
                raise GameError(f"{count} private buckets of {cells} flat cells: raise flat")
        most = self.clusters * max(self.counts)
        if most >= BLOCKED:
            raise GameError(f"{most:,} buckets on a street: choose fewer than {BLOCKED:,}")

    @property
    def flat_buckets(self) -> HistogramBuckets:
        """The flat abstraction whose cells are put together."""
        return HistogramBuckets(self.flat, seed=self.seed)


def divided(
    centroids: NDArray[np.float32], mass: NDArray[np.float64], count: int, metric: str, seed: int
) -> NDArray[np.int64]:
    """Private bucket of each cell under one cluster, weakest first: cells that never come too.

    `centroids` stand for the cells in ascending strength, `mass` says how often each comes.
    """
    comes = mass > 0
    if not comes.any():
        return np.zeros(len(mass), dtype=np.int64)
    found = cluster(
        centroids[comes], count, mass[comes], metric=metric, seed=seed, restarts=_RESTARTS
    )
    labels = nearest(centroids, found.centroids, metric).astype(np.int64)
    labels[comes] = found.labels
    # Numbered by the mean place of their cells, which stand in order of strength.
    used, labels = np.unique(labels, return_inverse=True)
    heavy = np.where(comes, mass, 1e-12 * mass.max())
    place = np.bincount(labels, heavy * np.arange(len(mass))) / np.bincount(labels, heavy)
    rank = np.empty(len(used), dtype=np.int64)
    rank[np.argsort(place, kind="stable")] = np.arange(len(used))
    return rank[labels]


def private_cells(
    definition: Definition, mass: NDArray[np.float64], count: int, seed: int
) -> tuple[Table, NDArray[np.int64]]:
    """Bucket of every cell under every cluster, uint16[clusters, cells], and each bucket's cluster."""
    merge = np.empty(mass.shape, dtype=np.uint16)
    owner: list[int] = []
    metric = str(definition.settings["metric"])
    for number, row in enumerate(mass):
        own = divided(definition.arrays["centroids"], row, count, metric, seed)
        merge[number] = len(owner) + own
        owner += [number] * (int(own.max()) + 1)
    return merge, np.array(owner)


def hierarchical_buckets(
    settings: HierarchicalBuckets | None = None,
    tell: Listener = lambda _: None,
    progress: Listener | None = None,
) -> Abstraction:
    """Make the abstraction: some minutes, most of them for features that are then kept."""
    settings = settings or HierarchicalBuckets()
    tell(Event(0, what="flat cells"))
    flat = histogram_buckets(settings.flat_buckets, progress)
    tables = [feature_table(street, flat.definitions, progress) for street in range(4)]
    cells = [definition.features for definition in flat.definitions]
    tell(Event(0, what="public clusters of flops"))
    shares = flop_shares(tables[1], cells[1])
    clusters = cluster_flops(shares, settings.clusters, settings.seed)
    # Hands of a flop by its cluster alone: the masses after a bucket are then those after a cluster.
    public = np.where(tables[1] == BLOCKED, BLOCKED, clusters.of_flop[:, None]).astype(np.uint16)
    keep = np.repeat(np.arange(clusters.count, dtype=np.uint16)[:, None], cells[2], axis=1)
    masses = []
    for street in (1, 2, 3):
        tell(Event(street - 1, 3, what="hands under each cluster"))
        if street == 1:
            masses.append(_masses_on_flops(tables[1], clusters, cells[1]))
        elif street == 2:
            masses.append(turn_mass(public, tables[2], clusters.count, cells[2]))
        else:
            masses.append(river_mass(public, tables[2], keep, tables[3], cells[3]))
    return put_together(settings, flat, clusters, masses)


def _masses_on_flops(features: Table, clusters: FlopClusters, cells: int) -> NDArray[np.float64]:
    """Deals of each cluster and flat cell of the flop."""
    found = np.zeros((clusters.count, cells))
    for number in range(clusters.count):
        elsewhere = clusters.of_flop != number
        own = np.where(elsewhere[:, None], np.uint16(BLOCKED), features)
        found[number] = flop_mass(np.zeros(own.shape[1], np.uint16), own, 1, cells)[0]
    return found


def put_together(
    settings: HierarchicalBuckets,
    flat: Abstraction,
    clusters: FlopClusters,
    masses: list[NDArray[np.float64]],
) -> Abstraction:
    """The abstraction, from a flat one, its clusters and the deals of each cell under each of them."""
    merged = [
        private_cells(flat.definitions[street], masses[street - 1], count, settings.seed)
        for street, count in enumerate(settings.counts, start=1)
    ]
    (flop, flop_owner), (turn, turn_owner), (river, _) = merged
    given = flat.definitions[1]
    arrays = {**given.arrays, "clusters": clusters.of_flop, "merge": flop}
    definitions = (
        flat.definitions[0],
        Definition("clustered", given.settings, arrays),
        *flat.definitions[2:],
    )
    children = (
        np.arange(169, dtype=np.uint16)[None],
        np.arange(len(flop_owner), dtype=np.uint16)[None],
        # A row for every bucket before, those of one cluster alike.
        turn[flop_owner],
        river[turn_owner],
    )
    sizes = "-".join(str(int(child.max()) + 1) for child in children)
    made_by = {"method": "hierarchical", **asdict(settings)}
    name = f"hierarchical {clusters.count}: {sizes}"
    return Abstraction(name, definitions, children, made_by)


def flop_clusters(abstraction: Abstraction) -> FlopClusters | None:
    """The public clusters of an abstraction that has them."""
    definition = abstraction.definitions[1]
    return FlopClusters(definition.arrays["clusters"]) if definition.kind == "clustered" else None

"""Private buckets under public clusters: (cluster, index), remembered to the end, suits or no suits."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.buckets.hierarchical import (
    HierarchicalBuckets,
    divided,
    flop_clusters,
    put_together,
)
from equipoise.abstraction.definition import Definition, check_definitions, feature_table
from equipoise.abstraction.flopclusters import FLOPS, FlopClusters
from equipoise.abstraction.lookup import BLOCKED
from equipoise.abstraction.methods import bucket_counts, checked
from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import GameError, RecipeError


def test_cells_are_divided_where_they_come() -> None:
    centroids = np.arange(8, dtype=np.float32)[:, None]
    mass = np.array([5, 5, 0, 0, 0, 0, 9, 9.0])
    assert divided(centroids, mass, 4, "l2", 0)[[0, 1, 6, 7]].tolist() == [0, 1, 2, 3]
    # A cell that never comes goes with the nearest that does.
    assert divided(centroids, mass, 2, "l2", 0).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert divided(centroids, np.zeros(8), 3, "l2", 0).tolist() == [0] * 8


TOLD = {"of": "histograms", "borders": [0.25, 0.5, 0.75], "metric": "emd"}


class _Flat:
    """A flat abstraction of six, five and four cells, of which only the flop's is looked up."""

    def __init__(self) -> None:
        strong = np.linspace(45, 0, 6, dtype=np.float32)[:, None]
        ochs = {"of": "ochs", "clusters": [0] * 100 + [1] * 69, "metric": "l2"}
        self.definitions = (
            Definition("class"),
            Definition("nearest", TOLD, {"centroids": strong * np.float32([0.4, 0.7, 1])}),
            Definition("nearest", TOLD, {"centroids": strong[:5] * np.ones(3, np.float32)}),
            Definition("nearest", ochs, {"centroids": strong[:4] * np.ones(2, np.float32)}),
        )


@pytest.fixture(scope="module")
def made() -> Abstraction:
    clusters = FlopClusters((np.arange(FLOPS) % 3).astype(np.uint16))
    rng = np.random.default_rng(0)
    masses = [rng.integers(1, 9, (3, cells)).astype(np.float64) for cells in (6, 5, 4)]
    settings = HierarchicalBuckets(3, (3, 2, 4), (6, 5, 4))
    return put_together(settings, _Flat(), clusters, masses)  # type: ignore[arg-type]


def test_a_bucket_tells_its_cluster_on_every_street(made: Abstraction) -> None:
    assert made.counts == (169, 9, 6, 12)
    _, flop, turn, river = made.children
    assert (len(flop), turn.shape, river.shape) == (1, (9, 5), (6, 4))
    for bucket in range(9):
        assert set((turn[bucket] // 2).tolist()) == {bucket // 3}
    for bucket in range(6):
        assert set((river[bucket] // 4).tolist()) == {bucket // 2}
    assert not made.perfect_recall
    check_definitions(made.definitions)


def test_flop_buckets_stand_under_the_cluster_of_their_flop(made: Abstraction) -> None:
    clusters = flop_clusters(made)
    assert clusters is not None
    assert clusters.count == 3
    table = feature_table(1, made.definitions)
    assert table.shape == (FLOPS, COMBO_COUNT)
    for flop in (0, 5, 77, 1234):
        own = table[flop][table[flop] != BLOCKED]
        assert len(own) == 1176
        assert set((own // 3).tolist()) == {int(clusters.of_flop[flop])}


def test_recipes_are_checked() -> None:
    told = {"method": "hierarchical", "clusters": 30, "counts": [10, 8, 6]}
    assert bucket_counts(told) == (169, 300, 240, 180)
    for wrong, why in (
        ({"clusters": 0}, "public"),
        ({"counts": [10, 8]}, "private buckets"),
        ({"counts": [400, 8, 8]}, "raise flat"),
        ({"clusters": 1755, "counts": [300, 8, 8]}, "fewer than"),
        ({"cluster": 3}, "did you mean"),
    ):
        with pytest.raises(RecipeError, match=why):
            checked({**told, **wrong})
    arrays = {
        "clusters": np.ones(FLOPS, np.uint16),
        "merge": np.zeros((1, 6), np.uint16),
        "centroids": _Flat().definitions[1].arrays["centroids"],
    }
    bad = (Definition("class"), Definition("clustered", TOLD, arrays), *_Flat().definitions[2:])
    with pytest.raises(GameError, match="numbered"):
        check_definitions(bad)

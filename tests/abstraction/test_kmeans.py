"""k-means and k-medians against slow twins, and exact clusters on a line against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.kmeans import METRICS, cluster, line_clusters, nearest
from equipoise.errors import GameError


def distances(points: np.ndarray, centroids: np.ndarray, metric: str) -> np.ndarray:
    apart = points[:, None, :].astype(float) - centroids[None].astype(float)
    return (apart**2 if metric == "l2" else abs(apart)).sum(axis=2)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1, 3, 4, 9])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_nearest_is_nearest(metric: str, size: int, kind: type) -> None:
    rng = np.random.default_rng(size)
    points = rng.integers(0, 47, (500, size)).astype(kind)
    centroids = rng.uniform(0, 47, (150, size)).astype(np.float32)
    apart = distances(points, centroids, metric)
    found = nearest(points, centroids, metric)
    assert apart[np.arange(500), found] == pytest.approx(apart.min(axis=1), abs=1e-2)


@pytest.mark.parametrize("metric", METRICS)
def test_centroids_stand_for_their_clusters(metric: str) -> None:
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(at, 0.2, (200, 3)) for at in (0, 3, 7)]).astype(np.float32)
    weights = rng.uniform(0, 2, len(points))
    found = cluster(points, 3, weights, metric=metric, restarts=3)
    assert [len(set(found.labels[part].tolist())) for part in np.split(np.arange(600), 3)] == [
        1
    ] * 3
    apart = distances(points, found.centroids, metric)
    assert found.error == pytest.approx((weights * apart.min(axis=1)).sum(), rel=1e-4)
    for label in range(3):
        mine = found.labels == label
        if metric == "l2":
            expected = np.average(points[mine], axis=0, weights=weights[mine])
        else:
            expected = [lower_median(points[mine, j], weights[mine]) for j in range(3)]
        assert found.centroids[label] == pytest.approx(expected, abs=1e-5)


def lower_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])


@pytest.mark.parametrize("metric", METRICS)
def test_weights_count_as_copies(metric: str) -> None:
    points = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]], dtype=np.float32)
    times = np.array([5, 1, 1, 1, 3])
    weighted = cluster(points, 2, times, metric=metric, restarts=5)
    copied = cluster(np.repeat(points, times, axis=0), 2, metric=metric, restarts=5)
    assert weighted.error == pytest.approx(copied.error)
    assert sorted(weighted.centroids.ravel()) == pytest.approx(sorted(copied.centroids.ravel()))


def test_more_clusters_than_distinct_points_gives_the_points() -> None:
    points = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], np.float32)
    found = cluster(points, 10, [1, 1, 1, 0])
    assert sorted(found.centroids.tolist()) == [[1, 0], [2, 0]]
    assert found.error == 0
    assert found.labels[3] == found.labels[2]


def test_a_sample_fits_nearly_as_well_and_seeds_repeat() -> None:
    rng = np.random.default_rng(4)
    points = rng.random((20_000, 4), dtype=np.float32)
    whole = cluster(points, 20)
    part = cluster(points, 20, sample=4000, seed=3)
    again = cluster(points, 20, sample=4000, seed=3, threads=1)
    assert part.error < 1.05 * whole.error
    assert np.array_equal(part.centroids, again.centroids)
    assert np.array_equal(part.labels, again.labels)
    assert not np.array_equal(part.centroids, cluster(points, 20, sample=4000, seed=5).centroids)


def interval_error(values: np.ndarray, weights: np.ndarray) -> float:
    if not weights.sum():
        return 0.0
    return float((weights * (values - np.average(values, weights=weights)) ** 2).sum())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.integers(1, 5), st.booleans())
def test_clusters_on_a_line_are_the_best_intervals(
    weights: list[int], most: int, uneven: bool
) -> None:
    mass = np.array(weights, float)
    values = np.arange(len(mass)) ** (2 if uneven else 1)
    found = line_clusters(mass, most, values)
    for count in range(1, most + 1):
        errors = []
        for cuts in combinations(range(1, len(mass)), min(count, len(mass)) - 1):
            parts = np.split(np.arange(len(mass)), cuts)
            errors.append(sum(interval_error(values[part], mass[part]) for part in parts))
        assert found.errors[count - 1] == pytest.approx(min(errors), abs=1e-9)
        parts = np.split(np.arange(len(mass)), found.borders(count))
        got = sum(interval_error(values[part], mass[part]) for part in parts if len(part))
        assert got == pytest.approx(found.errors[count - 1], abs=1e-9)


def test_a_line_is_never_worse_than_lloyd() -> None:
    weights = np.random.default_rng(1).integers(0, 50, 1981)
    exact = line_clusters(weights, 8)
    points = np.arange(1981, dtype=np.float32)[:, None]
    for count in (2, 5, 8):
        assert exact.errors[count - 1] <= cluster(points, count, weights).error * (1 + 1e-6)


def test_bad_input_is_refused() -> None:
    points = np.zeros((3, 2))
    with pytest.raises(GameError, match="l2 or emd"):
        cluster(points, 2, metric="l1")
    with pytest.raises(GameError, match="at least 1"):
        cluster(points, 0)
    with pytest.raises(GameError, match="one each"):
        cluster(points, 1, [1.0])
    with pytest.raises(GameError, match="negative"):
        cluster(points, 1, [1.0, -1.0, 0.0])
    with pytest.raises(GameError, match="same length"):
        nearest(points, [[1.0]])
    with pytest.raises(GameError, match="ascend"):
        line_clusters([1, 1], 1, [2, 1])
    with pytest.raises(GameError, match="from 1 to 2"):
        line_clusters([1, 1], 2).borders(3)

"""Histogram and OCHS buckets on a few boards: order, groups of opponents and metrics."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.buckets.histograms import (
    HistogramBuckets,
    equity_intervals,
    fit_histograms,
    sampled_hands,
)
from equipoise.abstraction.buckets.ochs import fit_vectors, opponent_groups
from equipoise.abstraction.childmass import score_mass
from equipoise.abstraction.features.equities import live, score_rivers, weights
from equipoise.abstraction.features.kernels import NO_STEPS
from equipoise.abstraction.features.ochs import river_vectors
from equipoise.abstraction.kmeans import METRICS, nearest
from equipoise.cards.combos import class_text
from equipoise.errors import GameError


def cumulative(rng: np.random.Generator, equity: float, count: int) -> np.ndarray:
    """Cumulative histograms of 46 rivers about an equity, nine borders."""
    rivers = np.clip(rng.normal(equity, 0.08, (count, 46)), 0, 0.999)
    return (rivers[:, :, None] < np.arange(1, 10) / 10).sum(axis=1).astype(np.uint8)


@pytest.mark.parametrize("metric", METRICS)
def test_the_weakest_hands_come_first(metric: str) -> None:
    rng = np.random.default_rng(1)
    parts = [cumulative(rng, equity, 200) for equity in (0.75, 0.15, 0.45)]
    vectors = np.concatenate(parts)
    centroids = fit_histograms(vectors, np.ones(600), 3, metric)
    labels = nearest(vectors, centroids, metric)
    assert [set(part.tolist()) for part in np.split(labels, 3)] == [{2}, {0}, {1}]


def test_hands_are_drawn_with_their_boards() -> None:
    vectors = np.arange(1755, dtype=np.uint16)[:, None, None].repeat(1326, axis=1)
    rows, mass = sampled_hands(vectors.__getitem__, 1, boards=300, seed=2)
    assert len(rows) == len(mass)
    boards, hands = np.unique(rows[:, 0], return_counts=True)
    assert np.all(hands == 1176)
    assert mass.sum() == 300 * 1176
    # Flops that stand for 24 others are drawn more often than those that stand for 4.
    drawn = weights(1)[boards]
    assert drawn.mean() > weights(1).mean()
    assert live(1)[boards[0]].sum() == 1176


def test_intervals_of_equity_ascend() -> None:
    counts = np.random.default_rng(0).integers(0, 9, 1981)
    child = equity_intervals(counts, 40)
    assert np.array_equal(np.unique(child), np.arange(40))
    assert np.all(np.diff(child[0].astype(int)) >= 0)


def some_rivers(count: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return board_index(5).boards[rng.choice(134_459, count, replace=False)]


def test_groups_of_opponents_rise_in_strength() -> None:
    boards = some_rivers(3000)
    mass = score_mass(score_rivers(boards), np.ones(len(boards), dtype=np.int64))
    groups = opponent_groups(mass, 8)
    by_name = {class_text(hand): int(groups[hand]) for hand in range(169)}
    assert sorted(set(by_name.values())) == list(range(8))
    assert by_name["AA"] == by_name["KK"] == 7
    assert by_name["32o"] == 0
    assert by_name["72o"] < by_name["QJs"] < by_name["TT"]
    with pytest.raises(GameError, match="1 to 16"):
        opponent_groups(mass, 17)


def test_river_buckets_tell_hands_of_like_equity_apart() -> None:
    boards = some_rivers(40)
    clusters = [0 if hand % 14 else 1 for hand in range(169)]
    vectors = river_vectors(boards, clusters)
    dealt = vectors[:, :, 0] != NO_STEPS
    rows = vectors[dealt]
    centroids = fit_vectors(rows, np.ones(len(rows)), 20)
    assert centroids.shape == (20, 2)
    assert np.all(np.diff(centroids.sum(axis=1)) >= 0)
    apart = ((rows[:, None].astype(float) - centroids[None]) ** 2).sum(axis=2).min(axis=1)
    alone = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1)
    assert apart.mean() < 0.02 * alone.mean()


def test_settings_are_checked() -> None:
    assert HistogramBuckets(cells=4).borders == (0.25, 0.5, 0.75)
    with pytest.raises(GameError, match="l2 or emd"):
        HistogramBuckets(metric="cosine")
    with pytest.raises(GameError, match="equity or ochs"):
        HistogramBuckets(river="none")
    with pytest.raises(GameError, match="flop, turn and river"):
        HistogramBuckets((1, 2))  # type: ignore[arg-type]
    with pytest.raises(GameError, match="at most 1980"):
        HistogramBuckets((9, 9, 2000), river="equity")

"""Public clusters of flops: a metric, weights, and the same cluster whatever suits are called."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.features.equities import live, weights
from equipoise.abstraction.flopclusters import (
    FLOPS,
    FlopClusters,
    cluster_flops,
    flop_distance,
    flop_shares,
)
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CLASS
from equipoise.errors import CardError, GameError


@given(st.integers(0, 10**6))
def test_distance_is_a_metric(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 5, (3, 6)) + np.eye(3, 6, dtype=int)
    one, two, three = counts / counts.sum(axis=1, keepdims=True)
    apart = flop_distance(one, two)
    assert -1e-12 <= apart <= 1 + 1e-12
    assert abs(flop_distance(one, one)) < 1e-12
    assert apart == pytest.approx(flop_distance(two, one))
    assert apart <= flop_distance(one, three) + flop_distance(three, two) + 1e-12
    assert apart == pytest.approx(0.5 * np.abs(one - two).sum())
    assert flop_distance(one[::-1], two[::-1]) == pytest.approx(apart)
    merged = flop_distance(one.reshape(3, 2).sum(axis=1), two.reshape(3, 2).sum(axis=1))
    assert merged <= apart + 1e-12


def test_flops_without_a_common_bucket_are_as_far_apart_as_can_be() -> None:
    assert flop_distance(np.array([0.5, 0.5, 0, 0]), np.array([0, 0, 0.1, 0.9])) == 1.0


@pytest.fixture(scope="module")
def clusters() -> FlopClusters:
    """Flops by how many hole cards of each rank pair up with them: no features are needed."""
    boards = board_index(3).boards
    features = np.full((FLOPS, 1326), BLOCKED, dtype=np.uint16)
    dealt = live(1)
    for row, board, free in zip(features, boards, dealt, strict=True):
        high = int(board.max()) // 4
        row[free] = (COMBO_CLASS[free] % 13 < high).astype(np.uint16) + 2 * (
            len(set(board // 4)) < 3
        )
    shares = flop_shares(features, 4)
    assert shares.sum(axis=1) == pytest.approx(np.ones(FLOPS))
    return cluster_flops(shares, 9, seed=1)


def test_flops_are_weighed_by_how_often_they_come() -> None:
    counts = dict(zip(*np.unique(weights(1), return_counts=True), strict=True))
    assert counts == {4: 299, 12: 1170, 24: 286}


def test_clusters_are_numbered_from_the_likeliest(clusters: FlopClusters) -> None:
    assert clusters.count == 9
    assert clusters.masses.sum() == pytest.approx(1.0)
    assert (np.diff(clusters.masses) <= 1e-12).all()
    assert sum(len(clusters.flops(n)) for n in range(9)) == FLOPS


def test_suits_and_order_do_not_matter(clusters: FlopClusters) -> None:
    for flop in ("Ks9s4d", "7h7d2c", "AcKcQc", "Td9h6s"):
        cards = parse_cards(flop)
        own = clusters.of(flop)
        for suits in permutations(range(4)):
            renamed = [4 * (card // 4) + suits[card % 4] for card in cards]
            for order in permutations(renamed):
                assert clusters.of(order) == own


def test_paired_flops_are_not_with_unpaired_ones(clusters: FlopClusters) -> None:
    for number in range(clusters.count):
        paired = {len(set(board // 4)) < 3 for board in clusters.flops(number)}
        assert len(paired) == 1


def test_what_is_no_clustering_is_refused(clusters: FlopClusters) -> None:
    with pytest.raises(GameError, match="numbered"):
        FlopClusters((clusters.of_flop + 1).astype(np.uint16))
    with pytest.raises(GameError, match="public clusters"):
        cluster_flops(np.ones((FLOPS, 2), np.float32), 0)
    with pytest.raises(CardError, match="three different cards"):
        clusters.of("Ks9s4d2c")

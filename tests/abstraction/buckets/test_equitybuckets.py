"""Equity buckets: where the borders lie, and that suits do not matter."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.buckets.equity import NO_BUCKET, EquityBuckets
from equipoise.abstraction.features.rollouts import rollout_table
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_COUNT, blocked
from equipoise.cards.streets import BOARD_SIZES
from equipoise.cards.strength import rollout_equity
from equipoise.errors import GameError


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(52)), st.sampled_from(BOARD_SIZES), st.sampled_from([2, 5, 6, 10]))
def test_width_is_an_equal_division_of_equity(cards: list[int], size: int, count: int) -> None:
    hole, board = tuple(cards[:2]), tuple(cards[2 : 2 + size])
    expected = min(int(rollout_equity(hole, board) * count + 1e-9), count - 1)
    assert EquityBuckets(count, "width").bucket(hole, board) == expected


@pytest.mark.parametrize("division", ["width", "quantile"])
@pytest.mark.parametrize("count", [1, 5, 6])
def test_masses_sum_to_one(division: str, count: int) -> None:
    buckets = EquityBuckets(count, division)
    for street in range(4):
        masses = buckets.masses(street)
        assert len(masses) == count
        assert masses.sum() == pytest.approx(1, abs=1e-12)


def test_quantiles_are_equally_likely() -> None:
    buckets = EquityBuckets(6, "quantile")
    # Before the flop a class holds up to 12 of 1,326 hands, and so do the borders.
    assert np.abs(buckets.masses(0) - 1 / 6).max() < 12 / 1326
    for street in (1, 2, 3):
        assert np.abs(buckets.masses(street) - 1 / 6).max() < 0.003


def test_a_flop_bucket_has_the_mass_that_counting_gives() -> None:
    buckets = EquityBuckets(5, "quantile")
    rng = np.random.default_rng(7)
    hits = np.zeros(5)
    for _ in range(300):
        board = tuple(int(card) for card in rng.permutation(52)[:3])
        found = buckets.buckets(board)
        hits += np.bincount(found[found != NO_BUCKET], minlength=5)
    assert np.abs(hits / hits.sum() - buckets.masses(1)).max() < 0.03


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(52)), st.sampled_from(BOARD_SIZES))
def test_suits_may_be_renamed(cards: list[int], size: int) -> None:
    buckets = EquityBuckets(6, "quantile")
    hole, board = tuple(cards[:2]), tuple(cards[2 : 2 + size])
    known = buckets.bucket(hole, board)
    for renaming in permutations(range(4)):
        moved = [tuple(card & ~3 | renaming[card & 3] for card in part) for part in (hole, board)]
        assert buckets.bucket(*moved) == known


def test_buckets_rise_with_equity_and_blocked_hands_have_none() -> None:
    board = parse_cards("Ks 7d 2c 9h")
    found = EquityBuckets(6).buckets(board)
    levels = rollout_table().levels(board)
    assert found.shape == (COMBO_COUNT,)
    assert np.array_equal(found == NO_BUCKET, blocked(board))
    order = np.argsort(levels, kind="stable")
    assert np.all(np.diff(found[order].astype(int)) >= 0)
    assert set(found[found != NO_BUCKET].tolist()) == set(range(6))


def test_other_counts_and_divisions_are_refused() -> None:
    with pytest.raises(GameError, match="1 to 100"):
        EquityBuckets(0)
    with pytest.raises(GameError, match="width or quantile"):
        EquityBuckets(5, "even")

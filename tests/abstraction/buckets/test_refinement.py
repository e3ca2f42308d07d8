"""Refinement finds the border that matters in a game small enough to solve by eye."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.abstraction.buckets.refinement import (
    SwapLoss,
    border_losses,
    grid_neighbours,
    refine_shares,
    swap_losses,
)
from equipoise.errors import GameError

#: Share of the pot that each of six buckets wins at showdown.
EQUITY = np.array([0.1, 0.15, 0.2, 0.6, 0.65, 0.9])


def price(calling: np.ndarray) -> float:
    """What a player loses who calls a bet of half the pot with these chances, against the best."""
    best = np.maximum(2 * EQUITY - 0.5, 0)
    return float((best - calling * (2 * EQUITY - 0.5)).sum())


def test_the_border_between_folding_and_calling_is_found() -> None:
    calling = (EQUITY > 0.25).astype(float)
    losses = swap_losses(calling, grid_neighbours(6), price)
    assert price(calling) == pytest.approx(0)
    assert (losses[0].lower, losses[0].upper) == (2, 3)
    assert losses[0].loss == pytest.approx(0.1 + 0.7)
    assert [found.loss for found in losses[1:]] == pytest.approx([0] * 4)
    shares = tuple(k / 6 for k in range(1, 6))
    refined = refine_shares(shares, border_losses(losses, (6,)), 3)
    # Only one border loses anything, so only the two buckets beside it are halved.
    assert refined == pytest.approx((1 / 6, 2 / 6, 5 / 12, 3 / 6, 7 / 12, 4 / 6, 5 / 6))


def test_strategies_are_left_as_they_were() -> None:
    strategies = np.arange(12.0).reshape(4, 3)
    kept = strategies.copy()
    seen: list[np.ndarray] = []

    def remember(tried: np.ndarray) -> float:
        seen.append(tried.copy())
        return 0.0

    swap_losses(strategies, [(0, 3)], remember)
    assert np.array_equal(strategies, kept)
    assert np.array_equal(seen[0], kept)
    assert np.array_equal(seen[1], kept[[3, 1, 2, 0]])


def test_borders_of_a_grid_collect_the_losses_across_them() -> None:
    pairs = grid_neighbours(3, 2)
    assert len(pairs) == 2 * 2 + 3
    losses = [SwapLoss(lower, upper, 1.0) for lower, upper in pairs]
    assert border_losses(losses, (3, 2)).tolist() == [2.0, 2.0]
    assert border_losses([SwapLoss(0, 2, -1.0)], (3, 2)).tolist() == [0.0, 0.0]


@given(st.integers(2, 20), st.integers(0, 10), st.integers(0, 1000))
def test_refined_shares_ascend_and_are_no_more_than_asked(count: int, more: int, seed: int) -> None:
    shares = tuple(k / count for k in range(1, count))
    losses = np.random.default_rng(seed).random(count - 1)
    refined = refine_shares(shares, losses, more)
    assert all(a < b for a, b in zip((0.0, *refined), (*refined, 1.0), strict=True))
    assert len(refined) <= len(shares) + more
    assert set(shares) <= set(refined)
    assert len(refined) == len(shares) + min(more, count)
    if more == 1:
        beside = np.convolve(losses, (1, 1))
        worst = int(beside.argmax())
        assert (worst + 0.5) / count == pytest.approx((set(refined) - set(shares)).pop())


def test_bad_input_is_refused() -> None:
    with pytest.raises(GameError, match="two different"):
        swap_losses(np.zeros(3), [(1, 3)], lambda _: 0.0)
    with pytest.raises(GameError, match="one each"):
        refine_shares((0.5,), [1.0, 2.0], 1)
    with pytest.raises(GameError, match="ascending"):
        refine_shares((0.5, 0.5), [1.0, 2.0], 1)
    with pytest.raises(GameError, match="grid"):
        grid_neighbours(0)

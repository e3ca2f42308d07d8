"""Buckets of equity and potential: quantiles within quantiles, and what INOT's look like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.buckets.potential import (
    INOT,
    LEVELS,
    PotentialBuckets,
    StreetDivision,
    even_shares,
    fit_borders,
    quantile_cuts,
    remembering,
    river_child,
    with_negative,
)
from equipoise.abstraction.definition import Definition
from equipoise.abstraction.methods import bucket_counts
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import class_of
from equipoise.errors import GameError, RecipeError


def test_inot_has_its_numbers() -> None:
    assert [division.count for division in INOT] == [150, 100, 75]
    assert INOT[0].shape == (50, 3, 1)
    assert INOT[0].axes == ("equity", "positive")
    assert with_negative()[0].axes == ("equity", "positive", "negative")


def cells_of(borders: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    """The slow way: one hand at a time, one axis at a time."""
    cells = np.zeros(values[0].shape, dtype=int)
    for place in np.ndindex(values[0].shape):
        cell = 0
        for found, figures in zip(borders, values, strict=True):
            rows = np.atleast_2d(found)
            cell = cell * (rows.shape[1] + 1) + sum(figures[place] >= b for b in rows[cell])
        cells[place] = cell
    return cells


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_each_division_has_its_share(seed: int, negative: bool) -> None:
    rng = np.random.default_rng(seed)
    division = StreetDivision(even_shares(4), (0.6, 0.8), (0.75,) if negative else ())
    dealt = rng.random((20, 300)) < 0.9
    mass = rng.integers(1, 25, 20)
    equity = rng.random((20, 300), dtype=np.float32)
    # Potential that depends on equity: its quantiles must be taken inside the divisions.
    values = [equity, (1 - equity) * rng.random((20, 300), dtype=np.float32)]
    if negative:
        values.append(equity * rng.random((20, 300), dtype=np.float32))
    borders = fit_borders(division, values, dealt, mass)
    cells = cells_of(borders, values)
    weight = np.where(dealt, mass[:, None], 0)
    got = np.bincount(cells.ravel(), weight.ravel(), division.count) / weight.sum()
    parts = [np.diff([0, *shares, 1]) for shares in division.shares]
    expected = parts[0]
    for part in parts[1:]:
        expected = np.outer(expected, part).ravel()
    assert got == pytest.approx(expected, abs=0.01)
    arrays = {f"borders{number}": found for number, found in enumerate(borders)}
    kept = Definition("cuts", {"axes": list(division.axes)}, arrays)
    assert kept.features == division.count


def test_equal_hands_stay_together() -> None:
    equity = np.repeat(np.array([[0.2, 0.2, 0.2, 0.7]], dtype=np.float32), 5, axis=0)
    borders = fit_borders(
        StreetDivision((0.5,)), [equity], np.ones(equity.shape, bool), np.ones(5, np.int64)
    )
    assert 0.2 < borders[0][0] <= 0.7


@given(st.lists(st.integers(0, 9), min_size=2, max_size=30).filter(any), st.integers(2, 6))
def test_cuts_come_nearest_to_the_shares(counts: list[int], parts: int) -> None:
    shares = even_shares(parts)
    cuts = quantile_cuts(np.array([counts], float), shares)[0]
    below = np.concatenate([[0], np.cumsum(counts)])
    for cut, share in zip(cuts, shares, strict=True):
        wanted = share * below[-1]
        assert abs(below[cut] - wanted) == pytest.approx(np.abs(below - wanted).min(), abs=1e-9)
    assert np.all(np.diff(cuts) >= 0)


def test_river_scores_fall_into_quantiles() -> None:
    counts = np.random.default_rng(0).integers(1, 100, 1981).astype(float)
    child = river_child(even_shares(75), counts)
    assert child.shape == (1, 1981)
    assert np.array_equal(np.unique(child), np.arange(75))
    mass = np.bincount(child[0], counts) / counts.sum()
    assert np.abs(mass - 1 / 75).max() < 0.002


def test_buckets_remember_the_division_of_the_street_before() -> None:
    """Of five divisions of 50 by equity, whatever the potential; before the flop by equity of hole cards."""
    cells = (
        *(np.arange(count, dtype=np.uint16)[None] for count in (169, 150, 100)),
        np.minimum(np.arange(1981) // 26, 74).astype(np.uint16)[None],
    )
    first, flop, turn, river = remembering(cells, PotentialBuckets(INOT, 5))
    assert np.array_equal(first, cells[0])
    assert (flop.shape, turn.shape, river.shape) == ((169, 150), (750, 100), (500, 1981))
    assert [int(child.max()) + 1 for child in (flop, turn, river)] == [750, 500, 375]
    aces, trash = class_of(*parse_cards("AsAh")), class_of(*parse_cards("7h2c"))
    assert (flop[aces] // 150 == 4).all()
    assert (flop[trash] // 150 == 0).all()
    # Flop cell 3 · e + p is division e of equity: that, in fifths, is what the turn knows, and no more.
    for past, cell in ((0, 0), (3, 29), (3, 30), (4, 149)):
        assert (turn[past * 150 + cell] == 100 * (cell // 3 * 5 // 50) + np.arange(100)).all()
    assert river[2 * 100 + 57, 1980] == 75 * (57 // 2 * 5 // 50) + 74


def test_settings_are_checked() -> None:
    with pytest.raises(GameError, match="1 to 100 divisions"):
        PotentialBuckets(INOT, 0)
    with pytest.raises(RecipeError, match="remember"):
        bucket_counts({"method": "potential", "remember": 0})
    assert bucket_counts({"method": "potential", "remember": 5}) == (169, 750, 500, 375)
    assert LEVELS & (LEVELS - 1) == 0
    with pytest.raises(GameError, match="ascending"):
        StreetDivision((0.5, 0.5))
    with pytest.raises(GameError, match="border of equity"):
        StreetDivision((), (0.5,))
    with pytest.raises(GameError, match="nothing is to come"):
        PotentialBuckets((INOT[0], INOT[1], INOT[1]))
    with pytest.raises(GameError, match="flop, turn and river"):
        PotentialBuckets(INOT[:2])  # type: ignore[arg-type]

"""Children of buckets: partitions with one parent each, numbered by equity, better than equal shares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.boardindex import RENAMED_CARD, RENAMED_COMBO
from equipoise.abstraction.buckets.potential_aware import (
    PotentialAware,
    divide,
    divide_line,
    hole_card_points,
    potential_aware,
)
from equipoise.abstraction.childmass import flop_bucket_table
from equipoise.abstraction.features.equities import live
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, COMBO_COUNT, parse_combo
from equipoise.errors import GameError
from equipoise.run import Event


def parents_and_features(seed: int, parents: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Parents of very different variety: one meets one feature, one meets all of them."""
    rng = np.random.default_rng(seed)
    points = rng.random((60, 3)).astype(np.float32)
    mass = np.zeros((parents, 60))
    for parent in range(parents):
        met = rng.permutation(60)[: 1 + 59 * parent // (parents - 1)]
        mass[parent, met] = rng.uniform(1, 9, len(met))
    return mass, points


def squared_error(mass: np.ndarray, points: np.ndarray, table: np.ndarray) -> float:
    total = 0.0
    for row, labels in zip(mass, table, strict=True):
        for bucket in np.unique(labels):
            here = labels == bucket
            if row[here].sum():
                centre = np.average(points[here], axis=0, weights=row[here])
                total += float((row[here, None] * (points[here] - centre) ** 2).sum())
    return total


def check_children(table: np.ndarray, mass: np.ndarray, equities: np.ndarray, total: int) -> None:
    assert table.dtype == np.uint16
    count = int(table.max()) + 1
    assert count <= total
    assert np.array_equal(np.unique(table), np.arange(count))
    after = -1
    for row, labels in zip(mass, table, strict=True):
        own = np.unique(labels)
        # A parent's children follow those of the parent before it.
        assert own[0] == after + 1
        assert own[-1] == own[0] + len(own) - 1
        after = int(own[-1])
        means = [np.average(equities[labels == b], weights=row[labels == b]) for b in own]
        assert np.all(np.diff(means) >= 0)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 30))
def test_children_are_numbered_by_parent_and_equity(seed: int, total: int) -> None:
    mass, points = parents_and_features(seed)
    equities = points[:, 0].astype(np.float64)
    for allocation in ("highs", "dynamic", "equal"):
        table = divide(mass, points, equities, total, allocation=allocation)
        check_children(table, mass, equities, total)


def test_allocation_spends_where_it_matters() -> None:
    mass, points = parents_and_features(1)
    equities = points[:, 0].astype(np.float64)
    tables = {
        allocation: divide(mass, points, equities, 30, allocation=allocation)
        for allocation in ("highs", "dynamic", "equal")
    }
    errors = {name: squared_error(mass, points, table) for name, table in tables.items()}
    assert errors["highs"] == pytest.approx(errors["dynamic"], rel=1e-6)
    assert errors["highs"] < 0.8 * errors["equal"]
    # The parent that meets a single feature gets a single child.
    assert len(np.unique(tables["highs"][0])) == 1


def test_intervals_on_the_last_round() -> None:
    rng = np.random.default_rng(2)
    values = np.arange(100)
    mass = np.zeros((4, 100))
    for parent, width in enumerate((1, 5, 30, 90)):
        mass[parent, 5 : 5 + width] = rng.integers(1, 20, width)
    table = divide_line(mass, 16)
    check_children(table, mass, values.astype(float), 16)
    assert np.all(np.diff(table.astype(int), axis=1) >= 0)
    equal = divide_line(mass, 16, allocation="equal")
    points = values[:, None].astype(np.float64)
    assert squared_error(mass, points, table) < 0.5 * squared_error(mass, points, equal)


def test_flop_buckets_follow_the_hole_cards() -> None:
    features = np.arange(COMBO_COUNT, dtype=np.uint16)[None] % 3
    features[0, 7] = BLOCKED
    child = np.array([[0, 1, 1], [2, 3, 4]], dtype=np.uint16)
    hole = (np.arange(COMBO_COUNT) % 2).astype(np.uint16)
    found = flop_bucket_table(hole, features, child)[0]
    assert found[7] == BLOCKED
    assert [int(found[combo]) for combo in (0, 1, 2, 3, 4, 5)] == [0, 3, 1, 2, 1, 4]


def test_hole_cards_of_a_class_have_one_outlook() -> None:
    # Flop hands in the class of the rank of their higher hole card.
    ranks = (COMBO_CARDS[:, 0] // 4).astype(np.uint16)
    table = np.where(live(1), ranks, np.uint16(BLOCKED))
    centroids = np.arange(13, dtype=np.float32)[:, None]
    points = hole_card_points(table, centroids).astype(float)
    assert points.shape[0] == 169
    high = np.array([int(ranks[hand == COMBO_CLASS][0]) for hand in range(169)])
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    assert apart == pytest.approx(abs(high[:, None] - high[None]), abs=1e-2)


def test_settings_are_checked() -> None:
    assert PotentialAware.branching(12, 25, 6, 6).totals == (12, 300, 1800, 10800)
    with pytest.raises(GameError, match="do not fall"):
        PotentialAware((8, 4, 16, 32))
    with pytest.raises(GameError, match="from 1 to 169"):
        PotentialAware((170, 200, 300, 400))
    with pytest.raises(GameError, match="highs, dynamic or equal"):
        PotentialAware((8, 96, 384, 1536), allocation="greedy")
    with pytest.raises(GameError, match="river_cells"):
        PotentialAware((8, 96, 384, 1536), river_cells=1)
    with pytest.raises(GameError, match="one each"):
        divide_line(np.ones((3, 5)), 2)


@pytest.mark.slow
def test_a_small_abstraction_of_the_whole_game(tmp_path: Path) -> None:
    told: list[Event] = []
    small = PotentialAware((2, 6, 12, 30), river_cells=4, turn_classes=12, flop_classes=12)
    made = potential_aware(small, told.append)
    assert made.counts == (2, 6, 12, 30)
    assert made.perfect_recall
    assert told[-1].what == "river buckets"
    for street in range(4):
        masses = made.masses(street)
        assert masses.sum() == pytest.approx(1, abs=1e-12)
        assert masses.min() > 0
    made.save(tmp_path / "small")
    read = Abstraction.load(tmp_path / "small")
    rng = np.random.default_rng(4)
    for _ in range(20):
        board = rng.permutation(52)[:5]
        path = read.path(board)
        renaming = int(rng.integers(1, 24))
        moved = read.path(RENAMED_CARD[renaming, board])
        assert np.array_equal(moved[:, RENAMED_COMBO[renaming]], path)
    aces, worst = (made.buckets()[parse_combo(hand)] for hand in ("As Ah", "3d 2c"))
    assert (aces, worst) == (1, 0)

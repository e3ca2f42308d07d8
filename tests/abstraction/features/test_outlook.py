"""Outlooks against a slow twin, and the distances that points are made for."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from equipoise.abstraction.boardindex import (
    RENAMED_CARD,
    RENAMED_COMBO,
    board_index,
    board_place,
)
from equipoise.abstraction.features.equities import board_count, live
from equipoise.abstraction.features.outlook import energy_points, expand, outlooks, step_points
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT, blocked
from equipoise.errors import GameError


@cache
def turn_table(classes: int) -> np.ndarray:
    """Classes that depend on ranks and on how many cards of the hand's suits the board shows."""
    boards = board_index(4).boards
    shown = np.stack([(boards % 4 == suit).sum(axis=1) for suit in range(4)], axis=1)
    suits = shown[:, COMBO_CARDS[:, 0] % 4] + shown[:, COMBO_CARDS[:, 1] % 4]
    ranks = (boards // 4).sum(axis=1)[:, None] + (COMBO_CARDS // 4).sum(axis=1)[None]
    found = ((ranks * 3 + suits) % classes).astype(np.uint16)
    found[~live(2)] = BLOCKED
    return found


def test_outlooks_are_means_over_the_turns() -> None:
    table = turn_table(7)
    points = np.random.default_rng(0).integers(-9, 9, (7, 3)).astype(np.float32)
    part = slice(1000, 1002)
    found = outlooks(1, table, points, part)
    for row, board in zip(found, board_index(3).boards[part], strict=True):
        dealt = tuple(board.tolist())
        sums = np.zeros((COMBO_COUNT, 3))
        for card in set(range(52)) - set(dealt):
            place, renaming = board_place((*dealt, card))
            free = ~blocked((*dealt, card))
            sums[free] += points[table[place, RENAMED_COMBO[renaming, free]]]
        assert np.abs(row - sums / 47).max() < 1e-5


def test_suits_do_not_matter_to_the_last_bit() -> None:
    table = turn_table(50)
    centroids = np.random.default_rng(1).random((50, 4))
    points = energy_points(centroids, np.ones(50))
    # A rainbow flop of one rank is its own image under renamings of its three suits.
    boards = board_index(3).boards
    trips = int(np.flatnonzero((boards // 4 == boards[:, :1] // 4).all(axis=1))[0])
    found = outlooks(1, table, points, slice(trips, trips + 1))[0]
    images = 0
    for renaming in range(24):
        if set(RENAMED_CARD[renaming, boards[trips]]) == set(boards[trips]):
            images += 1
            assert np.array_equal(found[RENAMED_COMBO[renaming]], found)
    assert images == 6


def test_squared_distances_of_energy_points_are_distances() -> None:
    rng = np.random.default_rng(3)
    centroids = rng.random((12, 3))
    points = energy_points(centroids, rng.uniform(1, 5, 12)).astype(float)
    wanted = np.linalg.norm(centroids[:, None] - centroids[None], axis=2)
    got = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    assert got == pytest.approx(wanted, abs=1e-3)
    fewer = energy_points(centroids, np.ones(12), most=2)
    assert fewer.shape == (12, 2)


def test_steps_make_cumulative_histograms() -> None:
    places = np.array([0.0, 0.3, 0.5, 1.0])
    points = step_points(places, places).astype(float)
    assert ((points[:, None] - points[None]) ** 2).sum(axis=2) == pytest.approx(
        abs(places[:, None] - places[None]), abs=1e-4
    )
    mean = np.array([0.5, 0.0, 0.25, 0.25]) @ points
    assert mean / np.sqrt(np.diff(places)) == pytest.approx([0.5, 0.5, 0.25], abs=1e-4)


def test_expand_puts_hands_to_the_nearest() -> None:
    table = turn_table(7)
    points = np.random.default_rng(0).random((7, 3)).astype(np.float32)
    centroids = np.random.default_rng(1).random((9, 3)).astype(np.float32)
    found = expand(1, table, points, centroids)
    assert found.shape == (board_count(1), COMBO_COUNT)
    assert np.array_equal(found == BLOCKED, ~live(1))
    seen = outlooks(1, table, points, slice(5, 6))[0]
    apart = ((seen[:, None] - centroids[None]) ** 2).sum(axis=2)
    free = live(1, slice(5, 6))[0]
    chosen = apart[np.arange(COMBO_COUNT)[free], found[5][free]]
    assert chosen == pytest.approx(apart[free].min(axis=1), abs=1e-5)


def test_bad_input_is_refused() -> None:
    with pytest.raises(GameError, match="street 2"):
        outlooks(1, np.zeros((3, 1326), np.uint16), np.zeros((1, 1), np.float32))
    with pytest.raises(GameError, match="ascend"):
        step_points([0.5, 0.2], [0.1])

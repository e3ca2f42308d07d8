"""Rollout equities of the tables against direct enumeration."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.features.rollouts import (
    BLOCKED,
    FULL,
    RolloutTable,
    rollout_table,
)
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import blocked, combo_index
from equipoise.cards.streets import BOARD_SIZES, street_of
from equipoise.cards.strength import rollout_equity
from equipoise.errors import CardError

#: A level is an equity rounded down to this.
UNIT = 1 / FULL


@pytest.fixture(scope="module")
def table() -> RolloutTable:
    return rollout_table()


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(52)), st.sampled_from(BOARD_SIZES))
def test_levels_are_exact_equities_rounded_down(cards: list[int], size: int) -> None:
    hole, board = tuple(cards[:2]), tuple(cards[2 : 2 + size])
    exact = rollout_equity(hole, board)
    found = rollout_table().equity(hole, board)
    assert -1e-9 <= exact - found < UNIT + 1e-9


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(52)), st.sampled_from(BOARD_SIZES))
def test_all_hands_of_a_board_agree_with_one_by_one(cards: list[int], size: int) -> None:
    board = tuple(cards[:size])
    levels = rollout_table().levels(board)
    assert np.array_equal(levels == BLOCKED, blocked(board))
    for first, second in zip(cards[size:50:2], cards[size + 1 : 50 : 2], strict=False):
        assert levels[combo_index(first, second)] == rollout_table().level((first, second), board)


@pytest.mark.parametrize("text", ["AhTh 9h8c2d", "AhTh 9h8c2d2s", "7s6s", "Ks3d KdKh2c2d9s"])
def test_suits_may_be_renamed(table: RolloutTable, text: str) -> None:
    cards = parse_cards(text)
    known = table.level(cards[:2], cards[2:])
    for renaming in permutations(range(4)):
        moved = tuple(card & ~3 | renaming[card & 3] for card in cards)
        assert table.level(moved[:2], moved[2:]) == known


def test_every_deal_is_counted_once(table: RolloutTable) -> None:
    # Hole cards, then the board as a set.
    assert table.counts.sum(axis=1).tolist() == [1326, 25_989_600, 305_377_800, 2_809_475_760]


def test_the_mean_equity_is_a_half_on_every_street(table: RolloutTable) -> None:
    means = table.counts @ np.arange(FULL + 1) / table.counts.sum(axis=1) / FULL
    assert means[3] == 0.5
    # Rounded down by half a unit on average, at most by one.
    assert np.all((means > 0.5 - UNIT) & (means <= 0.5))


def test_boards_of_other_sizes_are_refused(table: RolloutTable) -> None:
    with pytest.raises(CardError, match="0, 3, 4 or 5"):
        table.level((0, 1), (2, 3))
    assert [street_of(tuple(range(size))) for size in BOARD_SIZES] == [0, 1, 2, 3]

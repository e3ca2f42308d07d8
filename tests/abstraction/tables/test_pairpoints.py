"""Points of pairs of hands, against counting the pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_CARD
from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.abstraction.fullboards import random_boards
from equipoise.abstraction.tables.pairpoints import Points
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import combo_index
from equipoise.cards.evaluator import strengths
from equipoise.errors import TooLargeError

THREE = EquityBuckets(3)
#: Everything ties; a flush on the board; and boards like any other.
BOARDS = np.array(
    [
        parse_cards("As Ks Qs Js Ts"),
        parse_cards("2h 7h 9h 4h Kd"),
        *random_boards(3, seed=5).tolist(),
    ],
    dtype=np.uint8,
)
PAIRS = 1081 * 990


def sequences(board: list[int]) -> NDArray[np.int64]:
    """Buckets of all streets as one number, from the equities."""
    number = np.zeros(1326, dtype=np.int64)
    for size in (0, 3, 4, 5):
        number = 3 * number + THREE.buckets(board[:size])
    return number


def slow_points(board: list[int]) -> NDArray[np.int64]:
    """Two for every pair of hands that the first wins, one for a tie, pair by pair."""
    live = [card for card in range(52) if card not in board]
    hands = np.array(list(combinations(live, 2)))
    combos = [combo_index(*hand) for hand in hands.tolist()]
    number, value = sequences(board)[combos], strengths(board)[combos].astype(np.int64)
    apart = (hands[:, None, :, None] != hands[None, :, None, :]).all(axis=(2, 3))
    won = (1 + np.sign(value[:, None] - value[None, :])) * apart
    points = np.zeros((81, 81), dtype=np.int64)
    np.add.at(points, (number[:, None], number[None, :]), won)
    return points


@pytest.mark.parametrize("threads", [1, 3])
def test_against_all_pairs(threads: int) -> None:
    weights = np.array([1, 12, 4, 1, 24])
    points = Points(THREE.lookup(), 81, threads)
    points.add(BOARDS, weights)
    slow = [slow_points(board) for board in BOARDS.tolist()]
    assert np.array_equal(points.total(), np.tensordot(weights, slow, axes=1))
    assert points.total().sum() == PAIRS * weights.sum()


def test_renaming_suits_changes_nothing() -> None:
    points = [Points(THREE.lookup(), 81) for _ in range(2)]
    points[0].add(BOARDS, np.ones(5, dtype=np.int64))
    points[1].add(RENAMED_CARD[17][BOARDS], np.ones(5, dtype=np.int64))
    assert np.array_equal(points[0].total(), points[1].total())


def test_more_than_a_counter_holds() -> None:
    points = Points(EquityBuckets(1).lookup(), 1)
    for _ in range(2):
        points.add(np.repeat(BOARDS, 50, axis=0), np.full(250, 24))
    assert points.emptied is not None
    assert points.total().tolist() == [[2 * 250 * 24 * PAIRS]]
    assert 2 * 250 * 24 * PAIRS > 2**32
    again = Points(EquityBuckets(1).lookup(), 1)
    again.resume(points.total())
    again.add(BOARDS, np.ones(5, dtype=np.int64))
    assert again.total().item() == (2 * 250 * 24 + 5) * PAIRS


def test_too_many_buckets_are_refused() -> None:
    with pytest.raises(TooLargeError, match="at most 16,384"):
        Points(THREE.lookup(), 20_000)

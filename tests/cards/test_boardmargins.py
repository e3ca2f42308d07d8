"""Standings on all run-outs: what counting every pair on every board says."""

import numpy as np
import pytest

from equipoise.cards.boardmargins import against_hand, against_range
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, blocked, parse_combo
from equipoise.cards.matchup import count

BOARDS = ["Kh 7d 2c", "Kh 7h 2c", "9s 6s 2s", "Kh 7d 2c 9s", "Kh 7h 2h 9h", "Kh 7d 2c 9s 3s"]


def counted(weights, board):
    ours = (~blocked(board)).astype(float)
    counts = count(ours, weights, board, (), 1, None)
    boards = {3: 990, 4: 44, 5: 1}[len(board)]
    return (2 * counts.win + counts.tie - counts.total) / boards


@pytest.mark.parametrize("text", BOARDS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_margins_against_a_range_are_counted_right(text, symmetric):
    board = tuple(sorted(parse_cards(text)))
    random = np.random.default_rng(4)
    if symmetric:
        weights = random.random(13)[COMBO_CARDS[:, 0] >> 2]
    else:
        weights = random.random(1326)
    weights = np.where(blocked(board), 0.0, weights)
    free = ~blocked(board)
    gap = against_range(weights, board)[free] - counted(weights, board)[free]
    assert np.abs(gap).max() < 1e-9


@pytest.mark.parametrize("text", BOARDS)
def test_margins_against_a_hand_are_counted_right(text):
    board = tuple(sorted(parse_cards(text)))
    hand = parse_combo("AsKd")
    weights = np.zeros(1326)
    weights[hand] = 1.0
    apart = ~blocked((*board, *COMBO_CARDS[hand].tolist()))
    gap = against_hand(hand, board)[apart] - counted(weights, board)[apart]
    assert np.abs(gap).max() < 1e-12


def test_the_mean_over_parts_of_the_run_outs_is_that_over_all():
    board = tuple(sorted(parse_cards("Kh 7h 2c")))
    weights = np.where(blocked(board), 0.0, np.random.default_rng(4).random(1326))
    parts = [against_range(weights, board, (first, 8)) for first in range(8)]
    free = ~blocked(board)
    gap = np.mean(parts, axis=0)[free] - against_range(weights, board)[free]
    assert np.abs(gap).max() < 1e-9
    assert not np.allclose(parts[0][free], parts[1][free])

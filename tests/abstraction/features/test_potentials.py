"""Strength and potential of all hands of a board: against one hand at a time."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import board_index, board_place
from equipoise.abstraction.features.kernels import NO_EQUITY
from equipoise.abstraction.features.potentials import negative_potential, potentials, roll_out
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, blocked, parse_combo
from equipoise.cards.strength import potential
from equipoise.errors import GameError


@pytest.mark.parametrize("text", ["3h4cJh", "9s9d9c", "KsQs7s2s", "8d7c6h2d"])
def test_hand_by_hand(text: str) -> None:
    row, _ = board_place(parse_cards(text))
    board = board_index(len(text) // 2).boards[row : row + 1]
    strength, positive = roll_out(board)[:, 0]
    common = tuple(board[0].tolist())
    assert np.array_equal(strength == NO_EQUITY, blocked(common))
    assert np.array_equal(positive == NO_EQUITY, blocked(common))
    live = np.flatnonzero(~blocked(common))
    for combo in np.random.default_rng(6).choice(live, 6, replace=False).tolist():
        expected = potential(COMBO_CARDS[combo].tolist(), common)
        assert strength[combo] == pytest.approx(expected.strength, abs=1e-6)
        assert positive[combo] == pytest.approx(expected.positive, abs=1e-6)
        figures = (
            np.array([x], np.float32) for x in (strength[combo], positive[combo], expected.equity)
        )
        assert negative_potential(*figures)[0] == pytest.approx(expected.negative, abs=1e-5)


def test_a_hand_that_cannot_be_overtaken() -> None:
    board = np.array([parse_cards("As Ks Qs")], dtype=np.uint8)
    strength, positive = roll_out(board)[:, 0]
    best = parse_combo("Js Ts")
    assert (strength[best], positive[best]) == (1.0, 0.0)


def test_blocked_hands_stay_blocked_and_no_one_ahead_loses_nothing() -> None:
    strength = np.array([NO_EQUITY, 0.0], dtype=np.float32)
    found = negative_potential(strength, strength, np.array([NO_EQUITY, 0.0], dtype=np.float32))
    assert found.tolist() == [NO_EQUITY, 0.0]


def test_streets_without_potential() -> None:
    with pytest.raises(GameError, match="flop"):
        potentials(3)
    with pytest.raises(GameError, match="3 or 4 cards"):
        roll_out(board_index(5).boards[:1])

"""Public classes of boards: suits, weights against a slow twin, and how likely they are."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.publicclasses import GROUPS, board_classes, strongest
from equipoise.cards.combos import CLASS_SIZE, COMBO_CARDS, COMBO_CLASS
from equipoise.cards.strength import strength
from equipoise.errors import GameError


def suits_shown(board: np.ndarray) -> int:
    return len({card % 4 for card in board.tolist()})


def test_eleven_classes_of_flops() -> None:
    flops = board_classes()
    boards = board_index(3).boards
    assert flops.of_board.dtype == np.int8
    assert flops.of_board.shape == (1755,)
    assert flops.count == 11
    assert flops.probabilities.sum() == pytest.approx(1, abs=1e-12)
    first = {1: 0, 2: 1, 3: 1 + GROUPS}
    for board, found in zip(boards, flops.of_board, strict=True):
        least = first[suits_shown(board)]
        assert least <= found < least + (1 if least == 0 else GROUPS)
    # Of 22,100 flops 1,144 are of one suit, 12,168 of two and 8,788 of three.
    assert flops.probabilities[0] == pytest.approx(1144 / 22100)
    assert flops.probabilities[1:6].sum() == pytest.approx(12168 / 22100)
    for part in (flops.probabilities[1:6], flops.probabilities[6:]):
        assert np.abs(part / part.sum() - 1 / GROUPS).max() < 0.01


def test_groups_rise_with_the_weight() -> None:
    flops = board_classes()
    for group in (*range(1, 5), *range(6, 10)):
        below, above = (flops.weights[flops.of_board == k] for k in (group, group + 1))
        assert below.max() <= above.min()


def test_the_weight_is_how_much_the_strong_range_likes_the_flop() -> None:
    rng = np.random.default_rng(3)
    reraise, call = rng.dirichlet(np.ones(169)), rng.dirichlet(np.ones(169))
    flops = board_classes(3, reraise, call)
    for n in (40, 1500):
        board = board_index(3).boards[n].tolist()
        expected = 0.0
        for hand in range(0, 169):
            ahead = [
                strength(hole, board)
                for hole in COMBO_CARDS[hand == COMBO_CLASS].tolist()
                if not set(hole) & set(board)
            ]
            expected += float(np.mean(ahead)) * (reraise[hand] - call[hand])
        assert flops.weights[n] == pytest.approx(expected, abs=1e-9)


def test_boards_of_four_and_five_cards() -> None:
    turns = board_classes(4)
    assert turns.count == 11
    assert turns.probabilities.sum() == pytest.approx(1)
    most = [max(np.bincount(board % 4)) for board in board_index(4).boards]
    assert np.array_equal(turns.of_board == 0, np.array(most) >= 3)


def test_the_best_share_of_hands() -> None:
    everything = strongest(1.0)
    assert everything == pytest.approx(CLASS_SIZE / 1326)
    assert strongest(6 / 1326).argmax() == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(GameError, match="3, 4 or 5"):
        board_classes(6)
    with pytest.raises(GameError, match="reraise"):
        board_classes(3, np.ones(169))
    with pytest.raises(GameError, match="share"):
        strongest(0)

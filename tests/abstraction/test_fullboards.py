"""Full boards: drawn evenly, and every one exactly once up to suits."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from equipoise.abstraction.fullboards import every_board, random_boards
from equipoise.errors import GameError


def test_random_boards_are_five_different_cards_all_alike() -> None:
    boards = random_boards(70_000, seed=4)
    assert (np.diff(np.sort(boards, axis=1).astype(int), axis=1) > 0).all()
    for place in range(5):
        share = np.bincount(boards[:, place], minlength=52) / len(boards)
        # Five standard errors of a share of 1/52.
        assert np.abs(share - 1 / 52).max() < 5 * np.sqrt(1 / 52 / len(boards))


def test_more_boards_of_a_seed_begin_alike_and_seeds_differ() -> None:
    assert np.array_equal(random_boards(70_000, 4)[:100], random_boards(100, 4))
    assert not np.array_equal(random_boards(100, 5), random_boards(100, 4))
    with pytest.raises(GameError, match="at least one"):
        random_boards(0, 1)


def test_every_board_is_there_once() -> None:
    boards, weights = every_board()
    assert boards.shape == (2_554_656, 5)
    assert weights.sum() == 52 * 51 * 50 // 6 * 49 * 48
    # A board is named by its flop as a set, its turn and its river, least over renamings of suits.
    some = np.random.default_rng(0).integers(len(boards), size=2000)
    names = {name(board) for board in boards[some].tolist()}
    assert len(names) == len(set(some.tolist()))


def name(board: list[int]) -> tuple[int, ...]:
    images = ([card & ~3 | suits[card & 3] for card in board] for suits in permutations(range(4)))
    return min((*sorted(image[:3]), image[3], image[4]) for image in images)

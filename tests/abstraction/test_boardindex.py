"""Classes of boards: against brute force over 24 renamings."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.abstraction.boardindex import (
    BOARD_CLASSES,
    RENAMED_CARD,
    RENAMED_COMBO,
    RENAMINGS,
    UNDOING,
    board_index,
    board_place,
    board_ranks,
    rank_of_five,
    rank_of_four,
    rank_of_three,
)
from equipoise.cards.combos import COMBO_CARDS, combo_index
from equipoise.errors import CardError

RANK_KERNELS = {3: rank_of_three, 4: rank_of_four, 5: rank_of_five}


def boards(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 51), min_size=size, max_size=size, unique=True)


def rename(card: int, suits: tuple[int, ...]) -> int:
    return 4 * (card // 4) + suits[card % 4]


def images(board: list[int]) -> list[tuple[int, ...]]:
    return [tuple(sorted(rename(card, suits) for card in board)) for suits in RENAMINGS]


@pytest.mark.parametrize(("size", "classes"), [(3, 1755), (4, 16432), (5, 134459)])
def test_counts(size: int, classes: int) -> None:
    index = board_index(size)
    assert len(index.boards) == classes == BOARD_CLASSES[size]
    assert index.multiplicity.sum() == comb(52, size)
    assert np.array_equal(np.bincount(index.class_of), index.multiplicity)
    assert np.array_equal(index.class_of[board_ranks(index.boards)], np.arange(classes))
    assert not index.renaming[board_ranks(index.boards)].any()


def test_every_flop_against_brute_force() -> None:
    index = board_index(3)
    # Rows of colexicographic order: compare the highest cards first.
    by_rank = sorted(combinations(range(52), 3), key=lambda cards: cards[::-1])
    number: dict[tuple[int, ...], int] = {}
    for rank, flop in enumerate(by_rank):
        least = min(images(list(flop)), key=lambda cards: cards[::-1])
        expected = number.setdefault(least, len(number))
        assert index.class_of[rank] == expected
        assert tuple(index.boards[expected]) == least


@pytest.mark.parametrize("size", [3, 4, 5])
def test_renaming_leads_to_the_canonical_board(size: int) -> None:
    index = board_index(size)

    @given(boards(size))
    def check(board: list[int]) -> None:
        found, renaming = board_place(board)
        renamed = sorted(int(RENAMED_CARD[renaming, card]) for card in board)
        assert renamed == index.boards[found].tolist()
        assert tuple(renamed) == min(images(board), key=lambda cards: cards[::-1])
        assert {board_place(image)[0] for image in images(board)} == {found}
        assert index.multiplicity[found] == len(set(images(board)))

    check()


@pytest.mark.parametrize("size", [3, 4, 5])
def test_ranks_of_kernels_in_any_order(size: int) -> None:
    @given(boards(size))
    def check(board: list[int]) -> None:
        expected = sum(comb(card, place + 1) for place, card in enumerate(sorted(board)))
        assert RANK_KERNELS[size](*(np.uint64(card) for card in board)) == expected
        assert board_ranks(np.array(board, dtype=np.uint8)) == expected

    check()


def test_renamed_combinations() -> None:
    for number, suits in enumerate(RENAMINGS):
        expected = [
            combo_index(rename(int(hi), suits), rename(int(lo), suits)) for hi, lo in COMBO_CARDS
        ]
        assert RENAMED_COMBO[number].tolist() == expected
        there = RENAMED_CARD[number]
        assert RENAMED_CARD[UNDOING[number]][there].tolist() == list(range(52))


@pytest.mark.parametrize("board", [(0, 1), (0, 0, 1), (0, 1, 52), (0, 1, 2, 3, 4, 5)])
def test_what_is_no_board(board: tuple[int, ...]) -> None:
    with pytest.raises(CardError):
        board_place(board)


def test_sizes_without_classes() -> None:
    with pytest.raises(CardError, match="3, 4 or 5"):
        board_index(2)

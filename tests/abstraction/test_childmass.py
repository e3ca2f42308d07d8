"""Masses of buckets and features: closed forms over all boards, and a twin on a few."""

from __future__ import annotations

from math import comb

import numpy as np

from equipoise.abstraction.boardindex import RENAMED_COMBO, board_index, board_place
from equipoise.abstraction.childmass import (
    flop_mass,
    flops_of_turns,
    score_mass,
    turn_mass,
)
from equipoise.abstraction.countkernels import count_rivers, count_turns
from equipoise.abstraction.features.equities import (
    board_count,
    live,
    next_places,
    score_rivers,
    weights,
)
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, COMBO_COUNT, blocked


def aces(size: int) -> np.ndarray:
    return (board_index(size).boards // 4 == 12).sum(axis=1)


def of_board(street: int, values: np.ndarray) -> np.ndarray:
    """A feature table in which all hands of a board have the same feature."""
    table = np.repeat(values.astype(np.uint16)[:, None], COMBO_COUNT, axis=1)
    table[~live(street)] = BLOCKED
    return table


def flops_with(count: int) -> int:
    return comb(4, count) * comb(48, 3 - count)


def test_turns_are_counted_with_their_flops() -> None:
    mass = turn_mass(of_board(1, aces(3) > 0), of_board(2, aces(4)), 2, 5)
    expected = np.zeros((2, 5))
    for on_flop in range(4):
        bucket = int(on_flop > 0)
        expected[bucket, on_flop] += flops_with(on_flop) * (48 - 3 + on_flop)
        expected[bucket, on_flop + 1] += flops_with(on_flop) * (4 - on_flop)
    assert np.array_equal(mass, expected * comb(48, 2))


def test_flops_are_counted_with_their_hands() -> None:
    odd = (COMBO_CLASS % 2).astype(np.uint16)
    mass = flop_mass(odd, of_board(1, aces(3)), 2, 4)
    assert np.array_equal(mass.sum(axis=0), [flops_with(count) * comb(49, 2) for count in range(4)])
    assert mass.sum(axis=1)[0] == comb(50, 3) * (odd == 0).sum()


def random_tables(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Flop buckets, turn features of few hands and the child table between them."""
    flop = rng.integers(0, 3, (board_count(1), COMBO_COUNT)).astype(np.uint16)
    turn = np.full((board_count(2), COMBO_COUNT), BLOCKED, dtype=np.uint16)
    for n in (700, 701):
        some = rng.permutation(np.flatnonzero(live(2, slice(n, n + 1))[0]))[:30]
        turn[n, some] = rng.integers(0, 4, 30)
    return flop, turn, rng.permutation(12).reshape(3, 4).astype(np.uint16)


def test_a_few_boards_as_a_twin_counts_them() -> None:
    rng = np.random.default_rng(5)
    flop, turn, child = random_tables(rng)
    river = np.zeros((board_count(3), COMBO_COUNT), dtype=np.uint16)
    rivers = next_places(2)
    for place in np.unique(rivers[[700, 701]] >> 5):
        river[place] = rng.integers(0, 5, COMBO_COUNT)
        river[place, blocked(tuple(board_index(5).boards[place].tolist()))] = BLOCKED
    turns, both = np.zeros((3, 4), np.int64), np.zeros((12, 5), np.int64)
    count_turns(700, 702, flops_of_turns(), weights(2), flop, turn, turns)
    count_rivers(*(700, 702, flops_of_turns(), rivers, weights(2), flop, turn, child, river, both))
    expected_turns, expected = np.zeros_like(turns), np.zeros_like(both)
    for n in (700, 701):
        board = board_index(4).boards[n].tolist()
        for last in board:
            place, renaming = board_place(card for card in board if card != last)
            for combo in np.flatnonzero(turn[n] != BLOCKED):
                bucket = flop[place, RENAMED_COMBO[renaming, combo]]
                expected_turns[bucket, turn[n, combo]] += weights(2)[n]
                for card in set(range(52)) - {*board, *COMBO_CARDS[combo].tolist()}:
                    after, again = board_place((*board, card))
                    feature = river[after, RENAMED_COMBO[again, combo]]
                    expected[child[bucket, turn[n, combo]], feature] += weights(2)[n]
    assert np.array_equal(turns, expected_turns)
    assert np.array_equal(both, expected)


def test_scores_are_counted_by_class() -> None:
    boards = np.array([parse_cards("As Ks Qs Js Ts"), parse_cards("2c 7d 9h Js Kd")], np.uint8)
    scores = score_rivers(boards)
    mass = score_mass(scores, np.array([3, 2]))
    expected = np.zeros_like(mass)
    for row, weight in zip(scores, (3, 2), strict=True):
        for combo in np.flatnonzero(row != BLOCKED):
            expected[COMBO_CLASS[combo], row[combo]] += weight
    assert np.array_equal(mass, expected)
    assert mass.sum() == 5 * comb(47, 2)

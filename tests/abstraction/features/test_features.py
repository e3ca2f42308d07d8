"""Equities and histograms of all hands: on random boards, against one hand at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_COMBO, board_index, board_place
from equipoise.abstraction.features.equities import (
    Moments,
    board_count,
    cards_to_come,
    child_histograms,
    count_below,
    earlier_moments,
    equities,
    later_equities,
    live,
    moments,
    next_places,
    score_rivers,
    turn_moments,
    weights,
)
from equipoise.abstraction.features.kernels import FULL_SCORE, NO_EQUITY
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, blocked, combo_index, parse_combo
from equipoise.cards.evaluator import strengths
from equipoise.cards.strength import next_equities, rollout_equity
from equipoise.errors import GameError

FLOPS = [board_place(parse_cards(text))[0] for text in ("AhKh2h", "9s9d4c")]
BORDERS = (0.1, 0.35, 0.5, 0.8)


def children(street: int, boards: Iterable[int]) -> list[int]:
    return sorted({int(place) >> 5 for board in boards for place in next_places(street)[board]})


class Partial(NamedTuple):
    """Tables in which only what follows :data:`FLOPS` is filled in."""

    scores: NDArray[np.uint16]
    turn: Moments
    turns: list[int]


@pytest.fixture(scope="module")
def partial() -> Partial:
    turns = children(1, FLOPS)
    rivers = children(2, turns)
    scores = np.zeros((board_count(3), 1326), dtype=np.uint16)
    scores[rivers] = score_rivers(board_index(5).boards[rivers])
    means, spreads = (np.zeros((board_count(2), 1326), dtype=np.float32) for _ in range(2))
    for turn in turns:
        found = turn_moments(scores, slice(turn, turn + 1))
        means[turn], spreads[turn] = found[0, 0], found[1, 0]
    return Partial(scores, Moments(means, spreads, spreads), turns)


def cards_of(combo: int) -> tuple[int, int]:
    return int(COMBO_CARDS[combo, 0]), int(COMBO_CARDS[combo, 1])


def some_live_hands(board: tuple[int, ...], count: int, seed: int = 0) -> list[int]:
    free = np.flatnonzero(~blocked(board))
    return np.random.default_rng(seed).choice(free, count, replace=False).tolist()


def test_river_scores_against_all_pairs() -> None:
    rng = np.random.default_rng(5)
    chosen = rng.choice(board_count(3), 4, replace=False)
    for row in chosen.tolist():
        board = tuple(board_index(5).boards[row].tolist())
        found = score_rivers(board_index(5).boards[row : row + 1])[0]
        assert np.array_equal(found == BLOCKED, blocked(board))
        value = strengths(board).astype(np.int64)
        cards = COMBO_CARDS
        for combo in some_live_hands(board, 60):
            free = ~blocked((*board, *cards[combo].tolist()))
            beaten, tied = value[free] < value[combo], value[free] == value[combo]
            assert found[combo] == 2 * beaten.sum() + tied.sum()


def test_scores_of_a_board_are_a_half_on_average() -> None:
    scores = score_rivers(board_index(5).boards[::1000]).astype(np.int64)
    scores[scores == BLOCKED] = 0
    assert (scores.sum(axis=1) == 1081 * FULL_SCORE // 2).all()


def test_next_places_by_renaming_boards() -> None:
    rng = np.random.default_rng(2)
    for street, size in ((1, 3), (2, 4)):
        boards = board_index(size).boards
        assert next_places(street).shape == (len(boards), 52 - size)
        for row in rng.choice(len(boards), 20).tolist():
            shown = boards[row].tolist()
            left = [card for card in range(52) if card not in shown]
            for place, card in zip(next_places(street)[row].tolist(), left, strict=True):
                assert (place >> 5, place & 31) == board_place((*shown, card))
    assert next_places(0).shape == (1, 22_100)
    with pytest.raises(GameError, match="street 3"):
        next_places(3)


def test_turn_moments_hand_by_hand(partial: Partial) -> None:
    for turn in partial.turns[::29]:
        board = tuple(board_index(4).boards[turn].tolist())
        assert np.array_equal(partial.turn.mean[turn] == NO_EQUITY, blocked(board))
        assert np.array_equal(partial.turn.spread[turn] == NO_EQUITY, blocked(board))
        for combo in some_live_hands(board, 5):
            after = next_equities(cards_of(combo), board)
            assert partial.turn.mean[turn, combo] == pytest.approx(after.mean(), abs=1e-7)
            assert partial.turn.spread[turn, combo] == pytest.approx(after.std(), abs=1e-6)


def test_flop_moments_hand_by_hand(partial: Partial) -> None:
    for flop in FLOPS:
        board = tuple(board_index(3).boards[flop].tolist())
        mean, spread, river_spread = earlier_moments(1, partial.turn, slice(flop, flop + 1))[:, 0]
        assert np.array_equal(mean == NO_EQUITY, blocked(board))
        for combo in some_live_hands(board, 4):
            after = next_equities(cards_of(combo), board)
            assert mean[combo] == pytest.approx(rollout_equity(cards_of(combo), board), abs=1e-7)
            assert spread[combo] == pytest.approx(after.std(), abs=1e-6)
            squares = [
                next_equities(cards_of(combo), (*board, card)) ** 2
                for card in range(52)
                if card not in (*board, *cards_of(combo))
            ]
            variance = np.mean(squares) - float(mean[combo]) ** 2
            assert river_spread[combo] == pytest.approx(np.sqrt(variance), abs=1e-6)


def test_histograms_hand_by_hand(partial: Partial) -> None:
    for street, rows, table in (
        (2, partial.turns[::37], partial.scores),
        (1, FLOPS, partial.turn.mean),
    ):
        for row in rows:
            board = tuple(board_index(street + 2).boards[row].tolist())
            found = count_below(street, table, (*BORDERS, 1.01), slice(row, row + 1))[0]
            assert np.array_equal(found[:, -1] == 0, blocked(board))
            for combo in some_live_hands(board, 5):
                after = next_equities(cards_of(combo), board)
                expected = [(after < border).sum() for border in BORDERS]
                assert found[combo].tolist() == [*expected, cards_to_come(street)]


def test_borders_fall_on_whole_scores(partial: Partial) -> None:
    turn = partial.turns[0]
    scores = np.full((board_count(3), 1326), 693, dtype=np.uint16)
    found = count_below(2, scores, (0.35, 0.3501), slice(turn, turn + 1))
    assert found[0, 0].tolist() == [0, 48]
    for bad in ((), (0.5, 0.5), (0.5, 0.2), (0.0, 0.5)):
        with pytest.raises(GameError, match="ascending"):
            count_below(2, scores, bad)


def test_child_histograms_by_counting(partial: Partial) -> None:
    rng = np.random.default_rng(8)
    table = np.zeros((board_count(2), 1326), dtype=np.uint16)
    table[partial.turns] = rng.integers(0, 7, (len(partial.turns), 1326))
    table[partial.turns] = np.where(live(2)[partial.turns], table[partial.turns], BLOCKED)
    flop = FLOPS[0]
    found = child_histograms(1, table, 7, slice(flop, flop + 1))[0]
    board = tuple(board_index(3).boards[flop].tolist())
    for combo in some_live_hands(board, 10):
        expected = np.zeros(7, dtype=int)
        for card in range(52):
            if card not in (*board, *cards_of(combo)):
                row, renaming = board_place((*board, card))
                expected[table[row, RENAMED_COMBO[renaming, combo]]] += 1
        assert found[combo].tolist() == expected.tolist()
        assert found[combo].sum() == cards_to_come(1)
    assert not found[blocked(board)].any()
    with pytest.raises(GameError, match="at least 7 cells"):
        child_histograms(1, table, 6)


def test_live_hands_of_boards() -> None:
    for street, size in ((1, 3), (2, 4), (3, 5)):
        boards = board_index(size).boards[::997]
        found = live(street, slice(None, None, 997))
        assert [row.tolist() for row in ~found] == [
            blocked(tuple(board.tolist())).tolist() for board in boards
        ]
    assert live(0).all()


def test_known_equities_before_the_flop() -> None:
    mean = moments(0).mean[0]
    known = {"AsAh": 0.85204, "2s2h": 0.50334, "3s2h": 0.32303, "QsJs": 0.60259, "5s5h": 0.60325}
    for hand, equity in known.items():
        assert mean[parse_combo(hand)] == pytest.approx(equity, abs=5e-6)
    for hand in ("Ah7h", "Td4c"):
        same = combo_index(*parse_cards(hand.translate(str.maketrans("hdc", "sch"))))
        assert mean[same] == mean[parse_combo(hand)]


@pytest.mark.parametrize("street", [0, 1, 2])
def test_the_mean_equity_of_a_street_is_a_half(street: int) -> None:
    mean = equities(street)
    mass = live(street) * weights(street)[:, None]
    assert (mean * mass).sum() / mass.sum() == pytest.approx(0.5, abs=1e-8)


def test_histogram_of_hole_cards() -> None:
    found = count_below(0, later_equities(0), (0.3, 0.5, 1.01))[0]
    assert (found[:, -1] == cards_to_come(0)).all()
    assert found[parse_combo("AsAh"), 0] < found[parse_combo("7s2h"), 0]

"""Strength and potential against a slow twin, known figures and the identity that binds them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.cards.card import cards_text, parse_cards
from equipoise.cards.combos import blocked
from equipoise.cards.equity import equity
from equipoise.cards.evaluator import evaluate, evaluate_many
from equipoise.cards.strength import (
    equity_histogram,
    next_equities,
    potential,
    river_equities,
    rollout_equity,
    standing,
    strength,
)
from equipoise.errors import CardError

deals = st.permutations(range(52)).map(lambda deck: (tuple(deck[:2]), tuple(deck[2:7])))


def slow_counts(hole: tuple[int, ...], board: tuple[int, ...]) -> list[list[int]]:
    """Pairs of opponent and runout by standing now and at the river, by plain enumeration."""
    table = [[0] * 3 for _ in range(3)]
    left = [card for card in range(52) if card not in hole + board]

    def state(mine: int, other: int) -> int:
        return 0 if mine > other else 1 if mine == other else 2

    for opponent in combinations(left, 2):
        now = state(evaluate(hole + board), evaluate(opponent + board))
        rest = [card for card in left if card not in opponent]
        runouts = [board + runout for runout in combinations(rest, 5 - len(board))]
        mine, other = (evaluate_many(np.array([h + b for b in runouts])) for h in (hole, opponent))
        for pair in zip(mine.tolist(), other.tolist(), strict=True):
            table[now][state(*pair)] += 1
    return table


def test_the_known_example() -> None:
    found = potential("Ad Qc", "3h 4c Jh")
    assert standing("Ad Qc", "3h 4c Jh") == (628, 9, 444)
    assert found.strength == pytest.approx(0.585106, abs=5e-7)
    assert found.positive == pytest.approx(0.208324, abs=5e-7)
    assert found.negative == pytest.approx(0.273693, abs=5e-7)
    assert found.equity == pytest.approx(0.511399, abs=5e-7)
    assert [sum(row) for row in found.counts] == [628 * 990, 9 * 990, 444 * 990]


@pytest.mark.parametrize(
    ("hole", "board"),
    [("9c8c", "Tc7c2sAh"), ("AdQc", "3h4cJhJd6s"), ("AsAh", "AcAd7h2c"), ("KhQh", "AhTh2h5h")],
)
def test_counts_agree_with_the_slow_twin(hole: str, board: str) -> None:
    slow = slow_counts(parse_cards(hole), parse_cards(board))
    assert [list(row) for row in potential(hole, board).counts] == slow


def test_a_flop_is_the_mean_of_its_turns() -> None:
    hole, flop = parse_cards("9c8d"), parse_cards("Tc7c2s")
    left = [card for card in range(52) if card not in hole + flop]
    turns = [potential(hole, (*flop, card)).equity for card in left]
    assert potential(hole, flop).equity == pytest.approx(np.mean(turns), abs=1e-12)
    assert next_equities(hole, flop) == pytest.approx(np.array(turns), abs=1e-12)


@given(deals, st.sampled_from([3, 4, 5]))
@settings(max_examples=40, deadline=None)
def test_potentials_add_up_to_equity(
    deal: tuple[tuple[int, ...], tuple[int, ...]], size: int
) -> None:
    hole, board = deal[0], deal[1][:size]
    found = potential(hole, board)
    kept = found.strength * (1 - found.negative) + (1 - found.strength) * found.positive
    assert kept == pytest.approx(found.equity, abs=1e-12)
    assert found.strength == pytest.approx(strength(hole, board), abs=1e-12)
    assert found.equity == pytest.approx(
        equity([hole, 1.0 - blocked(hole)], board).equity[0], abs=1e-12
    )


@given(deals, st.permutations(range(4)))
@settings(max_examples=20, deadline=None)
def test_suits_do_not_matter(
    deal: tuple[tuple[int, ...], tuple[int, ...]], suits: list[int]
) -> None:
    hole, board = deal[0], deal[1][:3]
    moved = [[4 * (card // 4) + suits[card % 4] for card in cards] for cards in (hole, board)]
    assert potential(hole, board) == potential(*moved)
    for street in ("river", "next"):
        one = equity_histogram(hole, board, street=street)
        assert (one == equity_histogram(*moved, street=street)).all()


def test_nothing_is_left_to_come_on_the_river() -> None:
    found = potential("AdQc", "3h4cJhJd6s")
    assert (found.positive, found.negative) == (0, 0)
    assert found.equity == found.strength == strength("AdQc", "3h4cJhJd6s")


def test_the_nuts_cannot_fall_and_the_board_ties() -> None:
    nuts = potential("AsKs", "QsJsTs")
    assert (nuts.strength, nuts.positive, nuts.negative, nuts.equity) == (1, 0, 0, 1)
    shared = potential("2c3d", "AsKsQsJsTs")
    assert (shared.strength, shared.equity) == (0.5, 0.5)


def test_rollout_equity_before_the_flop() -> None:
    assert rollout_equity("2c 2d") == pytest.approx(0.50334, abs=5e-6)
    equities, chances = river_equities("AhKh")
    assert equities @ chances == pytest.approx(rollout_equity("AsKs"), abs=1e-12)


def test_river_equities_are_those_of_single_boards() -> None:
    hole, board = "9c8c", "Tc7c2sAh"
    left = [card for card in range(52) if card not in parse_cards(hole + board)]
    single = [strength(hole, board + cards_text([card])) for card in left]
    equities, chances = river_equities(hole, board)
    assert sorted(np.repeat(equities, np.rint(chances * 46).astype(int))) == pytest.approx(
        sorted(single)
    )
    assert next_equities(hole, board) == pytest.approx(np.array(single))


@pytest.mark.parametrize("bins", [1, 7, 50])
def test_histograms_count_runouts(bins: int) -> None:
    equities, chances = river_equities("AdQc", "3h4cJh")
    borders = np.searchsorted(np.arange(1, bins) / bins, equities + 1e-12, side="right")
    slow = np.bincount(borders, chances, bins)
    found = equity_histogram("AdQc", "3h4cJh", bins)
    assert found == pytest.approx(slow, abs=1e-12)
    assert found.sum() == pytest.approx(1)
    after_turn = equity_histogram("AdQc", "3h4cJh", bins, street="next")
    assert after_turn.sum() == pytest.approx(1)
    assert (after_turn * 47).round(9).tolist() == (after_turn * 47).round().tolist()


def test_two_cards_spread_a_draw_more_than_one() -> None:
    centres = (np.arange(50) + 0.5) / 50

    def spread(street: str) -> float:
        chances = equity_histogram("JhTh", "9h8h2c", street=street)
        return float(chances @ (centres - chances @ centres) ** 2)

    assert spread("river") > 1.5 * spread("next")


@pytest.mark.parametrize(
    ("hole", "board", "text"),
    [
        ("AsKs", "QsJs", "3, 4 or 5"),
        ("As", "QsJsTs", "two cards"),
        ("AsKs", "AsJsTs", "As appears twice"),
        ("AsKs", (1, 2, 52), "0 to 51"),
    ],
)
def test_bad_input_is_refused(hole: str, board: str | tuple[int, ...], text: str) -> None:
    for function in (standing, strength, potential):
        with pytest.raises(CardError, match=text):
            function(hole, board)


def test_bad_histograms_are_refused() -> None:
    with pytest.raises(CardError, match="at least 1"):
        equity_histogram("AsKs", "QsJsTs", bins=0)
    with pytest.raises(CardError, match="'turn'"):
        equity_histogram("AsKs", "QsJsTs", street="turn")  # type: ignore[arg-type]
    with pytest.raises(CardError, match="3 or 4"):
        next_equities("AsKs", "")

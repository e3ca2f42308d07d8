"""Draws, against a count of the cards that complete them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.features.draws import (
    Connectors,
    FlopDraw,
    connectors,
    draw_number,
    flop_draw,
)
from equipoise.cards.card import parse_cards
from equipoise.cards.evaluator import evaluate
from equipoise.cards.handnames import category


@pytest.mark.parametrize(
    ("hole", "expected"),
    [
        ("7s6s", Connectors.SUITED),
        ("9s6s", Connectors.SUITED),
        ("9s5s", Connectors.NONE),
        ("9s6d", Connectors.OFFSUIT),
        ("Ah4d", Connectors.OFFSUIT),
        ("Ah5d", Connectors.NONE),
        ("AhJh", Connectors.SUITED),
        ("8s8d", Connectors.NONE),
    ],
)
def test_connectors_have_at_most_two_ranks_between_them(hole: str, expected: Connectors) -> None:
    assert connectors(parse_cards(hole)) == expected


@pytest.mark.parametrize(
    ("hole", "flop", "expected"),
    [
        ("AsKs", "7s 2s 9d", FlopDraw.FLUSH),
        ("AsKs", "7s 2s 9s", FlopDraw.NONE),
        ("9h8d", "7c 6s Kd", FlopDraw.OPEN_ENDED),
        ("9h8d", "6c 5s Kd", FlopDraw.INSIDE),
        ("Ah2d", "3c 4s Kd", FlopDraw.INSIDE),
        ("AhKd", "Qc Js 2d", FlopDraw.INSIDE),
        # Two gaps, either of which makes a straight.
        ("9h7d", "Jc 8s 5d", FlopDraw.OPEN_ENDED),
        ("9h8d", "7c 6s 5d", FlopDraw.NONE),
        ("9h9d", "2c 2s Kd", FlopDraw.NONE),
    ],
)
def test_flop_draws(hole: str, flop: str, expected: FlopDraw) -> None:
    assert flop_draw(parse_cards(hole), parse_cards(flop)) == expected


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(52)))
def test_straight_draws_are_what_one_more_card_completes(cards: list[int]) -> None:
    five = tuple(cards[:5])
    suits = Counter(card & 3 for card in five)
    if max(suits.values()) >= 4:
        expected = FlopDraw.FLUSH if max(suits.values()) == 4 else FlopDraw.NONE
        assert flop_draw(five[:2], five[2:]) == expected
        return
    if category(evaluate(five)) == "straight":
        assert flop_draw(five[:2], five[2:]) == FlopDraw.NONE
        return
    outs = {card >> 2 for card in cards[5:] if _makes_straight((*five, card))}
    expected = (FlopDraw.NONE, FlopDraw.INSIDE, FlopDraw.OPEN_ENDED)[min(len(outs), 2)]
    assert flop_draw(five[:2], five[2:]) == expected


def _makes_straight(six: tuple[int, ...]) -> bool:
    return any("straight" in category(evaluate(five)) for five in combinations(six, 5))


def test_only_preflop_and_flop_have_draws() -> None:
    assert draw_number(parse_cards("7s6s"), ()) == 0
    assert draw_number(parse_cards("7s6s"), parse_cards("5s 4d Kc")) == FlopDraw.OPEN_ENDED
    assert draw_number(parse_cards("7s6s"), parse_cards("5s 4d Kc Ks")) == -1

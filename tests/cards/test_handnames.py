"""Every class of hands has a name of its own, and the name says what it is."""

from __future__ import annotations

import pytest

from equipoise.cards.evaluator import CLASS_VALUES
from equipoise.cards.handnames import category, hand_name, value_name
from equipoise.errors import CardError


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("AsKsQsJsTs2c3d", "royal flush"),
        ("5s4s3s2sAs", "straight flush, five high"),
        ("6s6h6d6c2s3s4s", "four of a kind, sixes, four kicker"),
        ("KsKhKdAcAs", "full house, kings over aces"),
        ("Ts8s6s4s2s", "flush, ten-eight-six-four-deuce"),
        ("Tc9s8d7h6s2c2d", "straight, ten high"),
        ("3c3d3hAsKd", "three of a kind, threes, ace-king kickers"),
        ("AcAdKhKsQdQc2s", "two pair, aces and kings, queen kicker"),
        ("JcJd9h4s3d", "pair, jacks, nine-four-three kickers"),
        ("AcKd9h5s2d", "high card, ace-king-nine-five-deuce"),
    ],
)
def test_names(cards: str, name: str) -> None:
    assert hand_name(cards) == name


def test_every_class_has_its_own_name() -> None:
    assert len({value_name(value) for value in range(1, CLASS_VALUES + 1)}) == CLASS_VALUES


def test_what_is_no_value_has_no_category() -> None:
    with pytest.raises(CardError, match="1 to 7462"):
        category(0)

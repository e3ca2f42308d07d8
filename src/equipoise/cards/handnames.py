"""What a hand is called: its category, and the whole of it in words."""

from __future__ import annotations

from collections.abc import Iterable

from equipoise.cards.evaluator import CLASS_VALUES, HandClass, evaluate, hand_classes
from equipoise.errors import CardError

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
_RANK_WORDS = (
    *("deuce", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace"),
)


def category(value: int) -> str:
    """Category of a value: one of the nine of :data:`CATEGORIES`.

    >>> category(evaluate("As Ad Ac Kh Ks"))
    'full house'
    """
    return CATEGORIES[_class_of_value(value).category]


def hand_name(cards: str | Iterable[int]) -> str:
    """The hand in words.

    >>> hand_name("As Ad Ac Kh Ks"), hand_name("Ah Kh 9h 5h 2h 2c 2d")
    ('full house, aces over kings', 'flush, ace-king-nine-five-deuce')
    >>> hand_name("Ac 2d 3h 4s 5c"), hand_name("6c 6d 2h 2s Tc")
    ('straight, five high', 'two pair, sixes and deuces, ten kicker')
    """
    return value_name(evaluate(cards))


def value_name(value: int) -> str:
    """The class of a value in words.

    >>> value_name(7462), value_name(7452), value_name(1)
    ('royal flush', 'four of a kind, aces, king kicker', 'high card, seven-five-four-three-deuce')
    """
    kind, ranks = _class_of_value(value)
    if value == CLASS_VALUES:
        return "royal flush"
    words = [_RANK_WORDS[rank] for rank in ranks]
    many = [word + ("es" if word == "six" else "s") for word in words]
    name = CATEGORIES[kind]
    if name in ("straight", "straight flush"):
        return f"{name}, {words[0]} high"
    if name in ("high card", "flush"):
        return f"{name}, {'-'.join(words)}"
    if name == "full house":
        return f"{name}, {many[0]} over {many[1]}"
    if name == "two pair":
        return f"{name}, {many[0]} and {many[1]}, {words[2]} kicker"
    return f"{name}, {many[0]}, {'-'.join(words[1:])} kicker{'s' if len(words) > 2 else ''}"


def _class_of_value(value: int) -> HandClass:
    if not 1 <= value <= CLASS_VALUES:
        raise CardError(f"{value}: a hand's value is a number from 1 to {CLASS_VALUES}")
    return hand_classes()[value - 1]

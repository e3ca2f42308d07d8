"""Hole cards: the 1,326 combinations, their 169 classes, and text for both.

A combination is numbered `hi * (hi - 1) / 2 + lo` for its cards `hi > lo`. A class is a cell of the
13×13 chart: pairs on the diagonal, suited above it, offsuit below; it is numbered
`13 * row + column` with aces first, so class 0 is AA, class 1 is AKs and class 13 is AKo.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import RANKS, card_text, parse_cards
from equipoise.errors import CardError

COMBO_COUNT = 1326
CLASS_COUNT = 169

#: Cards of each combination, higher first: uint8[1326, 2].
COMBO_CARDS: NDArray[np.uint8] = np.array(
    [(hi, lo) for hi in range(52) for lo in range(hi)], dtype=np.uint8
)


def combo_index(first: int, second: int) -> int:
    """Number of the combination of two cards, in either order.

    >>> combo_index(51, 50), combo_index(0, 1)
    (1325, 0)
    """
    hi, lo = (first, second) if first > second else (second, first)
    if hi == lo:
        raise CardError(f"'{card_text(hi)}{card_text(lo)}': {card_text(hi)} appears twice")
    return hi * (hi - 1) // 2 + lo


def hand_number(hole: tuple[int, ...]) -> int:
    """Number of a set of private cards, in any order: of two cards their combination, of one itself.

    >>> hand_number((51, 50)), hand_number((7,))
    (1325, 7)
    """
    return sum(comb(card, count) for count, card in enumerate(sorted(hole), 1))


def combo_text(combo: int) -> str:
    """Text of a combination, higher card first.

    >>> combo_text(1325)
    'AsAh'
    """
    hi, lo = COMBO_CARDS[combo]
    return card_text(int(hi)) + card_text(int(lo))


def parse_combo(text: str) -> int:
    """Read two cards as a combination.

    >>> combo_text(parse_combo("Kd As"))
    'AsKd'
    """
    cards = parse_cards(text)
    if len(cards) != 2:
        raise CardError(f"{text!r}: a hand is two cards, such as AsKd")
    return combo_index(*cards)


def class_of(first: int, second: int) -> int:
    """Class (cell of the 13×13 chart) of two cards.

    >>> class_text(class_of(51, 47)), class_text(class_of(51, 46))
    ('AKs', 'AKo')
    """
    hi, lo = (first, second) if first > second else (second, first)
    high, low = 12 - (hi >> 2), 12 - (lo >> 2)
    return 13 * high + low if hi & 3 == lo & 3 else 13 * low + high


def class_text(hand_class: int) -> str:
    """Text of a class.

    >>> [class_text(c) for c in (0, 1, 13, 168)]
    ['AA', 'AKs', 'AKo', '22']
    """
    row, column = divmod(hand_class, 13)
    if row == column:
        return RANKS[12 - row] * 2
    high, low = RANKS[12 - min(row, column)], RANKS[12 - max(row, column)]
    return f"{high}{low}{'s' if row < column else 'o'}"


#: Class of each combination: uint8[1326].
COMBO_CLASS: NDArray[np.uint8] = np.array(
    [class_of(int(hi), int(lo)) for hi, lo in COMBO_CARDS], dtype=np.uint8
)

#: Combinations in each class (6, 4 or 12): int64[169].
CLASS_SIZE: NDArray[np.int64] = np.bincount(COMBO_CLASS, minlength=CLASS_COUNT).astype(np.int64)


def blocked(cards: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which combinations hold one of `cards`: bool[1326].

    >>> int(blocked(parse_cards("As")).sum())
    51
    """
    dead = np.zeros(52, dtype=bool)
    dead[list(cards)] = True
    hit: NDArray[np.bool_] = dead[COMBO_CARDS[:, 0]] | dead[COMBO_CARDS[:, 1]]
    return hit

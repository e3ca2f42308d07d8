"""Boards of three, four and five cards up to a renaming of suits, and how to get there.

Equities, histograms and buckets do not change when suits are renamed, so they are kept only for one
board of each class: 1,755 flops, 16,432 boards of four cards and 134,459 of five, each seen as a set
of cards. The *canonical* board of a class is the one of least rank, where the colexicographic rank
of cards c₁ < … < cₖ is Σ C(cᵢ, i): 0, 1, 2 … without gaps, so that it numbers the rows of a table.

For every set of cards that table holds its class and one of the 24 renamings that turn it into the
canonical board. The same renaming turns a hand into the hand to be looked up there: what is known of
a hand on a board is `table[class_of[rank], RENAMED_COMBO[renaming[rank], combo]]`. Boards that are
their own image under some renaming have several to choose from; any will do.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import permutations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE, card_text, cards_text, check_distinct
from equipoise.cards.combos import COMBO_CARDS
from equipoise.errors import CardError
from equipoise.kernel import kernel

#: Classes of boards by their number of cards.
BOARD_CLASSES = {3: 1_755, 4: 16_432, 5: 134_459}
#: New suit of each suit, for each of the 24 renamings; the first changes nothing.
RENAMINGS = tuple(permutations(range(4)))

#: Cards under each renaming: uint8[24, 52].
RENAMED_CARD: NDArray[np.uint8] = np.array(
    [[card - card % 4 + suits[card % 4] for card in range(DECK_SIZE)] for suits in RENAMINGS],
    dtype=np.uint8,
)
_HIGHER = np.maximum(*np.moveaxis(RENAMED_CARD[:, COMBO_CARDS], 2, 0)).astype(np.int64)
_LOWER = np.minimum(*np.moveaxis(RENAMED_CARD[:, COMBO_CARDS], 2, 0)).astype(np.int64)
#: Combinations under each renaming: uint16[24, 1326].
RENAMED_COMBO: NDArray[np.uint16] = (_HIGHER * (_HIGHER - 1) // 2 + _LOWER).astype(np.uint16)
#: Number of the renaming that undoes each renaming: uint8[24].
UNDOING: NDArray[np.uint8] = np.array(
    [RENAMINGS.index(tuple(suits.index(suit) for suit in range(4))) for suits in RENAMINGS],
    dtype=np.uint8,
)

#: C(card, place) for the place 1 to 5 of a card among its board's, in rows of 64.
_CHOOSE: NDArray[np.uint64] = np.array(
    [comb(card, place) for place in range(1, 6) for card in range(64)], dtype=np.uint64
)
_ROW = np.uint64(64)


@kernel
def rank_of_three(a: np.uint64, b: np.uint64, c: np.uint64) -> np.uint64:
    """Rank of a set of three cards in any order: a card's place is how many are below it."""
    ab, ac, bc = np.uint64(a > b), np.uint64(a > c), np.uint64(b > c)
    one, two = np.uint64(1), np.uint64(2)
    rank: np.uint64 = (
        _CHOOSE[(ab + ac) * _ROW + a]
        + _CHOOSE[(one - ab + bc) * _ROW + b]
        + _CHOOSE[(two - ac - bc) * _ROW + c]
    )
    return rank


@kernel
def rank_of_four(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> np.uint64:
    """Rank of a set of four cards in any order."""
    ab, ac, bc = np.uint64(a > b), np.uint64(a > c), np.uint64(b > c)
    ad, bd, cd = np.uint64(a > d), np.uint64(b > d), np.uint64(c > d)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    rank: np.uint64 = (
        _CHOOSE[(ab + ac + ad) * _ROW + a]
        + _CHOOSE[(one - ab + bc + bd) * _ROW + b]
        + _CHOOSE[(two - ac - bc + cd) * _ROW + c]
        + _CHOOSE[(three - ad - bd - cd) * _ROW + d]
    )
    return rank


@kernel
def rank_of_five(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, e: np.uint64) -> np.uint64:
    """Rank of a set of five cards in any order."""
    ab, ac, bc = np.uint64(a > b), np.uint64(a > c), np.uint64(b > c)
    ad, bd, cd = np.uint64(a > d), np.uint64(b > d), np.uint64(c > d)
    ae, be, ce, de = np.uint64(a > e), np.uint64(b > e), np.uint64(c > e), np.uint64(d > e)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    rank: np.uint64 = (
        _CHOOSE[(ab + ac + ad + ae) * _ROW + a]
        + _CHOOSE[(one - ab + bc + bd + be) * _ROW + b]
        + _CHOOSE[(two - ac - bc + cd + ce) * _ROW + c]
        + _CHOOSE[(three - ad - bd - cd + de) * _ROW + d]
        + _CHOOSE[(four - ae - be - ce - de) * _ROW + e]
    )
    return rank


@kernel
def split_place(place: np.uint32) -> tuple[np.uint64, np.uint64]:
    """Class and renaming of a board from its entry in :func:`board_places`."""
    return np.uint64(place) >> np.uint64(5), np.uint64(place) & np.uint64(31)


@kernel
def _classify(
    size: int,
    class_of: NDArray[np.int32],
    renaming: NDArray[np.uint8],
    boards: NDArray[np.uint8],
    multiplicity: NDArray[np.int64],
) -> int:
    """Visit all sets by rank; one that no earlier set turns into is canonical. How many are."""
    cards, image = np.empty(5, np.uint64), np.empty(5, np.uint64)
    for j in range(size):
        cards[j] = j
    classes = 0
    for rank in range(class_of.shape[0]):
        if class_of[rank] < 0:
            for j in range(size):
                boards[classes, j] = cards[j]
            for r in range(24):
                for j in range(size):
                    image[j] = RENAMED_CARD[r, cards[j]]
                if size == 3:
                    other = rank_of_three(image[0], image[1], image[2])
                elif size == 4:
                    other = rank_of_four(image[0], image[1], image[2], image[3])
                else:
                    other = rank_of_five(image[0], image[1], image[2], image[3], image[4])
                if class_of[other] < 0:
                    class_of[other] = classes
                    renaming[other] = UNDOING[r]
                    multiplicity[classes] += 1
            classes += 1
        # The next set: raise the lowest card that has room below its neighbour.
        j = 0
        while j < size - 1 and cards[j] + 1 == cards[j + 1]:
            cards[j] = j
            j += 1
        cards[j] += 1
    return classes


class BoardIndex(NamedTuple):
    """Classes of the boards of one size."""

    class_of: NDArray[np.int32]
    """Class of each set of cards, by its rank."""
    renaming: NDArray[np.uint8]
    """Number of the renaming that turns each set into the canonical board of its class."""
    boards: NDArray[np.uint8]
    """Canonical boards, cards ascending: uint8[classes, size]."""
    multiplicity: NDArray[np.int64]
    """Sets in each class."""


@cache
def board_index(size: int) -> BoardIndex:
    """The classes of boards of three, four or five cards, made in a fraction of a second.

    >>> index = board_index(3)
    >>> len(index.boards), int(index.multiplicity.sum())
    (1755, 22100)
    """
    if size not in BOARD_CLASSES:
        raise CardError(f"{size} cards: a board with classes has 3, 4 or 5")
    sets = comb(DECK_SIZE, size)
    index = BoardIndex(
        np.full(sets, -1, dtype=np.int32),
        np.zeros(sets, dtype=np.uint8),
        np.zeros((BOARD_CLASSES[size], size), dtype=np.uint8),
        np.zeros(BOARD_CLASSES[size], dtype=np.int64),
    )
    _classify(size, *index)
    for array in index:
        array.setflags(write=False)
    return index


@cache
def board_places(size: int) -> NDArray[np.uint32]:
    """Class of each set of cards times 32, plus its renaming: one read instead of two.

    >>> split_place(board_places(3)[22099]) == board_place((49, 50, 51))
    True
    """
    index = board_index(size)
    places = (index.class_of << 5 | index.renaming).astype(np.uint32)
    places.setflags(write=False)
    return places


def board_ranks(boards: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Rank of each row of cards, in any order, as a set.

    >>> board_ranks(np.array([[2, 0, 1], [49, 51, 50]], dtype=np.uint8))
    array([    0, 22099])
    """
    places = np.arange(boards.shape[-1])
    ranks: NDArray[np.int64] = (
        _CHOOSE[places * 64 + np.sort(boards, axis=-1)].sum(axis=-1).astype(np.int64)
    )
    return ranks


def board_place(board: Iterable[int]) -> tuple[int, int]:
    """Class of a board, and the number of the renaming that makes it canonical.

    >>> from equipoise.cards.card import parse_cards
    >>> board_place(parse_cards("2d 2h 3c"))[0] == board_place(parse_cards("3d 2s 2h"))[0]
    True
    """
    cards = tuple(int(card) for card in board)
    for card in cards:
        card_text(card)
    check_distinct(cards)
    if len(cards) not in BOARD_CLASSES:
        raise CardError(f"{cards_text(cards)!r}: {len(cards)} cards; a board has 3, 4 or 5")
    index = board_index(len(cards))
    rank = sum(comb(card, place) for place, card in enumerate(sorted(cards), start=1))
    return int(index.class_of[rank]), int(index.renaming[rank])

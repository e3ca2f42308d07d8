"""How hands stand against a range on all run-outs of a board, in hold'em with the full deck.

The strengths of all hands on each run-out, and their order, depend on the board alone. They are kept
while a board is being asked about, so that every further range costs one walk of each run-out: from
the weakest hand up, the weight passed so far, less the weight of the passed hands that hold one of my
two cards, is what I beat; the same after all my equals, plus my own hand (taken off twice), is what I
beat or tie. The two together are twice the wins and once the ties, and what I meet in all is known.

Suits that neither board nor range tells apart are exchangeable: one run-out of each orbit is walked.
Against a single hand whole vectors of hands are compared at once. A hand that a run-out blocks has
strength 0 and seems to lose to every hand that is dealt; the run-outs that block y but not x are as
many for every pair of hands, and are taken off.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    fill_strengths,
    sort_by_strength,
    start_key,
    tables,
)
from equipoise.cards.matchup import compatible_weight, exchangeable, exchanges, runouts
from equipoise.kernel import exact_kernel, kernel

#: Suits in groups of those that may be exchanged.
Swaps = tuple[tuple[int, ...], ...]
#: Every suit is its own: no run-out stands for another.
SUITS_APART: Swaps = ((0,), (1,), (2,), (3,))


@kernel
def _value(
    boards: NDArray[np.uint8],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    strengths: NDArray[np.uint16],
) -> None:
    """Strength of every hand on every board, 0 where they share a card."""
    for n in range(boards.shape[0]):
        key, bits = start, np.uint64(0)
        for j in range(5):
            key += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
        fill_strengths(key, bits, values, rows, strengths[n])


@kernel
def _sort(strengths: NDArray[np.uint16], order: NDArray[np.uint16]) -> None:
    """The hands of every board, weakest first."""
    half_sorted = np.empty(COMBO_COUNT, np.uint16)
    for n in range(strengths.shape[0]):
        sort_by_strength(strengths[n], half_sorted, order[n])


@exact_kernel
def _walk(
    strengths: NDArray[np.uint16],
    order: NDArray[np.uint16],
    orbits: NDArray[np.float64],
    live: np.uint64,
    weights: NDArray[np.float64],
    reached: NDArray[np.float64],
) -> None:
    """Add to `reached`, by orbits, twice the weight each hand beats and once the weight it ties."""
    held = np.empty(DECK_SIZE, np.float64)
    for n in range(strengths.shape[0]):
        passed = 0.0
        held[:] = 0.0
        first = np.uint64(0)
        while first < live:
            value = strengths[n, order[n, first]]
            last = first
            while last < live and strengths[n, order[n, last]] == value:
                hand = order[n, last]
                mine = held[COMBO_CARDS[hand, 0]] + held[COMBO_CARDS[hand, 1]]
                reached[hand] += orbits[n] * (passed - mine)
                last += np.uint64(1)
            for i in range(first, last):
                hand = order[n, i]
                passed += weights[hand]
                held[COMBO_CARDS[hand, 0]] += weights[hand]
                held[COMBO_CARDS[hand, 1]] += weights[hand]
            for i in range(first, last):
                hand = order[n, i]
                mine = held[COMBO_CARDS[hand, 0]] + held[COMBO_CARDS[hand, 1]] - weights[hand]
                reached[hand] += orbits[n] * (passed - mine)
            first = last


@kernel
def _compare(strengths: NDArray[np.int16], hand: int, net: NDArray[np.int16]) -> None:
    """Add to `net` the boards each hand wins from one, less those it loses."""
    for n in range(strengths.shape[0]):
        strength = strengths[n, hand]
        if strength:
            for other in range(COMBO_COUNT):
                gap = np.int16(strengths[n, other] - strength)
                net[other] += max(min(gap, np.int16(1)), np.int16(-1))


class BoardMargins:
    """All run-outs of a flop, turn or river, up to exchanges of suits.

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.cards.combos import parse_combo
    >>> flop = BoardMargins(parse_cards("Td 9d 6h"))
    >>> aces, kings = parse_combo("AsAh"), parse_combo("KsKh")
    >>> round(float(flop.against_hand(kings)[aces] + 1) / 2, 4)
    0.8919
    """

    def __init__(self, board: tuple[int, ...], swaps: Swaps = SUITS_APART) -> None:
        groups = [list(group) for group in swaps]
        boards, self._orbits = runouts(board, (), groups)
        self._renamings = exchanges(groups)
        unseen, need = DECK_SIZE - len(board), 5 - len(board)
        #: Run-outs on which one hand is dealt, and on which two are.
        self._live, self._met = comb(unseen - 2, need), comb(unseen - 4, need)
        self._hands_left = comb(unseen - need, 2)
        self._strengths = np.empty((len(boards), COMBO_COUNT), dtype=np.uint16)
        values, rows = tables()
        _value(boards, np.uint64(start_key(7)), values, rows, self._strengths)

    @cached_property
    def _order(self) -> NDArray[np.uint16]:
        order = np.empty_like(self._strengths)
        _sort(self._strengths, order)
        return order

    def against(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight of a range that each hand beats, less what beats it, mean over run-outs.

        The range must hold no card of the board; of hands that do, the figure means nothing.
        """
        reached = np.zeros(COMBO_COUNT)
        left = np.uint64(self._hands_left)
        _walk(self._strengths, self._order, self._orbits, left, weights, reached)
        if len(self._renamings) > 1:
            reached = reached[np.array(self._renamings)].mean(axis=0)
        return reached / self._met - compatible_weight(weights)

    def against_hand(self, hand: int) -> NDArray[np.float64]:
        """The same against one hand; of hands that share a card with it the figure means nothing."""
        net = np.zeros(COMBO_COUNT, dtype=np.int16)
        _compare(self._strengths.view(np.int16), hand, net)
        return (net + float(self._live - self._met)) / self._met


def against_range(weights: NDArray[np.float64], board: tuple[int, ...]) -> NDArray[np.float64]:
    """:meth:`BoardMargins.against` on a board, its cards in ascending order."""
    swaps = tuple(tuple(group) for group in exchangeable(board, (), weights))
    return _kept(board, swaps).against(weights)


def against_hand(hand: int, board: tuple[int, ...]) -> NDArray[np.float64]:
    """:meth:`BoardMargins.against_hand` on a board, its cards in ascending order."""
    return _kept(board, SUITS_APART).against_hand(hand)


@lru_cache(maxsize=8)
def _kept(board: tuple[int, ...], swaps: Swaps) -> BoardMargins:
    """The run-outs of a board, kept for the next who asks: the seats of a deal share its boards."""
    return BoardMargins(board, swaps)

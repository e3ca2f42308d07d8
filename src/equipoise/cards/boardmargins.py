"""How hands stand against a range on all run-outs of a board, in hold'em with the full deck.

The strengths of all hands on each run-out, and their order, depend on the board alone. They are kept
while a board is being asked about, so that every further range costs one walk of each run-out: from
the weakest hand up, the weight passed so far, less the weight of the passed hands that hold one of my
two cards, is what I beat; the same after all my equals, plus my own hand (taken off twice), is what I
beat or tie. The two together are twice the wins and once the ties, and what I meet in all is known.

Suits that neither board nor range tells apart are exchangeable: one run-out of each orbit is walked.
A *part* of the run-outs, each k-th from some first one on, counted k times, says the same on average over the
first one, for a k-th of the time.

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
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.evaluator import tables
from equipoise.cards.kernels import compare_hand, sort_boards, value_boards, walk_boards
from equipoise.cards.matchup import compatible_weight, exchangeable, exchanges, runouts

#: Suits in groups of those that may be exchanged.
Swaps = tuple[tuple[int, ...], ...]
#: The first of the run-outs that are walked, and the step from each to the next.
Part = tuple[int, int]
ALL: Part = (0, 1)
#: Every suit is its own: no run-out stands for another.
SUITS_APART: Swaps = ((0,), (1,), (2,), (3,))


class BoardMargins:
    """All run-outs of a flop, turn or river, up to exchanges of suits.

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.cards.combos import parse_combo
    >>> flop = BoardMargins(parse_cards("Td 9d 6h"))
    >>> aces, kings = parse_combo("AsAh"), parse_combo("KsKh")
    >>> round(float(flop.against_hand(kings)[aces] + 1) / 2, 4)
    0.8919
    """

    def __init__(
        self, board: tuple[int, ...], swaps: Swaps = SUITS_APART, part: Part = ALL
    ) -> None:
        groups = [list(group) for group in swaps]
        boards, orbits = runouts(board, (), groups)
        first, step = part
        boards, self._orbits = boards[first::step], orbits[first::step] * step
        self._renamings = exchanges(groups)
        unseen, need = DECK_SIZE - len(board), 5 - len(board)
        #: Run-outs on which one hand is dealt, and on which two are.
        self._live, self._met = comb(unseen - 2, need), comb(unseen - 4, need)
        self._hands_left = comb(unseen - need, 2)
        self._strengths = np.empty((len(boards), COMBO_COUNT), dtype=np.uint16)
        value_boards(boards, tables(), self._strengths)

    @cached_property
    def _order(self) -> NDArray[np.uint16]:
        order = np.empty_like(self._strengths)
        sort_boards(self._strengths, order)
        return order

    def against(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weight of a range that each hand beats, less what beats it, mean over run-outs.

        The range must hold no card of the board; of hands that do, the figure means nothing.
        """
        reached = np.zeros(COMBO_COUNT)
        left = np.uint64(self._hands_left)
        walk_boards(self._strengths, self._order, self._orbits, left, weights, reached)
        if len(self._renamings) > 1:
            reached = reached[np.array(self._renamings)].mean(axis=0)
        return reached / self._met - compatible_weight(weights)

    def against_hand(self, hand: int) -> NDArray[np.float64]:
        """The same against one hand; of hands that share a card with it the figure means nothing."""
        net = np.zeros(COMBO_COUNT, dtype=np.int16)
        compare_hand(self._strengths.view(np.int16), hand, net)
        return (net + float(self._live - self._met)) / self._met


def against_range(
    weights: NDArray[np.float64], board: tuple[int, ...], part: Part = ALL
) -> NDArray[np.float64]:
    """:meth:`BoardMargins.against` on a board, its cards in ascending order."""
    if part != ALL:
        return _kept(board, SUITS_APART, part).against(weights)
    swaps = tuple(tuple(group) for group in exchangeable(board, (), weights))
    return _kept(board, swaps).against(weights)


def against_hand(hand: int, board: tuple[int, ...]) -> NDArray[np.float64]:
    """:meth:`BoardMargins.against_hand` on a board, its cards in ascending order."""
    return _kept(board, SUITS_APART).against_hand(hand)


@lru_cache(maxsize=8)
def _kept(board: tuple[int, ...], swaps: Swaps, part: Part = ALL) -> BoardMargins:
    """The run-outs of a board, kept for the next who asks: the seats of a deal share its boards."""
    return BoardMargins(board, swaps, part)

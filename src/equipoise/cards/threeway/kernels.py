"""Who beats whom among three hands: the compiled counting behind :mod:`.table`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import COMBO_CLASS
from equipoise.cards.evaluator import COMBO_BIT, COMBO_KEY, Tables, place, sum_board
from equipoise.kernel import kernel

#: Hands that are dealt to one board, each three of which are compared.
HANDS = 14
#: Orders in which three players can stand, ties included.
ORDERS = 13


@kernel
def count_orders(
    decks: NDArray[np.uint8],
    order_of: NDArray[np.uint8],
    tables: Tables,
    counts: NDArray[np.uint32],
) -> None:
    """Add to `counts`[triple * 13 + order] every three of the hands that shuffled decks deal.

    A deck's first five cards are the board, the next ones hands. Hands are taken in the order of
    their classes, so that a triple is counted with its lowest class first. `order_of` is the order by
    the three comparisons (0 behind, 1 tied, 2 ahead) of first with second, first with third and
    second with third, as digits of base three.
    """
    values, rows = tables.values, tables.rows
    classes, strengths = np.empty(HANDS, np.uint64), np.empty(HANDS, np.int64)
    versus = np.empty(HANDS * HANDS, np.uint64)
    orders, three = np.uint64(ORDERS), np.uint64(3)
    for n in range(decks.shape[0]):
        key, bits = sum_board(decks[n, :5])
        for i in range(HANDS):
            first, second = np.uint64(decks[n, 5 + 2 * i]), np.uint64(decks[n, 6 + 2 * i])
            if first < second:
                first, second = second, first
            combo = ((first * (first - np.uint64(1))) >> np.uint64(1)) + second
            row, column = place(key + COMBO_KEY[combo], bits + COMBO_BIT[combo])
            strength = np.int64(values[rows[row] + column])
            # Sorting as they come: there are few.
            held, j = np.uint64(COMBO_CLASS[combo]), i
            while j > 0 and classes[j - 1] > held:
                classes[j], strengths[j] = classes[j - 1], strengths[j - 1]
                j -= 1
            classes[j], strengths[j] = held, strength
        for i in range(HANDS):
            for j in range(i + 1, HANDS):
                gap = strengths[i] - strengths[j]
                versus[i * HANDS + j] = np.uint64(1 + (gap > 0) - (gap < 0))
        for k in range(2, HANDS):
            c = classes[k]
            tetrahedron = c * (c + np.uint64(1)) * (c + np.uint64(2)) // np.uint64(6)
            for j in range(1, k):
                b = classes[j]
                triangle = tetrahedron + ((b * (b + np.uint64(1))) >> np.uint64(1))
                last = versus[j * HANDS + k]
                for i in range(j):
                    code = (versus[i * HANDS + j] * three + versus[i * HANDS + k]) * three + last
                    counts[(triangle + classes[i]) * orders + np.uint64(order_of[code])] += (
                        np.uint32(1)
                    )

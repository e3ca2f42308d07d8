"""Deals inside kernels: whatever deals the cards, a walk needs buckets and who wins.

Cards of hold'em are dealt, looked up in an abstraction and compared; games small enough to list their
deals draw one of them by the alias method (Walker 1977). Which of the two is compiled into a walk
follows from the type of the tables it is given (:func:`deal`): another way to deal is a tuple of its
tables, a kernel with the arguments of :func:`deal` and a line in `DEALINGS`.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type,assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from equipoise.abstraction.lookup import bucket_path
from equipoise.cards.evaluator import CARD_BIT, CARD_KEY, place, start_key
from equipoise.kernel import inlined_kernel, row_kernel
from equipoise.solve.sampling.random import STEP, scramble, unit

Array = Any

_U = np.uint64
_ZERO, _ONE, _TWO = _U(0), _U(1), _U(2)
#: A random number is a fraction of so many bits, from which several cards are drawn.
_CARD_BITS = _U(58)
_CARD_MASK = _U((1 << 58) - 1)
_DECK, _HOLE, _DEALT = _U(52), _U(4), _U(9)
#: Where the key of seven cards begins.
SEVEN_CARDS = _U(start_key(7))


class HoldemTables(NamedTuple):
    """What dealing hold'em needs: the abstraction's look-up and the evaluator's tables."""

    lookup: Any
    values: Array
    rows: Array


class FirstRoundTables(NamedTuple):
    """What dealing hold'em for the first round alone needs."""

    #: Bucket of each combination.
    bucket: Array
    values: Array
    rows: Array


class ListedTables(NamedTuple):
    """All complete deals of a small game, drawn by the alias method."""

    #: Chance of keeping a column of the alias table, and the deal to take otherwise.
    keep: Array
    other: Array


class Dealt(NamedTuple):
    """Deals as walks read them: those of a list, or the one that a thread has just dealt."""

    #: [deal, 2 * street + player], flat.
    bucket: Array
    #: The same, of what a showdown after a street brings the player: from -1 to 1.
    result: Array
    #: Numbers of a deal.
    width: np.uint64
    #: The deck in order, and what was exchanged to draw cards from it.
    deck: Array
    swaps: Array
    #: Both players' cards, and those on the board.
    hole: Array
    board: Array
    #: Buckets of one hand.
    path: Array

    @classmethod
    def of(cls, bucket: Array, result: Array) -> Dealt:
        """Deals with these buckets and results: [deal, 2 * street + player]."""
        return cls(
            bucket=bucket.astype(np.uint64, copy=False).reshape(-1),
            result=result.reshape(-1),
            width=np.uint64(bucket.shape[1]),
            deck=np.arange(52, dtype=np.uint8),
            swaps=np.zeros(9, dtype=np.uint64),
            hole=np.zeros(4, dtype=np.uint8),
            board=np.zeros(5, dtype=np.uint8),
            path=np.zeros(4, dtype=np.int64),
        )


@inlined_kernel
def draw_cards(state, dealt):
    """Deal nine cards from two random numbers: the random state, and the board as evaluators see it.

    Each number is a fraction of 58 bits. Times the cards left, its whole part draws one of them and
    the rest goes on to the next card; all deals are equally likely within 2⁻³⁰. The deck is put
    back in order, so that a deal depends on the state of the random numbers alone.
    """
    deck, swaps = dealt.deck, dealt.swaps
    fraction = _ZERO
    for i in range(_DEALT):
        if i in (_ZERO, _HOLE):
            state += STEP
            fraction = scramble(state) & _CARD_MASK
        fraction *= _DECK - i
        j = i + (fraction >> _CARD_BITS)
        fraction &= _CARD_MASK
        swaps[i] = j
        deck[i], deck[j] = deck[j], deck[i]
    key, bits = SEVEN_CARDS, _ZERO
    for i in range(_HOLE, _DEALT):
        card = deck[i]
        dealt.board[i - _HOLE] = card
        key += CARD_KEY[card]
        bits |= CARD_BIT[card]
    for i in range(_HOLE):
        dealt.hole[i] = deck[i]
    for i in range(_DEALT):
        k = _DEALT - _ONE - i
        j = swaps[k]
        deck[k], deck[j] = deck[j], deck[k]
    return state, key, bits


@inlined_kernel
def _combo(one, other):
    """Number of two cards."""
    high, low = max(one, other), min(one, other)
    return high * (high - _ONE) // _TWO + low


@inlined_kernel
def compare_hands(tables, key, bits, dealt):
    """Write down who wins; `key` and `bits` are those of the board."""
    hole = dealt.hole
    first, second = hole[_U(0)], hole[_U(1)]
    third, fourth = hole[_U(2)], hole[_U(3)]
    row, column = place(
        key + CARD_KEY[first] + CARD_KEY[second], bits | CARD_BIT[first] | CARD_BIT[second]
    )
    mine = tables.values[_U(tables.rows[row]) + column]
    row, column = place(
        key + CARD_KEY[third] + CARD_KEY[fourth], bits | CARD_BIT[third] | CARD_BIT[fourth]
    )
    theirs = tables.values[_U(tables.rows[row]) + column]
    result = 1 if mine > theirs else (-1 if mine < theirs else 0)
    for street in range(_HOLE):
        dealt.result[_TWO * street] = result
        dealt.result[_TWO * street + _ONE] = -result


@inlined_kernel
def look_up_hands(tables, dealt):
    """Write down the buckets of both hands on all streets."""
    hole = dealt.hole
    for player in range(_TWO):
        combo = _combo(_U(hole[_TWO * player]), _U(hole[_TWO * player + _ONE]))
        bucket_path(tables.lookup, dealt.board, combo, dealt.path)
        for street in range(_HOLE):
            dealt.bucket[_TWO * street + player] = dealt.path[street]


@row_kernel
def deal_holdem(tables, state, dealt):
    """Deal hold'em, always as deal 0."""
    state, key, bits = draw_cards(state, dealt)
    compare_hands(tables, key, bits, dealt)
    look_up_hands(tables, dealt)
    return state, _ZERO


@row_kernel
def deal_first_round(tables, state, dealt):
    """Deal hold'em to players who go no further than the first round but by an all-in."""
    state, key, bits = draw_cards(state, dealt)
    compare_hands(tables, key, bits, dealt)
    hole = dealt.hole
    for player in range(_TWO):
        combo = _combo(_U(hole[_TWO * player]), _U(hole[_TWO * player + _ONE]))
        dealt.bucket[player] = tables.bucket[combo]
    return state, _ZERO


@row_kernel
def deal_listed(tables, state, dealt):
    """Draw one of the listed deals by one random number."""
    state += STEP
    spot = unit(state) * np.float64(tables.keep.shape[0])
    drawn = _U(spot)
    if spot - np.float64(drawn) >= tables.keep[drawn]:
        drawn = tables.other[drawn]
    return state, drawn * dealt.width


#: Kinds of tables with which rows are too many for any cache: walks fetch theirs ahead.
FETCHED: set[type] = {HoldemTables}

#: The kernel for each kind of tables.
DEALINGS: dict[type, Any] = {
    HoldemTables: deal_holdem,
    FirstRoundTables: deal_first_round,
    ListedTables: deal_listed,
}


def deal(tables, state, dealt):
    """Draw a deal: the state of the random numbers, and where the deal stands in `dealt`.

    Compiled code only.
    """
    raise RuntimeError("only inside compiled kernels")


@overload(deal)
def _deal_by_type(tables, state, dealt):
    chosen = DEALINGS[tables.instance_class]

    def deal(tables, state, dealt):
        return chosen(tables, state, dealt)

    return deal

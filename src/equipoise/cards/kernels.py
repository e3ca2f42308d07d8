"""Who beats whom on whole boards: the compiled counting behind tables, equities and potential.

Each kernel is described where it is used: :mod:`.preflop`, :mod:`.headsup`, :mod:`.matchup`,
:mod:`.strength` and :mod:`.boardmargins`. They stand apart from those files so that an edit there
compiles nothing anew.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import CLASS_COUNT, COMBO_CARDS, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    COMBO_BIT,
    COMBO_KEY,
    Tables,
    fill_strengths,
    order_hands,
    place,
    room_for_hands,
    sort_by_strength,
    sum_board,
)
from equipoise.kernel import exact_kernel, kernel

#: Boards that are compared while their strengths stay near, and sums of whose weights fit 16 bits.
TILE = 64
#: Mark of a hand that cannot be held, among standings ahead (0), tied (1) and behind (2).
BLOCKED = 3


@kernel
def count_wins(
    boards: NDArray[np.uint8],
    weights: NDArray[np.int32],
    tables: Tables,
    wins: NDArray[np.int32],
) -> None:
    """Add to `wins`[169 * 169] the weighted wins of class over class on each board."""
    classes = np.uint64(CLASS_COUNT)
    strengths, half_sorted, order = room_for_hands()
    passed = np.empty(CLASS_COUNT, np.int32)
    holder_class = np.empty(52 * 51, np.uint8)
    holders = np.empty(52, np.uint64)
    for n in range(boards.shape[0]):
        live = np.uint64(order_hands(boards[n], tables, strengths, half_sorted, order))
        weight = weights[n]
        passed[:] = 0
        holders[:] = 0
        first = np.uint64(0)
        while first < live:
            value = strengths[order[first]]
            last = first
            while last < live and strengths[order[last]] == value:
                combo = order[last]
                base = np.uint64(COMBO_CLASS[combo]) * classes
                for other in range(classes):
                    wins[base + other] += passed[other]
                for side in range(2):
                    card = np.uint64(COMBO_CARDS[combo, side])
                    for i in range(card * np.uint64(51), card * np.uint64(51) + holders[card]):
                        wins[base + np.uint64(holder_class[i])] -= weight
                last += np.uint64(1)
            for i in range(first, last):
                combo = order[i]
                passed[COMBO_CLASS[combo]] += weight
                for side in range(2):
                    card = np.uint64(COMBO_CARDS[combo, side])
                    holder_class[card * np.uint64(51) + holders[card]] = COMBO_CLASS[combo]
                    holders[card] += np.uint64(1)
            first = last


@kernel
def compare_boards(
    boards: NDArray[np.uint8],
    weights: NDArray[np.int16],
    tables: Tables,
    net: NDArray[np.int32],
) -> None:
    """Add to `net`[x, y] the weight of the boards x wins less those it loses."""
    strengths = np.empty((TILE, COMBO_COUNT), np.uint16)
    signed = strengths.view(np.int16)
    part = np.empty(COMBO_COUNT, np.int16)
    for first in range(0, boards.shape[0], TILE):
        count = min(TILE, boards.shape[0] - first)
        for n in range(count):
            fill_strengths(boards[first + n], tables, strengths[n])
        for mine in range(COMBO_COUNT):
            part[:] = 0
            for n in range(count):
                strength = signed[n, mine]
                if strength:
                    weight = weights[first + n]
                    for other in range(COMBO_COUNT):
                        gap = np.int16(strength - signed[n, other])
                        part[other] += weight * max(min(gap, np.int16(1)), np.int16(-1))
            for other in range(COMBO_COUNT):
                net[mine, other] += part[other]


@kernel
def compare_pairs(
    deck: NDArray[np.uint8],
    need: int,
    first: int,
    board_key: np.uint64,
    board_bits: np.uint64,
    ours: NDArray[np.int64],
    theirs: NDArray[np.int64],
    weights: NDArray[np.float64],
    tables: Tables,
    win: NDArray[np.float64],
    tie: NDArray[np.float64],
) -> None:
    """Compare all pairs on all boards whose highest new card is `deck[first]`.

    Cards of the deck are chosen in descending order; `chosen`, `keys` and `bits` are the stack of
    the choices above the innermost loop, which runs over the last card.
    """
    values, rows = tables.values, tables.rows
    mine = np.empty(len(ours), np.uint16)
    chosen = np.zeros(6, np.int64)
    keys, bits = np.empty(6, np.uint64), np.empty(6, np.uint64)
    keys[0], bits[0] = board_key, board_bits
    depth = 0
    chosen[0] = first
    while True:
        # Go down to the last card, always to the smallest card that leaves room for the rest.
        while depth < need - 1:
            card = deck[chosen[depth]]
            keys[depth + 1] = keys[depth] + CARD_KEY[card]
            bits[depth + 1] = bits[depth] + CARD_BIT[card]
            depth += 1
            chosen[depth] = need - 1 - depth
        low, high = 0, chosen[max(depth - 1, 0)]
        if depth == 0:
            low, high = first, first + 1
        for last in range(low, high):
            key, seen = keys[depth], bits[depth]
            if need > 0:
                card = deck[last]
                key += CARD_KEY[card]
                seen += CARD_BIT[card]
            for i in range(len(ours)):
                combo = np.uint64(ours[i])
                mine[i] = 0
                if not COMBO_BIT[combo] & seen:
                    row, column = place(key + COMBO_KEY[combo], seen + COMBO_BIT[combo])
                    mine[i] = values[rows[row] + column]
            for j in range(len(theirs)):
                other = np.uint64(theirs[j])
                if COMBO_BIT[other] & seen:
                    continue
                row, column = place(key + COMBO_KEY[other], seen + COMBO_BIT[other])
                value = values[rows[row] + column]
                for i in range(len(ours)):
                    if mine[i] >= value and not COMBO_BIT[ours[i]] & COMBO_BIT[other]:
                        if mine[i] > value:
                            win[i] += weights[j]
                        else:
                            tie[i] += weights[j]
        # Back up to the deepest choice (below the first) that can still grow.
        depth -= 1
        while depth > 0 and chosen[depth] + 1 >= chosen[depth - 1]:
            depth -= 1
        if depth <= 0:
            return
        chosen[depth] += 1


@kernel
def list_runouts(
    deck: NDArray[np.uint8],
    board: NDArray[np.uint8],
    previous: NDArray[np.int64],
    boards: NDArray[np.uint8],
    orbits: NDArray[np.float64],
) -> int:
    """Complete a board in every way that differs up to exchangeable suits; how many there are.

    `previous[suit]` is the suit before it among those it may be exchanged with, or -1. Of the
    boards that exchanges make from one another the one is kept whose rank sets, read as numbers,
    descend along exchangeable suits; the orbit has as many boards as those sets have orders.
    """
    need = 5 - len(board)
    chosen = np.arange(need)
    sets, nth, alike = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4, np.int64)
    count = 0
    while True:
        sets[:] = 0
        for i in range(need):
            card = deck[chosen[i]]
            sets[card & 3] += 1 << (card >> 2)
        orbit = 1
        for suit in range(4):
            before = previous[suit]
            nth[suit], alike[suit] = 1, 1
            if before >= 0:
                if sets[before] < sets[suit]:
                    orbit = 0
                    break
                nth[suit] = nth[before] + 1
                if sets[before] == sets[suit]:
                    alike[suit] = alike[before] + 1
                orbit = orbit * nth[suit] // alike[suit]
        if orbit:
            for i in range(len(board)):
                boards[count, i] = board[i]
            for i in range(need):
                boards[count, len(board) + i] = deck[chosen[i]]
            orbits[count] = orbit
            count += 1
        i = need - 1
        while i >= 0 and chosen[i] == len(deck) - need + i:
            i -= 1
        if i < 0:
            return count
        chosen[i] += 1
        for j in range(i + 1, need):
            chosen[j] = chosen[j - 1] + 1


@exact_kernel
def sweep_boards(
    boards: NDArray[np.uint8],
    orbits: NDArray[np.float64],
    live: NDArray[np.int64],
    ours: NDArray[np.bool_],
    weights: NDArray[np.float64],
    tables: Tables,
    win: NDArray[np.float64],
    tie: NDArray[np.float64],
) -> None:
    """Add to `win` and `tie` of each of our hands what it beats and ties on each board."""
    values, rows = tables.values, tables.rows
    strengths, half_sorted, order = room_for_hands()
    strengths[:] = 0
    beaten = np.empty(COMBO_COUNT, np.float64)
    held = np.empty(DECK_SIZE, np.float64)
    for n in range(boards.shape[0]):
        key, bits = sum_board(boards[n])
        for i in range(len(live)):
            hand = np.uint64(live[i])
            strengths[hand] = 0
            if not COMBO_BIT[hand] & bits:
                row, column = place(key + COMBO_KEY[hand], bits + COMBO_BIT[hand])
                strengths[hand] = values[rows[row] + column]
        count = np.uint64(sort_by_strength(strengths, half_sorted, order))
        passed = 0.0
        held[:] = 0.0
        first = np.uint64(0)
        while first < count:
            value = strengths[order[first]]
            last = first
            while last < count and strengths[order[last]] == value:
                combo = order[last]
                beaten[combo] = passed - held[COMBO_CARDS[combo, 0]] - held[COMBO_CARDS[combo, 1]]
                last += np.uint64(1)
            for i in range(first, last):
                combo = order[i]
                passed += weights[combo]
                held[COMBO_CARDS[combo, 0]] += weights[combo]
                held[COMBO_CARDS[combo, 1]] += weights[combo]
            for i in range(first, last):
                combo = order[i]
                if ours[combo]:
                    reached = passed - held[COMBO_CARDS[combo, 0]] - held[COMBO_CARDS[combo, 1]]
                    win[combo] += orbits[n] * beaten[combo]
                    tie[combo] += orbits[n] * (reached + weights[combo] - beaten[combo])
            first = last


@kernel
def roll_out(
    boards: NDArray[np.uint8],
    orbits: NDArray[np.float64],
    hero: int,
    now: NDArray[np.uint8],
    tables: Tables,
    counts: NDArray[np.float64],
    scores: NDArray[np.int64],
) -> None:
    """Compare one hand with all others on each board.

    `counts`[9] gains each opponent in the cell of its standing now and at the river; `scores` of a
    board is two for each opponent beaten and one for each tied.
    """
    values, rows = tables.values, tables.rows
    for n in range(boards.shape[0]):
        key, bits = sum_board(boards[n])
        row, column = place(key + COMBO_KEY[hero], bits + COMBO_BIT[hero])
        mine = values[rows[row] + column]
        score = 0
        for combo in range(np.uint64(COMBO_COUNT)):
            if now[combo] == BLOCKED or COMBO_BIT[combo] & bits:
                continue
            row, column = place(key + COMBO_KEY[combo], bits + COMBO_BIT[combo])
            other = values[rows[row] + column]
            then = np.uint64(mine == other) + np.uint64(2) * np.uint64(mine < other)
            counts[np.uint64(3) * np.uint64(now[combo]) + then] += orbits[n]
            score += 2 - int(then)
        scores[n] = score


@kernel
def value_boards(boards: NDArray[np.uint8], tables: Tables, strengths: NDArray[np.uint16]) -> None:
    """Strength of every hand on every board, 0 where they share a card."""
    for n in range(boards.shape[0]):
        fill_strengths(boards[n], tables, strengths[n])


@kernel
def sort_boards(strengths: NDArray[np.uint16], order: NDArray[np.uint16]) -> None:
    """The hands of every board, weakest first."""
    half_sorted = np.empty(COMBO_COUNT, np.uint16)
    for n in range(strengths.shape[0]):
        sort_by_strength(strengths[n], half_sorted, order[n])


@exact_kernel
def walk_boards(
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
def compare_hand(strengths: NDArray[np.int16], hand: int, net: NDArray[np.int16]) -> None:
    """Add to `net` the boards each hand wins from one, less those it loses."""
    for n in range(strengths.shape[0]):
        strength = strengths[n, hand]
        if strength:
            for other in range(COMBO_COUNT):
                gap = np.int16(strengths[n, other] - strength)
                net[other] += max(min(gap, np.int16(1)), np.int16(-1))

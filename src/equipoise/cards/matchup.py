"""Counting who wins: every pair of hands of two ranges on every completion of a board.

Every pair of hands that share no card, and every board, counts with the product of the two hands'
weights. Three exact methods give the same counts:

- **table**: before the flop, against a range that plays all suits of a class alike, the counts of
  :mod:`equipoise.cards.preflop` are summed;
- **pairs**: with few hands on one side, every board compares every pair;
- **sweep**: on each board the hands of both ranges are sorted by strength and walked once from the
  weakest up. The weight passed so far, less the weight of the passed hands that hold one of my two
  cards, is the weight I beat; after my whole group of equals is added, the same difference plus my
  own hand (taken off twice) is what I beat or tie. That is linear in the hands where pairs are
  quadratic. Suits that board, dead cards and both ranges do not tell apart are exchangeable: one
  board of each orbit is swept, weighted by the orbit's size, and the result is averaged over the
  exchanges.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CARDS, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    COMBO_BIT,
    COMBO_KEY,
    board_code,
    place,
    sort_by_strength,
    start_key,
    tables,
)
from equipoise.cards.preflop import table
from equipoise.kernel import cores, exact_kernel, kernel

Weights = NDArray[np.float64]
Progress = Callable[[int, int], None]

#: Measured nanoseconds: one evaluation, one comparison, sorting and walking one board.
_EVALUATE_NS, _COMPARE_NS, _SORT_NS = 2.5, 1.0, 8000.0
#: Work below this is done before a second thread has started.
_THREADS_PAY_NS = 2e7
_BOARDS_PER_TASK = 1024


@dataclass(frozen=True)
class Counts:
    """For each combination of a range: weight of the pairs and boards it wins, ties and meets."""

    win: Weights
    tie: Weights
    total: Weights
    method: str


@kernel
def _compare_pairs(
    deck: NDArray[np.uint8],
    need: int,
    first: int,
    board_key: np.uint64,
    board_bits: np.uint64,
    ours: NDArray[np.int64],
    theirs: NDArray[np.int64],
    weights: NDArray[np.float64],
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    win: NDArray[np.float64],
    tie: NDArray[np.float64],
) -> None:
    """Compare all pairs on all boards whose highest new card is `deck[first]`.

    Cards of the deck are chosen in descending order; `chosen`, `keys` and `bits` are the stack of
    the choices above the innermost loop, which runs over the last card.
    """
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
def _list_runouts(
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
def _sweep_boards(
    boards: NDArray[np.uint8],
    orbits: NDArray[np.float64],
    live: NDArray[np.int64],
    ours: NDArray[np.bool_],
    weights: NDArray[np.float64],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    win: NDArray[np.float64],
    tie: NDArray[np.float64],
) -> None:
    """Add to `win` and `tie` of each of our hands what it beats and ties on each board."""
    strengths = np.zeros(COMBO_COUNT, np.uint16)
    half_sorted = np.empty(COMBO_COUNT, np.uint16)
    order = np.empty(COMBO_COUNT, np.uint16)
    beaten = np.empty(COMBO_COUNT, np.float64)
    held = np.empty(DECK_SIZE, np.float64)
    for n in range(boards.shape[0]):
        key, bits = start, np.uint64(0)
        for j in range(5):
            key += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
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


def compatible_weight(weights: Weights) -> Weights:
    """For each combination, the weight of those that share no card with it."""
    held = np.bincount(COMBO_CARDS.ravel(), weights=np.repeat(weights, 2), minlength=DECK_SIZE)
    rest: Weights = weights.sum() - held[COMBO_CARDS].sum(axis=1) + weights
    return rest


def by_class(weights: Weights) -> Weights | None:
    """Weight of each class if all its combinations have the same: float64[169]."""
    per_class = np.bincount(COMBO_CLASS, weights=weights, minlength=CLASS_COUNT) / CLASS_SIZE
    return per_class if (per_class[COMBO_CLASS] == weights).all() else None


def count(
    ours: Weights,
    theirs: Weights,
    board: tuple[int, ...],
    dead: tuple[int, ...],
    threads: int | None,
    progress: Progress | None,
) -> Counts:
    """Count by the method that is quickest here."""
    unseen = DECK_SIZE - len(board) - len(dead)
    need = 5 - len(board)
    total = compatible_weight(theirs) * comb(unseen - 4, need)
    their_classes = by_class(theirs)
    if not board and not dead and their_classes is not None:
        win, tie = (part @ their_classes / CLASS_SIZE for part in (table().wins, table().ties))
        return Counts(win[COMBO_CLASS], tie[COMBO_CLASS], total, "table")
    swaps = exchangeable(board, dead, ours, theirs)
    n, m = np.count_nonzero(ours), np.count_nonzero(theirs)
    boards = comb(unseen, need)
    pairs_ns = boards * (_EVALUATE_NS * (n + m) + _COMPARE_NS * n * m)
    live = np.count_nonzero((ours > 0) | (theirs > 0))
    sweep_ns = boards / len(exchanges(swaps)) * (_EVALUATE_NS * live + _SORT_NS)
    workers = threads or (cores() if min(pairs_ns, sweep_ns) > _THREADS_PAY_NS else 1)
    if pairs_ns <= sweep_ns:
        win, tie = _count_pairs(ours, theirs, board, dead, workers, progress)
        return Counts(win, tie, total, "pairs")
    win, tie = _count_sweep(ours, theirs, board, dead, swaps, workers, progress)
    return Counts(win, tie, total, "sweep")


def live_deck(board: tuple[int, ...], dead: tuple[int, ...]) -> NDArray[np.uint8]:
    """Cards that may still come, in ascending order."""
    return np.setdiff1d(np.arange(DECK_SIZE), board + dead).astype(np.uint8)


def _count_pairs(
    ours: Weights,
    theirs: Weights,
    board: tuple[int, ...],
    dead: tuple[int, ...],
    threads: int,
    progress: Progress | None,
) -> tuple[Weights, Weights]:
    our_combos, their_combos = np.flatnonzero(ours), np.flatnonzero(theirs)
    # A board card that every hand of a side holds cannot come.
    fixed = tuple(
        int(card)
        for combos in (our_combos, their_combos)
        for card in (COMBO_CARDS[combos[0]] if len(combos) == 1 else ())
    )
    deck, need = live_deck(board, dead + fixed), 5 - len(board)
    key, bits = board_code(board, 7)
    values, rows = tables()
    # The highest new card names a task; high cards have the most boards below them and go first.
    firsts = list(range(len(deck) - 1, need - 2, -1)) if need else [0]

    def work(task: int) -> tuple[Weights, Weights]:
        win, tie = np.zeros(len(our_combos)), np.zeros(len(our_combos))
        _compare_pairs(
            *(deck, need, firsts[task], key, bits, our_combos, their_combos),
            *(theirs[their_combos], values, rows, win, tie),
        )
        return win, tie

    sizes = [comb(first, need - 1) if need else 1 for first in firsts]
    counted = _total(work, sizes, len(our_combos), threads, progress)
    win, tie = np.zeros(COMBO_COUNT), np.zeros(COMBO_COUNT)
    win[our_combos], tie[our_combos] = counted
    return win, tie


def _count_sweep(
    ours: Weights,
    theirs: Weights,
    board: tuple[int, ...],
    dead: tuple[int, ...],
    swaps: list[list[int]],
    threads: int,
    progress: Progress | None,
) -> tuple[Weights, Weights]:
    boards, orbits = runouts(board, dead, swaps)
    live = np.flatnonzero((ours > 0) | (theirs > 0))
    values, rows = tables()

    def work(task: int) -> tuple[Weights, Weights]:
        part = slice(task * _BOARDS_PER_TASK, (task + 1) * _BOARDS_PER_TASK)
        win, tie = np.zeros(COMBO_COUNT), np.zeros(COMBO_COUNT)
        start = np.uint64(start_key(7))
        _sweep_boards(
            *(boards[part], orbits[part], live, ours > 0, theirs, start, values, rows, win, tie)
        )
        return win, tie

    full, rest = divmod(len(boards), _BOARDS_PER_TASK)
    sizes = [_BOARDS_PER_TASK] * full + [rest] * (rest > 0)
    counted = _total(work, sizes, COMBO_COUNT, threads, progress)
    renamings = np.array(exchanges(swaps))
    win, tie = (np.maximum(part[renamings].mean(axis=0), 0.0) for part in counted)
    return win, tie


def runouts(
    board: tuple[int, ...], dead: tuple[int, ...], swaps: list[list[int]]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Completions of a board, one of each orbit of :func:`exchangeable` suits, and orbit sizes.

    >>> boards, orbits = runouts((), (), [[0, 1, 2, 3]])
    >>> boards.shape, float(orbits.sum())
    ((134459, 5), 2598960.0)
    """
    deck = live_deck(board, dead)
    previous = np.full(4, -1)
    for group in swaps:
        previous[group[1:]] = group[:-1]
    boards = np.empty((comb(len(deck), 5 - len(board)), 5), dtype=np.uint8)
    orbits = np.empty(len(boards))
    listed = _list_runouts(deck, np.array(board, dtype=np.uint8), previous, boards, orbits)
    return boards[:listed], orbits[:listed]


def _total(
    work: Callable[[int], tuple[Weights, Weights]],
    boards: list[int],
    size: int,
    threads: int,
    progress: Progress | None,
) -> tuple[Weights, Weights]:
    """Sum of the results of tasks, each of so many boards, always added in the same order."""
    win, tie, done = np.zeros(size), np.zeros(size), 0
    pool = ThreadPoolExecutor(threads)
    try:
        results = (
            pool.map(work, range(len(boards))) if threads > 1 else map(work, range(len(boards)))
        )
        for batch, (more_win, more_tie) in zip(boards, results, strict=True):
            win += more_win
            tie += more_tie
            done += batch
            if progress is not None:
                progress(done, sum(boards))
    finally:
        pool.shutdown(cancel_futures=True)
    return win, tie


@cache
def suit_exchange(suits: tuple[int, ...]) -> NDArray[np.int64]:
    """Number of each combination after suit s is renamed to suits[s]: int64[1326]."""
    cards = COMBO_CARDS.astype(np.int64)
    moved = 4 * (cards >> 2) + np.array(suits)[cards & 3]
    high, low = moved.max(axis=1), moved.min(axis=1)
    combos: NDArray[np.int64] = high * (high - 1) // 2 + low
    combos.setflags(write=False)
    return combos


def exchangeable(
    board: tuple[int, ...], dead: tuple[int, ...], *ranges: Weights
) -> list[list[int]]:
    """Suits in groups within which any exchange leaves board, dead cards and ranges the same."""

    def same(first: int, second: int) -> bool:
        suits = tuple(second if s == first else first if s == second else s for s in range(4))
        combos = suit_exchange(suits)
        moved = [{4 * (c >> 2) + suits[c & 3] for c in cards} for cards in (board, dead)]
        if moved != [{*board}, {*dead}]:
            return False
        return all((weights[combos] == weights).all() for weights in ranges)

    groups: list[list[int]] = []
    for suit in range(4):
        group = next((group for group in groups if same(group[0], suit)), None)
        if group is None:
            groups.append([suit])
        else:
            group.append(suit)
    return groups


def exchanges(groups: list[list[int]]) -> list[NDArray[np.int64]]:
    """Every renaming of suits within the groups, as numbers of the combinations."""
    group_of = {suit: i for i, group in enumerate(groups) for suit in group}
    return [
        suit_exchange(suits)
        for suits in permutations(range(4))
        if all(group_of[suit] == group_of[new] for suit, new in enumerate(suits))
    ]

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
from equipoise.cards.evaluator import board_code, tables
from equipoise.cards.kernels import compare_pairs, list_runouts, sweep_boards
from equipoise.cards.preflop import table
from equipoise.kernel import cores
from equipoise.run import Event, Listener

Weights = NDArray[np.float64]

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
    progress: Listener | None,
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
    progress: Listener | None,
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
    # The highest new card names a task; high cards have the most boards below them and go first.
    firsts = list(range(len(deck) - 1, need - 2, -1)) if need else [0]

    def work(task: int) -> tuple[Weights, Weights]:
        win, tie = np.zeros(len(our_combos)), np.zeros(len(our_combos))
        compare_pairs(
            *(deck, need, firsts[task], key, bits, our_combos, their_combos),
            *(theirs[their_combos], tables(), win, tie),
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
    progress: Listener | None,
) -> tuple[Weights, Weights]:
    boards, orbits = runouts(board, dead, swaps)
    live = np.flatnonzero((ours > 0) | (theirs > 0))

    def work(task: int) -> tuple[Weights, Weights]:
        part = slice(task * _BOARDS_PER_TASK, (task + 1) * _BOARDS_PER_TASK)
        win, tie = np.zeros(COMBO_COUNT), np.zeros(COMBO_COUNT)
        sweep_boards(boards[part], orbits[part], live, ours > 0, theirs, tables(), win, tie)
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
    listed = list_runouts(deck, np.array(board, dtype=np.uint8), previous, boards, orbits)
    return boards[:listed], orbits[:listed]


def _total(
    work: Callable[[int], tuple[Weights, Weights]],
    boards: list[int],
    size: int,
    threads: int,
    progress: Listener | None,
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
                progress(Event(done, sum(boards)))
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

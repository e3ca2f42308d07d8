"""All-in equity before the flop: every class of hole cards against every other, exactly.

For classes a and b the table counts, over every pair of combinations that share no card and every
board of the 48 cards left, how often a wins and how often they tie. The wins are shipped as a small
file; :func:`rebuild` counts them anew as follows.

Boards that differ only by a renaming of suits deal every *class* the same luck, so the 134,459
boards that are distinct up to suits, each weighted by the number of boards it stands for, replace
all 2,598,960. On one board the 1,081 hands are walked from weakest to strongest while a vector
counts, class by class, the hands already passed: each hand adds that vector to the wins of its
class and takes back the passed hands that hold one of its own two cards. Ties need no counting:
what neither side wins is tied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CARDS, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    fill_strengths,
    sort_by_strength,
    start_key,
    tables,
)
from equipoise.cards.isomorphism import river_boards
from equipoise.errors import ArtefactError, CardError
from equipoise.files import written
from equipoise.kernel import kernel, over_chunks

#: Boards of five cards from the 48 that two hands leave.
BOARDS_PER_PAIR = 1_712_304
#: Where the shipped counts are.
DATA_FILE = Path(__file__).parent / "data" / "preflop.npy"

#: Boards between two reports of progress.
_BATCH = 4096


@kernel
def _count_wins(
    boards: NDArray[np.uint8],
    weights: NDArray[np.int32],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    wins: NDArray[np.int32],
) -> None:
    """Add to `wins`[169 * 169] the weighted wins of class over class on each board."""
    classes = np.uint64(CLASS_COUNT)
    strengths = np.empty(COMBO_COUNT, np.uint16)
    half_sorted = np.empty(COMBO_COUNT, np.uint16)
    order = np.empty(COMBO_COUNT, np.uint16)
    passed = np.empty(CLASS_COUNT, np.int32)
    holder_class = np.empty(52 * 51, np.uint8)
    holders = np.empty(52, np.uint64)
    for n in range(boards.shape[0]):
        key, bits = start, np.uint64(0)
        for j in range(5):
            key += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
        fill_strengths(key, bits, values, rows, strengths)
        live = np.uint64(sort_by_strength(strengths, half_sorted, order))
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


@cache
def class_pairs() -> NDArray[np.int64]:
    """Pairs of combinations of two classes that share no card: int64[169, 169].

    >>> int(class_pairs()[0, 0]), int(class_pairs().sum()) == 1326 * 1225
    (6, True)
    """
    holds = np.zeros((CLASS_COUNT, 52), dtype=np.int64)
    np.add.at(holds, (COMBO_CLASS[:, None], COMBO_CARDS), 1)
    pairs = np.outer(CLASS_SIZE, CLASS_SIZE) - holds @ holds.T
    # Equal combinations share two cards and were taken off twice.
    pairs[np.diag_indices(CLASS_COUNT)] += CLASS_SIZE
    pairs.setflags(write=False)
    return pairs


@dataclass(frozen=True)
class PreflopTable:
    """Exact all-in results of class against class, in units of a pair of hands on a board.

    >>> from equipoise.cards.combos import class_of
    >>> aces, kings = class_of(51, 50), class_of(47, 46)
    >>> round(table().equity(aces, kings), 6)
    0.819461
    """

    wins: NDArray[np.int64]
    """Wins of the row's class over the column's: int64[169, 169]."""

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Pairs of combinations that share no card: int64[169, 169]."""
        return class_pairs()

    @property
    def ties(self) -> NDArray[np.int64]:
        """Ties of the row's class with the column's: int64[169, 169]."""
        ties: NDArray[np.int64] = self.pairs * BOARDS_PER_PAIR - self.wins - self.wins.T
        return ties

    def equity(self, class_a: int, class_b: int) -> float:
        """Mean share of the pot of the first class against the second."""
        for hand_class in (class_a, class_b):
            if not 0 <= hand_class < CLASS_COUNT:
                raise CardError(f"{hand_class}: a class is a number from 0 to 168")
        return float(self.matrix()[class_a, class_b])

    def matrix(self) -> NDArray[np.float64]:
        """Equity of the row's class against the column's: float64[169, 169]."""
        total = self.pairs * BOARDS_PER_PAIR
        equity: NDArray[np.float64] = (total + self.wins - self.wins.T) / (2 * total)
        return equity

    def save(self, path: Path = DATA_FILE) -> None:
        """Write the wins, whole or not at all."""
        with written(path) as file:
            np.save(file, self.wins.astype(np.int32), allow_pickle=False)


def load(path: Path = DATA_FILE) -> PreflopTable:
    """Read a table that :meth:`PreflopTable.save` wrote."""
    advice = "restore it from the package, or make it anew with equipoise.cards.preflop.rebuild()"
    try:
        wins = np.load(path, allow_pickle=False)
    except Exception as error:
        # What is said of a damaged file is up to NumPy and the tokenizer of Python.
        raise ArtefactError(f"{path}: no preflop table can be read there; {advice}") from error
    if wins.shape != (CLASS_COUNT, CLASS_COUNT) or wins.dtype != np.int32:
        raise ArtefactError(f"{path}: not a table of 169 × 169 counts; {advice}")
    wins = wins.astype(np.int64)
    result = PreflopTable(wins)
    if (wins < 0).any() or (result.ties < 0).any():
        raise ArtefactError(f"{path}: counts that no deal of cards gives; {advice}")
    wins.setflags(write=False)
    return result


@cache
def table() -> PreflopTable:
    """The shipped table."""
    return load()


@cache
def against_random() -> NDArray[np.float64]:
    """Exact equity of each class against a uniformly random other hand: float64[169].

    >>> [round(float(against_random()[hand_class]), 5) for hand_class in (0, 168)]
    [0.85204, 0.50334]
    """
    wins, losses = table().wins.sum(axis=1), table().wins.sum(axis=0)
    total = CLASS_SIZE * 1225 * BOARDS_PER_PAIR
    equity: NDArray[np.float64] = (total + wins - losses) / (2 * total)
    equity.setflags(write=False)
    return equity


def rebuild(
    progress: Callable[[int, int], None] | None = None, threads: int | None = None
) -> PreflopTable:
    """Count the table anew; `progress(done, total)` is called with boards, ending at the total."""
    indexer = river_boards()
    every = np.arange(indexer.size(0))
    boards = indexer.unindex_many(0, every)
    weights = indexer.multiplicity_many(0, every).astype(np.int32)
    values, rows = tables()
    counts: list[NDArray[np.int32]] = []

    def work(first: int, last: int) -> None:
        # No count of a class pair passes 12 * 12 * 2,598,960, well inside 32 bits.
        wins = np.zeros(CLASS_COUNT * CLASS_COUNT, dtype=np.int32)
        part = slice(begin + first, begin + last)
        _count_wins(boards[part], weights[part], np.uint64(start_key(7)), values, rows, wins)
        counts.append(wins)

    total = np.zeros(CLASS_COUNT * CLASS_COUNT, dtype=np.int64)
    for begin in range(0, len(boards), _BATCH):
        size = min(_BATCH, len(boards) - begin)
        over_chunks(work, size, threads)
        while counts:
            total += counts.pop()
        if progress is not None:
            progress(begin + size, len(boards))
    return PreflopTable(total.reshape(CLASS_COUNT, CLASS_COUNT))

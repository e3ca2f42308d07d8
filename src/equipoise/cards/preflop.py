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

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CARDS, COMBO_CLASS
from equipoise.cards.evaluator import tables
from equipoise.cards.isomorphism import river_boards
from equipoise.cards.kernels import count_wins
from equipoise.errors import ArtefactError, CardError
from equipoise.files import written
from equipoise.kernel import over_chunks
from equipoise.run import Event, Listener

#: Boards of five cards from the 48 that two hands leave.
BOARDS_PER_PAIR = 1_712_304
#: Where the shipped counts are.
DATA_FILE = Path(__file__).parent / "data" / "preflop.npy"

#: Boards between two reports of progress.
_BATCH = 4096


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


def rebuild(progress: Listener | None = None, threads: int | None = None) -> PreflopTable:
    """Count the table anew; `progress` hears of boards, ending at the total."""
    indexer = river_boards()
    every = np.arange(indexer.size(0))
    boards = indexer.unindex_many(0, every)
    weights = indexer.multiplicity_many(0, every).astype(np.int32)
    counts: list[NDArray[np.int32]] = []

    def work(first: int, last: int) -> None:
        # No count of a class pair passes 12 * 12 * 2,598,960, well inside 32 bits.
        wins = np.zeros(CLASS_COUNT * CLASS_COUNT, dtype=np.int32)
        part = slice(begin + first, begin + last)
        count_wins(boards[part], weights[part], tables(), wins)
        counts.append(wins)

    total = np.zeros(CLASS_COUNT * CLASS_COUNT, dtype=np.int64)
    for begin in range(0, len(boards), _BATCH):
        size = min(_BATCH, len(boards) - begin)
        over_chunks(work, size, threads)
        while counts:
            total += counts.pop()
        if progress is not None:
            progress(Event(begin + size, len(boards)))
    return PreflopTable(total.reshape(CLASS_COUNT, CLASS_COUNT))

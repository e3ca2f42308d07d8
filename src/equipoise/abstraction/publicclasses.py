"""Public classes of flops: how the suits fall, and whom the ranks favour.

Fell Omen 2 lets players know, besides their bucket, which of 11 classes the flop is in. A flop of
one suit is class 0. Flops of two suits and of three are each divided into five by

    FlopWt = HR · (PRR - PC),

where HR(j) is the chance that hole cards of class j have the best hand on this flop against a random
hand, PRR(j) the chance to hold them after re-raising before the flop and PC(j) after only calling: a
high weight is a flop that the strong ranges like. The five are equally likely as nearly as flops
allow, in ascending order of weight. Flushes are to be ignored in HR, and they are: where the board
shows three of a suit there is but one class, and elsewhere nobody has a flush yet.

The same rule makes classes of the boards of four and five cards: three or more of a suit, two of a
suit (one pair of them or two), or, on the turn, all of different suits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.abstraction.boardindex import BOARD_CLASSES, board_index
from equipoise.abstraction.features.kernels import weigh_boards
from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_COUNT
from equipoise.cards.evaluator import tables
from equipoise.cards.preflop import against_random
from equipoise.errors import GameError
from equipoise.kernel import over_chunks

#: Groups by weight in which boards of two suits, or three, are divided.
GROUPS = 5


@dataclass(frozen=True)
class BoardClasses:
    """Public classes of the boards of one size."""

    #: Class of each canonical board: int8[boards].
    of_board: NDArray[np.int8]
    #: Probability of each class: they sum to 1.
    probabilities: NDArray[np.float64]
    #: FlopWt of each canonical board.
    weights: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.probabilities)


def strongest(share: float) -> NDArray[np.float64]:
    """Chance of each class of hole cards in the best `share` of hands by equity: float64[169].

    It stands in for the ranges of a trained strategy: the best hands re-raise, the others call.

    >>> top = strongest(0.1)
    >>> round(float(top.sum()), 6), int((top > 0).sum())
    (1.0, 21)
    """
    if not 0 < share <= 1:
        raise GameError(f"a share of {share}: choose above 0 and up to 1")
    order = np.argsort(-against_random(), kind="stable")
    sizes = CLASS_SIZE[order].astype(np.float64)
    room = share * COMBO_COUNT
    taken = np.clip(room - (np.cumsum(sizes) - sizes), 0, sizes)
    found = np.zeros(CLASS_COUNT)
    found[order] = taken / room
    return found


def board_classes(
    size: int = 3, reraise: ArrayLike | None = None, call: ArrayLike | None = None
) -> BoardClasses:
    """Public classes of the boards of three, four or five cards: 11, 11 or 6 of them.

    `reraise` and `call` are the chances of the 169 classes of hole cards after the two actions.
    Without them the best tenth of hands re-raises and the others call.

    >>> flops = board_classes()
    >>> flops.count, round(float(flops.probabilities[0]), 5)
    (11, 0.05176)
    """
    if size not in BOARD_CLASSES:
        raise GameError(f"{size} cards: public classes are of boards of 3, 4 or 5")
    best = strongest(0.1)
    rest = (CLASS_SIZE / COMBO_COUNT - 0.1 * best) / 0.9
    after_reraise = _range(best if reraise is None else reraise, "reraise")
    after_call = _range(rest if call is None else call, "call")
    index = board_index(size)
    weights = _board_weights(index.boards, after_reraise - after_call)
    suited = np.bincount(
        (np.arange(len(index.boards))[:, None] * 4 + index.boards % 4).ravel(),
        minlength=4 * len(index.boards),
    )
    most = suited.reshape(-1, 4).max(axis=1)
    of_board = np.zeros(len(weights), dtype=np.int8)
    used = 1
    for alike in (2, 1):
        here = np.flatnonzero(most == alike)
        if len(here):
            of_board[here] = used + _groups(weights[here], index.multiplicity[here])
            used += GROUPS
    probabilities = np.bincount(of_board, index.multiplicity, used) / index.multiplicity.sum()
    return BoardClasses(of_board, probabilities, weights)


def _range(chances: ArrayLike, name: str) -> NDArray[np.float64]:
    found = np.asarray(chances, dtype=np.float64)
    if found.shape != (CLASS_COUNT,) or found.min() < 0 or abs(found.sum() - 1) > 1e-6:
        raise GameError(f"{name}: give the chances of the 169 classes of hole cards, in all 1")
    return found


def _board_weights(boards: NDArray[np.uint8], shift: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.empty(len(boards))

    def work(first: int, last: int) -> None:
        weigh_boards(boards[first:last], tables(), shift, weights[first:last])

    over_chunks(work, len(boards))
    return weights


def _groups(weights: NDArray[np.float64], mass: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group of each board, about equally likely, ascending in weight."""
    order = np.argsort(weights, kind="stable")
    middle = np.cumsum(mass[order]) - mass[order] / 2
    group = np.empty(len(weights), dtype=np.int64)
    group[order] = np.minimum(middle * GROUPS // mass.sum(), GROUPS - 1)
    return group

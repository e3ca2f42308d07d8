"""Strength and potential of every hand on every flop and turn, by enumeration.

The figures are those of :mod:`equipoise.cards.strength`, one hand at a time there: *strength*, the
chance to be ahead now; *positive* potential, the chance to be ahead at the river for a hand that is
not now; *negative* potential, the reverse; ties count half throughout.

With hands numbered as bits, a set of hands is a row of words. For each hand a row of those it is
behind now, and of those it ties, is written once a board. On each runout hands are then walked from
the weakest while one row gathers those passed; the opponents who were ahead and have been overtaken
are the bits that two rows share, some twenty instructions for a thousand opponents. Runouts that
differ by a renaming which leaves the board as it is are walked once.

Rollout equity is strength · (1 − negative) + (1 − strength) · positive, so negative potential needs
no count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.features.equities import board_count, in_batches, moments, read_only
from equipoise.abstraction.features.kernels import NO_EQUITY, roll_out_boards
from equipoise.cache import cached_table
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.evaluator import tables
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import GameError
from equipoise.run import Listener


class Potentials(NamedTuple):
    """Figures of every hand on a street, :data:`NO_EQUITY` where the board blocks it."""

    strength: NDArray[np.float32]
    """Chance to be ahead now, ties half: float32[boards, 1326], as the others"""
    positive: NDArray[np.float32]
    """Chance that a hand not ahead now is ahead at the river"""
    negative: NDArray[np.float32]
    """Chance that a hand ahead now is behind at the river"""


def roll_out(
    boards: NDArray[np.uint8], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Strength and positive potential on boards of three or four cards: float32[2, boards, 1326].

    A flop takes some hundred milliseconds, a turn some three.
    """
    size = boards.shape[1]
    if size not in (3, 4):
        raise GameError(f"{size} cards: potential is of the flop or the turn, 3 or 4 cards")
    found = np.empty((2, len(boards), COMBO_COUNT), np.float32) if out is None else out
    roll_out_boards(read_only(np.ascontiguousarray(boards)), tables(), found)
    return found


def negative_potential(
    strength: NDArray[np.float32], positive: NDArray[np.float32], equity: NDArray[np.float32]
) -> NDArray[np.float32]:
    """What the other three figures leave for negative potential; 0 for a hand never ahead.

    >>> strength, positive, equity = (np.array([x], np.float32) for x in (0.5, 0.2, 0.45))
    >>> negative_potential(strength, positive, equity).round(3)
    array([0.3], dtype=float32)
    """
    kept = equity.astype(np.float64) - (1.0 - strength) * positive
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = np.clip(1.0 - kept / strength, 0.0, 1.0)
    lost[strength == 0] = 0.0
    lost[strength == NO_EQUITY] = NO_EQUITY
    found: NDArray[np.float32] = lost.astype(np.float32)
    return found


def potentials(street: int, progress: Listener | None = None) -> Potentials:
    """Potentials of every hand on the flop (1) or the turn (2), mapped from the cache."""
    if street not in (1, 2):
        raise GameError(f"street {street}: potential is of the flop (1) or the turn (2)")
    boards = board_index(BOARD_SIZES[street]).boards

    def fill(out: NDArray[np.float32]) -> None:
        equity = moments(street, progress).mean
        batch = 8 if street == 1 else 128
        in_batches(lambda a, b: roll_out(boards[a:b], out[:2, a:b]), len(boards), progress, batch)
        out[2] = negative_potential(out[0], out[1], equity)

    shape = (3, board_count(street), COMBO_COUNT)
    return Potentials(*cached_table("potentials", {"street": street}, shape, np.float32, fill))

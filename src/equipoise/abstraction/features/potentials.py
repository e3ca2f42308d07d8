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

from equipoise.abstraction.boardindex import RENAMED_CARD, RENAMED_COMBO, board_index
from equipoise.abstraction.features.equities import NO_EQUITY, board_count, in_batches, moments
from equipoise.abstraction.lookup import BOARD_SIZES
from equipoise.abstraction.tablecache import Progress, cached_table
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    COMBO_BIT,
    fill_strengths,
    popcount,
    sort_by_strength,
    start_key,
    tables,
)
from equipoise.errors import GameError
from equipoise.kernel import kernel

#: Words of 64 bits for 1,326 hands, filled up to whole vectors of eight.
_WORDS = 24
_ONE, _LOW_BITS, _WORD_SHIFT = np.uint64(1), np.uint64(63), np.uint64(6)


@kernel
def _stand(
    now: NDArray[np.uint16],
    behind: NDArray[np.uint64],
    tied: NDArray[np.uint64],
    found: NDArray[np.float32],
) -> None:
    """Fill rows of the hands each hand is behind and tied with now; `found`[combo] = strength."""
    words = np.uint64(_WORDS)
    behind[:], tied[:] = 0, 0
    for combo in range(np.uint64(COMBO_COUNT)):
        mine = now[combo]
        if not mine:
            found[combo] = NO_EQUITY
            continue
        score, opponents = 0, 0
        for other in range(np.uint64(COMBO_COUNT)):
            theirs = now[other]
            if theirs and not COMBO_BIT[combo] & COMBO_BIT[other]:
                cell = combo * words + (other >> _WORD_SHIFT)
                bit = _ONE << (other & _LOW_BITS)
                opponents += 1
                if theirs > mine:
                    behind[cell] |= bit
                elif theirs == mine:
                    tied[cell] |= bit
                    score += 1
                else:
                    score += 2
        found[combo] = score / (2 * opponents)


@kernel
def _gather(
    order: NDArray[np.uint16],
    live: int,
    strengths: NDArray[np.uint16],
    behind: NDArray[np.uint64],
    tied: NDArray[np.uint64],
    passed: NDArray[np.uint64],
    level: NDArray[np.uint64],
    weight: int,
    gained: NDArray[np.int64],
) -> None:
    """Add one river's overtakings, in half opponents and `weight` times, to `gained`.

    `passed` holds the hands that are weaker, `level` these and those of the same strength.
    """
    words = np.uint64(_WORDS)
    passed[:], level[:] = 0, 0
    first, count = np.uint64(0), np.uint64(live)
    while first < count:
        value = strengths[order[first]]
        last = first
        while last < count and strengths[order[last]] == value:
            combo = np.uint64(order[last])
            level[combo >> _WORD_SHIFT] |= _ONE << (combo & _LOW_BITS)
            last += _ONE
        for i in range(first, last):
            combo = np.uint64(order[i])
            base = combo * words
            half = np.uint64(0)
            for w in range(words):
                ahead = behind[base + w]
                half += popcount(ahead & passed[w]) + popcount(ahead & level[w])
                half += popcount(tied[base + w] & passed[w])
            gained[combo] += weight * np.int64(half)
        for i in range(first, last):
            combo = np.uint64(order[i])
            passed[combo >> _WORD_SHIFT] |= _ONE << (combo & _LOW_BITS)
        first = last


@kernel
def _orbit(first: int, second: int, symmetries: NDArray[np.uint8], count: int) -> int:
    """Runouts that the board's own renamings make of this one; 0 if an earlier one stands for it."""
    fixing = 0
    mine = max(first, second) * 52 + min(first, second)
    for s in range(count):
        one, two = RENAMED_CARD[symmetries[s], first], RENAMED_CARD[symmetries[s], second]
        image = np.int64(max(one, two)) * 52 + np.int64(min(one, two))
        if image < mine:
            return 0
        fixing += image == mine
    return count // fixing


@kernel
def _roll_out(
    boards: NDArray[np.uint8],
    start_now: np.uint64,
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    out: NDArray[np.float32],
) -> None:
    """Strength and positive potential of every hand on each board: `out`[0 or 1, board, combo]."""
    strengths, now = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    half_sorted, order = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    behind = np.empty(COMBO_COUNT * _WORDS, np.uint64)
    tied = np.empty(COMBO_COUNT * _WORDS, np.uint64)
    passed, level = np.empty(_WORDS, np.uint64), np.empty(_WORDS, np.uint64)
    gathered, gained = np.empty(COMBO_COUNT, np.int64), np.empty(COMBO_COUNT, np.int64)
    symmetries = np.empty(24, np.uint8)
    size = boards.shape[1]
    # Cards that neither the board nor two hands hold: 45 for two streets, or 44 for one.
    runouts = 990 if size == 3 else 44
    opponents = 1081 if size == 3 else 1035
    for n in range(boards.shape[0]):
        key, key_now, bits = start, start_now, np.uint64(0)
        for j in range(size):
            key += CARD_KEY[boards[n, j]]
            key_now += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
        fill_strengths(key_now, bits, values, rows, now)
        _stand(now, behind, tied, out[0, n])
        count = 0
        for renaming in range(24):
            image = np.uint64(0)
            for j in range(size):
                image += CARD_BIT[RENAMED_CARD[renaming, boards[n, j]]]
            if image == bits:
                symmetries[count] = renaming
                count += 1
        gathered[:] = 0
        for turn in range(52):
            if CARD_BIT[turn] & bits:
                continue
            # With one card to come, the pair is that card twice.
            for river in range(0 if size == 3 else turn, turn if size == 3 else turn + 1):
                if CARD_BIT[river] & bits:
                    continue
                weight = _orbit(turn, river, symmetries, count)
                if not weight:
                    continue
                full_key, full_bits = key + CARD_KEY[turn], bits + CARD_BIT[turn]
                if size == 3:
                    full_key += CARD_KEY[river]
                    full_bits += CARD_BIT[river]
                fill_strengths(full_key, full_bits, values, rows, strengths)
                live = sort_by_strength(strengths, half_sorted, order)
                _gather(order, live, strengths, behind, tied, passed, level, weight, gathered)
        # What one runout says of a hand, its renamings say of the renamed hands.
        for combo in range(COMBO_COUNT):
            gained[combo] = 0
            for s in range(count):
                gained[combo] += gathered[RENAMED_COMBO[symmetries[s], combo]]
            gained[combo] //= count
        for combo in range(COMBO_COUNT):
            strength = out[0, n, combo]
            if strength == np.float32(NO_EQUITY):
                out[1, n, combo] = NO_EQUITY
            else:
                not_ahead = np.rint((1.0 - strength) * (2 * opponents)) * runouts
                out[1, n, combo] = gained[combo] / not_ahead if not_ahead else 0.0


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
    values, rows = tables()
    starts = np.uint64(start_key(size + 2)), np.uint64(start_key(7))
    _roll_out(boards, *starts, values, rows, found)
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


def potentials(street: int, progress: Progress | None = None) -> Potentials:
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

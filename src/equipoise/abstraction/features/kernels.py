"""Features of hands counted over all boards and next cards: the compiled part.

What is counted, and why it is right, is told where each kernel is used: :mod:`.equities`,
:mod:`.ochs`, :mod:`.outlook`, :mod:`.potentials` and :mod:`equipoise.abstraction.publicclasses`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_CARD, RENAMED_COMBO, split_place
from equipoise.abstraction.lookup import NOT_DEALT
from equipoise.cards.combos import CLASS_COUNT, COMBO_CARDS, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import (
    CARD_BIT,
    COMBO_BIT,
    Tables,
    fill_strengths,
    order_hands,
    room_for_hands,
    sum_board,
)
from equipoise.kernel import kernel, popcount

#: Score of a river hand that always wins: two for each of the hands an opponent may hold.
FULL_SCORE = 2 * 990
#: Moment or potential of a hand that the board blocks.
NO_EQUITY = -1.0

#: Entry of an equity of 1 against a cluster of opponents.
FULL_STEPS = 254
#: Entry of a hand that the board blocks.
NO_STEPS = 255
#: Most clusters of opponents: as many fit the lanes of a vector.
MOST_CLUSTERS = 16

#: Words of 64 bits for 1,326 hands, filled up to whole vectors of eight.
_WORDS = 24
_ONE, _LOW_BITS, _WORD_SHIFT = np.uint64(1), np.uint64(63), np.uint64(6)


@kernel
def score_boards(
    boards: NDArray[np.uint8],
    tables: Tables,
    out: NDArray[np.uint16],
) -> None:
    """Score of every hand on each board of five cards."""
    strengths, half_sorted, order = room_for_hands()
    passed = np.empty(52, np.uint64)
    for n in range(boards.shape[0]):
        live = np.uint64(order_hands(boards[n], tables, strengths, half_sorted, order))
        out[n, :] = NOT_DEALT
        passed[:] = 0
        first = np.uint64(0)
        while first < live:
            value = strengths[order[first]]
            last = first
            while last < live and strengths[order[last]] == value:
                combo = order[last]
                hi, lo = COMBO_CARDS[combo, 0], COMBO_CARDS[combo, 1]
                out[n, combo] = first - passed[hi] - passed[lo]
                last += np.uint64(1)
            for i in range(first, last):
                passed[COMBO_CARDS[order[i], 0]] += np.uint64(1)
                passed[COMBO_CARDS[order[i], 1]] += np.uint64(1)
            for i in range(first, last):
                combo = order[i]
                hi, lo = COMBO_CARDS[combo, 0], COMBO_CARDS[combo, 1]
                # Of the hands that share a card only the hand itself is taken off twice.
                out[n, combo] += last - passed[hi] - passed[lo] + np.uint64(1)
            first = last


@kernel
def moments_from_scores(
    children: NDArray[np.uint32], scores: NDArray[np.uint16], out: NDArray[np.float32]
) -> None:
    """Mean and spread of river equity: `out`[0 or 1, board, combination]."""
    total, square = np.empty(COMBO_COUNT, np.int64), np.empty(COMBO_COUNT, np.int64)
    count = np.empty(COMBO_COUNT, np.int64)
    for n in range(children.shape[0]):
        total[:], square[:], count[:] = 0, 0, 0
        for j in range(children.shape[1]):
            board, renaming = split_place(children[n, j])
            for combo in range(np.uint64(COMBO_COUNT)):
                score = scores[board, np.uint64(RENAMED_COMBO[renaming, combo])]
                if score != NOT_DEALT:
                    total[combo] += np.int64(score)
                    square[combo] += np.int64(score) * np.int64(score)
                    count[combo] += 1
        for combo in range(COMBO_COUNT):
            dealt = count[combo]
            if dealt:
                # Whole numbers up to the root: equal histograms have equal moments.
                apart = dealt * square[combo] - total[combo] * total[combo]
                out[0, n, combo] = total[combo] / (dealt * FULL_SCORE)
                out[1, n, combo] = np.sqrt(float(apart)) / (dealt * FULL_SCORE)
            else:
                out[0, n, combo] = NO_EQUITY
                out[1, n, combo] = NO_EQUITY


@kernel
def moments_from_moments(
    children: NDArray[np.uint32],
    points: float,
    mean: NDArray[np.float32],
    river_spread: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Mean, spread and spread over rivers, from those of the next street.

    A mean times `points` is a whole number, the sum of scores behind it; they are added as such.
    """
    total, count = np.empty(COMBO_COUNT, np.int64), np.empty(COMBO_COUNT, np.int64)
    square, inside = np.empty(COMBO_COUNT), np.empty(COMBO_COUNT)
    for n in range(children.shape[0]):
        total[:], square[:], inside[:], count[:] = 0, 0.0, 0.0, 0
        for j in range(children.shape[1]):
            board, renaming = split_place(children[n, j])
            for combo in range(np.uint64(COMBO_COUNT)):
                renamed = np.uint64(RENAMED_COMBO[renaming, combo])
                equity = np.float64(mean[board, renamed])
                if equity >= 0.0:
                    spread = np.float64(river_spread[board, renamed])
                    total[combo] += np.int64(equity * points + 0.5)
                    square[combo] += equity * equity
                    inside[combo] += spread * spread
                    count[combo] += 1
        for combo in range(COMBO_COUNT):
            dealt = count[combo]
            if dealt:
                equity = total[combo] / (dealt * points)
                between = max(0.0, square[combo] / dealt - equity * equity)
                out[0, n, combo] = equity
                out[1, n, combo] = np.sqrt(between)
                out[2, n, combo] = np.sqrt(between + inside[combo] / dealt)
            else:
                out[:, n, combo] = NO_EQUITY


@kernel
def below_borders(
    children: NDArray[np.uint32],
    table: NDArray[Any],
    missing: Any,
    borders: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Next cards that lead to a value below each border, of the hands for which there is one."""
    cells = borders.shape[0]
    for n in range(children.shape[0]):
        out[n, :, :] = 0
        for j in range(children.shape[1]):
            board, renaming = split_place(children[n, j])
            for combo in range(np.uint64(COMBO_COUNT)):
                value = table[board, np.uint64(RENAMED_COMBO[renaming, combo])]
                if value != missing:
                    for k in range(cells):
                        out[n, combo, k] += value < borders[k]


@kernel
def count_values(
    children: NDArray[np.uint32], table: NDArray[np.uint16], out: NDArray[Any]
) -> None:
    """Next cards that lead to each value of `table`."""
    for n in range(children.shape[0]):
        out[n, :, :] = 0
        for j in range(children.shape[1]):
            board, renaming = split_place(children[n, j])
            for combo in range(np.uint64(COMBO_COUNT)):
                value = table[board, np.uint64(RENAMED_COMBO[renaming, combo])]
                if value != NOT_DEALT:
                    out[n, combo, np.uint64(value)] += 1


@kernel
def mean_points(
    children: NDArray[np.uint32],
    table: NDArray[np.uint16],
    points: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Mean of the points of the next classes for every hand on each board; 0 where blocked."""
    size = np.uint64(points.shape[1])
    count = np.empty(COMBO_COUNT, np.float32)
    for n in range(children.shape[0]):
        out[n, :, :] = np.float32(0)
        count[:] = np.float32(0)
        for j in range(children.shape[1]):
            board, renaming = split_place(children[n, j])
            for combo in range(np.uint64(COMBO_COUNT)):
                found = table[board, np.uint64(RENAMED_COMBO[renaming, combo])]
                if found != NOT_DEALT:
                    count[combo] += np.float32(1)
                    for d in range(size):
                        out[n, combo, d] += points[np.uint64(found), d]
        for combo in range(np.uint64(COMBO_COUNT)):
            if count[combo] > 0:
                for d in range(size):
                    out[n, combo, d] /= count[combo]


@kernel
def sweep_clusters(
    boards: NDArray[np.uint8],
    cluster: NDArray[np.uint64],
    clusters: int,
    tables: Tables,
    out: NDArray[np.uint8],
) -> None:
    """Equity of every hand against each cluster: `out`[board, combination, cluster].

    Counters have a row of `MOST_CLUSTERS` for each card, and one more for all hands.
    """
    strengths, half_sorted, order = room_for_hands()
    lanes = np.uint64(MOST_CLUSTERS)
    every = np.uint64(52) * lanes
    passed, dealt = np.empty(53 * MOST_CLUSTERS, np.int32), np.empty(53 * MOST_CLUSTERS, np.int32)
    score = np.empty(COMBO_COUNT * MOST_CLUSTERS, np.int32)
    for n in range(boards.shape[0]):
        live = np.uint64(order_hands(boards[n], tables, strengths, half_sorted, order))
        passed[:] = 0
        first = np.uint64(0)
        while first < live:
            value = strengths[order[first]]
            last = first
            while last < live and strengths[order[last]] == value:
                combo = np.uint64(order[last])
                hi = np.uint64(COMBO_CARDS[combo, 0]) * lanes
                lo = np.uint64(COMBO_CARDS[combo, 1]) * lanes
                base = combo * lanes
                for c in range(lanes):
                    score[base + c] = passed[every + c] - passed[hi + c] - passed[lo + c]
                last += np.uint64(1)
            for i in range(first, last):
                combo = np.uint64(order[i])
                mine = cluster[combo]
                passed[np.uint64(COMBO_CARDS[combo, 0]) * lanes + mine] += np.int32(1)
                passed[np.uint64(COMBO_CARDS[combo, 1]) * lanes + mine] += np.int32(1)
                passed[every + mine] += np.int32(1)
            for i in range(first, last):
                combo = np.uint64(order[i])
                hi = np.uint64(COMBO_CARDS[combo, 0]) * lanes
                lo = np.uint64(COMBO_CARDS[combo, 1]) * lanes
                base = combo * lanes
                for c in range(lanes):
                    score[base + c] += passed[every + c] - passed[hi + c] - passed[lo + c]
                # Of the hands that share a card only the hand itself is taken off twice.
                score[base + cluster[combo]] += np.int32(1)
            first = last
        dealt[:] = passed
        for hand in range(np.uint64(COMBO_COUNT)):
            if not strengths[hand]:
                out[n, hand, :] = NO_STEPS
                continue
            hi = np.uint64(COMBO_CARDS[hand, 0]) * lanes
            lo = np.uint64(COMBO_CARDS[hand, 1]) * lanes
            base = hand * lanes
            for c in range(np.uint64(clusters)):
                opponents = dealt[every + c] - dealt[hi + c] - dealt[lo + c]
                opponents += np.int32(c == cluster[hand])
                steps = np.float32(FULL_STEPS // 2)
                if opponents:
                    steps *= np.float32(score[base + c]) / np.float32(opponents)
                out[n, hand, c] = np.uint8(steps + np.float32(0.5))


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
def roll_out_boards(
    boards: NDArray[np.uint8],
    tables: Tables,
    out: NDArray[np.float32],
) -> None:
    """Strength and positive potential of every hand on each board: `out`[0 or 1, board, combo]."""
    strengths, half_sorted, order = room_for_hands()
    now, full = np.empty(COMBO_COUNT, np.uint16), np.empty(5, np.uint8)
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
        _, bits = sum_board(boards[n])
        full[:size] = boards[n]
        fill_strengths(boards[n], tables, now)
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
                full[size], full[4] = turn, river
                live = order_hands(full, tables, strengths, half_sorted, order)
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


@kernel
def weigh_boards(
    boards: NDArray[np.uint8],
    tables: Tables,
    shift: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Weight of each board: Σ over classes of hole cards of mean chance to be ahead times `shift`.

    Hands are walked from the weakest; one beats those passed that share no card with it.
    """
    strengths, half_sorted, order = room_for_hands()
    passed, level = np.empty(52, np.int64), np.empty(52, np.int64)
    score, met = np.empty(CLASS_COUNT), np.empty(CLASS_COUNT)
    left = 50 - boards.shape[1]
    opponents = left * (left - 1) / 2
    for n in range(boards.shape[0]):
        live = order_hands(boards[n], tables, strengths, half_sorted, order)
        passed[:], score[:], met[:] = 0, 0.0, 0.0
        first = 0
        while first < live:
            last = first
            level[:] = 0
            while last < live and strengths[order[last]] == strengths[order[first]]:
                level[COMBO_CARDS[order[last], 0]] += 1
                level[COMBO_CARDS[order[last], 1]] += 1
                last += 1
            for i in range(first, last):
                hi, lo = COMBO_CARDS[order[i], 0], COMBO_CARDS[order[i], 1]
                beaten = first - passed[hi] - passed[lo]
                tied = last - first - level[hi] - level[lo] + 1
                score[COMBO_CLASS[order[i]]] += (beaten + 0.5 * tied) / opponents
                met[COMBO_CLASS[order[i]]] += 1.0
            for card in range(52):
                passed[card] += level[card]
            first = last
        total = 0.0
        for j in range(CLASS_COUNT):
            if met[j] > 0.0:
                total += shift[j] * score[j] / met[j]
        out[n] = total

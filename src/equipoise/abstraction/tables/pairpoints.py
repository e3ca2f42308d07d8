"""Who wins between buckets: points of all pairs of hands, counted board by board.

The *points* of bucket i against bucket j are two for every pair of hands in which i's wins on the
river, one for a tie. All pairs of hands that share no card count, half a million on each board, so
correlation through the board and card removal are in the points.

One board is counted without looking at pairs. Hands are walked from the weakest while a vector
counts, bucket by bucket, what has been passed, and 52 more what has been passed holding each card: a
hand adds the first to its bucket's points and takes off those of its own two cards. A board holds
one to three hundred different buckets, so this runs in a small table that stays in the cache; its
cells are then added to the large one. Threads share the large table, each owning some of its rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.lookup import Lookup, board_buckets
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.cards.evaluator import Tables, order_hands, room_for_hands, tables
from equipoise.errors import TooLargeError
from equipoise.kernel import cores, kernel

#: Buckets whose table is still reasonable: a gigabyte of counters.
_MOST_BUCKETS = 16_384
#: A counter that reaches this is emptied; no board adds as much.
_NEARLY_FULL = np.uint32(1 << 31)


@kernel
def count_pairs(
    strength: NDArray[np.uint16],
    order: NDArray[np.uint16],
    live: int,
    place: NDArray[np.uint64],
    owned: NDArray[np.bool_],
    size: np.uint64,
    passed: NDArray[np.int16],
    held: NDArray[np.int16],
    points: NDArray[np.int32],
) -> None:
    """Points of each of a board's `size` buckets against each, into `points`[size * size].

    `order` has the live hands from the weakest, `place` the bucket of each. Only rows that are
    `owned` are filled; `passed`[size] and `held`[52 * size] are scratch.
    """
    points[: size * size] = 0
    passed[:size] = 0
    held[: np.uint64(52) * size] = 0
    first = 0
    while first < live:
        value = strength[order[first]]
        last = first
        # What ties counts one point while its own group is looked at, and two from then on.
        while last < live and strength[order[last]] == value:
            combo = order[last]
            passed[place[last]] += np.int16(1)
            held[np.uint64(COMBO_CARDS[combo, 0]) * size + place[last]] += np.int16(1)
            held[np.uint64(COMBO_CARDS[combo, 1]) * size + place[last]] += np.int16(1)
            last += 1
        for i in range(first, last):
            if not owned[place[i]]:
                continue
            base = place[i] * size
            high = np.uint64(COMBO_CARDS[order[i], 0]) * size
            low = np.uint64(COMBO_CARDS[order[i], 1]) * size
            for other in range(size):
                points[base + other] += np.int32(
                    passed[other] - held[high + other] - held[low + other]
                )
            # The hand itself was counted once and taken off twice.
            points[base + place[i]] += np.int32(1)
        for i in range(first, last):
            combo = order[i]
            passed[place[i]] += np.int16(1)
            held[np.uint64(COMBO_CARDS[combo, 0]) * size + place[i]] += np.int16(1)
            held[np.uint64(COMBO_CARDS[combo, 1]) * size + place[i]] += np.int16(1)
        first = last


@kernel
def _count_boards(
    lookup: Lookup,
    boards: NDArray[np.uint8],
    weights: NDArray[np.uint32],
    tables: Tables,
    share: int,
    shares: int,
    points: NDArray[np.uint32],
) -> int:
    """Add boards to the rows of `points` whose number is `share` modulo `shares`.

    Returns how many boards were added: it stops when a number grows too large for another.
    """
    buckets = np.empty((4, COMBO_COUNT), np.uint16)
    strength, half_sorted, order = room_for_hands()
    met = np.zeros(points.shape[0], np.bool_)
    number = np.zeros(points.shape[0], np.uint64)
    known, place = np.empty(COMBO_COUNT, np.uint64), np.empty(COMBO_COUNT, np.uint64)
    owned = np.empty(COMBO_COUNT, np.bool_)
    passed, held = np.empty(COMBO_COUNT, np.int16), np.empty(52 * COMBO_COUNT, np.int16)
    local = np.empty(1, np.int32)
    n_boards: int = boards.shape[0]
    for n in range(n_boards):
        board_buckets(lookup, boards[n], buckets)
        live = order_hands(boards[n], tables, strength, half_sorted, order)
        river = buckets[3]
        for i in range(live):
            met[river[order[i]]] = True
        size = np.uint64(0)
        for bucket in range(np.uint64(points.shape[0])):
            if met[bucket]:
                met[bucket] = False
                number[bucket] = size
                known[size] = bucket
                owned[size] = bucket % np.uint64(shares) == np.uint64(share)
                size += np.uint64(1)
        for i in range(live):
            place[i] = number[river[order[i]]]
        if local.shape[0] < size * size:
            local = np.empty(size * size, np.int32)
        count_pairs(strength, order, live, place, owned, size, passed, held, local)
        weight = weights[n]
        highest = np.uint32(0)
        for i in range(size):
            if owned[i]:
                row = points[known[i]]
                for j in range(size):
                    cell = row[known[j]] + weight * np.uint32(local[i * size + j])
                    row[known[j]] = cell
                    highest = max(highest, cell)
        if highest >= _NEARLY_FULL:
            return n + 1
    return n_boards


class Points:
    """Points of all pairs of river buckets, as boards are added.

    Counters have 32 bits; rows that are nearly full are emptied into sums of doubles, in which whole
    numbers are exact up to 2⁵³, hundreds of times what all boards together make.
    """

    def __init__(self, lookup: Lookup, buckets: int, threads: int | None = None) -> None:
        if buckets > _MOST_BUCKETS:
            raise TooLargeError(
                f"{buckets:,} buckets on the river make tables of {16 * buckets**2 / 1e9:.0f} GB: "
                f"use at most {_MOST_BUCKETS:,}, or solve on sampled cards"
            )
        self.lookup = lookup
        self.counters = np.zeros((buckets, buckets), dtype=np.uint32)
        self.emptied: NDArray[np.float64] | None = None
        self.threads = max(1, min(threads or cores(), buckets))

    def add(self, boards: NDArray[np.uint8], weights: NDArray[np.int64]) -> None:
        """Count every pair of hands on each board, times its weight (at most 40)."""
        times = weights.astype(np.uint32)
        full: list[tuple[int, int]] = []

        def work(share: int, done: int = 0) -> None:
            more = _count_boards(
                self.lookup, boards[done:], times[done:], tables(),
                share, self.threads, self.counters,
            )  # fmt: skip
            if done + more < len(boards):
                full.append((share, done + more))

        waiting = [(share, 0) for share in range(self.threads)]
        with ThreadPoolExecutor(self.threads) as pool:
            while waiting:
                for finished in [pool.submit(work, *task) for task in waiting]:
                    finished.result()
                waiting, full = full, []
                for share, _ in waiting:
                    self._empty(share)

    def _empty(self, share: int) -> None:
        if self.emptied is None:
            self.emptied = np.zeros(self.counters.shape)
        owned = slice(share, None, self.threads)
        self.emptied[owned] += self.counters[owned]
        self.counters[owned] = 0

    def total(self) -> NDArray[Any]:
        """Points so far: uint32 as long as that holds them, then float64."""
        return self.counters if self.emptied is None else self.emptied + self.counters

    def resume(self, total: NDArray[Any]) -> None:
        """Go on from points counted before."""
        if total.dtype == np.uint32:
            self.counters[:] = total
        else:
            self.emptied = total

"""Rollout equity of every hand on every street, ready to be looked up.

The rollout equity of a hand is its mean share of the pot against any other two cards if all public
cards come without another bet. On the river it is exact by one comparison with each of the 990
hands an opponent may hold; before that it is the mean over the cards to come, and those means are
kept for every deal up to a renaming of suits: 1,286,792 on the flop and, the board seen as a set,
13,960,050 on the turn.

Equities are whole numbers, *levels*, in parts of :data:`FULL` = 45,540 and rounded down: two for
each of 990 opponents beaten, one for a tie, times 23. River equities are exact in it, and so are
the borders of two, three, four, five, six, nine, ten or twelve equal intervals.

The tables are made in one pass over the 16,432 boards of four cards distinct up to suits. For each
river the live hands are sorted by strength; walking them from the weakest, a hand beats what was
passed except for the hands passed that hold one of its own two cards. The flop's means are means of
the turn's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.cachefolder import cache_folder, tell_making
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    COMBO_BIT,
    COMBO_KEY,
    board_code,
    fill_strengths,
    place,
    sort_by_strength,
    start_key,
    tables,
)
from equipoise.cards.hand import (
    CLASS_SIZE,
    COMBO_CARDS,
    COMBO_CLASS,
    COMBO_COUNT,
    blocked,
    class_of,
    combo_index,
)
from equipoise.cards.isomorphism import deals, river_boards, turn_boards, turn_hands
from equipoise.cards.preflop import against_random
from equipoise.errors import ArtefactError, CardError
from equipoise.kernel import kernel, over_chunks

#: Opponents' hands on the river, two points for each beaten.
_RIVER_SCORE = 2 * 990
#: Level of a hand that always wins.
FULL = 23 * _RIVER_SCORE
#: Level of a hand that the board blocks.
BLOCKED = 65_535
#: Cards of the board on each street.
BOARD_SIZES = (0, 3, 4, 5)

_KIND = "rollout equities"
_FILE = "rollouts.safetensors"
#: Boards of four cards between two reports of progress.
_BATCH = 1024

Progress = Callable[[int, int], None]


@kernel
def _score_river(
    order: NDArray[np.uint16],
    live: int,
    strengths: NDArray[np.uint16],
    passed: NDArray[np.int32],
    level: NDArray[np.int32],
    scores: NDArray[np.int32],
) -> None:
    """Score of each live hand on a river: two for each opponent's hand beaten, one for a tie.

    `passed` and `level` count, card by card, the weaker hands and those of the same strength.
    """
    passed[:] = 0
    first = 0
    while first < live:
        value = strengths[order[first]]
        level[:] = 0
        last = first
        while last < live and strengths[order[last]] == value:
            level[COMBO_CARDS[order[last], 0]] += 1
            level[COMBO_CARDS[order[last], 1]] += 1
            last += 1
        for i in range(first, last):
            combo = order[i]
            hi, lo = COMBO_CARDS[combo, 0], COMBO_CARDS[combo, 1]
            beaten = first - passed[hi] - passed[lo]
            # The hand itself is in all three counts.
            tied = last - first - level[hi] - level[lo] + 1
            scores[combo] = 2 * beaten + tied
        for card in range(52):
            passed[card] += level[card]
        first = last


@kernel
def _sum_rivers(
    boards: NDArray[np.uint8],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    sums: NDArray[np.int32],
) -> None:
    """Add up the river scores of every hand over all rivers of each board of four cards."""
    strengths = np.empty(COMBO_COUNT, np.uint16)
    half_sorted, order = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    passed, level = np.empty(52, np.int32), np.empty(52, np.int32)
    scores = np.zeros(COMBO_COUNT, np.int32)
    for n in range(boards.shape[0]):
        key, bits = start, np.uint64(0)
        for j in range(4):
            key += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
        sums[n, :] = 0
        for river in range(52):
            if CARD_BIT[river] & bits:
                continue
            fill_strengths(key + CARD_KEY[river], bits + CARD_BIT[river], values, rows, strengths)
            live = sort_by_strength(strengths, half_sorted, order)
            _score_river(order, live, strengths, passed, level, scores)
            for i in range(live):
                sums[n, order[i]] += scores[order[i]]


@kernel
def _count_rivers(
    boards: NDArray[np.uint8],
    weights: NDArray[np.int64],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    counts: NDArray[np.int64],
) -> None:
    """Add to `counts`[score] the hands of each score on each board of five cards, weighted."""
    strengths = np.empty(COMBO_COUNT, np.uint16)
    half_sorted, order = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    passed, level = np.empty(52, np.int32), np.empty(52, np.int32)
    scores = np.zeros(COMBO_COUNT, np.int32)
    for n in range(boards.shape[0]):
        key, bits = start, np.uint64(0)
        for j in range(5):
            key += CARD_KEY[boards[n, j]]
            bits += CARD_BIT[boards[n, j]]
        fill_strengths(key, bits, values, rows, strengths)
        live = sort_by_strength(strengths, half_sorted, order)
        _score_river(order, live, strengths, passed, level, scores)
        for i in range(live):
            counts[scores[order[i]]] += weights[n]


@kernel
def _river_levels(
    key: np.uint64,
    bits: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    out: NDArray[np.uint16],
) -> None:
    """Level of every hand on one board of five cards."""
    strengths = np.empty(COMBO_COUNT, np.uint16)
    half_sorted, order = np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)
    passed, level = np.empty(52, np.int32), np.empty(52, np.int32)
    scores = np.zeros(COMBO_COUNT, np.int32)
    fill_strengths(key, bits, values, rows, strengths)
    live = sort_by_strength(strengths, half_sorted, order)
    _score_river(order, live, strengths, passed, level, scores)
    out[:] = BLOCKED
    for i in range(live):
        out[order[i]] = 23 * scores[order[i]]


@kernel
def _river_level(
    key: np.uint64,
    bits: np.uint64,
    hero: int,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
) -> int:
    """Level of one hand on a board of five cards."""
    row, column = place(key + COMBO_KEY[hero], bits + COMBO_BIT[hero])
    mine = values[rows[row] + column]
    taken = bits | COMBO_BIT[hero]
    score = 0
    for combo in range(np.uint64(COMBO_COUNT)):
        if COMBO_BIT[combo] & taken:
            continue
        row, column = place(key + COMBO_KEY[combo], bits + COMBO_BIT[combo])
        other = values[rows[row] + column]
        score += int(mine > other) + int(mine >= other)
    return 23 * score


@dataclass(frozen=True)
class RolloutTable:
    """Levels of all hands, and how often each level comes on each street."""

    #: Of each deal of hole cards and flop, numbered as :func:`equipoise.cards.isomorphism.deals`.
    flop: NDArray[np.uint16]
    #: Of hole cards and four board cards, numbered as `turn_hands`.
    turn: NDArray[np.uint16]
    #: Deals of each level on each street: int64[4, FULL + 1].
    counts: NDArray[np.int64]

    def level(self, hole: tuple[int, ...], board: tuple[int, ...] = ()) -> int:
        """Level of one hand; a few microseconds on the river, some fifteen before.

        >>> from equipoise.cards.card import parse_cards
        >>> rollout_table().level(parse_cards("AsAh")) / FULL > 0.852
        True
        """
        street = street_of(board)
        if street == 0:
            return int(_preflop_levels()[class_of(hole[0], hole[1])])
        if street == 3:
            key, bits = board_code(board, 7)
            values, rows = tables()
            return int(_river_level(key, bits, combo_index(hole[0], hole[1]), values, rows))
        if street == 1:
            return int(self.flop[deals().index((*hole, *board))])
        return int(self.turn[turn_hands().index((*hole, *board))])

    def levels(self, board: Iterable[int] = ()) -> NDArray[np.uint16]:
        """Level of every combination on a board, :data:`BLOCKED` where they share a card."""
        common = tuple(int(card) for card in board)
        street = street_of(common)
        if street == 0:
            every: NDArray[np.uint16] = _preflop_levels()[COMBO_CLASS]
            return every
        out = np.full(COMBO_COUNT, BLOCKED, dtype=np.uint16)
        if street == 3:
            key, bits = board_code(common, 7)
            values, rows = tables()
            _river_levels(key, bits, values, rows, out)
            return out
        live = np.flatnonzero(~blocked(common))
        cards = np.empty((len(live), 2 + len(common)), dtype=np.uint8)
        cards[:, :2], cards[:, 2:] = COMBO_CARDS[live], common
        indexer, table = (deals(), self.flop) if street == 1 else (turn_hands(), self.turn)
        out[live] = table[indexer.index_many(cards, threads=1)]
        return out

    def equity(self, hole: tuple[int, ...], board: tuple[int, ...] = ()) -> float:
        """Rollout equity of a hand, exact to 1/45,540."""
        return self.level(hole, board) / FULL


def street_of(board: tuple[int, ...]) -> int:
    """0 before the flop, 1 on the flop, 2 on the turn, 3 on the river.

    >>> street_of((0, 1, 2, 3))
    2
    """
    if len(board) not in BOARD_SIZES:
        raise CardError(f"a board of {len(board)} cards: it has 0, 3, 4 or 5")
    return BOARD_SIZES.index(len(board))


@cache
def _preflop_levels() -> NDArray[np.uint16]:
    """Level of each class of hole cards."""
    return np.floor(against_random() * FULL + 1e-6).astype(np.uint16)


@cache
def rollout_table() -> RolloutTable:
    """The tables, from the cache folder, or made and kept there: half a minute, once."""
    return _stored() or make_rollout_table()


def make_rollout_table(progress: Progress | None = None) -> RolloutTable:
    """Make the tables and keep them; `progress(done, total)` is called with boards."""
    tell_making("the table of rollout equities, half a minute")
    table = build_rollout_table(progress)
    arrays: artefact.Arrays = {"flop": table.flop, "turn": table.turn, "counts": table.counts}
    artefact.write(cache_folder() / _FILE, _KIND, {"full": FULL}, arrays)
    return table


def _stored() -> RolloutTable | None:
    """What is in the cache folder; a damaged file is as good as none."""
    try:
        _, arrays = artefact.read(cache_folder() / _FILE, _KIND)
        return RolloutTable(arrays["flop"], arrays["turn"], arrays["counts"])
    except (ArtefactError, KeyError):
        return None


def build_rollout_table(progress: Progress | None = None) -> RolloutTable:
    """Make the tables from the rules of poker."""
    boards = turn_boards().unindex_many(0, np.arange(turn_boards().size(0)))
    sums = np.zeros(turn_hands().size(1), dtype=np.int32)
    done = 0
    for first in range(0, len(boards), _BATCH):
        part = boards[first : first + _BATCH]
        _add_turns(part, sums)
        done += len(part)
        if progress is not None:
            progress(done, len(boards))
    flop = _flop_levels(sums)
    turn = (sums >> 1).astype(np.uint16)
    counts = np.zeros((4, FULL + 1), dtype=np.int64)
    np.add.at(counts[0], _preflop_levels(), CLASS_SIZE)
    for street, indexer, levels in ((1, deals(), flop), (2, turn_hands(), turn)):
        weights = indexer.multiplicity_many(1, np.arange(len(levels)))
        counts[street] = np.bincount(levels, weights, FULL + 1).astype(np.int64)
    counts[3, ::23] = _river_counts()
    return RolloutTable(flop, turn, counts)


def _add_turns(boards: NDArray[np.uint8], sums: NDArray[np.int32]) -> None:
    """Sum of river scores of every hand on the given boards, to its place in `sums`."""
    values, rows = tables()
    start = np.uint64(start_key(7))
    found = np.empty((len(boards), COMBO_COUNT), dtype=np.int32)

    def work(first: int, last: int) -> None:
        _sum_rivers(boards[first:last], start, values, rows, found[first:last])

    over_chunks(work, len(boards))
    cards = np.empty((len(boards), COMBO_COUNT, 6), dtype=np.uint8)
    cards[:, :, :2], cards[:, :, 2:] = COMBO_CARDS, boards[:, None, :]
    free = (COMBO_CARDS[None, :, :, None] != boards[:, None, None, :]).all(axis=(2, 3))
    sums[turn_hands().index_many(cards[free])] = found[free]


def _flop_levels(turn_sums: NDArray[np.int32]) -> NDArray[np.uint16]:
    """Level of each deal of hole cards and flop: over the 47 turns every runout comes twice."""
    count = deals().size(1)
    levels = np.empty(count, dtype=np.uint16)
    cards = np.arange(52, dtype=np.uint8)
    for first in range(0, count, 1 << 15):
        known = deals().unindex_many(1, np.arange(first, min(first + (1 << 15), count)))
        deck = np.broadcast_to(cards, (len(known), 52))
        free = (known[:, :, None] != cards[None, None, :]).all(axis=1)
        turns = deck[free].reshape(len(known), 47)
        rows = np.empty((len(known), 47, 6), dtype=np.uint8)
        rows[:, :, :5], rows[:, :, 5] = known[:, None, :], turns
        sums = turn_sums[turn_hands().index_many(rows.reshape(-1, 6))].reshape(-1, 47)
        levels[first : first + len(known)] = sums.sum(axis=1, dtype=np.int64) // (2 * 47)
    return levels


def _river_counts() -> NDArray[np.int64]:
    """Deals of hole cards and five board cards with each score."""
    values, rows = tables()
    everything = np.arange(river_boards().size(0))
    boards = river_boards().unindex_many(0, everything)
    weights = river_boards().multiplicity_many(0, everything)
    start = np.uint64(start_key(7))
    parts: list[NDArray[np.int64]] = []

    def work(first: int, last: int) -> None:
        counts = np.zeros(_RIVER_SCORE + 1, dtype=np.int64)
        _count_rivers(boards[first:last], weights[first:last], start, values, rows, counts)
        parts.append(counts)

    over_chunks(work, len(boards))
    total: NDArray[np.int64] = np.sum(parts, axis=0)
    return total

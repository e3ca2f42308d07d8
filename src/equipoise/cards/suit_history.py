"""Suit histories: numbering deals up to a renaming of the suits, as tables and kernels.

A deal comes in rounds, each a *set* of cards: two hole cards, then three of the flop, and so on.
What one suit has seen is its *history*: the set of its ranks dealt in each round. Renaming suits
permutes the four histories and nothing else, so a class of equivalent deals is a multiset of four
histories, and numbering classes without gaps is numbering such multisets (K. Waugh, "A fast and
optimal hand isomorphism algorithm", AAAI workshop on computer poker, 2013):

1. A history's *shape* is how many ranks n₁ … n_r it holds from each round. Within a shape, round i
   chooses n_i of the 13 − n₁ − … − n_{i−1} ranks still free in the suit; renumber the free ranks
   from 0 and the choice has the colexicographic rank Σ_j C(c_j, j) over its members c₁ < c₂ < ….
   The ranks of all rounds, as digits of a mixed radix, are the history's number a among the N of
   its shape.
2. The four shapes, sorted, are the deal's *configuration*. Suits of one shape are interchangeable:
   k of them with numbers a₁ ≤ … ≤ a_k have the rank Σ_m C(a_m + m − 1, m) among the
   C(N + k − 1, k) multisets.
3. The ranks of the groups are digits of a mixed radix again, and configurations follow one another.

The class of a deal holds 4! / (k₁! k₂! …) deals, where k₁, k₂, … count identical histories.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import TooLargeError
from equipoise.kernel import exact_kernel, popcount

_SUITS = 4
_RANKS = 13
#: Columns of a configuration's record: its first index; the unit of each suit's digit; and each
#: suit's place m = 1 … k in its group, four bits a suit.
_RECORD = 6
#: A key is the shape above, the history's number below; 13! < 2^48 bounds the latter.
_SHAPE_BIT = 48
#: Keeps every intermediate product of the multiset ranks inside 64 bits.
_LARGEST_SIZE = 2**60
_LARGEST_TABLE = 2**18


def _colex_tables() -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint64]]:
    """Colex rank of each rank set, the sets of each count in that order, and where counts start.

    Sets of equal count in colexicographic order are their bit masks in numeric order.
    """
    masks = np.arange(2**_RANKS)
    counts = np.array([mask.bit_count() for mask in range(2**_RANKS)])
    by_count = np.argsort(counts, kind="stable")
    first = np.searchsorted(counts[by_count], np.arange(_RANKS + 1))
    colex = np.empty(2**_RANKS, dtype=np.uint16)
    colex[by_count] = masks - first[counts[by_count]]
    return colex, by_count.astype(np.uint16), first.astype(np.uint64)


class IndexTables(NamedTuple):
    """What :func:`index_rows` reads, in one dimension."""

    ends: NDArray[np.uint64]
    shape_unit: NDArray[np.uint64]
    history_unit: NDArray[np.uint64]
    code_unit: NDArray[np.uint64]
    code_first: NDArray[np.uint64]
    code_spread: NDArray[np.uint16]
    spread_count: NDArray[np.uint64]
    configuration: NDArray[np.uint32]
    record: NDArray[np.uint64]
    colex: NDArray[np.uint16]


class DealTables(NamedTuple):
    """What :func:`deal_rows` and :func:`multiplicity_rows` read."""

    ends: NDArray[np.uint64]
    record: NDArray[np.uint64]
    shapes: NDArray[np.uint64]
    history_count: NDArray[np.uint64]
    history_unit: NDArray[np.uint64]
    shape_counts: NDArray[np.uint64]
    sets: NDArray[np.uint16]
    sets_first: NDArray[np.uint64]


class ClassTables:
    """Tables that number all classes of deals with the given rounds."""

    def __init__(self, rounds: tuple[int, ...]) -> None:
        self.colex, self.sets, self.sets_first = _colex_tables()
        self.ends = np.cumsum(rounds).astype(np.uint64)
        self._number_shapes(rounds)
        shapes = self._number_spreads(rounds)
        self._number_configurations(shapes)

    @cached_property
    def indexing(self) -> IndexTables:
        """The tables from cards to indices."""
        return IndexTables(
            ends=self.ends,
            shape_unit=self.shape_unit,
            history_unit=self.history_unit.reshape(-1),
            code_unit=self.code_unit.reshape(-1),
            code_first=self.code_first,
            code_spread=self.code_spread,
            spread_count=self.spread_count,
            configuration=self.configuration,
            record=self.record.reshape(-1),
            colex=self.colex,
        )

    @cached_property
    def dealing(self) -> DealTables:
        """The tables from indices to cards."""
        return DealTables(
            *(self.ends, self.record, self.shapes, self.history_count, self.history_unit),
            *(self.shape_counts, self.sets, self.sets_first),
        )

    def _number_shapes(self, rounds: tuple[int, ...]) -> None:
        """A shape is numbered by its counts, as digits with radix (cards of the round + 1)."""
        shape_count = math.prod(cards + 1 for cards in rounds)
        spread_count = math.prod(math.comb(cards + _SUITS - 1, cards) for cards in rounds)
        if max(shape_count // 2**16, spread_count // _LARGEST_TABLE):
            raise TooLargeError(f"rounds {rounds} need too large tables: merge or drop some rounds")
        self.shape_unit = np.array(
            [math.prod(cards + 1 for cards in rounds[:i]) for i in range(len(rounds))],
            dtype=np.uint64,
        )
        # All shapes, counts of the first round running fastest as the units above demand.
        backwards = itertools.product(*(range(cards + 1) for cards in reversed(rounds)))
        counts = np.array([shape[::-1] for shape in backwards], dtype=np.uint64)
        choices = np.array(
            [[math.comb(free, n) for n in range(max(rounds) + 1)] for free in range(_RANKS + 1)],
            dtype=np.uint64,
        )
        used = np.zeros(shape_count, dtype=np.uint64)
        self.history_count = np.ones(shape_count, dtype=np.uint64)
        self.history_unit = np.zeros((shape_count, len(rounds)), dtype=np.uint64)
        for i in range(len(rounds)):
            self.history_unit[:, i] = self.history_count
            self.history_count *= choices[_RANKS - np.minimum(used, _RANKS), counts[:, i]]
            used += counts[:, i]
        self.shape_counts = counts

    def _number_spreads(self, rounds: tuple[int, ...]) -> NDArray[np.uint64]:
        """A spread says how many cards each suit got in each round; returns the suits' shapes.

        Spreads are few (3,200 for hold'em), so one look-up finds the configuration of a deal. Per
        round, the counts of the first three suits make a code that a small table turns into the
        number of the round's spread.
        """
        codes: list[NDArray[np.uint16]] = []
        shapes = np.zeros((1, _SUITS), dtype=np.uint64)
        self.code_unit = np.zeros((len(rounds), _SUITS), dtype=np.uint64)
        self.code_first = np.zeros(len(rounds), dtype=np.uint64)
        self.spread_count = np.zeros(len(rounds), dtype=np.uint64)
        for i, cards in enumerate(rounds):
            self.code_unit[i, :3] = (cards + 1) ** np.arange(3)
            self.code_first[i] = sum(map(len, codes))
            every = itertools.product(range(cards + 1), repeat=3)
            firsts = np.array([counts for counts in every if sum(counts) <= cards], dtype=np.uint64)
            spreads = np.column_stack([firsts, np.uint64(cards) - firsts.sum(axis=1)])
            number = np.zeros((cards + 1) ** 3, dtype=np.uint16)
            number[spreads @ self.code_unit[i]] = np.arange(len(spreads))
            codes.append(number)
            self.spread_count[i] = len(spreads)
            shapes = shapes[:, None, :] + spreads[None, :, :] * self.shape_unit[i]
            shapes = shapes.reshape(-1, _SUITS)
        self.code_spread = np.concatenate(codes)
        return shapes

    def _number_configurations(self, shapes: NDArray[np.uint64]) -> None:
        """Lay the configurations one after another and note how each ranks its groups."""
        place = np.uint64(16) * np.arange(_SUITS, dtype=np.uint64)[::-1]
        packed = np.bitwise_or.reduce(np.sort(shapes, axis=1) << place, axis=1)
        found, of_spread = np.unique(packed, return_inverse=True)
        self.configuration = of_spread.reshape(-1).astype(np.uint32)
        self.shapes = (found[:, None] >> place) & np.uint64(0xFFFF)
        self.record = np.zeros((len(found), _RECORD), dtype=np.uint64)
        self.size = 0
        for record, row in zip(self.record, self.shapes, strict=True):
            record[0] = self.size
            size, position, places = 1, 0, 0
            for shape, group in itertools.groupby(row.tolist()):
                length = len(list(group))
                histories = int(self.history_count[shape])
                for within in range(length):
                    record[1 + position] = size
                    # Suits without cards (one history) add nothing wherever they stand.
                    places |= (within + 1 if histories > 1 else 1) << (4 * position)
                    position += 1
                size *= math.comb(histories + length - 1, length)
                if self.size + size > _LARGEST_SIZE:
                    raise TooLargeError("more than 2^60 classes of deals: deal fewer cards")
            record[5] = places
            self.size += size


@exact_kernel
def _multisets(histories: Any, length: Any) -> Any:
    """C(histories + length − 1, length): multisets of up to four members."""
    n = histories
    if length == np.uint64(1):
        return n
    pairs = n * (n + np.uint64(1)) >> np.uint64(1)
    if length == np.uint64(2):
        return pairs
    if length == np.uint64(3):
        return pairs * (n + np.uint64(2)) // np.uint64(3)
    half = n * (n + np.uint64(3)) >> np.uint64(1)
    return half * (half + np.uint64(1)) // np.uint64(6)


@exact_kernel
def index_rows(cards: Any, width: Any, start: Any, stop: Any, tables: IndexTables, out: Any) -> Any:
    """Index rows `start` to `stop` of `cards`; return the first impossible row, or `stop`.

    Four suits travel as the 16-bit lanes of one word: shapes, ranks used, ranks of the round.
    """
    ends, shape_unit, history_unit = tables.ends, tables.shape_unit, tables.history_unit
    code_unit, code_first, code_spread = tables.code_unit, tables.code_first, tables.code_spread
    spread_count, configuration = tables.spread_count, tables.configuration
    record, colex = tables.record, tables.colex
    one, three, lane = np.uint64(1), np.uint64(3), np.uint64(0xFFFF)
    rounds = np.uint64(len(ends))
    for row in range(np.uint64(start), np.uint64(stop)):
        base = row * width
        seen, top, shapes, spread = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        i = np.uint64(0)
        for r in range(rounds):
            code = code_first[r]
            while i < ends[r]:
                card = np.uint64(cards[base + i])
                top = max(top, card)
                seen |= one << (card & np.uint64(63))
                shapes += shape_unit[r] << ((card & three) << np.uint64(4))
                code += code_unit[(r << np.uint64(2)) + (card & three)]
                i += one
            spread = spread * spread_count[r] + np.uint64(code_spread[code])
        if top > np.uint64(51) or popcount(seen) != width:
            return row

        shape0, shape1 = shapes & lane, (shapes >> np.uint64(16)) & lane
        shape2, shape3 = (shapes >> np.uint64(32)) & lane, shapes >> np.uint64(48)
        key0, key1 = shape0 << np.uint64(_SHAPE_BIT), shape1 << np.uint64(_SHAPE_BIT)
        key2, key3 = shape2 << np.uint64(_SHAPE_BIT), shape3 << np.uint64(_SHAPE_BIT)
        unit0, unit1 = shape0 * rounds, shape1 * rounds
        unit2, unit3 = shape2 * rounds, shape3 * rounds
        used = np.uint64(0)
        i = np.uint64(0)
        for r in range(rounds):
            dealt, chosen = np.uint64(0), np.uint64(0)
            while i < ends[r]:
                card = np.uint64(cards[base + i])
                shift = (card & three) << np.uint64(4)
                bit = one << (card >> np.uint64(2))
                below = popcount((used >> shift) & (bit - one))
                chosen |= (bit >> below) << shift
                dealt |= bit << shift
                i += one
            used |= dealt
            key0 += np.uint64(colex[chosen & lane]) * history_unit[unit0 + r]
            key1 += np.uint64(colex[(chosen >> np.uint64(16)) & lane]) * history_unit[unit1 + r]
            key2 += np.uint64(colex[(chosen >> np.uint64(32)) & lane]) * history_unit[unit2 + r]
            key3 += np.uint64(colex[chosen >> np.uint64(48)]) * history_unit[unit3 + r]

        # A sorting network: suits by shape, equal shapes by history.
        key0, key1 = min(key0, key1), max(key0, key1)
        key2, key3 = min(key2, key3), max(key2, key3)
        key0, key2 = min(key0, key2), max(key0, key2)
        key1, key3 = min(key1, key3), max(key1, key3)
        key1, key2 = min(key1, key2), max(key1, key2)

        history = (one << np.uint64(_SHAPE_BIT)) - one
        entry = np.uint64(configuration[spread]) * np.uint64(_RECORD)
        places = record[entry + np.uint64(5)]
        index = record[entry] + (key0 & history) * record[entry + one]
        place1 = (places >> np.uint64(4)) & np.uint64(15)
        place2 = (places >> np.uint64(8)) & np.uint64(15)
        place3 = places >> np.uint64(12)
        index += _multisets(key1 & history, place1) * record[entry + np.uint64(2)]
        index += _multisets(key2 & history, place2) * record[entry + np.uint64(3)]
        index += _multisets(key3 & history, place3) * record[entry + np.uint64(4)]
        out[row] = np.int64(index)
    return np.uint64(stop)


@exact_kernel
def _decode(index: Any, tables: DealTables, histories: Any) -> Any:
    """Write the four histories' numbers of a class, in sorted order; return its configuration."""
    record, shapes, history_count = tables.record, tables.shapes, tables.history_count
    low, high = 0, len(record)
    while high - low > 1:
        middle = (low + high) >> 1
        if record[middle, 0] <= index:
            low = middle
        else:
            high = middle
    left = index - record[low, 0]
    first = 0
    while first < _SUITS:
        shape = shapes[low, first]
        length = 1
        while first + length < _SUITS and shapes[low, first + length] == shape:
            length += 1
        group = _multisets(history_count[shape], np.uint64(length))
        rank = left % group
        left //= group
        for member in range(length, 1, -1):
            # The largest history whose multisets of smaller ones do not outnumber the rank.
            below, above = np.uint64(0), history_count[shape]
            while above - below > np.uint64(1):
                middle_history = (below + above) >> np.uint64(1)
                if _multisets(middle_history, np.uint64(member)) <= rank:
                    below = middle_history
                else:
                    above = middle_history
            rank -= _multisets(below, np.uint64(member))
            histories[first + member - 1] = below
        histories[first] = rank
        first += length
    return low


@exact_kernel
def deal_rows(indices: Any, start: Any, stop: Any, tables: DealTables, out: Any) -> None:
    """Deal the classes of `indices`: sorted histories to suits in order, rounds sorted by card."""
    histories = np.zeros(_SUITS, dtype=np.uint64)
    used = np.zeros(_SUITS, dtype=np.uint64)
    one = np.uint64(1)
    ends, shapes, history_unit = tables.ends, tables.shapes, tables.history_unit
    shape_counts, sets, sets_first = tables.shape_counts, tables.sets, tables.sets_first
    rounds = len(ends)
    for row in range(start, stop):
        configuration = _decode(np.uint64(indices[row]), tables, histories)
        used[:] = np.uint64(0)
        filled = np.uint64(0)
        for r in range(rounds):
            beginning = filled
            for suit in range(_SUITS):
                shape = shapes[configuration, suit]
                count = shape_counts[shape, r]
                if count == np.uint64(0):
                    continue
                number = histories[suit] // history_unit[shape, r]
                if r + 1 < rounds:
                    number %= history_unit[shape, r + 1] // history_unit[shape, r]
                chosen = np.uint64(sets[sets_first[count] + number])
                free = ((one << np.uint64(_RANKS)) - one) & ~used[suit]
                while chosen:
                    # The lowest free rank belongs to the lowest bit of the chosen set.
                    bit = free & (~free + one)
                    free ^= bit
                    if chosen & one:
                        used[suit] |= bit
                        card = np.uint8(popcount(bit - one) * np.uint64(4) + np.uint64(suit))
                        slot = filled
                        while slot > beginning and out[row, slot - one] > card:
                            out[row, slot] = out[row, slot - one]
                            slot -= one
                        out[row, slot] = card
                        filled += one
                    chosen >>= one


@exact_kernel
def multiplicity_rows(indices: Any, start: Any, stop: Any, tables: DealTables, out: Any) -> None:
    """Count the distinct ways to hand the four histories of each class to the four suits."""
    shapes = tables.shapes
    histories = np.zeros(_SUITS, dtype=np.uint64)
    for row in range(start, stop):
        configuration = _decode(np.uint64(indices[row]), tables, histories)
        ways, run = 24, 1
        for suit in range(1, _SUITS):
            same_shape = shapes[configuration, suit] == shapes[configuration, suit - 1]
            run = run + 1 if same_shape and histories[suit] == histories[suit - 1] else 1
            ways //= run
        out[row] = ways

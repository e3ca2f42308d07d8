"""From cards to buckets inside kernels: a few reads a street.

On each street a hand on a board has a *feature*, a number that depends on the cards shown so far as
a set (its river equity, the cluster its histogram is in), kept for canonical boards only
(:mod:`.boardindex`). A *child table* then says which bucket a hand of this feature goes to:

    bucket[street] = child[street][bucket[street - 1], feature[street]]

with one row for every bucket of the street before where that one is remembered (perfect recall), and
a single row where it is forgotten. Where only a part of it is remembered, such as the flop's public cluster,
many rows are alike. Kernels read each of them once and a short list of which is whose, so that what they
read stays in the processor's near caches; places and features, which come from far away, are asked for
before the buckets that wait for them.

>>> feature = np.arange(1326, dtype=np.uint16) % 3
>>> tables = [feature] + [np.zeros((n, 1326), np.uint16) for n in (1755, 16432, 134459)]
>>> forget = np.arange(3, dtype=np.uint16).reshape(1, 3)
>>> recall = np.arange(9, dtype=np.uint16).reshape(3, 3)
>>> table = lookup(tables, [forget, recall, forget, forget])
>>> path = np.empty(4, np.int64)
>>> bucket_path(table, np.array([0, 9, 18, 27, 36], np.uint8), 1325, path)
>>> path
array([2, 6, 0, 0])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import (
    BOARD_CLASSES,
    RENAMED_COMBO,
    board_places,
    rank_of_five,
    rank_of_four,
    rank_of_three,
    split_place,
)
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.streets import BOARD_SIZES, STREET_COUNT
from equipoise.errors import GameError
from equipoise.kernel import row_kernel

#: Feature and bucket of a hand that the board blocks.
BLOCKED = 65_535

#: The same as kernels compare it.
NOT_DEALT = np.uint16(BLOCKED)


class Lookup(NamedTuple):
    """Feature and child tables of the four streets, for kernels; make it with :func:`lookup`."""

    preflop_feature: NDArray[np.uint16]
    """uint16[1326]"""
    flop_feature: NDArray[np.uint16]
    """uint16[1755, 1326], as the next two by canonical board and renamed combination"""
    turn_feature: NDArray[np.uint16]
    river_feature: NDArray[np.uint16]
    preflop_child: NDArray[np.uint16]
    """uint16[1, features]"""
    flop_child: NDArray[np.uint16]
    """uint16[preflop buckets or 1, features], and so on"""
    turn_child: NDArray[np.uint16]
    river_child: NDArray[np.uint16]
    flop_place: NDArray[np.uint32]
    """Class of each set of cards times 32, plus its renaming: one read instead of two"""
    turn_place: NDArray[np.uint32]
    river_place: NDArray[np.uint32]
    flop_row: NDArray[np.uint16]
    """Row of the next tables for each bucket before"""
    turn_row: NDArray[np.uint16]
    river_row: NDArray[np.uint16]
    flop_once: NDArray[np.uint16]
    """The child tables, rows that are alike kept once: uint16[rows, features]"""
    turn_once: NDArray[np.uint16]
    river_once: NDArray[np.uint16]


@row_kernel
def _feature(place: np.uint32, features: NDArray[np.uint16], hand: np.uint64) -> np.uint64:
    """Feature of one hand on one street."""
    board, renaming = split_place(place)
    return np.uint64(features[board, np.uint64(RENAMED_COMBO[renaming, hand])])


@row_kernel
def bucket_path(
    lookup: Lookup, board: NDArray[np.uint8], combo: int, out: NDArray[np.int64]
) -> None:
    """Buckets of one hand on the streets that `board` reaches, cards in the order dealt.

    The board has 0, 3, 4 or 5 cards, none of them the hand's: that is not checked.
    """
    hand = np.uint64(combo)
    size = board.shape[0]
    flop = turn = river = np.uint64(0)
    # The latest street's tables are the largest: they are asked first.
    if size > 2:
        a, b, c = np.uint64(board[0]), np.uint64(board[1]), np.uint64(board[2])
        if size > 3:
            d = np.uint64(board[3])
            if size > 4:
                place = lookup.river_place[rank_of_five(a, b, c, d, np.uint64(board[4]))]
                river = _feature(place, lookup.river_feature, hand)
            place = lookup.turn_place[rank_of_four(a, b, c, d)]
            turn = _feature(place, lookup.turn_feature, hand)
        place = lookup.flop_place[rank_of_three(a, b, c)]
        flop = _feature(place, lookup.flop_feature, hand)
    bucket = np.uint64(lookup.preflop_child[np.uint64(0), lookup.preflop_feature[hand]])
    out[0] = bucket
    if size > 2:
        bucket = np.uint64(lookup.flop_once[np.uint64(lookup.flop_row[bucket]), flop])
        out[1] = bucket
    if size > 3:
        bucket = np.uint64(lookup.turn_once[np.uint64(lookup.turn_row[bucket]), turn])
        out[2] = bucket
    if size > 4:
        out[3] = np.uint64(lookup.river_once[np.uint64(lookup.river_row[bucket]), river])


@row_kernel
def bucket_paths(
    lookup: Lookup,
    boards: NDArray[np.uint8],
    combos: NDArray[np.uint16],
    out: NDArray[np.int64],
) -> None:
    """:func:`bucket_path` of many hands, each on its own board: into rows of `out`[hands, 4]."""
    for i in range(boards.shape[0]):
        bucket_path(lookup, boards[i], combos[i], out[i])


@row_kernel
def _street_buckets(
    place: np.uint32,
    features: NDArray[np.uint16],
    rows: NDArray[np.uint16],
    once: NDArray[np.uint16],
    before: NDArray[np.uint16],
    out: NDArray[np.uint16],
) -> None:
    """Buckets of all hands on one street, from their buckets `before`."""
    board, renaming = split_place(place)
    for combo in range(np.uint64(COMBO_COUNT)):
        feature = features[board, np.uint64(RENAMED_COMBO[renaming, combo])]
        if feature == NOT_DEALT:
            out[combo] = NOT_DEALT
        else:
            out[combo] = once[np.uint64(rows[np.uint64(before[combo])]), np.uint64(feature)]


@row_kernel
def board_buckets(lookup: Lookup, board: NDArray[np.uint8], out: NDArray[np.uint16]) -> None:
    """Buckets of all hands on the streets that `board` reaches: into rows of `out`[4, 1326].

    A hand is :data:`BLOCKED` from the street on that shows one of its cards.
    """
    for combo in range(np.uint64(COMBO_COUNT)):
        out[0, combo] = lookup.preflop_child[np.uint64(0), np.uint64(lookup.preflop_feature[combo])]
    if board.shape[0] < 3:
        return
    a, b, c = np.uint64(board[0]), np.uint64(board[1]), np.uint64(board[2])
    place = lookup.flop_place[rank_of_three(a, b, c)]
    rows, once = lookup.flop_row, lookup.flop_once
    _street_buckets(place, lookup.flop_feature, rows, once, out[0], out[1])
    if board.shape[0] < 4:
        return
    d = np.uint64(board[3])
    place = lookup.turn_place[rank_of_four(a, b, c, d)]
    rows, once = lookup.turn_row, lookup.turn_once
    _street_buckets(place, lookup.turn_feature, rows, once, out[1], out[2])
    if board.shape[0] < 5:
        return
    place = lookup.river_place[rank_of_five(a, b, c, d, np.uint64(board[4]))]
    rows, once = lookup.river_row, lookup.river_once
    _street_buckets(place, lookup.river_feature, rows, once, out[2], out[3])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array as kernels see it: the same type whether it is mapped from a file or made."""
    plain = np.ascontiguousarray(array).view(np.ndarray).view()
    plain.setflags(write=False)
    return plain


def lookup(
    features: Sequence[NDArray[np.uint16]], children: Sequence[NDArray[np.uint16]]
) -> Lookup:
    """Put the feature and child tables of the four streets together; arrays are not copied."""
    shapes = [(COMBO_COUNT,)] + [(BOARD_CLASSES[size], COMBO_COUNT) for size in BOARD_SIZES[1:]]
    if len(features) != STREET_COUNT or len(children) != STREET_COUNT:
        raise GameError("a look-up has feature and child tables of four streets")
    buckets = 1
    kept: list[tuple[NDArray[np.uint16], NDArray[np.uint16]]] = []
    for street, (feature, child) in enumerate(zip(features, children, strict=True)):
        if feature.dtype != np.uint16 or feature.shape != shapes[street]:
            raise GameError(
                f"the features of street {street} are {feature.dtype}{list(feature.shape)}: "
                f"make them uint16{list(shapes[street])}"
            )
        if child.dtype != np.uint16 or child.ndim != 2 or child.shape[0] not in (1, buckets):
            raise GameError(
                f"the child table of street {street} is {child.dtype}{list(child.shape)}: "
                f"make it uint16 with 1 row, or one for each of the {buckets} buckets before"
            )
        kept.append(_once(child, buckets))
        buckets = int(child[child != BLOCKED].max(initial=0)) + 1
    rows, once = zip(*kept[1:], strict=True)
    return Lookup(
        *(_read_only(table) for table in (*features, *children)),
        *(board_places(size) for size in BOARD_SIZES[1:]),
        *(_read_only(table) for table in (*rows, *once)),
    )


def _once(child: NDArray[np.uint16], buckets: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Row of every bucket before in a table whose rows all differ, and that table."""
    if len(child) == 1:
        return np.zeros(buckets, np.uint16), child
    seen: dict[bytes, int] = {}
    rows = [seen.setdefault(row.tobytes(), len(seen)) for row in child]
    first = np.unique(rows, return_index=True)[1]
    return np.array(rows, dtype=np.uint16), child[first]


def bench_lookup(lookup: Lookup, hands: int = 200_000, seed: int = 0) -> float:
    """Nanoseconds of processor time of a bucket look-up inside a kernel, cards at random: the best of five.

    All four streets of each hand are looked up, so a quarter of the time is one look-up.
    """
    from time import thread_time

    rng = np.random.default_rng(seed)
    deals = np.argsort(rng.random((hands, 52), dtype=np.float32), axis=1)[:, :7]
    boards = np.ascontiguousarray(deals[:, :5].astype(np.uint8))
    high, low = deals[:, 5:].max(axis=1), deals[:, 5:].min(axis=1)
    combos = (high * (high - 1) // 2 + low).astype(np.uint16)
    out = np.empty((hands, STREET_COUNT), dtype=np.int64)
    seconds = []
    for _ in range(6):
        start = thread_time()
        bucket_paths(lookup, boards, combos, out)
        seconds.append(thread_time() - start)
    # The first run compiles.
    return min(seconds[1:]) / (hands * STREET_COUNT) * 1e9

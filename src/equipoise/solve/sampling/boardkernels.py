"""One board's buckets and points, and the rows of its buckets: the compiled part of board sampling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.lookup import Lookup, board_buckets
from equipoise.abstraction.tables.pairpoints import count_pairs
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.evaluator import Tables, order_hands, room_for_hands
from equipoise.kernel import kernel, row_kernel
from equipoise.solve.sweep.lanes import LANES, into_lanes, load, out_of_lanes, store


@kernel
def river_points(
    lookup: Lookup,
    board: NDArray[np.uint8],
    tables: Tables,
    known: NDArray[np.int64],
    points: NDArray[np.int32],
) -> int:
    """River buckets on a board, ascending, into `known`; their points into `points`[n * n]."""
    buckets = np.empty((4, COMBO_COUNT), np.uint16)
    strength, half_sorted, order = room_for_hands()
    board_buckets(lookup, board, buckets)
    live = order_hands(board, tables, strength, half_sorted, order)
    river = buckets[3]
    most = np.uint64(0)
    for i in range(live):
        most = max(most, np.uint64(river[order[i]]))
    number = np.full(most + np.uint64(1), -1, np.int64)
    for i in range(live):
        number[river[order[i]]] = 0
    size = 0
    for bucket in range(number.shape[0]):
        if number[bucket] == 0:
            number[bucket] = size
            known[size] = bucket
            size += 1
    place = np.empty(live, np.uint64)
    for i in range(live):
        place[i] = np.uint64(number[river[order[i]]])
    owned = np.ones(size, np.bool_)
    passed, held = np.empty(size, np.int16), np.empty(52 * size, np.int16)
    count_pairs(strength, order, live, place, owned, np.uint64(size), passed, held, points)
    return size


@row_kernel
def fetch_rows(kept, starts, blocks, rows, base, width, sample, lanes):  # type: ignore[no-untyped-def]
    """Rows of some buckets, kept bucket by bucket, into the rows of a sample's vectors."""
    for block in range(blocks):
        for row in range(0, rows, LANES):
            into_lanes(kept, starts[block], row, lanes)
            for k in range(row, min(row + LANES, rows)):
                store(sample, base + k * width + block * LANES, load(lanes, k * LANES))


@row_kernel
def put_rows(kept, starts, blocks, rows, base, width, sample, lanes):  # type: ignore[no-untyped-def]
    """The way back of :func:`fetch_rows`."""
    for block in range(blocks):
        for k in range(rows):
            store(lanes, k * LANES, load(sample, base + k * width + block * LANES))
        for row in range(0, rows, LANES):
            out_of_lanes(kept, starts[block], row, lanes)


@row_kernel
def add_rows(kept, starts, blocks, rows, base, width, sample, lanes):  # type: ignore[no-untyped-def]
    """Add a sample's rows to what is kept, and empty them."""
    for block in range(blocks):
        for row in range(0, rows, LANES):
            into_lanes(kept, starts[block], row, lanes)
        for k in range(rows):
            at = base + k * width + block * LANES
            new = load(sample, at)
            store(lanes, k * LANES, load(lanes, k * LANES) + new)
            store(sample, at, new - new)
        for row in range(0, rows, LANES):
            out_of_lanes(kept, starts[block], row, lanes)

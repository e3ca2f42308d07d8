"""Products of a few sparse vectors with a large table, by panels of columns.

Late in training most hands no longer come to most terminals: of the opponent's reach at the river's
terminals of 8-12-4-4 some 12 % is left. A product of full matrices multiplies the rest by zero. Here
four vectors are taken at a time, the states that any of them reaches are listed, and only those rows
of the table are read:

    out[r, c] = Σ over listed j of  reach[r, j] · table[j, c]

The table stands in *panels* of 96 columns, row after row, so that a panel stays in the second level of
cache while all vectors pass, and 4 × 96 sums stay in registers. On one core with vectors of sixteen
numbers this is as fast as BLAS on full vectors, twice as fast with half of them zero and six times
with nine tenths.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from equipoise.kernel import kernel_part, row_kernel
from equipoise.solve.sweep.lanes import LANES, fused, load, splat, store

#: Vectors that are multiplied together.
TOGETHER = 4
#: Whether a register holds sixteen numbers, and there are thirty-two.
_WIDE = bool(binding.get_host_cpu_features().get("avx512f", False))
#: Columns of a panel: as many as four rows of sums find registers for.
PANEL = 6 * LANES if _WIDE else LANES


def panel_room(rows: int, columns: int) -> int:
    """Numbers that a table takes in panels, the last one filled up.

    >>> panel_room(5, 7) == 5 * PANEL
    True
    """
    return rows * -(-columns // PANEL) * PANEL


def put_in_panels(table: NDArray[Any], flat: NDArray[Any]) -> None:
    """Write a table [row, column] into zeros, panel after panel."""
    rows, columns = table.shape
    for first in range(0, columns, PANEL):
        part = table[:, first : first + PANEL]
        panel = flat[rows * first : rows * (first + PANEL)].reshape(rows, PANEL)
        panel[:, : part.shape[1]] = part


class Packed(NamedTuple):
    """Vectors with what nobody reaches left out, four by four.

    Group g lists its states from `support[g * states]` on, `supported[g]` of them, and has the four
    numbers of a listed state together, from `numbers[g * states * TOGETHER]` on.
    """

    numbers: Any
    support: Any
    supported: Any


@row_kernel
def pack(field, slot, terminals, player, states, packed):
    """List the states that each four of the terminals reach, and their reach times the factors.

    A last group is filled up with zeros.
    """
    nodes, a, b, factors = terminals
    numbers, support, supported = packed
    for group in range((b - a + TOGETHER - 1) // TOGETHER):
        first = a + group * TOGETHER
        x0 = slot[nodes[first]]
        x1 = slot[nodes[min(first + 1, b - 1)]]
        x2 = slot[nodes[min(first + 2, b - 1)]]
        x3 = slot[nodes[min(first + 3, b - 1)]]
        f0 = factors[player, nodes[first]]
        f1 = factors[player, nodes[min(first + 1, b - 1)]] * (first + 1 < b)
        f2 = factors[player, nodes[min(first + 2, b - 1)]] * (first + 2 < b)
        f3 = factors[player, nodes[min(first + 3, b - 1)]] * (first + 3 < b)
        listed, at = group * states, group * states * TOGETHER
        for j in range(states):
            r0, r1, r2, r3 = field[x0 + j], field[x1 + j], field[x2 + j], field[x3 + j]
            support[listed] = j
            numbers[at] = r0 * f0
            numbers[at + 1] = r1 * f1
            numbers[at + 2] = r2 * f2
            numbers[at + 3] = r3 * f3
            # Written in any case, kept only if somebody is there.
            there = (r0 != 0) | (r1 != 0) | (r2 != 0) | (r3 != 0)
            listed += there
            at += TOGETHER * there
        supported[group] = listed - group * states


@row_kernel
def _wide_tile(table, at, packed, p, support, s, listed, tile, zero):
    """Sums of four vectors over the listed rows of a panel of six blocks."""
    a0 = a1 = a2 = a3 = a4 = a5 = splat(zero)
    b0 = b1 = b2 = b3 = b4 = b5 = splat(zero)
    c0 = c1 = c2 = c3 = c4 = c5 = splat(zero)
    d0 = d1 = d2 = d3 = d4 = d5 = splat(zero)
    for k in range(listed):
        row = at + np.intp(support[s + k]) * PANEL
        t0, t1, t2 = load(table, row), load(table, row + LANES), load(table, row + 2 * LANES)
        t3, t4 = load(table, row + 3 * LANES), load(table, row + 4 * LANES)
        t5 = load(table, row + 5 * LANES)
        y = splat(packed[p + 4 * k])
        a0, a1, a2 = fused(y, t0, a0), fused(y, t1, a1), fused(y, t2, a2)
        a3, a4, a5 = fused(y, t3, a3), fused(y, t4, a4), fused(y, t5, a5)
        y = splat(packed[p + 4 * k + 1])
        b0, b1, b2 = fused(y, t0, b0), fused(y, t1, b1), fused(y, t2, b2)
        b3, b4, b5 = fused(y, t3, b3), fused(y, t4, b4), fused(y, t5, b5)
        y = splat(packed[p + 4 * k + 2])
        c0, c1, c2 = fused(y, t0, c0), fused(y, t1, c1), fused(y, t2, c2)
        c3, c4, c5 = fused(y, t3, c3), fused(y, t4, c4), fused(y, t5, c5)
        y = splat(packed[p + 4 * k + 3])
        d0, d1, d2 = fused(y, t0, d0), fused(y, t1, d1), fused(y, t2, d2)
        d3, d4, d5 = fused(y, t3, d3), fused(y, t4, d4), fused(y, t5, d5)
    _keep(tile, 0, 6 * LANES, a0, b0, c0, d0)
    _keep(tile, LANES, 6 * LANES, a1, b1, c1, d1)
    _keep(tile, 2 * LANES, 6 * LANES, a2, b2, c2, d2)
    _keep(tile, 3 * LANES, 6 * LANES, a3, b3, c3, d3)
    _keep(tile, 4 * LANES, 6 * LANES, a4, b4, c4, d4)
    _keep(tile, 5 * LANES, 6 * LANES, a5, b5, c5, d5)


@row_kernel
def _narrow_tile(table, at, packed, p, support, s, listed, tile, zero):
    """The same in panels of one block, for processors with few registers."""
    a = b = c = d = splat(zero)
    for k in range(listed):
        t = load(table, at + np.intp(support[s + k]) * LANES)
        a = fused(splat(packed[p + 4 * k]), t, a)
        b = fused(splat(packed[p + 4 * k + 1]), t, b)
        c = fused(splat(packed[p + 4 * k + 2]), t, c)
        d = fused(splat(packed[p + 4 * k + 3]), t, d)
    _keep(tile, 0, LANES, a, b, c, d)


@kernel_part
def _keep(tile, at, step, a, b, c, d):
    store(tile, at, a)
    store(tile, at + step, b)
    store(tile, at + 2 * step, c)
    store(tile, at + 3 * step, d)


_tile = _wide_tile if _WIDE else _narrow_tile


@row_kernel
def multiply_packed(table, view, packed, count, out, target, step, add, tile):
    """`out[target + r · step :] (+)= packed vector r · table` for `count` vectors of `width` sums.

    `table` has its panels from `view.at` on, of as many rows as there are states.
    """
    at, states, width = view
    numbers, support, supported = packed
    zero = tile[TOGETHER * PANEL]
    for column in range(0, width, PANEL):
        blocks = min(PANEL, width - column)
        for group in range((count + TOGETHER - 1) // TOGETHER):
            _tile(table, at + column * states, numbers, group * states * TOGETHER, support,
                  group * states, supported[group], tile, zero)  # fmt: skip
            for r in range(min(TOGETHER, count - group * TOGETHER)):
                to = target + (group * TOGETHER + r) * step + column
                for h in range(0, blocks, LANES):
                    found = load(tile, r * PANEL + h)
                    store(out, to + h, load(out, to + h) + found if add else found)

"""Terminals by joint tables: `even * mass · reach + swing * signed · reach`.

Two evaluators read the same tables. In double precision small games multiply in plain loops, four
vectors at a time, and bucketed games by BLAS, one product for all terminals of a part; in single
precision all multiply by panels of columns, which skip the states that no longer come (:mod:`.panels`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from equipoise.kernel import inlined_kernel, kernel_part
from equipoise.solve.sweep.blas import multiply
from equipoise.solve.sweep.lanes import LANES, load, splat, store
from equipoise.solve.sweep.layout import ONE, ZERO
from equipoise.solve.sweep.panels import Packed, multiply_packed, pack

Array = Any


class Matrices(NamedTuple):
    """Evaluator in double precision: dense joint tables of every board."""

    #: Probability of a pair of states and the board, and that times who wins, as the player sees it.
    mass: Array
    signed: Array
    #: [board, player]: start of his view, rows over the opponent's states, padded like his vectors.
    start: Array


class Panels(NamedTuple):
    """Evaluator in single precision: the same tables by panels of columns, which are multiplied by
    what hands are left (:mod:`.panels`).
    """

    mass: Array
    signed: Array
    start: Array


class Terminals(NamedTuple):
    """The terminals `nodes[first:last]` and what they pay per unit of mass, [player, node]."""

    nodes: Array
    first: Any
    last: Any
    factors: Array


class View(NamedTuple):
    """A table as one player sees it: from `at` on, the opponent's states, the width of a row."""

    at: Any
    states: Any
    width: Any


class Target(NamedTuple):
    """Where vectors go in the field: the first, and the step from one to the next."""

    start: Any
    step: Any


@inlined_kernel
def _raked(showdowns, evens, player, par):
    """Whether any of the showdowns gives both players something, or takes it."""
    found = False
    for k in range(showdowns.first, showdowns.last):
        found |= evens[player, showdowns.nodes[k]] != par[ZERO]
    return found


# --------------------------------------------------------------------------------- plain loops


@kernel_part
def _matrix_product(table, view, copies, count, work, add, par):
    """`field[target] (+)= table · copies` for up to four vectors of reach side by side."""
    zero = splat(par[ZERO])
    for h in range(0, view.width, LANES):
        s0, s1, s2, s3 = zero, zero, zero, zero
        row = view.at + h
        for j in range(view.states):
            entry = load(table, row)
            s0 = s0 + entry * splat(copies[4 * j])
            s1 = s1 + entry * splat(copies[4 * j + 1])
            s2 = s2 + entry * splat(copies[4 * j + 2])
            s3 = s3 + entry * splat(copies[4 * j + 3])
            row += view.width
        for k in range(count):
            total = s0 if k == 0 else s1 if k == 1 else s2 if k == 2 else s3
            if add:
                total = total + load(work.field, work.target[k] + h)
            store(work.field, work.target[k] + h, total)


@kernel_part
def _matrix_terminals(
    table, terminals, second, second_factors, raked, view, player, home, work, par
):
    """`table · reach * factor`, and the same of a second table if `raked`, for all `terminals`.

    Reach is copied first: a value may overwrite the very reach it comes from.
    """
    copies, copies_too = work.lanes_in, work.lanes_out
    for batch in range(terminals.first, terminals.last, 4):
        count = min(4, terminals.last - batch)
        for k in range(4):
            node = terminals.nodes[batch + min(k, count - 1)]
            source = work.slot[node]
            work.target[k] = home[node]
            factor, factor_too = terminals.factors[player, node], second_factors[player, node]
            for j in range(view.states):
                arriving = work.field[source + j]
                copies[4 * j + k] = arriving * factor
                copies_too[4 * j + k] = arriving * factor_too
        _matrix_product(table, view, copies, count, work, False, par)
        if raked:
            _matrix_product(second, view, copies_too, count, work, True, par)


@inlined_kernel
def _folds_of(lines, part):
    return Terminals(lines.folds, lines.fold_start[part], lines.fold_start[part + 1], lines.even)


@inlined_kernel
def _showdowns_of(lines, part):
    first, last = lines.showdown_start[part], lines.showdown_start[part + 1]
    return Terminals(lines.showdowns, first, last, lines.swing)


@inlined_kernel
def _view_of(layout, board, player):
    boards = layout.boards
    states, width = boards.states[board, 1 - player], boards.width[board, player]
    return View(layout.tables.start[board, player], states, width)


@inlined_kernel
def _evaluate_loops(layout, board, part, player, work, par):
    """All folds and showdowns of a part, four at a time."""
    tables, lines = layout.tables, layout.lines
    view = _view_of(layout, board, player)
    folds, showdowns = _folds_of(lines, part), _showdowns_of(lines, part)
    raked = _raked(showdowns, lines.even, player, par)
    mass, signed = tables.mass, tables.signed
    _matrix_terminals(mass, folds, signed, lines.swing, False, view, player, lines.home, work, par)
    _matrix_terminals(
        signed, showdowns, mass, lines.even, raked, view, player, lines.home, work, par
    )


# --------------------------------------------------------------------------- products by BLAS


@kernel_part
def _copy_scaled(terminals, factors, player, width, work):
    """Reach of the terminals times their factors, one after another into `work.lanes_in`."""
    for k in range(terminals.first, terminals.last):
        node = terminals.nodes[k]
        source, target = work.slot[node], (k - terminals.first) * width
        factor = splat(factors[player, node])
        for h in range(0, width, LANES):
            store(work.lanes_in, target + h, load(work.field, source + h) * factor)


@kernel_part
def multiply_lanes(gemm, count, step, table, view, target, work, add, par):
    """`field[target] (+)= work.lanes_in · table` for `count` vectors, `step` apart in `lanes_in`."""
    work.sizes[0], work.sizes[1], work.sizes[2] = view.width, count, view.states
    work.sizes[3], work.sizes[4], work.sizes[5] = view.width, step, target.step
    # BLAS counts by columns: what are rows here are columns there, and the factors change places.
    multiply(gemm, work.sizes, par, ONE, ONE if add else ZERO, table, view.at, work.lanes_in,
             work.field, target.start)  # fmt: skip


@inlined_kernel
def _evaluate_products(layout, board, part, player, work, par):
    """All folds and showdowns of a part, by one product each: `(reach * factor) · table`."""
    tables, lines, boards, gemm = layout.tables, layout.lines, layout.boards, layout.gemm
    width, stride = boards.width[board, 1 - player], lines.stride[boards.round[board]]
    view = _view_of(layout, board, player)
    folds, showdowns = _folds_of(lines, part), _showdowns_of(lines, part)
    count = folds.last - folds.first
    if count > 0:
        _copy_scaled(folds, lines.even, player, width, work)
        target = Target(lines.home[folds.nodes[folds.first]], stride)
        multiply_lanes(gemm, count, width, tables.mass, view, target, work, False, par)
    count = showdowns.last - showdowns.first
    if count > 0:
        raked = _raked(showdowns, lines.even, player, par)
        # A value may overwrite the very reach it comes from: the rake's share is put in first.
        target = Target(lines.home[showdowns.nodes[showdowns.first]], stride)
        if raked:
            for k in range(count):
                source = work.slot[showdowns.nodes[showdowns.first + k]]
                for h in range(width):
                    work.lanes_out[k * width + h] = work.field[source + h]
            _copy_scaled(showdowns, lines.even, player, width, work)
            multiply_lanes(gemm, count, width, tables.mass, view, target, work, False, par)
            for k in range(count):
                factor = lines.swing[player, showdowns.nodes[showdowns.first + k]]
                for h in range(k * width, (k + 1) * width):
                    work.lanes_in[h] = work.lanes_out[h] * factor
        else:
            _copy_scaled(showdowns, lines.swing, player, width, work)
        multiply_lanes(gemm, count, width, tables.signed, view, target, work, raked, par)


@kernel_part
def evaluate_matrices(layout, numbers, work, board, part, player, code):
    """All folds and showdowns of a part by joint tables: by BLAS if the game is large."""
    if layout.gemm != 0:
        _evaluate_products(layout, board, part, player, work, work.par)
    else:
        _evaluate_loops(layout, board, part, player, work, work.par)


# -------------------------------------------------------------------------- products by panels


@kernel_part
def evaluate_panels(layout, numbers, work, board, part, player, code):
    """All folds and showdowns of a part, by the states that still come there."""
    par = work.par
    tables, lines, boards = layout.tables, layout.lines, layout.boards
    stride = lines.stride[boards.round[board]]
    view = _view_of(layout, board, player)
    folds, showdowns = _folds_of(lines, part), _showdowns_of(lines, part)
    reached = Packed(work.lanes_in, work.support, work.supported)
    count = folds.last - folds.first
    if count > 0:
        target = lines.home[folds.nodes[folds.first]]
        pack(work.field, work.slot, folds, player, view.states, reached)
        multiply_packed(tables.mass, view, reached, count, work.field, target, stride, False,
                        work.tile)  # fmt: skip
    count = showdowns.last - showdowns.first
    if count > 0:
        raked = _raked(showdowns, lines.even, player, par)
        target = lines.home[showdowns.nodes[showdowns.first]]
        # A value may overwrite the very reach it comes from: all reach is packed first. Both times
        # the same states are listed.
        reached_too = Packed(work.lanes_out, work.support, work.supported)
        if raked:
            evened = Terminals(showdowns.nodes, showdowns.first, showdowns.last, lines.even)
            pack(work.field, work.slot, evened, player, view.states, reached_too)
        pack(work.field, work.slot, showdowns, player, view.states, reached)
        if raked:
            multiply_packed(tables.mass, view, reached_too, count, work.field, target, stride,
                            False, work.tile)  # fmt: skip
        multiply_packed(tables.signed, view, reached, count, work.field, target, stride, raked,
                        work.tile)  # fmt: skip

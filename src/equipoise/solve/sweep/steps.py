"""The steps of a sweep on one board: reach comes in, goes down, is cleared for values, which go up and out.

All steps take the same arguments, so that the walk (:mod:`.sweep`) calls them by address: the game, its
rows and a thread's workspace as handles (:mod:`.handles`), the board, the part of the betting, the
player whose values are wanted, and a code that is the step's own.
"""

from __future__ import annotations

import numpy as np

from equipoise.kernel import inlined_kernel, kernel_part
from equipoise.solve.sweep.given import scale_given
from equipoise.solve.sweep.lanes import LANES, gather, load, splat, store
from equipoise.solve.sweep.matrices import Target, View, multiply_lanes
from equipoise.solve.sweep.rowrules import (
    BEST,
    ENTROPY,
    EUCLIDEAN,
    PREDICTIVE,
    REGRET,
    VALUE,
    Place,
    add_children,
    best_rule,
    copy_children,
    entropy_rule,
    euclidean_rule,
    go_down,
    go_down_locked,
    in_units,
    learn,
    locked_rule,
    mix,
    predictive_rule,
    value_rule,
)

# ---------------------------------------------------------------------------- from board to board


@kernel_part
def enter(frame, numbers, work, board, part, player, code):
    """Bring the opponent's reach from the parent board to the roots of a part, by chance."""
    lines, boards, par = frame.lines, frame.boards, work.par
    opponent = 1 - player
    width = boards.width[board, opponent]
    street = boards.round[board]
    first = lines.leaf_start[street - 1] + lines.root_start[part] - lines.root_start[street]
    root = lines.start[street] + lines.root_start[part] - lines.root_start[street]
    roots = lines.root_start[part + 1] - lines.root_start[part]
    for k in range(roots):
        work.slot[root + k] = lines.place[root + k]
    matrix = boards.down_start[board, opponent]
    if matrix >= 0:
        above = boards.parent[board]
        step = boards.width[above, opponent]
        for k in range(roots):
            source = work.slot[lines.leaves[first + k]]
            for h in range(0, step, LANES):
                store(work.lanes_in, k * step + h, load(work.field, source + h))
        view = View(matrix, boards.states[above, opponent], width)
        target = Target(lines.place[root], lines.stride[street])
        multiply_lanes(frame.gemm, roots, step, boards.transitions, view, target, work, False, par)
        return
    origin = boards.map_start[board, opponent]
    weight = splat(boards.weight[board])
    for k in range(roots):
        source = work.slot[lines.leaves[first + k]]
        place = lines.place[root + k]
        for h in range(0, width, LANES):
            arriving = gather(work.field, source, boards.maps, origin + h) * weight
            store(work.field, place + h, arriving)


@kernel_part
def return_values(frame, numbers, work, board, part, player, code):
    """Add the values of a part's roots to the parent's DEAL nodes, through every arrival."""
    lines, boards, par = frame.lines, frame.boards, work.par
    street, above = boards.round[board], boards.parent[board]
    width = boards.width[above, player]
    first = lines.leaf_start[street - 1] + lines.root_start[part] - lines.root_start[street]
    root = lines.start[street] + lines.root_start[part] - lines.root_start[street]
    roots = lines.root_start[part + 1] - lines.root_start[part]
    matrix = boards.up_start[board, player]
    if matrix >= 0:
        step = boards.width[board, player]
        for k in range(roots):
            for h in range(0, step, LANES):
                value = load(work.field, lines.home[root + k] + h)
                store(work.lanes_in, k * step + h, value)
        view = View(matrix, boards.states[board, player], width)
        target = Target(lines.home[lines.leaves[first]], lines.stride[street - 1])
        multiply_lanes(frame.gemm, roots, step, boards.transitions, view, target, work, True, par)
        return
    for arrival in range(boards.first_arrival[board], boards.first_arrival[board + 1]):
        origin = boards.back_start[arrival, player]
        for k in range(roots):
            source = lines.home[root + k]
            home = lines.home[lines.leaves[first + k]]
            for h in range(0, width, LANES):
                returning = gather(work.field, source, boards.back, origin + h)
                store(work.field, home + h, load(work.field, home + h) + returning)


# --------------------------------------------------------------------------------- on one board


@inlined_kernel
def _lock_of(lines, boards, locks, board, node):
    """Where the lock of a decision stands, -1 if it is free."""
    start = locks.start[board]
    if start < 0:
        return start
    return locks.at[start + node - lines.start[boards.round[board]]]


@kernel_part
def down(frame, numbers, work, board, part, player, averaging):
    """The opponent's reach through a part of the betting on one board."""
    lines, boards, par = frame.lines, frame.boards, work.par
    opponent = 1 - player
    width, base = boards.width[board, opponent], boards.base[board, opponent]
    facing, plan, places, field = numbers.facing, numbers.plan, lines.place, work.field
    for k in range(lines.decision_start[part], lines.decision_start[part + 1]):
        node = lines.decisions[k]
        kind = lines.kind[node]
        first, actions = np.intp(lines.first[node]), np.intp(lines.count[node])
        if kind == player:
            for a in range(actions):
                work.slot[first + a] = work.slot[node]
            continue
        for a in range(actions):
            work.slot[first + a] = places[first + a]
        at = base + np.intp(lines.row[node]) * width
        place = Place(at, actions, width, work.slot[node], first)
        direct = averaging != 0 and not in_units(plan)
        lock = _lock_of(lines, boards, frame.locks, board, node)
        if lock >= 0:
            locked = frame.locks.rows
            go_down_locked(facing, place, lock, locked, field, places, plan, direct, par)
        else:
            go_down(facing, place, field, places, plan, direct, par)
        if averaging != 0:
            decision = boards.decision[board, opponent] + np.intp(lines.order[node])
            mix(plan, numbers.plan_unit, decision, place, field, places, par)


@kernel_part
def up(frame, numbers, work, board, part, player, rule):
    """Values through a part of the betting on one board, my rows updated by the rule."""
    lines, boards, par = frame.lines, frame.boards, work.par
    scale_given(frame, board, part, player, work)
    width, base = boards.width[board, player], boards.base[board, player]
    states = boards.states[board, player]
    rows, out, weights = numbers.rows, numbers.out, numbers.weights
    value, home = work.field, lines.home
    for k in range(lines.decision_start[part + 1] - 1, lines.decision_start[part] - 1, -1):
        node = lines.decisions[k]
        first, actions = np.intp(lines.first[node]), np.intp(lines.count[node])
        at = base + np.intp(lines.row[node]) * width
        place = Place(at, actions, width, home[node], first)
        if lines.kind[node] != player:
            add_children(place, value, home)
            continue
        lock = _lock_of(lines, boards, frame.locks, board, node)
        if lock >= 0:
            locked_rule(rule, rows, place, lock, frame.locks.rows, states, value, home, par)
        elif rule == REGRET:
            decision = boards.decision[board, player] + np.intp(lines.order[node])
            learn(rows, numbers.rows_unit, decision, place, value, home, par)
        elif rule == BEST:
            best_rule(out, place, value, home, par)
        elif rule == VALUE:
            value_rule(rows, place, value, home, par)
        elif rule == PREDICTIVE:
            predictive_rule(rows, out, place, value, home, par)
        elif rule == ENTROPY:
            entropy_rule(out, weights, base, place, states, value, home, par)
        elif rule == EUCLIDEAN:
            euclidean_rule(out, weights, base, place, states, value, home, par, work.on_card)
        else:
            copy_children(out, place, value, home)
            value_rule(rows, place, value, home, par)

"""The one sweep under every solver.

Given the opponent's strategy, compute the counterfactual value of each of my actions, and let a
*row rule* do with them what the solver wants. One sweep for player `p`:

1. *Down.* The opponent's reach goes down the betting forest of the board; at his decisions it is
   multiplied with his strategy, at mine it is shared by all children. The strategy is the positive
   part of a stored row, normalised over the actions, uniform where that is zero: regret matching if
   the rows are regrets, the average strategy if they are a realisation plan. On the way his
   realisation plan (reach times strategy) can be mixed into a second set of rows: that is the
   average strategy, reach-weighted.
2. *Deal.* At the end of a round every board that can come is visited in turn: reach is gathered
   through the arrival map and weighted with chance, the sweep goes on there, and the values it
   returns are added back through the map.
3. *Terminals* turn reach into values: `even * N + swing * D` (:mod:`equipoise.games.betting`), or
   values that the caller gives times `N` (:mod:`.given`).
4. *Up.* At his decisions values add; at mine the row rule gives the value and updates my rows.

The tuples of arrays are in :mod:`.layout`, the rules in :mod:`.rowrules`, terminals in
:mod:`.evaluators`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.kernel import inlined, row_kernel
from equipoise.solve.sweep.evaluators import evaluate
from equipoise.solve.sweep.lanes import LANES, gather, load, splat, store
from equipoise.solve.sweep.layout import (
    GAIN,
    MIX_ALL,
    MIX_NOT,
    UP_BELOW,
    UP_ROOT,
    UP_TOP,
    ZERO,
)
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

Array = Any

# ---------------------------------------------------------------------------- from board to board


class Frame(NamedTuple):
    """What does not depend on how terminals are evaluated.

    Kernels that take this and not the whole layout are compiled once for all evaluators.
    """

    lines: Array
    boards: Array
    locks: Array
    gemm: Array


@inlined
def _frame_of(layout):
    return Frame(layout.lines, layout.boards, layout.locks, layout.gemm)


@row_kernel
def _enter(frame, board, part, player, work, par):
    """Bring the opponent's reach from the parent board to the roots of a part, by chance."""
    lines, boards = frame.lines, frame.boards
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


@row_kernel
def _clear_leaves(lines, boards, board, player, work, zero):
    """Values of the board's DEAL nodes start at zero; the boards below add to them."""
    street = boards.round[board]
    nothing = splat(zero)
    for k in range(lines.leaf_start[street], lines.leaf_start[street + 1]):
        target = lines.home[lines.leaves[k]]
        for h in range(0, boards.width[board, player], LANES):
            store(work.field, target + h, nothing)


@row_kernel
def _return_values(frame, board, part, player, work, par):
    """Add the values of a part's roots to the parent's DEAL nodes, through every arrival."""
    lines, boards = frame.lines, frame.boards
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


@inlined
def _lock_of(lines, boards, locks, board, node):
    """Where the lock of a decision stands, -1 if it is free."""
    start = locks.start[board]
    if start < 0:
        return start
    return locks.at[start + node - lines.start[boards.round[board]]]


@row_kernel
def _go_down(frame, board, part, player, facing, numbers, averaging, work, par):
    """Step 1: the opponent's reach through a part of the betting on one board."""
    lines, boards = frame.lines, frame.boards
    opponent = 1 - player
    width, base = boards.width[board, opponent], boards.base[board, opponent]
    plan, places, field = numbers.plan, lines.place, work.field
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
        direct = averaging and not in_units(plan)
        lock = _lock_of(lines, boards, frame.locks, board, node)
        if lock >= 0:
            locked = frame.locks.rows
            go_down_locked(facing, place, lock, locked, field, places, plan, direct, par)
        else:
            go_down(facing, place, field, places, plan, direct, par)
        if averaging:
            decision = boards.decision[board, opponent] + np.intp(lines.order[node])
            mix(plan, numbers.plan_unit, decision, place, field, places, par)


@row_kernel
def _go_up(frame, board, part, player, rule, numbers, work, par):
    """Step 4: values through a part of the betting on one board, my rows updated by the rule."""
    lines, boards = frame.lines, frame.boards
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


# ------------------------------------------------------------------------------------- the walk


@inlined
def _sweep_group(layout, player, rule, share, group, facing, numbers, averaging, upward, work, par):
    """Steps 1 to 4 on a group of boards dealt from the last of the path, and on all below them."""
    lines, boards, frame = layout.lines, layout.boards, _frame_of(layout)
    top = share.path[share.path.shape[0] - 1]
    first_board, last_board = share.cuts[group], share.cuts[group + 1]
    top_round = boards.round[top]
    last_round = lines.start.shape[0] - 2
    if first_board >= last_board:
        return
    # Player 1 meets the boards in the opposite order: what player 0 touched last is still in cache.
    street = top_round + 1
    work.current[top_round] = top
    work.cursor[street] = 0
    while street > top_round:
        above = work.current[street - 1]
        start = first_board if above == top else boards.first_child[above]
        stop = last_board if above == top else boards.first_child[above + 1]
        if work.cursor[street] < stop - start:
            board = start + work.cursor[street]
            if player == 1:
                board = stop - 1 - work.cursor[street]
            work.current[street] = board
            if street < last_round:
                _enter(frame, board, street, player, work, par)
                _go_down(frame, board, street, player, facing, numbers, averaging, work, par)
                _clear_leaves(lines, boards, board, player, work, par[ZERO])
                street += 1
                work.cursor[street] = 0
                continue
            first, last = share.first_part, share.last_part
        else:
            street -= 1
            if street == top_round:
                return
            board = work.current[street]
            first, last = street, street + 1
        following = board + 1 - 2 * player
        if not start <= following < stop:
            following = np.int64(-1)
        for part in range(first, last):
            if street == last_round:
                _enter(frame, board, part, player, work, par)
                _go_down(frame, board, part, player, facing, numbers, averaging, work, par)
            if upward:
                evaluate(layout, board, part, following, player, facing, numbers, work, par)
                _go_up(frame, board, part, player, rule, numbers, work, par)
                _return_values(frame, board, part, player, work, par)
        work.cursor[street] += 1


@inlined
def _set_aside(lines, street, slot, add, sums, work):
    """Keep the values of a round's DEAL nodes, which stand together, in a slot of the sums."""
    first, last = lines.leaf_start[street], lines.leaf_start[street + 1]
    start, length = lines.home[lines.leaves[first]], (last - first) * lines.stride[street]
    for h in range(0, length, LANES):
        value = load(work.field, start + h)
        at = slot * length + h
        store(sums, at, load(sums, at) + value if add else value)


@inlined
def _add_up(lines, street, player, sums, work):
    """Bring back the values of a round's DEAL nodes: all slots in order, player 1's from the last."""
    first, last = lines.leaf_start[street], lines.leaf_start[street + 1]
    start, length = lines.home[lines.leaves[first]], (last - first) * lines.stride[street]
    slots = sums.shape[0] // length
    for h in range(0, length, LANES):
        total = load(sums, h if player == 0 else (slots - 1) * length + h)
        for k in range(1, slots):
            slot = k if player == 0 else slots - 1 - k
            total = total + load(sums, slot * length + h)
        store(work.field, start + h, total)


@inlined
def _sweep_below(layout, player, rule, share, facing, numbers, averaging, upward, work, par):
    """Steps 1 to 4 on all groups of a share."""
    lines, boards = layout.lines, layout.boards
    top = share.path[share.path.shape[0] - 1]
    street = boards.round[top]
    if street == lines.start.shape[0] - 2:
        return
    alone = share.slot < 0
    for k in range(share.last_group - share.first_group):
        group = share.first_group + k if player == 0 else share.last_group - 1 - k
        _clear_leaves(lines, boards, top, player, work, par[ZERO])
        _sweep_group(
            layout, player, rule, share, group, facing, numbers, averaging, upward, work, par
        )
        if upward and share.sums.shape[0] > 0:
            slot = np.int64(0) if alone else share.slot + group - share.first_group
            _set_aside(lines, street, slot, alone and k > 0, share.sums, work)


@row_kernel
def run(layout, numbers, work, schedule, rule, players, share, averaging, downward, upward):
    """Sweeps for the players `players[0]` to `players[1]`, for every row of parameters in turn.

    `numbers` says which rows are whose. With `facing` the same array as `rows`, updates alternate:
    player 1 faces what player 0 has just learnt. With room in `before` they are simultaneous: both
    face a copy of the rows as they stood before the iteration.

    The sweep is over the boards of the share's path and those of its groups that are dealt from the
    last of the path; a path into the last round takes one part of the betting. `averaging` is one of
    the MIX_ codes, `upward` one of the UP_ codes; a gain of 0 also mixes nothing.

    Of several threads each calls this on its share with UP_BELOW; then one call that does not go
    `downward`, with UP_ROOT, adds up what they set aside and goes up to the root. A single thread does
    all of it at once.
    """
    lines, boards, path, frame = layout.lines, layout.boards, share.path, _frame_of(layout)
    top = path[path.shape[0] - 1]
    last_round = lines.start.shape[0] - 2
    top_part = share.first_part if boards.round[top] == last_round else boards.round[top]
    for t in range(schedule.shape[0]):
        par = schedule[t]
        for i in range(numbers.before.shape[0]):
            numbers.before[i] = numbers.rows[i]
        facing = numbers.before if numbers.before.shape[0] > 0 else numbers.facing
        mixing = averaging if par[GAIN] > par[ZERO] else MIX_NOT
        for player in range(players[0], players[1] + 1):
            if downward:
                initial = layout.initial1 if player == 0 else layout.initial0
                root = lines.place[0]
                for h in range(boards.width[0, 1 - player]):
                    work.field[root + h] = initial[h]
                work.slot[0] = root
                on_path = mixing == MIX_ALL
                for k in range(path.shape[0]):
                    part = top_part if k == path.shape[0] - 1 else boards.round[path[k]]
                    if k > 0:
                        _enter(frame, path[k], part, player, work, par)
                    _go_down(frame, path[k], part, player, facing, numbers, on_path, work, par)
                _sweep_below(layout, player, rule, share, facing, numbers, mixing != MIX_NOT,
                             upward >= UP_BELOW, work, par)  # fmt: skip
            if upward >= UP_TOP:
                if share.sums.shape[0] > 0:
                    _add_up(lines, boards.round[top], player, share.sums, work)
                evaluate(layout, top, top_part, np.int64(-1), player, facing, numbers, work, par)
                _go_up(frame, top, top_part, player, rule, numbers, work, par)
            if upward == UP_ROOT:
                part = top_part
                for k in range(path.shape[0] - 1, 0, -1):
                    above = path[k - 1]
                    _clear_leaves(lines, boards, above, player, work, par[ZERO])
                    _return_values(frame, path[k], part, player, work, par)
                    part = boards.round[above]
                    evaluate(layout, above, part, np.int64(-1), player, facing, numbers, work, par)
                    _go_up(frame, above, part, player, rule, numbers, work, par)

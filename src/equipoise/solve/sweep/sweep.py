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

The tuples of arrays are in :mod:`.layout`, what is done on one board in :mod:`.steps`, the rules in
:mod:`.rowrules`, terminals in :mod:`.evaluators`. The walk over boards is here. It calls the steps by
their addresses: so it is compiled once, and they are.
"""

from __future__ import annotations

import numpy as np

from equipoise.kernel import inlined_kernel, row_kernel
from equipoise.solve.sweep.crew import LINE, TAKEN, meet, take, write
from equipoise.solve.sweep.handles import call
from equipoise.solve.sweep.lanes import LANES, load, splat, store
from equipoise.solve.sweep.layout import (
    DOWN,
    ENTER,
    EVALUATE,
    GAIN,
    RETURN,
    UP,
    UP_NOT,
    UP_ROOT,
    ZERO,
)


@inlined_kernel
def _clear_leaves(frame, board, player, work):
    """Values of the board's DEAL nodes start at zero; the boards below add to them."""
    lines, boards = frame.lines, frame.boards
    street = boards.round[board]
    nothing = splat(work.par[ZERO])
    for k in range(lines.leaf_start[street], lines.leaf_start[street + 1]):
        target = lines.home[lines.leaves[k]]
        for h in range(0, boards.width[board, player], LANES):
            store(work.field, target + h, nothing)


# ------------------------------------------------------------------------------------- the walk


@inlined_kernel
def _sweep_duty(frame, numbers, work, steps, player, rule, share, duty, averaging, upward):
    """Steps 1 to 4 on neighbouring boards dealt from the last of the path, and on all below them."""
    lines, boards = frame.lines, frame.boards
    top = share.path[share.path.shape[0] - 1]
    first_board, last_board = share.duties[duty, 0], share.duties[duty, 1]
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
                call(steps[ENTER], frame, numbers, work, board, street, player, 0)
                call(steps[DOWN], frame, numbers, work, board, street, player, averaging)
                _clear_leaves(frame, board, player, work)
                street += 1
                work.cursor[street] = 0
                continue
            first, last = share.duties[duty, 2], share.duties[duty, 3]
        else:
            street -= 1
            if street == top_round:
                return
            board = work.current[street]
            first, last = street, street + 1
        for part in range(first, last):
            if street == last_round:
                call(steps[ENTER], frame, numbers, work, board, part, player, 0)
                call(steps[DOWN], frame, numbers, work, board, part, player, averaging)
            if upward:
                call(steps[EVALUATE], frame, numbers, work, board, part, player, 0)
                call(steps[UP], frame, numbers, work, board, part, player, rule)
                call(steps[RETURN], frame, numbers, work, board, part, player, 0)
        work.cursor[street] += 1


@inlined_kernel
def _set_aside(lines, street, slot, add, sums, work):
    """Keep the values of a round's DEAL nodes, which stand together, in a slot of the sums."""
    first, last = lines.leaf_start[street], lines.leaf_start[street + 1]
    start, length = lines.home[lines.leaves[first]], (last - first) * lines.stride[street]
    for h in range(0, length, LANES):
        value = load(work.field, start + h)
        at = slot * length + h
        store(sums, at, load(sums, at) + value if add else value)


@inlined_kernel
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


@inlined_kernel
def _sweep_below(frame, numbers, work, steps, player, rule, share, averaging, upward):
    """Steps 1 to 4 on a member's own duties, and on those that others have not begun when these are done."""
    lines, owned = frame.lines, share.owned
    top = share.path[share.path.shape[0] - 1]
    street = frame.boards.round[top]
    if street == lines.start.shape[0] - 2:
        return
    members = owned.shape[0] - 1
    begun = False
    for k in range(members):
        whose = (share.member + k) % members
        first, last = owned[whose], owned[whose + 1]
        taken = take(share.board, TAKEN + LINE * whose)
        while taken < last - first:
            duty = first + taken if player == 0 else last - 1 - taken
            _clear_leaves(frame, top, player, work)
            _sweep_duty(frame, numbers, work, steps, player, rule, share, duty, averaging, upward)
            if upward and share.sums.shape[0] > 0:
                slot = np.int64(0) if members == 1 else duty
                _set_aside(lines, street, slot, begun and members == 1, share.sums, work)
            begun = True
            taken = take(share.board, TAKEN + LINE * whose)


@row_kernel
def run(frame, numbers, work, steps, copied, schedule, rule, players, share, averaging, upward):
    """Sweeps for the players `players[0]` to `players[1]`, for every row of parameters in turn.

    `numbers` is where the rows stand (:class:`~.layout.Numbers`). With `facing` the same array as
    `rows`, updates alternate: player 1 faces what player 0 has just learnt. They are simultaneous if
    both face a copy of the rows as they stood before the iteration: `copied` is where to and what from.

    The sweep is over the boards of the share's path and those of its duties, dealt from the last of the
    path; a path into the last round takes one part of the betting. `averaging` says whether plans are
    mixed, which a gain of 0 also prevents; `upward` is one of the UP_ codes.

    Of several threads each calls this with a share of its own. All go down the path; below it they share
    the duties. When all are done the first adds up what they set aside and goes up to the root, and the
    others wait for what it learns there.
    """
    lines, boards, path = frame.lines, frame.boards, share.path
    top = path[path.shape[0] - 1]
    last_round = lines.start.shape[0] - 2
    top_part = share.part if boards.round[top] == last_round else boards.round[top]
    before, rows = copied
    members, leading = share.owned.shape[0] - 1, share.member == 0
    for t in range(schedule.shape[0]):
        for i in range(schedule.shape[1]):
            work.par[i] = schedule[t, i]
        if before.shape[0] > 0:
            if leading:
                for i in range(before.shape[0]):
                    before[i] = rows[i]
            if not meet(share.board, members, share.rest):
                return
        mixing = np.int64(averaging and work.par[GAIN] > work.par[ZERO])
        for player in range(players[0], players[1] + 1):
            initial = frame.initial1 if player == 0 else frame.initial0
            root = lines.place[0]
            for h in range(boards.width[0, 1 - player]):
                work.field[root + h] = initial[h]
            work.slot[0] = root
            # The boards of the path are everybody's: one thread mixes the plan there.
            on_path = mixing if leading else np.int64(0)
            for k in range(path.shape[0]):
                part = top_part if k == path.shape[0] - 1 else boards.round[path[k]]
                if k > 0:
                    call(steps[ENTER], frame, numbers, work, path[k], part, player, 0)
                call(steps[DOWN], frame, numbers, work, path[k], part, player, on_path)
            if leading and upward != UP_NOT:
                # Its terminals have places of their own; meanwhile the others begin with the duties.
                call(steps[EVALUATE], frame, numbers, work, top, top_part, player, 0)
            _sweep_below(frame, numbers, work, steps, player, rule, share, mixing, upward != UP_NOT)
            if not meet(share.board, members, share.rest):
                return
            if leading:
                for k in range(members):
                    write(share.board, TAKEN + LINE * k, 0)
                if upward != UP_NOT:
                    if share.sums.shape[0] > 0:
                        _add_up(lines, boards.round[top], player, share.sums, work)
                    call(steps[UP], frame, numbers, work, top, top_part, player, rule)
                if upward == UP_ROOT:
                    part = top_part
                    for k in range(path.shape[0] - 1, 0, -1):
                        above = path[k - 1]
                        _clear_leaves(frame, above, player, work)
                        call(steps[RETURN], frame, numbers, work, path[k], part, player, 0)
                        part = boards.round[above]
                        call(steps[EVALUATE], frame, numbers, work, above, part, player, 0)
                        call(steps[UP], frame, numbers, work, above, part, player, rule)
            if not meet(share.board, members, share.rest):
                return

"""Terminals of exact hands: folds, river showdowns and all-in calls, sixteen at a time.

Sixteen terminals' reach is turned into lanes, one pass over the hands serves all of them, and values
are turned back. Hands on a full board stand in order of strength, so that a showdown is one ascending
pass over both players' hands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.kernel import inlined_kernel, kernel_part, prefetch
from equipoise.solve.sweep.lanes import (
    LANES,
    into_lanes,
    load,
    out_of_lanes,
    splat,
    store,
)
from equipoise.solve.sweep.layout import CARDS, ZERO

Array = Any


class SortedHands(NamedTuple):
    """Evaluator of exact hands: order of strength, cards, and counted run-outs before the river."""

    #: [board, player]: start in the three arrays below.
    start: Array
    card1: Array
    card2: Array
    #: The same two cards among the opponent's hands; his padding row if he has them not.
    same: Array
    #: [board, player]: start in the three arrays below; groups of equal strength of the player.
    group_start: Array
    #: End of the group among my hands.
    group_end: Array
    #: End, among his hands, of those weaker than the group, and of those not stronger.
    weaker_end: Array
    tied_end: Array
    #: All-in before the river: run-outs won less lost, [hand of player 0, hand of player 1].
    runouts: Array
    #: Start of a board's table, -1 if it has none, and one over the number of run-outs.
    runout_start: Array
    runout_share: Array


class Side(NamedTuple):
    """A player's hands on a board: how many, and both cards of each."""

    count: Any
    card1: Array
    card2: Array


class Groups(NamedTuple):
    """My hands in groups of equal strength, beside the opponent's order (see SortedHands)."""

    count: Any
    end: Array
    weaker_end: Array
    tied_end: Array


class Table(NamedTuple):
    """Counted run-outs as one player reads them: entries, steps between my and his hands, share."""

    entries: Array
    step_mine: Any
    step_his: Any
    share: Any


class Fetch(NamedTuple):
    """Rows that memory brings while terminals keep the processor busy: where, and how far a batch."""

    mine_step: Any
    his_step: Any


@inlined_kernel
def _no_cards(on_card, zero):
    nothing = splat(zero)
    for c in range(CARDS):
        store(on_card, c * LANES, nothing)


@kernel_part
def _meet(work, his, j, total):
    """Hand `j` of the opponent comes in: on each of its cards, and in all."""
    r = load(work.lanes_in, j * LANES)
    a, b = np.intp(his.card1[j]) * LANES, np.intp(his.card2[j]) * LANES
    store(work.on_card, a, load(work.on_card, a) + r)
    store(work.on_card, b, load(work.on_card, b) + r)
    return total + r


@kernel_part
def _apart(work, mine, i, total):
    """What has come in, less what holds one of my cards; hands that hold both are taken off twice."""
    a, b = np.intp(mine.card1[i]) * LANES, np.intp(mine.card2[i]) * LANES
    return total - load(work.on_card, a) - load(work.on_card, b)


@kernel_part
def fold_lanes(work, mine, his, same, zero):
    """Sixteen folds: `even * N` with `N` = all − on my first card − on my second + on both."""
    _no_cards(work.on_card, zero)
    total = splat(zero)
    for j in range(his.count):
        total = _meet(work, his, j, total)
    factor = load(work.even, 0)
    for i in range(mine.count):
        apart = _apart(work, mine, i, total) + load(work.lanes_in, np.intp(same[i]) * LANES)
        store(work.lanes_out, i * LANES, apart * factor)


@kernel_part
def showdown_lanes(work, mine, his, same, groups, raked, zero):
    """Sixteen showdowns in one ascending pass over both sorted hands.

    With `lt`, `le`, `all` the mass of his hands weaker than mine, not stronger, and all, each less
    what collides with my cards: `D = lt - (all - le)`. The identical hand is in `le` and in `all`,
    so it cancels; only the rake term needs it back.
    """
    _no_cards(work.on_card, zero)
    total = splat(zero)
    i0 = np.intp(0)
    j = np.intp(0)
    for g in range(groups.count):
        i1 = np.intp(groups.end[g])
        lower = np.intp(groups.weaker_end[g])
        upper = np.intp(groups.tied_end[g])
        while j < lower:
            total = _meet(work, his, j, total)
            j += 1
        for i in range(i0, i1):
            store(work.lanes_out, i * LANES, _apart(work, mine, i, total))
        if upper > lower:
            while j < upper:
                total = _meet(work, his, j, total)
                j += 1
            for i in range(i0, i1):
                tied = _apart(work, mine, i, total)
                store(work.lanes_out, i * LANES, load(work.lanes_out, i * LANES) + tied)
        else:
            for i in range(i0, i1):
                weaker = load(work.lanes_out, i * LANES)
                store(work.lanes_out, i * LANES, weaker + weaker)
        i0 = i1
    while j < his.count:
        total = _meet(work, his, j, total)
        j += 1
    factor, even_factor = load(work.swing, 0), load(work.even, 0)
    for i in range(mine.count):
        apart = _apart(work, mine, i, total)
        result = (load(work.lanes_out, i * LANES) - apart) * factor
        if raked:
            apart = apart + load(work.lanes_in, np.intp(same[i]) * LANES)
            result = result + apart * even_factor
        store(work.lanes_out, i * LANES, result)


@kernel_part
def runout_lanes(work, table, mine, his):
    """Sixteen all-in calls before the river: counted run-outs times reach, four hands at a time."""
    factor = load(work.swing, 0) * splat(table.share)
    zero = factor - factor
    step = table.step_mine
    i = 0
    while i + 4 <= mine:
        s0, s1, s2, s3 = zero, zero, zero, zero
        at = i * step
        for j in range(his):
            r = load(work.lanes_in, j * LANES)
            s0 = s0 + r * splat(np.float32(table.entries[at]))
            s1 = s1 + r * splat(np.float32(table.entries[at + step]))
            s2 = s2 + r * splat(np.float32(table.entries[at + 2 * step]))
            s3 = s3 + r * splat(np.float32(table.entries[at + 3 * step]))
            at += table.step_his
        store(work.lanes_out, i * LANES, s0 * factor)
        store(work.lanes_out, (i + 1) * LANES, s1 * factor)
        store(work.lanes_out, (i + 2) * LANES, s2 * factor)
        store(work.lanes_out, (i + 3) * LANES, s3 * factor)
        i += 4
    while i < mine:
        s0 = zero
        at = i * step
        for j in range(his):
            s0 = s0 + load(work.lanes_in, j * LANES) * splat(np.float32(table.entries[at]))
            at += table.step_his
        store(work.lanes_out, i * LANES, s0 * factor)
        i += 1


@inlined_kernel
def _raked_runouts(work, table, mine, his, same, count, width, zero):
    """Sixteen all-in calls before the river with a rake: the even part goes through the field."""
    fold_lanes(work, mine, his, same, zero)
    for h in range(0, width, LANES):
        out_of_lanes(work.field, work.target, h, work.lanes_out)
    runout_lanes(work, table, mine.count, his.count)
    for lane in range(count):
        at = work.target[lane]
        for i in range(mine.count):
            work.lanes_out[i * LANES + lane] += work.field[at + i]


@inlined_kernel
def _take_batch(lines, nodes, batch, end, player, width_his, work, zero):
    """Sixteen terminals from `nodes[batch]` on into lanes; whether any of them is raked."""
    spare = lines.place[lines.place.shape[0] - 1]
    raked = False
    for lane in range(LANES):
        if batch + lane < end:
            node = nodes[batch + lane]
            work.source[lane] = work.slot[node]
            work.target[lane] = lines.home[node]
            work.even[lane] = lines.even[player, node]
            work.swing[lane] = lines.swing[player, node]
            raked |= lines.even[player, node] != zero
        else:
            work.source[lane] = spare
            work.target[lane] = spare
            work.even[lane] = zero
            work.swing[lane] = zero
    for h in range(0, width_his, LANES):
        into_lanes(work.field, work.source, h, work.lanes_in)
    for h in range(LANES):
        work.lanes_in[width_his * LANES + h] = zero
    return raked


@inlined_kernel
def _fetch_ahead(numbers, mine_at, his_at, fetch):
    """Ask memory for the rows that the way up will need, and the opponent's on the next board."""
    for line in range(mine_at, mine_at + fetch.mine_step, LANES):
        prefetch(numbers.rows, line * numbers.rows_bytes)
    for line in range(his_at, his_at + fetch.his_step, LANES):
        prefetch(numbers.facing, line * numbers.facing_bytes)
        prefetch(numbers.plan, line * numbers.facing_bytes)


@inlined_kernel
def _table_of(cards, boards, board, player):
    """The run-outs of a board, counted for player 0; player 1 reads them across, negated."""
    entries = cards.runouts[max(cards.runout_start[board], 0) :]
    across, share = boards.states[board, 1], cards.runout_share[board]
    if player == 1:
        return Table(entries, np.int64(1), across, -share)
    return Table(entries, across, np.int64(1), share)


@kernel_part
def evaluate_sorted(layout, numbers, work, board, part, player, following):
    """All folds and showdowns of a board, sixteen at a time."""
    cards, lines, boards = layout.tables, layout.lines, layout.boards
    opponent, street, zero = 1 - player, boards.round[board], work.par[ZERO]
    width, width_his = boards.width[board, player], boards.width[board, opponent]
    n, m = boards.states[board, player], boards.states[board, opponent]
    m0, h0 = cards.start[board, player], cards.start[board, opponent]
    mine = Side(n, cards.card1[m0 : m0 + n], cards.card2[m0 : m0 + n])
    his = Side(m, cards.card1[h0 : h0 + m], cards.card2[h0 : h0 + m])
    same = cards.same[m0 : m0 + n]
    g0, g1 = cards.group_start[board, player], cards.group_start[board, player + 1]
    groups = Groups(g1 - g0, cards.group_end[g0:g1], cards.weaker_end[g0:g1], cards.tied_end[g0:g1])
    dealt_out = cards.runout_start[board] >= 0
    table = _table_of(cards, boards, board, player)
    # What is past the last hand is copied out too, and 16-bit rows take their unit from all lanes.
    for h in range(n * LANES, width * LANES):
        work.lanes_out[h] = zero
    f0, f1 = lines.fold_start[part], lines.fold_start[part + 1]
    s0, s1 = lines.showdown_start[part], lines.showdown_start[part + 1]
    batches = (f1 - f0 + s1 - s0) // LANES + 2
    mine_at, his_at, his_step = boards.base[board, player], np.int64(0), np.int64(0)
    if following >= 0:
        his_at = boards.base[following, opponent]
        rows_his = lines.rows[street, opponent] * boards.width[following, opponent]
        his_step = rows_his // batches + LANES
    fetch = Fetch(lines.rows[street, player] * width // batches + LANES, his_step)
    for batch in range(f0, f1, LANES):
        _fetch_ahead(numbers, mine_at, his_at, fetch)
        mine_at += fetch.mine_step
        his_at += fetch.his_step
        _take_batch(lines, lines.folds, batch, f1, player, width_his, work, zero)
        fold_lanes(work, mine, his, same, zero)
        for h in range(0, width, LANES):
            out_of_lanes(work.field, work.target, h, work.lanes_out)
    for batch in range(s0, s1, LANES):
        _fetch_ahead(numbers, mine_at, his_at, fetch)
        mine_at += fetch.mine_step
        his_at += fetch.his_step
        raked = _take_batch(lines, lines.showdowns, batch, s1, player, width_his, work, zero)
        if not dealt_out:
            showdown_lanes(work, mine, his, same, groups, raked, zero)
        elif raked:
            _raked_runouts(work, table, mine, his, same, min(LANES, s1 - batch), width, zero)
        else:
            runout_lanes(work, table, n, m)
        for h in range(0, width, LANES):
            out_of_lanes(work.field, work.target, h, work.lanes_out)

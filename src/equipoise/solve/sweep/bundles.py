"""Terminals of exact hands on boards that are swept again and again: sixteen at a time, in bundles.

Sixteen terminals' reach is turned into lanes, one pass over the hands serves all of them, and values
are turned back. What a hand meets is all reach less what holds one of its cards, so a sum for every
card is kept. To add hand by hand is to read and write two of these sums for each, which waits for
memory most of the time. So the opponent's hands of one strength that hold a card are a *bundle*: added
up by themselves, they touch the card's sum once. Which hands those are is known when the board is laid
out (:mod:`.sortedhands`).

On a full board hands stand in order of strength. With `lt`, `le`, `all` the mass of his hands weaker
than mine, not stronger, and all, each less what collides with my cards, a showdown is
`swing · (lt − (all − le))`. One ascending pass gives `lt + le`, where the identical hand counts once,
and `all` is known at its end; the identical hand cancels. A fold is `even · all` with that hand put
back, for it was taken off twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.kernel import inlined_kernel, kernel_part
from equipoise.solve.sweep.lanes import (
    LANES,
    added,
    fused,
    into_lanes,
    load,
    out_of_lanes,
    splat,
    store,
)
from equipoise.solve.sweep.layout import CARDS, ZERO

Array = Any

#: Hands that are added at once: bundles are filled up to whole fours with hands that nobody has.
FOUR = 4
#: Terminals of a player, in the order they are listed: showdowns; his own fold and call of the same bet,
#: which the same reach gets to; folds. Batches of answers may also hold some of the other two.
SHOWDOWNS, ANSWERS, FOLDS = range(3)


class SortedHands(NamedTuple):
    """Evaluator of exact hands: order of strength, cards, bundles, and counted run-outs."""

    #: [board, player]: start in the five arrays below, one number a hand.
    start: Array
    card1: Array
    card2: Array
    #: The same two cards among the opponent's hands; his padding row if he has them not.
    same: Array
    #: On a full board: which of the bundles tied with the hand holds its first, its second card.
    tie1: Array
    tie2: Array
    #: [board, player]: start in the three arrays below; groups of equal strength of the player.
    group_start: Array
    #: End of the group among my hands.
    group_end: Array
    #: End, among the bundles, of those weaker than the group, and of those not stronger.
    weaker_end: Array
    tied_end: Array
    #: [board, player]: start in the two arrays below, and how many there are; bundles of his hands as
    #: the player meets them, in order of strength.
    bundle_start: Array
    bundles: Array
    bundle_card: Array
    #: Where its fours end, after a first number that is 0.
    fours_end: Array
    #: [board, player]: start of the fours.
    fours_start: Array
    #: His hands; his padding row where a four is not full.
    fours: Array
    #: [player, part, kind]: start of the terminals of a kind; and their nodes, -1 where the kind has none.
    terminal_start: Array
    fold_node: Array
    showdown_node: Array
    #: All-in before the river: run-outs won less lost, [hand of player 0, hand of player 1].
    runouts: Array
    #: Start of a board's table, -1 if it has none, and one over the number of run-outs.
    runout_start: Array
    runout_share: Array


class Mine(NamedTuple):
    """A player's hands on a board, as in :class:`SortedHands`."""

    count: Any
    card1: Array
    card2: Array
    same: Array
    tie1: Array
    tie2: Array


class Groups(NamedTuple):
    """His hands in groups of equal strength, beside the opponent's bundles."""

    count: Any
    end: Array
    weaker_end: Array
    tied_end: Array


class Bundles(NamedTuple):
    """The opponent's bundles, as in :class:`SortedHands`."""

    count: Any
    card: Array
    end: Array
    fours: Array


class Table(NamedTuple):
    """Counted run-outs as one player reads them: entries, steps between my and his hands, share."""

    entries: Array
    step_mine: Any
    step_his: Any
    share: Any


@kernel_part
def _meet(work, his, first, last, tied, met):
    """Bundles come in; their reach, and twice what has come so far, `met` before them.

    If they tie, what each card had before and has after is kept. What has come is added bundle by
    bundle, however they are cut: so a fold is worth the same beside showdowns and among folds.
    """
    half = splat(np.float32(0.5))
    both = half - half
    k = np.intp(his.end[first])
    for e in range(first, last):
        at, stop = FOUR * k, np.intp(his.end[e + 1])
        a, b = np.intp(his.fours[at]) * LANES, np.intp(his.fours[at + 1]) * LANES
        c, d = np.intp(his.fours[at + 2]) * LANES, np.intp(his.fours[at + 3]) * LANES
        reach = (load(work.lanes_in, a) + load(work.lanes_in, b)) + (
            load(work.lanes_in, c) + load(work.lanes_in, d)
        )
        k += 1
        while k < stop:
            at = FOUR * k
            a, b = np.intp(his.fours[at]) * LANES, np.intp(his.fours[at + 1]) * LANES
            c, d = np.intp(his.fours[at + 2]) * LANES, np.intp(his.fours[at + 3]) * LANES
            reach = reach + (
                (load(work.lanes_in, a) + load(work.lanes_in, b))
                + (load(work.lanes_in, c) + load(work.lanes_in, d))
            )
            k += 1
        card = np.intp(his.card[e]) * LANES
        before = load(work.on_card, card)
        after = before + reach
        store(work.on_card, card, after)
        if tied:
            store(work.ties, (e - first) * LANES, before + after)
        both = both + reach
        met = met + reach
    # A hand is in two bundles, those of its cards.
    return both * half, met


@kernel_part
def _rank(work, mine, groups, his):
    """`lt + le` of every hand of mine to `lanes_out`; all reach."""
    half = splat(np.float32(0.5))
    weaker, met = half - half, half - half
    i0, last = np.intp(0), np.intp(0)
    for g in range(groups.count):
        lower, upper = np.intp(groups.weaker_end[g]), np.intp(groups.tied_end[g])
        if lower > last:
            reach, met = _meet(work, his, last, lower, False, met)
            weaker = weaker + reach
        tied, met = _meet(work, his, lower, upper, True, met)
        both = (weaker + weaker) + tied
        weaker = weaker + tied
        last = upper
        i1 = np.intp(groups.end[g])
        for i in range(i0, i1):
            a, b = np.intp(mine.tie1[i]) * LANES, np.intp(mine.tie2[i]) * LANES
            apart = both - load(work.ties, a) - load(work.ties, b)
            store(work.lanes_out, i * LANES, apart)
        i0 = i1
    _, met = _meet(work, his, last, his.count, False, met)
    return met * half


@kernel_part
def _run_out_rows(work, table, mine, his, t):
    """Eight all-in calls from the lane `t` on; a row of the table is a hand of mine."""
    s = work.source
    p0, p1, p2, p3, p4, p5, p6, p7 = (
        s[t], s[t + 1], s[t + 2], s[t + 3], s[t + 4], s[t + 5], s[t + 6], s[t + 7]
    )  # fmt: skip
    nothing = splat(table.share - table.share)
    for i in range(mine):
        a0, a1, a2, a3, a4, a5, a6, a7 = (
            nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing
        )  # fmt: skip
        for j in range(0, his, LANES):
            won = load(table.entries, i * table.step_mine + j)
            a0 = fused(won, load(work.field, p0 + j), a0)
            a1 = fused(won, load(work.field, p1 + j), a1)
            a2 = fused(won, load(work.field, p2 + j), a2)
            a3 = fused(won, load(work.field, p3 + j), a3)
            a4 = fused(won, load(work.field, p4 + j), a4)
            a5 = fused(won, load(work.field, p5 + j), a5)
            a6 = fused(won, load(work.field, p6 + j), a6)
            a7 = fused(won, load(work.field, p7 + j), a7)
        at = i * LANES + t
        work.lanes_out[at] = added(a0) * table.share
        work.lanes_out[at + 1] = added(a1) * table.share
        work.lanes_out[at + 2] = added(a2) * table.share
        work.lanes_out[at + 3] = added(a3) * table.share
        work.lanes_out[at + 4] = added(a4) * table.share
        work.lanes_out[at + 5] = added(a5) * table.share
        work.lanes_out[at + 6] = added(a6) * table.share
        work.lanes_out[at + 7] = added(a7) * table.share


@kernel_part
def _run_out_columns(work, table, mine, his, t):
    """The same where a column of the table is a hand of mine."""
    nothing, share = splat(table.share - table.share), splat(table.share)
    for i in range(0, mine, LANES):
        a0, a1, a2, a3, a4, a5, a6, a7 = (
            nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing
        )  # fmt: skip
        for j in range(his):
            won = load(table.entries, j * table.step_his + i)
            at = j * LANES + t
            a0 = fused(won, splat(work.lanes_in[at]), a0)
            a1 = fused(won, splat(work.lanes_in[at + 1]), a1)
            a2 = fused(won, splat(work.lanes_in[at + 2]), a2)
            a3 = fused(won, splat(work.lanes_in[at + 3]), a3)
            a4 = fused(won, splat(work.lanes_in[at + 4]), a4)
            a5 = fused(won, splat(work.lanes_in[at + 5]), a5)
            a6 = fused(won, splat(work.lanes_in[at + 6]), a6)
            a7 = fused(won, splat(work.lanes_in[at + 7]), a7)
        store(work.ties, 0, a0 * share)
        store(work.ties, LANES, a1 * share)
        store(work.ties, 2 * LANES, a2 * share)
        store(work.ties, 3 * LANES, a3 * share)
        store(work.ties, 4 * LANES, a4 * share)
        store(work.ties, 5 * LANES, a5 * share)
        store(work.ties, 6 * LANES, a6 * share)
        store(work.ties, 7 * LANES, a7 * share)
        for h in range(i, min(i + LANES, mine)):
            for k in range(8):
                work.lanes_out[h * LANES + t + k] = work.ties[k * LANES + h - i]


@kernel_part
def _settle_showdowns(work, mine, h, last, total, ranked, raked):
    """Values of sixteen hands from what was won and lost; `total` is all reach."""
    swing, even = load(work.swing, 0), load(work.even, 0)
    for i in range(h, last):
        a, b = np.intp(mine.card1[i]) * LANES, np.intp(mine.card2[i]) * LANES
        result = load(work.lanes_out, i * LANES)
        apart = total - load(work.on_card, a) - load(work.on_card, b)
        if ranked:
            result = result - apart
        result = result * swing
        if raked:
            same = load(work.lanes_in, np.intp(mine.same[i]) * LANES)
            result = result + (apart + same) * even
        store(work.lanes_out, i * LANES, result)


@kernel_part
def _settle_folds(work, mine, h, last, total):
    """Values of sixteen hands where somebody folds."""
    even = load(work.fold_even, 0)
    for i in range(h, last):
        a, b = np.intp(mine.card1[i]) * LANES, np.intp(mine.card2[i]) * LANES
        apart = total - load(work.on_card, a) - load(work.on_card, b)
        apart = apart + load(work.lanes_in, np.intp(mine.same[i]) * LANES)
        store(work.lanes_out, i * LANES, apart * even)


@inlined_kernel
def _take_batch(lines, cards, batch, end, player, width_his, work, zero):
    """Sixteen terminals from number `batch` on into lanes; whether any showdown of them is raked."""
    spare = lines.place[lines.place.shape[0] - 1]
    raked = False
    for lane in range(LANES):
        work.source[lane] = work.target[lane] = work.fold_target[lane] = spare
        work.even[lane] = work.swing[lane] = work.fold_even[lane] = zero
        if batch + lane < end:
            fold, showdown = cards.fold_node[batch + lane], cards.showdown_node[batch + lane]
            if fold >= 0:
                work.source[lane] = work.slot[fold]
                work.fold_target[lane] = lines.home[fold]
                work.fold_even[lane] = lines.even[player, fold]
            if showdown >= 0:
                work.source[lane] = work.slot[showdown]
                work.target[lane] = lines.home[showdown]
                work.even[lane] = lines.even[player, showdown]
                work.swing[lane] = lines.swing[player, showdown]
                raked |= lines.even[player, showdown] != zero
    for h in range(0, width_his, LANES):
        into_lanes(work.field, work.source, h, work.lanes_in)
    for h in range(LANES):
        work.lanes_in[width_his * LANES + h] = zero
    return raked


@inlined_kernel
def _table_of(cards, boards, board, player):
    """The run-outs of a board, counted for player 0; player 1 reads them across, negated."""
    entries = cards.runouts[max(cards.runout_start[board], 0) :]
    across, share = boards.states[board, 1], cards.runout_share[board]
    if player == 1:
        return Table(entries, np.int64(1), across, -share)
    return Table(entries, across, np.int64(1), share)


@inlined_kernel
def _sides(cards, board, player, n):
    """My hands, their groups, and the opponent's bundles."""
    m0, g0 = cards.start[board, player], cards.group_start[board, player]
    g1 = cards.group_start[board, player + 1]
    b0, f0 = cards.bundle_start[board, player], cards.fours_start[board, player]
    mine = Mine(
        n, cards.card1[m0:], cards.card2[m0:], cards.same[m0:], cards.tie1[m0:], cards.tie2[m0:]
    )
    groups = Groups(g1 - g0, cards.group_end[g0:], cards.weaker_end[g0:], cards.tied_end[g0:])
    his = Bundles(
        cards.bundles[board, player], cards.bundle_card[b0:], cards.fours_end[b0:], cards.fours[f0:]
    )
    return mine, groups, his


@kernel_part
def evaluate_sorted(layout, numbers, work, board, part, player, code):
    """All folds and showdowns of a board, sixteen at a time."""
    cards, lines, boards = layout.tables, layout.lines, layout.boards
    opponent, zero = 1 - player, work.par[ZERO]
    width, width_his = boards.width[board, player], boards.width[board, opponent]
    n, m = boards.states[board, player], boards.states[board, opponent]
    mine, groups, his = _sides(cards, board, player, n)
    dealt_out = cards.runout_start[board] >= 0
    table = _table_of(cards, boards, board, player)
    nothing = splat(zero)
    # What is past the last hand is copied out too, and 16-bit rows take their unit from all lanes.
    for h in range(n, width):
        store(work.lanes_out, h * LANES, nothing)
    for kind in range(3):
        end = cards.terminal_start[player, part, kind + 1]
        shown, folded = kind != FOLDS, kind != SHOWDOWNS
        for batch in range(cards.terminal_start[player, part, kind], end, LANES):
            raked = _take_batch(lines, cards, batch, end, player, width_his, work, zero)
            for c in range(CARDS):
                store(work.on_card, c * LANES, nothing)
            ranked = shown and not dealt_out
            if ranked:
                total = _rank(work, mine, groups, his)
            else:
                total, _ = _meet(work, his, np.intp(0), his.count, False, nothing)
            if shown and dealt_out:
                # Counted run-outs times reach, eight calls at a time.
                for lane in range(0, min(LANES, end - batch), 8):
                    if player == 0:
                        _run_out_rows(work, table, n, m, lane)
                    else:
                        _run_out_columns(work, table, n, m, lane)
            for h in range(0, width, LANES):
                if shown:
                    _settle_showdowns(work, mine, h, min(h + LANES, n), total, ranked, raked)
                    out_of_lanes(work.field, work.target, h, work.lanes_out)
                if folded:
                    _settle_folds(work, mine, h, min(h + LANES, n), total)
                    out_of_lanes(work.field, work.fold_target, h, work.lanes_out)

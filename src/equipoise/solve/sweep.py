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
3. *Terminals* turn reach into values: `even * N + swing * D` (:mod:`equipoise.games.betting`).
4. *Up.* At his decisions values add; at mine the row rule gives the value and updates my rows.

Rows are vectors over private states, padded to whole blocks of 16 lanes. All rows of a player on a
board stand together: row `k` of player `p` on board `b` starts at `base[b, p] + k * width[b, p]`.
Padding lanes hold zero reach and are never read back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from equipoise.kernel import row_kernel
from equipoise.solve.blas import multiply
from equipoise.solve.lanes import (
    LANES,
    across,
    gather,
    into_lanes,
    largest,
    load,
    magnitude,
    out_of_lanes,
    prefetch,
    splat,
    store,
    where_above,
)
from equipoise.solve.panels import multiply_packed, pack

Array = Any

#: Row rules: what happens at my own decisions on the way up.
VALUE, BEST, REGRET, PREDICTIVE, ENTROPY, EUCLIDEAN, GRADIENT = range(7)

FOLD, SHOWDOWN, DEAL = 2, 3, 4
CARDS = 64


class Lines(NamedTuple):
    """The betting forest as the kernels read it."""

    kind: Array
    first: Array
    count: Array
    row: Array
    #: Where a node's reach stands in the field.
    place: Array
    #: Where its value stands: the same place, for values come when reach has done its work; but
    #: DEAL nodes, whose reach is read while values are added, have another.
    home: Array
    #: [player, node]
    even: Array
    swing: Array
    start: Array
    #: [round, player]: rows.
    rows: Array
    #: Number of a decision among those of its round and player.
    order: Array
    #: A *part* is the betting after some of a round's roots. All rounds but the last have one part,
    #: of the round's number; the last may have more, which use the same places one after another.
    #: Part p has the roots `root_start[p]` to `root_start[p + 1]` of its round, counted on over
    #: all rounds, and the decisions, leaves (DEAL nodes) and terminals given likewise.
    root_start: Array
    decisions: Array
    decision_start: Array
    leaves: Array
    leaf_start: Array
    folds: Array
    fold_start: Array
    showdowns: Array
    showdown_start: Array
    #: [round]: lanes between the places of two nodes that stand together.
    stride: Array


class Boards(NamedTuple):
    """The tree of boards as the kernels read it."""

    round: Array
    parent: Array
    #: Children of board b are `first_child[b]` to `first_child[b + 1]`.
    first_child: Array
    weight: Array
    #: [board, player]: private states, and lanes they fill.
    states: Array
    width: Array
    #: [board, player]: start of the player's rows, and number of his first decision.
    base: Array
    decision: Array
    #: [board, player]: start of the map from this board's states to the parent's.
    map_start: Array
    maps: Array
    #: Arrivals of board b are `first_arrival[b]` to `first_arrival[b + 1]`.
    first_arrival: Array
    #: [arrival, player]: start of the map from the parent's states to this board's.
    back_start: Array
    back: Array
    #: [board, player]: where reach goes down, and values up, by chance that depends on the private
    #: state alone, start of the matrix [parent's state, state] and of [state, parent's state]; else
    #: -1.
    down_start: Array
    up_start: Array
    transitions: Array


class Matrices(NamedTuple):
    """Evaluator of small games: dense joint tables of every board."""

    #: Probability of a pair of states and the board, and that times who wins, as the player sees it.
    mass: Array
    signed: Array
    #: [board, player]: start of his view, rows over the opponent's states, padded like his vectors.
    start: Array


class Products(NamedTuple):
    """Evaluator of bucketed games in double precision: the same tables, multiplied by BLAS."""

    mass: Array
    signed: Array
    start: Array


class Panels(NamedTuple):
    """Evaluator of bucketed games in single precision: the same tables by panels of columns, which
    are multiplied by what hands are left (:mod:`.panels`).
    """

    mass: Array
    signed: Array
    start: Array


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


class Locks(NamedTuple):
    """Decisions whose strategy is given: nothing is learnt there, and best responses obey it."""

    #: Start of a board's part in `at`, -1 if nothing is locked there.
    start: Array
    #: For each node of the board's round, where its lock stands in `rows`, -1 if it has none.
    at: Array
    #: One row that is 1 for locked states and 0 for free ones, then the probability of each action.
    rows: Array


class Layout(NamedTuple):
    """A game as the kernels read it."""

    lines: Lines
    boards: Boards
    tables: Array
    locks: Locks
    #: Reach of each player's states at the start.
    initial0: Array
    initial1: Array
    #: Address of BLAS's product of general matrices.
    gemm: Array


class Numbers(NamedTuple):
    """The sets of rows that a sweep reads and writes; those not needed have no room."""

    #: What the opponent's strategy is read from.
    facing: Array
    #: What his realisation plan is mixed into.
    plan: Array
    #: Mine: regrets, or whatever the rule keeps.
    rows: Array
    #: Where the rule writes.
    out: Array
    #: Prior weights, for the smoothed best responses.
    weights: Array
    #: Copy of the rows before the iteration, for simultaneous updates.
    before: Array
    #: 16-bit storage: what one unit of each decision's `plan` and `rows` is worth.
    plan_unit: Array
    rows_unit: Array


class Workspace(NamedTuple):
    """Buffers of one thread."""

    #: Vectors of all nodes: the opponent's reach on the way down, my values on the way up.
    field: Array
    #: Place of the reach that a node shares.
    slot: Array
    #: Sixteen rows side by side, going in and coming out.
    lanes_in: Array
    lanes_out: Array
    #: Reach on each card, sixteen lanes.
    on_card: Array
    #: Offsets and coefficients of the sixteen terminals in a batch.
    source: Array
    target: Array
    even: Array
    swing: Array
    #: Sizes of a product of matrices, as BLAS reads them.
    sizes: Array
    #: States that are reached by some of four terminals, how many of them, and sums of a panel.
    support: Array
    supported: Array
    tile: Array
    #: Position in the walk over boards.
    cursor: Array
    current: Array


#: Largest number of 16-bit storage.
FULL = 32767

#: Indices into the array of parameters of a sweep.
KEEP, GAIN, POSITIVE, NEGATIVE, FLOOR, SMOOTHING, TINY, ZERO, ONE = range(9)
PARAMETERS = 9


# ---------------------------------------------------------------------------------- row rules

#: As many entries as there are actions: the compiler then knows their number and unrolls the loops.
TWO, THREE = (0, 0), (0, 0, 0)


def count(actions):
    """Number of actions, given as a number or as a tuple of that length."""
    raise RuntimeError("only inside compiled kernels")


@overload(count)
def _count_by_type(actions):
    if isinstance(actions, types.BaseTuple):
        known = len(actions)
        return lambda actions: known
    return lambda actions: actions


@row_kernel
def _down_some(rows, at, actions, width, reach, source, place, first, plan, averaging, par):
    """At an opponent's decision: reach of every child, and his realisation plan."""
    zero, tiny, one = splat(par[ZERO]), splat(par[TINY]), splat(par[ONE])
    share = splat(par[ONE] / reach.dtype.type(count(actions)))
    keeping, gaining = splat(par[KEEP]), splat(par[GAIN])
    for h in range(0, width, LANES):
        total = zero
        for a in range(count(actions)):
            total = total + largest(load(rows, at + a * width + h), zero)
        scale = where_above(total, tiny, one / total, zero)
        uniform = where_above(total, tiny, zero, share)
        arriving = load(reach, source + h)
        for a in range(count(actions)):
            row = at + a * width + h
            leaving = (largest(load(rows, row), zero) * scale + uniform) * arriving
            store(reach, place[first + a] + h, leaving)
            if averaging:
                store(plan, row, load(plan, row) * keeping + leaving * gaining)


@row_kernel
def _down(rows, at, actions, width, reach, source, place, first, plan, averaging, par):
    """:func:`_down_some`, with the usual two or three actions unrolled."""
    if actions == 2:
        _down_some(rows, at, TWO, width, reach, source, place, first, plan, averaging, par)
    elif actions == 3:
        _down_some(rows, at, THREE, width, reach, source, place, first, plan, averaging, par)
    else:
        _down_some(rows, at, actions, width, reach, source, place, first, plan, averaging, par)


@row_kernel
def _mix_units(plan, units, decision, at, actions, width, field, place, first, par):
    """Mix the reach of the children into 16-bit rows of the plan, with a new unit."""
    old = splat(units[decision] * par[KEEP])
    gaining, most = splat(par[GAIN]), splat(par[ZERO])
    for a in range(actions):
        for h in range(0, width, LANES):
            mixed = (
                load(plan, at + a * width + h) * old + load(field, place[first + a] + h) * gaining
            )
            most = largest(most, mixed)
    unit = across(most) / field.dtype.type(FULL)
    units[decision] = unit
    scale = splat(par[ONE] / unit if unit > par[TINY] else par[ZERO])
    for a in range(actions):
        for h in range(0, width, LANES):
            row = at + a * width + h
            mixed = load(plan, row) * old + load(field, place[first + a] + h) * gaining
            store(plan, row, mixed * scale)


@row_kernel
def _down_locked(rows, at, lock, actions, width, field, source, place, first, plan, averaging,
                 locked, par):  # fmt: skip
    """:func:`_down` where some of the opponent's states have their strategy given."""
    zero, one = par[ZERO], par[ONE]
    for h in range(width):
        total = zero
        for a in range(actions):
            total += max(field.dtype.type(rows[at + a * width + h]), zero)
        arriving = field[source + h]
        for a in range(actions):
            row = at + a * width + h
            play = one / field.dtype.type(actions)
            if total > par[TINY]:
                play = max(field.dtype.type(rows[row]), zero) / total
            if locked[lock + h] > zero:
                play = locked[lock + (a + 1) * width + h]
            leaving = play * arriving
            field[place[first + a] + h] = leaving
            if averaging:
                plan[row] = plan[row] * par[KEEP] + leaving * par[GAIN]


@row_kernel
def _add_children_some(value, node, home, first, actions, width):
    """At an opponent's decision: values add."""
    at = home[node]
    for h in range(0, width, LANES):
        total = load(value, home[first] + h)
        for a in range(1, count(actions)):
            total = total + load(value, home[first + a] + h)
        store(value, at + h, total)


@row_kernel
def _add_children(value, node, home, first, actions, width):
    """:func:`_add_children_some`, with the usual two or three actions unrolled."""
    if actions == 2:
        _add_children_some(value, node, home, first, TWO, width)
    elif actions == 3:
        _add_children_some(value, node, home, first, THREE, width)
    else:
        _add_children_some(value, node, home, first, actions, width)


@row_kernel
def _mean(rows, at, actions, width, h, value, home, first, par):
    """Value of my strategy in `rows` for the sixteen states from `h` on."""
    zero, tiny = splat(par[ZERO]), splat(par[TINY])
    share = splat(par[ONE] / value.dtype.type(count(actions)))
    total, mean, plain = zero, zero, zero
    for a in range(count(actions)):
        weight = largest(load(rows, at + a * width + h), zero)
        child = load(value, home[first + a] + h)
        total = total + weight
        mean = mean + weight * child
        plain = plain + child
    return where_above(total, tiny, mean / total, plain * share)


@row_kernel
def _value_rule(rows, at, actions, width, value, node, home, first, par):
    """My value when I play the strategy in `rows`."""
    for h in range(0, width, LANES):
        mean = _mean(rows, at, actions, width, h, value, home, first, par)
        store(value, home[node] + h, mean)


@row_kernel
def _best_rule_some(out, at, actions, width, value, node, home, first, par):
    """My value when I play the best action with every hand; the choice goes to `out`."""
    zero, one = splat(par[ZERO]), splat(par[ONE])
    for h in range(0, width, LANES):
        best = load(value, home[first] + h)
        for a in range(1, count(actions)):
            best = largest(best, load(value, home[first + a] + h))
        store(value, home[node] + h, best)
        if out.shape[0] > 0:
            left = one
            for a in range(count(actions)):
                # The first of equal actions is chosen.
                chosen = where_above(best, load(value, home[first + a] + h), zero, left)
                store(out, at + a * width + h, chosen)
                left = left - chosen


@row_kernel
def _best_rule(out, at, actions, width, value, node, home, first, par):
    """:func:`_best_rule_some`, with the usual two or three actions unrolled."""
    if actions == 2:
        _best_rule_some(out, at, TWO, width, value, node, home, first, par)
    elif actions == 3:
        _best_rule_some(out, at, THREE, width, value, node, home, first, par)
    else:
        _best_rule_some(out, at, actions, width, value, node, home, first, par)


@row_kernel
def _regret_rule_some(rows, at, actions, width, value, node, home, first, par):
    """Regret matching: discount the stored regrets by their sign, add the new, cut at a floor."""
    zero = splat(par[ZERO])
    positive, negative, floor = splat(par[POSITIVE]), splat(par[NEGATIVE]), splat(par[FLOOR])
    for h in range(0, width, LANES):
        mean = _mean(rows, at, actions, width, h, value, home, first, par)
        store(value, home[node] + h, mean)
        for a in range(count(actions)):
            row = at + a * width + h
            regret = load(rows, row)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = regret + load(value, home[first + a] + h) - mean
            store(rows, row, largest(regret, floor))


@row_kernel
def _regret_rule(rows, at, actions, width, value, node, home, first, par):
    """:func:`_regret_rule_some`, with the usual two or three actions unrolled."""
    if actions == 2:
        _regret_rule_some(rows, at, TWO, width, value, node, home, first, par)
    elif actions == 3:
        _regret_rule_some(rows, at, THREE, width, value, node, home, first, par)
    else:
        _regret_rule_some(rows, at, actions, width, value, node, home, first, par)


@row_kernel
def _regret_units(rows, units, decision, at, actions, width, value, node, home, first, par):
    """:func:`_regret_rule` on 16-bit rows, which get a new unit."""
    zero = splat(par[ZERO])
    unit = units[decision]
    positive, negative = splat(par[POSITIVE] * unit), splat(par[NEGATIVE] * unit)
    floor, most = splat(par[FLOOR]), splat(par[ZERO])
    for h in range(0, width, LANES):
        mean = _mean(rows, at, actions, width, h, value, home, first, par)
        store(value, home[node] + h, mean)
        for a in range(actions):
            regret = load(rows, at + a * width + h)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = largest(regret + load(value, home[first + a] + h) - mean, floor)
            most = largest(most, magnitude(regret))
    unit = across(most) / value.dtype.type(FULL)
    units[decision] = unit
    scale = splat(par[ONE] / unit if unit > par[TINY] else par[ZERO])
    for h in range(0, width, LANES):
        mean = load(value, home[node] + h)
        for a in range(actions):
            row = at + a * width + h
            regret = load(rows, row)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = largest(regret + load(value, home[first + a] + h) - mean, floor)
            store(rows, row, regret * scale)


@row_kernel
def _locked_rule(rule, rows, at, lock, actions, width, states, value, node, home, first, locked,
                 par):  # fmt: skip
    """VALUE, BEST and REGRET where some of my states have their strategy given."""
    zero, one = par[ZERO], par[ONE]
    for h in range(states):
        total = zero
        mean = zero
        best = value[home[first] + h]
        for a in range(actions):
            weight = max(value.dtype.type(rows[at + a * width + h]), zero)
            total += weight
            mean += weight * value[home[first + a] + h]
            best = max(best, value[home[first + a] + h])
        given = zero
        plain = zero
        for a in range(actions):
            given += locked[lock + (a + 1) * width + h] * value[home[first + a] + h]
            plain += value[home[first + a] + h]
        mean = mean / total if total > par[TINY] else plain / value.dtype.type(actions)
        if locked[lock + h] > zero:
            value[home[node] + h] = given
            continue
        value[home[node] + h] = best if rule == BEST else mean
        if rule == REGRET:
            for a in range(actions):
                row = at + a * width + h
                regret = rows[row] * (par[POSITIVE] if rows[row] > zero else par[NEGATIVE])
                rows[row] = max(regret + value[home[first + a] + h] - mean, par[FLOOR])
    for h in range(states, width):
        value[home[node] + h] = one - one


@row_kernel
def _predictive_rule(rows, out, at, actions, width, value, node, home, first, par):
    """:func:`_regret_rule` on regrets in `out`; `rows` get them plus the last gain, if it came again."""
    zero = splat(par[ZERO])
    positive, negative, floor = splat(par[POSITIVE]), splat(par[NEGATIVE]), splat(par[FLOOR])
    for h in range(0, width, LANES):
        mean = _mean(rows, at, actions, width, h, value, home, first, par)
        store(value, home[node] + h, mean)
        for a in range(actions):
            row = at + a * width + h
            gain = load(value, home[first + a] + h) - mean
            regret = load(out, row)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = largest(regret + gain, floor)
            store(out, row, regret)
            store(rows, row, regret + gain)


@row_kernel
def _entropy_rule(out, weights, at, over, actions, width, states, value, node, home, first, par):
    """Smoothed best response with the dilated entropy: `mu ln mean exp(v / mu)`, softmax to `out`.

    `mu` is the smoothing times the prior weight of the hand; the mean instead of the sum keeps the
    regulariser at least 0.
    """
    for h in range(states):
        scale = par[SMOOTHING] * weights[over + h]
        best = value[home[first] + h]
        for a in range(1, actions):
            best = max(best, value[home[first + a] + h])
        if scale <= par[ZERO]:
            # A state that cannot occur: any strategy will do.
            value[home[node] + h] = best
            for a in range(actions):
                out[at + a * width + h] = par[ONE] / actions
            continue
        total = par[ZERO]
        for a in range(actions):
            part = np.exp((value[home[first + a] + h] - best) / scale)
            out[at + a * width + h] = part
            total += part
        for a in range(actions):
            out[at + a * width + h] /= total
        value[home[node] + h] = best + scale * np.log(total / actions)


@row_kernel
def _euclidean_rule(
    out, weights, at, over, actions, width, states, value, node, home, first, par, order
):
    """Smoothed best response with the dilated Euclidean distance from uniform.

    Maximise `v·x - mu/2 |x - 1/n|²` over the simplex: project `1/n + v / mu` onto it (sort, find the
    threshold).
    """
    for h in range(states):
        scale = par[SMOOTHING] * weights[over + h]
        if scale <= par[ZERO]:
            best = value[home[first] + h]
            for a in range(actions):
                best = max(best, value[home[first + a] + h])
                out[at + a * width + h] = par[ONE] / actions
            value[home[node] + h] = best
            continue
        for a in range(actions):
            order[a] = par[ONE] / actions + value[home[first + a] + h] / scale
        for i in range(1, actions):
            moving = order[i]
            j = i
            while j > 0 and order[j - 1] < moving:
                order[j] = order[j - 1]
                j -= 1
            order[j] = moving
        partial, threshold = par[ZERO], par[ZERO]
        for i in range(actions):
            partial += order[i]
            candidate = (partial - par[ONE]) / (i + 1)
            if order[i] > candidate:
                threshold = candidate
        total = par[ZERO]
        for a in range(actions):
            child = value[home[first + a] + h]
            x = max(par[ONE] / actions + child / scale - threshold, par[ZERO])
            out[at + a * width + h] = x
            away = x - par[ONE] / actions
            total += x * child - scale * away * away / 2
        value[home[node] + h] = total


@row_kernel
def _copy_children(out, at, actions, width, value, home, first):
    """Write the value of each of my actions to `out`: the gradient."""
    for a in range(actions):
        for h in range(0, width, LANES):
            store(out, at + a * width + h, load(value, home[first + a] + h))


# ------------------------------------------------------------------------------------ terminals


@row_kernel
def _fold_lanes(
    lanes_in, lanes_out, card1, card2, mine, card1_his, card2_his, his, same, on_card, even, zero
):
    """Sixteen folds: `even * N` with `N` = all − on my first card − on my second + on both."""
    nothing = splat(zero)
    for c in range(CARDS):
        store(on_card, c * LANES, nothing)
    total = nothing
    for j in range(his):
        r = load(lanes_in, j * LANES)
        a, b = np.intp(card1_his[j]) * LANES, np.intp(card2_his[j]) * LANES
        total = total + r
        store(on_card, a, load(on_card, a) + r)
        store(on_card, b, load(on_card, b) + r)
    factor = load(even, 0)
    for i in range(mine):
        a, b = np.intp(card1[i]) * LANES, np.intp(card2[i]) * LANES
        apart = total - load(on_card, a) - load(on_card, b)
        apart = apart + load(lanes_in, np.intp(same[i]) * LANES)
        store(lanes_out, i * LANES, apart * factor)


@row_kernel
def _showdown_lanes(
    lanes_in,
    lanes_out,
    card1,
    card2,
    mine,
    card1_his,
    card2_his,
    his,
    same,
    groups,
    group_end,
    weaker_end,
    tied_end,
    on_card,
    even,
    swing,
    raked,
    zero,
):
    """Sixteen showdowns in one ascending pass over both sorted hands.

    With `lt`, `le`, `all` the mass of his hands weaker than mine, not stronger, and all, each less
    what collides with my cards: `D = lt - (all - le)`. The identical hand is in `le` and in `all`,
    so it cancels; only the rake term needs it back.
    """
    nothing = splat(zero)
    for c in range(CARDS):
        store(on_card, c * LANES, nothing)
    total = nothing
    i0 = np.intp(0)
    j = np.intp(0)
    for g in range(groups):
        i1 = np.intp(group_end[g])
        lower = np.intp(weaker_end[g])
        upper = np.intp(tied_end[g])
        while j < lower:
            r = load(lanes_in, j * LANES)
            a, b = np.intp(card1_his[j]) * LANES, np.intp(card2_his[j]) * LANES
            total = total + r
            store(on_card, a, load(on_card, a) + r)
            store(on_card, b, load(on_card, b) + r)
            j += 1
        for i in range(i0, i1):
            a, b = np.intp(card1[i]) * LANES, np.intp(card2[i]) * LANES
            weaker = total - load(on_card, a) - load(on_card, b)
            store(lanes_out, i * LANES, weaker)
        if upper > lower:
            while j < upper:
                r = load(lanes_in, j * LANES)
                a, b = np.intp(card1_his[j]) * LANES, np.intp(card2_his[j]) * LANES
                total = total + r
                store(on_card, a, load(on_card, a) + r)
                store(on_card, b, load(on_card, b) + r)
                j += 1
            for i in range(i0, i1):
                a, b = np.intp(card1[i]) * LANES, np.intp(card2[i]) * LANES
                tied = total - load(on_card, a) - load(on_card, b)
                store(lanes_out, i * LANES, load(lanes_out, i * LANES) + tied)
        else:
            for i in range(i0, i1):
                weaker = load(lanes_out, i * LANES)
                store(lanes_out, i * LANES, weaker + weaker)
        i0 = i1
    while j < his:
        r = load(lanes_in, j * LANES)
        a, b = np.intp(card1_his[j]) * LANES, np.intp(card2_his[j]) * LANES
        total = total + r
        store(on_card, a, load(on_card, a) + r)
        store(on_card, b, load(on_card, b) + r)
        j += 1
    factor, even_factor = load(swing, 0), load(even, 0)
    for i in range(mine):
        a, b = np.intp(card1[i]) * LANES, np.intp(card2[i]) * LANES
        apart = total - load(on_card, a) - load(on_card, b)
        result = (load(lanes_out, i * LANES) - apart) * factor
        if raked:
            apart = apart + load(lanes_in, np.intp(same[i]) * LANES)
            result = result + apart * even_factor
        store(lanes_out, i * LANES, result)


@row_kernel
def _runout_lanes(lanes_in, lanes_out, table, mine, his, step_mine, step_his, swing, share):
    """Sixteen all-in calls before the river: counted run-outs times reach, four hands at a time."""
    factor = load(swing, 0) * splat(share)
    zero = factor - factor
    i = 0
    while i + 4 <= mine:
        s0, s1, s2, s3 = zero, zero, zero, zero
        at = i * step_mine
        for j in range(his):
            r = load(lanes_in, j * LANES)
            s0 = s0 + r * splat(np.float32(table[at]))
            s1 = s1 + r * splat(np.float32(table[at + step_mine]))
            s2 = s2 + r * splat(np.float32(table[at + 2 * step_mine]))
            s3 = s3 + r * splat(np.float32(table[at + 3 * step_mine]))
            at += step_his
        store(lanes_out, i * LANES, s0 * factor)
        store(lanes_out, (i + 1) * LANES, s1 * factor)
        store(lanes_out, (i + 2) * LANES, s2 * factor)
        store(lanes_out, (i + 3) * LANES, s3 * factor)
        i += 4
    while i < mine:
        s0 = zero
        at = i * step_mine
        for j in range(his):
            s0 = s0 + load(lanes_in, j * LANES) * splat(np.float32(table[at]))
            at += step_his
        store(lanes_out, i * LANES, s0 * factor)
        i += 1


@row_kernel
def _evaluate_sorted(layout, board, part, following, player, facing, numbers, work, par):
    """All folds and showdowns of a board, sixteen at a time."""
    cards, lines, boards = layout.tables, layout.lines, layout.boards
    opponent = 1 - player
    street = boards.round[board]
    mine, his = boards.states[board, player], boards.states[board, opponent]
    width, width_his = boards.width[board, player], boards.width[board, opponent]
    m0, h0 = cards.start[board, player], cards.start[board, opponent]
    card1, card2 = cards.card1[m0 : m0 + mine], cards.card2[m0 : m0 + mine]
    card1_his, card2_his = cards.card1[h0 : h0 + his], cards.card2[h0 : h0 + his]
    same = cards.same[m0 : m0 + mine]
    g0, g1 = cards.group_start[board, player], cards.group_start[board, player + 1]
    table_at = cards.runout_start[board]
    table = cards.runouts[max(table_at, 0) :]
    # Run-outs are counted for player 0 against player 1; player 1 reads them across, negated.
    step_mine, step_his, share = boards.states[board, 1], np.int64(1), cards.runout_share[board]
    if player == 1:
        step_mine, step_his, share = step_his, step_mine, -share
    spare = lines.place[lines.place.shape[0] - 1]
    zero = par[ZERO]
    # What is past the last hand is copied out too, and 16-bit rows take their unit from all lanes.
    for h in range(mine * LANES, width * LANES):
        work.lanes_out[h] = zero
    # While terminals keep the processor busy, memory fetches the rows that the way up will need,
    # and the opponent's on the board that comes next.
    batches = (
        lines.fold_start[part + 1]
        - lines.fold_start[part]
        + lines.showdown_start[part + 1]
        - lines.showdown_start[part]
    ) // LANES + 2
    mine_at = boards.base[board, player]
    mine_step = lines.rows[street, player] * width // batches + LANES
    his_at = his_step = 0
    if following >= 0:
        his_at = boards.base[following, opponent]
        his_step = (
            lines.rows[street, opponent] * boards.width[following, opponent] // batches + LANES
        )
    for pass_number in range(2):
        if pass_number == 0:
            nodes, start = lines.folds, lines.fold_start
        else:
            nodes, start = lines.showdowns, lines.showdown_start
        n0, n1 = start[part], start[part + 1]
        for batch in range(n0, n1, LANES):
            for line in range(mine_at, mine_at + mine_step, LANES):
                prefetch(numbers.rows, line)
            for line in range(his_at, his_at + his_step, LANES):
                prefetch(facing, line)
                prefetch(numbers.plan, line)
            mine_at += mine_step
            his_at += his_step
            raked = False
            for lane in range(LANES):
                if batch + lane < n1:
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
            if pass_number == 0:
                _fold_lanes(
                    work.lanes_in,
                    work.lanes_out,
                    card1,
                    card2,
                    mine,
                    card1_his,
                    card2_his,
                    his,
                    same,
                    work.on_card,
                    work.even,
                    zero,
                )
            elif table_at >= 0:
                if raked:
                    _fold_lanes(
                        work.lanes_in,
                        work.lanes_out,
                        card1,
                        card2,
                        mine,
                        card1_his,
                        card2_his,
                        his,
                        same,
                        work.on_card,
                        work.even,
                        zero,
                    )
                    for h in range(0, width, LANES):
                        out_of_lanes(work.field, work.target, h, work.lanes_out)
                _runout_lanes(
                    work.lanes_in,
                    work.lanes_out,
                    table,
                    mine,
                    his,
                    step_mine,
                    step_his,
                    work.swing,
                    share,
                )
                if raked:
                    for lane in range(min(LANES, n1 - batch)):
                        at = work.target[lane]
                        for i in range(mine):
                            work.lanes_out[i * LANES + lane] += work.field[at + i]
            else:
                _showdown_lanes(
                    work.lanes_in,
                    work.lanes_out,
                    card1,
                    card2,
                    mine,
                    card1_his,
                    card2_his,
                    his,
                    same,
                    g1 - g0,
                    cards.group_end[g0:g1],
                    cards.weaker_end[g0:g1],
                    cards.tied_end[g0:g1],
                    work.on_card,
                    work.even,
                    work.swing,
                    raked,
                    zero,
                )
            for h in range(0, width, LANES):
                out_of_lanes(work.field, work.target, h, work.lanes_out)


@row_kernel
def _matrix_product(table, at, his, width, copies, count, field, target, add, par):
    """`field[target] (+)= table · copies` for up to four vectors of reach side by side."""
    zero = splat(par[ZERO])
    for h in range(0, width, LANES):
        s0, s1, s2, s3 = zero, zero, zero, zero
        row = at + h
        for j in range(his):
            entry = load(table, row)
            s0 = s0 + entry * splat(copies[4 * j])
            s1 = s1 + entry * splat(copies[4 * j + 1])
            s2 = s2 + entry * splat(copies[4 * j + 2])
            s3 = s3 + entry * splat(copies[4 * j + 3])
            row += width
        for k in range(count):
            total = s0 if k == 0 else s1 if k == 1 else s2 if k == 2 else s3
            if add:
                total = total + load(field, target[k] + h)
            store(field, target[k] + h, total)


@row_kernel
def _matrix_terminals(
    table,
    factors,
    nodes,
    a,
    b,
    second,
    second_factors,
    raked,
    at,
    player,
    his,
    width,
    lines,
    work,
    par,
):
    """`table · reach * factor`, and the same of a second table if `raked`, for `nodes[a:b]`.

    Reach is copied first: a value may overwrite the very reach it comes from.
    """
    copies, copies_too = work.lanes_in, work.lanes_out
    for batch in range(a, b, 4):
        count = min(4, b - batch)
        for k in range(4):
            node = nodes[batch + min(k, count - 1)]
            source = work.slot[node]
            work.target[k] = lines.home[node]
            factor, factor_too = factors[player, node], second_factors[player, node]
            for j in range(his):
                arriving = work.field[source + j]
                copies[4 * j + k] = arriving * factor
                copies_too[4 * j + k] = arriving * factor_too
        _matrix_product(table, at, his, width, copies, count, work.field, work.target, False, par)
        if raked:
            _matrix_product(
                second, at, his, width, copies_too, count, work.field, work.target, True, par
            )


@row_kernel
def _evaluate_matrices(layout, board, part, following, player, facing, numbers, work, par):
    """All folds and showdowns of a board by joint tables."""
    tables, lines, boards = layout.tables, layout.lines, layout.boards
    his, width = boards.states[board, 1 - player], boards.width[board, player]
    at = tables.start[board, player]
    f0, f1 = lines.fold_start[part], lines.fold_start[part + 1]
    s0, s1 = lines.showdown_start[part], lines.showdown_start[part + 1]
    raked = False
    for k in range(s0, s1):
        raked |= lines.even[player, lines.showdowns[k]] != par[ZERO]
    mass, signed = tables.mass, tables.signed
    _matrix_terminals(
        mass,
        lines.even,
        lines.folds,
        f0,
        f1,
        signed,
        lines.swing,
        False,
        at,
        player,
        his,
        width,
        lines,
        work,
        par,
    )
    _matrix_terminals(
        signed,
        lines.swing,
        lines.showdowns,
        s0,
        s1,
        mass,
        lines.even,
        raked,
        at,
        player,
        his,
        width,
        lines,
        work,
        par,
    )


@row_kernel
def _copy_scaled(nodes, a, b, factors, player, width, work):
    """Reach of `nodes[a:b]` times their factors, one after another into `work.lanes_in`."""
    for k in range(a, b):
        node = nodes[k]
        source, target = work.slot[node], (k - a) * width
        factor = splat(factors[player, node])
        for h in range(0, width, LANES):
            store(work.lanes_in, target + h, load(work.field, source + h) * factor)


@row_kernel
def _multiply(gemm, count, inner, source_step, table, at, width, field, target, target_step, work,
              add, par):  # fmt: skip
    """`field[target] (+)= work.lanes_in · table` for `count` vectors, `target_step` apart."""
    work.sizes[0], work.sizes[1], work.sizes[2] = width, count, inner
    work.sizes[3], work.sizes[4], work.sizes[5] = width, source_step, target_step
    # BLAS counts by columns: what are rows here are columns there, and the factors change places.
    multiply(gemm, work.sizes, par, ONE, ONE if add else ZERO, table, at, work.lanes_in, field,
             target)  # fmt: skip


@row_kernel
def _raked(lines, a, b, player, par):
    """Whether any of the showdowns `a` to `b` gives both players something, or takes it."""
    found = False
    for k in range(a, b):
        found |= lines.even[player, lines.showdowns[k]] != par[ZERO]
    return found


@row_kernel
def _evaluate_products(layout, board, part, following, player, facing, numbers, work, par):
    """All folds and showdowns of a part, by one product each: `(reach * factor) · table`."""
    tables, lines, boards = layout.tables, layout.lines, layout.boards
    his, width_his = boards.states[board, 1 - player], boards.width[board, 1 - player]
    width, stride = boards.width[board, player], lines.stride[boards.round[board]]
    at = tables.start[board, player]
    f0, f1 = lines.fold_start[part], lines.fold_start[part + 1]
    if f1 > f0:
        _copy_scaled(lines.folds, f0, f1, lines.even, player, width_his, work)
        _multiply(layout.gemm, f1 - f0, his, width_his, tables.mass, at, width, work.field,
                  lines.home[lines.folds[f0]], stride, work, False, par)  # fmt: skip
    s0, s1 = lines.showdown_start[part], lines.showdown_start[part + 1]
    if s1 > s0:
        raked = _raked(lines, s0, s1, player, par)
        # A value may overwrite the very reach it comes from: the rake's share is put in first.
        target = lines.home[lines.showdowns[s0]]
        if raked:
            for k in range(s0, s1):
                for h in range(width_his):
                    work.lanes_out[(k - s0) * width_his + h] = work.field[
                        work.slot[lines.showdowns[k]] + h
                    ]
            _copy_scaled(lines.showdowns, s0, s1, lines.even, player, width_his, work)
            _multiply(layout.gemm, s1 - s0, his, width_his, tables.mass, at, width, work.field,
                      target, stride, work, False, par)  # fmt: skip
            for k in range(s0, s1):
                factor = lines.swing[player, lines.showdowns[k]]
                for h in range((k - s0) * width_his, (k - s0 + 1) * width_his):
                    work.lanes_in[h] = work.lanes_out[h] * factor
        else:
            _copy_scaled(lines.showdowns, s0, s1, lines.swing, player, width_his, work)
        _multiply(layout.gemm, s1 - s0, his, width_his, tables.signed, at, width, work.field,
                  target, stride, work, raked, par)  # fmt: skip


@row_kernel
def _evaluate_panels(layout, board, part, following, player, facing, numbers, work, par):
    """All folds and showdowns of a part, by the states that still come there."""
    tables, lines, boards = layout.tables, layout.lines, layout.boards
    his, width = boards.states[board, 1 - player], boards.width[board, player]
    stride, at = lines.stride[boards.round[board]], tables.start[board, player]
    f0, f1 = lines.fold_start[part], lines.fold_start[part + 1]
    if f1 > f0:
        pack(work.field, work.slot, lines.folds, f0, f1, lines.even, player, his, work.lanes_in,
             work.support, work.supported)  # fmt: skip
        multiply_packed(tables.mass, at, his, width, work.lanes_in, work.support, work.supported,
                        f1 - f0, work.field, lines.home[lines.folds[f0]], stride, False,
                        work.tile)  # fmt: skip
    s0, s1 = lines.showdown_start[part], lines.showdown_start[part + 1]
    if s1 > s0:
        raked = _raked(lines, s0, s1, player, par)
        target = lines.home[lines.showdowns[s0]]
        # A value may overwrite the very reach it comes from: all reach is packed first.
        if raked:
            pack(work.field, work.slot, lines.showdowns, s0, s1, lines.even, player, his,
                 work.lanes_out, work.support, work.supported)  # fmt: skip
        pack(work.field, work.slot, lines.showdowns, s0, s1, lines.swing, player, his,
             work.lanes_in, work.support, work.supported)  # fmt: skip
        if raked:
            multiply_packed(tables.mass, at, his, width, work.lanes_out, work.support,
                            work.supported, s1 - s0, work.field, target, stride, False,
                            work.tile)  # fmt: skip
        multiply_packed(tables.signed, at, his, width, work.lanes_in, work.support, work.supported,
                        s1 - s0, work.field, target, stride, raked, work.tile)  # fmt: skip


def _evaluate(layout, board, part, following, player, facing, numbers, work, par):
    """Values of all terminals of a part; which evaluator is decided by the type of its tables."""
    raise RuntimeError("only inside compiled kernels")


@overload(_evaluate)
def _evaluate_by_type(layout, board, part, following, player, facing, numbers, work, par):
    tables = str(layout.types[layout.fields.index("tables")])
    chosen = _evaluate_sorted
    if "Matrices" in tables:
        chosen = _evaluate_matrices
    elif "Products" in tables:
        chosen = _evaluate_products
    elif "Panels" in tables:
        chosen = _evaluate_panels

    def evaluate(layout, board, part, following, player, facing, numbers, work, par):
        chosen(layout, board, part, following, player, facing, numbers, work, par)

    return evaluate


# ------------------------------------------------------------------------------------- the walk


@row_kernel
def _enter(layout, board, part, player, work, par):
    """Bring the opponent's reach from the parent board to the roots of a part, by chance."""
    lines, boards = layout.lines, layout.boards
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
        inner, step = boards.states[above, opponent], boards.width[above, opponent]
        for k in range(roots):
            source = work.slot[lines.leaves[first + k]]
            for h in range(0, step, LANES):
                store(work.lanes_in, k * step + h, load(work.field, source + h))
        _multiply(layout.gemm, roots, inner, step, boards.transitions, matrix, width, work.field,
                  lines.place[root], lines.stride[street], work, False, par)  # fmt: skip
        return
    origin = boards.map_start[board, opponent]
    weight = splat(boards.weight[board])
    for k in range(roots):
        source = work.slot[lines.leaves[first + k]]
        target = lines.place[root + k]
        for h in range(0, width, LANES):
            arriving = gather(work.field, source, boards.maps, origin + h) * weight
            store(work.field, target + h, arriving)


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
def _return_values(layout, board, part, player, work, par):
    """Add the values of a part's roots to the parent's DEAL nodes, through every arrival."""
    lines, boards = layout.lines, layout.boards
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
        _multiply(layout.gemm, roots, boards.states[board, player], step, boards.transitions, matrix,
                  width, work.field, lines.home[lines.leaves[first]], lines.stride[street - 1], work,
                  True, par)  # fmt: skip
        return
    for arrival in range(boards.first_arrival[board], boards.first_arrival[board + 1]):
        origin = boards.back_start[arrival, player]
        for k in range(roots):
            source = lines.home[root + k]
            target = lines.home[lines.leaves[first + k]]
            for h in range(0, width, LANES):
                returning = gather(work.field, source, boards.back, origin + h)
                store(work.field, target + h, load(work.field, target + h) + returning)


@row_kernel
def _lock_of(lines, boards, locks, board, node):
    """Where the lock of a decision stands, -1 if it is free."""
    start = locks.start[board]
    if start < 0:
        return start
    return locks.at[start + node - lines.start[boards.round[board]]]


@row_kernel
def _go_down(layout, board, part, player, facing, numbers, averaging, work, par):
    """Step 1: the opponent's reach through a part of the betting on one board."""
    lines, boards = layout.lines, layout.boards
    opponent = 1 - player
    width, base = boards.width[board, opponent], boards.base[board, opponent]
    plan, place, field = numbers.plan, lines.place, work.field
    in_units = numbers.plan_unit.shape[0] > 0
    for k in range(lines.decision_start[part], lines.decision_start[part + 1]):
        node = lines.decisions[k]
        kind = lines.kind[node]
        first, actions = np.intp(lines.first[node]), np.intp(lines.count[node])
        if kind == player:
            for a in range(actions):
                work.slot[first + a] = work.slot[node]
            continue
        for a in range(actions):
            work.slot[first + a] = place[first + a]
        at = base + np.intp(lines.row[node]) * width
        source = work.slot[node]
        direct = averaging and not in_units
        lock = _lock_of(lines, boards, layout.locks, board, node)
        if lock >= 0:
            _down_locked(facing, at, lock, actions, width, field, source, place, first, plan,
                         direct, layout.locks.rows, par)  # fmt: skip
        else:
            _down(facing, at, actions, width, field, source, place, first, plan, direct, par)
        if averaging and in_units:
            decision = boards.decision[board, opponent] + np.intp(lines.order[node])
            _mix_units(plan, numbers.plan_unit, decision, at, actions, width, field, place, first,
                       par)  # fmt: skip


@row_kernel
def _go_up(layout, board, part, player, rule, numbers, work, par):
    """Step 4: values through a part of the betting on one board, my rows updated by the rule."""
    lines, boards = layout.lines, layout.boards
    width, base = boards.width[board, player], boards.base[board, player]
    states = boards.states[board, player]
    rows, out, weights = numbers.rows, numbers.out, numbers.weights
    value, home = work.field, lines.home
    in_units = numbers.rows_unit.shape[0] > 0
    for k in range(lines.decision_start[part + 1] - 1, lines.decision_start[part] - 1, -1):
        node = lines.decisions[k]
        kind = lines.kind[node]
        first, actions = np.intp(lines.first[node]), np.intp(lines.count[node])
        if kind != player:
            _add_children(value, node, home, first, actions, width)
            continue
        at = base + np.intp(lines.row[node]) * width
        lock = _lock_of(lines, boards, layout.locks, board, node)
        if lock >= 0:
            _locked_rule(rule, rows, at, lock, actions, width, states, value, node, home, first,
                         layout.locks.rows, par)  # fmt: skip
        elif rule == REGRET and in_units:
            decision = boards.decision[board, player] + np.intp(lines.order[node])
            _regret_units(rows, numbers.rows_unit, decision, at, actions, width, value, node, home,
                          first, par)  # fmt: skip
        elif rule == REGRET:
            _regret_rule(rows, at, actions, width, value, node, home, first, par)
        elif rule == BEST:
            _best_rule(out, at, actions, width, value, node, home, first, par)
        elif rule == VALUE:
            _value_rule(rows, at, actions, width, value, node, home, first, par)
        elif rule == PREDICTIVE:
            _predictive_rule(rows, out, at, actions, width, value, node, home, first, par)
        elif rule == ENTROPY:
            _entropy_rule(out, weights, at, base, actions, width, states, value, node, home, first,
                          par)  # fmt: skip
        elif rule == EUCLIDEAN:
            _euclidean_rule(out, weights, at, base, actions, width, states, value, node, home,
                            first, par, work.on_card)  # fmt: skip
        else:
            _copy_children(out, at, actions, width, value, home, first)
            _value_rule(rows, at, actions, width, value, node, home, first, par)


@row_kernel
def _sweep_below(layout, player, rule, top, first_board, last_board, first_part, last_part, facing,
                 numbers, averaging, upward, work, par):  # fmt: skip
    """Steps 1 to 4 on the boards `first_board` to `last_board` dealt from `top`, and all below.

    Of the last round only the parts `first_part` to `last_part` are swept.
    """
    lines, boards = layout.lines, layout.boards
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
                _enter(layout, board, street, player, work, par)
                _go_down(layout, board, street, player, facing, numbers, averaging, work, par)
                _clear_leaves(lines, boards, board, player, work, par[ZERO])
                street += 1
                work.cursor[street] = 0
                continue
            first, last = first_part, last_part
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
                _enter(layout, board, part, player, work, par)
                _go_down(layout, board, part, player, facing, numbers, averaging, work, par)
            if upward:
                _evaluate(layout, board, part, following, player, facing, numbers, work, par)
                _go_up(layout, board, part, player, rule, numbers, work, par)
                _return_values(layout, board, part, player, work, par)
        work.cursor[street] += 1


@row_kernel
def run(layout, numbers, work, schedule, rule, first_player, last_player, path, first_board,
        last_board, first_part, last_part, averaging, downward, upward):  # fmt: skip
    """Sweeps for the players `first_player` to `last_player`, for every row of parameters in turn.

    `numbers` says which rows are whose. With `facing` the same array as `rows`, updates alternate:
    player 1 faces what player 0 has just learnt. With room in `before` they are simultaneous: both
    face a copy of the rows as they stood before the iteration.

    The sweep is over the last board of `path`, whose boards lead there from the root, and over the
    boards `first_board` to `last_board` dealt from it, of the last round only the parts `first_part`
    to `last_part`; a path into the last round takes one part. `averaging` is 0 for no mixing of the
    plan, 1 for mixing on the boards below, 2 for the boards of the path too; a gain of 0 also mixes
    nothing.

    A thread calls this on its share of boards or parts with `upward` = 1; then the values of the
    last path board's DEAL nodes are summed over threads, and one call with `downward` = 0 and
    `upward` = 3 finishes there and goes up to the root. A single thread does all of it at once (1
    and 3); `upward` = 2 finishes on the last path board only, 0 only goes down.
    """
    lines, boards = layout.lines, layout.boards
    top = path[path.shape[0] - 1]
    last_round = lines.start.shape[0] - 2
    top_part = first_part if boards.round[top] == last_round else boards.round[top]
    for t in range(schedule.shape[0]):
        par = schedule[t]
        for i in range(numbers.before.shape[0]):
            numbers.before[i] = numbers.rows[i]
        facing = numbers.before if numbers.before.shape[0] > 0 else numbers.facing
        mixing = averaging if par[GAIN] > par[ZERO] else 0
        for player in range(first_player, last_player + 1):
            if downward:
                initial = layout.initial1 if player == 0 else layout.initial0
                root = lines.place[0]
                for h in range(boards.width[0, 1 - player]):
                    work.field[root + h] = initial[h]
                work.slot[0] = root
                for k in range(path.shape[0]):
                    part = top_part if k == path.shape[0] - 1 else boards.round[path[k]]
                    if k > 0:
                        _enter(layout, path[k], part, player, work, par)
                    _go_down(layout, path[k], part, player, facing, numbers, mixing == 2, work, par)
                if boards.round[top] < last_round:
                    _clear_leaves(lines, boards, top, player, work, par[ZERO])
                _sweep_below(layout, player, rule, top, first_board, last_board, first_part,
                             last_part, facing, numbers, mixing > 0, upward > 0, work,
                             par)  # fmt: skip
            if upward >= 2:
                _evaluate(layout, top, top_part, np.int64(-1), player, facing, numbers, work, par)
                _go_up(layout, top, top_part, player, rule, numbers, work, par)
            if upward == 3:
                part = top_part
                for k in range(path.shape[0] - 1, 0, -1):
                    above = path[k - 1]
                    _clear_leaves(lines, boards, above, player, work, par[ZERO])
                    _return_values(layout, path[k], part, player, work, par)
                    part = boards.round[above]
                    _evaluate(layout, above, part, np.int64(-1), player, facing, numbers, work, par)
                    _go_up(layout, above, part, player, rule, numbers, work, par)

"""Row rules: what a sweep does at a decision, sixteen private states at a time.

On the way *down*, at the opponent's decisions, his reach is multiplied with his strategy: the positive
part of a stored row, normalised over the actions, uniform where that is zero. On the way *up*, at my
decisions, the rule gives my value from those of my actions and updates my rows. Which rule a solver
wants is one of the codes below; schedules, discounts and floors are parameters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from equipoise.kernel import kernel_part, prefetch
from equipoise.solve.sweep.lanes import (
    LANES,
    across,
    largest,
    load,
    magnitude,
    splat,
    store,
    where_above,
)
from equipoise.solve.sweep.layout import (
    FLOOR,
    FULL,
    GAIN,
    KEEP,
    NEGATIVE,
    ONE,
    POSITIVE,
    SMOOTHING,
    STEP,
    TINY,
    ZERO,
)

#: Options of what is chosen by type: nobody calls it but kernels.
_PART = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: What happens at my own decisions on the way up.
VALUE, BEST, REGRET, PREDICTIVE, ENTROPY, EUCLIDEAN, GRADIENT = range(7)


class Place(NamedTuple):
    """Where a decision's numbers stand."""

    #: First of its rows; row `a` starts `a * width` further on.
    at: Any
    #: Number of actions, or a tuple of that length (:func:`count`).
    actions: Any
    width: Any
    #: Where its reach stands (on the way down), or its value (up).
    own: Any
    #: First child.
    first: Any


#: As many entries as there are actions: the compiler then knows their number and unrolls the loops.
TWO, THREE = (0, 0), (0, 0, 0)


def count(actions):
    """Number of actions, given as a number or as a tuple of that length."""
    raise RuntimeError("only inside compiled kernels")


@overload(count, jit_options=_PART)
def _count_by_type(actions):
    if isinstance(actions, types.BaseTuple):
        known = len(actions)
        return lambda actions: known
    return lambda actions: actions


def in_units(rows):
    """Whether rows hold whole numbers of a unit that each decision has."""
    raise RuntimeError("only inside compiled kernels")


@overload(in_units, jit_options=_PART)
def _in_units_by_type(rows):
    known = isinstance(rows.dtype, types.Integer)
    return lambda rows: known


# ----------------------------------------------------------------------------------- way down


@kernel_part
def _go_down_some(rows, place, field, places, plan, averaging, par):
    at, width, first = place.at, place.width, place.first
    zero, tiny, one = splat(par[ZERO]), splat(par[TINY]), splat(par[ONE])
    share = splat(par[ONE] / field.dtype.type(count(place.actions)))
    keeping, gaining = splat(par[KEEP]), splat(par[GAIN])
    # Rows stand in the order of decisions: what the next one needs is asked for now.
    ahead = count(place.actions) * width
    for h in range(0, width, LANES):
        total = zero
        for a in range(count(place.actions)):
            total = total + largest(load(rows, at + a * width + h), zero)
        scale = where_above(total, tiny, one / total, zero)
        uniform = where_above(total, tiny, zero, share)
        arriving = load(field, place.own + h)
        for a in range(count(place.actions)):
            row = at + a * width + h
            leaving = (largest(load(rows, row), zero) * scale + uniform) * arriving
            store(field, places[first + a] + h, leaving)
            prefetch(rows, row + ahead)
            if averaging:
                prefetch(plan, row + ahead)
                store(plan, row, load(plan, row) * keeping + leaving * gaining)


@kernel_part
def go_down(rows, place, field, places, plan, averaging, par):
    """At an opponent's decision: reach of every child, and his realisation plan."""
    at, actions, width, own, first = place
    if actions == 2:
        two = Place(at, TWO, width, own, first)
        _go_down_some(rows, two, field, places, plan, averaging, par)
    elif actions == 3:
        three = Place(at, THREE, width, own, first)
        _go_down_some(rows, three, field, places, plan, averaging, par)
    else:
        _go_down_some(rows, place, field, places, plan, averaging, par)


@kernel_part
def go_down_locked(rows, place, lock, locked, field, places, plan, averaging, par):
    """:func:`go_down` where some of the opponent's states have their strategy given."""
    at, actions, width, own, first = place
    zero, one = par[ZERO], par[ONE]
    for h in range(width):
        total = zero
        for a in range(actions):
            total += max(field.dtype.type(rows[at + a * width + h]), zero)
        arriving = field[own + h]
        for a in range(actions):
            row = at + a * width + h
            play = one / field.dtype.type(actions)
            if total > par[TINY]:
                play = max(field.dtype.type(rows[row]), zero) / total
            if locked[lock + h] > zero:
                play = locked[lock + (a + 1) * width + h]
            leaving = play * arriving
            field[places[first + a] + h] = leaving
            if averaging:
                plan[row] = plan[row] * par[KEEP] + leaving * par[GAIN]


@kernel_part
def mix_units(plan, units, decision, place, field, places, par):
    """Mix the reach of the children into 16-bit rows of the plan, with a new unit."""
    at, actions, width, _, first = place
    old = splat(units[decision] * par[KEEP])
    gaining, most = splat(par[GAIN]), splat(par[ZERO])
    for a in range(actions):
        for h in range(0, width, LANES):
            reached = load(field, places[first + a] + h)
            most = largest(most, load(plan, at + a * width + h) * old + reached * gaining)
    unit = across(most) / field.dtype.type(FULL)
    units[decision] = unit
    scale = splat(par[ONE] / unit if unit > par[TINY] else par[ZERO])
    for a in range(actions):
        for h in range(0, width, LANES):
            row = at + a * width + h
            reached = load(field, places[first + a] + h)
            store(plan, row, (load(plan, row) * old + reached * gaining) * scale)


def mix(plan, units, decision, place, field, places, par):
    """:func:`mix_units` where the plan is in units; where not, going down has mixed it already."""
    raise RuntimeError("only inside compiled kernels")


@overload(mix, inline="always", jit_options=_PART)
def _mix_by_type(plan, units, decision, place, field, places, par):
    def mixed(plan, units, decision, place, field, places, par):
        mix_units(plan, units, decision, place, field, places, par)

    def done(plan, units, decision, place, field, places, par):
        pass

    return mixed if isinstance(plan.dtype, types.Integer) else done


# ------------------------------------------------------------------------------------- way up


@kernel_part
def _add_children_some(place, value, home):
    for h in range(0, place.width, LANES):
        total = load(value, home[place.first] + h)
        for a in range(1, count(place.actions)):
            total = total + load(value, home[place.first + a] + h)
        store(value, place.own + h, total)


@kernel_part
def add_children(place, value, home):
    """At an opponent's decision: values add."""
    at, actions, width, own, first = place
    if actions == 2:
        _add_children_some(Place(at, TWO, width, own, first), value, home)
    elif actions == 3:
        _add_children_some(Place(at, THREE, width, own, first), value, home)
    else:
        _add_children_some(place, value, home)


@kernel_part
def _mean_and_step(rows, place, h, value, home, limit, par):
    """For the sixteen states from `h` on: value of my strategy in `rows`, and share of a gain to learn.

    The best gain counts for no more than `limit` times the positive part of the rows, and the other
    gains are cut in proportion: so no state changes its mind at once. No limit is 0.
    """
    zero, tiny, one = splat(par[ZERO]), splat(par[TINY]), splat(par[ONE])
    share = splat(par[ONE] / value.dtype.type(count(place.actions)))
    total, mean, plain = zero, zero, zero
    best = load(value, home[place.first] + h)
    for a in range(count(place.actions)):
        weight = largest(load(rows, place.at + a * place.width + h), zero)
        child = load(value, home[place.first + a] + h)
        total = total + weight
        mean = mean + weight * child
        plain = plain + child
        best = largest(best, child)
    mean = where_above(total, tiny, mean / total, plain * share)
    gain, most = best - mean, total * limit
    step = where_above(most, tiny, where_above(gain, most, most / gain, one), one)
    return mean, step


@kernel_part
def _mean(rows, place, h, value, home, par):
    """Value of my strategy in `rows` for the sixteen states from `h` on."""
    return _mean_and_step(rows, place, h, value, home, splat(par[ZERO]), par)[0]


@kernel_part
def value_rule(rows, place, value, home, par):
    """My value when I play the strategy in `rows`."""
    for h in range(0, place.width, LANES):
        store(value, place.own + h, _mean(rows, place, h, value, home, par))


@kernel_part
def _best_rule_some(out, place, value, home, par):
    zero, one = splat(par[ZERO]), splat(par[ONE])
    first = place.first
    for h in range(0, place.width, LANES):
        best = load(value, home[first] + h)
        for a in range(1, count(place.actions)):
            best = largest(best, load(value, home[first + a] + h))
        store(value, place.own + h, best)
        if out.shape[0] > 0:
            left = one
            for a in range(count(place.actions)):
                # The first of equal actions is chosen.
                chosen = where_above(best, load(value, home[first + a] + h), zero, left)
                store(out, place.at + a * place.width + h, chosen)
                left = left - chosen


@kernel_part
def best_rule(out, place, value, home, par):
    """My value when I play the best action with every hand; the choice goes to `out`."""
    at, actions, width, own, first = place
    if actions == 2:
        _best_rule_some(out, Place(at, TWO, width, own, first), value, home, par)
    elif actions == 3:
        _best_rule_some(out, Place(at, THREE, width, own, first), value, home, par)
    else:
        _best_rule_some(out, place, value, home, par)


@kernel_part
def _regret_rule_some(rows, place, value, home, par):
    zero = splat(par[ZERO])
    positive, negative, floor = splat(par[POSITIVE]), splat(par[NEGATIVE]), splat(par[FLOOR])
    limit = splat(par[STEP])
    # On the way up decisions come in the opposite order.
    ahead = count(place.actions) * place.width
    for h in range(0, place.width, LANES):
        mean, step = _mean_and_step(rows, place, h, value, home, limit, par)
        store(value, place.own + h, mean)
        for a in range(count(place.actions)):
            row = place.at + a * place.width + h
            regret = load(rows, row)
            prefetch(rows, row - ahead)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = regret + (load(value, home[place.first + a] + h) - mean) * step
            store(rows, row, largest(regret, floor))


@kernel_part
def regret_rule(rows, place, value, home, par):
    """Regret matching: discount the stored regrets by their sign, add a step of the new, cut at a floor."""
    at, actions, width, own, first = place
    if actions == 2:
        _regret_rule_some(rows, Place(at, TWO, width, own, first), value, home, par)
    elif actions == 3:
        _regret_rule_some(rows, Place(at, THREE, width, own, first), value, home, par)
    else:
        _regret_rule_some(rows, place, value, home, par)


@kernel_part
def regret_units(rows, units, decision, place, value, home, par):
    """:func:`regret_rule` on 16-bit rows, which get a new unit."""
    at, actions, width, own, first = place
    zero = splat(par[ZERO])
    unit = units[decision]
    positive, negative = splat(par[POSITIVE] * unit), splat(par[NEGATIVE] * unit)
    floor, most, limit = splat(par[FLOOR]), splat(par[ZERO]), splat(par[STEP] * unit)
    for h in range(0, width, LANES):
        mean, step = _mean_and_step(rows, place, h, value, home, limit, par)
        store(value, own + h, mean)
        for a in range(actions):
            regret = load(rows, at + a * width + h)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = largest(regret + (load(value, home[first + a] + h) - mean) * step, floor)
            most = largest(most, magnitude(regret))
    unit = across(most) / value.dtype.type(FULL)
    units[decision] = unit
    scale = splat(par[ONE] / unit if unit > par[TINY] else par[ZERO])
    for h in range(0, width, LANES):
        mean, step = _mean_and_step(rows, place, h, value, home, limit, par)
        for a in range(actions):
            row = at + a * width + h
            regret = load(rows, row)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = largest(regret + (load(value, home[first + a] + h) - mean) * step, floor)
            store(rows, row, regret * scale)


def learn(rows, units, decision, place, value, home, par):
    """:func:`regret_units` or :func:`regret_rule`, whichever the rows are for."""
    raise RuntimeError("only inside compiled kernels")


@overload(learn, inline="always", jit_options=_PART)
def _learn_by_type(rows, units, decision, place, value, home, par):
    def whole(rows, units, decision, place, value, home, par):
        regret_units(rows, units, decision, place, value, home, par)

    def plain(rows, units, decision, place, value, home, par):
        regret_rule(rows, place, value, home, par)

    return whole if isinstance(rows.dtype, types.Integer) else plain


@kernel_part
def locked_rule(rule, rows, place, lock, locked, states, value, home, par):
    """VALUE, BEST and REGRET where some of my states have their strategy given."""
    at, actions, width, own, first = place
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
            value[own + h] = given
            continue
        value[own + h] = best if rule == BEST else mean
        if rule == REGRET:
            most, step = total * par[STEP], one
            if most > par[TINY] and best - mean > most:
                step = most / (best - mean)
            for a in range(actions):
                row = at + a * width + h
                regret = rows[row] * (par[POSITIVE] if rows[row] > zero else par[NEGATIVE])
                rows[row] = max(regret + (value[home[first + a] + h] - mean) * step, par[FLOOR])
    for h in range(states, width):
        value[own + h] = one - one


@kernel_part
def predictive_rule(rows, out, place, value, home, par):
    """:func:`regret_rule` on regrets in `out`; `rows` get them plus the last gain, if it came again."""
    zero = splat(par[ZERO])
    positive, negative, floor = splat(par[POSITIVE]), splat(par[NEGATIVE]), splat(par[FLOOR])
    for h in range(0, place.width, LANES):
        mean = _mean(rows, place, h, value, home, par)
        store(value, place.own + h, mean)
        for a in range(place.actions):
            row = place.at + a * place.width + h
            gain = load(value, home[place.first + a] + h) - mean
            regret = load(out, row)
            regret = regret * where_above(regret, zero, positive, negative)
            regret = largest(regret + gain, floor)
            store(out, row, regret)
            store(rows, row, regret + gain)


@kernel_part
def entropy_rule(out, weights, over, place, states, value, home, par):
    """Smoothed best response with the dilated entropy: `mu ln mean exp(v / mu)`, softmax to `out`.

    `mu` is the smoothing times the prior weight of the hand, which stands in `weights` from `over` on;
    the mean instead of the sum keeps the regulariser at least 0.
    """
    at, actions, width, own, first = place
    for h in range(states):
        scale = par[SMOOTHING] * weights[over + h]
        best = value[home[first] + h]
        for a in range(1, actions):
            best = max(best, value[home[first + a] + h])
        if scale <= par[ZERO]:
            # A state that cannot occur: any strategy will do.
            value[own + h] = best
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
        value[own + h] = best + scale * np.log(total / actions)


@kernel_part
def euclidean_rule(out, weights, over, place, states, value, home, par, order):
    """Smoothed best response with the dilated Euclidean distance from uniform.

    Maximise `v·x - mu/2 |x - 1/n|²` over the simplex: project `1/n + v / mu` onto it (sort, find the
    threshold). `order` has room for the sort.
    """
    at, actions, width, own, first = place
    for h in range(states):
        scale = par[SMOOTHING] * weights[over + h]
        if scale <= par[ZERO]:
            best = value[home[first] + h]
            for a in range(actions):
                best = max(best, value[home[first + a] + h])
                out[at + a * width + h] = par[ONE] / actions
            value[own + h] = best
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
        value[own + h] = total


@kernel_part
def copy_children(out, place, value, home):
    """Write the value of each of my actions to `out`: the gradient."""
    for a in range(place.actions):
        for h in range(0, place.width, LANES):
            at = place.at + a * place.width + h
            store(out, at, load(value, home[place.first + a] + h))

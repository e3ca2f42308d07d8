"""Walks of Monte Carlo CFR through one deal, compiled.

A walk for player `p` adds an unbiased estimate of his counterfactual regrets to `gains`, and what
the opponent plays to `plan`; strategies come from `regrets` by regret matching. With `gains` the very
array `regrets` the solver learns; with another, strategies stay as they are, and what would have been
learnt can be looked at.

No recursion: the decisions on the current line stand on an explicit stack. Indices are unsigned, and
the state of the random numbers is a plain number while a walk lasts.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.kernel import kernel, row_kernel

Array = Any

_U = np.uint64
_ZERO, _ONE = _U(0), _U(1)
_STEP, _MIX1, _MIX2 = _U(0x9E3779B97F4A7C15), _U(0xBF58476D1CE4E5B9), _U(0x94D049BB133111EB)
_FRACTION = 2.0**-53


class Lines(NamedTuple):
    """The betting forest as the walks read it: a DEAL node is the decision that follows it."""

    kind: Array
    first: Array
    count: Array
    row: Array
    #: Twice the round, so that adding a player gives his place in a deal.
    seat: Array
    #: [player, node]: what a terminal pays, and pays times the result of the deal.
    even: Array
    swing: Array


class Deals(NamedTuple):
    """All complete deals, drawn by the alias method."""

    #: Chance of keeping a column of the alias table, and the deal to take otherwise.
    keep: Array
    other: Array
    #: [deal, 2 * round + player]: where the player's first row stands, and the length of his rows.
    start: Array
    width: Array
    #: [deal, 2 * round]: expected result at a showdown, from -1 to 1 for player 0.
    result: Array


class Stack(NamedTuple):
    """Where a walk has been: one entry for each decision on the current line."""

    node: Array
    #: Action being tried.
    action: Array
    #: Where the rows stand, and how far apart.
    at: Array
    width: Array
    #: The opponent's reach, or the probability of the action drawn.
    reach: Array
    #: [decision, action]
    strategy: Array
    value: Array


@kernel
def _scramble(state):
    """A random number from the state of a stream, which moves on by `_STEP` (SplitMix64)."""
    z = (state ^ (state >> _U(30))) * _MIX1
    z = (z ^ (z >> _U(27))) * _MIX2
    return z ^ (z >> _U(31))


@kernel
def _unit(state):
    """A random number from 0 to less than 1."""
    return np.float64(_scramble(state) >> _U(11)) * _FRACTION


@row_kernel
def _draw(deals, state):
    """A deal: the column of the alias table and the coin come from one random number."""
    spot = _unit(state) * np.float64(deals.keep.shape[0])
    deal = _U(spot)
    if spot - np.float64(deal) >= deals.keep[deal]:
        deal = deals.other[deal]
    return deal


@row_kernel
def external(lines, deals, regrets, gains, plan, stream, first, stride, count, linear, floor, work):
    """External sampling, iterations `first`, `first + stride`, ...: `count` of them."""
    state = stream[_ZERO]
    most = _U(work.value.shape[1])
    value = work.value.reshape(work.value.size)
    for number in range(count):
        weight = np.float64(first + number * stride) if linear else 1.0
        for player in range(_U(2)):
            state += _STEP
            deal = _draw(deals, state)
            node, depth, worth = _ZERO, _ZERO, 0.0
            walking = True
            while walking:
                kind = lines.kind[node]
                while kind < _U(2):
                    actions = lines.count[node]
                    if kind == player:
                        work.node[depth] = node
                        work.action[depth] = _ZERO
                        depth += _ONE
                        node = lines.first[node]
                    else:
                        seat = lines.seat[node] + kind
                        width = deals.width[deal, seat]
                        at = deals.start[deal, seat] + lines.row[node] * width
                        total = 0.0
                        for a in range(actions):
                            total += max(regrets[at + a * width], 0.0)
                        state += _STEP
                        chosen = actions - _ONE
                        if total > 0.0:
                            left = _unit(state) * total
                            scale = weight / total
                            for a in range(actions):
                                part = max(regrets[at + a * width], 0.0)
                                plan[at + a * width] += part * scale
                                if left >= 0.0 and part > 0.0:
                                    chosen = a
                                left -= part
                        else:
                            chosen = _U(_unit(state) * np.float64(actions))
                            for a in range(actions):
                                plan[at + a * width] += weight / np.float64(actions)
                        node = lines.first[node] + chosen
                    kind = lines.kind[node]
                result = deals.result[deal, lines.seat[node]]
                worth = lines.even[player, node] + lines.swing[player, node] * result
                walking = False
                while depth > _ZERO:
                    above = depth - _ONE
                    node, tried = work.node[above], work.action[above]
                    value[above * most + tried] = worth
                    tried += _ONE
                    actions = lines.count[node]
                    if tried < actions:
                        work.action[above] = tried
                        node = lines.first[node] + tried
                        walking = True
                        break
                    seat = lines.seat[node] + player
                    width = deals.width[deal, seat]
                    at = deals.start[deal, seat] + lines.row[node] * width
                    total, mean, plain = 0.0, 0.0, 0.0
                    for a in range(actions):
                        part = max(regrets[at + a * width], 0.0)
                        worth = value[above * most + a]
                        total += part
                        mean += part * worth
                        plain += worth
                    worth = mean / total if total > 0.0 else plain / np.float64(actions)
                    for a in range(actions):
                        gain = weight * (value[above * most + a] - worth)
                        gains[at + a * width] = max(gains[at + a * width] + gain, floor)
                    depth = above
    stream[_ZERO] = state


@row_kernel
def _match(regrets, at, width, actions, strategy, depth):
    """Regret matching: the strategy at one information set."""
    total = 0.0
    for a in range(actions):
        part = max(regrets[at + a * width], 0.0)
        strategy[depth, a] = part
        total += part
    for a in range(actions):
        if total > 0.0:
            strategy[depth, a] /= total
        else:
            strategy[depth, a] = 1.0 / np.float64(actions)


@row_kernel
def outcome(
    lines, deals, regrets, gains, plan, stream, first, stride, count, linear, floor, explored, work
):
    """Outcome sampling: one line of play a walk."""
    state = stream[_ZERO]
    strategy = work.strategy
    for number in range(count):
        weight = np.float64(first + number * stride) if linear else 1.0
        for player in range(_U(2)):
            state += _STEP
            deal = _draw(deals, state)
            node, depth, drawn = _ZERO, _ZERO, 1.0
            kind = lines.kind[node]
            while kind < _U(2):
                actions = lines.count[node]
                seat = lines.seat[node] + kind
                width = deals.width[deal, seat]
                at = deals.start[deal, seat] + lines.row[node] * width
                _match(regrets, at, width, actions, strategy, depth)
                mine = kind == player
                if not mine:
                    for a in range(actions):
                        plan[at + a * width] += weight * strategy[depth, a] / drawn
                uniform = explored / np.float64(actions) if mine else 0.0
                straight = 1.0 - explored if mine else 1.0
                state += _STEP
                left = _unit(state)
                chosen, likely = actions - _ONE, 0.0
                for a in range(actions):
                    part = uniform + straight * strategy[depth, a]
                    if left >= 0.0 and part > 0.0:
                        chosen, likely = a, part
                    left -= part
                if mine:
                    drawn *= likely
                    work.node[depth] = node
                    work.action[depth] = chosen
                    work.at[depth] = at
                    work.width[depth] = width
                    depth += _ONE
                node = lines.first[node] + chosen
                kind = lines.kind[node]
            result = deals.result[deal, lines.seat[node]]
            worth = lines.even[player, node] + lines.swing[player, node] * result
            # From here up: `worth` is the sampled value of the action taken.
            worth *= weight / drawn
            while depth > _ZERO:
                depth -= _ONE
                at, width, chosen = work.at[depth], work.width[depth], work.action[depth]
                mean = worth * strategy[depth, chosen]
                for a in range(lines.count[work.node[depth]]):
                    gain = (worth if a == chosen else 0.0) - mean
                    gains[at + a * width] = max(gains[at + a * width] + gain, floor)
                worth = mean
    stream[_ZERO] = state


@row_kernel
def chance(lines, deals, regrets, gains, plan, stream, first, stride, count, linear, floor, work):
    """Chance sampling: every line of play of one deal that the opponent's strategy reaches."""
    state = stream[_ZERO]
    strategy, value = work.strategy, work.value
    for number in range(count):
        weight = np.float64(first + number * stride) if linear else 1.0
        for player in range(_U(2)):
            state += _STEP
            deal = _draw(deals, state)
            node, depth, reach = _ZERO, _ZERO, weight
            walking = True
            while walking:
                kind = lines.kind[node]
                if kind < _U(2):
                    actions = lines.count[node]
                    seat = lines.seat[node] + kind
                    width = deals.width[deal, seat]
                    at = deals.start[deal, seat] + lines.row[node] * width
                    _match(regrets, at, width, actions, strategy, depth)
                    work.node[depth] = node
                    work.action[depth] = _ZERO
                    work.at[depth] = at
                    work.width[depth] = width
                    work.reach[depth] = reach
                    if kind != player:
                        for a in range(actions):
                            plan[at + a * width] += reach * strategy[depth, a]
                    depth += _ONE
                else:
                    result = deals.result[deal, lines.seat[node]]
                    worth = lines.even[player, node] + lines.swing[player, node] * result
                    value[depth - _ONE, work.action[depth - _ONE]] = worth
                    work.action[depth - _ONE] += _ONE
                # The decision on top of the stack has an action to try, or is done.
                walking = False
                while depth > _ZERO:
                    above = depth - _ONE
                    node, tried = work.node[above], work.action[above]
                    actions, reach = lines.count[node], work.reach[above]
                    mine = lines.kind[node] == player
                    if not mine:
                        # Nothing below an action that the opponent never takes can matter.
                        while tried < actions and strategy[above, tried] <= 0.0:
                            value[above, tried] = 0.0
                            tried += _ONE
                    if tried < actions:
                        work.action[above] = tried
                        if not mine:
                            reach *= strategy[above, tried]
                        node = lines.first[node] + tried
                        walking = True
                        break
                    worth = 0.0
                    for a in range(actions):
                        worth += strategy[above, a] * value[above, a]
                    if mine:
                        at, width = work.at[above], work.width[above]
                        for a in range(actions):
                            gain = reach * (value[above, a] - worth)
                            gains[at + a * width] = max(gains[at + a * width] + gain, floor)
                    depth = above
                    if depth > _ZERO:
                        value[depth - _ONE, work.action[depth - _ONE]] = worth
                        work.action[depth - _ONE] += _ONE
    stream[_ZERO] = state

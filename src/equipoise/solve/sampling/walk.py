"""Walks of Monte Carlo CFR through one deal, compiled: one tree, one table, one stack.

Lanctot, Waugh, Zinkevich and Bowling (2009). Whatever deals the cards (:mod:`.dealkernels`), a walk for
player `p` reads strategies from `rows` by regret matching and adds to `gains` an unbiased estimate of
his counterfactual regrets, and what the opponent plays. With v the values of the actions, σ the
strategy of who decides and w the weight of the iteration:

    external   all actions of `p`, the opponent's drawn from his strategy
                   regret[a] += w (v[a] - σ·v)           at decisions of `p`
                   average[a] += w σ[a]                  at the opponent's
    outcome    one line of play; `p` explores (a uniform action with probability `exploration`), and
               both sums are divided by the probability with which his own actions were drawn, v
               being 0 off the line
    chance     all actions of both; both sums are multiplied by the opponent's reach

The opponent and chance being drawn as they play, their probabilities cancel, except where the
opponent's reach was walked rather than drawn. A walk arrives at the opponent's decisions with exactly
his own reach, so that the second sum is his average strategy (in outcome sampling: stochastically
weighted averaging). Regrets never fall below a floor.

A *pruned* walk of external sampling skips actions of `p` whose regret is below a threshold, unless they
end the hand or it is the last street (Brown and Sandholm 2019): only his own σ, which is zero there,
would have met them.

With `gains` the very array `rows` a solver learns; with another, strategies stay as they are, and what
would have been learnt can be looked at. Numbers of one (decision, bucket) stand together, regrets then
averages: a visit touches one cache line or two, fetched while the actions tried before are walked.
Everything is in the precision of `rows`.

No recursion: the decisions on the current line stand on an explicit stack. Indices are unsigned, and
the state of the random numbers is a plain number while a walk lasts.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from equipoise.games.nodes import GIVEN
from equipoise.kernel import inlined_kernel, prefetch, row_kernel
from equipoise.solve.sampling.dealkernels import FETCHED, Dealt, deal
from equipoise.solve.sampling.random import STEP, unit

Array = Any

_U = np.uint64
_ZERO, _ONE, _TWO = _U(0), _U(1), _U(2)
_GIVEN = _U(GIVEN)


def node_type(real: Any) -> np.dtype[np.void]:
    """A betting node as walks read it: half a cache line, or a whole one in double precision.

    A DEAL node is the decision that follows it.
    """
    fields: list[tuple[str, Any]] = [
        # Where the numbers of a decision begin.
        ("base", np.uint64),
        # First of its children, which stand together.
        ("first", np.uint32),
        # 0 or 1: that player decides; above: the hand is over.
        ("kind", np.uint8),
        ("actions", np.uint8),
        ("street", np.uint8),
        # What the end of a hand pays player 0 and player 1, and pays times the result.
        ("even0", real),
        ("even1", real),
        ("swing", real),
    ]
    if real == np.float64:
        # Places of nodes are found by a shift, where the size is a power of two.
        fields.append(("unused", np.dtype((np.uint64, 3))))
    return np.dtype(fields, align=True)


class Pruning(NamedTuple):
    """Which actions external sampling skips."""

    #: Those with a regret below minus this, times the weight of the iteration ...
    chips: float
    #: ... in this share of the walks ...
    share: float
    #: ... after so many iterations ...
    after: int
    #: ... on streets before this one.
    last_street: int


class SamplingRule(NamedTuple):
    """How iterations are weighed, and what walks leave out."""

    #: Weigh iteration t by t.
    linear: bool
    #: Regrets stay above minus this times the weight of the iteration.
    floor_chips: float
    #: Share of own actions that outcome sampling draws evenly.
    exploration: float
    #: Share of his actions that the opponent is taken to draw evenly, where all hands are walked at once.
    tremble: float
    #: Share of his hands that the opponent plays on the last street as one who sees cards, not buckets.
    informed: float
    #: Streets on which he arrives with a smaller share of his hands are then walked by chance.
    rare: float
    #: None compiles walks that skip nothing.
    pruning: Pruning | None


class WalkStack(NamedTuple):
    """What one thread writes on: the deal, and the decisions on the current line."""

    dealt: Dealt
    node: Array
    #: Where the numbers of a decision stand.
    at: Array
    #: Action being tried, and a bit for each that is skipped.
    action: Array
    skipped: Array
    #: The opponent's reach.
    reach: Array
    #: [decision * most actions + action]
    strategy: Array
    value: Array

    @classmethod
    def of(cls, dealt: Dealt, depth: int, actions: int) -> WalkStack:
        """A stack for lines of `depth` decisions."""
        real = dealt.result.dtype
        return cls(
            dealt=dealt,
            node=np.zeros(depth, dtype=np.uint64),
            at=np.zeros(depth, dtype=np.uint64),
            action=np.zeros(depth, dtype=np.uint64),
            skipped=np.zeros(depth, dtype=np.uint64),
            reach=np.zeros(depth, dtype=real),
            strategy=np.zeros(depth * actions, dtype=real),
            value=np.zeros(depth * actions, dtype=real),
        )


def pruned_before(rule, iteration, weight, state):
    """Whether a walk is pruned: the street before which, the regret below which, the random state."""
    raise RuntimeError("only inside compiled kernels")


@overload(pruned_before)
def _pruned_before_by_type(rule, iteration, weight, state):
    if _pruning(rule) is types.none:
        return lambda rule, iteration, weight, state: (_ZERO, weight, state)

    def pruned_before(rule, iteration, weight, state):
        before, pruning = _ZERO, rule.pruning
        if iteration > pruning.after:
            state += STEP
            if unit(state) < pruning.share:
                before = _U(pruning.last_street)
        return before, -type(weight)(pruning.chips) * weight, state

    return pruned_before


def _fetch(tables, array, at):
    """Ask for numbers that will be needed, where the table is one of real cards: no cache holds it."""
    raise RuntimeError("only inside compiled kernels")


@overload(_fetch)
def _fetch_by_type(tables, array, at):
    if tables.instance_class in FETCHED:
        return lambda tables, array, at: prefetch(array, at)
    return lambda tables, array, at: None


def _skipped(rule, stack, decision):
    """A bit for each action that is skipped at a decision on the stack."""
    raise RuntimeError("only inside compiled kernels")


@overload(_skipped)
def _skipped_by_type(rule, stack, decision):
    if _pruning(rule) is types.none:
        return lambda rule, stack, decision: _ZERO
    return lambda rule, stack, decision: stack.skipped[decision]


def _pruning(rule):
    return rule.types[rule.fields.index("pruning")]


def _entered(entries, here, node, worth):
    """What the end of a line is worth: given by somebody else, where a trunk ends."""
    raise RuntimeError("only inside compiled kernels")


@overload(_entered)
def _entered_by_type(entries, here, node, worth):
    if entries is types.none or isinstance(entries, types.Omitted):
        return lambda entries, here, node, worth: worth

    def entered(entries, here, node, worth):
        if _U(here.kind) == _GIVEN:
            number = entries.count[_ZERO]
            entries.node[number] = node
            entries.count[_ZERO] = number + _ONE
            worth = entries.value[number]
        return worth

    return entered


@inlined_kernel
def external_walk(
    nodes,
    rows,
    gains,
    tables,
    rule,
    player,
    node,
    spot,
    weight,
    floor,
    pruned,
    state,
    stack,
    entries,
):
    """One walk of external sampling from `node` down: its worth to `player`, and the random state.

    `pruned` is the street before which actions are skipped, and the regret below which. With `entries`
    the tree is a trunk, cut where somebody else plays on: a walk notes where it comes to a cut, and reads
    there what that is worth.
    """
    real = rows.dtype.type
    nothing = real(0)
    last, threshold = pruned
    bucket, result, value = stack.dealt.bucket, stack.dealt.result, stack.value
    most = _U(value.shape[0] // stack.node.shape[0])
    depth, worth = _ZERO, nothing
    walking = True
    while walking:
        here = nodes[node]
        kind = _U(here.kind)
        while kind < _TWO:
            actions, first, street = _U(here.actions), _U(here.first), _U(here.street)
            at = here.base + bucket[spot + _TWO * street + kind] * _TWO * actions
            chosen = _ZERO
            if kind == player:
                skipped = _ZERO
                if street < last:
                    best = nothing
                    for a in range(actions):
                        regret = rows[at + a]
                        best = max(best, regret)
                        if regret < threshold and nodes[first + a].kind < _TWO:
                            skipped |= _ONE << a
                    # Without a positive regret every action is played.
                    if best <= nothing:
                        skipped = _ZERO
                else:
                    _fetch(tables, gains, at)
                for a in range(actions):
                    child = nodes[first + a]
                    if child.kind < _TWO:
                        seat = spot + _TWO * _U(child.street) + _U(child.kind)
                        below = child.base + bucket[seat] * _TWO * _U(child.actions)
                        _fetch(tables, gains, below)
                while (skipped >> chosen) & _ONE:
                    chosen += _ONE
                stack.node[depth] = node
                stack.at[depth] = at
                stack.action[depth] = chosen
                stack.skipped[depth] = skipped
                depth += _ONE
            else:
                total = nothing
                for a in range(actions):
                    total += max(rows[at + a], nothing)
                state += STEP
                if total > nothing:
                    left = real(unit(state)) * total
                    scale = weight / total
                    for a in range(actions):
                        part = max(rows[at + a], nothing)
                        gains[at + actions + a] += part * scale
                        if left >= nothing and part > nothing:
                            chosen = a
                        left -= part
                else:
                    chosen = _U(unit(state) * np.float64(actions))
                    share = weight / real(actions)
                    for a in range(actions):
                        gains[at + actions + a] += share
            node = first + chosen
            here = nodes[node]
            kind = _U(here.kind)
        even = here.even0 if player == _ZERO else here.even1
        worth = even + here.swing * result[spot + _TWO * _U(here.street) + player]
        worth = _entered(entries, here, node, worth)
        walking = False
        while depth > _ZERO:
            above = depth - _ONE
            node, tried = stack.node[above], stack.action[above]
            skipped = _skipped(rule, stack, above)
            begin = above * most
            value[begin + tried] = worth
            here = nodes[node]
            actions = _U(here.actions)
            tried += _ONE
            while (skipped >> tried) & _ONE:
                tried += _ONE
            if tried < actions:
                stack.action[above] = tried
                node = _U(here.first) + tried
                walking = True
                break
            at = stack.at[above]
            total, mean, plain = nothing, nothing, nothing
            for a in range(actions):
                part = max(rows[at + a], nothing)
                # What a skipped action was worth at another time counts for nothing, for
                # its part is 0.
                total += part
                mean += part * value[begin + a]
                plain += value[begin + a]
            worth = mean / total if total > nothing else plain / real(actions)
            for a in range(actions):
                if not (skipped >> a) & _ONE:
                    gain = weight * (value[begin + a] - worth)
                    gains[at + a] = max(gains[at + a] + gain, floor)
            depth = above
    return worth, state


@row_kernel
def external(nodes, rows, gains, tables, rule, stream, start, stride, count, stack):
    """External sampling, iterations `start`, `start + stride`, ...: `count` of them, two walks each."""
    real, state = rows.dtype.type, stream[_ZERO]
    for number in range(count):
        iteration = start + number * stride
        weight = real(iteration) if rule.linear else real(1)
        floor = -real(rule.floor_chips) * weight
        for player in range(_TWO):
            state, spot = deal(tables, state, stack.dealt)
            last, threshold, state = pruned_before(rule, iteration, weight, state)
            _, state = external_walk(
                nodes, rows, gains, tables, rule, player, _ZERO, spot, weight, floor,
                (last, threshold), state, stack, None,
            )  # fmt: skip
    stream[_ZERO] = state


@row_kernel
def _match(rows, at, actions, strategy, begin):
    """Regret matching: the strategy at one information set."""
    real = rows.dtype.type
    total = real(0)
    for a in range(actions):
        part = max(rows[at + a], real(0))
        strategy[begin + a] = part
        total += part
    for a in range(actions):
        if total > real(0):
            strategy[begin + a] /= total
        else:
            strategy[begin + a] = real(1) / real(actions)


@row_kernel
def outcome(nodes, rows, gains, tables, rule, stream, start, stride, count, stack):
    """Outcome sampling: one line of play a walk."""
    real, state = rows.dtype.type, stream[_ZERO]
    nothing, one, explored = real(0), real(1), real(rule.exploration)
    bucket, result, strategy = stack.dealt.bucket, stack.dealt.result, stack.strategy
    most = _U(strategy.shape[0] // stack.node.shape[0])
    for number in range(count):
        weight = real(start + number * stride) if rule.linear else real(1)
        floor = -real(rule.floor_chips) * weight
        for player in range(_TWO):
            state, spot = deal(tables, state, stack.dealt)
            node, depth, drawn = _ZERO, _ZERO, one
            here = nodes[node]
            kind = _U(here.kind)
            while kind < _TWO:
                actions, first = _U(here.actions), _U(here.first)
                at = here.base + bucket[spot + _TWO * _U(here.street) + kind] * _TWO * actions
                begin = depth * most
                _match(rows, at, actions, strategy, begin)
                mine = kind == player
                if not mine:
                    for a in range(actions):
                        gains[at + actions + a] += weight * strategy[begin + a] / drawn
                uniform = explored / real(actions) if mine else nothing
                straight = one - explored if mine else one
                state += STEP
                left = real(unit(state))
                chosen, likely = actions - _ONE, nothing
                for a in range(actions):
                    part = uniform + straight * strategy[begin + a]
                    if left >= nothing and part > nothing:
                        chosen, likely = a, part
                    left -= part
                if mine:
                    drawn *= likely
                    stack.node[depth] = node
                    stack.action[depth] = chosen
                    stack.at[depth] = at
                    depth += _ONE
                node = first + chosen
                here = nodes[node]
                kind = _U(here.kind)
            even = here.even0 if player == _ZERO else here.even1
            worth = even + here.swing * result[spot + _TWO * _U(here.street) + player]
            # From here up: `worth` is the sampled value of the action taken.
            worth *= weight / drawn
            while depth > _ZERO:
                depth -= _ONE
                at, chosen = stack.at[depth], stack.action[depth]
                mean = worth * strategy[depth * most + chosen]
                for a in range(_U(nodes[stack.node[depth]].actions)):
                    gain = (worth if a == chosen else nothing) - mean
                    gains[at + a] = max(gains[at + a] + gain, floor)
                worth = mean
    stream[_ZERO] = state


@row_kernel
def chance(nodes, rows, gains, tables, rule, stream, start, stride, count, stack):
    """Chance sampling: every line of play of one deal that the opponent's strategy reaches."""
    real, state = rows.dtype.type, stream[_ZERO]
    nothing = real(0)
    bucket, result = stack.dealt.bucket, stack.dealt.result
    strategy, value = stack.strategy, stack.value
    most = _U(value.shape[0] // stack.node.shape[0])
    for number in range(count):
        weight = real(start + number * stride) if rule.linear else real(1)
        floor = -real(rule.floor_chips) * weight
        for player in range(_TWO):
            state, spot = deal(tables, state, stack.dealt)
            node, depth, reach = _ZERO, _ZERO, weight
            walking = True
            while walking:
                here = nodes[node]
                kind = _U(here.kind)
                if kind < _TWO:
                    actions = _U(here.actions)
                    at = here.base + bucket[spot + _TWO * _U(here.street) + kind] * _TWO * actions
                    begin = depth * most
                    _match(rows, at, actions, strategy, begin)
                    stack.node[depth] = node
                    stack.action[depth] = _ZERO
                    stack.at[depth] = at
                    stack.reach[depth] = reach
                    if kind != player:
                        for a in range(actions):
                            gains[at + actions + a] += reach * strategy[begin + a]
                    depth += _ONE
                else:
                    even = here.even0 if player == _ZERO else here.even1
                    worth = even + here.swing * result[spot + _TWO * _U(here.street) + player]
                    value[(depth - _ONE) * most + stack.action[depth - _ONE]] = worth
                    stack.action[depth - _ONE] += _ONE
                # The decision on top of the stack has an action to try, or is done.
                walking = False
                while depth > _ZERO:
                    above = depth - _ONE
                    begin = above * most
                    node, tried = stack.node[above], stack.action[above]
                    here = nodes[node]
                    actions, reach = _U(here.actions), stack.reach[above]
                    mine = _U(here.kind) == player
                    if not mine:
                        # Nothing below an action that the opponent never takes can matter.
                        while tried < actions and strategy[begin + tried] <= nothing:
                            value[begin + tried] = nothing
                            tried += _ONE
                    if tried < actions:
                        stack.action[above] = tried
                        if not mine:
                            reach *= strategy[begin + tried]
                        node = _U(here.first) + tried
                        walking = True
                        break
                    worth = nothing
                    for a in range(actions):
                        worth += strategy[begin + a] * value[begin + a]
                    if mine:
                        at = stack.at[above]
                        for a in range(actions):
                            gain = reach * (value[begin + a] - worth)
                            gains[at + a] = max(gains[at + a] + gain, floor)
                    depth = above
                    if depth > _ZERO:
                        value[(depth - _ONE) * most + stack.action[depth - _ONE]] = worth
                        stack.action[depth - _ONE] += _ONE
    stream[_ZERO] = state


@row_kernel
def fill_averages(base, actions, buckets, rows, out):
    """Average strategies of all decisions: blocks [action, bucket], uniform where never played."""
    real = rows.dtype.type
    for decision in range(_U(base.shape[0])):
        count, width = _U(actions[decision]), _U(buckets[decision])
        begin = _U(base[decision])
        filled = begin // _TWO
        for bucket in range(width):
            at = begin + bucket * _TWO * count + count
            total = real(0)
            for a in range(count):
                total += rows[at + a]
            for a in range(count):
                share = rows[at + a] / total if total > real(0) else real(1) / real(count)
                out[filled + a * width + bucket] = share

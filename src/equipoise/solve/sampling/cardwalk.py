"""External sampling on dealt cards, compiled: one walk, whatever deals the cards.

A deal is reduced to what a walk needs: each player's bucket on each street, and who wins. Cards of
hold'em are dealt, looked up in an abstraction and compared (:func:`walk_holdem`); games small enough
to list their deals draw one of them (:func:`walk_listed`). Both then walk alike.

A walk for player `p` tries all his actions and draws the opponent's. With v the values of the
actions, σ his strategy and w the weight of the iteration, it adds

    regret[a] += w (v[a] - σ·v),  never below the floor      at his decisions
    average[a] += w σ[a]                                     at the opponent's

A walk arrives at the opponent's decisions with the opponent's own reach, so the second line is his
average strategy. A *pruned* walk skips actions of `p` whose regret is below a threshold, unless they
end the hand or it is the last street (Brown and Sandholm 2019): only his own σ, which is zero
there, would have met them.

Numbers of one (decision, bucket) stand together, regrets then averages: a visit touches one cache
line or two, fetched while the actions tried before are walked.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type,assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.abstraction.lookup import bucket_path
from equipoise.cards.evaluator import CARD_BIT, CARD_KEY, place, start_key
from equipoise.kernel import kernel, prefetch, row_kernel

Array = Any

#: A betting node as walks read it, half a cache line. A DEAL node is the decision that follows it.
NODE = np.dtype(
    [
        #: Where the numbers of a decision begin.
        ("base", np.uint64),
        #: First of its children, which stand together.
        ("first", np.uint32),
        #: 0 or 1: that player decides; above: the hand is over.
        ("kind", np.uint8),
        ("actions", np.uint8),
        ("street", np.uint8),
        #: What the end of a hand pays player 0 and player 1, and pays times the result.
        ("even0", np.float32),
        ("even1", np.float32),
        ("swing", np.float32),
    ],
    align=True,
)

_U, _F = np.uint64, np.float32
_ZERO, _ONE, _TWO = _U(0), _U(1), _U(2)
_NOTHING = _F(0)
_STEP, _MIX1, _MIX2 = _U(0x9E3779B97F4A7C15), _U(0xBF58476D1CE4E5B9), _U(0x94D049BB133111EB)
_FRACTION = 2.0**-53
#: A random number is a fraction of so many bits, from which several cards are drawn.
_CARD_BITS = _U(58)
_CARD_MASK = _U((1 << 58) - 1)
_DECK, _HOLE, _DEALT = _U(52), _U(4), _U(9)
_SEVEN = _U(start_key(7))


class HoldemDeals(NamedTuple):
    """What dealing hold'em needs: the abstraction's look-up and the evaluator's tables."""

    lookup: Any
    values: Array
    rows: Array


class ListedDeals(NamedTuple):
    """All complete deals of a small game, drawn by the alias method."""

    #: Chance of keeping a column of the alias table, and the deal to take otherwise.
    keep: Array
    other: Array
    #: [deal, 2 * round + player]
    bucket: Array
    #: [deal, round]: expected result at a showdown, from -1 to 1 for player 0.
    result: Array


class Rule(NamedTuple):
    """How iterations are weighed and pruned; chips are multiples of the iteration's weight."""

    #: Weigh iteration t by t.
    linear: bool
    #: Regrets stay above minus this.
    floor_chips: float
    #: Actions with a regret below minus this are skipped ...
    prune_chips: float
    #: ... in this share of the walks ...
    prune_share: float
    #: ... after so many iterations ...
    prune_after: int
    #: ... on streets before this one.
    last_street: int


class Stack(NamedTuple):
    """What one thread writes on: the deal, and the decisions of `p` on the current line."""

    #: [2 * street + player]
    bucket: Array
    #: [street], for the player who walks.
    result: Array
    #: The deck in order, and what was exchanged to draw cards from it.
    deck: Array
    swaps: Array
    board: Array
    #: Buckets of one hand.
    path: Array
    node: Array
    at: Array
    #: Action being tried, and a bit for each that is skipped.
    action: Array
    skipped: Array
    #: [decision * most actions + action]
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
def _walk(nodes, rows, player, weight, floor, pruning, threshold, last, state, stack):
    """One walk for `player` through the deal on the stack; the state of the random numbers."""
    bucket, value = stack.bucket, stack.value
    most = _U(value.shape[0] // stack.node.shape[0])
    node, depth = _ZERO, _ZERO
    while True:
        here = nodes[node]
        kind = _U(here.kind)
        while kind < _TWO:
            actions, first, street = _U(here.actions), _U(here.first), _U(here.street)
            at = here.base + bucket[_TWO * street + kind] * _TWO * actions
            if kind == player:
                skipped = _ZERO
                if pruning and street < last:
                    best = _NOTHING
                    for a in range(actions):
                        regret = rows[at + a]
                        best = max(best, regret)
                        if regret < threshold and nodes[first + a].kind < _TWO:
                            skipped |= _ONE << a
                    # Without a positive regret every action is played.
                    if best <= _NOTHING:
                        skipped = _ZERO
                else:
                    prefetch(rows, at)
                for a in range(actions):
                    child = nodes[first + a]
                    if child.kind < _TWO:
                        seat = _TWO * _U(child.street) + _U(child.kind)
                        prefetch(rows, child.base + bucket[seat] * _TWO * _U(child.actions))
                chosen = _ZERO
                while (skipped >> chosen) & _ONE:
                    chosen += _ONE
                stack.node[depth] = node
                stack.at[depth] = at
                stack.action[depth] = chosen
                stack.skipped[depth] = skipped
                depth += _ONE
            else:
                total = _NOTHING
                for a in range(actions):
                    total += max(rows[at + a], _NOTHING)
                state += _STEP
                chosen = _ZERO
                if total > _NOTHING:
                    left = _F(_unit(state)) * total
                    scale = weight / total
                    for a in range(actions):
                        part = max(rows[at + a], _NOTHING)
                        rows[at + actions + a] += part * scale
                        if left >= _NOTHING and part > _NOTHING:
                            chosen = a
                        left -= part
                else:
                    chosen = _U(_unit(state) * np.float64(actions))
                    share = weight / _F(actions)
                    for a in range(actions):
                        rows[at + actions + a] += share
            node = first + chosen
            here = nodes[node]
            kind = _U(here.kind)
        worth = here.even0 if player == _ZERO else here.even1
        worth += here.swing * stack.result[_U(here.street)]
        walking = False
        while depth > _ZERO:
            above = depth - _ONE
            node, tried = stack.node[above], stack.action[above]
            skipped = stack.skipped[above]
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
            total, mean, plain = _NOTHING, _NOTHING, _NOTHING
            for a in range(actions):
                part = max(rows[at + a], _NOTHING)
                # What a skipped action was worth at another time counts for nothing: its part is 0.
                total += part
                mean += part * value[begin + a]
                plain += value[begin + a]
            worth = mean / total if total > _NOTHING else plain / _F(actions)
            for a in range(actions):
                if not (skipped >> a) & _ONE:
                    gain = weight * (value[begin + a] - worth)
                    rows[at + a] = max(rows[at + a] + gain, floor)
            depth = above
        if not walking:
            return state


@row_kernel
def deal_holdem(deals, state, stack):
    """Deal nine cards from two random numbers: buckets and result for player 0 onto the stack.

    Each number is a fraction of 58 bits. Times the cards left, its whole part draws one of them and
    the rest goes on to the next card; all deals are equally likely within 2⁻³⁰. The deck is put
    back in order, so that a deal depends on the state of the random numbers alone.
    """
    deck, swaps = stack.deck, stack.swaps
    fraction = _ZERO
    for i in range(_DEALT):
        if i in (_ZERO, _HOLE):
            state += _STEP
            fraction = _scramble(state) & _CARD_MASK
        fraction *= _DECK - i
        j = i + (fraction >> _CARD_BITS)
        fraction &= _CARD_MASK
        swaps[i] = j
        deck[i], deck[j] = deck[j], deck[i]
    key, bits = _SEVEN, _ZERO
    for i in range(_HOLE, _DEALT):
        card = deck[i]
        stack.board[i - _HOLE] = card
        key += CARD_KEY[card]
        bits |= CARD_BIT[card]
    first, second = _U(deck[_U(0)]), _U(deck[_U(1)])
    third, fourth = _U(deck[_U(2)]), _U(deck[_U(3)])
    for i in range(_DEALT):
        k = _DEALT - _ONE - i
        j = swaps[k]
        deck[k], deck[j] = deck[j], deck[k]
    row, column = place(
        key + CARD_KEY[first] + CARD_KEY[second], bits | CARD_BIT[first] | CARD_BIT[second]
    )
    mine = deals.values[_U(deals.rows[row]) + column]
    row, column = place(
        key + CARD_KEY[third] + CARD_KEY[fourth], bits | CARD_BIT[third] | CARD_BIT[fourth]
    )
    theirs = deals.values[_U(deals.rows[row]) + column]
    result = _F(1) if mine > theirs else (_F(-1) if mine < theirs else _NOTHING)
    high, low = max(first, second), min(first, second)
    bucket_path(deals.lookup, stack.board, high * (high - _ONE) // _TWO + low, stack.path)
    for street in range(_HOLE):
        stack.bucket[_TWO * street] = stack.path[street]
        stack.result[street] = result
    high, low = max(third, fourth), min(third, fourth)
    bucket_path(deals.lookup, stack.board, high * (high - _ONE) // _TWO + low, stack.path)
    for street in range(_HOLE):
        stack.bucket[_TWO * street + _ONE] = stack.path[street]
    return state


@row_kernel
def deal_listed(deals, state, stack):
    """Draw one of the listed deals: buckets and result for player 0 onto the stack."""
    state += _STEP
    spot = _unit(state) * np.float64(deals.keep.shape[0])
    deal = _U(spot)
    if spot - np.float64(deal) >= deals.keep[deal]:
        deal = deals.other[deal]
    for street in range(_U(deals.result.shape[1])):
        stack.bucket[_TWO * street] = deals.bucket[deal, _TWO * street]
        stack.bucket[_TWO * street + _ONE] = deals.bucket[deal, _TWO * street + _ONE]
        stack.result[street] = deals.result[deal, street]
    return state


@row_kernel
def _walk_dealt(nodes, rows, rule, player, iteration, state, stack):
    """A walk for `player` in an iteration, after the deal for it."""
    if player == _ONE:
        for street in range(_U(stack.result.shape[0])):
            stack.result[street] = -stack.result[street]
    weight = _F(iteration) if rule.linear else _F(1)
    pruning = False
    if iteration > rule.prune_after:
        state += _STEP
        pruning = _unit(state) < rule.prune_share
    floor, threshold = -_F(rule.floor_chips) * weight, -_F(rule.prune_chips) * weight
    last = _U(rule.last_street)
    return _walk(nodes, rows, player, weight, floor, pruning, threshold, last, state, stack)


@row_kernel
def walk_holdem(nodes, rows, deals, rule, stream, first, stride, count, stack):
    """Iterations `first`, `first + stride`, ... on hold'em: `count` of them, two walks each."""
    state = stream[_ZERO]
    for number in range(count):
        for player in range(_TWO):
            state = deal_holdem(deals, state, stack)
            iteration = first + number * stride
            state = _walk_dealt(nodes, rows, rule, player, iteration, state, stack)
    stream[_ZERO] = state


@row_kernel
def walk_listed(nodes, rows, deals, rule, stream, first, stride, count, stack):
    """The same on listed deals."""
    state = stream[_ZERO]
    for number in range(count):
        for player in range(_TWO):
            state = deal_listed(deals, state, stack)
            iteration = first + number * stride
            state = _walk_dealt(nodes, rows, rule, player, iteration, state, stack)
    stream[_ZERO] = state


@row_kernel
def fill_averages(base, actions, buckets, rows, out):
    """Average strategies of all decisions: blocks [action, bucket], uniform where never played."""
    for decision in range(_U(base.shape[0])):
        count, width = _U(actions[decision]), _U(buckets[decision])
        begin = _U(base[decision])
        filled = begin // _TWO
        for bucket in range(width):
            at = begin + bucket * _TWO * count + count
            total = _NOTHING
            for a in range(count):
                total += rows[at + a]
            for a in range(count):
                share = rows[at + a] / total if total > _NOTHING else _F(1) / _F(count)
                out[filled + a * width + bucket] = share

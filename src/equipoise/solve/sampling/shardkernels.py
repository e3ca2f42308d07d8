"""Walks that stop at the second round and go on elsewhere, compiled.

A *head* owns the decisions of the first round, the trunk. It deals, walks the trunk and notes for every
walk who walks, with which private cards, and where the first round ends: the *entries*. A *shard* owns
some public classes of second-round boards. For every walk of a round it draws one of its own boards that
fits the private cards h, walks on from each entry, and tells what it is worth times

    share(h) = P(the board is one of mine | h),

not the share of its boards among all: given h, boards that need cards of h are gone. The sum over all
shards is an unbiased estimate of the entry's value. Below an entry regrets and averages grow by the same
share, for in one process a walk would have come to this shard just so often.

The head then walks its trunk a second time, over the same deals with the same random numbers, and now
reads the values of the entries. In both walks strategies are those of the round's beginning.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="arg-type,assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from equipoise.abstraction.boardindex import rank_of_three
from equipoise.cards.evaluator import CARD_BIT, CARD_KEY
from equipoise.kernel import row_kernel
from equipoise.solve.sampling.dealkernels import (
    FETCHED,
    SEVEN_CARDS,
    HoldemTables,
    ListedTables,
    compare_hands,
    deal,
    look_up_hands,
)
from equipoise.solve.sampling.random import STEP, scramble, unit
from equipoise.solve.sampling.walk import external_walk, pruned_before

Array = Any

_U = np.uint64
_ZERO, _ONE, _TWO = _U(0), _U(1), _U(2)
_HOLE, _FLOP, _STREETS = _U(4), _U(3), _U(4)
_DECK, _CARD_BITS = _U(52), _U(32)
#: Flops that avoid four given cards.
FREE_FLOPS = 17_296


class Entries(NamedTuple):
    """Where the walks of a round leave the trunk, in the order in which they do."""

    node: Array
    value: Array
    #: How many there are: one number.
    count: Array


class Round(NamedTuple):
    """What the head tells the shards of one round of walks."""

    #: Cards of both players, or the number of their private states: [walk, 4].
    private: Array
    #: Entries of walk w are `first[w]` to `first[w + 1] - 1`; walks are of player 0 and 1 in turn.
    first: Array
    entry: Array


class Notes(NamedTuple):
    """What the head remembers of its deals, to walk the trunk a second time without dealing."""

    #: Random numbers after the deal, and where it stands: [walk].
    state: Array
    spot: Array
    #: First-round buckets and what a showdown brings: [walk, player].
    bucket: Array
    result: Array


class HoldemShard(NamedTuple):
    """Flops that a shard owns, and how to look hands up there."""

    tables: HoldemTables
    #: uint8[flops, 3]
    flops: Array
    #: Own flops that show a card, two cards, three (by their rank): for shares.
    with_card: Array
    with_two: Array
    is_own: Array
    #: Bucket of the abstraction → own bucket, street after street, and where a street begins.
    local: Array
    begin: Array


class ListedShard(NamedTuple):
    """Listed deals that a shard owns, those of one pair of private states together."""

    #: Own deals of pair p are `deals[first[p]]` to `deals[first[p + 1] - 1]`.
    first: Array
    deals: Array
    #: Chances of these deals, added up from the first deal of the pair on.
    chance: Array
    #: Chance of each pair whatever the board.
    pair_chance: Array


@row_kernel
def deal_own_flop(shard, private, state, dealt):
    """Draw an own flop that misses the private cards, and two more cards: state, place, share."""
    taken, with_h = _ZERO, np.int64(shard.flops.shape[0])
    for i in range(_HOLE):
        card = _U(private[i])
        dealt.hole[i] = private[i]
        taken |= _ONE << card
        with_h -= np.int64(shard.with_card[card])
        for j in range(i):
            other = _U(private[j])
            with_h += np.int64(shard.with_two[card, other])
            for k in range(j):
                three = rank_of_three(card, other, _U(private[k]))
                with_h -= np.int64(shard.is_own[three])
    if with_h <= 0:
        return state, _ZERO, 0.0
    many = _U(shard.flops.shape[0])
    searching = True
    while searching:
        state += STEP
        flop = shard.flops[((scramble(state) >> _CARD_BITS) * many) >> _CARD_BITS]
        shown = _ZERO
        for i in range(_FLOP):
            shown |= _ONE << _U(flop[i])
            dealt.board[i] = flop[i]
        searching = (shown & taken) != _ZERO
    taken |= shown
    for i in range(_TWO):
        card = _ZERO
        searching = True
        while searching:
            state += STEP
            card = ((scramble(state) >> _CARD_BITS) * _DECK) >> _CARD_BITS
            searching = ((taken >> card) & _ONE) != _ZERO
        taken |= _ONE << card
        dealt.board[_FLOP + i] = card
    key, bits = SEVEN_CARDS, _ZERO
    for i in range(_U(5)):
        key += CARD_KEY[dealt.board[i]]
        bits |= CARD_BIT[dealt.board[i]]
    compare_hands(shard.tables, key, bits, dealt)
    look_up_hands(shard.tables, dealt)
    for street in range(_ONE, _STREETS):
        for player in range(_TWO):
            seat = _TWO * street + player
            dealt.bucket[seat] = shard.local[shard.begin[street] + dealt.bucket[seat]]
    return state, _ZERO, np.float64(with_h) / FREE_FLOPS


@row_kernel
def deal_own_listed(shard, private, state, dealt):
    """Draw one of the own deals of a pair of private states: state, place, share."""
    pair = _U(private[_ZERO])
    low, high = _U(shard.first[pair]), _U(shard.first[pair + _ONE])
    if low == high:
        return state, _ZERO, 0.0
    mass = shard.chance[high - _ONE]
    state += STEP
    wanted = unit(state) * mass
    while low + _ONE < high:
        middle = (low + high - _ONE) >> _ONE
        if shard.chance[middle] > wanted:
            high = middle + _ONE
        else:
            low = middle + _ONE
    return state, _U(shard.deals[low]) * dealt.width, mass / shard.pair_chance[pair]


FETCHED.add(HoldemShard)

#: The kernel that draws a board, for each kind of shard.
OWN_DEALS: dict[type, Any] = {HoldemShard: deal_own_flop, ListedShard: deal_own_listed}


def deal_own(shard, private, state, dealt):
    """Draw a deal of a shard that goes with the private cards. Compiled code only."""
    raise RuntimeError("only inside compiled kernels")


@overload(deal_own)
def _deal_own_by_type(shard, private, state, dealt):
    chosen = OWN_DEALS[shard.instance_class]

    def deal_own(shard, private, state, dealt):
        return chosen(shard, private, state, dealt)

    return deal_own


def private_of(tables, dealt, spot, pairs, private):
    """Write down the private cards of a deal. Compiled code only."""
    raise RuntimeError("only inside compiled kernels")


@overload(private_of)
def _private_of_by_type(tables, dealt, spot, pairs, private):
    if tables.instance_class is ListedTables:

        def listed_pair(tables, dealt, spot, pairs, private):
            private[_ZERO] = pairs[spot // dealt.width]

        return listed_pair

    def dealt_cards(tables, dealt, spot, pairs, private):
        for i in range(_HOLE):
            private[i] = dealt.hole[i]

    return dealt_cards


@row_kernel
def walk_trunk(
    nodes, rows, gains, tables, rule, stream, iteration, round_, notes, again, stack, entries, pairs
):
    """All walks of a round through the trunk: notes `round_`, reads the entries' values.

    With `again` it walks as it did before, from its notes. The random numbers end in `stream`.
    """
    real, state = rows.dtype.type, stream[_ZERO]
    dealt = stack.dealt
    weight = real(iteration) if rule.linear else real(1)
    floor = -real(rule.floor_chips) * weight
    entries.count[_ZERO] = _ZERO
    for number in range(_U(round_.private.shape[0])):
        if again:
            state, spot = notes.state[number], notes.spot[number]
            for player in range(_TWO):
                dealt.bucket[spot + player] = notes.bucket[number, player]
                dealt.result[spot + player] = notes.result[number, player]
        else:
            state, spot = deal(tables, state, dealt)
            private_of(tables, dealt, spot, pairs, round_.private[number])
            notes.state[number], notes.spot[number] = state, spot
            for player in range(_TWO):
                notes.bucket[number, player] = dealt.bucket[spot + player]
                notes.result[number, player] = dealt.result[spot + player]
        last, threshold, state = pruned_before(rule, iteration, weight, state)
        round_.first[number] = entries.count[_ZERO]
        _, state = external_walk(
            nodes, rows, gains, tables, rule, number & _ONE, _ZERO, spot, weight, floor,
            (last, threshold), state, stack, entries,
        )  # fmt: skip
    round_.first[_U(round_.private.shape[0])] = entries.count[_ZERO]
    stream[_ZERO] = state


@row_kernel
def walk_below(
    nodes, rows, shard, rule, scale, stream, iteration, round_, begin, end, stack, values
):
    """Walks `begin` to `end - 1` of a round, from their entries on, over boards of one shard.

    `scale` is the share of the shard whatever the private cards, by which floors and thresholds go.
    """
    real, state = rows.dtype.type, stream[_ZERO]
    full = real(iteration) if rule.linear else real(1)
    floor = -real(rule.floor_chips) * full * real(scale)
    for number in range(_U(begin), _U(end)):
        state, spot, share = deal_own(shard, round_.private[number], state, stack.dealt)
        last, threshold, state = pruned_before(rule, iteration, full * real(scale), state)
        for e in range(_U(round_.first[number]), _U(round_.first[number + _ONE])):
            values[e] = real(0)
            if share > 0.0:
                worth, state = external_walk(
                    nodes, rows, rows, shard, rule, number & _ONE, _U(round_.entry[e]), spot,
                    full * real(share), floor, (last, threshold), state, stack, None,
                )  # fmt: skip
                values[e] = worth * real(share)
    stream[_ZERO] = state

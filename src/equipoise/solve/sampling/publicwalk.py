"""Walks of public chance sampling, compiled: one board, all hands of both players at once.

Johanson, Bard, Lanctot, Gibson and Bowling (AAMAS 2012). A walk draws a full board and plays, for player
`p`, every action of both players with every hand that the board leaves: 1,081 of them, each against the
990 that it can meet. Counterfactual values are exact on that board, and right on average over boards,
since every pair of hands is left by the same share of them. Hands of one bucket play alike, and what
they learn adds up there. With r the opponent's reach, v(i, a) what action a is worth to hand i against
it, V(b, a) the sum of v(i, a) over the hands of bucket b, and w the weight of the iteration:

    regret[b, a]  += w (V(b, a) - Σ σ(b, a') V(b, a'))      at decisions of `p`
    average[b, a] += 990 w σ(b, a) Σ r(j) over hands j of b     at the opponent's

which is a walk of external sampling (:mod:`.walk`) for each of the hands, its noise but for the board's
taken out. The opponent's reach starts at 1/990, one over the hands that he may hold.

An equilibrium of the abstract game may answer anything to what its opponent never does, and real ones
do it. With `tremble` ε his reach goes on by (1 - ε) σ + ε / actions in place of σ: answers are learnt, and
averages kept, on every line (Selten's trembling hand, 1975). What is averaged is σ itself.

The same equilibrium trusts that its opponent, too, sees buckets, and real ones see cards. With probability
λ a river is walked against an *informed* opponent: he plays the best response to the strategy σ of the
player who walks, hand by hand on the board as it is, which takes one pass up his values against the
player's reach. Regrets are learnt on average against (1 - λ) r + λ r*, his reach by buckets and by best
responses. Learning from best responses alone comes to the strategy of buckets that loses least to
anybody, where an equilibrium among buckets loses several times as much (CFR-BR: Johanson, Bard, Burch and
Bowling, "Finding Optimal Abstract Strategies in Extensive-Form Games", AAAI 2012; there for all streets).
Streets before learn what rivers are worth to who may meet such players, and come there with other hands.
Informed walks that teach the river alone, in turn with plain ones, were tried instead and were worse.

Most lines are those after a rare action of the opponent. One on which he arrives with a share ρ of
his hands below `rare`, on a street or inside of one, is walked with probability q = max(ρ / rare, 1/10),
and counts 1 / q times; else it is worth nothing and teaches nothing, this time. On average that changes
nothing (Russian roulette), and the time goes where hands go. An informed opponent does not look at what
the player himself does with less than a thirtieth of that share: there he plays as if he never came.

The tree is walked one betting round at a time: *down*, from the decisions at the top of a round to its
ends, the opponent's reach is worked out; then folds and showdowns are valued, sixteen at a time, by the
evaluators of the sweep, and rounds that follow are walked; and *up* again values are put together. What
the opponent reaches with no hand is left out: it is worth nothing and teaches nothing. Hands stand in
order of strength, and all vectors are as long as the hands, filled up to whole blocks of lanes.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from equipoise.abstraction.lookup import board_buckets
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.evaluator import Tables, order_hands
from equipoise.kernel import kernel, row_kernel
from equipoise.solve.sampling.dealkernels import draw_cards
from equipoise.solve.sampling.publicstack import HANDS, MET
from equipoise.solve.sampling.random import STEP, unit
from equipoise.solve.sweep.lanes import LANES, gather, into_lanes, load, out_of_lanes, splat, store
from equipoise.solve.sweep.showdown import Groups, Side, fold_lanes, showdown_lanes

#: Least chance that a street is walked on which the opponent hardly arrives.
_SELDOM = 0.1
#: Times `rare`: less than this share of his own hands an informed opponent does not look at.
_UNSEEN = 1 / 30


@kernel
def _lay_hands(tables, board, stack):
    """Hands on a board in order of strength, their groups and buckets; how many hands and groups."""
    strength, order, buckets, number = stack.strength, stack.order, stack.buckets, stack.number
    evaluator = Tables(tables.values, tables.rows)
    live = order_hands(board, evaluator, strength, stack.half_sorted, order)
    board_buckets(tables.lookup, board, buckets)
    groups = 0
    for i in range(live):
        combo = order[i]
        stack.card1[i], stack.card2[i] = COMBO_CARDS[combo, 0], COMBO_CARDS[combo, 1]
        if i + 1 == live or strength[order[i + 1]] != strength[combo]:
            stack.group_end[groups] = i + 1
            stack.tied_end[groups] = i + 1
            stack.weaker_end[groups] = stack.group_end[groups - 1] if groups else 0
            groups += 1
    for street in range(stack.count.shape[0]):
        for bucket in range(number.shape[0]):
            number[bucket] = 0
        for i in range(live):
            number[buckets[street, order[i]]] = 1
        found = 0
        for bucket in range(number.shape[0]):
            if number[bucket]:
                number[bucket] = found
                stack.known[street, found] = bucket
                found += 1
        stack.count[street] = found
        for i in range(live):
            stack.place[street * HANDS + i] = number[buckets[street, order[i]]]
    return live, groups


@row_kernel
def _match_buckets(rows, here, known, count, strategy):
    """Regret matching in each bucket on the board: σ[action * HANDS + number of the bucket]."""
    real = rows.dtype.type
    nothing, actions = real(0), np.int64(here.actions)
    even = real(1) / real(actions)
    for u in range(count):
        at = np.int64(here.base) + known[u] * 2 * actions
        total = nothing
        for a in range(actions):
            total += max(rows[at + a], nothing)
        if total > nothing:
            scale = real(1) / total
            for a in range(actions):
                strategy[a * HANDS + u] = max(rows[at + a], nothing) * scale
        else:
            for a in range(actions):
                strategy[a * HANDS + u] = even


@row_kernel
def _chance(share, rare):
    """The probability with which is walked what the opponent comes to with a `share` of his hands."""
    if rare <= np.float32(0):
        return np.float32(1)
    return np.float32(min(max(share / rare, np.float32(_SELDOM)), np.float32(1)))


@row_kernel
def _descend(
    nodes, rows, gains, stack, part, player, live, weight, tremble, informed, scale, rare, state
):
    """From the top of a round down: the opponent's reach at every node, and his average strategy.

    Against an informed opponent the player's own reach, too: it stands where a walk of the other has it.
    What the opponent hardly does is followed by chance; returns the state of the random numbers.
    """
    real, rounds = rows.dtype.type, stack.rounds
    strategy, total, reach = stack.strategy, stack.total, stack.reach
    # Each hand counts once.
    hands = weight * real(MET)
    for d in range(rounds.first[part], rounds.first[part + 1]):
        node = rounds.node[d]
        here = nodes[node]
        mine = np.int64(here.kind) == player
        if mine and not informed:
            continue
        met_by = 1 - player if mine else player
        actions, first = np.int64(here.actions), np.int64(here.first)
        at = rounds.reach[met_by, node]
        if not stack.present[at]:
            for a in range(actions):
                stack.present[rounds.reach[met_by, first + a]] = False
            continue
        street = np.int64(here.street)
        known, count = stack.known[street], stack.count[street]
        _match_buckets(rows, here, known, count, strategy)
        for u in range(count):
            total[u] = real(0)
        begin = street * HANDS
        source = at * HANDS
        for i in range(live):
            total[stack.place[begin + i]] += reach[source + i]
        for u in range(0 if mine else count):
            average = np.int64(here.base) + known[u] * 2 * actions + actions
            for a in range(actions):
                gains[average + a] += hands * total[u] * strategy[a * HANDS + u]
        kept, even = real(1) - tremble, tremble / real(actions)
        for a in range(actions):
            share, followed = real(0), real(1)
            for u in range(count):
                strategy[a * HANDS + u] = kept * strategy[a * HANDS + u] + even
                share += strategy[a * HANDS + u] * total[u]
            there = share > (real(_UNSEEN) * rare if mine else real(0))
            if there and not mine:
                followed = _chance(scale * share, rare)
                if followed < real(1):
                    state += STEP
                    there = unit(state) < followed
            below = rounds.reach[met_by, first + a]
            stack.present[below] = there
            if there:
                for u in range(count):
                    strategy[a * HANDS + u] /= followed
                for i in range(0, HANDS, LANES):
                    played = gather(strategy, a * HANDS, stack.place, begin + i)
                    store(reach, below * HANDS + i, load(reach, source + i) * played)
    return state


@row_kernel
def _ascend(nodes, rows, gains, stack, part, player, live, weight, floor):
    """From the ends of a round up: values of every node, and the regrets of `player`."""
    real, rounds = rows.dtype.type, stack.rounds
    strategy, total, value = stack.strategy, stack.total, stack.value
    nothing = splat(real(0))
    for d in range(rounds.first[part + 1] - 1, rounds.first[part] - 1, -1):
        node = rounds.node[d]
        here = nodes[node]
        if not stack.present[rounds.reach[player, node]]:
            continue
        actions, first = np.int64(here.actions), np.int64(here.first)
        home = rounds.home[node] * HANDS
        if np.int64(here.kind) != player:
            for i in range(0, HANDS, LANES):
                store(value, home + i, nothing)
            for a in range(actions):
                if stack.present[rounds.reach[player, first + a]]:
                    below = rounds.home[first + a] * HANDS
                    for i in range(0, HANDS, LANES):
                        store(value, home + i, load(value, home + i) + load(value, below + i))
            continue
        street = np.int64(here.street)
        known, count = stack.known[street], stack.count[street]
        begin = street * HANDS
        _match_buckets(rows, here, known, count, strategy)
        for a in range(actions):
            for u in range(count):
                total[a * HANDS + u] = real(0)
        for a in range(actions):
            below = rounds.home[first + a] * HANDS
            for i in range(live):
                total[a * HANDS + stack.place[begin + i]] += value[below + i]
            for i in range(0, HANDS, LANES):
                played = gather(strategy, a * HANDS, stack.place, begin + i)
                worth = played * load(value, below + i)
                if a:
                    worth = load(value, home + i) + worth
                store(value, home + i, worth)
        for u in range(count):
            mean = real(0)
            for a in range(actions):
                mean += strategy[a * HANDS + u] * total[a * HANDS + u]
            at = np.int64(here.base) + known[u] * 2 * actions
            for a in range(actions):
                gain = weight * (total[a * HANDS + u] - mean)
                gains[at + a] = max(gains[at + a] + gain, floor)


@row_kernel
def _end(nodes, stack, list_of, first, last, player, live, groups, shown):
    """The folds, or the showdowns, of a round that the opponent reaches, sixteen at a time."""
    rounds, work = stack.rounds, stack.work
    real = stack.value.dtype.type
    zero = real(0)
    hands = Side(live, stack.card1, stack.card2)
    order = Groups(groups, stack.group_end, stack.weaker_end, stack.tied_end)
    spare = stack.value.shape[0] - HANDS
    taken, raked, k = 0, False, first
    while k < last or taken:
        if k < last:
            node = list_of[k]
            k += 1
            at = rounds.reach[player, node]
            if stack.present[at]:
                here = nodes[node]
                even = here.even0 if player == 0 else here.even1
                work.source[taken] = at * HANDS
                work.target[taken] = rounds.home[node] * HANDS
                work.even[taken] = even
                work.swing[taken] = here.swing
                raked |= even != zero
                taken += 1
            if taken < LANES and k < last:
                continue
        if not taken:
            break
        for lane in range(taken, LANES):
            work.source[lane], work.target[lane] = work.source[0], spare
        for h in range(0, HANDS, LANES):
            into_lanes(stack.reach, work.source, h, work.lanes_in)
        if shown:
            showdown_lanes(work, hands, hands, stack.same, order, raked, zero)
        else:
            fold_lanes(work, hands, hands, stack.same, zero)
        for h in range(0, HANDS, LANES):
            out_of_lanes(stack.value, work.target, h, work.lanes_out)
        taken, raked = 0, False


@row_kernel
def _end_round(nodes, stack, part, player, live, groups):
    """All ends of a round, as they are worth to `player`."""
    rounds = stack.rounds
    first, last = rounds.first_fold[part], rounds.first_fold[part + 1]
    _end(nodes, stack, rounds.folds, first, last, player, live, groups, False)
    first, last = rounds.first_showdown[part], rounds.first_showdown[part + 1]
    _end(nodes, stack, rounds.showdowns, first, last, player, live, groups, True)


@row_kernel
def _choose(nodes, stack, part, player, live):
    """From the ends of the last round up: the best action of each of the opponent's hands."""
    rounds, value, choice = stack.rounds, stack.value, stack.choice
    zero, other = value.dtype.type(0), 1 - player
    for d in range(rounds.first[part + 1] - 1, rounds.first[part] - 1, -1):
        node = rounds.node[d]
        here = nodes[node]
        if not stack.present[rounds.reach[other, node]]:
            continue
        actions, first = np.int64(here.actions), np.int64(here.first)
        home = rounds.home[node] * HANDS
        if np.int64(here.kind) == player:
            for i in range(live):
                value[home + i] = zero
            for a in range(actions):
                if stack.present[rounds.reach[other, first + a]]:
                    below = rounds.home[first + a] * HANDS
                    for i in range(live):
                        value[home + i] += value[below + i]
            continue
        below = rounds.home[first] * HANDS
        for i in range(live):
            value[home + i] = value[below + i]
            choice[home + i] = 0
        for a in range(1, actions):
            below = rounds.home[first + a] * HANDS
            for i in range(live):
                if value[below + i] > value[home + i]:
                    value[home + i] = value[below + i]
                    choice[home + i] = a


@row_kernel
def _follow(nodes, rows, stack, part, player, live):
    """From the top of the last round down: best responses in place of the opponent's reach by buckets."""
    rounds, reach, strategy = stack.rounds, stack.reach, stack.strategy
    real, other = reach.dtype.type, 1 - player
    zero = real(0)
    for d in range(rounds.first[part], rounds.first[part + 1]):
        node = rounds.node[d]
        here = nodes[node]
        if np.int64(here.kind) == player:
            continue
        actions, first = np.int64(here.actions), np.int64(here.first)
        at, home = rounds.reach[player, node] * HANDS, rounds.home[node] * HANDS
        street = np.int64(here.street)
        # Where the player never comes, everything is a best response: he plays by buckets.
        met = stack.present[rounds.reach[other, node]]
        if not met:
            _match_buckets(rows, here, stack.known[street], stack.count[street], strategy)
        for a in range(actions):
            below = rounds.reach[player, first + a]
            begin, found = below * HANDS, zero
            for i in range(live):
                if met:
                    played = reach[at + i] if stack.choice[home + i] == a else zero
                else:
                    played = reach[at + i] * strategy[a * HANDS + stack.place[street * HANDS + i]]
                reach[begin + i] = played
                found += played
            for i in range(live, HANDS):
                reach[begin + i] = zero
            stack.present[below] = found > zero


@row_kernel
def _walk(
    nodes, rows, gains, stack, player, live, groups, weight, floor, tremble, informed, rare, state
):
    """One walk for `player` over the board that is laid out; returns the state of the random numbers."""
    rounds, value, scale = stack.rounds, stack.value, stack.scale
    real = rows.dtype.type
    last_street, informs = stack.count.shape[0] - 1, informed > real(0)
    event, depth = 0, 0
    scale[0] = real(1)
    while event < rounds.events.shape[0]:
        part = rounds.events[event]
        if part < 0:
            part = -1 - part
            _ascend(nodes, rows, gains, stack, part, player, live, weight * scale[depth], floor)
            factor = scale[depth] / scale[depth - 1]
            if factor != real(1):
                home = rounds.home[rounds.node[rounds.first[part]]] * HANDS
                for i in range(live):
                    value[home + i] *= factor
            depth -= 1
            event += 1
            continue
        top = rounds.node[rounds.first[part]]
        at = rounds.reach[player, top]
        if not stack.present[at]:
            event = rounds.end[event] + 1
            continue
        share = real(0)
        for i in range(live):
            share += stack.reach[at * HANDS + i]
        chance = _chance(scale[depth] * share, rare)
        if chance < real(1):
            state += STEP
            if unit(state) >= chance:
                home = rounds.home[top] * HANDS
                for i in range(HANDS):
                    value[home + i] = real(0)
                event = rounds.end[event] + 1
                continue
        scale[depth + 1] = scale[depth] / chance
        depth += 1
        state = _descend(
            nodes, rows, gains, stack, part, player, live, weight * scale[depth], tremble, informs,
            scale[depth], rare, state,
        )  # fmt: skip
        last = np.int64(nodes[top].street) == last_street
        # Nothing responds to a player who never comes.
        if informs and last and stack.present[rounds.reach[1 - player, top]]:
            state += STEP
            if unit(state) < informed:
                _end_round(nodes, stack, part, 1 - player, live, groups)
                _choose(nodes, stack, part, player, live)
                _follow(nodes, rows, stack, part, player, live)
        _end_round(nodes, stack, part, player, live, groups)
        event += 1
    return state


@kernel
def public(nodes, rows, gains, tables, rule, stream, start, stride, count, stack):
    """Public chance sampling, iterations `start`, `start + stride`, ...: a board for each player each."""
    real, state = rows.dtype.type, stream[np.uint64(0)]
    tremble, informed, rare = real(rule.tremble), real(rule.informed), real(rule.rare)
    for number in range(count):
        iteration = start + number * stride
        weight = real(iteration) if rule.linear else real(1)
        floor = -real(rule.floor_chips) * weight
        for player in range(2):
            state, _, _ = draw_cards(state, stack.dealt)
            live, groups = _lay_hands(tables, stack.dealt.board, stack)
            for i in range(live):
                stack.reach[i] = real(1) / real(MET)
            stack.present[0] = True
            state = _walk(
                nodes, rows, gains, stack, player, live, groups, weight, floor, tremble, informed,
                rare, state,
            )  # fmt: skip
    stream[np.uint64(0)] = state

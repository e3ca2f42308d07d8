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

The tree is walked one betting round at a time: *down*, from the decisions at the top of a round to its
ends, the opponent's reach is worked out; then folds and showdowns are valued, sixteen at a time, by the
evaluators of the sweep, and rounds that follow are walked; and *up* again values are put together. What
the opponent reaches with no hand is left out: it is worth nothing and teaches nothing. Hands stand in
order of strength, and all vectors are as long as the hands, filled up to whole blocks of lanes.
"""

# Kernels take compiled tuples of arrays: their types are Numba's, not Python's.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.abstraction.lookup import board_buckets
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.cards.evaluator import Tables, order_hands
from equipoise.kernel import kernel, row_kernel
from equipoise.solve.sampling.dealkernels import Dealt, draw_cards
from equipoise.solve.sweep.lanes import LANES, gather, into_lanes, load, out_of_lanes, splat, store
from equipoise.solve.sweep.layout import CARDS
from equipoise.solve.sweep.showdown import Groups, Side, fold_lanes, showdown_lanes

Array = Any

#: Hands that a full board leaves, filled up to whole blocks, and how many of them one of them can meet.
HANDS = 1088
MET = 990
_STREETS = 4


class Rounds(NamedTuple):
    """The betting rounds of a tree in the order in which they are walked, and where vectors stand."""

    #: Rounds as they begin and end: the number of a round, or minus that less 1 at its end.
    events: Array
    #: At its beginning: the event of its end.
    end: Array
    #: [round]: the first of its decisions, in the order of the lists below; one more at the end.
    first: Array
    #: Decisions, those above first.
    node: Array
    #: [round]: the first of its folds and of its showdowns; one more at the end.
    first_fold: Array
    folds: Array
    first_showdown: Array
    showdowns: Array
    #: [node]: where its values stand.
    home: Array
    #: [player, node]: where the reach of his opponent stands when he walks.
    reach: Array


class Work(NamedTuple):
    """What the evaluators of folds and showdowns write on."""

    lanes_in: Array
    lanes_out: Array
    on_card: Array
    even: Array
    swing: Array
    source: Array
    target: Array


class PublicStack(NamedTuple):
    """What one thread writes on: the board, its hands, and vectors of the rounds on the current line."""

    dealt: Dealt
    rounds: Rounds
    work: Work
    #: Of all combinations: strength, scratch, the live ones in order, and buckets on every street.
    strength: Array
    half_sorted: Array
    order: Array
    buckets: Array
    #: [bucket]: which of those on the board it is.
    number: Array
    #: Both cards of each hand, and where the same hand stands among the opponent's.
    card1: Array
    card2: Array
    same: Array
    #: Groups of equal strength (:class:`equipoise.solve.sweep.showdown.Groups`).
    group_end: Array
    weaker_end: Array
    tied_end: Array
    #: [street, bucket on it]: the buckets that some hand is in, ascending; [street]: how many.
    known: Array
    count: Array
    #: [street * HANDS + hand]: which of them.
    place: Array
    #: [node]: where the opponent's reach and the values of a walk stand, and whether he is there.
    reach: Array
    value: Array
    present: Array
    #: [action * HANDS + bucket]: a strategy, and sums over the hands of a bucket.
    strategy: Array
    total: Array


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
def _descend(nodes, rows, gains, stack, part, player, live, weight, tremble):
    """From the top of a round down: the opponent's reach at every node, and his average strategy."""
    real, rounds = rows.dtype.type, stack.rounds
    strategy, total, reach = stack.strategy, stack.total, stack.reach
    # Each hand counts once.
    hands = weight * real(MET)
    for d in range(rounds.first[part], rounds.first[part + 1]):
        node = rounds.node[d]
        here = nodes[node]
        if np.int64(here.kind) == player:
            continue
        actions, first = np.int64(here.actions), np.int64(here.first)
        at = rounds.reach[player, node]
        if not stack.present[at]:
            for a in range(actions):
                stack.present[rounds.reach[player, first + a]] = False
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
        for u in range(count):
            mine = np.int64(here.base) + known[u] * 2 * actions + actions
            for a in range(actions):
                gains[mine + a] += hands * total[u] * strategy[a * HANDS + u]
        kept, even = real(1) - tremble, tremble / real(actions)
        for a in range(actions):
            for u in range(count):
                strategy[a * HANDS + u] = kept * strategy[a * HANDS + u] + even
            there = False
            for u in range(count):
                if strategy[a * HANDS + u] * total[u] > real(0):
                    there = True
                    break
            below = rounds.reach[player, first + a]
            stack.present[below] = there
            if there:
                for i in range(0, HANDS, LANES):
                    played = gather(strategy, a * HANDS, stack.place, begin + i)
                    store(reach, below * HANDS + i, load(reach, source + i) * played)


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
def _walk(nodes, rows, gains, stack, player, live, groups, weight, floor, tremble):
    """One walk for `player` over the board that is laid out."""
    rounds = stack.rounds
    event = 0
    while event < rounds.events.shape[0]:
        part = rounds.events[event]
        if part >= 0:
            top = rounds.node[rounds.first[part]]
            if not stack.present[rounds.reach[player, top]]:
                event = rounds.end[event] + 1
                continue
            _descend(nodes, rows, gains, stack, part, player, live, weight, tremble)
            _end(
                nodes, stack, rounds.folds, rounds.first_fold[part], rounds.first_fold[part + 1],
                player, live, groups, False,
            )  # fmt: skip
            _end(
                nodes, stack, rounds.showdowns, rounds.first_showdown[part],
                rounds.first_showdown[part + 1], player, live, groups, True,
            )  # fmt: skip
        else:
            _ascend(nodes, rows, gains, stack, -1 - part, player, live, weight, floor)
        event += 1


@kernel
def public(nodes, rows, gains, tables, rule, stream, start, stride, count, stack):
    """Public chance sampling, iterations `start`, `start + stride`, ...: a board for each player each."""
    real, state = rows.dtype.type, stream[np.uint64(0)]
    tremble = real(rule.tremble)
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
            _walk(nodes, rows, gains, stack, player, live, groups, weight, floor, tremble)
    stream[np.uint64(0)] = state


def lay_rounds(nodes: Array) -> tuple[Rounds, int]:
    """The betting rounds of a tree as walks read it (:func:`.walk.node_type`), and vectors needed.

    The children of a round's decisions stand in room that belongs to its street; the first decision of
    a round is a child of the round before.
    """
    kind, street = nodes["kind"].tolist(), nodes["street"].tolist()
    first, actions = nodes["first"].tolist(), nodes["actions"].tolist()
    swing = nodes["swing"].tolist()
    events: list[int] = []
    end: list[int] = []
    lists: dict[str, list[int]] = {name: [] for name in ("node", "folds", "showdowns")}
    starts: dict[str, list[int]] = {name: [0] for name in lists}
    local = np.zeros(len(nodes), dtype=np.int64)
    parent_street = np.full(len(nodes), -1, dtype=np.int64)
    most = [0] * _STREETS
    waiting: list[tuple[int, int]] = [(0, -1)]
    while waiting:
        top, began = waiting.pop()
        if began >= 0:
            end[began] = len(events)
            events.append(-1 - top)
            end.append(-1)
            continue
        number = len(starts["node"]) - 1
        follow: list[int] = []
        inside, filled = [top], 0
        while inside:
            node = inside.pop()
            lists["node"].append(node)
            below = range(first[node], first[node] + actions[node])
            for child in below:
                local[child], parent_street[child] = filled, street[top]
                filled += 1
                if kind[child] > 1:
                    lists["showdowns" if swing[child] else "folds"].append(child)
                elif street[child] > street[top]:
                    follow.append(child)
            inside.extend(c for c in reversed(below) if kind[c] < 2 and street[c] == street[top])
        for name, found in lists.items():
            starts[name].append(len(found))
        most[street[top]] = max(most[street[top]], filled)
        waiting.append((number, len(events)))
        events.append(number)
        end.append(-1)
        waiting.extend((child, -1) for child in reversed(follow))
    # The top of the tree stands first, then the room of each street.
    offset = np.concatenate([[1], 1 + np.cumsum(most)])
    home = np.where(parent_street < 0, 0, offset[parent_street] + local)
    reach = np.zeros((2, len(nodes)), dtype=np.int64)
    for node in lists["node"]:
        for child in range(first[node], first[node] + actions[node]):
            for player in (0, 1):
                # What a player does leaves his opponent's reach as it is.
                mine = kind[node] == player
                reach[player, child] = reach[player, node] if mine else home[child]

    def flat(found: list[int]) -> Array:
        return np.array(found, dtype=np.int64)

    rounds = Rounds(
        events=flat(events),
        end=flat(end),
        first=flat(starts["node"]),
        node=flat(lists["node"]),
        first_fold=flat(starts["folds"]),
        folds=flat(lists["folds"]),
        first_showdown=flat(starts["showdowns"]),
        showdowns=flat(lists["showdowns"]),
        home=home,
        reach=reach,
    )
    return rounds, int(offset[-1])


def public_stack(nodes: Array, dealt: Dealt, streets: int, actions: int) -> PublicStack:
    """Room for the walks of one thread."""
    from equipoise.solve.sweep.rowindex import aligned

    real = dealt.result.dtype
    rounds, vectors = lay_rounds(nodes)
    hands = np.zeros(HANDS, dtype=np.uint16)

    def room(count: int) -> Array:
        return aligned(count, real)

    return PublicStack(
        dealt=dealt,
        rounds=rounds,
        work=Work(
            lanes_in=room(LANES * (HANDS + 1)),
            lanes_out=room(LANES * HANDS),
            on_card=room(LANES * CARDS),
            even=room(LANES),
            swing=room(LANES),
            source=np.zeros(LANES, dtype=np.int64),
            target=np.zeros(LANES, dtype=np.int64),
        ),
        strength=np.zeros(COMBO_COUNT, dtype=np.uint16),
        half_sorted=np.zeros(COMBO_COUNT, dtype=np.uint16),
        order=np.zeros(COMBO_COUNT, dtype=np.uint16),
        buckets=np.zeros((_STREETS, COMBO_COUNT), dtype=np.uint16),
        number=np.zeros(1 << 16, dtype=np.uint16),
        card1=hands.astype(np.uint8),
        card2=hands.astype(np.uint8),
        same=np.arange(HANDS, dtype=np.uint16),
        group_end=hands.copy(),
        weaker_end=hands.copy(),
        tied_end=hands.copy(),
        known=np.zeros((streets, HANDS), dtype=np.int64),
        count=np.zeros(streets, dtype=np.int64),
        place=np.zeros(streets * HANDS, dtype=np.uint16),
        reach=room(vectors * HANDS),
        # One more for the lanes that nobody needs.
        value=room((vectors + 1) * HANDS),
        present=np.zeros(vectors, dtype=np.bool_),
        strategy=room(actions * HANDS),
        total=room(actions * HANDS),
    )

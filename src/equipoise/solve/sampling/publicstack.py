"""What walks of public chance sampling read and write on: betting rounds, the board, vectors of hands."""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equipoise.cards.combos import COMBO_COUNT
from equipoise.solve.sampling.dealkernels import Dealt
from equipoise.solve.sweep.lanes import LANES
from equipoise.solve.sweep.layout import CARDS

Array = Any

#: Hands that a full board leaves, filled up to whole blocks, and how many of them one of them can meet.
HANDS = 1088
MET = 990
STREETS = 4


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
    #: What an informed opponent does with each hand, where the values of a decision stand, and his reach.
    choice: Array
    best: Array


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
    most = [0] * STREETS
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
    # A file whose tuples kernels take imports none of those that lay tables out.
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
        buckets=np.zeros((STREETS, COMBO_COUNT), dtype=np.uint16),
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
        choice=np.zeros(vectors * HANDS, dtype=np.uint8),
        best=room(vectors * HANDS),
    )

"""Betting rounds in the order in which public chance sampling walks them, and room for its vectors."""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.streets import STREET_COUNT
from equipoise.solve.sampling.dealkernels import Dealt
from equipoise.solve.sampling.publicstack import HANDS, PublicStack, Rounds, Work
from equipoise.solve.sweep.lanes import LANES
from equipoise.solve.sweep.layout import CARDS
from equipoise.solve.sweep.rowindex import aligned

Array = Any


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
    most = [0] * STREET_COUNT
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
        buckets=np.zeros((STREET_COUNT, COMBO_COUNT), dtype=np.uint16),
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
        scale=room(streets + 1),
    )

"""What stacks are worth in prizes: the independent chip model of Malmuth and Harville.

A player finishes first in proportion to his stack; who finishes second is drawn in the same way among
the others, and so on. Players who bust in the same hand finish by their stacks before it; equal ones
share their prizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby


def prize_equities(
    stacks: Sequence[float], prizes: Sequence[float], before: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Expected prize of each player; `before` are the stacks before the hand in which some busted.

    >>> [round(told, 6) for told in prize_equities((5, 10, 15), (50, 30, 20))]
    [27.5, 34.0, 38.5]
    >>> prize_equities((30, 0, 0), (50, 30, 20), before=(12, 10, 8))
    (50.0, 30.0, 20.0)
    """
    alive = [player for player, stack in enumerate(stacks) if stack > 0]
    found = [0.0] * len(stacks)
    _harville(alive, stacks, prizes[: len(alive)], 1.0, found)
    rank = before or [0.0] * len(stacks)
    out = sorted((p for p in range(len(stacks)) if p not in alive), key=lambda p: -rank[p])
    place = len(alive)
    for _, group in groupby(out, key=lambda p: rank[p]):
        members = list(group)
        share = sum(prizes[place : place + len(members)]) / len(members)
        for player in members:
            found[player] = float(share)
        place += len(members)
    return tuple(found)


def _harville(
    left: list[int],
    stacks: Sequence[float],
    prizes: Sequence[float],
    chance: float,
    found: list[float],
) -> None:
    """Add what is won by those left, the next of the prizes first."""
    if not left:
        return
    total = sum(stacks[player] for player in left)
    for player in left:
        wins = chance * stacks[player] / total
        found[player] += wins * prizes[0]
        _harville([p for p in left if p != player], stacks, prizes[1:], wins, found)

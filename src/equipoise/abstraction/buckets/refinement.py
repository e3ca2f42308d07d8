"""Refinement: more buckets where playing a neighbour's strategy costs most.

If two neighbouring buckets are so different that buckets between them would help, then playing one
bucket's strategy with the other's hands should be detectably worse. So Fell Omen 1 refined INOT's
buckets: for each pair of neighbours swap the strategies of the two in the converged strategy, let
the opponent respond best, and see how much is lost; where most is lost, buckets are added.

Nothing here knows a game: a strategy is an array with a row for each bucket, and its price is
whatever the caller's function says, best taken as the value of a best response against it.

A division of a line is written in *shares*: the probability below each border, so that 1/4, 1/2,
3/4 are four equally likely buckets. The buckets beside the borders of greatest loss are halved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import GameError


@dataclass(frozen=True)
class SwapLoss:
    """What swapping the strategies of two neighbouring buckets costs."""

    lower: int
    upper: int
    #: Price of the swapped strategy less the price of the strategy as it is.
    loss: float


def grid_neighbours(*shape: int) -> list[tuple[int, int]]:
    """Pairs of neighbours of buckets numbered along a grid, the last axis fastest.

    >>> grid_neighbours(3)
    [(0, 1), (1, 2)]
    >>> grid_neighbours(2, 2)
    [(0, 2), (0, 1), (1, 3), (2, 3)]
    """
    if not shape or min(shape) < 1:
        raise GameError(f"a grid of shape {shape}: give one or more sizes from 1 up")
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    pairs = []
    for place in product(*(range(size) for size in shape)):
        for axis in range(len(shape)):
            if place[axis] + 1 < shape[axis]:
                beside = list(place)
                beside[axis] += 1
                pairs.append((int(numbers[place]), int(numbers[tuple(beside)])))
    return pairs


def swap_losses(
    strategies: NDArray[Any],
    neighbours: Sequence[tuple[int, int]],
    price: Callable[[NDArray[Any]], float],
) -> list[SwapLoss]:
    """Loss of swapping each pair of neighbours, greatest first.

    `strategies[b]` is all that bucket b plays; `price` is called with an array like it in which two
    rows are swapped, and may not keep it.

    >>> kept = np.array([0.0, 1.0, 9.0])
    >>> losses = swap_losses(kept, [(0, 1), (1, 2)], lambda tried: float(abs(tried - kept).sum()))
    >>> [(found.lower, found.upper, found.loss) for found in losses]
    [(1, 2, 16.0), (0, 1, 2.0)]
    """
    count = len(strategies)
    for lower, upper in neighbours:
        if not (0 <= lower < count and 0 <= upper < count and lower != upper):
            raise GameError(
                f"neighbours {lower} and {upper}: give two different of {count} buckets"
            )
    tried = np.array(strategies)
    base = float(price(tried))
    losses = []
    for lower, upper in neighbours:
        tried[[lower, upper]] = tried[[upper, lower]]
        losses.append(SwapLoss(lower, upper, float(price(tried)) - base))
        tried[[lower, upper]] = tried[[upper, lower]]
    return sorted(losses, key=lambda found: -found.loss)


def border_losses(losses: Sequence[SwapLoss], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Total loss at each border of the first axis of a grid of buckets: float64[shape[0] - 1].

    Swaps along the other axes are left out; a loss below 0 counts nothing.
    """
    inner = int(np.prod(shape[1:]))
    totals = np.zeros(shape[0] - 1)
    for found in losses:
        if abs(found.upper - found.lower) == inner and found.lower % inner == found.upper % inner:
            totals[min(found.lower, found.upper) // inner] += max(found.loss, 0.0)
    return totals


def refine_shares(shares: Sequence[float], losses: ArrayLike, more: int) -> tuple[float, ...]:
    """Shares with `more` buckets halved, those with the greatest loss at their borders.

    Fewer are halved if fewer have any loss.

    >>> refine_shares((0.25, 0.5, 0.75), [1.0, 5.0, 2.0], 2)
    (0.25, 0.375, 0.5, 0.625, 0.75)
    """
    costs = np.asarray(losses, dtype=np.float64)
    edges = np.array([0.0, *(float(share) for share in shares), 1.0])
    if costs.shape != (len(shares),):
        raise GameError(f"{costs.size} losses for {len(shares)} borders: give one each")
    if np.any(np.diff(edges) <= 0):
        raise GameError(f"shares {tuple(shares)}: give them ascending between 0 and 1")
    if more < 0:
        raise GameError(f"{more} more buckets: give 0 or more")
    beside = np.concatenate([[0.0], costs]) + np.concatenate([costs, [0.0]])
    chosen = [bucket for bucket in np.argsort(-beside, kind="stable")[:more] if beside[bucket] > 0]
    middles = (edges[chosen] + edges[np.array(chosen, dtype=np.int64) + 1]) / 2
    return tuple(sorted([*edges[1:-1].tolist(), *middles.tolist()]))

"""Which boards share nothing with one another, and what one worker needs to play its own.

Two second-round boards hang together if some bucket, on this street or a later one, holds hands of both:
then they share numbers and must be learnt in one place. What does not hang together is a *public
class*. In Claudico's abstraction these are its clusters of flops; where buckets forget the board, all
flops are one class and cannot be divided.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import board_index, board_ranks
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.card import DECK_SIZE
from equipoise.errors import SolverError
from equipoise.solve.sampling.dealkernels import Dealt
from equipoise.solve.sampling.deals import DealSource, HoldemDeals, ListedDeals
from equipoise.solve.sampling.shardkernels import HoldemShard, ListedShard

_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class PublicClasses:
    """Second-round boards in classes that share no numbers."""

    #: Class of each second-round board: of the canonical flops, or of the listed deals.
    of_board: NDArray[np.int64]
    #: Class of every bucket: [round - 1][player][bucket].
    of_bucket: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    #: Probability of each class before any card is seen.
    chances: NDArray[np.float64]

    def divided(self, workers: int) -> list[NDArray[np.bool_]]:
        """The classes of each worker, as equal as whole classes allow: the largest first."""
        count = len(self.chances)
        if workers > count:
            raise SolverError(
                f"workers = {workers}: the boards of this abstraction fall into {count} public "
                f"class{'es' * (count > 1)} that share no buckets, choose at most {count}"
            )
        load = np.zeros(workers)
        own = np.zeros((workers, count), dtype=bool)
        for number in np.argsort(-self.chances, kind="stable"):
            worker = int(np.argmin(load))
            own[worker, number] = True
            load[worker] += self.chances[number]
        return list(own)


@dataclass(frozen=True, eq=False)
class OwnDeals:
    """The deals of one worker."""

    #: What its kernels draw from.
    tables: tuple[Any, ...]
    #: Own buckets: [round, player]. The first round is the head's and counts as one.
    buckets: NDArray[np.int64]
    #: The abstraction's number of each own bucket: [round - 1][player][own bucket].
    numbers: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    #: Probability of its boards before any card is seen.
    share: float
    #: Buckets of listed deals; none where cards are dealt.
    listed: tuple[NDArray[np.uint64], NDArray[Any]] | None = None

    def dealt(self, real: Any) -> Dealt:
        """What the deals of one thread are read from."""
        if self.listed is None:
            return Dealt.of(np.zeros((1, 8)), np.zeros((1, 8), dtype=real))
        return Dealt.of(self.listed[0], self.listed[1].astype(real, copy=False))


def _components(count: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Connected parts of a graph: number of the part of each of its `count` nodes."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(edges), dtype=np.int8)
    graph = coo_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _numbers(
    classes: PublicClasses, own: NDArray[np.bool_]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
    """Buckets that belong to own classes, by round and player."""
    return tuple(
        (np.flatnonzero(own[first]), np.flatnonzero(own[second]))
        for first, second in classes.of_bucket
    )


def _widths(
    numbers: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...],
) -> NDArray[np.int64]:
    later = [[max(1, len(one)) for one in pair] for pair in numbers]
    return np.array([[1, 1], *later], dtype=np.int64)


@singledispatch
def public_classes(deals: DealSource) -> PublicClasses:
    """The public classes of the second-round boards that are dealt."""
    raise SolverError(f"deals of {type(deals).__name__} cannot be divided among workers")


@singledispatch
def own_deals(deals: DealSource, classes: PublicClasses, own: NDArray[np.bool_]) -> OwnDeals:
    """What the worker that owns these classes deals."""
    raise SolverError(f"deals of {type(deals).__name__} cannot be divided among workers")


@singledispatch
def pairs_of(deals: DealSource) -> NDArray[np.uint32]:
    """Number of both private states of each listed deal; dealt cards need none."""
    return np.zeros(1, dtype=np.uint32)


# ------------------------------------------------------------------------------------- hold'em


def _rows(child: NDArray[np.uint16], rows: int) -> NDArray[np.int64]:
    """A child table with a row for each bucket before."""
    return np.broadcast_to(child, (rows, child.shape[1])).astype(np.int64)


@public_classes.register
def _(deals: HoldemDeals) -> PublicClasses:
    table = deals.lookup
    index = board_index(3)
    counts = [int(n) for n in deals.buckets[:, 0]]
    begin = np.cumsum([len(index.boards), *counts[1:]])
    edges = []
    children = _rows(table.flop_child, counts[0])
    for flop, features in enumerate(table.flop_feature):
        seen = np.unique(features[features != BLOCKED])
        buckets = np.unique(children[:, seen])
        edges.append(np.stack([np.full(len(buckets), flop), begin[0] + buckets], axis=1))
    for street, child in ((2, table.turn_child), (3, table.river_child)):
        for before, row in enumerate(_rows(child, counts[street - 1])):
            after = np.unique(row[row != BLOCKED])
            here = np.full(len(after), begin[street - 2] + before)
            edges.append(np.stack([here, begin[street - 1] + after], axis=1))
            if len(child) == 1:
                # Forgotten: whatever came before leads to any of these.
                others = np.arange(begin[street - 2], begin[street - 1])
                edges.append(np.stack([others, np.full(len(others), here[0])], axis=1))
                break
    part = _components(int(begin[-1]), np.concatenate(edges))
    # A bucket that no flop leads to is nobody's; classes are numbered by their flops.
    used, of_board = np.unique(part[: begin[0]], return_inverse=True)
    place = np.full(int(part.max()) + 1, len(used))
    place[used] = np.arange(len(used))
    of_bucket = []
    for street in (1, 2, 3):
        found = place[part[begin[street - 1] : begin[street]]]
        found[found == len(used)] = 0
        of_bucket.append((found, found))
    weight = np.bincount(of_board, index.multiplicity.astype(float), len(used))
    return PublicClasses(of_board.reshape(-1), tuple(of_bucket), weight / weight.sum())


@own_deals.register
def _(deals: HoldemDeals, classes: PublicClasses, own: NDArray[np.bool_]) -> OwnDeals:
    index = board_index(3)
    every = np.array(
        [(a, b, c) for c in range(DECK_SIZE) for b in range(c) for a in range(b)], dtype=np.uint8
    )
    ranks = board_ranks(every)
    mine = own[classes.of_board[index.class_of[ranks]]]
    flops = np.ascontiguousarray(every[mine])
    shown = np.zeros((len(flops), DECK_SIZE), dtype=np.int64)
    np.put_along_axis(shown, flops.astype(np.int64), 1, axis=1)
    two = shown.T @ shown
    is_own = np.zeros(len(every), dtype=np.uint8)
    is_own[ranks[mine]] = 1
    numbers = _numbers(classes, own)
    counts = deals.buckets[:, 0]
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
    local = np.zeros(int(counts.sum()), dtype=np.uint64)
    for street in range(1, _ROUNDS):
        buckets = numbers[street - 1][0]
        local[begin[street] + buckets] = np.arange(len(buckets))
    tables = HoldemShard(
        tables=deals.tables,
        flops=flops,
        with_card=np.diag(two).copy(),
        with_two=two,
        is_own=is_own,
        local=local,
        begin=begin.astype(np.uint64),
    )
    return OwnDeals(tables, _widths(numbers), numbers, float(classes.chances[own].sum()))


# ------------------------------------------------------------------------------------ listed deals


@public_classes.register
def _(deals: ListedDeals) -> PublicClasses:
    rounds = len(deals.buckets)
    if rounds < 2:
        raise SolverError(f"{deals.game.name} has one round: there is nothing to divide")
    bucket = deals.bucket_table.astype(np.int64)
    counts = deals.buckets[1:].reshape(-1)
    begin = len(bucket) + np.concatenate([[0], np.cumsum(counts)])
    edges = [
        np.stack([np.arange(len(bucket)), begin[column] + bucket[:, 2 + column]], axis=1)
        for column in range(2 * (rounds - 1))
    ]
    part = _components(int(begin[-1]), np.concatenate(edges))
    used, of_deal = np.unique(part[: len(bucket)], return_inverse=True)
    place = np.zeros(int(part.max()) + 1, dtype=np.int64)
    place[used] = np.arange(len(used))
    of_bucket = tuple(
        (
            place[part[begin[2 * r] : begin[2 * r + 1]]],
            place[part[begin[2 * r + 1] : begin[2 * r + 2]]],
        )
        for r in range(rounds - 1)
    )
    chances = np.bincount(of_deal, deals.chances, len(used))
    return PublicClasses(of_deal.reshape(-1), of_bucket, chances / chances.sum())


@pairs_of.register
def _(deals: ListedDeals) -> NDArray[np.uint32]:
    _, pairs = np.unique(deals.bucket_table[:, :2], axis=0, return_inverse=True)
    return pairs.reshape(-1).astype(np.uint32)


@own_deals.register
def _(deals: ListedDeals, classes: PublicClasses, own: NDArray[np.bool_]) -> OwnDeals:
    pairs = pairs_of(deals).astype(np.int64)
    mine = np.flatnonzero(own[classes.of_board])
    mine = mine[np.argsort(pairs[mine], kind="stable")]
    many = int(pairs.max()) + 1
    first = np.searchsorted(pairs[mine], np.arange(many + 1))
    chance = np.zeros(len(mine))
    for pair in range(many):
        here = slice(first[pair], first[pair + 1])
        chance[here] = np.cumsum(deals.chances[mine[here]])
    numbers = _numbers(classes, own)
    bucket = deals.bucket_table.copy()
    for column in range(2, bucket.shape[1]):
        buckets = numbers[column // 2 - 1][column % 2]
        local = np.zeros(int(deals.buckets[column // 2, column % 2]), dtype=np.uint64)
        local[buckets] = np.arange(len(buckets))
        bucket[:, column] = local[bucket[:, column]]
    tables = ListedShard(
        first=first.astype(np.uint64),
        deals=mine.astype(np.uint64),
        chance=chance,
        pair_chance=np.bincount(pairs, deals.chances, many),
    )
    share = float(classes.chances[own].sum())
    return OwnDeals(tables, _widths(numbers), numbers, share, (bucket, deals.result_table))

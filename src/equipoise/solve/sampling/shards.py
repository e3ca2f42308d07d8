"""The two kinds of workers of a divided run: the head, which owns the first round, and shards.

One round of `batch` deals for each player: the head walks the trunk and tells the shards where its walks
leave it; each shard plays on over boards of its own and answers with one value an entry; the head adds
them up and learns. Regrets and averages below the first round stay where they are.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.betting import Betting
from equipoise.games.nodes import GIVEN
from equipoise.kernel import cores
from equipoise.solve.sampling.deals import DealSource
from equipoise.solve.sampling.rows import SampledRows
from equipoise.solve.sampling.sampler import STREAMS
from equipoise.solve.sampling.shardkernels import Entries, Notes, Round, walk_below, walk_trunk
from equipoise.solve.sampling.shares import OwnDeals, pairs_of
from equipoise.solve.sampling.walk import SamplingRule, WalkStack
from equipoise.solve.sweep.rowindex import aligned


def streams_of(seed: int, *who: int) -> NDArray[np.uint64]:
    """Random numbers of the head or of a shard: a stream for each thread."""
    found = np.random.SeedSequence([seed, *who]).generate_state(STREAMS, np.uint64)
    return found.astype(np.uint64, copy=False)


class Head:
    """Regrets and averages before the second round, and the walks through it."""

    def __init__(
        self,
        betting: Betting,
        deals: DealSource,
        rule: SamplingRule,
        *,
        seed: int,
        batch: int,
        real: Any = np.float32,
    ) -> None:
        if betting.rounds < 2:
            raise SolverError("a game of one round has nothing to divide among workers")
        buckets = np.ones((betting.rounds, 2), dtype=np.int64)
        buckets[0] = deals.buckets[0]
        self.layout = SampledRows(betting, buckets, real)
        self.rule = rule
        self.rows: NDArray[Any] = aligned(self.layout.size, real)
        self.streams = streams_of(seed, 0)
        self._nodes, most = _trunk(self.layout.nodes)
        self._tables, self._pairs = deals.first_round, pairs_of(deals)
        self._stack = WalkStack.of(deals.dealt(real), self.layout.depth, int(betting.count.max()))
        walks = 2 * batch
        self._entries = Entries(
            node=np.zeros(walks * most, dtype=np.uint32),
            value=np.zeros(walks * most, dtype=real),
            count=np.zeros(1, dtype=np.uint64),
        )
        self._round = Round(
            private=np.zeros((walks, 4), dtype=np.uint32),
            first=np.zeros(walks + 1, dtype=np.uint64),
            entry=self._entries.node,
        )
        self._notes = Notes(
            state=np.zeros(walks, dtype=np.uint64),
            spot=np.zeros(walks, dtype=np.uint64),
            bucket=np.zeros((walks, 2), dtype=np.uint64),
            result=np.zeros((walks, 2), dtype=real),
        )
        self._scratch = np.zeros_like(self.rows)

    def begin(self, iteration: int) -> Round:
        """Walk the trunk: what the shards are to play."""
        self._walk(iteration, self.streams[:1].copy(), again=False)
        count = int(self._entries.count[0])
        return self._round._replace(entry=self._entries.node[:count])

    def finish(self, iteration: int, values: NDArray[Any]) -> None:
        """Learn from what the entries turned out to be worth."""
        self._entries.value[: len(values)] = values
        # Strategies stay those of the round's beginning until all its walks are done.
        np.copyto(self._scratch, self.rows)
        self._walk(iteration, self.streams[:1], again=True)
        np.copyto(self.rows, self._scratch)

    def _walk(self, iteration: int, stream: NDArray[np.uint64], *, again: bool) -> None:
        walk_trunk(
            self._nodes, self.rows, self._scratch, self._tables, self.rule, stream, iteration,
            self._round, self._notes, again, self._stack, self._entries, self._pairs,
        )  # fmt: skip


def _trunk(nodes: NDArray[np.void]) -> tuple[NDArray[np.void], int]:
    """The tree cut where the second round begins, and how many cuts there are."""
    cut = aligned(len(nodes), nodes.dtype)
    cut[:] = nodes
    deciding = (nodes["kind"] < 2) & (nodes["street"] == 0)
    entries = 0
    for node in np.flatnonzero(deciding):
        first = int(nodes["first"][node])
        children = np.arange(first, first + int(nodes["actions"][node]))
        entered = children[(nodes["kind"][children] < 2) & (nodes["street"][children] > 0)]
        entries += len(entered)
        cut["kind"][entered] = GIVEN
        for worth in ("even0", "even1", "swing"):
            cut[worth][entered] = 0
    return cut, max(1, entries)


class Shard:
    """Regrets and averages of some public classes after the first round."""

    def __init__(
        self,
        betting: Betting,
        own: OwnDeals,
        rule: SamplingRule,
        *,
        seed: int,
        number: int,
        threads: int | None = 1,
        real: Any = np.float32,
    ) -> None:
        self.walkers = cores() if threads is None else threads
        if not 1 <= self.walkers <= STREAMS:
            raise SolverError(f"threads = {threads}: give 1 to {STREAMS}")
        self.layout = SampledRows(betting, own.buckets, real)
        self.own, self.rule = own, rule
        self.rows: NDArray[Any] = aligned(self.layout.size, real)
        self.streams = streams_of(seed, 1 + number)
        room = self.layout.depth, int(betting.count.max())
        self._stacks = [WalkStack.of(own.dealt(real), *room) for _ in range(self.walkers)]

    def play(self, iteration: int, round_: Round) -> NDArray[Any]:
        """What each entry of a round is worth on own boards, times their share."""
        values = np.zeros(len(round_.entry), dtype=self.rows.dtype)
        walks = len(round_.private)
        bounds = [walks * k // self.walkers for k in range(self.walkers + 1)]

        def work(walker: int) -> None:
            walk_below(
                self.layout.nodes, self.rows, self.own.tables, self.rule, self.own.share,
                self.streams[walker : walker + 1], iteration, round_, bounds[walker],
                bounds[walker + 1], self._stacks[walker], values,
            )  # fmt: skip

        if self.walkers == 1:
            work(0)
        else:
            with ThreadPoolExecutor(self.walkers) as pool:
                for finished in [pool.submit(work, walker) for walker in range(self.walkers)]:
                    finished.result()
        return values

    def gather(self, layout: SampledRows, rows: NDArray[Any]) -> None:
        """Put own numbers where they stand in the table of the whole game."""
        for node, block in self._blocks(layout, rows):
            numbers = self._numbers(layout, node)
            block[numbers] = self.layout.block(self.rows, node)[: len(numbers)]

    def scatter(self, layout: SampledRows, rows: NDArray[Any]) -> None:
        """Take own numbers out of the table of the whole game."""
        for node, block in self._blocks(layout, rows):
            numbers = self._numbers(layout, node)
            self.layout.block(self.rows, node)[: len(numbers)] = block[numbers]

    def _numbers(self, layout: SampledRows, node: int) -> NDArray[np.int64]:
        betting = layout.betting
        return self.own.numbers[betting.round_of(node) - 1][int(betting.kind[node])]

    def _blocks(self, layout: SampledRows, rows: NDArray[Any]) -> list[tuple[int, NDArray[Any]]]:
        second = int(layout.betting.start[1])
        below = layout.decisions[layout.decisions >= second].tolist()
        return [(node, layout.block(rows, node)) for node in below]

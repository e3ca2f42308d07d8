"""The two kinds of workers of a divided run: the head, which owns the first round, and shards.

One round of `batch` deals for each player: the head walks the trunk and tells the shards where its walks
leave it; each shard plays on over boards of its own and answers with one value an entry; the head adds
them up and learns. Regrets and averages below the first round stay where they are.

A round goes out in *parts*. All its walks go by the strategies of its beginning, so that the head may walk
the trunk of one part, and learn from the answers to another, while the shards are at a third: parts change
who waits for whom, and not one number.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

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

#: Walks of a part, work of some thirty milliseconds and a message that needs no object store; and of the
#: first and the last part of a round, for whose trunks the shards wait.
_PART, _END = 12_288, 4096


def streams_of(seed: int, *who: int) -> NDArray[np.uint64]:
    """Random numbers of the head or of a shard: a stream for each thread."""
    found = np.random.SeedSequence([seed, *who]).generate_state(STREAMS, np.uint64)
    return found.astype(np.uint64, copy=False)


#: A part of a round as it travels: private cards, entries of each walk, entries.
Message = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def packed(round_: Round) -> Message:
    """A part of a round in the fewest bytes that hold its numbers.

    >>> cards = np.array([[51, 3, 7, 0]], dtype=np.uint32)
    >>> part = Round(cards, np.array([0, 2], dtype=np.uint64), np.array([9, 700], dtype=np.uint32))
    >>> sum(array.nbytes for array in packed(part))
    9
    >>> [a.tolist() == b.tolist() for a, b in zip(unpacked(packed(part)), part)]
    [True, True, True]
    """
    private, many, entry = round_.private, np.diff(round_.first), round_.entry
    return _narrowed(private), _narrowed(many), _narrowed(entry)


def _narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def unpacked(message: Message) -> Round:
    """The part of a round that was packed, in arrays of the kinds for which kernels are compiled."""
    private, many, entry = message
    first = np.zeros(len(many) + 1, dtype=np.uint64)
    np.cumsum(many, out=first[1:])
    return Round(private.astype(np.uint32), first, entry.astype(np.uint32))


def part_sizes(walks: int) -> list[int]:
    """How many walks of a round go into each of its parts: even numbers, for players walk in turn.

    >>> part_sizes(32_768), part_sizes(6000), part_sizes(100)
    ([4096, 12288, 12288, 4096], [4096, 1904], [100])
    """
    first = min(walks, _END)
    last = min(walks - first, _END)
    between = walks - first - last
    found = [first, *(min(_PART, between - begin) for begin in range(0, between, _PART)), last]
    return [size for size in found if size]


class _Part(NamedTuple):
    """Some walks of a round: what shards are told of them, and what the head keeps."""

    round: Round
    notes: Notes
    entries: Entries

    @classmethod
    def of(cls, walks: int, most: int, real: Any) -> _Part:
        """Room for `walks` walks with at most so many entries each."""
        entries = Entries(
            node=np.zeros(walks * most, dtype=np.uint32),
            value=np.zeros(walks * most, dtype=real),
            count=np.zeros(1, dtype=np.uint64),
        )
        round_ = Round(
            private=np.zeros((walks, 4), dtype=np.uint32),
            first=np.zeros(walks + 1, dtype=np.uint64),
            entry=entries.node,
        )
        notes = Notes(
            state=np.zeros(walks, dtype=np.uint64),
            spot=np.zeros(walks, dtype=np.uint64),
            bucket=np.zeros((walks, 2), dtype=np.uint64),
            result=np.zeros((walks, 2), dtype=real),
        )
        return cls(round_, notes, entries)


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
        self._parts = [_Part.of(size, most, real) for size in part_sizes(2 * batch)]
        #: The random numbers of parts that are on their way.
        self._ahead = self.streams[:1].copy()
        #: Rows as they will be when the round ends, and what a first walk would learn from no values.
        self._learnt, self._unused = np.zeros_like(self.rows), np.zeros_like(self.rows)

    def rounds(self, iteration: int) -> Iterator[Round]:
        """Walk the trunk: what the shards are to play, part after part."""
        np.copyto(self._ahead, self.streams[:1])
        np.copyto(self._learnt, self.rows)
        self._unused[:] = 0
        for part in self._parts:
            self._walk(iteration, part, self._unused, self._ahead, again=False)
            yield part.round._replace(entry=part.entries.node[: int(part.entries.count[0])])

    def learn(self, iteration: int, answers: Iterable[NDArray[Any]]) -> None:
        """Learn from what the entries turned out to be worth, part after part."""
        for part, values in zip(self._parts, answers, strict=True):
            part.entries.value[: len(values)] = values
            self._walk(iteration, part, self._learnt, self.streams[:1], again=True)
        np.copyto(self.rows, self._learnt)

    def _walk(
        self,
        iteration: int,
        part: _Part,
        gains: NDArray[Any],
        stream: NDArray[np.uint64],
        *,
        again: bool,
    ) -> None:
        walk_trunk(
            self._nodes, self.rows, gains, self._tables, self.rule, stream, iteration,
            part.round, part.notes, again, self._stack, part.entries, self._pairs,
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

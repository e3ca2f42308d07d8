"""Monte Carlo CFR divided among workers, as Claudico was trained: a head, and shards that share nothing.

Brown, Ganzfried and Sandholm (2015) ran external sampling on one head blade and sixty others. The head
owned everything before the flop; each of the others owned some public clusters of flops and all that
comes after them. How a round goes says :mod:`.shards`, how boards are divided :mod:`.shares`.

One process is a cluster with one worker: the same rounds over the same numbers, bit for bit. On a
cluster each shard is a process of Ray, which finds it a machine; only rounds and their values move,
and all numbers when a checkpoint is written. A shard that is lost is started again from the last
checkpoint, from nothing if there is none, plays the round it was lost in, and the run goes on.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import SolverError
from equipoise.settings import Within
from equipoise.solve import restoring
from equipoise.solve.sampling.mccfr import CardGame, CardsSolver, card_rule
from equipoise.solve.sampling.rows import SampledRows
from equipoise.solve.sampling.shardkernels import Round
from equipoise.solve.sampling.shards import Head, Message, Shard, packed, streams_of, unpacked
from equipoise.solve.sampling.shares import own_deals, public_classes
from equipoise.solve.sampling.walk import SamplingRule
from equipoise.workers import check_room, check_workers, join_cluster, memory_of_process

Numbers = NDArray[Any]
#: Shards that were lost in one run before it is given up.
_MOST_LOST = 100
#: Parts of a round that are with a shard at once: one it plays, and others that it will.
_AHEAD = 4
#: Deals of a round for each player: some tenths of a second, beside which a message costs little.
_BATCH = 16_384


@dataclass(frozen=True)
class ShardPlan:
    """All that makes a shard, wherever it runs."""

    #: Makes the game anew on another machine; here it is at hand.
    game: Callable[[], CardGame]
    rule: SamplingRule
    seed: int
    number: int
    workers: int
    threads: int | None

    def shard(self) -> Shard:
        """The shard, at its beginning."""
        game = self.game()
        classes = public_classes(game.deals)
        own = classes.divided(self.workers)[self.number]
        return Shard(
            game.betting,
            own_deals(game.deals, classes, own),
            self.rule,
            seed=self.seed,
            number=self.number,
            threads=self.threads,
        )


class Crew(Protocol):
    """Shards, here or elsewhere."""

    def play(self, iteration: int, rounds: Iterable[Round]) -> Iterator[Numbers]:
        """What the entries of each part of a round are worth, over all shards."""

    def numbers(self) -> list[tuple[Numbers, NDArray[np.uint64]]]:
        """Rows and random numbers of every shard."""

    def restore(self, parts: list[tuple[Numbers, NDArray[np.uint64]]]) -> None:
        """Give every shard its rows and random numbers."""

    def report(self) -> list[dict[str, Any]]:
        """What each shard has done and takes."""

    def close(self) -> None:
        """Let the shards go."""


class LocalCrew:
    """Shards in this process, one after another, each on all threads."""

    def __init__(self, plans: list[ShardPlan]) -> None:
        self.shards = [plan.shard() for plan in plans]
        self._seconds = [0.0] * len(plans)
        self._walks = 0

    def play(self, iteration: int, rounds: Iterable[Round]) -> Iterator[Numbers]:
        """What the entries of each part of a round are worth, over all shards."""
        for round_ in rounds:
            found = []
            for k, shard in enumerate(self.shards):
                began = time.perf_counter()
                found.append(shard.play(iteration, round_))
                self._seconds[k] += time.perf_counter() - began
            self._walks += len(round_.private)
            yield total(found)

    def numbers(self) -> list[tuple[Numbers, NDArray[np.uint64]]]:
        """Rows and random numbers of every shard."""
        return [(shard.rows, shard.streams) for shard in self.shards]

    def restore(self, parts: list[tuple[Numbers, NDArray[np.uint64]]]) -> None:
        """Give every shard its rows and random numbers."""
        for shard, (rows, streams) in zip(self.shards, parts, strict=True):
            np.copyto(shard.rows, rows)
            np.copyto(shard.streams, streams)

    def report(self) -> list[dict[str, Any]]:
        """What each shard has done and takes."""
        return [
            _report(self._walks, seconds, 0, shard.rows.nbytes)
            for shard, seconds in zip(self.shards, self._seconds, strict=True)
        ]

    def close(self) -> None:
        """Nothing to let go."""


def total(values: list[Numbers]) -> Numbers:
    """The sum over shards, in their order: the same whoever answered first."""
    found = values[0].copy()
    for one in values[1:]:
        found += one
    return found


def _report(walks: int, seconds: float, moved: int, memory: int) -> dict[str, Any]:
    return {
        "walks": walks,
        "walks_per_second": round(walks / seconds, 1) if seconds > 0 else None,
        "bytes_moved": moved,
        "memory_bytes": memory,
    }


class _ShardActor:
    """A shard in a process of its own.

    It answers in the order in which it was asked, one question after another; but it has a thread for
    each, so that the next one is read while it is at work on this.
    """

    def __init__(self, plan: ShardPlan) -> None:
        self._shard = plan.shard()
        self._seconds, self._walks = 0.0, 0
        self._answered, self._turn = 0, threading.Condition()

    def answer(self, number: int, question: str, *given: Any) -> Any:
        with self._turn:
            self._turn.wait_for(lambda: self._answered == number)
        try:
            return getattr(self, question)(*given)
        finally:
            with self._turn:
                self._answered += 1
                self._turn.notify_all()

    def play(self, iteration: int, message: Message) -> Numbers:
        began = time.perf_counter()
        round_ = unpacked(message)
        found = self._shard.play(iteration, round_)
        self._seconds += time.perf_counter() - began
        self._walks += len(round_.private)
        return found

    def numbers(self) -> tuple[Numbers, NDArray[np.uint64]]:
        return self._shard.rows, self._shard.streams

    def restore(self, rows: Numbers, streams: NDArray[np.uint64]) -> None:
        np.copyto(self._shard.rows, rows)
        np.copyto(self._shard.streams, streams)

    def report(self) -> tuple[int, float, int]:
        return self._walks, self._seconds, memory_of_process()


@dataclass
class _Place:
    """Where a shard runs, and what it was asked there and has not answered yet."""

    actor: Any
    asked: int = 0
    waiting: deque[tuple[Any, tuple[Any, ...]]] = field(default_factory=deque)

    def ask(self, *question: Any) -> None:
        """Ask, and do not wait."""
        self.waiting.append((self.actor.answer.remote(self.asked, *question), question))
        self.asked += 1


@dataclass
class ClusterCrew:
    """Shards on a Ray cluster, started again from the last checkpoint when one is lost."""

    plans: list[ShardPlan]
    address: str | None
    #: Rows and random numbers that a shard had at the last checkpoint, if there is one.
    kept: Callable[[int], tuple[Numbers, NDArray[np.uint64]] | None]
    lost: int = field(default=0, init=False)
    _moved: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._ray = join_cluster(self.address, len(self.plans))
        check_room(self._ray, len(self.plans))
        # A thread for each question that may be open: none can wait for one that has no thread.
        self._kind = self._ray.remote(num_cpus=1, max_concurrency=_AHEAD + 1)(_ShardActor)
        self.places = [_Place(self._kind.remote(plan)) for plan in self.plans]

    def play(self, iteration: int, rounds: Iterable[Round]) -> Iterator[Numbers]:
        """What the entries of each part of a round are worth, over all shards.

        A part is sent as soon as the head has it, so that the shards are at work on the first while
        the head prepares the others, and always have the next one at hand.
        """
        away = 0
        for round_ in rounds:
            message = packed(round_)
            for place in self.places:
                place.ask("play", iteration, message)
            self._moved += sum(part.nbytes for part in message) * len(self.places)
            away += 1
            if away == _AHEAD:
                yield self._worth()
                away -= 1
        for _ in range(away):
            yield self._worth()

    def _worth(self) -> Numbers:
        found = [self._answer(k) for k in range(len(self.places))]
        self._moved += sum(one.nbytes for one in found)
        return total(found)

    def _answer(self, k: int) -> Any:
        """The next answer of shard `k`; if it is lost, that of the one in its place.

        What was asked of a lost shard and not answered is asked again, in the same order.
        """
        ray = self._ray
        while True:
            place = self.places[k]
            try:
                answer = ray.get(place.waiting[0][0])
            except ray.exceptions.RayActorError:
                self.lost += 1
                if self.lost > _MOST_LOST:
                    raise SolverError(
                        f"worker {k} was lost again and again: see that its machine has "
                        "memory enough, and go on with --resume"
                    ) from None
            except ray.exceptions.RayTaskError as error:
                raise SolverError(f"worker {k} failed: {error.cause}") from None
            else:
                place.waiting.popleft()
                return answer
            self.places[k] = _Place(self._kind.remote(self.plans[k]))
            before = self.kept(k)
            if before is not None:
                self.places[k].ask("restore", *before)
                self.places[k].waiting.clear()
            for _, question in place.waiting:
                self.places[k].ask(*question)

    def _answers(self, *question: Any) -> list[Any]:
        """What every shard answers to a question."""
        for place in self.places:
            place.ask(*question)
        return [self._answer(k) for k in range(len(self.places))]

    def numbers(self) -> list[tuple[Numbers, NDArray[np.uint64]]]:
        """Rows and random numbers of every shard."""
        return self._answers("numbers")

    def restore(self, parts: list[tuple[Numbers, NDArray[np.uint64]]]) -> None:
        """Give every shard its rows and random numbers."""
        for place, part in zip(self.places, parts, strict=True):
            place.ask("restore", *part)
        for k in range(len(parts)):
            self._answer(k)

    def report(self) -> list[dict[str, Any]]:
        """What each shard has done and takes."""
        told = self._answers("report")
        moved = self._moved // len(told)
        return [_report(walks, seconds, moved, memory) for walks, seconds, memory in told]

    def close(self) -> None:
        """End the shards; a cluster that was started for them ends with this process."""
        for place in self.places:
            self._ray.kill(place.actor)


class ShardedSampling(CardsSolver):
    """External sampling on dealt cards, divided by public classes of boards.

    An iteration is a round: `batch` deals for each player, through the strategies of its beginning
    before the second round. Settings are those of :mod:`.mccfr`; `prune_after` counts rounds.
    `workers` shards play here, or with `address` on a Ray cluster: "local" starts one.

    >>> from equipoise.games.catalogue import leduc
    >>> solver = ShardedSampling(CardGame.of(leduc()), seed=1, batch=100, workers=3)
    >>> solver.advance(1000)
    >>> solver.exploitability() < 0.05
    True
    """

    name: ClassVar[str] = "sharded"
    file_kind = "sharded solver"
    beside = ("workers", "address")

    @classmethod
    def deals_of(cls, settings: Mapping[str, Any]) -> int:
        """Deals of one iteration."""
        return int(settings.get("batch", _BATCH))

    def __init__(
        self,
        game: CardGame,
        *,
        seed: int = 0,
        linear: bool = True,
        prune: Annotated[float | None, Within("number", 0.001, 1_000_000)] = 100.0,
        prune_share: Annotated[float, Within("number", 0, 0.9999)] = 0.95,
        prune_after: Annotated[int, Within("whole", 0, 10**15)] = 60,
        batch: Annotated[int, Within("whole", 1, 1_000_000)] = _BATCH,
        threads: int | None = 1,
        workers: int = 1,
        address: str | None = None,
    ) -> None:
        check_workers(workers)
        if not 1 <= batch <= 1_000_000:
            raise SolverError(f"batch = {batch}: give 1 to 1,000,000")
        super().__init__(game, threads=threads)
        self.seed, self.linear, self.batch = seed, linear, batch
        self.prune, self.prune_share, self.prune_after = prune, prune_share, prune_after
        rule = card_rule(
            game.betting,
            linear=linear,
            prune=prune,
            prune_share=prune_share,
            prune_after=prune_after,
        )
        self.head = Head(game.betting, game.deals, rule, seed=seed, batch=batch)
        #: The whole game, as checkpoints and strategies have it.
        self._layout = SampledRows(game.betting, game.deals.buckets[: game.betting.rounds])
        #: The last checkpoint.
        self._kept: Path | None = None
        # Refused here, before any process is started.
        classes = public_classes(game.deals)
        owned = classes.divided(workers)
        self._templates = [own_deals(game.deals, classes, own) for own in owned]
        remote = address is not None
        source = (game.source or (lambda: game)) if remote else (lambda: game)
        plans = [
            ShardPlan(source, rule, seed, number, workers, 1 if remote else threads)
            for number in range(workers)
        ]
        self.crew: Crew
        if remote:
            joined = None if address == "local" else address
            self.crew = ClusterCrew(plans, joined, self._part_kept)
        else:
            self.crew = LocalCrew(plans)
        self._seconds = 0.0

    def prepare(self) -> None:
        """Load the kernels of walks, and those of sweeps where a game judges."""
        round_ = next(self.head.rounds(0))
        nothing = Round(round_.private[:0], round_.first[:1], round_.entry[:0])
        for _ in self.crew.play(0, [nothing]):
            pass
        super().prepare()

    def advance(self, count: int) -> None:
        """Do `count` rounds."""
        began = time.perf_counter()
        for _ in range(count):
            iteration = self.iteration + 1
            self.head.learn(iteration, self.crew.play(iteration, self.head.rounds(iteration)))
            self.iteration = iteration
        self._seconds += time.perf_counter() - began

    def report(self) -> dict[str, Any]:
        """How the work was divided: rounds a second, and what each worker did and takes."""
        rounds = self.iteration / self._seconds if self._seconds > 0 else None
        return {
            "rounds_per_second": None if rounds is None else round(rounds, 2),
            "lost_workers": getattr(self.crew, "lost", 0),
            "workers": self.crew.report(),
        }

    def close(self) -> None:
        """Let the workers go."""
        self.crew.close()

    # ------------------------------------------------------------------------------- numbers

    @property
    def layout(self) -> SampledRows:
        """Where the numbers of the whole game stand."""
        return self._layout

    def gathered(self) -> Numbers:
        """Regrets and averages of the whole game: a copy."""
        rows = np.zeros(self._layout.size, dtype=np.float32)
        self._trunk(rows, into=True)
        for shard, (part, _) in zip(self._shells(), self.crew.numbers(), strict=True):
            shard.rows = part
            shard.gather(self._layout, rows)
        return rows

    def _trunk(self, rows: Numbers, *, into: bool) -> None:
        layout, head = self._layout, self.head
        second = int(layout.betting.start[1])
        for node in layout.decisions[layout.decisions < second].tolist():
            there, here = layout.block(rows, node), head.layout.block(head.rows, node)
            np.copyto(*((there, here) if into else (here, there)))

    def _shells(self) -> list[Shard]:
        """Shards that know where their numbers stand, and hold none."""
        betting, rule = self.game.betting, self.head.rule
        return [
            Shard(betting, own, rule, seed=self.seed, number=k)
            for k, own in enumerate(self._templates)
        ]

    def _part_kept(self, number: int) -> tuple[Numbers, NDArray[np.uint64]] | None:
        """What shard `number` had at the last checkpoint."""
        if self._kept is None:
            return None
        _, arrays = artefact.read(self._kept, self.file_kind)
        shard = self._shells()[number]
        shard.scatter(self._layout, arrays["rows"])
        return shard.rows, self._streams_for(number, arrays["streams"])

    # --------------------------------------------------------------------------- checkpoints

    def settings(self) -> dict[str, Any]:
        """Seed, weights, pruning and the size of a round."""
        return {
            "seed": self.seed,
            "linear": self.linear,
            "prune": self.prune,
            "prune_share": self.prune_share,
            "prune_after": self.prune_after,
            "batch": self.batch,
        }

    def arrays(self) -> dict[str, Numbers]:
        """Regrets and averages of the whole game, and the random numbers of head and shards."""
        streams = [self.head.streams, *(streams for _, streams in self.crew.numbers())]
        return {"rows": self.gathered(), "streams": np.stack(streams)}

    def restore_arrays(self, arrays: Mapping[str, Numbers]) -> None:
        """Take back what :meth:`arrays` gave, on as many workers as there are now."""
        rows = restoring.array(arrays, "rows", (self._layout.size,), np.float32)
        told = arrays.get("streams")
        shape = (2, *self.head.streams.shape) if told is None else told.shape
        if len(shape) != 2 or shape[0] < 2 or shape[1:] != self.head.streams.shape:
            shape = (2, *self.head.streams.shape)
        streams = restoring.array(arrays, "streams", shape, np.uint64)
        self._trunk(rows, into=False)
        np.copyto(self.head.streams, streams[0])
        parts = []
        for number, shard in enumerate(self._shells()):
            shard.scatter(self._layout, rows)
            parts.append((shard.rows, self._streams_for(number, streams)))
        self.crew.restore(parts)

    def _streams_for(self, number: int, streams: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Random numbers of a shard; where the checkpoint had other workers, new ones."""
        if len(streams) == 1 + len(self._templates):
            own: NDArray[np.uint64] = streams[1 + number]
            return own
        return streams_of(self.seed, 1 + number, int(streams[0, 0] >> np.uint64(1)))

    def save(self, path: str | Path) -> None:
        """Write a checkpoint, from which lost shards start again."""
        super().save(path)
        self._kept = Path(path)

    @classmethod
    def load(
        cls, path: str | Path, game: Any, *, threads: int | None = 1, **more: Any
    ) -> ShardedSampling:
        """Read a checkpoint; any number of workers may go on with it."""
        solver = super().load(path, game, threads=threads, **more)
        solver._kept = Path(path)
        return solver

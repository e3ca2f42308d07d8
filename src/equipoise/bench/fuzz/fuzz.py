"""Spoiled inputs to everything that reads: each is accepted, or refused with a sentence.

Readers are those of :mod:`.texts` and :mod:`.files`, the ways to spoil their samples those of
:mod:`.mutations`. Every input counts once:

    accepted            the reader made something of it
    refused             it raised an error of `errors.py`
    other_exceptions    it raised anything else, or ended the process
    hangs               it took more than 5 seconds, twice
    over_memory         it asked for more than a gigabyte

The same seed gives the same inputs however many processes read them; which samples there are depends
on the version of the package, and that of a packed blueprint on the number of cores.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing import connection
from typing import Any

from equipoise.bench.figures import figure
from equipoise.bench.fuzz.reader import Reader
from equipoise.bench.fuzz.worker import VERDICTS, Fault, Limits, Tally, Task, serve
from equipoise.errors import EquipoiseError, SolverError
from equipoise.kernel import cores
from equipoise.run import Event, Listener

#: Inputs that a worker is given at once.
_CHUNK = 200


def all_readers() -> list[Reader]:
    """Everything in the package that reads."""
    from equipoise.bench.fuzz.files import file_readers
    from equipoise.bench.fuzz.texts import text_readers

    return [*text_readers(), *file_readers()]


class _Some:
    """Some readers by name; made anew in each worker, so that nothing but names is sent."""

    def __init__(self, readers: Callable[[], list[Reader]], only: Sequence[str]) -> None:
        self._readers, self._only = readers, only

    def __call__(self) -> list[Reader]:
        return [one for one in self._readers() if not self._only or one.name in self._only]


class _Worker:
    """A process that reads, and what it is at."""

    def __init__(self, readers: Callable[[], list[Reader]], seed: int, limits: Limits) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self._place = context.RawValue("q", -1)
        self.process = context.Process(
            target=serve, args=(there, self._place, readers, seed, limits), daemon=True
        )
        self.process.start()
        there.close()
        self.ready = False
        self.task: Task | None = None
        self._patience = 2 * limits.seconds + limits.grace_seconds
        self._seen, self._since = -1, time.monotonic()

    @property
    def at(self) -> int:
        """Number of the input it reads."""
        return int(self._place.value)

    def give(self, task: Task) -> None:
        """Have inputs read."""
        self.task, self._place.value = task, task.first
        self._seen, self._since = -1, time.monotonic()
        self.pipe.send(task)

    def stuck(self) -> bool:
        """Whether it has been at one input for too long."""
        if self.task is None:
            return False
        if self.at != self._seen:
            self._seen, self._since = self.at, time.monotonic()
        return time.monotonic() - self._since > self._patience

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Fuzzer:
    """Reads `inputs` inputs of a seed in some processes."""

    def __init__(
        self,
        inputs: int,
        seed: int = 0,
        workers: int | None = None,
        only: Sequence[str] = (),
        limits: Limits = Limits(),  # noqa: B008 - a tuple
        readers: Callable[[], list[Reader]] = all_readers,
    ) -> None:
        if inputs < 1:
            raise SolverError(f"inputs = {inputs}: read at least 1")
        if workers is not None and workers < 1:
            raise SolverError(f"workers = {workers}: at least 1")
        known = [reader.name for reader in readers()] if only else []
        for name in only:
            if name not in known:
                raise EquipoiseError(f"no reader {name!r}: choose from {', '.join(known)}")
        self.inputs, self.seed, self.limits = inputs, seed, limits
        self.workers = min(workers or cores(), -(-inputs // _CHUNK))
        self.tally = Tally()
        #: A hash of the samples that are spoiled.
        self.samples = ""
        #: Readers that accept none of their samples: what is found there says little.
        self.refusing: list[str] = []
        self._readers = _Some(readers, only)
        self._tasks = deque(
            Task(first, min(first + _CHUNK, inputs)) for first in range(0, inputs, _CHUNK)
        )
        self._crew: list[_Worker] = []

    @property
    def done(self) -> int:
        """Inputs counted so far."""
        return sum(self.tally.total(verdict) for verdict in VERDICTS)

    @property
    def faults(self) -> int:
        """Inputs that were neither accepted nor refused."""
        return sum(self.tally.total(verdict) for verdict in VERDICTS[2:])

    def run(self, progress: Listener | None = None) -> None:
        """Read everything; Ctrl-C leaves what was counted until then."""
        try:
            self._crew = [self._hire() for _ in range(self.workers)]
            while self._tasks or any(worker.task for worker in self._crew):
                self._turn()
                if progress is not None:
                    progress(Event(self.done, self.inputs, f"{self.faults} faults"))
        finally:
            for worker in self._crew:
                worker.end()

    def _hire(self) -> _Worker:
        return _Worker(self._readers, self.seed, self.limits)

    def _turn(self) -> None:
        """Hear whoever has something to say, and see to those who have not for too long."""
        heard = connection.wait([worker.pipe for worker in self._crew], timeout=0.5)
        for number, worker in enumerate(self._crew):
            if worker.pipe in heard:
                try:
                    self._hear(worker, worker.pipe.recv())
                except EOFError:
                    self._replace(number, "other_exceptions")
            elif worker.stuck():
                self._replace(number, "hangs")
        for worker in self._crew:
            if worker.ready and worker.task is None and self._tasks:
                worker.give(self._tasks.popleft())

    def _hear(self, worker: _Worker, said: Any) -> None:
        if isinstance(said, Tally):
            self.tally.add(said)
            worker.task = None
        else:
            self.samples, self.refusing = said
            worker.ready = True

    def _replace(self, number: int, verdict: str) -> None:
        """A worker is gone: its input is to blame, and the rest of its task is read by another."""
        worker = self._crew[number]
        worker.end()
        if worker.task is None:
            raise SolverError("a process that reads inputs cannot start: run it with --workers 1")
        first, last, known = worker.task
        at = worker.at
        if known is None:
            parts = (Task(first, at), Task(at, at + 1, verdict), Task(at + 1, last))
            self._tasks.extendleft(task for task in parts if task.first < task.last)
        else:
            # Not even making the input ends.
            self.tally.count("?", known)
            self.tally.note(Fault("?", known, "the input cannot be made", [], at, ""))
        self._crew[number] = self._hire()


def run(
    seed: int = 0,
    inputs: int = 20_000,
    only: str | None = None,
    workers: int | None = None,
    progress: Listener | None = None,
) -> dict[str, Any]:
    """Read that many inputs and tell what came of them; after Ctrl-C, of those read so far."""
    names = [name.strip() for name in only.split(",")] if only else []
    fuzzer = Fuzzer(inputs, seed, workers, names)
    began, interrupted = time.perf_counter(), False
    try:
        fuzzer.run(progress)
    except KeyboardInterrupt:
        interrupted = True
    tally = fuzzer.tally
    totals = {verdict: tally.total(verdict) for verdict in VERDICTS}
    return {
        "suite": "fuzz",
        "seed": seed,
        "inputs": fuzzer.done,
        **totals,
        "interrupted": interrupted,
        "seconds": time.perf_counter() - began,
        "workers": fuzzer.workers,
        "samples": fuzzer.samples,
        "readers_without_samples": fuzzer.refusing,
        "readers": {
            name: {**tally.counts[name], "seconds": tally.seconds[name]}
            for name in sorted(tally.counts)
        },
        "faults": [
            {
                "reader": fault.reader,
                "verdict": fault.verdict,
                "error": fault.error,
                "trace": fault.trace,
                "input": fault.input,
                "data": fault.data,
                "count": fault.count,
            }
            for fault in sorted(tally.faults.values(), key=lambda fault: fault.input)
        ],
        "figures": [
            figure(verdict.replace("_", " "), number, "inputs", at_most=None if mild else 0)
            for mild, (verdict, number) in (
                (verdict in VERDICTS[:2], (verdict, number)) for verdict, number in totals.items()
            )
        ],
    }

"""A process that reads spoiled inputs, one after another, and tells what came of each.

Reading happens here and not in the process that counts, so that nothing an input does can stop the
count. Every input is read under a clock: an alarm that raises, and a parent that kills a worker which
does not hear it. Memory is measured by how far the peak of resident memory rises; far above what an
input may take there is a ceiling, so that a bomb does not take the machine with it. Input n of a seed
is the same whoever reads it: its generator is seeded by both.
"""

from __future__ import annotations

import gc
import hashlib
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from equipoise.bench.fuzz.mutations import Stock, gather
from equipoise.bench.fuzz.reader import Reader
from equipoise.errors import EquipoiseError

#: What may come of an input; all but the first two are faults.
VERDICTS = ("accepted", "refused", "other_exceptions", "hangs", "over_memory")
#: How much of an input is shown.
_SHOWN_BYTES = 400
#: Times of what an input may take above which allocations fail.
_CEILING = 4
#: Peaks of resident memory higher than this above what is held are started anew.
_PEAK_STEP = 1 << 26
#: Samples up to this size give words to the dictionary; larger ones are tables.
_MOST_GATHERED = 10_000


class Limits(NamedTuple):
    """What an input may take."""

    seconds: float = 5.0
    memory_bytes: int = 1 << 30
    #: Seconds after which a worker that does not hear the alarm is killed, besides twice `seconds`.
    grace_seconds: float = 5.0


class Task(NamedTuple):
    """Inputs to be read, from the first to before the last."""

    first: int
    last: int
    #: What is known to come of them, if they are not to be read again.
    verdict: str | None = None


@dataclass
class Fault:
    """Something that must not happen, and the first input that made it happen."""

    reader: str
    verdict: str
    error: str
    #: Where it was raised, innermost last.
    trace: list[str]
    input: int
    data: str
    count: int = 1

    @property
    def key(self) -> tuple[str, ...]:
        """Faults of the same reader at the same place are one."""
        return self.reader, self.verdict, *(self.trace[-1:] or [self.error[:40]])


@dataclass
class Tally:
    """What came of some inputs."""

    #: By reader, how many of each verdict.
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    faults: dict[tuple[str, ...], Fault] = field(default_factory=dict)

    def count(self, reader: str, verdict: str, seconds: float = 0.0) -> None:
        """One input more."""
        counts = self.counts.setdefault(reader, dict.fromkeys(VERDICTS, 0))
        counts[verdict] += 1
        self.seconds[reader] = self.seconds.get(reader, 0.0) + seconds

    def note(self, fault: Fault) -> None:
        """Keep a fault, the earliest input of each kind."""
        known = self.faults.get(fault.key)
        if known is not None:
            fault.count += known.count
            if known.input < fault.input:
                known.count = fault.count
                fault = known
        self.faults[fault.key] = fault

    def add(self, other: Tally) -> None:
        """Count another tally in."""
        for reader, counts in other.counts.items():
            mine = self.counts.setdefault(reader, dict.fromkeys(VERDICTS, 0))
            for verdict, number in counts.items():
                mine[verdict] += number
            self.seconds[reader] = self.seconds.get(reader, 0.0) + other.seconds.get(reader, 0.0)
        for fault in other.faults.values():
            self.note(fault)

    def total(self, verdict: str) -> int:
        """How many inputs met this verdict."""
        return sum(counts[verdict] for counts in self.counts.values())


class Inputs:
    """The inputs of a seed over some readers."""

    def __init__(self, readers: Sequence[Reader], seed: int) -> None:
        self.readers, self._seed = readers, seed
        self._samples = [reader.samples() for reader in readers]
        small = [one for some in self._samples for one in some if len(one) <= _MOST_GATHERED]
        tokens = gather(small)
        self._stocks = [Stock(some, tokens) for some in self._samples]
        self._upto = list(accumulate(reader.weight for reader in readers))

    @property
    def digest(self) -> str:
        """A hash of all samples: runs of one seed over the same ones read the same inputs."""
        found = hashlib.sha256()
        for some in self._samples:
            for one in some:
                found.update(hashlib.sha256(one).digest())
        return found.hexdigest()[:16]

    def samples(self, number: int) -> list[bytes]:
        """The samples of a reader, by its number."""
        return self._samples[number]

    def draw(self, number: int) -> tuple[Reader, Random, int]:
        """The reader of an input, the generator that makes it, and the reader's number."""
        rng = Random(f"{self._seed}:{number}")
        (chosen,) = rng.choices(range(len(self.readers)), cum_weights=self._upto)
        return self.readers[chosen], rng, chosen

    def make(self, rng: Random, reader: int) -> bytes:
        """The input."""
        stock = self._stocks[reader]
        return self.readers[reader].spoil(rng, rng.choice(stock.samples), stock)

    def input(self, number: int) -> tuple[str, bytes]:
        """Reader and bytes of an input."""
        reader, rng, place = self.draw(number)
        return reader.name, self.make(rng, place)


class _TooLong(BaseException):
    """Raised by the alarm; no reader catches it."""


def serve(
    pipe: Connection,
    place: Any,
    readers: Callable[[], list[Reader]],
    seed: int,
    limits: Limits,
) -> None:
    """The life of a worker: tell that it is ready, then answer every task with a tally.

    `place` is memory shared with the parent, the number of the input that is being read.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _ring)
    warnings.simplefilter("ignore")
    # Files are small and many: memory holds them, where there is such a folder.
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        os.environ["EQUIPOISE_CACHE"] = str(Path(folder) / "cache")
        tempfile.tempdir = folder
        work = Path(folder) / "work"
        work.mkdir()
        inputs = Inputs(readers(), seed)
        refused = _warm_up(inputs, work)
        # What is loaded by now stays: sweeps for garbage after a fault need not look at it again.
        gc.freeze()
        pipe.send((inputs.digest, refused))
        while True:
            try:
                task = pipe.recv()
            except EOFError:
                return
            pipe.send(_answer(inputs, task, place, work, limits))


def _warm_up(inputs: Inputs, work: Path) -> list[str]:
    """Read every sample, so that no clock runs while kernels load; readers that accept none."""
    refused = []
    for number, reader in enumerate(inputs.readers):
        accepted = 0
        for one in inputs.samples(number):
            try:
                reader.read(one, work)
                accepted += 1
            except Exception:
                continue
        if not accepted:
            refused.append(reader.name)
    return refused


def _answer(inputs: Inputs, task: Task, place: Any, work: Path, limits: Limits) -> Tally:
    tally = Tally()
    for number in range(task.first, task.last):
        place.value = number
        if task.verdict is not None:
            name, data = inputs.input(number)
            tally.count(name, task.verdict)
            told = "the process had to be killed" if task.verdict == "hangs" else "the process died"
            tally.note(Fault(name, task.verdict, told, [], number, _shown(data)))
            continue
        _try(inputs, number, work, limits, tally)
    return tally


def _try(inputs: Inputs, number: int, work: Path, limits: Limits, tally: Tally) -> None:
    reader, rng, chosen = inputs.draw(number)
    began = time.perf_counter()
    made: tuple[bytes, ...] = ()
    error: BaseException | None = None
    verdict = "accepted"
    memory = _Memory(limits.memory_bytes)
    # The second try is for a machine that was asleep: only what lasts too long twice is a hang.
    for _ in range(2):
        try:
            # The alarm rings again if something swallowed it.
            signal.setitimer(signal.ITIMER_REAL, limits.seconds, 1.0)
            try:
                made = made or (inputs.make(rng, chosen),)
                reader.read(made[0], work)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except EquipoiseError as cure:
            # Made out of samples that are right, an input is never refused before it is read.
            verdict, error = ("refused", None) if made else ("other_exceptions", cure)
        except _TooLong as late:
            verdict, error = "hangs", late
            continue
        except MemoryError as full:
            verdict, error = "over_memory", full
        except BaseException as other:
            verdict, error = "other_exceptions", other
        else:
            verdict, error = "accepted", None
        break
    taken = memory.release()
    if taken > limits.memory_bytes and verdict != "hangs":
        verdict, error = "over_memory", error or MemoryError(f"{taken / 1e9:.1f} GB were taken")
    tally.count(reader.name, verdict, time.perf_counter() - began)
    if error is not None:
        trace = [
            f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)[1:]
        ]
        told = f"{type(error).__name__}: {error}"[:_SHOWN_BYTES]
        tally.note(Fault(reader.name, verdict, told, trace[-6:], number, _shown(b"".join(made))))
        del error
        gc.collect()


def _ring(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooLong


class _Memory:
    """Watches what is taken from when it is made; needs a system that tells, such as Linux."""

    def __init__(self, most_bytes: int) -> None:
        self._resident = 0
        try:
            size, resident = Path("/proc/self/statm").read_bytes().split()[:2]
        except OSError:
            return
        page = resource.getpagesize()
        self._resident = int(resident) * page
        if self._peak() - self._resident > _PEAK_STEP:
            # The peak of inputs before would hide that of this one: start it anew.
            with suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")
        self._set_ceiling(int(size) * page + _CEILING * most_bytes)

    def release(self) -> int:
        """No ceiling any more; the most bytes that were held at once, above those at first."""
        self._set_ceiling(resource.RLIM_INFINITY)
        return max(0, self._peak() - self._resident) if self._resident else 0

    @staticmethod
    def _peak() -> int:
        # Not `ru_maxrss`: that is inherited from whoever started this process, and is never started anew.
        for line in Path("/proc/self/status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
                return 1024 * int(line.split()[1])
        return 0

    @staticmethod
    def _set_ceiling(most_bytes: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, resource.RLIM_INFINITY))


def _shown(data: bytes) -> str:
    cut = repr(data[:_SHOWN_BYTES])
    return cut if len(data) <= _SHOWN_BYTES else f"{cut} … ({len(data)} bytes)"

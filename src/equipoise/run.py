"""Running: the one loop of solvers and training, its limits, what it tells, and how it is stopped.

    loop = Loop(solver, Limit(seconds=60, exploitability_chips=0.1))
    last = loop.run(listener, stop)

The clock starts when the kernels are loaded. Iterations are done in chunks of at most a tenth of a
second, so that bars move and a stop is soon obeyed; a solve that is saved as it goes spends at most a
twentieth of its time on that. Whoever has a long job tells of it by one `Event` to one `Listener`.

A `Stop` is a flag that any thread may set: a run ends at its next look as if a limit were met, and what
is done is kept. Nothing here listens to Ctrl-C: the command line does, and sets the flag. Where nobody
does, as in a notebook, `KeyboardInterrupt` waits for the end of a chunk, ends the run in the same
orderly way and then goes on.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from equipoise.errors import SolverError

#: Seconds of iterations between looks at clock, listener and stop.
_CHUNK_SECONDS = 0.1
#: Share of the time that saving may take, the look before it included.
_SHARE_OF_SAVES = 0.05


# ------------------------------------------------------------------------------------ the words


@dataclass(frozen=True)
class Limit:
    """When a run stops: at the first of these that is met.

    The exploitability to reach may be said in chips a hand, in percent of the pot at the start, or in
    big blinds a hand.

    >>> Limit(exploitability_pct_pot=0.5).in_chips(pot=200, big_blind=2).exploitability_chips
    1.0
    >>> Limit(iterations=10).in_chips(pot=200, big_blind=2) == Limit(iterations=10)
    True
    """

    #: Iterations in all, those before a resume included.
    iterations: int | None = None
    #: Seconds of this run; of training those before a resume included.
    seconds: float | None = None
    #: Exploitability to reach, in chips a hand.
    exploitability_chips: float | None = None
    #: Iterations between looks at the exploitability; by default ever further apart.
    check_every: int | None = None
    #: The same in percent of the pot.
    exploitability_pct_pot: float | None = None
    #: The same in big blinds a hand.
    exploitability_bb: float | None = None

    def __post_init__(self) -> None:
        targets = (self.exploitability_chips, self.exploitability_pct_pot, self.exploitability_bb)
        given = [target for target in targets if target is not None]
        if self.iterations is None and self.seconds is None and not given:
            raise SolverError("a run needs a limit: iterations, seconds or a target exploitability")
        if len(given) > 1:
            raise SolverError(
                "a target exploitability is in chips, in % of the pot or in big blinds: give one"
            )
        for name, value in vars(self).items():
            least = int(name == "check_every")
            if value is not None and not least <= value < float("inf"):
                raise SolverError(f"{name} = {value}: give {least} or more")

    def in_chips(self, *, pot: float, big_blind: float) -> Limit:
        """The same limit with its exploitability in chips."""
        chips = self.exploitability_chips
        if self.exploitability_pct_pot is not None:
            chips = self.exploitability_pct_pot * pot / 100
        elif self.exploitability_bb is not None:
            chips = self.exploitability_bb * big_blind
        return replace(
            self, exploitability_chips=chips, exploitability_pct_pot=None, exploitability_bb=None
        )


@dataclass(frozen=True)
class Event:
    """How far a run or any other long job is, for a bar, a notebook or a file."""

    #: Iterations, spots, boards or hands done, those before a resume included.
    done: int
    #: Of how many, where that is known.
    total: int | None = None
    #: What is being made, or was just done.
    what: str = ""
    #: Seconds spent in iterations and looks since the run began.
    seconds: float = 0.0
    #: Exploitability in chips a hand, where it was just measured.
    exploitability_chips: float | None = None
    #: The same on boards that a training run does not see.
    judged_chips: float | None = None
    #: How many of those done were done before this run.
    resumed: int = 0
    #: How many of those done have failed.
    failed: int = 0

    @property
    def honest_chips(self) -> float | None:
        """The more honest of the two exploitabilities that there is."""
        return self.exploitability_chips if self.judged_chips is None else self.judged_chips


Listener = Callable[[Event], None]


def about(what: str, listener: Listener) -> Listener:
    """A listener whose events say what they are about."""
    return lambda event: listener(replace(event, what=what))


class Flag(Protocol):
    """What can be set once and looked at often, such as an event shared by processes."""

    def set(self) -> None:
        """Set it."""

    def is_set(self) -> bool:
        """Whether it is set."""
        ...


class Stop:
    """A flag by which any thread, or any process if it stands on a shared `flag`, ends a run."""

    def __init__(self, flag: Flag | None = None) -> None:
        self._flag = flag
        self._set = False
        self._watchers = 0

    def set(self) -> None:
        """Ask whatever watches to end; safe in a signal handler."""
        self._set = True
        if self._flag is not None:
            self._flag.set()

    def is_set(self) -> bool:
        """Whether somebody asked."""
        return self._set or (self._flag is not None and self._flag.is_set())

    @property
    def watched(self) -> bool:
        """Whether something is running that will obey."""
        return self._watchers > 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """In this block the flag is looked at often."""
        self._watchers += 1
        try:
            yield
        finally:
            self._watchers -= 1


# ----------------------------------------------------------------------------- looks and saves


class Work(Protocol):
    """What a loop runs."""

    #: Iterations done.
    iteration: int

    @property
    def abreast(self) -> int:
        """Iterations that go on side by side: fewer at a time would leave threads idle."""

    def make_ready(self) -> None:
        """Load what iterations need, if that has not been done."""

    def advance(self, count: int) -> None:
        """Do `count` iterations."""


#: Exploitability in chips, and on other boards than those of training; None where it is not known.
Figures = tuple[float | None, float | None]


class Looks:
    """Looks at the exploitability after so many iterations; by default ever further apart."""

    def __init__(self, every: int | None = None) -> None:
        self._every = every
        self._next = 0

    def begin(self, iteration: int, look: Callable[[], Figures]) -> None:
        """A run starts at an iteration; the kernels of iterations are loaded."""
        self._next = iteration + (self._every or 1)

    def left(self, iteration: int) -> int | None:
        """Iterations before the next look, if they decide."""
        return self._next - iteration

    def due(self, iteration: int, now: float, seconds: float) -> bool:
        """Whether it is time, by a clock `now` and after so many `seconds` of the run."""
        if iteration < self._next:
            return False
        self._next = iteration + (self._every or max(1, iteration // 8))
        return True

    def looked(self, began: float, ended: float) -> None:
        """A look was taken, for whatever reason."""

    def found(self, iteration: int, exploitability_chips: float | None) -> None:
        """What a look found."""


class LooksForTarget(Looks):
    """Looks where the target should be met, for exploitability falls like a power of the iterations.

    Which power, the last two looks tell; the next piece falls a little less steeply, or a look would be
    wasted just before the target. The first look is after thirty-two iterations, for hardly a spot is
    solved sooner. Until the target is near, iterations grow by half; close by, a look is due after every
    thirty-second part of them. A look costs about as much as an iteration.
    """

    #: Powers that are believed.
    _LEAST, _MOST = 0.7, 3.0
    #: Power of the next piece beside that of the last.
    _FLATTER = 0.85
    _PARTS = 32
    _FIRST = 32

    def __init__(self, target_chips: float) -> None:
        super().__init__()
        self._target = target_chips
        self._before: tuple[int, float] | None = None

    def begin(self, iteration: int, look: Callable[[], Figures]) -> None:
        """A run starts; one that is gone on with may be near its target."""
        self._next = iteration + (1 if iteration else self._FIRST)

    def found(self, iteration: int, exploitability_chips: float | None) -> None:
        """Place the next look."""
        if not exploitability_chips or not self._target or iteration <= 0:
            return
        power = 1.0
        if self._before is not None and iteration > self._before[0]:
            fallen = math.log(self._before[1] / exploitability_chips)
            power = self._FLATTER * fallen / math.log(iteration / self._before[0])
            power = min(max(power, self._LEAST), self._MOST)
        self._before = iteration, exploitability_chips
        more = iteration * ((exploitability_chips / self._target) ** (1.0 / power) - 1.0)
        self._next = iteration + max(1, iteration // self._PARTS, int(min(more, iteration / 2)))


class LooksByCost(Looks):
    """Looks that take a small share of the time, and are about as many in each doubling of it."""

    def __init__(self, share: float, in_doubling: int, first_seconds: float) -> None:
        super().__init__()
        self._share, self._in_doubling = share, in_doubling
        #: The first look is not later than this, whatever it costs.
        self._patience: float | None = first_seconds
        self._cost = self._last = 0.0

    def begin(self, iteration: int, look: Callable[[], Figures]) -> None:
        """Load the kernels of a look, and see what one costs."""
        look()
        before = time.perf_counter()
        look()
        self._last = time.perf_counter()
        self._cost = self._last - before

    def left(self, iteration: int) -> int | None:
        """Time decides, not iterations."""
        return None

    def due(self, iteration: int, now: float, seconds: float) -> bool:
        """Whether another look can be afforded."""
        patience = max(self._cost / self._share, seconds / self._in_doubling)
        if self._patience is not None:
            patience = min(patience, self._patience)
        return now - self._last > patience

    def looked(self, began: float, ended: float) -> None:
        """Remember what a look costs."""
        self._cost, self._last, self._patience = ended - began, ended, None


@dataclass
class Saves:
    """When a run saves itself: every so many seconds, less often where that takes long."""

    save: Callable[[], None]
    #: Seconds between two saves at the least.
    every: float = 120.0
    #: Seconds between two saves at the most, whatever one costs.
    most: float = float("inf")
    #: Whether the time that saves take is the run's.
    timed: bool = False
    #: Whether the end of the run is saved, too.
    at_end: bool = True
    _cost: float = field(default=0.0, init=False)
    _last: float = field(default=0.0, init=False)

    def begin(self) -> None:
        """The clock starts."""
        self._last = time.perf_counter()

    def due(self, now: float) -> bool:
        """Whether it is time."""
        return now - self._last > min(max(self.every, self._cost / _SHARE_OF_SAVES), self.most)

    def keep(self, since: float) -> float:
        """Save; what that costs counts from `since`, the look before it included."""
        before = time.perf_counter()
        self.save()
        self._last = time.perf_counter()
        self._cost = self._last - since
        return 0.0 if self.timed else self._last - before


@dataclass
class _Patience:
    """Whether an iteration is under way, which a KeyboardInterrupt has to wait for."""

    busy: bool = False
    waiting: bool = False

    def interrupted(self, number: int, frame: object) -> None:
        """Somebody pressed Ctrl-C."""
        if not self.busy:
            raise KeyboardInterrupt
        self.waiting = True


@contextmanager
def _patient() -> Iterator[_Patience]:
    """In this block half an iteration is never saved: what is asked meanwhile is heard at its end.

    Only the main thread is interrupted; where Ctrl-C does something else, that is left alone. The
    handler is set once a run: to set it for every iteration costs more than a small game's.
    """
    patience = _Patience()
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield patience
        return
    signal.signal(signal.SIGINT, patience.interrupted)
    try:
        yield patience
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# ------------------------------------------------------------------------------------- the loop


class Loop:
    """One run of something that iterates, to the first limit that is met.

    `look` measures the exploitability. `record` hears of every look before anybody else, and of one
    before every save. `since` is the last event of the run that is gone on with: its seconds count, and
    if it meets the limit nothing is done.
    """

    def __init__(
        self,
        work: Work,
        limit: Limit,
        look: Callable[[], Figures],
        *,
        record: Listener | None = None,
        looks: Looks | None = None,
        saves: Saves | None = None,
        since: Event | None = None,
    ) -> None:
        self._work, self._limit, self._look_at = work, limit, look
        self._record, self._saves = record, saves
        self._looks = looks or Looks(limit.check_every)
        self._event = since or Event(work.iteration)
        #: Iteration of the last look.
        self._looked = None if since is None else since.done
        #: Iteration of the last save.
        self._saved: int | None = None
        #: When the run would have begun had it never stopped, listened or saved off the clock.
        self._began = 0.0
        self._chunk = 1
        self._patience = _Patience()
        #: Whether an iteration, or a save, broke off in the middle: then nothing more is saved.
        self._broken = False
        #: Whether it ended before its limit, because somebody asked.
        self.stopped = False
        #: Whether they asked by a KeyboardInterrupt, which the caller may raise again.
        self.interrupted = False

    def run(self, listener: Listener | None = None, stop: Stop | None = None) -> Event:
        """Iterate until the limit or a stop; the last event, whose exploitability is measured."""
        stop = stop or Stop()
        with stop.watching(), _patient() as self._patience:
            self._begin()
            try:
                self._iterate(listener, stop)
                if self._looked != self._work.iteration:
                    self._tell(self._now(look=True), listener)
            except BaseException as error:
                if self._broken:
                    raise
                self._save_end()
                if not isinstance(error, KeyboardInterrupt):
                    raise
                self.stopped = self.interrupted = True
            else:
                self._save_end()
        return self._event

    def _begin(self) -> None:
        """Start the clock, once every kernel is loaded."""
        self._work.make_ready()
        self._looks.begin(self._work.iteration, self._look_at)
        if self._saves is not None:
            self._saves.begin()
        self._began = time.perf_counter() - self._event.seconds

    def _iterate(self, listener: Listener | None, stop: Stop) -> None:
        wanted = (
            listener is not None
            or self._record is not None
            or self._limit.exploitability_chips is not None
        )
        while not self._met():
            if stop.is_set():
                self.stopped = True
                return
            self._advance(wanted)
            now = time.perf_counter()
            saves = self._saves if self._saves is not None and self._saves.due(now) else None
            due = self._looks.due(self._work.iteration, now, now - self._began)
            before_save = saves is not None and self._record is not None
            self._tell(self._now(look=before_save or (due and wanted)), listener)
            if saves is not None:
                self._save(saves, since=now)

    def _met(self) -> bool:
        limit = self._limit
        return (
            (limit.iterations is not None and self._work.iteration >= limit.iterations)
            or (limit.seconds is not None and self._clock() >= limit.seconds)
            or self._reached()
        )

    def _reached(self) -> bool:
        target, reached = self._limit.exploitability_chips, self._event.honest_chips
        return target is not None and reached is not None and reached <= target

    def _advance(self, looking: bool) -> None:
        """One chunk: a tenth of a second, the time that is left, up to the next look, all threads busy.

        Where nobody wants looks they end no chunk: a river of eight decisions is iterated faster than it
        is entered.
        """
        work, limit = self._work, self._limit
        count = self._chunk
        if looking and (until_look := self._looks.left(work.iteration)) is not None:
            count = min(count, until_look)
        if limit.iterations is not None:
            count = min(count, limit.iterations - work.iteration)
        before = time.perf_counter()
        patience = self._patience
        patience.busy = self._broken = True
        try:
            work.advance(count)
            self._broken = False
        finally:
            patience.busy = False
        if patience.waiting:
            patience.waiting = False
            raise KeyboardInterrupt
        now = time.perf_counter()
        left = _CHUNK_SECONDS
        if limit.seconds is not None:
            left = min(left, limit.seconds - (now - self._began))
        fitting = int(count * left / (now - before)) if now > before else 2 * self._chunk
        self._chunk = max(work.abreast, min(2 * self._chunk, fitting))

    def _now(self, look: bool) -> Event:
        """How far the run is, after a look if there is to be one."""
        figures: Figures = (None, None)
        if look:
            before = time.perf_counter()
            figures = self._look_at()
            self._looks.looked(before, time.perf_counter())
            self._looked = self._work.iteration
        event = Event(
            self._work.iteration,
            self._limit.iterations,
            seconds=self._clock(),
            exploitability_chips=figures[0],
            judged_chips=figures[1],
        )
        self._event = event
        if look:
            self._looks.found(event.done, event.honest_chips)
        if look and self._record is not None:
            self._record(event)
        return event

    def _clock(self) -> float:
        return time.perf_counter() - self._began

    def _tell(self, event: Event, listener: Listener | None) -> None:
        """Report; what a listener does meanwhile is not on the clock."""
        if listener is not None:
            before = time.perf_counter()
            listener(event)
            self._began += time.perf_counter() - before

    def _save_end(self) -> None:
        """Record the end and save it, whatever ended the run."""
        if self._record is not None and self._looked != self._work.iteration:
            self._now(look=True)
        saved = self._saved == self._work.iteration
        if self._saves is not None and self._saves.at_end and not saved:
            self._save(self._saves, since=time.perf_counter())

    def _save(self, saves: Saves, since: float) -> None:
        try:
            self._began += saves.keep(since)
        except Exception:
            self._broken = True
            raise
        self._saved = self._work.iteration

"""What all solvers share: one verb set, limits, events and checkpoints.

solver.step()                      one iteration
solver.run(Limit(iterations=100))  until a limit is met; events go to a listener
solver.average_strategy()          a copy of the answer so far
solver.exploitability()            chips a hand, mean of both players' gains
solver.save(path), Solver.load(path, game)
"""

from __future__ import annotations

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.game import Game
from equipoise.settings import brief
from equipoise.solve import restoring
from equipoise.solve.strategies.strategy import Strategy
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Precision, Tableau

#: Seconds of iterations between looks at clock, listener and Ctrl-C.
_CHUNK_SECONDS = 0.1


@dataclass(frozen=True)
class Limit:
    """When a run stops: at the first of these that is met."""

    #: Iterations in all, those before a resume included.
    iterations: int | None = None
    #: Seconds of this run.
    seconds: float | None = None
    #: Exploitability to reach, in chips a hand.
    exploitability_chips: float | None = None
    #: Iterations between looks at the exploitability; by default ever further apart.
    check_every: int | None = None

    def __post_init__(self) -> None:
        if (self.iterations, self.seconds, self.exploitability_chips) == (None, None, None):
            raise SolverError("a run needs a limit: iterations, seconds or a target exploitability")
        for name in ("iterations", "seconds", "exploitability_chips", "check_every"):
            value, least = getattr(self, name), int(name == "check_every")
            if value is not None and not least <= value < float("inf"):
                raise SolverError(f"{name} = {value}: give {least} or more")


@dataclass(frozen=True)
class Event:
    """Progress of a run, for a bar, a notebook or a file."""

    iteration: int
    #: Seconds spent in iterations and checks since the run began.
    seconds: float
    #: Exploitability in chips a hand, where it was just measured.
    exploitability_chips: float | None


Listener = Callable[[Event], None]


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block: half an iteration must not be saved as a whole one."""
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield
        return
    waiting: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if waiting:
        previous(*waiting[0])


class Solver(ABC):
    """An iterative equilibrium solver over a game."""

    #: Name on the command line.
    name: ClassVar[str]

    def __init__(
        self, game: Game, *, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
        self.game = game
        self.tableau = Tableau(game, precision, threads)
        #: Iterations done.
        self.iteration = 0
        #: Realisation plan of both players' average strategy.
        self.plan: NDArray[Any] = self.tableau.rows()

    #: Whether kernels are loaded.
    _prepared = False

    @abstractmethod
    def advance(self, count: int) -> None:
        """Do `count` iterations."""

    def step(self) -> None:
        """Do one iteration."""
        self.advance(1)

    def prepare(self) -> None:
        """Load the kernels of a run, or compile them: clocks that start after this run true.

        The answer does not change. A sweep without iterations is enough on one thread; on several
        the tableau hands out one iteration at a time, so that a best response has to do.
        """
        tableau = self.tableau
        stored = self.plan.dtype if self.plan.dtype.kind == "i" else tableau.dtype
        rows = self.plan if self.plan.dtype == stored else tableau.rows(stored)
        nothing = tableau.parameters().reshape(1, -1)[:0]
        tableau.iterate(rowrules.REGRET, nothing, rows=rows, plan=rows)
        if tableau.threads > 1:
            tableau.best_response(0, rows)

    def average_strategy(self) -> Strategy:
        """A copy of the average strategy of both players."""
        return Strategy(self.game, self.plan, self.tableau.index)

    def exploitability(self) -> float:
        """Mean of both players' best-response gains against the average strategy, in chips."""
        return self.tableau.exploitability(self.plan)

    def value(self) -> float:
        """Expected chips of player 0 when both play the average strategy."""
        return self.tableau.value(self.plan) + self.game.value_offset_chips

    def run(
        self,
        limit: Limit,
        listener: Listener | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 120.0,
    ) -> Event:
        """Iterate until `limit`; returns the last event, whose exploitability is measured.

        With `checkpoint`, the solver is saved there every `checkpoint_seconds` and at the end, also
        when the run is interrupted. The clock starts when the kernels are loaded.
        """
        if not self._prepared:
            self.prepare()
            self._prepared = True
        began = saved = time.perf_counter()

        def tell(event: Event) -> None:
            """Report; what a listener does meanwhile is not on the clock."""
            nonlocal began
            if listener is not None:
                before = time.perf_counter()
                listener(event)
                began += time.perf_counter() - before

        chunk, next_check = 1, self.iteration + (limit.check_every or 1)
        event = Event(self.iteration, 0.0, None)
        try:
            while True:
                if limit.iterations is not None and self.iteration >= limit.iterations:
                    break
                before = time.perf_counter()
                if limit.seconds is not None and before - began >= limit.seconds:
                    break
                stop = min(self.iteration + chunk, next_check)
                if limit.iterations is not None:
                    stop = min(stop, limit.iterations)
                done = stop - self.iteration
                with _uninterrupted():
                    self.advance(done)
                now = time.perf_counter()
                # Chunks of at most a tenth of a second keep bars and Ctrl-C responsive; the last
                # one is cut to the time that is left.
                left = _CHUNK_SECONDS
                if limit.seconds is not None:
                    left = min(left, limit.seconds - (now - began))
                fitting = int(done * left / (now - before)) if now > before else 2 * chunk
                chunk = max(1, min(2 * chunk, fitting))
                measured = None
                if self.iteration >= next_check:
                    gap = limit.check_every or max(1, self.iteration // 8)
                    next_check = self.iteration + gap
                    if limit.exploitability_chips is not None or listener is not None:
                        measured = self.exploitability()
                event = Event(self.iteration, time.perf_counter() - began, measured)
                tell(event)
                target = limit.exploitability_chips
                if target is not None and measured is not None and measured <= target:
                    break
                before = time.perf_counter()
                if checkpoint is not None and before - saved > checkpoint_seconds:
                    self.save(checkpoint)
                    saved = time.perf_counter()
                    began += saved - before
        finally:
            if checkpoint is not None:
                before = time.perf_counter()
                self.save(checkpoint)
                began += time.perf_counter() - before
        if event.exploitability_chips is None or event.iteration != self.iteration:
            measured = self.exploitability()
            event = Event(self.iteration, time.perf_counter() - began, measured)
            tell(event)
        return event

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.game.name}: {self.iteration:,} iterations>"

    # ------------------------------------------------------------------------- checkpoints

    def settings(self) -> dict[str, Any]:
        """What the solver was made with, beyond the game: stored in its files."""
        return {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a resumed run needs, by name; loading copies into these very arrays."""
        return {"plan": self.plan}

    def scalars(self) -> dict[str, Any]:
        """Numbers that a resumed run needs besides the iteration."""
        return {}

    def restore_scalars(self, scalars: dict[str, Any]) -> None:
        """Take back what :meth:`scalars` gave; the base class gave nothing."""
        if scalars:
            raise ArtefactError(f"{self.name} does not know {brief(list(scalars))}")

    def save(self, path: str | Path) -> None:
        """Write a checkpoint; a killed run loses nothing that was saved."""
        configuration = {
            "game": self.game.name,
            "game_fingerprint": self.game.fingerprint(),
            "solver": self.name,
            "precision": str(self.tableau.dtype),
            "settings": self.settings(),
        }
        facts = {"iteration": self.iteration, "scalars": self.scalars()}
        artefact.write(path, "solver", configuration, self.arrays(), **facts)

    @classmethod
    def load(cls, path: str | Path, game: Game, *, threads: int | None = 1, **more: Any) -> Self:
        """Read a checkpoint of this solver and game; another's is refused.

        `more` is what the solver is made with besides and a file does not hold, such as buckets.
        """
        manifest, arrays = artefact.read(path, "solver")
        with artefact.understanding(path, "checkpoint"):
            configuration = restoring.table(manifest["configuration"], "configuration")
            if configuration["solver"] != cls.name:
                raise ArtefactError(
                    f"{path}: a checkpoint of {brief(configuration['solver'])}, not {cls.name}"
                )
            if configuration["game_fingerprint"] != game.fingerprint():
                raise ArtefactError(
                    f"{path}: a checkpoint of another game ({brief(configuration['game'])})"
                )
            settings = restoring.table(configuration["settings"], "settings")
            scalars = restoring.table(manifest["scalars"], "scalars")
            for told, what in ((settings, "settings"), (scalars, "scalars")):
                restoring.check_finite(told, what)
            precision = configuration["precision"]
            if precision not in ("float32", "float64"):
                raise ArtefactError(f"precision is {brief(precision)}: make the file again")
            solver = cls(game, precision=precision, threads=threads, **settings, **more)
            restoring.restore(arrays, solver.arrays())
            solver.iteration = restoring.whole(manifest["iteration"], "iteration")
            solver.restore_scalars(scalars)
        return solver

"""Training: a recipe run in a folder, watched, interrupted and resumed without loss.

What the folder holds, and whose it is, says :mod:`.folder`.

Exploitability does not fall at every step: now and then a line long unused is entered again, and for a
hundred iterations it is worse than before. So the best average strategy seen is kept, by its figure on
the tables of training, and becomes the blueprint.

Every file is written whole or not at all. The first checkpoint comes after ten seconds, later ones as
often as a twentieth of the time allows: that much is lost when a run is killed. A point of the curve is
kept before each, so that a resumed run knows its time; it goes on bit for bit as if it had not stopped
(on one thread where the solver samples cards). Ctrl-C ends a run as a limit does: everything is saved,
and it can go on later.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError
from equipoise.solve.sampling.cardsampling import CardSampling
from equipoise.solve.sampling.rows import CardStrategy
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.strategies.strategy import Strategy
from equipoise.solve.sweep.tableau import Tableau
from equipoise.solve.training.blueprint import Blueprint, make_blueprint
from equipoise.solve.training.folder import Point, RunFolder
from equipoise.solve.training.model import Progress, TrainingEstimate, TrainingModel
from equipoise.solve.training.recipe import Recipe
from equipoise.solve.training.sanity import SanityReport, sanity

_BEST = "best plan"
#: Probabilities up to which a blueprint takes two bytes for each.
_MOST_FINE = 10_000_000
#: Looking at exploitability may take this share of the time.
_SHARE_OF_LOOKS = 0.05
#: Looks in each doubling of the time, about, if they cost nothing.
_MOST_LOOKS = 100
#: Seconds before the first look at the latest, whatever it costs.
_FIRST_LOOK = 90.0
#: Saving, the look before it included, may take this share of the time.
_SHARE_OF_SAVES = 0.05
#: Seconds before the first save, and between two at the least.
_FIRST_SAVE = 10.0
#: Seconds in which a run looks around: at clocks, limits and Ctrl-C.
_GLANCE = 0.5


Listener = Callable[[int, float, Point | None], None]


@contextmanager
def _stoppable() -> Iterator[Callable[[], bool]]:
    """Ctrl-C, or being asked to end, sets a flag; a second Ctrl-C is one as usual."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    known = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def hear(number: int, frame: FrameType | None) -> None:
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.append(number)

    for number in known:
        signal.signal(number, hear)
    try:
        yield lambda: bool(asked)
    finally:
        for number, before in known.items():
            signal.signal(number, before)


@dataclass(frozen=True)
class Trained:
    """How a run ended."""

    recipe: Recipe
    files: RunFolder
    model: TrainingModel
    solver: Solver
    points: list[Point]
    #: The look at which the strategy was best, or the last one if that cannot be told.
    best: Point
    #: The average strategy as it was then.
    strategy: Strategy | CardStrategy
    #: Whether somebody stopped it before its limit.
    interrupted: bool

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return self.files.path

    @property
    def last(self) -> Point:
        """The last look."""
        return self.points[-1]


class _Best:
    """The best plan so far, in memory and on disk."""

    def __init__(self, files: RunFolder, solver: Solver) -> None:
        self._files, self._solver = files, solver
        self.point: Point | None = None
        self._plan: NDArray[Any] | None = None
        self._written: Point | None = None

    def resume(self, points: list[Point]) -> None:
        """Take back what is on disk.

        A run that was killed between the two files may have kept a plan which its checkpoint has not
        come to: it is this run's all the same. Files of older versions say only the iteration.
        """
        try:
            manifest, arrays = artefact.read(self._files.best, _BEST)
            plan = arrays["plan"]
            told = manifest.get("point")
            found = [p for p in points if p.iteration == manifest["iteration"]]
            point = Point(**told) if told else found[0]
        except (ArtefactError, LookupError, TypeError):
            return
        if plan.shape == self._solver.plan.shape and point.exploitability_bb is not None:
            self.point = self._written = point
            self._plan = plan

    def hear(self, point: Point) -> None:
        """Keep the solver's plan if it is the best so far."""
        figure = point.exploitability_bb
        if figure is None or isinstance(self._solver, CardSampling):
            return
        known = None if self.point is None else self.point.exploitability_bb
        if known is None or figure <= known:
            if self._plan is None:
                self._plan = np.empty_like(self._solver.plan)
            np.copyto(self._plan, self._solver.plan)
            self.point = point

    def write(self) -> None:
        """Put it on disk, if what is there is not it already."""
        if self._plan is not None and self.point is not None and self.point != self._written:
            told = {"iteration": self.point.iteration, "point": asdict(self.point)}
            artefact.write(self._files.best, _BEST, {}, {"plan": self._plan}, **told)
            self._written = self.point

    def strategy(self) -> Strategy | CardStrategy:
        """The strategy to play."""
        if isinstance(self._solver, CardSampling):
            return self._solver.card_strategy()
        if self._plan is None:
            return self._solver.average_strategy()
        return Strategy(self._solver.game, self._plan, self._solver.tableau.index)


class Training:
    """One run of a recipe.

    `progress` hears what is being made before the run, `listener` of the run itself: iteration,
    seconds and, when there was a look at the exploitability, a point.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: str | Path | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.recipe = recipe
        self.files = RunFolder(folder if folder is not None else f"{recipe.name}.run")
        self.model = TrainingModel(recipe, threads, progress)
        self.estimate = TrainingEstimate.of(recipe, self.model.threads)
        #: Seconds that buckets and tables took.
        self.building_seconds = 0.0

    def check(self, *, resume: bool = False, overwrite: bool = False) -> None:
        """Refuse a run that does not fit, or whose folder is not its own."""
        self.files.check(self.recipe, resume=resume, overwrite=overwrite)
        self.estimate.check(self.files.path)

    def run(
        self,
        resume: bool = False,
        listener: Listener | None = None,
        *,
        overwrite: bool = False,
    ) -> Trained:
        """Make what is missing, train to the first limit, and save.

        `resume` goes on with the run in the folder, `overwrite` replaces it. What can be refused is
        refused before anything is made.
        """
        self.check(resume=resume, overwrite=overwrite)
        with self.files.held():
            self.files.prepare(self.recipe, resume=resume, overwrite=overwrite)
            return self._run(resume, listener)

    def _run(self, resume: bool, listener: Listener | None) -> Trained:
        began = perf_counter()
        self.model.abstraction.save(self.files.abstraction)
        solver, points = self._solver(resume)
        judge = self._judge(solver)
        best = _Best(self.files, solver)
        if resume:
            best.resume(points)
        self.building_seconds = perf_counter() - began
        loop = _Loop(self, solver, judge, points, best)
        with _stoppable() as stopped:
            interrupted = loop.run(listener, stopped)
        title = f"{self.recipe.name}: {solver.name}"
        self.files.draw(title, points, float(self.recipe.rules.big_blind))
        return Trained(
            self.recipe,
            self.files,
            self.model,
            solver,
            points,
            best.point or points[-1],
            best.strategy(),
            interrupted,
        )

    def _judge(self, solver: Solver) -> Tableau | None:
        game = self.model.judge
        if game is None or self.recipe.model.kind == "cards" or game is self.model.game:
            return None
        return Tableau(game, solver.tableau.dtype.name, self.model.threads)

    def _solver(self, resume: bool) -> tuple[Solver, list[Point]]:
        if not (resume and self.files.checkpoint.exists()):
            return self.model.solver(), []
        solver = self.model.load_solver(self.files.checkpoint)
        points = [p for p in self.files.read_curve() if p.iteration <= solver.iteration]
        if not points or points[-1].iteration != solver.iteration:
            raise ArtefactError(
                f"{self.files.curve}: does not reach the checkpoint's iteration "
                f"{solver.iteration:,}: start anew with --overwrite or another --out"
            )
        return solver, points


class _Loop:
    """The iterations of a run: when to look at the strategy, when to save, and when to end."""

    def __init__(
        self,
        training: Training,
        solver: Solver,
        judge: Tableau | None,
        points: list[Point],
        best: _Best,
    ) -> None:
        self._recipe, self._model, self._files = training.recipe, training.model, training.files
        self._solver, self._judge, self._best = solver, judge, best
        self._points = points
        #: When the run would have begun had it never stopped; when it last looked and last saved.
        self._began = self._looked = self._saved = 0.0
        #: Seconds that the last look took, and the last save with the look before it.
        self._look_cost = self._save_cost = 0.0

    def run(self, listener: Listener | None, stopped: Callable[[], bool]) -> bool:
        """Iterate to the first limit and save; whether somebody stopped it before."""
        limits, solver, points = self._recipe.limits, self._solver, self._points
        self._start()
        chunk = 1
        while not self._met() and not stopped():
            count = chunk
            if limits.iterations is not None:
                count = min(count, limits.iterations - solver.iteration)
            start = perf_counter()
            solver.advance(count)
            now = perf_counter()
            # Chunks of half a glance keep clocks, bars and Ctrl-C responsive.
            if now - start < _GLANCE / 4:
                chunk *= 2
            elif now - start > _GLANCE:
                chunk = max(1, chunk // 2)
            save = self._save_due(now)
            point = self._look() if save or self._look_due(now) else None
            if save:
                self._keep(now)
            if listener is not None:
                listener(solver.iteration, self._clock(), point)
        if not points or points[-1].iteration != solver.iteration:
            point = self._look()
            if listener is not None:
                listener(solver.iteration, point.seconds, point)
        self._keep(perf_counter())
        return stopped() and not self._met()

    # -------------------------------------------------------------------------------- the clock

    def _start(self) -> None:
        """Start the clock, once every kernel is loaded."""
        self._solver.prepare()
        self._figures()
        start = perf_counter()
        self._figures()
        now = self._looked = self._saved = perf_counter()
        self._look_cost = now - start
        self._began = now - (self._points[-1].seconds if self._points else 0.0)

    def _clock(self) -> float:
        return perf_counter() - self._began

    def _met(self) -> bool:
        limits, points = self._recipe.limits, self._points
        reached = points[-1].best_bb if points else None
        return (
            (limits.minutes is not None and self._clock() >= 60 * limits.minutes)
            or (limits.iterations is not None and self._solver.iteration >= limits.iterations)
            or (
                limits.target_bb is not None and reached is not None and reached <= limits.target_bb
            )
        )

    def _save_due(self, now: float) -> bool:
        patience = max(_FIRST_SAVE, self._save_cost / _SHARE_OF_SAVES)
        return now - self._saved > min(patience, 60 * self._recipe.limits.checkpoint_minutes)

    def _look_due(self, now: float) -> bool:
        patience = max(self._look_cost / _SHARE_OF_LOOKS, self._clock() / _MOST_LOOKS)
        if not self._points:
            patience = min(patience, _FIRST_LOOK)
        return now - self._looked > patience

    # ------------------------------------------------------------------------- looks and saves

    def _figures(self) -> tuple[float | None, float | None]:
        """Exploitability in big blinds, on the tables of training and on other boards."""
        big, kind = float(self._recipe.rules.big_blind), self._recipe.model.kind
        if kind == "cards":
            # Whatever the cards were, the judge's boards are others.
            told = self._model.judge is not None
            return None, self._solver.exploitability() / big if told else None
        own = self._solver.exploitability() / big
        if self._judge is not None:
            return own, self._judge.exploitability(self._solver.plan) / big
        return own, own if self._model.judge is self._model.game else None

    def _look(self) -> Point:
        start = perf_counter()
        figures = self._figures()
        point = Point(self._solver.iteration, self._clock(), *figures)
        self._looked = perf_counter()
        self._look_cost = self._looked - start
        if self._points and self._points[-1].iteration == point.iteration:
            self._points.pop()
        self._points.append(point)
        self._best.hear(point)
        return point

    def _keep(self, since: float) -> None:
        """Save; what that cost is counted from the moment `since`."""
        self._files.write_curve(self._points)
        self._best.write()
        self._solver.save(self._files.checkpoint)
        self._saved = perf_counter()
        self._save_cost = self._saved - since


def finish(trained: Trained, form: str | None = None) -> tuple[Blueprint, SanityReport]:
    """Write the blueprint of a run and the report on it into the run's folder.

    Unless told otherwise its form is `fine`, or for a large one `full`.
    """
    if form is None:
        large = TrainingEstimate.of(trained.recipe).sequences > _MOST_FINE
        form = "full" if large else "fine"
    files, model, best = trained.files, trained.model, trained.best
    facts = {
        "iterations": best.iteration,
        "seconds": round(trained.last.seconds, 1),
        "exploitability_bb": best.exploitability_bb,
        "judged_bb": best.judged_bb,
    }
    blueprint = make_blueprint(
        trained.recipe, model.abstraction, trained.strategy, form, model.classes, facts
    )
    blueprint.save(files.blueprint)
    report = sanity(blueprint)
    files.write(files.sanity, str(report))
    return blueprint, report


def result(trained: Trained) -> dict[str, Any]:
    """The figures of a run, for people and programs."""
    last, best, big = trained.last, trained.best, trained.recipe.rules.big_blind
    return {
        "recipe": trained.recipe.name,
        "fingerprint": trained.recipe.fingerprint,
        "solver": trained.solver.name,
        "iterations": last.iteration,
        "seconds": round(last.seconds, 2),
        "best_iteration": best.iteration,
        "exploitability_bb": best.exploitability_bb,
        "judged_bb": best.judged_bb,
        "last_exploitability_bb": last.exploitability_bb,
        "big_blind_chips": big,
        "interrupted": trained.interrupted,
        "folder": str(trained.folder),
    }

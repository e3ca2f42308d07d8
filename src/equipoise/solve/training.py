"""Training: a recipe run in a folder, watched, interrupted and resumed without loss.

A run's folder holds

    recipe.toml               the recipe, with the limits it was run with
    abstraction.safetensors   the buckets
    checkpoint.safetensors    the solver, as it was a few minutes ago or at the end
    best.safetensors          the best average strategy so far
    curve.csv, curve.png      exploitability against iterations and time
    blueprint.safetensors     the trained strategy (:mod:`.blueprint`)
    sanity.txt                what is odd about it (:mod:`.sanity`)

Exploitability does not fall at every step: now and then a line long unused is entered again, and for a
hundred iterations it is worse than before. So the best average strategy seen is kept, by its figure on
the tables of training, and becomes the blueprint.

Every file is written whole or not at all. A point of the curve is kept before each checkpoint, so that
a resumed run knows its time; it goes on bit for bit as if it had not stopped (on one thread where the
solver samples cards). Ctrl-C ends a run as a limit does: everything is saved, and it can go on later.
"""

from __future__ import annotations

import csv
import io
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, RecipeError
from equipoise.files import written
from equipoise.solve.blueprint import Blueprint, make_blueprint
from equipoise.solve.cardrows import CardStrategy
from equipoise.solve.cardsampling import CardSampling
from equipoise.solve.curve import plot_curves
from equipoise.solve.recipe import Recipe
from equipoise.solve.sanity import SanityReport, sanity
from equipoise.solve.solver import Event, Solver
from equipoise.solve.strategy import Strategy
from equipoise.solve.sweep.tableau import Tableau
from equipoise.solve.trainingmodel import Progress, TrainingEstimate, TrainingModel

_BEST = "best plan"
#: Probabilities up to which a blueprint takes two bytes for each.
_MOST_FINE = 10_000_000
#: Looking at exploitability may take this share of the time.
_SHARE_OF_LOOKS = 0.05
#: Looks in each doubling of the time, about, if they cost nothing.
_MOST_LOOKS = 100
#: Seconds before the first look at the latest, whatever it costs.
_FIRST_LOOK = 90.0
#: Seconds in which a run looks around: at clocks, limits and Ctrl-C.
_GLANCE = 0.5


@dataclass(frozen=True)
class Point:
    """One look at a run."""

    iteration: int
    #: Seconds of training: iterations, looks and checkpoints, those before a resume included.
    seconds: float
    #: Exploitability in big blinds a hand, on the tables of training; None if it cannot be told.
    exploitability_bb: float | None
    #: The same on tables of boards that training did not see.
    judged_bb: float | None = None

    @property
    def best_bb(self) -> float | None:
        """The more honest of the two figures that there is."""
        return self.judged_bb if self.judged_bb is not None else self.exploitability_bb


Listener = Callable[[int, float, Point | None], None]


class RunFolder:
    """The files of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.recipe = self.path / "recipe.toml"
        self.abstraction = self.path / "abstraction.safetensors"
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.best = self.path / "best.safetensors"
        self.curve = self.path / "curve.csv"
        self.picture = self.path / "curve.png"
        self.blueprint = self.path / "blueprint.safetensors"
        self.sanity = self.path / "sanity.txt"

    def prepare(self, recipe: Recipe, resume: bool) -> None:
        """Make the folder; refuse one in which another run lives."""
        if self.recipe.exists():
            kept = Recipe.load(self.recipe)
            if kept.fingerprint != recipe.fingerprint:
                raise RecipeError(
                    f"{self.path} holds a run of {kept.name} that was made otherwise: choose "
                    "another folder with --out"
                )
            if self.checkpoint.exists() and not resume:
                raise RecipeError(
                    f"{self.path} holds a run of {kept.name}: go on with --resume, or choose another "
                    "folder with --out"
                )
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise RecipeError(f"{self.path} is in use: choose another folder with --out")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtefactError(f"cannot make the folder {self.path}: {error.strerror}") from None
        self.write(self.recipe, recipe.toml())

    def write(self, path: Path, text: str) -> None:
        """Write a text file, whole or not at all."""
        with written(path, "w") as file:
            file.write(text)

    def write_curve(self, points: list[Point]) -> None:
        """The curve as CSV."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("iteration", "seconds", "exploitability_bb", "judged_bb"))
        for point in points:
            shown = ("" if value is None else repr(value) for value in
                     (point.exploitability_bb, point.judged_bb))  # fmt: skip
            table.writerow((point.iteration, repr(point.seconds), *shown))
        self.write(self.curve, text.getvalue())

    def read_curve(self) -> list[Point]:
        """The curve as far as it is kept."""

        def figure(text: str) -> float | None:
            return float(text) if text else None

        try:
            with self.curve.open(encoding="utf-8", newline="") as file:
                return [
                    Point(
                        int(row["iteration"]),
                        float(row["seconds"]),
                        figure(row["exploitability_bb"]),
                        figure(row["judged_bb"]),
                    )
                    for row in csv.DictReader(file)
                ]
        except FileNotFoundError:
            return []
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise ArtefactError(f"{self.curve}: damaged ({error}): delete it") from None

    def draw(self, title: str, points: list[Point], unit_chips: float) -> None:
        """The curve as a picture."""
        curves: dict[str, list[Event]] = {"training tables": [], "other boards": []}
        for point in points:
            figures = (point.exploitability_bb, point.judged_bb)
            for events, figure in zip(curves.values(), figures, strict=True):
                if figure is not None:
                    events.append(Event(point.iteration, point.seconds, unit_chips * figure))
        shown = {name: events for name, events in curves.items() if events}
        if shown:
            plot_curves(shown, title, self.picture)


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
    folder: Path
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
        """Take back what is on disk, if it is of this run's past."""
        try:
            manifest, arrays = artefact.read(self._files.best, _BEST)
            plan = arrays["plan"]
            found = [p for p in points if p.iteration == manifest["iteration"]]
        except (ArtefactError, KeyError):
            return
        if found and plan.shape == self._solver.plan.shape:
            self.point = self._written = found[0]
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
            told = {"iteration": self.point.iteration}
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

    def run(self, resume: bool = False, listener: Listener | None = None) -> Trained:
        """Make what is missing, train to the first limit, and save."""
        self.estimate.check(self.files.path)
        self.files.prepare(self.recipe, resume)
        began = time.perf_counter()
        self.model.abstraction.save(self.files.abstraction)
        solver, points = self._solver(resume)
        judge = self._judge(solver)
        best = _Best(self.files, solver)
        best.resume(points)
        self.building_seconds = time.perf_counter() - began
        with _stoppable() as stopped:
            interrupted = self._loop(solver, judge, points, best, listener, stopped)
        title = f"{self.recipe.name}: {solver.name}"
        self.files.draw(title, points, float(self.recipe.rules.big_blind))
        return Trained(
            self.recipe,
            self.files.path,
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
                f"{solver.iteration:,}: start anew with another --out"
            )
        return solver, points

    def _look(self, solver: Solver, judge: Tableau | None, seconds: float) -> Point:
        big = float(self.recipe.rules.big_blind)
        figures: list[float | None] = [None, None]
        if not (self.recipe.model.kind == "cards" and self.model.judge is None):
            figures[0] = solver.exploitability() / big
            if self.recipe.model.kind == "cards":
                # Whatever the cards were, the judge's boards are others.
                figures.reverse()
            elif self.model.judge is self.model.game:
                figures[1] = figures[0]
        if judge is not None:
            figures[1] = judge.exploitability(solver.plan) / big
        return Point(solver.iteration, seconds, figures[0], figures[1])

    def _loop(
        self,
        solver: Solver,
        judge: Tableau | None,
        points: list[Point],
        best: _Best,
        listener: Listener | None,
        stopped: Callable[[], bool],
    ) -> bool:
        limits = self.recipe.limits
        # The first look loads kernels, which no later one does; clocks start after it.
        self._look(solver, judge, 0.0)
        start = time.perf_counter()
        self._look(solver, judge, 0.0)
        cost, chunk = time.perf_counter() - start, 1
        began = time.perf_counter() - (points[-1].seconds if points else 0.0)
        looked = saved = time.perf_counter()

        def clock() -> float:
            return time.perf_counter() - began

        def look() -> Point:
            nonlocal looked, cost
            start = time.perf_counter()
            point = self._look(solver, judge, clock())
            point = Point(point.iteration, clock(), point.exploitability_bb, point.judged_bb)
            looked = time.perf_counter()
            cost = looked - start
            if points and points[-1].iteration == point.iteration:
                points.pop()
            points.append(point)
            best.hear(point)
            return point

        def keep() -> None:
            nonlocal saved
            self.files.write_curve(points)
            best.write()
            solver.save(self.files.checkpoint)
            saved = time.perf_counter()

        def met() -> bool:
            reached = points[-1].best_bb if points else None
            return (
                (limits.minutes is not None and clock() >= 60 * limits.minutes)
                or (limits.iterations is not None and solver.iteration >= limits.iterations)
                or (
                    limits.target_bb is not None
                    and reached is not None
                    and reached <= limits.target_bb
                )
            )

        while not met() and not stopped():
            count = chunk
            if limits.iterations is not None:
                count = min(count, limits.iterations - solver.iteration)
            start = time.perf_counter()
            solver.advance(count)
            now = time.perf_counter()
            # Chunks of half a glance keep clocks, bars and Ctrl-C responsive.
            if now - start < _GLANCE / 4:
                chunk *= 2
            elif now - start > _GLANCE:
                chunk = max(1, chunk // 2)
            point = None
            due = now - saved > 60 * limits.checkpoint_minutes
            patience = max(cost / _SHARE_OF_LOOKS, clock() / _MOST_LOOKS)
            if not points:
                patience = min(patience, _FIRST_LOOK)
            if due or now - looked > patience:
                point = look()
            if due:
                keep()
            if listener is not None:
                listener(solver.iteration, clock(), point)
        if not points or points[-1].iteration != solver.iteration:
            point = look()
            if listener is not None:
                listener(solver.iteration, point.seconds, point)
        keep()
        return stopped() and not met()


def finish(trained: Trained, form: str | None = None) -> tuple[Blueprint, SanityReport]:
    """Write the blueprint of a run and the report on it into the run's folder.

    Unless told otherwise its form is `fine`, or for a large one `full`.
    """
    if form is None:
        large = TrainingEstimate.of(trained.recipe).sequences > _MOST_FINE
        form = "full" if large else "fine"
    files, model, best = RunFolder(trained.folder), trained.model, trained.best
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

"""Training: a recipe run in a folder, watched, interrupted and resumed without loss.

What the folder holds, and whose it is, says :mod:`.folder`.

Exploitability does not fall at every step: now and then a line long unused is entered again, and for a
hundred iterations it is worse than before. So the best average strategy seen is kept, by its figure on
the tables of training, and becomes the blueprint.

Every file is written whole or not at all. The first checkpoint comes after ten seconds, later ones as
often as a twentieth of the time allows: that much is lost when a run is killed. A point of the curve is
kept before each, so that a resumed run knows its time; it goes on bit for bit as if it had not stopped
(on one thread where the solver samples cards). A stop, or Ctrl-C, ends a run as a limit does:
everything is saved, and it can go on later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import ArtefactError, RecipeError
from equipoise.games.betting import Betting
from equipoise.run import Event, Figures, Listener, LooksByCost, Loop, Saves, Stop
from equipoise.solve.sampling.mccfr import BEGUN, PublicSampling
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.strategies.postprocessing import PostProcessing, Processed
from equipoise.solve.strategies.strategy import Strategy
from equipoise.solve.training.blueprint import Blueprint, make_blueprint
from equipoise.solve.training.carried import CarriedStrategy
from equipoise.solve.training.folder import Point, RunFolder
from equipoise.solve.training.model import TrainingEstimate, TrainingModel
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
#: Seconds before the first save, and between two at the least.
_FIRST_SAVE = 10.0


@dataclass(frozen=True)
class Trained(Columnar):
    """How a run ended; as a table, its curve."""

    recipe: Recipe
    files: RunFolder
    model: TrainingModel
    solver: Solver
    points: list[Point]
    #: The look at which the strategy was best, or the last one if that cannot be told.
    best: Point
    #: The average strategy as it was then.
    strategy: Strategy
    #: Whether somebody stopped it before its limit.
    interrupted: bool
    #: How the work was divided, where it was.
    cluster: dict[str, Any]

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return self.files.path

    @property
    def last(self) -> Point:
        """The last look."""
        return self.points[-1]

    def columns(self) -> dict[str, list[Any]]:
        """One row a look at the exploitability."""
        return columns_of(asdict(point) for point in self.points)

    def caption(self) -> str:
        """Recipe and solver."""
        return f"{self.recipe.name} by {self.solver.name}"

    def to_dict(self) -> dict[str, Any]:
        """The figures of the run, for people and programs."""
        last, best = self.last, self.best
        return {
            "recipe": self.recipe.name,
            "fingerprint": self.recipe.fingerprint,
            "solver": self.solver.name,
            "iterations": last.iteration,
            "seconds": round(last.seconds, 2),
            "best_iteration": best.iteration,
            "exploitability_bb": best.exploitability_bb,
            "judged_bb": best.judged_bb,
            "last_exploitability_bb": last.exploitability_bb,
            "big_blind_chips": self.recipe.rules.big_blind,
            "interrupted": self.interrupted,
            "folder": str(self.folder),
        } | ({"cluster": self.cluster} if self.cluster else {})


class _Best:
    """The best plan so far, in memory and on disk, where the solver has one."""

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
        now = self._solver.plan
        fits = now is not None and plan.shape == now.shape
        if fits and point.exploitability_bb is not None:
            self.point = self._written = point
            self._plan = plan

    def hear(self, point: Point) -> None:
        """Keep the solver's plan if it is the best so far."""
        figure = point.exploitability_bb
        known = None if self.point is None else self.point.exploitability_bb
        if figure is None or (known is not None and figure > known):
            return
        plan = self._solver.plan
        if plan is not None:
            if self._plan is None:
                self._plan = np.empty_like(plan)
            np.copyto(self._plan, plan)
            self.point = point

    def write(self) -> None:
        """Put it on disk, if what is there is not it already."""
        if self._plan is not None and self.point is not None and self.point != self._written:
            told = {"iteration": self.point.iteration, "point": asdict(self.point)}
            artefact.write(self._files.best, _BEST, {}, {"plan": self._plan}, **told)
            self._written = self.point

    def strategy(self) -> Strategy:
        """The strategy to play."""
        if self._plan is None:
            return self._solver.average_strategy()
        return self._solver.strategy_of(self._plan)


class TrainingRun:
    """One run of a recipe.

    `progress` hears what is being made before the run, the listener of :meth:`run` of the run itself.
    `start` is a blueprint of the same rules and buckets whose strategy the run begins with, carried to the
    recipe's bet sizes if it has others; it counts as `counts` iterations. It begins as it is `played`: what
    an average keeps of its first iterations need not be learnt to be wrong once more.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: str | Path | None = None,
        *,
        threads: int | None = None,
        progress: Listener | None = None,
        workers: int | None = None,
        address: str | None = None,
        start: Blueprint | None = None,
        counts: int | None = None,
        played: PostProcessing | None = None,
    ) -> None:
        self.recipe, self.start, self.counts = recipe, start, counts
        self.played = played or PostProcessing()
        self.files = RunFolder(folder if folder is not None else f"{recipe.name}.run")
        buckets = None if start is None else start.abstraction
        self.model = TrainingModel(
            recipe, threads, progress, buckets, workers=workers, address=address
        )
        self.estimate = TrainingEstimate.of(recipe, self.model.threads)
        #: Seconds that buckets and tables took.
        self.building_seconds = 0.0
        self._running: Solver | None = None

    def check(self, *, resume: bool = False, overwrite: bool = False) -> None:
        """Refuse a run that does not fit, or whose folder is not its own."""
        if self.start is not None:
            _check_start(self.recipe, self.start.recipe, resume)
        self.files.check(self.recipe, resume=resume, overwrite=overwrite)
        self.estimate.check(self.files.path)

    def run(
        self,
        resume: bool = False,
        listener: Listener | None = None,
        *,
        overwrite: bool = False,
        stop: Stop | None = None,
    ) -> Trained:
        """Make what is missing, train to the first limit or until `stop`, and save.

        `resume` goes on with the run in the folder, `overwrite` replaces it. What can be refused is
        refused before anything is made.
        """
        self.check(resume=resume, overwrite=overwrite)
        with self.files.held():
            self.files.prepare(self.recipe, resume=resume, overwrite=overwrite)
            return self._run(resume, listener, stop)

    def report(self) -> dict[str, Any]:
        """How the work that is under way is divided, where it is."""
        return {} if self._running is None else self._running.report()

    def _run(self, resume: bool, listener: Listener | None, stop: Stop | None) -> Trained:
        began = perf_counter()
        self.model.abstraction.save(self.files.abstraction)
        solver, points = self._solver(resume)
        kept = _Kept(self, solver, points)
        if resume:
            kept.best.resume(points)
        self.building_seconds = perf_counter() - began
        loop, self._running = kept.loop(), solver
        try:
            loop.run(listener, stop)
            cluster = solver.report()
            strategy = kept.best.strategy()
        finally:
            self._running = None
            solver.close()
        title = f"{self.recipe.name}: {solver.name}"
        self.files.draw(title, points, float(self.recipe.rules.big_blind))
        return Trained(
            self.recipe,
            self.files,
            self.model,
            solver,
            points,
            kept.best.point or points[-1],
            strategy,
            loop.stopped,
            cluster,
        )

    def _begun(self, start: Blueprint) -> Callable[[int], NDArray[Any]]:
        """What each decision begins with, carried from other sizes where the menu is another one."""
        played = Processed(start, self.played)
        if start.recipe.menu == self.recipe.menu:
            return played.rows
        return CarriedStrategy(played, Betting.build(self.recipe.rules, self.recipe.menu)).rows

    def _solver(self, resume: bool) -> tuple[Solver, list[Point]]:
        if not (resume and self.files.checkpoint.exists()):
            solver = self.model.solver()
            if self.start is not None:
                assert isinstance(solver, PublicSampling)
                solver.begin_with(self._begun(self.start), self.counts or BEGUN)
            return solver, []
        solver = self.model.load_solver(self.files.checkpoint)
        points = [p for p in self.files.read_curve() if p.iteration <= solver.iteration]
        if not points or points[-1].iteration != solver.iteration:
            raise ArtefactError(
                f"{self.files.curve}: does not reach the checkpoint's iteration "
                f"{solver.iteration:,}: start anew with --overwrite or another --out"
            )
        return solver, points


def _check_start(recipe: Recipe, other: Recipe, resume: bool) -> None:
    """Refuse to begin with a strategy that is not one of the same rules and buckets."""
    if resume:
        raise RecipeError("a run that goes on has begun already: give --from or --resume, not both")
    if recipe.solver != PublicSampling.name:
        raise RecipeError(
            f"solver.name = {recipe.solver!r} begins from nothing: leave --from out, or use a recipe "
            f"whose solver is {PublicSampling.name!r}"
        )
    same = (recipe.rules, recipe.abstraction, recipe.model)
    if same != (other.rules, other.abstraction, other.model):
        raise RecipeError(
            f"the blueprint of {other.name} has other rules or buckets than {recipe.name}: begin with one "
            "whose recipe differs in sizes, solver and limits alone"
        )
    if recipe.rules.limit and recipe.menu != other.menu:
        raise RecipeError(
            f"the blueprint of {other.name} has another menu than {recipe.name}, and limit bets have one "
            "size: begin with a blueprint of the same menu"
        )


class _Kept:
    """What a run keeps as it goes: the curve, the best plan and the solver."""

    def __init__(self, training: TrainingRun, solver: Solver, points: list[Point]) -> None:
        self._recipe, self._model, self._files = training.recipe, training.model, training.files
        self._solver, self._points = solver, points
        judge = self._model.judge
        #: Exploitability on boards that training does not see.
        self._judged = None if judge is None else solver.measure_in(judge)
        self._big = float(self._recipe.rules.big_blind)
        self.best = _Best(self._files, solver)

    def loop(self) -> Loop:
        """The run itself: looks and saves by what they cost, all of them on the clock."""
        first = _FIRST_LOOK if not self._points else float("inf")
        return Loop(
            self._solver,
            self._recipe.limit.in_chips(pot=0.0, big_blind=self._big),
            self._figures,
            record=self._record,
            looks=LooksByCost(_SHARE_OF_LOOKS, _MOST_LOOKS, first),
            saves=Saves(self._save, _FIRST_SAVE, self._recipe.checkpoint_seconds, timed=True),
            since=self._points[-1].event(self._big) if self._points else None,
        )

    def _figures(self) -> Figures:
        """Exploitability in chips, on the tables of training and on other boards."""
        own = None if self._model.game is None else self._solver.exploitability()
        if self._judged is None:
            return own, None
        return own, own if self._model.judge is self._model.game else self._judged()

    def _record(self, event: Event) -> None:
        point = Point.of(event, self._big)
        if self._points and self._points[-1].iteration == point.iteration:
            self._points.pop()
        self._points.append(point)
        self.best.hear(point)

    def _save(self) -> None:
        self._files.write_curve(self._points)
        self.best.write()
        self._solver.save(self._files.checkpoint)


def finish(trained: Trained, form: str | None = None) -> tuple[Blueprint, SanityReport]:
    """Write the blueprint of a run and the report on it into the run's folder.

    Unless told otherwise its form is `fine`, of a large one `trim`, or `slim` where cards were
    sampled: their noise is coarser than its steps.
    """
    if form is None:
        large = TrainingEstimate.of(trained.recipe).sequences > _MOST_FINE
        sampled = trained.recipe.model.kind == "cards"
        form = ("slim" if sampled else "trim") if large else "fine"
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


def train(
    recipe: Recipe | str | Path,
    folder: str | Path | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    listener: Listener | None = None,
    stop: Stop | None = None,
) -> Blueprint:
    """The blueprint that a recipe trains, by name, file or object: what `equipoise train` does.

    Everything about the run is kept in `folder`, by default `NAME.run`.
    """
    chosen = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
    training = TrainingRun(chosen, folder, threads=threads, progress=listener)
    training.check(resume=resume, overwrite=overwrite)
    # Nobody else may use the folder until the blueprint of this run is in it.
    with training.files.held():
        trained = training.run(resume, listener, overwrite=overwrite, stop=stop)
        return finish(trained)[0]

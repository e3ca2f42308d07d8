"""Training on tables and on cards: every figure with the paper's, the curves of all solvers together.

Without `full` everything takes some minutes: all solvers on the `quick` recipe, and walks on cards.
With it the recipes of the papers are trained for as long as their targets say, hours in all; `only`
picks jobs by name. Runs live in a folder and go on where they stopped, so that a benchmark may be
interrupted, and one that is finished is only read. Figures are told as they come.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from equipoise.bench.figures import best_seconds, figure
from equipoise.errors import EquipoiseError
from equipoise.games.library.smalldeck import holdem_small
from equipoise.run import Event, Limit
from equipoise.settings import choose
from equipoise.solve.curve import Curve, plot_curves
from equipoise.solve.sampling.mccfr import CardGame, CardSampling
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.training.folder import Point
from equipoise.solve.training.model import TrainingModel
from equipoise.solve.training.recipe import Recipe
from equipoise.solve.training.run import Trained, TrainingRun

_PAPER_MIDDLE = "paper: 0.3 bb with 64 cores"
_PAPER_LARGE = "paper: 0.8 bb"
#: Iterations of sampling on cards that are timed.
_WALKS = 200_000
_SMALL_DECK_SECONDS = 20.0


@dataclass(frozen=True)
class Job:
    """One training run and what it must reach."""

    recipe: str
    #: In place of the recipe's solver.
    solver: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    minutes: float = 60.0
    #: (big blinds a hand, within minutes, what the paper reached).
    targets: tuple[tuple[float, float, str], ...] = ()
    #: Big blinds a hand at which it may stop.
    aim: float | None = None

    @property
    def name(self) -> str:
        """What --only calls it."""
        return f"{self.recipe}:{self.solver or 'own'}"


_SINGLE = {"precision": "float32"}
FULL = (
    Job(
        "tartanian5-m", targets=((0.3, 1, _PAPER_MIDDLE), (0.03, 5, ""), (0.005, 60, "")), aim=0.001
    ),
    Job("tartanian5-m", "egt", {}, targets=((0.1, 60, _PAPER_MIDDLE),), aim=0.05),
    Job("tartanian5-m", "cfr+", _SINGLE, 20),
    Job("tartanian5-m", "fp", _SINGLE, 20),
    Job("tartanian5-m", "board-sampling", {}, 20),
    Job(
        "tartanian5", targets=((0.3, 4, _PAPER_MIDDLE), (0.02, 30, ""), (0.008, 60, "")), aim=0.004
    ),
    Job("tartanian4", targets=((0.8, 3, _PAPER_LARGE), (0.15, 60, "")), aim=0.05),
    *(
        Job(recipe, solver, _SINGLE | more, 15, ((bound, 15, ""),), aim=bound)
        for recipe in ("inot", "fell-omen-1", "fell-omen-2")
        for solver, more, bound in (
            ("fp", {"alternating": True, "start": 10}, 0.01 if recipe == "fell-omen-2" else 0.001),
            ("cfr+", {}, 0.001),
        )
    ),
    # The comparison of the paper on Fell Omen: a response in one branch of the tree at a time.
    Job("fell-omen-1", "branch-fp", _SINGLE, 15, aim=0.001),
)
QUICK = tuple(
    Job("quick", solver, settings, 0.4)
    for solver, settings in (
        (None, {}),
        ("cfr+", _SINGLE),
        ("egt", {}),
        ("fp", _SINGLE),
        ("board-sampling", {}),
    )
)


def run(
    seed: int = 0,
    full: bool = False,
    only: str | None = None,
    minutes: float | None = None,
    out: Path = Path("bench-train"),
) -> dict[str, Any]:
    """Train, each job for at most `minutes`, and compare."""
    jobs = {job.name: job for job in (FULL if full else QUICK)}
    if only is not None:
        wanted = [word.strip() for word in only.split(",")]
        jobs = {name: jobs[choose(name, jobs, "--only")] for name in wanted}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EquipoiseError(f"cannot make the folder {out}: {error.strerror}") from None
    figures: list[dict[str, Any]] = []
    curves: dict[str, dict[str, list[Event]]] = {}
    for job in jobs.values():
        if minutes is not None:
            job = replace(job, minutes=min(minutes, job.minutes))
        for found in _train(job, seed, out, curves):
            _tell(found)
            figures.append(found)
    if only is None:
        for found in (*_walks(), *_small_deck(out)):
            _tell(found)
            figures.append(found)
    return {"suite": "train", "seed": seed, "figures": figures, "pictures": _draw(curves, out)}


def _tell(found: dict[str, Any]) -> None:
    reached = {None: "", True: "  reached", False: "  NOT REACHED"}[found.get("reached")]
    wanted = f"  ({found['target']})" if "target" in found else ""
    value = f"{found['value']:.4g} {found['unit']}"
    print(f"{found['name']}: {value}{wanted}{reached}", file=sys.stderr)


def _train(
    job: Job, seed: int, out: Path, curves: dict[str, dict[str, list[Event]]]
) -> list[dict[str, Any]]:
    recipe = Recipe.shipped(job.recipe).seeded(seed).limited(minutes=job.minutes, target_bb=job.aim)
    if job.solver is not None:
        recipe = recipe.solved_by(job.solver, **job.settings)
    training = TrainingRun(recipe, out / f"{job.name.replace(':', '-')}.run")
    trained = training.run(resume=training.files.holds_run)
    figures = _figures(job, trained)
    if training.building_seconds > 1:
        told = {"at_most": 300.0} if job.recipe.startswith("tartanian5") else {}
        figures.insert(
            0,
            figure(
                f"{job.recipe}: features, buckets and tables that were not in the cache",
                training.building_seconds,
                "s",
                **told,  # type: ignore[arg-type]
            ),
        )
    label = trained.solver.name if job.solver else f"{trained.solver.name} (the recipe's)"
    big = float(recipe.rules.big_blind)
    curves.setdefault(job.recipe, {})[label] = [
        Event(p.iteration, seconds=p.seconds, exploitability_chips=p.best_bb * big)
        for p in trained.points
        if p.best_bb is not None
    ]
    return figures


def _figures(job: Job, trained: Trained) -> list[dict[str, Any]]:
    name, best, last = f"{job.recipe}, {trained.solver.name}", trained.best, trained.last
    figures = []
    for bound, minutes, paper in job.targets:
        first = _first(trained.points, bound)
        told = f" ({paper})" if paper else ""
        figures.append(
            figure(f"{name}: to {bound:g} bb a hand{told}", first / 60, "min", at_most=minutes)
        )
    minutes = last.seconds / 60
    if best.exploitability_bb is not None:
        figures.append(
            figure(f"{name}: best in {minutes:.1f} min, own tables", best.exploitability_bb, "bb")
        )
    if best.judged_bb is not None:
        figures.append(
            figure(f"{name}: best in {minutes:.1f} min, other boards", best.judged_bb, "bb")
        )
    each = last.seconds / max(1, last.iteration)
    figures.append(figure(f"{name}: an iteration, looks included", 1e3 * each, "ms"))
    return figures


def _first(points: list[Point], bound: float) -> float:
    """Seconds until the honest figure was at most `bound`."""
    for point in points:
        if point.best_bb is not None and point.best_bb <= bound:
            return point.seconds
    return float("inf")


def _draw(curves: dict[str, dict[str, list[Event]]], out: Path) -> list[str]:
    """All solvers of a recipe on one picture."""
    pictures = []
    for recipe, by_solver in curves.items():
        path = out / f"{recipe}.png"
        plot_curves(by_solver, f"{recipe}: every solver", path)
        pictures.append(str(path))
    return pictures


def _walks() -> list[dict[str, Any]]:
    """External sampling on real cards with the quick recipe's buckets: speed, and threads."""
    recipe = Recipe.shipped("quick")
    cards = replace(recipe.model, kind="cards", judge=0)
    speeds = {}
    for threads in (1, 2):
        sampled = recipe.solved_by("cards", model=cards)
        solver = TrainingModel(sampled, threads).solver()
        solver.advance(_WALKS)
        speeds[threads] = 2 * _WALKS / best_seconds(partial(solver.advance, _WALKS), 3)
    return [
        figure("sampling on cards: walks, 1 thread", speeds[1], "/s"),
        figure("sampling on cards: 2 threads over 1", speeds[2] / speeds[1], "×", at_least=1.7),
    ]


def _small_deck(out: Path) -> list[dict[str, Any]]:
    """Sampling against CFR+ on hold'em with a small deck, where exploitability is exact."""
    game = holdem_small("flop", menu="50%,100%,a")
    limit = Limit(seconds=_SMALL_DECK_SECONDS)
    curves, figures = {}, []
    pot = 2.0 * game.unit_chips
    for name, solver in (
        ("sampling on cards", CardSampling(CardGame.of(game))),
        ("cfr+", CFRPlus(game)),
    ):
        curve = Curve()
        last = solver.run(limit, curve)
        assert last.exploitability_chips is not None
        curves[name] = curve.points
        share = 100 * last.exploitability_chips / pot
        bound = {"at_most": 1.0} if name != "cfr+" else {}
        figures.append(
            figure(
                f"{game.name}, {name}: after {_SMALL_DECK_SECONDS:g} s",
                share,
                "% of the pot",
                **bound,  # type: ignore[arg-type]
            )
        )
    plot_curves(curves, game.name, out / "small-deck.png")
    return figures

"""`equipoise train`: train a strategy from a recipe."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import (
    MOST_THREADS,
    Address,
    Json,
    check_number,
    check_positive,
    check_seed,
    emit,
    listening,
    progress_bar,
)
from equipoise.cli.stopping import INTERRUPTED, stopped_by_signals
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.run import Event
    from equipoise.solve.training.blueprint import Blueprint
    from equipoise.solve.training.recipe import Recipe
    from equipoise.solve.training.run import Trained, TrainingRun


#: Processes of a cluster.
Workers = Annotated[
    int | None, typer.Option(help="Divide the work among so many processes of a Ray cluster.")
]
#: Where a run begins.
Start = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="Begin with a blueprint of the same buckets, by name or file.",
    ),
]
Counts = Annotated[
    int | None,
    typer.Option(
        "--counts-as", help="With --from: the iterations that its strategy counts as; 12,000."
    ),
]
Played = Annotated[
    str | None,
    typer.Option(
        "--from-played",
        help="With --from: begin with it as so played, by street: raw, threshold 0.2, purify.",
    ),
]
_OF_ADAPTIVE = "train adaptive takes --log, --hands, --features, --estimator, --out"
#: Iterations that a strategy may count as.
_MOST_COUNTED = 10_000_000
#: Options of `train adaptive`.
Logs = Annotated[
    list[Path] | None,
    typer.Option(help="`adaptive`: hands to learn players from, ACPC or PHH; often if needed."),
]
FirstHands = Annotated[
    int | None, typer.Option(help="`adaptive`: learn from the first hands of the logs only.")
]
Phi = Annotated[str, typer.Option(help="`adaptive`: φ: seed, odds, context, full or payoff.")]
Estimator = Annotated[
    str,
    typer.Option(
        help="`adaptive`: newton; the document's: ascent, literal, two-step, two-step-literal."
    ),
]


def train_command(
    recipe: Annotated[
        str, typer.Argument(help="Name of a recipe that ships, or a .toml file.")
    ] = "",
    minutes: Annotated[
        float | None, typer.Option(help="Train this long in all, in place of the recipe's limits.")
    ] = None,
    target_bb: Annotated[
        float | None, typer.Option(help="Stop at this exploitability, in big blinds a hand.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the folder.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; by default NAME.run here.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            callback=check_seed, help="Seed of every random choice; by default the recipe's."
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads; by default all cores.")] = None,
    workers: Workers = None,
    address: Address = None,
    start: Start = None,
    counts: Counts = None,
    played: Played = None,
    log: Logs = None,
    hands: FirstHands = None,
    features: Phi = "full",
    estimator: Estimator = "newton",
    show_list: Annotated[bool, typer.Option("--list", help="List the recipes.")] = False,
    json: Json = False,
) -> None:
    """Train a strategy: buckets, tables, an equilibrium of the game over them, a blueprint.

    \b
    Example: equipoise train quick
    Example: equipoise train tartanian5 --minutes 60 --out tartanian5.run
    Example: equipoise train tartanian5 --resume --minutes 120
    Example: equipoise train claudico --workers 4
    Example: equipoise train flagship --from flagship --minutes 60
    Example: equipoise train adaptive --log match.log --hands 25000 --out players.model

    `adaptive` is no recipe: it fits the model of players that the agent of that name plays with, to logs, or
    without any to a few hands that ship.

    What it takes is printed before it starts. Ctrl-C saves and stops; --resume goes on, also after a
    crash. The folder holds the blueprint, the curve as CSV and PNG, and the sanity report.
    """
    from equipoise.solve.training.recipe import Recipe

    if show_list:
        _list_recipes(json)
        return
    if not recipe:
        raise EquipoiseError("which recipe? `equipoise train --list` shows them")
    if recipe == "adaptive":
        from equipoise.cli.study.players import train_players

        if any((minutes, target_bb, threads, workers, address, start, counts, played, resume)):
            raise EquipoiseError(_OF_ADAPTIVE)
        told = (log or [], hands, features, estimator, out)
        train_players(*told, seed=seed or 0, overwrite=overwrite, json=json)
        return
    if log or hands is not None or (features, estimator) != ("full", "newton"):
        raise EquipoiseError("--log, --hands, --features and --estimator belong to train adaptive")
    check_positive("--minutes", minutes)
    check_positive("--target-bb", target_bb)
    check_number("--threads", threads, 1, MOST_THREADS)
    check_number("--workers", workers, 1, MOST_THREADS)
    chosen = Recipe.load(recipe).limited(minutes=minutes, target_bb=target_bb)
    chosen = chosen if seed is None else chosen.seeded(seed)
    how = _begun(start, counts, played)
    how |= {"threads": threads, "workers": workers, "address": address}
    _train(chosen, out, how, resume=resume, overwrite=overwrite, json=json)


def _blueprint(source: str | None) -> Blueprint | None:
    """The blueprint that a run begins with."""
    if source is None:
        return None
    from equipoise.agents.blueprint.files import load_blueprint

    return load_blueprint(source)


def _begun(start: str | None, counts: int | None, played: str | None) -> dict[str, Any]:
    """What a run begins with, checked."""
    from equipoise.solve.strategies.postprocessing import PostProcessing

    if start is None and (counts is not None or played is not None):
        raise EquipoiseError(
            "--counts-as and --from-played say how the blueprint of --from is taken: give it, too"
        )
    check_number("--counts-as", counts, 1, _MOST_COUNTED)
    rules = None if played is None else PostProcessing.parse(played)
    return {"start": _blueprint(start), "counts": counts, "played": rules}


def _train(
    chosen: Recipe,
    out: Path | None,
    how: dict[str, Any],
    *,
    resume: bool,
    overwrite: bool,
    json: bool,
) -> None:
    """Train by a recipe, write what came out and show it."""
    from equipoise.solve.training.run import TrainingRun

    with stopped_by_signals() as stop, progress_bar(chosen.name, quiet=json) as bar:
        training = TrainingRun(chosen, out, progress=listening(bar), **how)
        training.check(resume=resume, overwrite=overwrite)
        _say(f"{chosen.name}: {training.estimate}", json)
        # Nobody else may use the folder until the blueprint of this run is in it.
        with training.files.held():
            teller = _Teller(training, bar, json)
            trained = training.run(resume, teller, overwrite=overwrite, stop=stop)
            _say("writing the blueprint and looking it over ...", json)
            data = _finish(trained, training)
    emit(data, json, lambda: _shown(data))
    if trained.interrupted:
        _say_how_to_go_on(trained, json)
        raise typer.Exit(INTERRUPTED)


def _say_how_to_go_on(trained: Trained, json: bool) -> None:
    _say(
        f"stopped, and saved in {trained.folder}; go on with\n    equipoise "
        f"{shlex.join(_resumed(sys.argv[1:]))}",
        json,
    )


#: Options that say how a run begins.
_OF_START = {"--from", "--counts-as", "--from-played"}


def _resumed(words: list[str]) -> list[str]:
    """The words that go on with a run: it has begun, and is not begun anew.

    >>> _resumed(["train", "flagship", "--from", "mine.run", "--minutes", "9", "--overwrite"])
    ['train', 'flagship', '--minutes', '9', '--resume']
    >>> _resumed(["train", "flagship", "--from=mine.run", "--counts-as", "30000", "--from-played", "raw"])
    ['train', 'flagship', '--resume']
    """
    kept, words = [], [word for word in words if word not in ("--resume", "--overwrite")]
    for before, word in zip(["", *words], words, strict=False):
        if not {before, word.partition("=")[0]} & _OF_START:
            kept.append(word)
    return [*kept, "--resume"]


def _say(line: str, json: bool) -> None:
    if not json:
        print(line, file=sys.stderr)


#: Seconds between two questions to workers elsewhere.
_ASKING = 10.0


class _Teller:
    """Shows how a run goes: a bar, and where there is no terminal a line a minute."""

    def __init__(self, training: TrainingRun, bar: Any, json: bool) -> None:
        self._training, self._bar, self._json = training, bar, json
        self._said = -60.0
        self._asked = -_ASKING
        self._note = ""

    def __call__(self, event: Event) -> None:
        recipe, seconds = self._training.recipe, event.seconds
        if event.honest_chips is not None:
            self._note = _figures(event, float(recipe.rules.big_blind))
        elif seconds - self._asked >= _ASKING and (told := self._training.report()):
            self._note, self._asked = _divided(told), seconds
        self._bar(seconds, recipe.limit.seconds, f"{event.done:,} its {self._note}")
        something = self._note or seconds >= 60
        if something and not sys.stderr.isatty() and seconds - self._said >= 60:
            _say(f"{seconds:8.1f} s {event.done:>9,} iterations  {self._note}", self._json)
            self._said = seconds


def _divided(told: dict[str, Any]) -> str:
    """How a run goes that is divided among workers."""
    rounds, workers = told["rounds_per_second"], told["workers"]
    if rounds is None:
        return ""
    walks = ", ".join(f"{worker['walks_per_second'] or 0:,.0f}" for worker in workers)
    moved = sum(worker["bytes_moved"] for worker in workers) / 1e6
    memory = ", ".join(f"{worker['memory_bytes'] / 1e6:,.0f}" for worker in workers)
    return f"{rounds:.1f} rounds/s; {walks} walks/s; {moved:,.0f} MB moved; {memory} MB of memory"


def _figures(event: Event, big_blind: float) -> str:
    parts = []
    if event.exploitability_chips is not None:
        parts.append(f"{event.exploitability_chips / big_blind:.4g} bb")
    if event.judged_chips is not None:
        parts.append(f"{event.judged_chips / big_blind:.4g} bb on other boards")
    return ", ".join(parts)


def _finish(trained: Trained, training: TrainingRun) -> dict[str, Any]:
    from equipoise.solve.training.run import finish

    blueprint, report = finish(trained)
    judge = trained.model.judge or trained.model.game
    judged_bb = None
    if judge is not None:
        judged_bb = blueprint.in_game(judge).exploitability() / trained.recipe.rules.big_blind
    return trained.to_dict() | {
        "building_seconds": round(training.building_seconds, 1),
        "blueprint": str(training.files.blueprint),
        "blueprint_bytes": training.files.blueprint.stat().st_size,
        "blueprint_bb": judged_bb,
        "sanity": report.to_dict() | {"text": str(report)},
    }


def _shown(data: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table(title=f"equipoise train {data['recipe']}", show_header=False)
    for key, value in data.items():
        if value is None or isinstance(value, dict):
            continue
        table.add_row(
            key.replace("_", " "), f"{value:z,.6g}" if isinstance(value, float) else str(value)
        )
    return Group(table, data["sanity"]["text"])


def _list_recipes(json: bool) -> None:
    from equipoise.solve.training.recipe import Recipe, names

    recipes = [Recipe.shipped(name) for name in names()]
    data = {"recipes": {one.name: one.about for one in recipes}}

    def table() -> RenderableType:
        from rich.table import Table

        shown = Table("recipe", "what it trains", "minutes", title="recipes")
        for one in recipes:
            seconds = one.limit.seconds
            shown.add_row(one.name, one.about, f"{seconds / 60:g}" if seconds else "")
        return shown

    emit(data, json, table)

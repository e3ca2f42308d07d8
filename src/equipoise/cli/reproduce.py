"""`equipoise reproduce`: the experiments of a document, its numbers beside ours."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from equipoise.cli.output import (
    MOST_THREADS,
    Json,
    Overwrite,
    Seed,
    check_number,
    emit,
    listening,
    progress_bar,
)
from equipoise.errors import EquipoiseError

#: Experiments: a module of bench/reproduce with `run(seed, quick, progress)`, and one of
#: bench/reports with `report` and `picture`.
EXPERIMENTS = {
    "adaptive": ("adaptive.experiments", "adaptive_report"),
    "agents-suite": ("agents_suite", "agents_report"),
    "translation": ("translation", "translation_report"),
    "purification": ("purification", "purification_report"),
    "thresholding": ("thresholding", "thresholding_report"),
    "fell-omen": ("fellomen", "fellomen_report"),
    "board-classes": ("boardclasses", "boardclasses_report"),
    "tartanian5": ("tartanian", "tartanian_report"),
    "subgames": ("subgames.experiments", "subgames_report"),
    "claudico": ("claudico.experiments", "claudico_report"),
    "safe": ("safe", "safe_report"),
    "dbbr": ("dbbr", "dbbr_report"),
    "strength": ("strength", "strength_report"),
}


def reproduce_command(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, wider errors.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this file.")] = None,
    hands: Annotated[
        int | None, typer.Option(help="Hands of each match, where matches are played.")
    ] = None,
    blueprint: Annotated[
        list[str] | None,
        typer.Option(help="Play a blueprint from a file: NAME=FILE, as often as needed."),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that play matches.")] = 1,
    without_luck: Annotated[
        bool, typer.Option("--aivat", help="Also take luck out of matches (AIVAT).")
    ] = False,
    log: Annotated[
        list[Path] | None, typer.Option(help="A log of hands, where players are predicted.")
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(help="Hands of the log to fit to, as 1-25000; five sixths if not given."),
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Hands of the log to hold out, as 25001-30000.")
    ] = None,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Do a document's experiments again, and print its numbers beside what came out.

    \b
    Example: equipoise reproduce adaptive --log match.log --plot players.png
    Example: equipoise reproduce adaptive --log match.log --fit 5001-30000 --test 1-5000
    Example: equipoise reproduce adaptive --hands 10000 --plot curves.png
    Example: equipoise reproduce agents-suite --quick --plot suite.png
    Example: equipoise reproduce translation --plot mappings.png
    Example: equipoise reproduce purification
    Example: equipoise reproduce thresholding --plot thresholds.png
    Example: equipoise reproduce fell-omen --hands 60000 --workers 2
    Example: equipoise reproduce board-classes --plot classes.png
    Example: equipoise reproduce tartanian5 --quick --blueprint tartanian5=my.run
    Example: equipoise reproduce subgames --json
    Example: equipoise reproduce claudico --hands 1000 --aivat --plot buckets.png
    Example: equipoise reproduce safe --quick --plot curves.png
    Example: equipoise reproduce dbbr --plot learning.png
    Example: equipoise reproduce strength --quick --workers 2 --json
    """
    from equipoise.cards.chart import PICTURES
    from equipoise.files import check_target

    if experiment not in EXPERIMENTS:
        raise EquipoiseError(f"no experiment {experiment!r}: choose from {', '.join(EXPERIMENTS)}")
    if plot is not None:
        check_target(plot, overwrite=overwrite, suffixes=PICTURES, what="--plot")
    run, report = EXPERIMENTS[experiment]
    suite = import_module(f"equipoise.bench.reproduce.{run}")
    shown = import_module(f"equipoise.bench.reports.{report}")
    stretches = {"fit": _stretch("--fit", fit), "test": _stretch("--test", test)}
    told = hands, blueprint or [], workers, without_luck, log or []
    options = _options(experiment, suite, *told, stretches)
    # On stderr, and on a terminal only: a long experiment shows how far it is with --json too.
    with progress_bar(experiment, quiet=False) as bar:
        data = suite.run(seed, quick, listening(bar), **options)
    if plot is not None:
        shown.picture(data, plot)
        data["plot"] = str(plot)
    emit(data, json, lambda: shown.report(data))


def _options(
    experiment: str,
    suite: ModuleType,
    hands: int | None,
    blueprints: list[str],
    workers: int,
    without_luck: bool,
    logs: list[Path],
    stretches: dict[str, tuple[int, int] | None],
) -> dict[str, Any]:
    """What the experiment is told besides seed and effort; what it does not take is refused."""
    check_number("--hands", hands, 2, 1_000_000_000)
    check_number("--workers", workers, 1, MOST_THREADS)
    if hands is not None and hands % 2:
        raise EquipoiseError(f"--hands {hands}: give an even number, two for each deal")
    from equipoise.settings import choose
    from equipoise.solve.training.recipe import names as recipe_names

    files = {}
    for text in blueprints:
        name, equals, file = text.partition("=")
        if not (name and equals and file):
            raise EquipoiseError(f"--blueprint {text}: write NAME=FILE, as quick=quick.run")
        files[choose(name, recipe_names(), "--blueprint")] = file
    given = {
        "hands": (hands, hands is not None),
        "blueprints": (files, bool(files)),
        "workers": (workers, workers != 1),
        "without_luck": (without_luck, without_luck),
        "log": (logs, bool(logs)),
        **{name: (hands, hands is not None) for name, hands in stretches.items()},
    }
    known = signature(suite.run).parameters
    for name, (_, asked) in given.items():
        if asked and name not in known:
            option = {"blueprints": "blueprint", "without_luck": "aivat"}.get(name, name)
            raise EquipoiseError(f"reproduce {experiment}: it has no use for --{option}")
    return {name: value for name, (value, asked) in given.items() if asked}


def _stretch(option: str, text: str | None) -> tuple[int, int] | None:
    """The first and the last hand of a stretch."""
    if text is None:
        return None
    first, dash, last = text.partition("-")
    if not (dash and first.isascii() and first.isdigit() and last.isascii() and last.isdigit()):
        raise EquipoiseError(f"{option} {text[:40]}: write the first and the last hand, as 1-25000")
    return int(first[:12]), int(last[:12])

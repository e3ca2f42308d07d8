"""`equipoise reproduce`: the experiments of a document, its numbers beside ours."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.output import Json, Seed, check_places, emit, progress_bar
from equipoise.errors import EquipoiseError

#: Experiments: a module with `run(seed, quick, progress)`, and one with `report` and `picture`.
EXPERIMENTS = {
    "agents-suite": ("equipoise.bench.agents_suite", "equipoise.bench.agents_report"),
    "translation": ("equipoise.bench.translation", "equipoise.bench.translation_report"),
    "purification": ("equipoise.bench.purification", "equipoise.bench.purification_report"),
}


def reproduce_command(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, wider errors.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this file.")] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Do a document's experiments again, and print its numbers beside what came out.

    \b
    Example: equipoise reproduce agents-suite --quick --plot suite.png
    Example: equipoise reproduce translation --plot mappings.png
    Example: equipoise reproduce purification
    """
    if experiment not in EXPERIMENTS:
        raise EquipoiseError(f"no experiment {experiment!r}: choose from {', '.join(EXPERIMENTS)}")
    check_places(plot)
    suite, shown = (import_module(name) for name in EXPERIMENTS[experiment])
    with progress_bar(experiment, quiet=json) as bar:
        data = suite.run(seed, quick, lambda what, done, total: bar(done, total, what))
    if plot is not None:
        shown.picture(data, plot)
        data["plot"] = str(plot)
    emit(data, json, lambda: shown.report(data))

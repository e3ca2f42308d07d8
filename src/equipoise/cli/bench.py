"""`equipoise bench`: figures, each beside what it is compared with."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Seed, check_positive, emit
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.table import Table

#: Suites, each a module of `equipoise.bench` with a function `run(seed)`.
SUITES = ("cards", "games", "solve", "discounting", "train", "arena", "agents")


def bench_command(
    suite: Annotated[str, typer.Argument(help=f"What to measure: {', '.join(SUITES)}.")],
    full: Annotated[
        bool, typer.Option("--full", help="For train: the recipes of the papers, hours in all.")
    ] = False,
    only: Annotated[
        str | None, typer.Option(help="For train: some jobs, such as 'tartanian5-m:own,inot:fp'.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="For train: minutes a job may take, less than its own.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="For train: folder of the runs, by default bench-train.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure one part of the project and print every figure with what it is compared with.

    Peers that are not installed are left out; `make bench` installs them.

    \b
    Example: equipoise bench cards --json
    Example: equipoise bench train --full --only tartanian5-m:own
    """
    if suite not in SUITES:
        raise EquipoiseError(f"no benchmark {suite!r}: choose from {', '.join(SUITES)}")
    check_positive("--minutes", minutes)
    options: dict[str, Any] = {}
    if suite == "train":
        options = {"full": full, "only": only, "minutes": minutes}
        options |= {} if out is None else {"out": out}
    elif full or (only, minutes, out) != (None, None, None):
        raise EquipoiseError(
            f"bench {suite}: --full, --only, --minutes and --out are for `bench train`"
        )
    data = import_module(f"equipoise.bench.{suite}").run(seed, **options)
    emit(data, json, lambda: _figures(data))


def _figures(data: dict[str, Any]) -> Table:
    from rich.table import Table

    table = Table(title=f"equipoise bench {data['suite']}")
    for column in ("figure", "measured", "must reach", "reached"):
        table.add_column(column, overflow="fold")
    for figure in data["figures"]:
        reached = figure.get("reached")
        table.add_row(
            figure["name"],
            f"{figure['value']:z,.4g} {figure['unit']}",
            figure.get("target", ""),
            "" if reached is None else "yes" if reached else "no",
        )
    return table

"""`equipoise bench`: figures, each beside what it is compared with."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Seed, emit
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.table import Table

#: Suites, each a module of `equipoise.bench` with a function `run(seed)`.
SUITES = ("cards", "games", "solve", "discounting", "arena")


def bench_command(
    suite: Annotated[str, typer.Argument(help=f"What to measure: {', '.join(SUITES)}.")],
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure one part of the project and print every figure with what it is compared with.

    Peers that are not installed are left out; `make bench` installs them.

    Example: equipoise bench cards --json
    """
    if suite not in SUITES:
        raise EquipoiseError(f"no benchmark {suite!r}: choose from {', '.join(SUITES)}")
    data = import_module(f"equipoise.bench.{suite}").run(seed)
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
            f"{figure['value']:,.4g} {figure['unit']}",
            figure.get("target", ""),
            "" if reached is None else "yes" if reached else "no",
        )
    return table

"""`equipoise bench`: figures, each beside what it is compared with."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Seed, check_positive, emit, listening, progress_bar
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

#: Suites, each a module of `equipoise.bench` with a function `run(seed)`.
SUITES = (
    "cards",
    "games",
    "solve",
    "discounting",
    "train",
    "search",
    "arena",
    "agents",
    "adaptive",
    "serve",
    "web",
    "fuzz",
)


def bench_command(
    suite: Annotated[str, typer.Argument(help=f"What to measure: {', '.join(SUITES)}.")],
    full: Annotated[
        bool, typer.Option("--full", help="For train: the recipes of the papers, hours in all.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(
            help="For train: some jobs, such as 'tartanian5-m:own,inot:fp'. For search: some parts, such "
            "as 'threads'. For fuzz: some readers."
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="For train: minutes a job may take, less than its own.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="For train: folder of the runs, by default bench-train.")
    ] = None,
    inputs: Annotated[
        int | None, typer.Option(help="For fuzz: inputs to read, by default 20,000.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="For fuzz: processes that read, by default one a core.")
    ] = None,
    screenshots: Annotated[
        Path | None, typer.Option(help="For web: make the documentation's pictures in this folder.")
    ] = None,
    opened: Annotated[
        Path | None,
        typer.Option("--open", help="For web: open and walk this saved solution in a browser."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure one part of the project and print every figure with what it is compared with.

    Peers that are not installed are left out; `make bench` installs them.

    \b
    Example: equipoise bench cards --json
    Example: equipoise bench train --full --only tartanian5-m:own
    Example: equipoise bench search --only threads
    Example: equipoise bench web --open flop.solution
    Example: equipoise bench fuzz --inputs 1000000 --seed 7
    """
    if suite not in SUITES:
        raise EquipoiseError(f"no benchmark {suite!r}: choose from {', '.join(SUITES)}")
    check_positive("--minutes", minutes)
    options: dict[str, Any] = {}
    if suite != "fuzz" and (inputs, workers) != (None, None):
        raise EquipoiseError(f"bench {suite}: --inputs and --workers are for `bench fuzz`")
    if suite == "fuzz":
        if full or (minutes, out) != (None, None):
            raise EquipoiseError("bench fuzz: it takes --inputs, --workers and --only")
        _fuzz(20_000 if inputs is None else inputs, workers, only, seed, json)
        return
    if (screenshots, opened) != (None, None) and suite != "web":
        raise EquipoiseError(f"bench {suite}: --screenshots and --open are for `bench web`")
    if suite == "web":
        if None not in (screenshots, opened):
            raise EquipoiseError("bench web: pictures or a solution: give --screenshots or --open")
        options = {"screenshots": screenshots, "opened": opened}
    if suite == "train":
        options = {"full": full, "only": only, "minutes": minutes}
        options |= {} if out is None else {"out": out}
    elif suite == "search" and not full and (minutes, out) == (None, None):
        _search(only, seed, json)
        return
    elif full or (only, minutes, out) != (None, None, None):
        raise EquipoiseError(
            f"bench {suite}: --full, --minutes and --out are for `bench train`, --only also for "
            "`bench search` and `bench fuzz`"
        )
    data = import_module(f"equipoise.bench.{suite}").run(seed, **options)
    emit(data, json, lambda: _figures(data))


def _search(only: str | None, seed: int, json: bool) -> None:
    """Run the benchmark of searches, part by part."""
    from equipoise.bench.search import run

    with progress_bar("search", json) as progress:
        data = run(seed, only, listening(progress))
    emit(data, json, lambda: _figures(data))


def _fuzz(inputs: int, workers: int | None, only: str | None, seed: int, json: bool) -> None:
    """Run the fuzzer; anything but inputs accepted or refused is exit code 1."""
    from rich.console import Group

    from equipoise.bench.fuzz.fuzz import run

    with progress_bar("fuzz", json) as progress:
        data = run(seed, inputs, only, workers, listening(progress))
    emit(data, json, lambda: Group(_figures(data), _readers(data), *_faults(data)))
    if any(figure.get("reached") is False for figure in data["figures"]):
        raise typer.Exit(1)
    if data["interrupted"]:
        raise typer.Exit(130)


def _readers(data: dict[str, Any]) -> Table:
    from rich.table import Table

    table = Table(title=f"{data['inputs']:,} inputs in {data['seconds']:,.0f} s")
    table.add_column("reader")
    for column in ("inputs", "accepted", "refused", "faults", "ms each"):
        table.add_column(column, justify="right")
    for name, told in data["readers"].items():
        accepted, refused, seconds = told["accepted"], told["refused"], told["seconds"]
        faults = told["other_exceptions"] + told["hangs"] + told["over_memory"]
        count = accepted + refused + faults
        table.add_row(
            name,
            *(f"{number:,}" for number in (count, accepted, refused, faults)),
            f"{1000 * seconds / count:.2f}",
        )
    return table


def _faults(data: dict[str, Any]) -> list[Text]:
    from rich.text import Text

    return [
        Text(
            f"{fault['reader']}, input {fault['input']} and {fault['count'] - 1} more: "
            f"{fault['error']}\n  {' > '.join(fault['trace'])}\n  {fault['data']}"
        )
        for fault in data["faults"]
    ]


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

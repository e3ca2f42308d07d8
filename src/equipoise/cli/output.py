"""What every command shares: one JSON object or one table on stdout, one sentence on stderr."""

from __future__ import annotations

import json as jsonlib
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from equipoise.errors import EquipoiseError
from equipoise.run import Listener

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that are there already.")
]
#: Threads, or processes, that a command may be asked for.
MOST_THREADS = 256
#: The largest number of an option that says no other: seeds are of 63 bits.
LARGEST = 2**63 - 1


def check_seed(seed: int | None) -> int | None:
    """The seed, if random numbers can start from it; None is left as it is."""
    if seed is not None and not 0 <= seed < 2**63:
        from equipoise.settings import brief

        raise EquipoiseError(f"--seed {brief(seed)}: give a whole number from 0 to {2**63 - 1}")
    return seed


Address = Annotated[
    str | None,
    typer.Option(
        "--address", help="Work on the Ray cluster at HOST:PORT, auto for this machine's own."
    ),
]


@contextmanager
def at_address(address: str | None, workers: int) -> Iterator[int]:
    """Join a cluster, if one is named: processes to ask for, all that it has unless told otherwise."""
    from equipoise.workers import cluster, cluster_cores

    with cluster(address):
        yield cluster_cores() if address is not None and workers == 1 else workers


Seed = Annotated[
    int, typer.Option("--seed", callback=check_seed, help="Seed of every random choice.")
]


Storage = Annotated[
    str, typer.Option("--storage", help="Keep numbers in 32-bit, or 16-bit for half the memory.")
]
StorageOrFit = Annotated[
    str | None,
    typer.Option(
        "--storage",
        help="Keep numbers in 32-bit, or 16-bit for half the memory; if not given 32-bit up to 8 GB.",
    ),
]


def check_storage(storage: str) -> Literal["32-bit", "16-bit"]:
    """The storage of numbers that was asked for, if there is one of that name."""
    if storage == "16-bit":
        return "16-bit"
    if storage == "32-bit":
        return "32-bit"
    from equipoise.settings import brief

    raise EquipoiseError(f"--storage {brief(storage)}: choose 32-bit or 16-bit")


def emit(data: dict[str, Any], json: bool, table: Callable[[], RenderableType]) -> None:
    """Print `data` as one JSON object, or draw `table()` for a person."""
    if json:
        print(jsonlib.dumps(plain(data)))
        return
    terminal().print(table())


def terminal(stderr: bool = False) -> Console:
    """Where everything for a person is drawn.

    Texts appear as they are: most tables hold names that users chose, and `[/p1]` or `:heart:` is a
    name like any other. What is to be bold or red is a :class:`rich.text.Text`.
    """
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False)


def plain(value: Any) -> Any:
    """`value` in the types JSON has: arrays become lists, a figure that is not a number null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_places(*paths: Path | None) -> None:
    """Refuse before solving what could not be written after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise EquipoiseError(f"'{path}': there is no folder '{path.parent}', make it first")


def check_picture(path: Path | None, overwrite: bool) -> None:
    """Refuse before any work a `--plot` that could not be drawn after it."""
    if path is not None:
        from equipoise.cards.chart import PICTURES
        from equipoise.files import check_target

        check_target(path, overwrite=overwrite, suffixes=PICTURES, what="--plot")


def check_number(option: str, value: float | None, least: float = 0, most: float = LARGEST) -> None:
    """Refuse an option's number that is not one, or makes no sense.

    >>> check_number("--hands", -3, 1)
    Traceback (most recent call last):
        ...
    equipoise.errors.EquipoiseError: --hands -3: give 1 or more
    """
    if value is not None and not least <= value <= most:
        within = f"{least:,} or more" if most == LARGEST else f"{least:,} to {most:,}"
        raise EquipoiseError(f"{option} {str(value)[:40]}: give {within}")


def check_positive(option: str, value: float | None, most: float = 1_000_000) -> None:
    """Refuse an option's number that is not above 0."""
    if value is not None and not 0 < value <= most:
        raise EquipoiseError(f"{option} {str(value)[:40]}: give more than 0, at most {most:,}")


def listening(bar: Callable[..., None]) -> Listener:
    """What a job tells, drawn as it is: so much of so many, and what."""
    return lambda event: bar(event.done, event.total, event.what)


@contextmanager
def progress_bar(label: str, quiet: bool) -> Iterator[Callable[..., None]]:
    """A bar on stderr; the caller reports `(done, total)` and, if it likes, a `note` to show.

    Nothing is drawn when `quiet`, or when stderr is not a terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda done, total, note="": None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeToGo

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TimeToGo(),
    )
    with Progress(*columns, console=terminal(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, note="")

        def report(done: float, total: float | None, note: str = "") -> None:
            bar.update(task, completed=done, total=total, note=note)

        yield report

"""`equipoise batch`: solve many spots and report on all of them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.output import (
    MOST_THREADS,
    Address,
    Json,
    Overwrite,
    Storage,
    check_number,
    check_positive,
    check_storage,
    emit,
    progress_bar,
)
from equipoise.cli.stopping import INTERRUPTED, stopped_by_signals
from equipoise.errors import EquipoiseError
from equipoise.settings import brief

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.run import Event
    from equipoise.solve.batch.jobs import Batch
    from equipoise.solve.batch.report import BatchReport
    from equipoise.solve.batch.results import JobOutcome, Results

#: Failures that are told one by one.
_MOST_TOLD = 10


def batch_command(
    source: Annotated[
        Path | None, typer.Argument(help="Folder of .toml spots, or a file with a board a line.")
    ] = None,
    flops: Annotated[
        str | None,
        typer.Option(help="In place of a file: 'all' 1,755 flops, or how many to stand for all."),
    ] = None,
    spot: Annotated[
        Path | None, typer.Option(help="TOML file of the spot whose board is replaced.")
    ] = None,
    target_pct_pot: Annotated[
        float, typer.Option(help="Solve each to this exploitability, in % of the pot.")
    ] = 0.5,
    seconds: Annotated[float | None, typer.Option(help="At most this long for a spot.")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="At most this many iterations for a spot.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results and the report.")] = Path(
        "batch"
    ),
    workers: Annotated[
        int | None, typer.Option(help="Spots solved side by side; by default one a core.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads for each of them.")] = None,
    address: Address = None,
    storage: Storage = "32-bit",
    save_solutions: Annotated[
        str | None, typer.Option(help="Keep every solution up to this street.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Solve many spots on all cores; the same command resumes after a stop.

    \b
    Example: equipoise batch examples/spots --out batch
    Example: equipoise batch --flops 25 --spot flop.toml --target-pct-pot 0.5 --out batch
    Example: equipoise batch boards.txt --spot flop.toml --out batch

    Results in the output folder are kept and not solved again. The report in it has the frequency,
    EV and equity of every line on every board as CSV and Parquet, their weighted means, a picture.
    """
    from equipoise.games.spot import Spot
    from equipoise.run import Limit
    from equipoise.solve.batch.jobs import keep_template
    from equipoise.solve.batch.report import BatchReport
    from equipoise.solve.batch.results import Results
    from equipoise.workers import check_address, cluster

    check_number("--target-pct-pot", target_pct_pot, 0, 100)
    check_positive("--seconds", seconds, 10**9)
    check_number("--iterations", iterations, 1, 10**12)
    check_number("--workers", workers, 1, MOST_THREADS)
    check_number("--threads", threads, 1, MOST_THREADS)
    limit = Limit(iterations, seconds, exploitability_pct_pot=target_pct_pot)
    results = Results(out, limit, check_storage(storage), save_solutions)
    check_address(address)
    batch = _batch(source, flops, spot)
    BatchReport.check_folder(out / "report", overwrite or (out / "results").is_dir())
    if not json:
        _announce(batch)
    with cluster(address):
        outcomes = _run(batch, results, workers, threads, quiet=json)
    failed = [outcome for outcome in outcomes if outcome.result is None]
    if len(failed) == len(outcomes):
        raise EquipoiseError(f"no spot could be solved: {failed[0].job.name}: {failed[0].error}")
    report = BatchReport(outcomes)
    files = report.save(out / "report")
    if spot is not None:
        keep_template(out, Spot.load(spot))
    told = report.means() | {
        "resumed": sum(outcome.resumed for outcome in outcomes),
        "failed": [{"name": o.job.name, "error": o.error} for o in failed],
        "passed_over": [{"name": p.name, "reason": p.reason} for p in batch.passed],
        "subset_errors": batch.subset_errors,
        "files": files,
    }
    emit(told, json, lambda: _shown(report, batch, failed, files))


def _run(
    batch: Batch, results: Results, workers: int | None, threads: int | None, quiet: bool
) -> list[JobOutcome]:
    """Solve; Ctrl-C ends the command and says how to go on."""
    from equipoise.solve.batch.run import run_batch

    with stopped_by_signals() as stop, progress_bar("batch", quiet) as progress:

        def hear(event: Event) -> None:
            assert event.total is not None
            failed = f", {event.failed} failed" if event.failed else ""
            note = f"{event.done:,} of {event.total:,} spots{failed} {event.what}"
            # Time to go is of the spots that this run solves.
            progress(event.done - event.resumed, event.total - event.resumed, note)

        outcomes = run_batch(
            batch,
            results.folder,
            results.limit,
            workers,
            threads,
            results.through,
            hear,
            results.storage,
            stop,
        )
    if stop.is_set():
        _tell_stop(batch, results)
        raise typer.Exit(INTERRUPTED)
    return outcomes


def _batch(source: Path | None, flops: str | None, spot: Path | None) -> Batch:
    from equipoise.games.spot import Spot
    from equipoise.solve.batch.jobs import Batch, SpotJob

    if (source is None) == (flops is None):
        raise EquipoiseError(
            "which spots? name a folder, a file of boards, or --flops all; one of them"
        )
    if source is not None and source.is_dir():
        if spot is not None:
            raise EquipoiseError(f"{source} has spots of its own: leave out --spot")
        return Batch.from_folder(source)
    if source is not None and not source.is_file():
        raise EquipoiseError(f"{source}: no such folder or file")
    if source is not None and source.suffix == ".toml" and spot is None:
        return Batch((SpotJob(source.stem, Spot.load(source)),))
    if spot is None:
        raise EquipoiseError("boards need a spot to replace the board of: add --spot TEMPLATE.toml")
    template = Spot.load(spot)
    if source is not None:
        return Batch.from_boards(source, template)
    assert flops is not None
    if flops != "all" and not (flops.isascii() and flops.isdigit() and len(flops) < 6):
        raise EquipoiseError(f"--flops {brief(flops)}: give 'all' or a number, such as 25")
    return Batch.from_flops(template, None if flops == "all" else int(flops))


def _announce(batch: Batch) -> None:
    """Tell, before the work starts, what is to be solved and what is not."""
    count = len(batch.jobs)
    print(f"{count:,} spot{'s' * (count > 1)}", file=sys.stderr)
    for passed in batch.passed[:_MOST_TOLD]:
        print(f"passed over {passed.name}: {passed.reason}", file=sys.stderr)
    if len(batch.passed) > _MOST_TOLD:
        print(f"and {len(batch.passed) - _MOST_TOLD:,} more", file=sys.stderr)


def _tell_stop(batch: Batch, results: Results) -> None:
    done = sum(results.read(job) is not None for job in batch.jobs)
    print(
        f"stopped: {done:,} of {len(batch.jobs):,} spots are solved and kept in {results.folder}; "
        "go on with\n"
        f"    equipoise {shlex.join(sys.argv[1:])}",
        file=sys.stderr,
    )


def _shown(
    report: BatchReport, batch: Batch, failed: list[JobOutcome], files: dict[str, str]
) -> RenderableType:
    from rich.console import Group

    parts: list[RenderableType] = [report.table()]
    if batch.subset_errors is not None and any(batch.subset_errors.values()):
        errors = ", ".join(
            f"{name.replace('_', ' ')} {error:+.3f}" for name, error in batch.subset_errors.items()
        )
        parts.append(f"mean of these flops less that of all: {errors}")
    for outcome in failed[:_MOST_TOLD]:
        parts.append(f"failed: {outcome.job.name}: {outcome.error}")
    if len(failed) > _MOST_TOLD:
        parts.append(f"and {len(failed) - _MOST_TOLD:,} more failed")
    names = ", ".join(Path(path).name for path in files.values())
    parts.append(f"report in {Path(files['spots_csv']).parent}: {names}")
    return Group(*parts)

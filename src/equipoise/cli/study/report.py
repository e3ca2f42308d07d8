"""`equipoise report`: the flops of a batch as one table, sorted, filtered and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.output import Json, Overwrite, check_picture, emit
from equipoise.errors import EquipoiseError


def report_command(
    folder: Annotated[Path, typer.Argument(help="Folder of `equipoise batch --out`.")],
    line: Annotated[
        str, typer.Option(help="Decision: root, or what was done before it, such as check.")
    ] = "root",
    sort: Annotated[
        str, typer.Option(help="Column to sort by: an action, board, equity_oop, ev_oop ...")
    ] = "",
    ascending: Annotated[bool, typer.Option("--ascending", help="Smallest first.")] = False,
    where: Annotated[
        str, typer.Option(help="Only such boards: 'paired', 'monotone A-high', 'K' or 'Ks'.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Write the rows as .csv or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw them into this png, svg or pdf.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Show what is played on every board of a batch at one decision, sorted and filtered.

    \b
    Example: equipoise report batch --line check --sort 'bet 1.65' --where 'monotone'
    Example: equipoise report batch --sort equity_oop --plot flops.png
    """
    from equipoise.columnar import write_frame
    from equipoise.files import check_target
    from equipoise.solve.batch.boardtable import BoardTable
    from equipoise.solve.batch.report import BatchReport

    check_picture(plot, overwrite)
    if out is not None:
        check_target(out, overwrite=overwrite, suffixes=(".csv", ".parquet"), what="--out")
    found = BoardTable(BatchReport.load(folder), line)
    if where:
        found = found.where(where)
    if not found.rows:
        raise EquipoiseError(f"no board is {where}: ask for less")
    if sort:
        found = found.by(sort, descending=not ascending)
    if out is not None:
        write_frame(found.to_polars(), out, decimals=6)
    if plot is not None:
        found.plot(plot)
    told = {
        "line": found.line,
        "player": found.player,
        "unit": found.unit,
        "means": found.means(),
        "boards": found.rows,
    }
    emit(told, json, found.table)

"""`equipoise jamfold`: up to which stack every hand jams, and calls a jam, heads-up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli.output import (
    Json,
    Overwrite,
    check_number,
    check_picture,
    emit,
    listening,
    progress_bar,
)
from equipoise.cli.stopping import stopped_by_signals
from equipoise.errors import EquipoiseError


def jamfold_command(
    least: Annotated[float, typer.Option(help="Shortest stack, in big blinds.")] = 2,
    most: Annotated[float, typer.Option(help="Deepest stack, in big blinds.")] = 20,
    step: Annotated[float, typer.Option(help="Big blinds from one stack to the next.")] = 0.5,
    hand: Annotated[
        str | None, typer.Option(help="Stacks with which one class jams and calls, such as 76s.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write all hands as .csv or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Both charts as png, svg or pdf.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Solve jam or fold at many stacks: how often both go all-in, and with which hands up to where.

    One stack's charts: `equipoise game jamfold --stack 10 --plot chart.png`.

    \b
    Example: equipoise jamfold --most 15 --plot charts.png
    Example: equipoise jamfold --hand 76s
    """
    from equipoise.cards.combos import CLASS_COUNT, class_text
    from equipoise.columnar import write_frame
    from equipoise.files import check_target
    from equipoise.settings import brief, did_you_mean
    from equipoise.solve.study.shortstacks import ShortStacks

    check_number("--least", least, 1.01, 500)
    check_number("--most", most, least, 500)
    check_number("--step", step, 0.01, 100)
    check_picture(plot, overwrite)
    if out is not None:
        check_target(out, overwrite=overwrite, suffixes=(".csv", ".parquet"), what="--out")
    names = {class_text(number): number for number in range(CLASS_COUNT)}
    if hand is not None and hand not in names:
        cure = did_you_mean(hand, list(names), "classes are such as")
        raise EquipoiseError(f"--hand {brief(hand)}: no class of hands: {cure}")
    stacks = [round(least + step * k, 6) for k in range(int((most - least) / step + 1e-9) + 1)]
    with stopped_by_signals() as stop, progress_bar("jam or fold", json) as bar:
        found = ShortStacks(stacks, listening(bar), stop)
    if not found.stacks:
        raise EquipoiseError("stopped before a stack was solved")
    told: dict[str, Any] = {
        "stacks_bb": list(found.stacks),
        "jam_share": [chart.jam_share for chart in found.charts],
        "call_share": [chart.call_share for chart in found.charts],
        "hands": found.columns(),
    }
    if out is not None:
        write_frame(found.to_polars(), out, decimals=6)
    if plot is not None:
        found.plot(plot)
    if hand is not None:
        spans = {kind: found.spans(kind, names[hand]) for kind in ("jam", "call")}
        told = {"hand": hand, **{f"{kind}_spans_bb": span for kind, span in spans.items()}}
        words = {
            kind: ", ".join(
                f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in span
            )
            or "none"
            for kind, span in spans.items()
        }
        emit(told, json, lambda: f"{hand} jams at {words['jam']} bb, calls at {words['call']} bb")
        return
    emit(told, json, found.table)

"""`equipoise range`: read a range, count it, draw it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.output import Json, Overwrite, emit

if TYPE_CHECKING:
    from rich.console import Group

    from equipoise.cards.range import Range


def range_command(
    text: Annotated[str, typer.Argument(help="Range text: 'QQ+, A2s+, KTo-K8o, A5s:0.5'.")],
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw the chart into this png, svg or pdf.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Read a range: its hands as a 13×13 chart, its size and its canonical text.

    \b
    QQ  AKs  AKo  AK  AhKd    a pair, suited, offsuit, both, one hand
    QQ+  A2s+  T8+            this and better ones
    KTo-K8o  22-55  JTs-76s   a span
    A5s:0.5  QQ+:75%          with a weight; the last item on a hand wins
    random  top 15%  none     every hand, the best by equity, no hand

    Example: equipoise range 'QQ+, AKs, A5s-A2s:0.5' --plot range.png
    """
    from equipoise.cards.chart import PICTURES
    from equipoise.cards.combos import class_text
    from equipoise.cards.range import Range
    from equipoise.files import check_target

    if plot is not None:
        check_target(plot, overwrite=overwrite, suffixes=PICTURES, what="--plot")
    hands = Range.parse(text)
    if plot is not None:
        hands.plot(plot)
    data = {
        "range": str(hands),
        "combos": hands.combos,
        "fraction": hands.fraction,
        "classes": {
            class_text(place): float(weight)
            for place, weight in enumerate(hands.to_matrix().flat)
            if weight > 0.0
        },
    }
    emit(data, json, lambda: _drawn(hands))


def _drawn(hands: Range) -> Group:
    from rich.console import Group
    from rich.text import Text

    from equipoise.cards import chart

    # Spaces let long text wrap between items, so that it can be copied and read back.
    canonical = Text(str(hands).replace(",", ", "))
    return Group(chart.render(hands.to_matrix(), title=hands.summary()), canonical)

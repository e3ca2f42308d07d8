"""The cross table of a tournament: as CSV, as a heat map, and as a page for the browser."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from equipoise.arena.statistics import rate_text
from equipoise.arena.tournament import Tournament
from equipoise.errors import EquipoiseError
from equipoise.files import written

_COLUMNS = (
    *("a", "b", "hands", "pairs", "mbb_per_hand", "ci95_mbb", "std_mbb"),
    *("wins", "losses", "draws", "seed", "forfeited_by"),
)


def cell_text(result: Tournament, i: int, j: int) -> str:
    """One cell: win rate and interval in mbb/hand."""
    rate = result.rate(i, j) if i != j else None
    return "" if rate is None else rate_text(*rate)


def triplet_text(result: Tournament, i: int, j: int) -> str:
    """One cell: pairs won, lost, drawn by the sum of their two hands."""
    triplet = result.triplet(i, j) if i != j else None
    return "" if triplet is None else f"({', '.join(f'{count:,}' for count in triplet)})"


def to_csv(result: Tournament) -> str:
    """One line a match.

    >>> from equipoise.arena.tournament import play_tournament
    >>> print(to_csv(play_tournament(["fold", "all-in"], hands=4)).splitlines()[1][:32])
    fold,all-in,4,2,-750.0,0.0,0.0,0
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for match in result.matches.values():
        told = match.to_dict()
        told["wins"], told["losses"], told["draws"] = match.triplet
        writer.writerow([told[column] for column in _COLUMNS])
    return text.getvalue()


def to_png(result: Tournament) -> bytes:
    """The cross table as a heat map, best player first."""
    from matplotlib.colors import CenteredNorm
    from matplotlib.figure import Figure

    order = result.by_bankroll()
    names = [result.names[i] for i in order]
    rates = np.full((len(order), len(order)), np.nan)
    for row, i in enumerate(order):
        for column, j in enumerate(order):
            rate = result.rate(i, j) if i != j else None
            if rate is not None:
                rates[row, column] = rate[0]
    side = 2.5 + 1.1 * len(order)
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(rates, cmap="RdYlBu", norm=CenteredNorm())
    # Names are texts, and no formulas, whatever is in them.
    axes.set_xticks(range(len(order)), names, rotation=45, ha="right", parse_math=False)
    axes.set_yticks(range(len(order)), names, parse_math=False)
    axes.set_title(f"win rate of the row, mbb/hand\n{result.rules.name}", parse_math=False)
    for row, i in enumerate(order):
        for column, j in enumerate(order):
            text = cell_text(result, i, j).replace(" ± ", "\n± ")
            axes.text(column, row, text, ha="center", va="center", fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.8)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    return data.getvalue()


def to_html(result: Tournament) -> str:
    """A page that needs nothing else: picture, cross table, triplets, both rankings."""
    picture = base64.b64encode(to_png(result)).decode("ascii")
    runoff = result.by_runoff()
    totals = [
        (
            str(place),
            result.names[i],
            rate_text(*result.total(i)),
            str(runoff.index(i) + 1),
        )
        for place, i in enumerate(result.by_bankroll(), 1)
    ]
    order = result.by_bankroll()
    heads = ["", *(result.names[i] for i in order)]
    rates = [[result.names[i], *(cell_text(result, i, j) for j in order)] for i in order]
    triplets = [[result.names[i], *(triplet_text(result, i, j) for j in order)] for i in order]
    stopped = "<p>Stopped before the end.</p>" if result.interrupted else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tournament: {escape(result.rules.name)}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }}
th, td {{ border: 1px solid #bbb; padding: .3rem .7rem; text-align: right; white-space: nowrap }}
th {{ background: #f2f2f2 }}
img {{ max-width: 100% }}
</style>
</head>
<body>
<h1>{escape(result.rules.name)}</h1>
<p>Duplicate pairs are one sample; ± is the 95 % interval; seed {result.seed}.</p>{stopped}
<h2>Ranking</h2>
{_table(["bankroll", "player", "mbb/hand against all", "run-off"], totals)}
<h2>Win rate of the row, mbb/hand</h2>
{_table(heads, rates)}
<p><img alt="heat map of win rates" src="data:image/png;base64,{picture}"></p>
<h2>Pairs the row won, lost and drew</h2>
<p>A pair is won by the sum of its two hands.</p>
{_table(heads, triplets)}
</body>
</html>
"""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{escape(head)}</th>" for head in heads)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"


def save(result: Tournament, path: str | Path) -> None:
    """Write the table as the file's ending says: .csv, .png or .html."""
    path = Path(path)
    writers: dict[str, Callable[[Tournament], str | bytes]] = {
        ".csv": to_csv,
        ".png": to_png,
        ".html": to_html,
    }
    if path.suffix not in writers:
        raise EquipoiseError(f"{path}: a tournament is saved as {', '.join(writers)}")
    content = writers[path.suffix](result)
    with written(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf-8"))

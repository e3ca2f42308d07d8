"""The results of :mod:`equipoise.bench.reproduce.dbbr` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """What is won from each opponent, and what is risked."""
    from rich.console import Group
    from rich.table import Table

    table = Table(
        "game",
        "against",
        title=f"mbb/hand over {data['hands']:,} duplicate hands, ± 95 %",
        title_justify="left",
    )
    columns = (
        "dbbr",
        "its equilibrium",
        "more, on the same deals",
        "lost at first",
        "made up for by",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for row in data["meetings"]:
        cells = (
            f"{row[f'{name}_mbb']:+,.0f} ± {row[f'{name}_ci95']:,.0f}"
            for name in ("dbbr", "equilibrium", "difference")
        )
        table.add_row(row["game"], row["opponent"], *cells, *_dip(row["dip"]))
    risks = Table(
        "game",
        title=f"Responses to the equilibrium against it, {data['runs']} runs, exact in the "
        "abstraction, mbb/hand",
        title_justify="left",
    )
    hands = list(data["risks"][0]["won_mbb"])
    after = (f"after {int(n):,} hands" for n in hands)
    for column in (*after, "mean", "the least", "its exploitability"):
        risks.add_column(column, justify="right")
    for row in data["risks"]:
        won = (f"{row['won_mbb'][n]:+.2f}" for n in hands)
        least = f"{row['mean_mbb']:+.2f}", f"{row['least_mbb']:+.2f}"
        risks.add_row(row["game"], *won, *least, f"{row['exploitability_mbb']:.2f}")
    return Group(table, risks)


def _dip(found: Data | None) -> tuple[str, str]:
    """Big blinds that responses lost at first, and the hand by which they were won again."""
    if found is None:
        return "", ""
    again = found["recovered_hands"]
    when = "never" if again is None else f"hand {again:,}"
    return f"{found['lost_bb']:,.1f} bb", when if found["lost_bb"] else ""


def picture(data: Data, path: Path) -> None:
    """Draw how far ahead of its equilibrium dbbr is, hand after hand."""
    from matplotlib.figure import Figure

    games = list(dict.fromkeys(row["game"] for row in data["meetings"]))
    figure = Figure(figsize=(5.5 * len(games), 4.5), dpi=110, layout="constrained")
    for axes, game in zip(figure.subplots(1, len(games), squeeze=False)[0], games, strict=True):
        for row in data["meetings"]:
            if row["game"] == game:
                curve = row["curve"]
                axes.plot(curve["hands"], curve["ahead_bb"], label=row["opponent"])
        axes.axvline(1000, color="grey", linestyle=":")
        axes.axhline(0, color="grey", linewidth=0.8)
        axes.set(
            xlabel="hands",
            ylabel="won more than the equilibrium, big blinds",
            title="limit" if game == "limit" else "no-limit",
        )
        axes.legend()
    chart.save(figure, path)

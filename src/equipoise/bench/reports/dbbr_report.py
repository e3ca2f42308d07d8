"""The results of :mod:`equipoise.bench.reproduce.dbbr` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType

Data = dict[str, Any]

#: Hands of the lower panels: what is lost at first is small beside what is won by the end.
_SHOWN = (800, 3000)


def report(data: Data) -> RenderableType:
    """What is won from each opponent, and what is risked."""
    from rich.console import Group
    from rich.table import Table

    table = Table(
        "against",
        title=f"mbb/hand over {data['hands']:,} duplicate hands, ± 95 %",
        title_justify="left",
    )
    for column in ("dbbr", "equilibrium", "more, same deals", "behind, at most"):
        table.add_column(column, justify="right")
    for row in data["meetings"]:
        cells = (
            f"{row[f'{name}_mbb']:+,.0f} ± {row[f'{name}_ci95']:,.0f}"
            for name in ("dbbr", "equilibrium", "difference")
        )
        against = row["opponent"] + ("" if row["game"] == "limit" else ", no-limit")
        table.add_row(against, *cells, _dip(row["dip"]))
    risks = Table(
        "game",
        title=f"Responses to the equilibrium against it, {data['runs']} runs, exact, mbb/hand",
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


def _dip(found: Data | None) -> str:
    """Big blinds that responses were behind at most, and the hand by which they were won again."""
    if found is None or not found["lost_bb"]:
        return ""
    again = found["recovered_hands"]
    return f"{found['lost_bb']:,.1f} bb" + (f" until {again:,}" if again else " to the end")


def picture(data: Data, path: Path) -> None:
    """Draw how far ahead of its equilibrium dbbr is, hand after hand; below, when responses begin."""
    from matplotlib.figure import Figure

    games = list(dict.fromkeys(row["game"] for row in data["meetings"]))
    figure = Figure(figsize=(5.5 * len(games), 7.5), dpi=110, layout="constrained")
    panels = figure.subplots(2, len(games), squeeze=False)
    for (whole, first), game in zip(panels.T, games, strict=True):
        for row in data["meetings"]:
            if row["game"] != game:
                continue
            hands, ahead = row["curve"]["hands"], row["curve"]["ahead_bb"]
            whole.plot(hands, ahead, label=row["opponent"])
            near = [place for place, hand in enumerate(hands) if _SHOWN[0] <= hand <= _SHOWN[1]]
            first.plot([hands[place] for place in near], [ahead[place] for place in near])
        for axes in (whole, first):
            axes.axvline(1000, color="grey", linestyle=":")
            axes.axhline(0, color="grey", linewidth=0.8)
            axes.set(xlabel="hands", ylabel="won more than the equilibrium, big blinds")
        whole.set_title("limit" if game == "limit" else "no-limit")
        whole.legend()
        first.set_yscale("symlog", linthresh=10)
        first.set_title("when responses begin (linear within ±10)", fontsize=10)
    chart.save(figure, path)

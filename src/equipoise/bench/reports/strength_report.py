"""The results of :mod:`equipoise.bench.reproduce.strength` as a table and as a picture."""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType

Data = dict[str, Any]

#: Keys of a figure, its error, and its unit, by the command that tells them.
_FIGURES = (
    ("aivat_mbb_per_hand", "aivat_ci95_mbb", "mbb/hand"),
    ("mbb_per_hand", "ci95_mbb", "mbb/hand"),
    ("exploitability_pct_pot", "ci95_pct_pot", "% of the pot"),
)


def figure(result: Data) -> tuple[float, float, str] | None:
    """The figure of a row, half its interval, and its unit.

    >>> figure({"mbb_per_hand": -3.0, "ci95_mbb": 2.0})
    (-3.0, 2.0, 'mbb/hand')
    >>> figure({"mbb_per_hand": -3.0, "ci95_mbb": None})
    (-3.0, inf, 'mbb/hand')
    """
    for key, error, unit in _FIGURES:
        if isinstance(result.get(key), int | float):
            spread = result.get(error)
            return float(result[key]), inf if spread is None else float(spread), unit
    return None


def report(data: Data) -> RenderableType:
    """All rows: what was measured, what had to be reached, and by which command."""
    from rich.console import Group
    from rich.table import Table

    table = Table("", "", "must", "seconds", title=f"{data['agent']}", title_justify="left")
    for row in data["rows"]:
        found = figure(row["result"])
        told = "" if found is None else f"{found[0]:+,.1f} ± {found[1]:,.1f} {found[2]}"
        if "hand" in row["result"]:
            told = f"folds {row['result']['hand']['policy'][0]:.3f}"
        mark = {True: "reached: ", False: "not reached: "}.get(row.get("reached", ""), "")
        table.add_row(row["name"], told, mark + row.get("must", ""), f"{row['seconds']:,.0f}")
    commands = "\n".join(f"{row['name']}: {row['command']}" for row in data["rows"])
    return Group(table, f"{data['reached']} of {data['asked']} reached.\n", commands)


def picture(data: Data, path: Path) -> None:
    """Draw the rows in mbb a hand with their intervals."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [(row["name"], figure(row["result"])) for row in data["rows"]]
    shown = [
        (name, found)
        for name, found in rows
        if found is not None and found[2] == "mbb/hand" and isfinite(found[1])
    ]
    canvas, axes = plt.subplots(figsize=(9, 1 + 0.3 * len(shown)), layout="constrained")
    places = range(len(shown))
    means = [found[0] for _, found in shown]
    axes.errorbar(means, places, xerr=[found[1] for _, found in shown], fmt="o")
    axes.set_yticks(places, [name for name, _ in shown])
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("mbb/hand")
    axes.set_title(data["agent"])
    chart.save(canvas, path, dpi=110)
    plt.close(canvas)

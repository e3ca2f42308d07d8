"""Tables and bars that the experiments with blueprints share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

Data = dict[str, Any]


def table(title: str, *columns: str) -> Table:
    """An empty table, the first column to the left."""
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number == 0 else "right")
    return made


def rate(row: Data) -> str:
    """Win rate with its interval, and without luck where that was taken out.

    >>> rate({"mbb_per_hand": 12.3, "ci95_mbb": 4.5})
    '+12 ± 4'
    """
    told = f"{row['mbb_per_hand']:+z,.0f} ± {row['ci95_mbb']:,.0f}"
    if "luckless_mbb" in row:
        told += f" (without luck {row['luckless_mbb']:+z,.0f} ± {row['luckless_ci95_mbb']:,.0f})"
    return told


def trained(told: Data) -> Table:
    """What each blueprint's file says of its training."""
    made = table("Blueprints", "", "buckets", "minutes", "exploitability, bb/hand", "other boards")
    for name, facts in told.items():
        figures = (facts.get("exploitability_bb"), facts.get("judged_bb"))
        minutes = facts.get("seconds")
        made.add_row(
            name,
            str(facts["buckets"]),
            "" if minutes is None else f"{minutes / 60:.1f}",
            *("" if figure is None else f"{figure:.4f}" for figure in figures),
        )
    return made


def missing(told: dict[str, str]) -> str:
    """One line for each blueprint that was not there."""
    return "\n".join(told.values())


def bars(axes: Any, rows: list[Data], scale: float = 1.0) -> None:
    """Win rates of meetings with their intervals, one under another."""
    names = [f"{row['a']} v {row['b']}" for row in rows]
    means = [row["mbb_per_hand"] * scale for row in rows]
    axes.errorbar(
        means, range(len(rows)), xerr=[row["ci95_mbb"] * scale for row in rows], fmt="o", capsize=3
    )
    axes.axvline(0, color="grey", linewidth=1)
    axes.set_yticks(range(len(rows)), names, fontsize="small")
    axes.invert_yaxis()
    axes.grid(alpha=0.3)

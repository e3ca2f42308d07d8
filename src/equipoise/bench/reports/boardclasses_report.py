"""The results of :mod:`equipoise.bench.reproduce.boardclasses` as a table and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.table import Table

Data = dict[str, Any]


def report(data: Data) -> Table:
    """One row a street."""
    from rich.table import Table

    table = Table(
        title="INOT against an opponent who knows the public class of the board of one street "
        f"({data['boards']:,} boards a class)"
    )
    for column in (
        "classes of",
        "classes",
        "INOT loses (small bets/hand)",
        "worth",
        "worth of as many random classes",
    ):
        table.add_column(column, justify="left" if column == "classes of" else "right")
    for row in data["rows"]:
        told = [row["street"], str(row.get("classes", "")), f"{row['exploitability_sb']:.4f}"]
        if "worth_sb" in row:
            told += [f"{row['worth_sb']:+z.4f}", f"{row['control_worth_sb']:+z.4f}"]
        table.add_row(*told)
    return table


def picture(data: Data, path: Path) -> None:
    """Bars of what the classes of each street are worth, the control beside them."""
    from matplotlib.figure import Figure

    rows = data["rows"][1:]
    drawing = Figure(figsize=(6, 4), layout="constrained")
    axes = drawing.subplots()
    for shift, key, label in (
        (-0.2, "worth_sb", "by suits and ranks"),
        (0.2, "control_worth_sb", "at random"),
    ):
        axes.bar(
            [n + shift for n in range(len(rows))], [row[key] for row in rows], 0.4, label=label
        )
    axes.set_xticks(range(len(rows)), [row["street"] for row in rows])
    axes.set_ylabel("small bets a hand")
    axes.set_title("What knowing the class of the board takes from INOT")
    axes.legend()
    chart.save(drawing, path, dpi=150)

"""The results of :mod:`equipoise.bench.reproduce.safe` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """The document's table beside ours, whether anything was risked, and the bucketed game."""
    from rich.console import Group
    from rich.table import Table

    found = data["repeated"]
    kinds = list(dict.fromkeys(row["against"] for row in found["rows"]))
    table = Table(
        "rule",
        title=f"Kuhn poker, seat 0, {data['hands']:,} hands, {data['opponents']} opponents a class: "
        "chips a hand (document)",
        title_justify="left",
    )
    for kind in kinds:
        table.add_column(kind, justify="right")
    for rule in dict.fromkeys(row["rule"] for row in found["rows"]):
        cells = [row for row in found["rows"] if row["rule"] == rule]
        table.add_row(
            rule,
            *(
                f"{row['chips']:.4f} ± {row['standard_error']:.4f} ({row['document']:.4f})"
                for row in cells
            ),
        )
    claims = found["claims"]
    differences = ", ".join(
        f"{row['rule']} less {row['than']} against {row['against']} {row['chips']:+.4f} "
        f"± {row['standard_error']:.4f}"
        for row in found["differences"]
    )
    parts: list[RenderableType] = [
        table,
        f"± is one standard error. On the same opponents: {differences}.\n",
        f"Value of the game {found['value_chips']:.4f}. In no hand was more risked than given, but for "
        f"{max(found['most_risked_above_gift_chips'], 0.0):.0e} chips of rounding: "
        f"{_holds(claims['no_more_risked_than_given'])}. No safe rule's mean is below the value: "
        f"{_holds(claims['safe_rules_keep_the_value'])}. Against opponents who wake up the plain best "
        f"response is below it: {_holds(claims['best_response_below_value'])}. Rules stand in the "
        f"document's order: {_holds(claims['rules_stand_in_order'])}.\n",
    ]
    if data["bucketed"] is not None:
        told = data["bucketed"]
        second = Table(
            "P",
            title=f"Restricted Nash in {told['recipe']}'s buckets against {told['against']}, "
            f"{told['iterations']} iterations, mbb/hand",
            title_justify="left",
        )
        for column in ("objective", "at most above it", "wins", "exploitability"):
            second.add_column(column, justify="right")
        for row in told["rows"]:
            names = ("objective_mbb", "gap_mbb", "wins_mbb", "exploitability_mbb")
            second.add_row(f"{row['share']:g}", *(f"{row[name]:.1f}" for name in names))
        parts.append(second)
    return Group(*parts)


def _holds(claim: bool) -> str:
    return "holds" if claim else "DOES NOT HOLD"


def picture(data: Data, path: Path) -> None:
    """Draw what is won in Leduc hold'em against what is risked, a curve an opponent."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), dpi=120, layout="constrained")
    axes = figure.subplots()
    for curve in data["curves"]:
        axes.plot(
            curve["exploitability_chips"],
            curve["wins_chips"],
            marker="o",
            markersize=4,
            label=f"seat {curve['player']} against {curve['against']}",
        )
    axes.set(
        xlabel="exploitability, chips a hand",
        ylabel="won from the opponent, chips a hand",
        title="Leduc hold'em: restricted Nash responses",
    )
    axes.set_xlim(left=-0.02)
    axes.grid(alpha=0.3)
    axes.legend()
    chart.save(figure, path)

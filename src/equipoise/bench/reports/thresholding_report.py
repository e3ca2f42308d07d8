"""The results of :mod:`equipoise.bench.reproduce.thresholding` as a table and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """Exploitability by iterations and rule, and where a threshold helps."""
    from rich.console import Group
    from rich.table import Table

    table = Table(
        "iterations",
        title=f"{data['recipe']} by CFR+: exploitability in its abstraction, mbb/hand",
        title_justify="left",
    )
    for rule in data["rules"]:
        table.add_column(rule.removeprefix("threshold "), justify="right")
    for row in data["rows"]:
        found = row["exploitability_mbb"]
        cells = (
            f"[bold]{found[rule]:.4g}[/]" if rule == row["best"] else f"{found[rule]:.4g}"
            for rule in data["rules"]
        )
        table.add_row(f"{row['iterations']:,}", *cells)
    helped = data["a_threshold_helps_after"]
    told = f"after {', '.join(f'{count:,}' for count in helped)} iterations" if helped else "never"
    return Group(
        table,
        f"A threshold makes it less exploitable: {told} (document: a degree of thresholding did, of "
        "a limit agent in the whole game).\n",
    )


def picture(data: Data, path: Path) -> None:
    """Draw exploitability against the threshold, a curve for each number of iterations."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    places = range(len(data["rules"]))
    for row in data["rows"]:
        found = [row["exploitability_mbb"][rule] for rule in data["rules"]]
        axes.plot(places, found, marker="o", label=f"{row['iterations']:,} iterations")
    axes.set_xticks(places, [rule.removeprefix("threshold ") for rule in data["rules"]])
    axes.set(yscale="log", xlabel="threshold", ylabel="exploitability, mbb/hand")
    axes.set_title(f"{data['recipe']} by CFR+, in its abstraction")
    axes.legend()
    axes.grid(alpha=0.3)
    chart.save(figure, path, dpi=110)
    plt.close(figure)

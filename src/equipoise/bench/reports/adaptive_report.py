"""The table and the figures of `equipoise reproduce adaptive`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards.streets import STREETS

if TYPE_CHECKING:
    from rich.console import RenderableType

_COLUMNS = ("all", *STREETS, "own_groups", "field")


def report(data: dict[str, Any]) -> RenderableType:
    """Nats a decision of every model, held out, and what else came out."""
    from rich.console import Group
    from rich.table import Table

    table = Table(
        title=f"ln P of {data['held_out_decisions']:,} decisions held out, nats a decision"
    )
    table.add_column("model")
    for name in _COLUMNS:
        table.add_column(name.replace("_", " "), justify="right")
    for row in data["models"]:
        cells = ("" if row[name] is None else f"{row[name]:.4f}" for name in _COLUMNS)
        table.add_row(row["model"], *cells)
    sizes = Table("raises", "nats", title=f"sizes of {data['raises']:,} raises held out")
    for key, value in data.items():
        if key.startswith("raise_"):
            sizes.add_row(key.replace("_", " "), f"{value:.4f}")
    failure = Table("payoff", "best raise to", "folds to 3,000", "folds to all-in",
                    title=f"the first raise with a winning chance of {data['failure']['win']}")  # fmt: skip
    for name in ("seed_literal", "seed_right", "full_right"):
        one = data["failure"][name]
        failure.add_row(name.replace("_", " φ, "), f"{one['raise_to']:,}",
                        f"{one['fold_at_3000']:.3f}", f"{one['fold_at_20000']:.3f}")  # fmt: skip
    return Group(table, sizes, failure)


def picture(data: dict[str, Any], path: Path) -> None:
    """First bets by winning probability, their sizes, and calibration."""
    from matplotlib.figure import Figure

    from equipoise.files import written

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    for column, (label, curves) in enumerate(data["first_bets"].items()):
        top = axes[0, column]
        for name in ("fold", "call", "raise"):
            top.plot(curves["win"], curves[name], label=name)
        top.set(
            title=f"first bet: {label.replace('_', ' ')}", xlabel="winning probability", ylim=(0, 1)
        )
        top.legend()
        low = axes[1, column]
        low.hist(curves["sizes"], bins=40, range=(100, 900))
        low.set(title="raises to, chips")
        also = low.twiny()
        also.plot(curves["win"], [low.get_ylim()[1] * r / 900 for r in curves["raise_to"]], "k--")
        also.set(xlabel="mean raise (height / 900 chips) by winning probability")
    for name, rows in data["calibration"].items():
        axes[0, 2].plot([r["told"] for r in rows], [r["came"] for r in rows], "o-", label=name)
    axes[0, 2].plot([0, 1], [0, 1], "k:")
    axes[0, 2].set(title="folds: told and came", xlabel="told", ylabel="came")
    axes[0, 2].legend()
    shown = data["models"]
    axes[1, 2].barh([row["model"] for row in shown], [-row["all"] for row in shown])
    axes[1, 2].invert_yaxis()
    axes[1, 2].set(title="−ln P, nats a decision, held out")
    with written(path) as file:
        figure.savefig(file, format=path.suffix[1:])

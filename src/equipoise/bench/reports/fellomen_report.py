"""The results of :mod:`equipoise.bench.reproduce.fellomen` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.bench.reports.meetings_report import bars, missing, table, trained
from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """All tables."""
    from rich.console import Group

    parts: list[RenderableType] = []
    if data["meetings"]:
        parts += [trained(data["trained"]), _meetings(data), _claims(data["claims"])]
    parts.append(_document(data["document"]))
    if data["missing"]:
        parts.append(missing(data["missing"]))
    return Group(*parts)


def _meetings(data: Data) -> Table:
    names = list(data["trained"])
    made = table(f"Small bets a hand over {data['hands']:,} duplicate hands", "against", *names)
    found = {}
    for row in data["meetings"]:
        mean, half = row["small_bets_per_hand"], row["ci95"]
        found[row["a"], row["b"]] = f"{mean:+z.3f} ± {half:.3f}"
        found[row["b"], row["a"]] = f"{-mean:+z.3f} ± {half:.3f}"
    opponents = list(dict.fromkeys([*names, *(row["b"] for row in data["meetings"])]))
    for opponent in opponents:
        made.add_row(opponent, *(found.get((name, opponent), "") for name in names))
    return made


def _claims(claims: Data) -> str:
    newest = claims["fell_omen_2_not_beaten_by_inot"]
    lines = [] if newest is None else [f"Fell Omen 2 is{' not' if newest else ''} beaten by INOT"]
    for name, others in claims["not_beaten_beyond_doubt"].items():
        whom = f"all but {', '.join(others)}" if others else "every agent of the suite"
        lines.append(f"{name} beats {whom} beyond doubt")
    return "\n".join(lines)


def _document(told: dict[str, dict[str, float]]) -> Table:
    made = table("Document: small bets a hand in competitions", "", *told)
    rows = max(len(figures) for figures in told.values())
    columns = [[f"{who} {won:+z.3f}" for who, won in figures.items()] for figures in told.values()]
    for number in range(rows):
        cells = [column[number] if number < len(column) else "" for column in columns]
        made.add_row(str(number + 1), *cells)
    return made


def picture(data: Data, path: Path) -> None:
    """Draw every meeting with its interval."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = data["meetings"]
    figure, axes = plt.subplots(figsize=(8, 1.5 + 0.25 * len(rows)), layout="constrained")
    bars(axes, rows, scale=0.001)
    axes.set(xlabel="small bets a hand", title=f"{data['hands']:,} duplicate hands a meeting")
    chart.save(figure, path, dpi=110)
    plt.close(figure)

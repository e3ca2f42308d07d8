"""The results of :mod:`equipoise.bench.reproduce.tartanian` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.bench.reports.meetings_report import bars, missing, rate, table, trained
from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """All tables."""
    from rich.console import Group

    parts: list[RenderableType] = []
    if data["trained"]:
        known = trained(data["trained"])
        told = "; ".join(f"{k}: {v}" for k, v in data["document_exploitability_bb"].items())
        known.caption = f"document, bb/hand: {told}"
        parts.append(known)
    if data["sizes"]:
        parts.append(_meetings(f"Sizes, {data['hands']:,} hands a meeting", data["sizes"]))
    for key, title in (("postprocessing", "Post-processing"), ("off_tree", "Off the tree")):
        if data[key] is not None:
            told = f"{title} of {data['blueprint']}"
            if "among" in data[key]:
                parts.append(_meetings(f"{told}: among each other", data[key]["among"]))
            parts += [
                _meetings(f"{told}: against the field", data[key]["field"]),
                _better(f"{told}: what the first wins more, paired by deals", data[key]["better"]),
            ]
    parts += [_lbr(data), _claims(data["claims"])]
    if data["missing"]:
        parts.append(missing(data["missing"]))
    return Group(*parts)


def _meetings(title: str, rows: list[Data]) -> Table:
    made = table(title, "meeting", "mbb/hand", "says")
    for row in rows:
        made.add_row(f"{row['a']} v {row['b']}", rate(row), row["says"])
    return made


def _better(title: str, rows: list[Data]) -> Table:
    made = table(title, "", "mbb/hand", "says")
    for row in rows:
        whom = f"{row['a']} than {row['than']}, against {row['against']}"
        made.add_row(whom, rate(row), row["says"])
    return made


def _lbr(data: Data) -> Table:
    made = table("Local best responses win, mbb/hand", "from", "menu", "mbb/hand")
    for row in data["lbr"]:
        made.add_row(row["agent"], row["menu"], rate(row))
    # Beside ours stand only figures of the same menu.
    measured = {row["menu"] for row in data["lbr"]}
    for menu, figures in data["published_lbr"].items():
        if menu in measured:
            made.add_section()
            for name, won in figures.items():
                made.add_row(f"{name}, published", menu, f"{won:+,}")
    return made


def _claims(claims: Data) -> str:
    lines = []
    for claim, told in claims.items():
        known = [f"{what}: {says}" for what, says in told.items() if says is not None]
        lines.append(f"{claim.replace('_', ' ')}: {'; '.join(known) or 'not played'}")
    return "\n".join(lines)


def picture(data: Data, path: Path) -> None:
    """Draw every meeting with its interval, and the local best responses."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels: dict[str, list[Data]] = {"sizes": data["sizes"]}
    for key in ("postprocessing", "off_tree"):
        if data[key] is not None:
            panels[key.replace("_", " ")] = [*data[key].get("among", []), *data[key]["field"]]
    panels["local best responses"] = [
        {**row, "a": f"lbr {row['menu']}", "b": row["agent"]} for row in data["lbr"]
    ]
    panels = {name: rows for name, rows in panels.items() if rows}
    figure, axes = plt.subplots(
        1, len(panels), figsize=(6 * len(panels), 6), layout="constrained", squeeze=False
    )
    for place, (name, rows) in zip(axes[0], panels.items(), strict=True):
        bars(place, rows)
        place.set(title=name, xlabel="mbb/hand")
    chart.save(figure, path, dpi=110)
    plt.close(figure)

"""The results of :mod:`equipoise.bench.reproduce.subgames.experiments` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Data = dict[str, Any]

#: Figures of the literature's toys and of the exact programs, beside which ours are printed.
KNOWN_COIN = {
    "unsafe, sells (0, 1/2)": 0.75,
    "unsafe, sells (1/2, 0)": 0.25,
    "resolve, sale prices": 0.0,
    "maxmargin, sale prices": 0.0,
    "resolve, best response to 1/2": 0.25,
    "maxmargin, best response to 1/2": 0.25,
    "reach-maxmargin, best response to 1/2": 0.125,
}


def report(data: Data) -> RenderableType:
    """All tables."""
    from rich.console import Group

    return Group(
        _coin(data["coin_toss"]),
        _signs(data["hand_signs"], data["games_apart"]),
        _leduc(data["leduc"]),
        *(_nested(table) for table in data["nolimit_leduc"]["tables"]),
        _small(data["small_deck"]),
        _depth(data["depth_limit"]),
        _turn(data["turn_and_rivers"]),
        _thresholds(data["turn_and_rivers"]["thresholds"]),
    )


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _pair(values: list[float], digits: int = 4) -> str:
    return " / ".join(f"{value:z.{digits}f}" for value in values[:2])


def _coin(data: Data) -> Table:
    table = _table(
        "Coin toss: chance of guessing heads, and what the guesser then loses",
        *("method", "heads", "exploitability", "closed form"),
    )
    for name, row in data["rows"].items():
        table.add_row(
            name,
            f"{row['heads']:z.4f}",
            f"{row['exploitability']:z.4f}",
            f"{KNOWN_COIN[name]:.4f}",
        )
    return table


def _signs(signs: Data, apart: Data) -> Table:
    table = _table(
        "Rock, paper, scissors; and games that do not touch, each solved alone",
        *("method", "play", "exploitability"),
    )
    for name, row in signs["rows"].items():
        play = ", ".join(f"{chance:z.3f}" for chance in row["play"])
        table.add_row(name, play, f"{row['exploitability']:z.4f}")
    table.add_row("games apart: uniform", "", _pair(apart["before"]))
    told = "; ".join(", ".join(f"{p:.3f}" for p in play) for play in apart["seat_1"].values())
    table.add_row("games apart: solved", told, _pair(apart["after"]))
    return table


def _leduc(data: Data) -> Table:
    names = list(data["rows"])
    table = _table(
        "Leduc's second round solved again: exploitability of seat 0 / seat 1 in chips, by linear "
        f"program (ties by the range), and by {data['iterations']} iterations of the sweep",
        *("method", "", *names),
    )
    first = [_pair(data["rows"][name]["blueprint"]) for name in names]
    table.add_row("blueprint", "", *first)
    methods = [method for method in data["rows"][names[0]] if method != "blueprint"]
    for method in methods:
        for label, key in (("program", "program"), ("ties by range", "tied"), ("sweep", "sweep")):
            figures = [_pair(data["rows"][name][method][key]) for name in names]
            table.add_row(method if key == "program" else "", label, *figures)
    margins = [_pair(data["rows"][name]["maxmargin"]["least_margin"]) for name in names]
    table.add_row("least margin of maxmargin", "", *margins)
    return table


def _nested(data: Data) -> Table:
    table = _table(
        f"No-limit Leduc, {data['behind']:g} chips behind, bets that the blueprint does not know: chips "
        "above the value",
        *("answer", "seat 0", "seat 1", "beside translation"),
    )
    base = data["rows"]["translation"]
    for name, row in data["rows"].items():
        share = max(own / known for own, known in zip(row, base, strict=True))
        table.add_row(name, *(f"{value:.4f}" for value in row), f"{share:.3f}")
    return table


def _small(data: Data) -> Table:
    table = _table(
        f"{data['game']}: second round solved again, chips",
        *("method", "seat 0 / seat 1", "least margin, % of pot"),
    )
    for name, row in data["rows"].items():
        told = _pair(row["least_margin_pct_pot"]) if name not in ("blueprint", "unsafe") else ""
        table.add_row(name, _pair(row["lost"]), told)
    return table


def _depth(data: Data) -> Table:
    table = _table(
        "First round solved to a depth limit, an equilibrium after it: exploitability in chips",
        *("game", "blueprint", "1 continuation", "4 continuations"),
    )
    for name, row in data["rows"].items():
        columns = ("blueprint", "1 continuation", "4 continuations")
        table.add_row(name, *(_pair(row[column]) for column in columns))
    return table


def _turn(data: Data) -> Table:
    names = list(data["rows"])
    table = _table(
        f"A turn and {data['rivers']} rivers solved again, {data['iterations']} iterations each: "
        "exploitability in % of the pot; least margin in % of the river's",
        *("method", *names),
    )
    for method in data["rows"][names[0]]:
        cells = []
        for name in names:
            row = data["rows"][name][method]
            lost = row["lost"] if isinstance(row, dict) else row
            cells.append(f"{_pair(lost, 2)} / {sum(lost[:2]) / 2:.2f}")
        table.add_row(method, *cells)
    for method in ("resolve, best response", "maxmargin"):
        margins = [data["rows"][name][method]["least_margin"] for name in names]
        table.add_row(f"least margin of {method}", *(_pair(least, 3) for least in margins))
    return table


def _thresholds(data: Data) -> Table:
    table = _table(
        f"A turn thresholded at {data['threshold']:g}, rivers solved unsafe: % of the pot, and how often "
        "rivers are bet",
        *("ranges", "exploitability", "bets"),
    )
    table.add_row("(blueprint's rivers)", _pair(data["blueprint"], 2), "")
    for name in ("ranges as played", "ranges before the threshold"):
        row = data[name]
        table.add_row(name, _pair(row["lost"], 2), " / ".join(f"{b:.1%}" for b in row["bets"]))
    return table


def picture(data: Data, path: Path) -> None:
    """Bars of Leduc and of the turn: exploitability by method, blueprints side by side."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(12, 5), layout="constrained")
    left, right = drawing.subplots(1, 2)
    leduc, turn = data["leduc"]["rows"], data["turn_and_rivers"]["rows"]
    _bars(left, {n: {m: _mean(leduc[n][m], "sweep") for m in leduc[n]} for n in leduc})
    left.set_title("Leduc's second round: chips")
    _bars(right, {n: {m: _mean(turn[n][m], "lost") for m in turn[n]} for n in turn})
    right.set_title("a turn and its rivers: % of the pot")
    chart.save(drawing, path, dpi=120)


def _mean(row: Any, key: str) -> float:
    values = row[key] if isinstance(row, dict) else row
    return float(sum(values[:2])) / 2


def _bars(axes: Any, rows: dict[str, dict[str, float]]) -> None:
    methods = list(next(iter(rows.values())))
    width = 0.8 / len(rows)
    for k, (name, row) in enumerate(rows.items()):
        places = [n + (k - (len(rows) - 1) / 2) * width for n in range(len(methods))]
        axes.bar(places, [row[method] for method in methods], width, label=name)
    axes.set_xticks(range(len(methods)), methods, rotation=25, ha="right")
    axes.set_ylabel("exploitability, mean of seats")
    axes.legend()

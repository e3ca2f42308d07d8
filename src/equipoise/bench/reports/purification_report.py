"""The results of :mod:`equipoise.bench.reproduce.purification` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """All tables."""
    from rich.console import Group

    games = data["matrix_games"]
    return Group(_supports(games), _detail(games), _verdict(games), _leduc(data["leduc"]))


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _interval(row: Data, name: str) -> str:
    return f"{row[name]:+z.5f} ± {row[f'{name}_ci95']:.5f}"


def _supports(games: Data) -> Table:
    table = _table(
        f"{games['games']:,} random 4×4 games, strategy of the 3×3 abstraction: payoff against the "
        "equilibrium of the whole game, by the size of its support (means, 95 % intervals)",
        *("support", "share", "raw", "purified", "gain", "better", "worse", "verdict",
          "best response takes: raw", "purified"),
    )  # fmt: skip
    for row in [{"support": "any"} | games["all"], *games["by_support"]]:
        table.add_row(
            str(row["support"]),
            f"{row['share']:.2%}",
            *(_interval(row, name) for name in ("raw", "pure", "gain")),
            f"{row['better']:.2%}",
            f"{row['worse']:.2%}",
            row["verdict"],
            *(f"{row[name]:.4f}" for name in ("raw_lost", "pure_lost")),
        )
    return table


def _detail(games: Data) -> Table:
    table = _table(
        "Gain by the supports: the whole game's, whether it has the dropped row and column, and "
        "the abstract one",
        *("support", "dropped row", "dropped column", "abstract", "share", "gain", "verdict"),
    )
    for row in games["by_detail"]:
        table.add_row(
            str(row["support"]),
            "in" if row["dropped_row_in_support"] else "out",
            "in" if row["dropped_column_in_support"] else "out",
            str(row["abstract_support"]),
            f"{row['share']:.2%}",
            "" if row["verdict"] == "no change" else _interval(row, "gain"),
            row["verdict"],
        )
    return table


def _verdict(games: Data) -> str:
    counts = {
        word: sum(row["verdict"] == word for row in games["by_detail"])
        for word in ("improves", "no change", "undecided", "worsens")
    }
    told = ", ".join(f"{word} in {count}" for word, count in counts.items())
    return (
        f"Purification {games['all']['verdict']} on average (document: improves, significant at "
        f"95 %).\nBy supports: {told} of {len(games['by_detail'])} cases, at 95 % for all of them "
        "together (document: a conjecture for which supports it improves or changes nothing).\n"
    )


def _leduc(data: Data) -> Table:
    table = _table(
        "Limit Leduc by CFR+: exploitability in mbb/hand before and after post-processing",
        *("iterations", *data["rules"]),
    )
    for row in data["rows"]:
        figures = (f"{row['exploitability_mbb'][rule]:.1f}" for rule in data["rules"])
        table.add_row(str(row["iterations"]), *figures)
    return table


def picture(data: Data, path: Path) -> None:
    """Draw the gain of purification by supports, and Leduc's exploitability by rule."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (gains, small) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    rows = [{"support": "any"} | data["matrix_games"]["all"], *data["matrix_games"]["by_support"]]
    gains.errorbar(
        range(len(rows)),
        [row["gain"] for row in rows],
        [row["gain_ci95"] for row in rows],
        fmt="o",
        capsize=4,
    )
    gains.axhline(0, color="grey", linewidth=0.8)
    gains.set_xticks(range(len(rows)), [str(row["support"]) for row in rows])
    gains.set(title="gain of purification, 95 % intervals", xlabel="support of the whole game")
    for rule in data["leduc"]["rules"]:
        small.plot(
            [row["iterations"] for row in data["leduc"]["rows"]],
            [row["exploitability_mbb"][rule] for row in data["leduc"]["rows"]],
            marker="o",
            label=rule,
        )
    small.set(xscale="log", yscale="log", xlabel="iterations of CFR+")
    small.set_title("limit Leduc: exploitability, mbb/hand")
    small.legend()
    for axes in (gains, small):
        axes.grid(alpha=0.3)
    chart.save(figure, path, dpi=110)
    plt.close(figure)

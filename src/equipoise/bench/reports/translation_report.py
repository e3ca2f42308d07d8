"""The results of :mod:`equipoise.bench.reproduce.translation` as tables and as a picture."""

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

    return Group(
        _even(data["curves"]),
        _clairvoyance(data["clairvoyance"]),
        _small(data["small_games"]),
        matches(data["matches"]),
    )


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(
            column, justify="left" if number == 0 else "right", overflow="fold", no_wrap=number == 0
        )
    return table


def _even(figures: Data) -> Table:
    names = [f"{name}: {told['small']:g} to {told['large']:g}" for name, told in figures.items()]
    table = _table("Bet, in pots, that is taken for the smaller size half the time", "", *names)
    for mapping in next(iter(figures.values()))["even_at"]:
        table.add_row(mapping, *(f"{told['even_at'][mapping]:.3f}" for told in figures.values()))
    table.caption = "document, figure 2: about .1 geometric, .5 arithmetic, .35 pseudo-harmonic"
    return table


def _clairvoyance(rows: list[Data]) -> Table:
    table = _table(
        "Clairvoyance: what the caller loses, in pots, by stack (expected beside it)",
        *("", *(f"{row['stack_pots']} pots" for row in rows)),
    )
    for mapping in rows[0]["expected"]:
        table.add_row(
            mapping,
            *(
                f"{_pots(row['caller_loses_pots'][mapping])} ({row['expected'][mapping]:.2f})"
                for row in rows
            ),
        )
    return table


def _small(rows: list[Data]) -> Table:
    from rich.text import Text

    mappings = list(next(iter(rows[0]["solved_by"].values()))["loses_pots"])
    table = _table(
        "No-limit Kuhn and Leduc: what a translating player loses, in pots a hand, mean of both "
        "players",
        *("game and menu", "stack", "bets in", "a round", "solved by"),
        *(name.replace("-", "-\n") for name in mappings),
    )
    for row in rows:
        for solver, told in row["solved_by"].items():
            means = [told["loses_pots"][name]["mean"] for name in mappings]
            cells = [
                Text(_pots(mean), style="bold" if mean < min(means) + 5e-4 else "")
                for mean in means
            ]
            table.add_row(
                f"{row['game']} {row['menu']}",
                str(row["stack_pots"]),
                f"{row['smallest_bet_pots']:g}",
                "any" if row["max_raises"] is None else str(row["max_raises"]),
                solver,
                *cells,
            )
    table.caption = "stack and steps of bets in pots; best of each line bold"
    return table


def matches(told: Data) -> RenderableType:
    """What a blueprint wins with each mapping."""
    if "missing" in told:
        return f"no matches were played: {told['missing']}"
    table = _table(
        f"{told['blueprint']}, raw, with each mapping: mbb/hand over {told['hands']:,} hands, and "
        "what it wins more than with pseudo-harmonic",
        *("mapping", "against", "wins", "more"),
    )
    for row in told["rows"]:
        more = row["more_than_pseudo_harmonic"]
        table.add_row(
            row["a"],
            row["b"],
            f"{row['mbb_per_hand']:+z,.0f} ± {row['ci95_mbb']:,.0f}",
            f"{more['mbb_per_hand']:+z,.0f} ± {more['ci95_mbb']:,.0f}",
        )
    return table


def _pots(value: float) -> str:
    """Three places, and no sign on what rounds to nothing."""
    return f"{value if abs(value) >= 5e-4 else 0.0:.3f}"


def picture(data: Data, path: Path) -> None:
    """Draw the papers' two figures, and losses in the clairvoyance game by stack."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    for axes, (name, told) in zip(panels, data["curves"].items(), strict=False):
        for mapping, chances in told["mappings"].items():
            axes.plot(told["bets"], chances, label=mapping)
        axes.set(title=f"{name}: A = {told['small']:g}, B = {told['large']:g}", ylim=(0, 1))
        axes.set(xlabel="bet x, pots", ylabel="probability of A")
    rows = data["clairvoyance"]
    for mapping in rows[0]["expected"]:
        stacks = [row["stack_pots"] for row in rows]
        lost = [row["caller_loses_pots"][mapping] for row in rows]
        panels[2].plot(stacks, lost, marker="o", label=mapping)
    panels[2].set(xscale="log", xlabel="stack, pots", ylabel="caller loses, pots")
    panels[2].set_yscale("symlog", linthresh=0.1)
    panels[2].set_ylim(bottom=-0.01)
    panels[2].set_title("clairvoyance game, menu {check, pot, all-in}")
    for axes in panels:
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    chart.save(figure, path, dpi=110)
    plt.close(figure)

"""Who jams and who calls among three players, as charts of all six decisions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.cards import chart
from equipoise.solve.strategies.jamfoldcharts import settled
from equipoise.solve.tournament.jamfold3 import JamFoldAnswer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {
    "b_jam": "button jams",
    "sb_jam": "small blind jams",
    "sb_call": "small blind calls the button",
    "bb_v_sb": "big blind calls the small blind",
    "bb_v_b": "big blind calls the button",
    "bb_overcall": "big blind calls both",
}


def plot_charts(answer: JamFoldAnswer, path: str | Path) -> Figure:
    """All six charts, two of each seat below one another."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(22, 15), dpi=90, facecolor="white", layout="constrained")
    shares = answer.ranges_pct()
    for axes, (name, title) in zip(figure.subplots(2, 3).flat, _TITLES.items(), strict=True):
        shown = settled(answer.strategy[name].reshape(13, 13))
        chart.draw(axes, shown, title=f"{title}: {shares[name]:.2f} % of hands")
    game = answer.game
    paid = "chips" if game.prizes is None else "prizes " + "-".join(f"{p:g}" for p in game.prizes)
    stacks = ", ".join(f"{stack:g}" for stack in game.stacks)
    figure.suptitle(f"jam or fold among three, stacks {stacks}, for {paid}", fontsize=16)
    chart.save(figure, path)
    return figure

"""How equity is spread over both ranges at a position: the graph in which players see who is ahead.

Hands of a range are ordered by equity, weakest first; at a share `x` of the range stands the equity of
the hand there. A range with more strong hands has the higher graph on the right.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.columnar import Columnar
from equipoise.games.spot import SEATS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from equipoise.solve.spots.position import Position

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


class EquityGraph(Columnar):
    """Equity over the share of the range, for both players."""

    def __init__(self, position: Position) -> None:
        self.title = position.title
        #: For each player: shares of the range, ascending to 1, and the equity of the hands there.
        self.curves: tuple[Curve, Curve] = (_curve(position, 0), _curve(position, 1))

    def at(self, player: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Equities of a player at shares of his range."""
        ends, equity = self.curves[player]
        found: NDArray[np.float64] = equity[np.searchsorted(ends, shares).clip(max=len(ends) - 1)]
        return found

    def columns(self) -> dict[str, Any]:
        """A row for every hundredth of the range."""
        shares = np.arange(101) / 100
        return {"share": shares, **{f"equity_{SEATS[p]}": self.at(p, shares) for p in (0, 1)}}

    def caption(self) -> str:
        """Where it is."""
        return self.title

    def plot(self, path: str | Path | None = None) -> Figure:
        """The graph as a picture, saved when a path is given."""
        from matplotlib.figure import Figure

        from equipoise.cards import chart

        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        for player, colour in ((0, chart.FOLD_COLOUR), (1, chart.BET_COLOURS[1])):
            ends, equity = self.curves[player]
            axes.step(
                [0, *ends], [equity[0], *equity], where="pre", color=colour, label=SEATS[player]
            )
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="share of the range", ylabel="equity")
        axes.set_title(self.title, fontsize=9)
        axes.grid(alpha=0.3)
        axes.legend()
        if path is not None:
            chart.save(figure, path)
        return figure


def _curve(position: Position, player: int) -> Curve:
    weight, equity = position.weight(player), position.equity(player)
    here = (weight > 0) & ~np.isnan(equity)
    weight, equity = weight[here], equity[here]
    if not len(weight):
        return np.array([1.0]), np.array([np.nan])
    order = np.argsort(equity, kind="stable")
    ends = np.cumsum(weight[order])
    return ends / ends[-1], equity[order]

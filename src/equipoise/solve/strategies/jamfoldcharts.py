"""Who jams and who calls: strategies of jam or fold as 13×13 charts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_SIZE
from equipoise.errors import GameError
from equipoise.games.library.jamfold import JamOrFold
from equipoise.games.rules import FOLD, Kind
from equipoise.solve.strategies.tabular import TabularStrategy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Frequency below which an action counts as not taken on a picture.
_HARDLY_EVER = 0.005


@dataclass(frozen=True)
class Charts:
    """How often each class jams and calls, as 13×13 charts with aces first."""

    jam: NDArray[np.float64]
    call: NDArray[np.float64]

    @property
    def jam_share(self) -> float:
        """Share of all hands that jam."""
        return float((self.jam.reshape(-1) * CLASS_SIZE).sum() / CLASS_SIZE.sum())

    @property
    def call_share(self) -> float:
        """Share of all hands that call."""
        return float((self.call.reshape(-1) * CLASS_SIZE).sum() / CLASS_SIZE.sum())


def charts(strategy: TabularStrategy) -> Charts:
    """Charts of a strategy of jam or fold, ready for :mod:`equipoise.cards.chart`."""
    betting = strategy.game.betting
    if not isinstance(betting.menu, JamOrFold):
        raise GameError(f"{strategy.game.name}: only jam or fold has a jam and a call chart")
    shown = {}
    for node in betting.of_kind(0, 0, 1).tolist():
        (row,) = (
            row
            for row, child in enumerate(betting.children(node))
            if betting.actions[child] != FOLD
        )
        action = betting.actions[betting.children(node)[row]]
        assert action is not None
        shown[action.kind] = strategy.rows(node)[row].reshape(13, 13)
    return Charts(jam=shown[Kind.RAISE], call=shown[Kind.CALL])


def plot_charts(strategy: TabularStrategy, path: str | Path) -> Figure:
    """Both charts side by side: who jams from the small blind, who calls from the big blind.

    An average strategy never quite forgets what it tried at first: what is done with less than half
    a percent is drawn as never done.
    """
    from matplotlib.figure import Figure

    from equipoise.cards import chart

    shown = charts(strategy)
    figure = Figure(figsize=(15.4, 8.2), dpi=120, facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2)
    chart.draw(left, settled(shown.jam), title=f"small blind jams {shown.jam_share:.2%} of hands")
    chart.draw(right, settled(shown.call), title=f"big blind calls {shown.call_share:.2%} of hands")
    figure.suptitle(strategy.game.name, fontsize=15)
    chart.save(figure, path)
    return figure


def settled(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Frequencies with hardly ever as never and nearly always as always."""
    settled: NDArray[np.float64] = np.where(frequencies < _HARDLY_EVER, 0.0, frequencies)
    return np.where(settled > 1 - _HARDLY_EVER, 1.0, settled)

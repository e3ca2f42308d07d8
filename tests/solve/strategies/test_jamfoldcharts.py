"""Charts of jam or fold: who jams, who calls, and what counts as never."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.cards import chart
from equipoise.cards.combos import class_text
from equipoise.errors import GameError
from equipoise.games.catalogue import jamfold, kuhn
from equipoise.games.game import Game
from equipoise.solve.strategies.jamfoldcharts import charts, plot_charts


class Fixed:
    """A strategy that jams pairs and calls with suited hands."""

    def __init__(self, of: Game) -> None:
        self.game = of

    def rows(self, node: int, board: int | None = None):
        names = [class_text(c) for c in range(169)]
        played = [len(n) == 2 if node == 0 else n.endswith("s") for n in names]
        return np.array([[1.0 - p for p in played], [float(p) for p in played]])


def test_a_picture_shows_sure_folds_as_folds(tmp_path, monkeypatch) -> None:
    """Traces of first tries are no part of a strategy that goes by percents."""
    drawn = []
    monkeypatch.setattr(chart, "draw", lambda axes, shares, title: drawn.append(shares))
    strategy = Fixed(jamfold(5))
    values = iter((np.array([[0.9999], [1e-4]]), np.array([[1e-4], [0.9999]])))
    monkeypatch.setattr(
        strategy, "rows", lambda node, board=None: np.repeat(next(values), 169, axis=1)
    )
    plot_charts(strategy, tmp_path / "chart.png")
    assert sorted(float(shares.max()) for shares in drawn) == [0.0, 1.0]


def test_charts_of_jam_or_fold() -> None:
    shown = charts(Fixed(jamfold(5)))
    assert (shown.jam == np.eye(13)).all()
    assert (shown.call == np.triu(np.ones((13, 13)), 1)).all()
    assert shown.jam_share == pytest.approx(78 / 1326)
    assert shown.call_share == pytest.approx(312 / 1326)
    with pytest.raises(GameError, match="only jam or fold"):
        charts(Fixed(kuhn()))

"""Jam or fold by stack: up to how many big blinds every hand goes all-in, and calls an all-in.

Heads-up, blinds of a half and one. Each stack is the game of :mod:`equipoise.games.library.jamfold`, solved
to the end; `stacks` are what both have before posting. Most hands jam up to one stack and fold from there
on, but not all: some weak suited hands jam at two separate spans of stacks, which :meth:`ShortStacks.spans`
tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, class_text
from equipoise.columnar import Columnar
from equipoise.errors import GameError
from equipoise.games.game import exact
from equipoise.games.library.jamfold import jamfold
from equipoise.run import Event, Limit, Listener, Stop
from equipoise.solve.registry import make_solver
from equipoise.solve.strategies.jamfoldcharts import Charts, charts

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

#: Stacks that are solved unless others are asked for: by halves up to 20 big blinds.
STACKS = tuple(2 + half / 2 for half in range(37))
#: Iterations of a solve: within a millionth of a big blind of the equilibrium.
_ITERATIONS = 2000
#: Stacks that one table may have, and the deepest of them.
_MOST_STACKS, _DEEPEST = 400, 500
#: What is done more often than this counts as done.
_DOES = 0.5


@lru_cache(maxsize=_MOST_STACKS)
def jam_charts(stack: Fraction | float) -> Charts:
    """Who jams and who calls with so many big blinds, solved once and remembered.

    >>> round(jam_charts(10).jam_share, 3), round(jam_charts(10).call_share, 3)
    (0.583, 0.374)
    """
    if not 1 < stack <= _DEEPEST:
        raise GameError(
            f"stack = {float(stack):g}: jam or fold is for more than 1 and up to {_DEEPEST}"
        )
    solver = make_solver("cfr+", jamfold(exact(stack)))
    solver.run(Limit(iterations=_ITERATIONS))
    return charts(solver.average_strategy())


class ShortStacks(Columnar):
    """Jam and call charts of several stacks."""

    def __init__(
        self,
        stacks: Sequence[float] = STACKS,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> None:
        if not 1 <= len(stacks) <= _MOST_STACKS:
            raise GameError(f"{len(stacks)} stacks: choose from 1 to {_MOST_STACKS}")
        #: Big blinds, ascending.
        self.stacks: tuple[float, ...] = ()
        #: Charts of each of them.
        self.charts: list[Charts] = []
        for done, stack in enumerate(sorted(set(stacks)), start=1):
            if stop is not None and stop.is_set():
                break
            self.charts.append(jam_charts(stack))
            self.stacks = (*self.stacks, float(stack))
            if listener is not None:
                listener(Event(done, len(stacks), what=f"{stack:g} bb"))

    def frequencies(self, kind: str) -> NDArray[np.float64]:
        """How often each class jams (`jam`) or calls (`call`): [stack, class]."""
        return np.stack([getattr(chart, kind).reshape(-1) for chart in self.charts])

    def deepest(self, kind: str) -> NDArray[np.float64]:
        """For each class the largest of the stacks with which it jams or calls; 0 for none."""
        does = self.frequencies(kind) >= _DOES
        deepest: NDArray[np.float64] = np.where(does, np.array(self.stacks)[:, None], 0.0).max(
            axis=0
        )
        return deepest

    def spans(self, kind: str, number: int) -> list[tuple[float, float]]:
        """Spans of stacks with which a class jams or calls, the smallest stacks first."""
        found: list[tuple[float, float]] = []
        open_ = False
        for stack, does in zip(
            self.stacks, self.frequencies(kind)[:, number] >= _DOES, strict=True
        ):
            if does:
                found = [*found[:-1], (found[-1][0], stack)] if open_ else [*found, (stack, stack)]
            open_ = bool(does)
        return found

    def columns(self) -> dict[str, Any]:
        """One row a class: the deepest stacks of its jam and its call, and their spans as text."""
        told: dict[str, Any] = {"hand": [class_text(k) for k in range(CLASS_COUNT)]}
        for kind in ("jam", "call"):
            told[f"{kind}_up_to_bb"] = self.deepest(kind).tolist()
            told[f"{kind}_spans_bb"] = [
                ", ".join(f"{low:g}–{high:g}" for low, high in self.spans(kind, k))
                for k in range(CLASS_COUNT)
            ]
        return told

    def caption(self) -> str:
        """The stacks that were solved."""
        return f"{len(self.stacks)} stacks from {self.stacks[0]:g} to {self.stacks[-1]:g} bb"

    def table(self) -> Table:
        """Shares of hands by stack, for a terminal."""
        from rich.table import Table

        table = Table(title="jam or fold by stack")
        for name in ("stack, bb", "small blind jams", "big blind calls"):
            table.add_column(name, justify="right")
        for stack, chart in zip(self.stacks, self.charts, strict=True):
            table.add_row(f"{stack:g}", f"{chart.jam_share:.1%}", f"{chart.call_share:.1%}")
        return table

    def plot(self, path: str | Path | None = None) -> Figure:
        """Both charts, every cell with the deepest stack of its hand; saved when a path is given."""
        from matplotlib.figure import Figure

        from equipoise.cards import chart

        figure = Figure(figsize=(15.4, 8.2), dpi=120, facecolor="white", layout="constrained")
        for axes, kind, title in zip(
            figure.subplots(1, 2), ("jam", "call"),
            ("small blind jams up to", "big blind calls up to"), strict=True,
        ):  # fmt: skip
            grid = self.deepest(kind).reshape(13, 13)
            axes.imshow(grid, cmap="YlGnBu", vmin=0, vmax=1.4 * self.stacks[-1])
            for (row, column), stack in np.ndenumerate(grid):
                told = f"{stack:g}" if stack else "–"
                label = f"{class_text(13 * row + column)}\n{told}"
                axes.text(column, row, label, ha="center", va="center", fontsize=8)
            axes.set_title(f"{title}, of {self.stacks[-1]:g} bb", fontsize=13, weight="bold")
            axes.axis("off")
        if path is not None:
            chart.save(figure, path)
        return figure

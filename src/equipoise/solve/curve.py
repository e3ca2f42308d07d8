"""Exploitability against iterations and time, as figures and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.cards.chart import save
from equipoise.solve.solver import Event

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curve:
    """A listener that keeps the measured points of a run."""

    def __init__(self) -> None:
        self.points: list[Event] = []

    def __call__(self, event: Event) -> None:
        """Keep an event that measured something."""
        if event.exploitability_chips is not None:
            self.points.append(event)


def plot_curves(
    curves: Mapping[str, Sequence[Event]], title: str, path: str | Path | None = None
) -> Figure:
    """All curves on one picture: by iteration on the left, by time on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), dpi=140, layout="constrained")
    by_iteration, by_time = figure.subplots(1, 2, sharey=True)
    for name, events in curves.items():
        shown = [event for event in events if event.exploitability_chips]
        chips = [event.exploitability_chips for event in shown]
        by_iteration.plot([event.iteration for event in shown], chips, label=name, linewidth=1.6)
        by_time.plot([event.seconds for event in shown], chips, label=name, linewidth=1.6)
    for axes, label in ((by_iteration, "iterations"), (by_time, "seconds")):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(label)
        axes.grid(True, which="major", alpha=0.3)
    by_iteration.set_ylabel("exploitability, chips a hand")
    by_iteration.legend()
    figure.suptitle(title)
    if path is not None:
        save(figure, path)
    return figure

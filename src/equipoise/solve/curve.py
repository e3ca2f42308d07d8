"""Exploitability against iterations and time, as figures and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards.chart import save
from equipoise.columnar import Columnar
from equipoise.run import Event

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Chips below which exploitability is rounding.
_LEAST = 1e-12


class Curve(Columnar):
    """A listener that keeps the measured points of a run."""

    def __init__(self) -> None:
        self.points: list[Event] = []

    def __call__(self, event: Event) -> None:
        """Keep an event that measured something."""
        if event.exploitability_chips is not None:
            self.points.append(event)

    def columns(self) -> dict[str, list[Any]]:
        """One row a look at the exploitability."""
        return {
            "iteration": [event.done for event in self.points],
            "seconds": [event.seconds for event in self.points],
            "exploitability_chips": [event.exploitability_chips for event in self.points],
        }


def plot_curves(
    curves: Mapping[str, Sequence[Event]], title: str, path: str | Path | None = None
) -> Figure:
    """All curves on one picture: by iteration on the left, by time on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), dpi=140, layout="constrained")
    by_iteration, by_time = figure.subplots(1, 2, sharey=True)
    floor = _floor(curves.values())
    for name, events in curves.items():
        exact = len(events) == 1
        chips = [max(event.exploitability_chips or 0.0, floor) for event in events]
        # One point has no line: it is marked, and a line across shows how far the others get.
        style: dict[str, Any] = (
            {"marker": "D", "linestyle": "none"} if exact else {"linewidth": 1.6}
        )
        label = name
        if exact and (events[0].exploitability_chips or 0.0) < floor:
            label = f"{name} (exact: {events[0].exploitability_chips:.0e})"
        for axes, along in (
            (by_iteration, [event.done for event in events]),
            (by_time, [event.seconds for event in events]),
        ):
            (drawn,) = axes.plot(along, chips, label=label, **style)
            if exact:
                axes.axhline(chips[0], color=drawn.get_color(), linewidth=0.8, alpha=0.5)
    for axes, label in ((by_iteration, "iterations"), (by_time, "seconds")):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(label)
        axes.grid(True, which="major", alpha=0.3)
    by_iteration.set_ylabel("exploitability, chips a hand")
    by_iteration.set_ylim(bottom=0.7 * floor)
    by_iteration.legend()
    figure.suptitle(title)
    if path is not None:
        save(figure, path)
    return figure


def _floor(curves: Iterable[Sequence[Event]]) -> float:
    """Least exploitability that is drawn: what runs of several points get to.

    A solver that is done at one stroke is exact to the last bit, which would leave a picture of ten
    empty magnitudes.
    """
    reached = [
        event.exploitability_chips
        for events in curves
        for event in events
        if len(events) > 1 and (event.exploitability_chips or 0.0) > 0
    ]
    return max(min((chips for chips in reached if chips), default=_LEAST), _LEAST)

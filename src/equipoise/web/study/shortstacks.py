"""`/study/jamfold`: who jams and who calls, heads-up, stack by stack."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from equipoise.solve.strategies.jamfoldcharts import settled
from equipoise.web.jobs import Job
from equipoise.web.shell import House, complain, frame
from equipoise.web.study import solving, views

#: Both players: what they do, and what it is called.
_KINDS = (("jam", "Small blind jams"), ("call", "Big blind calls"))
#: Stack that the page begins with.
_START = 10.0


def register(house: House) -> None:
    """Define the page."""

    @ui.page("/study/jamfold")
    def page(stack: float = _START) -> None:
        with frame(house, "Jam or fold", wide=True):
            views.subpages("/study/jamfold")
            ShortStacksPage(house, stack)


class ShortStacksPage:
    """The charts, once a server has solved them for anybody."""

    def __init__(self, house: House, stack: float) -> None:
        self.house, self.stack = house, stack if stack == stack else _START
        with ui.element("section").classes("panel"):
            ui.label("Jam or fold, heads-up").classes("h2")
            ui.label(
                "Blinds of a half and one, no ante; stacks in big blinds before posting, each solved."
            ).classes("muted small")
            self.state = (
                ui.label("solving every stack …").classes("num").props('aria-live="polite"')
            )
            self.controls = ui.element("div").classes("jam-controls")
        self.charts = ui.element("div").classes("side-by-side")
        self.limits = ui.element("div").classes("side-by-side")
        self.found: dict[str, Any] | None = house.shared.get("jamfold")
        self.job: Job | None = None
        if self.found is None:
            # With the agents: nobody waits for a flop to see a chart.
            self.job = house.jobs.submit(
                "table", solving.short_work, key="jamfold", label="jamfold"
            )
            self.timer = ui.timer(0.3, self._tick)
        else:
            self._ready()

    def _tick(self) -> None:
        assert self.job is not None
        if self.job.event is not None:
            self.state.text = (
                f"solving every stack: {self.job.event.done} of {self.job.event.total}"
            )
        if not self.job.over:
            return
        self.timer.deactivate()
        if self.job.state != "done":
            self.state.text = self.job.error
            complain(self.job.error)
            return
        self.found = self.house.shared["jamfold"] = self.job.result
        self._ready()

    def _ready(self) -> None:
        assert self.found is not None
        stacks = self.found["stacks"]
        self.place = int(np.argmin([abs(stack - self.stack) for stack in stacks]))
        with self.controls, ui.element("div").classes("line"):
            ui.button(icon="remove", on_click=lambda: self._to(self.place - 1)).props(
                'outline dense aria-label="Shorter stack"'
            )
            self.slider = ui.slider(
                min=0, max=len(stacks) - 1, value=self.place, on_change=lambda e: self._to(e.value)
            )
            self.slider.props('aria-label="Stack"').classes("grow")
            ui.button(icon="add", on_click=lambda: self._to(self.place + 1)).props(
                'outline dense aria-label="Deeper stack"'
            )
        self._draw()
        with self.limits:
            for kind, title in _KINDS:
                with ui.element("section").classes("panel"):
                    ui.label(f"{title} up to, of {stacks[-1]:g} bb").classes("h3")
                    ui.html(self._deepest(kind), sanitize=False)
                    ui.html(self._gaps(kind), sanitize=False)

    def _to(self, place: int) -> None:
        assert self.found is not None
        place = min(max(int(place), 0), len(self.found["stacks"]) - 1)
        if place != self.place:
            self.place = place
            self.slider.value = place
            self._draw()

    def _draw(self) -> None:
        found, place = self.found, self.place
        assert found is not None
        stack = found["stacks"][place]
        self.state.text = f"{stack:g} big blinds"
        self.charts.clear()
        with self.charts:
            for kind, title in _KINDS:
                with ui.element("section").classes("panel"):
                    share = found[f"{kind}_share"][place]
                    ui.label(f"{title} {share:.1%} of hands").classes("h3 title num")
                    often = settled(found[kind][place]).reshape(13, 13)
                    both = np.stack([1 - often, often], axis=-1)
                    ui.html(
                        views.strategy_chart(both, ("fold", "allin" if kind == "jam" else "call")),
                        sanitize=False,
                    )

    def _deepest(self, kind: str) -> str:
        """A chart with the deepest stack of every hand."""
        assert self.found is not None
        deepest = np.array(self.found["hands"][f"{kind}_up_to_bb"])
        top = self.found["stacks"][-1]
        notes = [f"{stack:g}{'+' * (stack == top)}" for stack in deepest.tolist()]
        return views.grid(views.heat_cells(np.where(deepest > 0, deepest / top, np.nan), notes))

    def _gaps(self, kind: str) -> str:
        """Hands that leave stacks out."""
        assert self.found is not None
        hands = self.found["hands"]
        told = [
            f"{hand} {spans}"
            for hand, spans in zip(hands["hand"], hands[f"{kind}_spans_bb"], strict=True)
            if "," in spans
        ]
        return f'<p class="muted small num">With gaps: {"; ".join(told)}</p>' if told else ""

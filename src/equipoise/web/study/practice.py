"""What one does at a decision of the study page besides looking: lock it and solve again, or practise it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
from nicegui import ui

from equipoise.cards.card import parse_cards
from equipoise.games.spot import Spot
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.study.drill import Drill
from equipoise.web import widgets
from equipoise.web.fields import Field
from equipoise.web.shell import complain, told
from equipoise.web.study import solving


class Describing(Protocol):
    """The side of the page that says what is solved."""

    #: What is fixed in the solution that is open.
    locks: list[solving.LockWords]

    def spot(self) -> Spot:
        """The spot as it is described."""

    def resolve(self, locks: list[solving.LockWords]) -> None:
        """Solve around locks."""


class Standing(Protocol):
    """The side of the page that shows a position."""

    page: Describing
    position: ShownPosition | None

    @property
    def line(self) -> tuple[str, ...]:
        """Where one stands."""

    def open(self, path: Path, at: str) -> None:
        """Open a file at a position."""


class Practice:
    """Locks and the drill of the position that is shown."""

    def __init__(self, result: Standing) -> None:
        self._result = result
        self._drill: Drill | None = None
        self._dealt = ""

    def leave(self) -> None:
        """Another position is gone to: its drill is another."""
        self._drill = None

    def draw(self, position: ShownPosition) -> None:
        """Both panels."""
        with ui.element("section").classes("panel drill") as self._box:
            self._practise(position)
        with ui.element("section").classes("panel"):
            self._lock(position)

    # --------------------------------------------------------------------------------------- locks

    def _lock(self, position: ShownPosition) -> None:
        ui.label("Lock this decision and solve again").classes("h3")
        with ui.element("div").classes("line"):
            boxes = {
                action: ui.number(f"{action} %", value=round(100 * float(often), 1), min=0, max=100)
                .props("dense outlined").classes("short")
                for action, often in zip(position.actions, position.frequencies(), strict=True)
            }  # fmt: skip
        with ui.element("div").classes("line"):
            hands = Field("only these hands").props("dense outlined").classes("grow")
            overall = ui.checkbox("over all hands, chosen to lose least")
        with ui.element("div").classes("line"):
            ui.button("Lock and solve", on_click=lambda: self._locked(
                position, {a: float(b.value or 0) / 100 for a, b in boxes.items()},
                hands.value or "", bool(overall.value))).props("outline no-caps")  # fmt: skip
            if self._result.page.locks:
                ui.button("Free all", on_click=self._free).props("flat no-caps")
        for line, play, only, by_frequency in self._result.page.locks:
            told_play = ", ".join(f"{action} {share:.0%}" for action, share in play.items())
            how = " overall" if by_frequency else f" for {only}" if only else ""
            ui.label(f"locked: {line or 'start'}: {told_play}{how}").classes("small muted num")

    def _locked(
        self, position: ShownPosition, play: dict[str, float], hands: str, overall: bool
    ) -> None:
        total = sum(play.values())
        if abs(total - 1) > 0.005 or not all(0 <= share <= 1 for share in play.values()):
            complain(f"the actions sum to {total:.1%}: make it 100 %")
            return
        play = {action: share / total for action, share in play.items()}
        line, page = ", ".join(position.line), self._result.page
        kept = [lock for lock in page.locks if lock[0] != line or (lock[2] and hands)]
        page.resolve([*kept, (line, play, hands, overall)])

    def _free(self) -> None:
        result = self._result
        result.page.locks = []
        with told():
            path = solving.solution_file(result.page.spot())
            result.open(path, ", ".join(result.line))

    # --------------------------------------------------------------------------------------- drill

    def _practise(self, position: ShownPosition) -> None:
        ui.label("Drill").classes("h3")
        drill = self._drill
        if drill is None:
            ui.label("Hands as they are held here; your action is graded by its EV.").classes(
                "muted small"
            )
            ui.button("Deal a hand", on_click=lambda: self._deal(position)).props("outline no-caps")
            return
        score = drill.score()
        ui.label(
            f"{score['right']} of {score['hands']} right, {score['blunders']} blunders, "
            f"mean loss {score['mean_loss_pct_pot']:.2f} % of pot"
        ).classes("num small score")
        if drill.answers:
            last = drill.answers[-1]
            listed = ", ".join(
                f"{action} {last.plays[action]:.0%}, EV {worth:.2f}"
                for action, worth in last.worth.items()
            )
            ui.label(f"{last.hand} {last.action}: {last.grade} ({listed})").classes(
                f"small graded {'good' if last.grade == 'right' else 'bad'}"
            )
        with ui.element("div").classes("standing"):
            ui.html(widgets.cards(parse_cards(self._dealt)), sanitize=False).classes("cards dealt")
            with ui.element("div").classes("line"):
                for action in position.actions:
                    ui.button(action, on_click=lambda _, a=action: self._answered(a)).props(
                        "outline no-caps"
                    )

    def _deal(self, position: ShownPosition) -> None:
        with told():
            self._drill = Drill(position, np.random.default_rng())
            self._next()

    def _answered(self, action: str) -> None:
        assert self._drill is not None
        with told():
            self._drill.answer(action)
            self._next()

    def _next(self) -> None:
        assert self._drill is not None
        assert self._result.position is not None
        self._dealt = self._drill.deal()
        self._box.clear()
        with self._box:
            self._practise(self._result.position)

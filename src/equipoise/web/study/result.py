"""The right side of the study page: a solution walked by actions and cards, with all that is known there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import events, ui

from equipoise.cards.card import RANKS, SUITS, parse_card
from equipoise.cards.chart import action_colours
from equipoise.errors import EquipoiseError
from equipoise.games.nodes import DEAL
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.spots.solution import Solution
from equipoise.web import widgets
from equipoise.web.fields import Field
from equipoise.web.shell import told
from equipoise.web.study import solving, views
from equipoise.web.study.practice import Describing, Practice
from equipoise.web.study.reports import Reports

#: Rows that the table of hands shows at a time.
_ROWS = 12
_WALK = (
    "<script>document.addEventListener('click', e => { const t = e.target.closest && "
    "e.target.closest('.result [data-card], .result [data-hand]'); if (t) emitEvent('walked', "
    "{card: t.dataset.card || '', hand: t.dataset.hand || ''}); });</script>"
)


class Result:
    """A solution that is open, and where in it one stands."""

    def __init__(self, page: Describing) -> None:
        self.page = page
        self.path: Path | None = None
        self.solution: Solution | None = None
        self.position: ShownPosition | None = None
        self.mode, self.player, self.filter = "strategy", 0, ""
        self.reports, self.practice = Reports(self), Practice(self)
        self.box = ui.element("div").classes("result")
        with self.box, ui.element("section").classes("panel"):
            ui.label("Nothing is solved yet: describe a spot, and solve it.").classes("muted")
        ui.on("walked", self._walked)
        ui.add_body_html(_WALK)

    @property
    def line(self) -> tuple[str, ...]:
        """Where one stands."""
        return self.position.line if self.position is not None else ()

    def open(self, path: Path, at: str) -> None:
        """Open a file at a position; one that does not lead there opens at its start."""
        solution = solving.looked(path)
        try:
            position = solution.at(at) if at else solution.at()
        except EquipoiseError:
            position = solution.at()
        self.path, self.solution = path, solution
        self.stand(position)

    def stand(self, position: ShownPosition) -> None:
        """Go to a position."""
        self.position, self.filter = position, ""
        self.practice.leave()
        self.player = position.to_act if position.to_act is not None else self.player
        self.reports.beside.follow(position)
        self.draw()

    def _step(self, word: str) -> None:
        with told():
            assert self.position is not None
            self.stand(self.position.step(word))

    def _back(self, steps: int) -> None:
        assert self.solution is not None
        with told():
            self.stand(self.solution.at(*self.line[:steps]))

    def _walked(self, event: events.GenericEventArguments) -> None:
        if not isinstance(event.args, dict) or self.position is None:
            return
        card, hand = str(event.args.get("card", "")), str(event.args.get("hand", ""))
        if card:
            self._step(card)
        elif hand:
            self.filter = "" if self.filter == hand else hand
            self._draw_hands()
            self.reports.beside.choose()

    # ------------------------------------------------------------------------------------- drawing

    def draw(self) -> None:
        """Everything at the position."""
        self.box.clear()
        position, solution = self.position, self.solution
        assert position is not None
        assert solution is not None
        with self.box:
            with ui.element("section").classes("panel"):
                self._crumbs(position)
                self._head(position, solution)
                self._actions(position)
            with ui.element("section").classes("panel"):
                self._chart = ui.element("div").classes("chart-holder")
                self._draw_chart()
            with ui.element("section").classes("panel hands") as self._hands_box:
                self._draw_hands()
            with ui.element("section").classes("panel"):
                self.reports.draw(position)
            if position.to_act is not None:
                self.practice.draw(position)

    def _crumbs(self, position: ShownPosition) -> None:
        with ui.element("div").classes("crumbs"):
            ui.button("start", on_click=lambda: self._back(0)).props("flat dense no-caps")
            for number, word in enumerate(position.line, start=1):
                ui.label("›").classes("muted")
                ui.button(word, on_click=lambda _, n=number: self._back(n)).props(
                    "flat dense no-caps"
                )

    def _head(self, position: ShownPosition, solution: Solution) -> None:
        unit = position.unit
        with ui.element("div").classes("standing"):
            ui.html(widgets.cards(position.board), sanitize=False).classes("cards")
            with ui.element("div"):
                ui.label(position.title).classes("h3 title")
                locks = f", {len(solution.locks)} locked" if solution.locks else ""
                ui.label(
                    f"exploitability {solution.exploitability_pct_pot:.3f} % of pot after "
                    f"{solution.iterations:,} iterations{locks}"
                ).classes("muted small num")
        with ui.element("div").classes("tiles"):
            for name in ("oop", "ip"):
                turn = " to-act" if position.player == name else ""
                with ui.element("div").classes(f"tile {name}{turn}"):
                    ui.label(name.upper()).classes("muted small")
                    ui.label(f"EV {position.mean_ev(name):.3f} {unit}").classes("num strong")
                    ui.label(f"equity {position.mean_equity(name):.1%}").classes("num small")

    def _actions(self, position: ShownPosition) -> None:
        with ui.element("div").classes("line steps"):
            if position.to_act is not None:
                colours = action_colours(position.actions)
                for action, colour in zip(position.actions, colours, strict=True):
                    ui.button(action, on_click=lambda _, a=action: self._step(a)).props(
                        "outline no-caps"
                    ).style(f"border-left: 6px solid {colour}")
            elif position.answer.game.betting.kind[position.node] == DEAL:
                with ui.element("div").classes("deck"):
                    for suit in reversed(SUITS):
                        for rank in reversed(RANKS):
                            self._card(rank + suit, position)
            else:
                ui.label("The hand is over here.").classes("muted")

    def _card(self, name: str, position: ShownPosition) -> None:
        button = ui.button(name, on_click=lambda: self._step(name))
        button.props("dense flat no-caps").classes(f"suit-{name[1]}")
        if parse_card(name) in position.board:
            button.props("disable")

    def _draw_chart(self) -> None:
        position = self.position
        assert position is not None
        self._chart.clear()
        with self._chart:
            with ui.element("div").classes("line"):
                ui.toggle(list(views.MODES), value=self.mode, on_change=self._change_mode).props(
                    "dense no-caps"
                )
                ui.toggle(
                    {0: "oop", 1: "ip"}, value=self.player, on_change=self._change_player
                ).props("dense no-caps")
            with ui.element("div").classes("chart-row"):
                ui.html(views.matrix(position, self.mode, self.player), sanitize=False)
                with ui.element("div").classes("beside"):
                    ui.html(views.legend(position), sanitize=False)
                    ui.label("Click a cell to list its combos below.").classes("muted small")

    def _change_mode(self, event: Any) -> None:
        self.mode = event.value
        self._draw_chart()

    def _change_player(self, event: Any) -> None:
        self.player = event.value
        self._draw_chart()
        self._draw_hands()

    def _draw_hands(self) -> None:
        position = self.position
        assert position is not None
        self._hands_box.clear()
        with self._hands_box:
            self._hands(position)

    def _hands(self, position: ShownPosition) -> None:
        rows = views.hand_rows(position, self.player)
        if self.filter:
            rows = [row for row in rows if row["class"] == self.filter]
        unit = position.unit
        names = [("hand", "hand"), ("made", "made"), ("draw", "draw"), ("weight", "weight"),
                 ("ev", f"EV {unit}"), ("equity", "equity %")]  # fmt: skip
        if position.to_act == self.player:
            for k, action in enumerate(position.actions):
                names += [(f"p{k}", f"{action} %"), (f"ev{k}", f"EV {action}")]
        columns = [
            {"name": key, "label": label, "field": key, "sortable": True,
             "align": "left" if key in ("hand", "made", "draw") else "right"}
            for key, label in names
        ]  # fmt: skip
        with ui.element("div").classes("spread"):
            ui.label(f"Combos {self.filter}".strip()).classes("h3")
            search = Field("filter: AK, top pair, flush …").props("dense outlined clearable")
        table = ui.table(
            columns=columns, rows=rows, row_key="hand",
            pagination={"rowsPerPage": _ROWS, "sortBy": "ev", "descending": True},
        ).props("dense flat")  # fmt: skip
        search.bind_value_to(table, "filter")

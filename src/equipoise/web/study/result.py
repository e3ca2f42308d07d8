"""The right side of the study page: a solution walked by actions and cards, with all that is known there."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from nicegui import events, ui

from equipoise.cards.card import RANKS, SUITS
from equipoise.errors import EquipoiseError
from equipoise.games.nodes import DEAL
from equipoise.games.spot import Spot
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.spots.solution import Solution
from equipoise.solve.study.comparison import Comparison
from equipoise.solve.study.drill import Drill
from equipoise.solve.study.equitygraph import EquityGraph
from equipoise.solve.study.handclasses import HandClasses
from equipoise.solve.study.runouts import RunoutReport
from equipoise.web.shell import complain, told
from equipoise.web.study import solving, views

#: Rows that the table of hands shows at a time.
_ROWS = 12


class Describing(Protocol):
    """The side of the page that says what is solved."""

    #: What is fixed in the solution that is open.
    locks: list[solving.LockWords]

    def spot(self) -> Spot:
        """The spot as it is described."""

    def resolve(self, locks: list[solving.LockWords]) -> None:
        """Solve around locks."""


class Result:
    """A solution that is open, and where in it one stands."""

    def __init__(self, page: Describing) -> None:
        self.page = page
        self.path: Path | None = None
        self.solution: Solution | None = None
        self.position: ShownPosition | None = None
        self.marked: ShownPosition | None = None
        self.mode, self.player, self.filter = "strategy", 0, ""
        self.drill: Drill | None = None
        self.box = ui.element("div").classes("result")
        with self.box, ui.element("section").classes("panel"):
            ui.label("Nothing is solved yet: describe a spot, and solve it.").classes("muted")
        ui.on("walked", self._walked)
        ui.add_body_html(
            "<script>document.addEventListener('click', e => { const t = e.target.closest && "
            "e.target.closest('.result [data-card], .result [data-hand]'); if (t) emitEvent('walked', "
            "{card: t.dataset.card || '', hand: t.dataset.hand || ''}); });</script>"
        )

    @property
    def line(self) -> tuple[str, ...]:
        """Where one stands."""
        return self.position.line if self.position is not None else ()

    def open(self, path: Path, at: str) -> None:
        """Open a file at a position; one that does not lead there opens at its start."""
        solution = Solution.look(path)
        try:
            position = solution.at(at) if at else solution.at()
        except EquipoiseError:
            position = solution.at()
        self.path, self.solution = path, solution
        self._stand(position)

    def _stand(self, position: ShownPosition) -> None:
        self.position, self.filter, self.drill = position, "", None
        self.player = position.to_act if position.to_act is not None else self.player
        self._draw()

    def _step(self, word: str) -> None:
        with told():
            assert self.position is not None
            self._stand(self.position.step(word))

    def _back(self, steps: int) -> None:
        assert self.solution is not None
        with told():
            self._stand(self.solution.at(*self.line[:steps]))

    def _walked(self, event: events.GenericEventArguments) -> None:
        if not isinstance(event.args, dict) or self.position is None:
            return
        card, hand = str(event.args.get("card", "")), str(event.args.get("hand", ""))
        if card:
            self._step(card)
        elif hand:
            self.filter = "" if self.filter == hand else hand
            self._draw()

    # ------------------------------------------------------------------------------------- drawing

    def _draw(self) -> None:
        self.box.clear()
        position, solution = self.position, self.solution
        assert position is not None
        assert solution is not None
        with self.box:
            with ui.element("section").classes("panel"):
                self._crumbs(position, solution)
                self._actions(position)
            with ui.element("section").classes("panel"):
                self._matrix(position)
            with ui.element("section").classes("panel hands"):
                self._hands(position)
            with ui.element("section").classes("panel"):
                self._reports(position)
            if position.to_act is not None:
                with ui.element("section").classes("panel"):
                    self._lock(position)
                with ui.element("section").classes("panel"):
                    self._practise(position)

    def _crumbs(self, position: ShownPosition, solution: Solution) -> None:
        with ui.element("div").classes("crumbs"):
            ui.button("start", on_click=lambda: self._back(0)).props("flat dense no-caps")
            for number, word in enumerate(position.line, start=1):
                ui.label("›").classes("muted")
                ui.button(word, on_click=lambda _, n=number: self._back(n)).props(
                    "flat dense no-caps"
                )
        ui.label(position.title).classes("h3 title")
        unit = position.unit
        ui.label(
            "; ".join(
                f"{name} EV {position.mean_ev(name):.3f} {unit}, equity {position.mean_equity(name):.1%}"
                for name in ("oop", "ip")
            )
        ).classes("num means")
        locks = f", {len(solution.locks)} locked" if solution.locks else ""
        ui.label(
            f"exploitability {solution.exploitability_pct_pot:.3f} % of pot after "
            f"{solution.iterations:,} iterations{locks}"
        ).classes("muted small num")

    def _actions(self, position: ShownPosition) -> None:
        with ui.element("div").classes("line steps"):
            if position.to_act is not None:
                for action in position.actions:
                    ui.button(action, on_click=lambda _, a=action: self._step(a)).props(
                        "outline no-caps"
                    )
            elif position.answer.game.betting.kind[position.node] == DEAL:
                with ui.element("div").classes("deck"):
                    for suit in reversed(SUITS):
                        for rank in reversed(RANKS):
                            self._card(rank + suit)
            else:
                ui.label("The hand is over here.").classes("muted")

    def _card(self, name: str) -> None:
        assert self.position is not None
        from equipoise.cards.card import parse_card

        button = ui.button(name, on_click=lambda: self._step(name)).props("dense flat no-caps")
        if parse_card(name) in self.position.board:
            button.props("disable")

    def _matrix(self, position: ShownPosition) -> None:
        with ui.element("div").classes("line"):
            ui.toggle(list(views.MODES), value=self.mode, on_change=self._change_mode).props(
                "dense no-caps"
            )
            ui.toggle({0: "oop", 1: "ip"}, value=self.player, on_change=self._change_player).props(
                "dense no-caps"
            )
        ui.html(views.legend(position), sanitize=False)
        ui.html(views.matrix(position, self.mode, self.player), sanitize=False)
        ui.label("Click a cell to list its combos.").classes("muted small")

    def _change_mode(self, event: Any) -> None:
        self.mode = event.value
        self._draw()

    def _change_player(self, event: Any) -> None:
        self.player = event.value
        self._draw()

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
            search = ui.input("filter: AK, top pair, flush …").props("dense outlined clearable")
        table = ui.table(
            columns=columns, rows=rows, row_key="hand",
            pagination={"rowsPerPage": _ROWS, "sortBy": "ev", "descending": True},
        ).props("dense flat")  # fmt: skip
        search.bind_value_to(table, "filter")

    # ------------------------------------------------------------------------------------- reports

    def _reports(self, position: ShownPosition) -> None:
        with ui.tabs().props("dense no-caps") as tabs:
            names = ["equity", "classes", "compare", "download"]
            if position.answer.game.betting.kind[position.node] == DEAL:
                names.insert(0, "run-outs")
            made = {name: ui.tab(name) for name in names}
        with ui.tab_panels(tabs, value=made[names[0]]).classes("plain-panels"):
            for name, tab in made.items():
                with ui.tab_panel(tab), told():
                    {
                        "equity": self._equity, "classes": self._classes, "compare": self._compare,
                        "download": self._download, "run-outs": self._runouts,
                    }[name](position)  # fmt: skip

    def _equity(self, position: ShownPosition) -> None:
        ui.html(views.equity_svg(EquityGraph(position)), sanitize=False)

    def _classes(self, position: ShownPosition) -> None:
        found = HandClasses(position, self.player)
        columns = [
            {"name": key, "label": key.replace("_", " "), "field": key, "align": "right"}
            for key in found.columns()
        ]
        rows = [
            {
                key: round(value, 3) if isinstance(value, float) else value
                for key, value in row.items()
            }
            for row in found.rows
        ]
        ui.table(columns=columns, rows=rows, row_key="class").props("dense flat")

    def _runouts(self, position: ShownPosition) -> None:
        holder = ui.element("div")

        def show() -> None:
            holder.clear()
            with holder, told():
                report = RunoutReport(position)
                keys = [key for key in report.columns() if key not in ("card", "board", "player")]
                heat = ui.html(views.runout_heat(report, keys[0]), sanitize=False)
                ui.select(keys, value=keys[0], label="coloured by", on_change=lambda e: heat.set_content(
                    views.runout_heat(report, e.value))).props("dense outlined")  # fmt: skip

        with holder:
            ui.button("Show every card", on_click=show).props("outline no-caps")

    def _compare(self, position: ShownPosition) -> None:
        def mark() -> None:
            self.marked = position
            ui.notify("marked: walk on, or solve another spot, and compare", type="positive")
            self._draw()

        ui.button("Mark this position", on_click=mark).props("outline no-caps")
        if self.marked is None:
            return
        found = Comparison(self.marked, position)
        ui.label(f"{found.titles[0]}   v   {found.titles[1]}").classes("small")
        rows = [
            {"what": f"EV {name} {found.unit}", "marked": f"{one:.3f}", "here": f"{other:.3f}",
             "difference": f"{other - one:+.3f}"}
            for name, (one, other) in found.ev.items()
        ]  # fmt: skip
        rows += [
            {"what": name, "marked": f"{one:.1%}", "here": f"{other:.1%}",
             "difference": f"{100 * (other - one):+.1f} points"}
            for name, (one, other) in found.actions.items()
        ]  # fmt: skip
        hands = found.columns()
        for i in range(min(8, len(hands.get("hand", ())))):
            rows.append({"what": hands["hand"][i], "marked": "", "here": "",
                         "difference": f"plays {hands['difference'][i]:.0%} otherwise"})  # fmt: skip
        columns = [
            {"name": key, "label": key, "field": key, "align": "left"}
            for key in ("what", "marked", "here", "difference")
        ]
        ui.table(columns=columns, rows=rows, row_key="what").props("dense flat").classes("compared")

    def _download(self, position: ShownPosition) -> None:
        import json

        def picture() -> None:
            data = io.BytesIO()
            position.plot().savefig(data, format="png", dpi=150)
            ui.download(data.getvalue(), "position.png")

        with ui.element("div").classes("line"):
            if position.to_act is not None:
                ui.button("CSV", on_click=lambda: ui.download(
                    position.to_polars().write_csv().encode(), "position.csv")).props("outline")  # fmt: skip
                ui.button("PNG", on_click=picture).props("outline")
            ui.button("JSON", on_click=lambda: ui.download(
                json.dumps(position.to_dict()).encode(), "position.json")).props("outline")  # fmt: skip

    # ------------------------------------------------------------------------------ locks, practice

    def _lock(self, position: ShownPosition) -> None:
        ui.label("Lock this decision and solve again").classes("h3")
        with ui.element("div").classes("line"):
            boxes = {
                action: ui.number(f"{action} %", value=round(100 * float(often), 1), min=0, max=100)
                .props("dense outlined").classes("short")
                for action, often in zip(position.actions, position.frequencies(), strict=True)
            }  # fmt: skip
        with ui.element("div").classes("line"):
            hands = ui.input("only these hands").props("dense outlined").classes("grow")
            overall = ui.checkbox("over all hands, chosen to lose least")
        with ui.element("div").classes("line"):
            ui.button("Lock and solve", on_click=lambda: self._locked(
                position, {a: float(b.value or 0) / 100 for a, b in boxes.items()},
                hands.value or "", bool(overall.value))).props("outline no-caps")  # fmt: skip
            if self.page.locks:
                ui.button("Free all", on_click=self._free).props("flat no-caps")

    def _locked(
        self, position: ShownPosition, play: dict[str, float], hands: str, overall: bool
    ) -> None:
        total = sum(play.values())
        if abs(total - 1) > 0.005 or not all(0 <= share <= 1 for share in play.values()):
            complain(f"the actions sum to {total:.1%}: make it 100 %")
            return
        play = {action: share / total for action, share in play.items()}
        line = ", ".join(position.line)
        kept = [lock for lock in self.page.locks if lock[0] != line or (lock[2] and hands)]
        self.page.resolve([*kept, (line, play, hands, overall)])

    def _free(self) -> None:
        self.page.locks = []
        with told():
            self.open(solving.solution_file(self.page.spot()), ", ".join(self.line))

    def _practise(self, position: ShownPosition) -> None:
        ui.label("Drill").classes("h3")
        if self.drill is None:
            ui.button("Deal a hand", on_click=self._deal).props("outline no-caps")
            return
        score = self.drill.score()
        ui.label(
            f"{score['right']} of {score['hands']} right, mean loss {score['mean_loss_pct_pot']:.2f} % of pot"
        ).classes("num small score")
        if self.drill.answers:
            last = self.drill.answers[-1]
            listed = ", ".join(f"{action} {worth:.2f}" for action, worth in last.worth.items())
            ui.label(f"{last.hand} {last.action}: {last.grade} ({listed})").classes("small")
        ui.label(self.dealt).classes("h2")
        with ui.element("div").classes("line"):
            for action in position.actions:
                ui.button(action, on_click=lambda _, a=action: self._answered(a)).props(
                    "outline no-caps"
                )

    def _deal(self) -> None:
        assert self.position is not None
        with told():
            self.drill = Drill(self.position, np.random.default_rng())
            self.dealt = self.drill.deal()
            self._draw()

    def _answered(self, action: str) -> None:
        assert self.drill is not None
        with told():
            self.drill.answer(action)
            self.dealt = self.drill.deal()
            self._draw()

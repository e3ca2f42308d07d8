"""Reports on a position of the study page: equities, classes, run-outs, comparison, downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import run, ui

from equipoise.games.nodes import DEAL
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.study.equitygraph import EquityGraph
from equipoise.solve.study.handclasses import HandClasses
from equipoise.solve.study.runouts import RunoutReport
from equipoise.web.shell import told
from equipoise.web.study import views
from equipoise.web.study.sidebyside import Looking, SideBySide
from equipoise.web.study.tables import figures_table, saved


class Reports:
    """The tabs below a position; only the one that is open is computed."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._chosen = "equity"
        #: What another position, or another solution, is compared with.
        self.beside = SideBySide(looking)

    def draw(self, position: ShownPosition) -> None:
        """The tabs, and the report that was open last."""
        kinds: dict[str, Callable[[ShownPosition], None]] = {
            "equity": self._equity, "classes": self._classes, "compare": self.beside.draw,
            "download": self._download,
        }  # fmt: skip
        if position.answer.game.betting.kind[position.node] == DEAL:
            kinds = {"run-outs": self._runouts, **kinds}
        chosen = self._chosen if self._chosen in kinds else next(iter(kinds))
        if "run-outs" in kinds and chosen == "equity":
            chosen = "run-outs"
        with ui.tabs().props("dense no-caps align=left") as tabs:
            for name in kinds:
                ui.tab(name)
        tabs.set_value(chosen)
        holder = ui.element("div").classes("report")

        def show(name: str) -> None:
            holder.clear()
            with holder, told():
                kinds[name](position)

        def choose(event: Any) -> None:
            self._chosen = str(event.value)
            show(self._chosen)

        tabs.on_value_change(choose)
        show(chosen)

    def _equity(self, position: ShownPosition) -> None:
        graph = EquityGraph(position)
        ui.html(views.equity_svg(graph), sanitize=False)
        saved("equities", graph, graph.plot)

    def _classes(self, position: ShownPosition) -> None:
        found = HandClasses(position, self._looking.player)
        ui.label(f"Hands of {found.player}").classes("small muted")
        figures_table(list(found.columns()), found.rows, "class")
        saved("classes", found, found.plot)

    def _runouts(self, position: ShownPosition) -> None:
        holder = ui.element("div").classes("report")

        async def show() -> None:
            # Half a second: beside the pages.
            report = await run.io_bound(RunoutReport, position)
            if report is None:
                return
            holder.clear()
            with holder, told():
                keys = [key for key in report.columns() if key not in ("card", "board", "player")]
                start = "equity_oop" if "equity_oop" in keys else keys[0]
                shown = {"column": start}
                heat = ui.html(views.runout_heat(report, start), sanitize=False)

                def colour(event: Any) -> None:
                    shown["column"] = event.value
                    heat.set_content(views.runout_heat(report, event.value))

                ui.select(keys, value=start, label="coloured by", on_change=colour).props(
                    "dense outlined"
                )
                names = [key for key in report.columns() if key not in ("board", "player")]
                figures_table(names, report.rows, "card", most=13)
                saved("runouts", report, lambda: report.plot(figure_of=shown["column"]))

        with holder:
            ui.button("Show every card", on_click=show).props("outline no-caps")

    def _download(self, position: ShownPosition) -> None:
        line = ", ".join(position.line)
        if line:
            ui.label(f"This position is --at '{line}' of `equipoise show`.").classes("small muted")
        turn = position.to_act is not None
        saved(
            "position",
            position if turn else None,
            position.plot if turn else None,
            whole=position.to_dict,
        )

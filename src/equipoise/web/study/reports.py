"""Reports on a position of the study page: equities, classes, run-outs, comparison, downloads."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from nicegui import run, ui

from equipoise.games.nodes import DEAL
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.study.comparison import Comparison
from equipoise.solve.study.equitygraph import EquityGraph
from equipoise.solve.study.handclasses import HandClasses
from equipoise.solve.study.runouts import RunoutReport
from equipoise.web.shell import told
from equipoise.web.study import views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from equipoise.columnar import Columnar

#: Hands that a comparison lists.
_HANDS = 12


class Looking(Protocol):
    """Who looks at which player's hands."""

    player: int

    def draw(self) -> None:
        """Draw everything anew."""


class Reports:
    """The tabs below a position; only the one that is open is computed."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._chosen = "equity"
        #: The position that others are compared with.
        self.marked: ShownPosition | None = None

    def draw(self, position: ShownPosition) -> None:
        """The tabs, and the report that was open last."""
        kinds: dict[str, Callable[[ShownPosition], None]] = {
            "equity": self._equity, "classes": self._classes, "compare": self._compare,
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
        ui.label(f"Hands of {'oop' if self._looking.player == 0 else 'ip'}").classes("small muted")
        _table(list(found.columns()), found.rows, "class")
        saved("classes", found, None)

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
                _table(names, report.rows, "card", most=13)
                saved("runouts", report, lambda: report.plot(figure_of=shown["column"]))

        with holder:
            ui.button("Show every card", on_click=show).props("outline no-caps")

    def _compare(self, position: ShownPosition) -> None:
        def mark() -> None:
            self.marked = position
            ui.notify("marked: walk on, or solve another spot, and compare", type="positive")
            self._looking.draw()

        ui.button("Mark this position", on_click=mark).props("outline no-caps")
        if self.marked is None:
            ui.label(
                "Mark a position, then walk on, or solve other sizes: both stand here side by side."
            ).classes("muted small")
            return
        found = Comparison(self.marked, position)
        with ui.element("div").classes("side-by-side"):
            for one, name in ((self.marked, "marked"), (position, "here")):
                with ui.element("div"):
                    ui.label(f"{name}: {one.title}").classes("small strong")
                    player = one.to_act if one.to_act is not None else self._looking.player
                    ui.html(views.legend(one), sanitize=False)
                    ui.html(views.matrix(one, "strategy", player), sanitize=False)
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
        for i in range(min(_HANDS, len(hands.get("hand", ())))):
            rows.append({"what": hands["hand"][i], "marked": "", "here": "",
                         "difference": f"plays {hands['difference'][i]:.0%} otherwise"})  # fmt: skip
        _table(["what", "marked", "here", "difference"], rows, "what").classes("compared")
        saved("comparison", found, None)

    def _download(self, position: ShownPosition) -> None:
        line = ", ".join(position.line)
        if line:
            ui.label(f"This position is --at '{line}' of `equipoise show`.").classes("small muted")
        if position.to_act is not None:
            saved("position", position, position.plot)
        ui.button("JSON", on_click=lambda: ui.download(
            json.dumps(position.to_dict()).encode(), "position.json")).props("outline dense")  # fmt: skip


def saved(name: str, table: Columnar, plot: Callable[[], Figure] | None) -> None:
    """Buttons that download a table as CSV and its picture."""

    def csv() -> None:
        with told():
            frame = table.to_polars()
            ui.download(frame.write_csv(float_precision=6).encode(), f"{name}.csv")

    def picture() -> None:
        with told():
            assert plot is not None
            data = io.BytesIO()
            plot().savefig(data, format="png", dpi=150)
            ui.download(data.getvalue(), f"{name}.png")

    with ui.element("div").classes("line"):
        ui.button("CSV", on_click=csv).props("outline dense")
        if plot is not None:
            ui.button("PNG", on_click=picture).props("outline dense")


def _table(
    keys: list[str], rows: list[dict[str, Any]], row_key: str, most: int | None = None
) -> ui.table:
    """A table of figures that sorts."""
    columns = [
        {"name": key, "label": key.replace("_", " "), "field": key, "sortable": True,
         "align": "left" if place == 0 else "right"}
        for place, key in enumerate(keys)
    ]  # fmt: skip
    shown = [
        {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]
    pages = {"rowsPerPage": most} if most else None
    return ui.table(columns=columns, rows=shown, row_key=row_key, pagination=pages).props(
        "dense flat"
    )

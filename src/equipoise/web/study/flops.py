"""`/study/flops`: one spot solved on many flops, and what is played on each: sorted, filtered, drawn.

Started here or with `equipoise batch`: a batch's folder is read as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from nicegui import ui

from equipoise.cards.card import parse_cards
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.solve.batch.boardtable import FIGURES, LOOKS, BoardTable
from equipoise.solve.batch.jobs import Batch, kept_template, on_board
from equipoise.solve.batch.report import BatchReport
from equipoise.solve.spots.cost import duration_text, size_text, spot_cost
from equipoise.solve.spots.fitting import check_fits, storage_for
from equipoise.solve.study.presets import PRESETS, preset
from equipoise.web.jobs import Job
from equipoise.web.shell import House, complain, frame, told
from equipoise.web.study import solving, views
from equipoise.web.study.form import amount, field
from equipoise.web.study.tables import saved

#: How many flops may stand for all.
_COUNTS = {
    5: "5 flops",
    10: "10 flops",
    25: "25 flops",
    50: "50 flops",
    100: "100 flops",
    0: "all 1,755",
}
#: Flops whose cost is counted; the others are taken to cost as much.
_SAMPLE = 8
#: Bars that are drawn, and rows of the table at a time.
_BARS, _ROWS = 60, 15
#: Iterations that most flops take to 0.5 % of the pot.
_ITERATIONS = 90
_OPEN = (
    "<script>document.addEventListener('click', e => { const t = e.target.closest && "
    "e.target.closest('[data-board]'); if (t) emitEvent('board', {board: t.dataset.board}); });</script>"
)


def register(house: House) -> None:
    """Define the page."""

    @ui.page("/study/flops")
    def page(spot: str = "") -> None:
        with frame(house, "Flops", wide=True) as visitor:
            views.subpages("/study/flops")
            FlopsPage(house, visitor, spot)


@lru_cache(maxsize=64)
def _cost_text(template: str, count: int | None) -> str:
    """What the flops of a spot cost, from some of them; counted once for all who ask."""
    batch = Batch.from_flops(Spot.from_toml(template), count)
    sample = batch.jobs[:: max(len(batch.jobs) // _SAMPLE, 1)][:_SAMPLE]
    costs = [spot_cost(job.spot) for job in sample]
    most = max(cost.memory_bytes() for cost in costs)
    mean = sum(cost.seconds_per_iteration for cost in costs) / len(costs)
    whole = duration_text(_ITERATIONS * mean * len(batch.jobs))
    return f"{len(batch.jobs):,} flops, up to {size_text(most)}, some {whole} of one core"


@dataclass(frozen=True)
class Running:
    """A batch that somebody started."""

    job: Job
    folder: Path


class FlopsPage:
    """One visitor's page."""

    def __init__(self, house: House, visitor: str, link: str) -> None:
        self.house, self.visitor = house, visitor
        self._runs: dict[str, Running] = house.shared.setdefault("flops", {})
        self.given: Spot | None = None
        with told():
            if link:
                self.given = Spot.from_toml(solving.unpacked(link))
        self.report: BatchReport | None = None
        self.table: BoardTable | None = None
        ui.add_body_html(_OPEN)
        ui.on("board", lambda event: self._open_board(event.args))
        with ui.element("div").classes("study"):
            with ui.element("div").classes("describe"):
                self._start_panel()
                self._open_panel()
            with ui.element("div").classes("answer"):
                with ui.element("section").classes("panel progress") as self.progress:
                    self.state = ui.label().classes("num").props('aria-live="polite"')
                    self.bar = ui.linear_progress(0, show_value=False)
                    ui.button("Stop", on_click=self._stop).props("outline")
                self.progress.set_visibility(visitor in self._runs)
                self.box = ui.element("div").classes("result")
                with self.box, ui.element("section").classes("panel"):
                    ui.label(
                        "No report is open: solve a spot on some flops, or open a folder of a batch."
                    ).classes("muted")
        ui.timer(0.5, self._tick)
        self._estimate()
        folders = solving.batch_folders()
        if folders and visitor not in self._runs:
            self._open(next(iter(folders.values())))

    # --------------------------------------------------------------------------------------- start

    def _start_panel(self) -> None:
        with ui.element("section").classes("panel"):
            ui.label("A spot on many flops").classes("h2")
            names = {name: f"{name}: {found.title}" for name, found in PRESETS.items()}
            if self.given is not None:
                names = {"": f"the spot of the link: {self.given!r}"[1:], **names}
            first = "" if self.given is not None else "four-bet"
            self.preset = ui.select(names, value=first, label="spot", on_change=self._estimate)
            self.preset.props("dense outlined")
            with ui.element("div").classes("line"):
                self.count = ui.select(
                    _COUNTS, value=10, label="how many", on_change=self._estimate
                )
                self.count.props("dense outlined").classes("grow")
                self.target = field("target, % of pot", None).classes("short target")
                self.target.value = "1"
                self.target.on_value_change(self._estimate)
            self.cost = ui.label().classes("small num cost").props('aria-live="polite"')
            ui.button("Solve them", on_click=self._start).props("unelevated").classes("solve")
            ui.label(
                "Ranges, amounts and sizes of your own: describe the spot under Spot, and choose All flops."
            ).classes("muted small")

    def _template(self) -> Spot:
        name = self.preset.value
        if name:
            return preset(name)
        assert self.given is not None
        if self.given.rounds < 3:
            raise EquipoiseError(
                f"the spot begins on the {self.given.street}: give it a flop, any, and come back"
            )
        return self.given

    def _count(self) -> int | None:
        return int(self.count.value or 0) or None

    def _target(self) -> float:
        target = float(amount("target", self.target.value))
        if not 0 < target <= 100:
            raise EquipoiseError("target: a percentage of the pot above 0, such as 1")
        return target

    def _estimate(self, *_: Any) -> None:
        try:
            self._target()
            told = _cost_text(self._template().to_toml(), self._count())
        except EquipoiseError as error:
            self.cost.text = str(error)
            self.cost.classes(add="bad")
            return
        self.cost.classes(remove="bad")
        self.cost.text = told

    def _start(self) -> None:
        with told():
            if self.visitor in self._runs:
                raise EquipoiseError("flops of yours are being solved: stop them first")
            template, target = self._template(), self._target()
            check_fits(template, compressed=storage_for(template) == "16-bit")
            folder = solving.batch_folder(template, target)
            job = self.house.jobs.submit(
                "long", solving.batch_work, template.to_toml(), self._count(), target, str(folder),
                label="flops", key=f"{self.visitor} flops", grace=solving.SECONDS_TO_SAVE,
            )  # fmt: skip
            self._runs[self.visitor] = Running(job, folder)
            self.state.text = "waiting …"
            self.bar.value = 0
            self.progress.set_visibility(True)

    def _stop(self) -> None:
        if (running := self._runs.get(self.visitor)) is not None:
            running.job.cancel()

    def _tick(self) -> None:
        running = self._runs.get(self.visitor)
        if running is None:
            return
        job, event = running.job, running.job.event
        if event is not None and event.total:
            self.bar.value = event.done / event.total
            self.state.text = f"{event.done} of {event.total} flops {event.what}"
        elif job.state == "waiting":
            self.state.text = "waiting for another solve …"
        if not job.over:
            return
        self._runs.pop(self.visitor, None)
        self.progress.set_visibility(False)
        if job.state == "failed":
            complain(job.error)
        if (running.folder / "report").is_dir():
            self._list_folders()
            self._open(running.folder)
            ui.run_javascript(views.SHOW_ANSWER)

    # ---------------------------------------------------------------------------------------- open

    def _open_panel(self) -> None:
        with ui.element("section").classes("panel"):
            ui.label("Reports").classes("h3")
            self.listed = ui.element("div").classes("foot")
            self._list_folders()
            with ui.element("div").classes("line"):
                self.folder = field("folder of equipoise batch", None).classes("grow")
                ui.button("Open", on_click=self._open_folder).props("outline dense")

    def _list_folders(self) -> None:
        self.listed.clear()
        folders = solving.batch_folders()
        with self.listed:
            if folders:
                ui.select(
                    list(folders),
                    label="solved here",
                    on_change=lambda e: self._open(folders[e.value]),
                ).props("dense outlined")
            else:
                ui.label("None was solved here yet.").classes("muted small")

    def _open_folder(self) -> None:
        client = ui.context.client.request.client
        if client is None or client.host not in ("127.0.0.1", "::1"):
            complain("files of the server are opened by who sits at it: connect from this machine")
            return
        text = str(self.folder.value or "").strip()
        if not text:
            complain("which folder? write the --out of `equipoise batch`")
            return
        self._open(Path(text).expanduser())

    def _open(self, folder: Path) -> None:
        with told():
            report = BatchReport.load(folder)
            table = BoardTable(report)
            self.report, self.folder_open = report, folder
            self.line, self.words, self.sort = table.line, "", table.actions[0]
            self._draw()

    def _draw(self) -> None:
        assert self.report is not None
        means = self.report.means()
        self.box.clear()
        with self.box:
            with ui.element("section").classes("panel"):
                ui.label(self.folder_open.name).classes("h3 title")
                unit = self.report.spots[0].get("unit", "chips")
                chips = self.report.spots[0].get("chips_per_unit", 1)
                ui.label(
                    f"{means['spots']:,} flops for {means['weight']:,.0f}; mean EV oop "
                    f"{means['ev_oop_chips'] / chips:.3f} {unit}, ip {means['ev_ip_chips'] / chips:.3f}, "
                    f"equity oop {means['equity_oop']:.1%}, exploitability "
                    f"{means['exploitability_pct_pot']:.2f} % of pot"
                ).classes("num small")
                with ui.element("div").classes("line"):
                    ui.select(
                        self.report.line_names(), value=self.line, label="decision after",
                        on_change=lambda e: self._change("line", e.value),
                    ).props("dense outlined").classes("grow")  # fmt: skip
                    self.sorted = ui.select(
                        [], label="sort by", on_change=lambda e: self._change("sort", e.value)
                    )
                    self.sorted.props("dense outlined").classes("grow")
                    words = field("only: paired, monotone, A-high, Ks …", None).classes("grow")
                    words.on_value_change(lambda e: self._change("words", e.value))
                self.wrong = ui.label().classes("bad small wrong").props('aria-live="polite"')
            self.shown = ui.element("div").classes("result")
        self._show()

    def _change(self, what: str, value: Any) -> None:
        if value is None or getattr(self, what) == value:
            return
        setattr(self, what, value)
        self._show()

    def _show(self) -> None:
        assert self.report is not None
        self.wrong.text = ""
        try:
            table = BoardTable(self.report, self.line)
            columns = [*table.actions, *FIGURES, "board"]
            self.sort = self.sort if self.sort in columns else table.actions[0]
            self.sorted.set_options(columns, value=self.sort)
            table = table.by(self.sort).where(self.words)
        except EquipoiseError as error:
            self.wrong.text = str(error)
            return
        self.table = table
        self.shown.clear()
        with self.shown:
            with ui.element("section").classes("panel"):
                ui.label(table.caption()).classes("h3")
                ui.html(views.board_bars(table, _BARS), sanitize=False)
                ui.label("Click a flop to study it.").classes("muted small")
            with ui.element("section").classes("panel hands"):
                self._rows(table)
                saved("flops", table, table.plot)

    def _rows(self, table: BoardTable) -> None:
        shares = {*table.actions, "reach", "equity_oop"}
        keys = ["board", *LOOKS, "weight", "reach", *table.actions, "ev_oop", "ev_ip", "equity_oop"]
        columns = [
            {"name": key, "label": key.replace("_", " ") + (" %" if key in shares else ""), "field": key,
             "sortable": True, "align": "left" if key in ("board", *LOOKS) else "right"}
            for key in keys
        ]  # fmt: skip
        rows = [
            {
                key: row[key]
                if not isinstance(row[key], float)
                else round(100 * row[key], 1)
                if key in shares
                else round(row[key], 3)
                for key in keys
            }
            for row in table.rows
        ]
        ui.table(
            columns=columns, rows=rows, row_key="board", pagination={"rowsPerPage": _ROWS}
        ).props("dense flat")

    def _open_board(self, told_board: Any) -> None:
        board = str(told_board.get("board", "")) if isinstance(told_board, dict) else ""
        with told():
            template = kept_template(self.folder_open)
            if template is None:
                raise EquipoiseError("the spots of this batch had no template: open its solutions")
            link = on_board(template, parse_cards(board))
            ui.navigate.to(f"/study?spot={solving.packed(link.to_toml())}")

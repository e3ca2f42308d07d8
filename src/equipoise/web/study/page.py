"""`/study`: a spot described on the left, its solution walked on the right.

Spots are solved by jobs (:mod:`.solving`) into files; the page opens those at once, looks at them and
draws what the library says (:mod:`.views`). `/study?spot=…` holds a spot in its address. A solve goes on
when the page is left, and is found again.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from nicegui import events, ui

from equipoise.cards.card import cards_text
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.solve.spots.cost import spot_cost
from equipoise.solve.spots.fitting import check_fits, memory_limit, storage_for
from equipoise.solve.study.presets import preset
from equipoise.web.shell import House, complain, frame, told
from equipoise.web.study import flops, shortstacks, solving, views
from equipoise.web.study.form import SpotForm, amount
from equipoise.web.study.form import field as box
from equipoise.web.study.ownranges import OwnRanges
from equipoise.web.study.rangegrid import PAINTING
from equipoise.web.study.result import Result
from equipoise.web.study.running import Running

#: Kind of document under which a visitor's spots are kept.
SPOT = "spot"


def register(house: House) -> None:
    """Define the pages."""

    @ui.page("/study")
    def study(spot: str = "", at: str = "") -> None:
        with frame(house, "Study", wide=True) as visitor:
            views.subpages("/study")
            StudyPage(house, visitor, spot, at)

    flops.register(house)
    shortstacks.register(house)


class StudyPage:
    """One visitor's page."""

    def __init__(self, house: House, visitor: str, link: str, at: str) -> None:
        self.house, self.visitor = house, visitor
        self._runs: dict[str, Running] = house.shared.setdefault("study", {})
        #: What was paused, to be gone on with.
        self._paused: Running | None = None
        running = self._runs.get(visitor)
        spot = preset(*solving.START)
        if running is not None and not link:
            spot = running.spot
        with told():
            if link:
                spot = Spot.from_toml(solving.unpacked(link))
        self.locks: list[solving.LockWords] = []
        ui.add_body_html(PAINTING)
        ui.on("painted", lambda event: self._painted(event))
        with ui.element("div").classes("study"):
            with ui.element("div").classes("describe"):
                self.own_ranges = OwnRanges(house.store, visitor)
                self.form = SpotForm(spot, self.own_ranges, self._described)
                with self.form.foot:
                    self._buttons()
            with ui.element("div").classes("answer"):
                self._solving()
                self.result = Result(self)
        ui.timer(0.5, self._tick)
        self._open_if_there(at)

    def spot(self) -> Spot:
        """The spot as it is described."""
        return self.form.spot()

    def _painted(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, dict):
            for grid in self.form.ranges.values():
                grid.painted(event.args)

    # ------------------------------------------------------------------------------------- library

    def _buttons(self) -> None:
        with ui.element("div").classes("line"):
            self.target = box("target, % of pot", None).classes("short target")
            self.target.value = "0.5"
            ui.button("Solve", on_click=self._solve).props("unelevated").classes("solve grow")
        with ui.element("div").classes("line"):
            ui.button("Link", icon="link", on_click=self._share).props("outline dense")
            ui.button("Keep", icon="bookmark", on_click=self._ask_name).props("outline dense")
            ui.button("As file", icon="download", on_click=self._toml).props("outline dense")
            ui.button("All flops", icon="grid_view", on_click=self._flops).props("outline dense")
        self.library = ui.element("div").classes("foot")
        self._list_kept()
        with ui.element("div").classes("line"):
            self.file = box("saved solution of this machine", None).classes("grow")
            ui.button("Open", on_click=self._open_file).props("outline dense")

    def _list_kept(self) -> None:
        self.library.clear()
        kept = self.house.store.kept(self.visitor, SPOT)
        if not kept:
            return
        with self.library, ui.element("div").classes("line"):
            chosen = ui.select(
                list(kept), label="kept spots", on_change=lambda e: self._take(kept[e.value])
            )
            chosen.props("dense outlined").classes("grow")
            ui.button(icon="delete", on_click=lambda: self._drop(chosen.value)).props(
                'flat dense aria-label="Delete the kept spot"'
            )

    def _take(self, text: str) -> None:
        with told():
            self.form.fill(Spot.from_toml(text))
            self.locks = []
            self._open_if_there("")

    def _drop(self, name: str | None) -> None:
        if name:
            self.house.store.drop(self.visitor, SPOT, name)
            for player in self.form.ranges:
                self.own_ranges.drop(f"{player} {name}")
            self._list_kept()

    def _ask_name(self) -> None:
        with told():
            spot = self.spot()
            pot, stack = spot.amount(spot.pot), spot.amount(spot.stack)
            with ui.dialog() as dialog, ui.element("div").classes("panel"):
                ui.label("Keep the spot and its ranges as").classes("h3")
                name = box("name", None)
                name.value = f"{cards_text(spot.board)}, pot {pot}, stack {stack} {spot.unit}"
                ui.button(
                    "Keep it", on_click=lambda: self._keep(spot, str(name.value or ""), dialog)
                ).props("unelevated")
            dialog.open()

    def _keep(self, spot: Spot, name: str, dialog: ui.dialog) -> None:
        name = " ".join(name.split())
        if not name:
            complain("give it a name to find it by")
            return
        with told():
            self.house.store.keep(self.visitor, SPOT, name, spot.to_toml())
            for player, own in (("oop", spot.oop_range), ("ip", spot.ip_range)):
                self.own_ranges.keep(f"{player} {name}", own)
            dialog.close()
            self._list_kept()
            ui.notify(f"kept as {name}", type="positive", html=False)

    def _share(self) -> None:
        with told():
            line = quote(", ".join(self.result.line))
            link = f"/study?spot={solving.packed(self.spot().to_toml())}" + (
                f"&at={line}" if line else ""
            )
            ui.run_javascript(
                f"history.replaceState(null, '', {link!r});"
                "navigator.clipboard && navigator.clipboard.writeText(location.href);"
            )
            ui.notify(
                "The address of this page now holds the spot, and is copied.", type="positive"
            )

    def _toml(self) -> None:
        with told():
            ui.download(self.spot().to_toml().encode(), "spot.toml")

    def _flops(self) -> None:
        with told():
            ui.navigate.to(f"/study/flops?spot={solving.packed(self.spot().to_toml())}")

    def _open_file(self) -> None:
        client = ui.context.client.request.client
        if client is None or client.host not in ("127.0.0.1", "::1"):
            complain("files of the server are opened by who sits at it: connect from this machine")
            return
        with told():
            text = str(self.file.value or "").strip()
            if not text:
                raise EquipoiseError("which file? write where a solution was saved")
            self.result.open(Path(text).expanduser(), "")
            assert self.result.solution is not None
            self.locks = []
            self.form.fill(self.result.solution.spot)

    # ------------------------------------------------------------------------------------- solving

    def _solving(self) -> None:
        with ui.element("section").classes("panel progress") as panel:
            self.progress = panel
            self.state = ui.label().classes("num").props('aria-live="polite"')
            self.curve = ui.html("", sanitize=False)
            with ui.element("div").classes("line"):
                self.pause = ui.button("Pause", on_click=lambda: self._end("pause"))
                self.stop = ui.button("Stop", on_click=lambda: self._end("stop"))
                self.on = ui.button("Go on", on_click=self._solve)
            for button in (self.pause, self.stop, self.on):
                button.props("outline")
        self.progress.set_visibility(self.visitor in self._runs)

    def _solve(self) -> None:
        with told():
            seen = self.result.solution
            # Locks are those of the spot that is open: another one has none yet.
            same = seen is not None and solving.said(seen.spot) == solving.said(self.spot())
            self._submit(self.locks if same else [])

    def resolve(self, locks: list[solving.LockWords]) -> None:
        """Solve around locks, from the solution that is open."""
        with told():
            self._submit(locks)

    def _submit(self, locks: list[solving.LockWords]) -> None:
        if self.visitor in self._runs:
            raise EquipoiseError("another spot of yours is being solved: pause or stop it first")
        target = float(amount("target", self.target.value))
        if not 0 < target <= 100:
            raise EquipoiseError("target: a percentage of the pot above 0, such as 0.5")
        spot = self.spot()
        if locks and spot_cost(spot).memory_bytes() > memory_limit():
            raise EquipoiseError("locks need 32-bit storage: cut the spot until that fits")
        check_fits(spot, compressed=not locks and storage_for(spot) == "16-bit")
        job = self.house.jobs.submit(
            "long", solving.solve_work, spot.to_toml(), target, tuple(locks), self._base(spot),
            label="solve", key=f"{self.visitor} study", grace=solving.SECONDS_TO_SAVE,
        )  # fmt: skip
        self.locks = locks
        self._runs[self.visitor] = Running(job, spot, target, locks)
        self.curve.content = ""
        self.progress.set_visibility(True)
        ui.run_javascript(views.SHOW_ANSWER)

    def _base(self, spot: Spot) -> str | None:
        """A solution of this very spot without locks that is here already."""
        own, seen = solving.solution_file(spot), self.result.solution
        if own.exists():
            return str(own)
        if seen is not None and solving.said(seen.spot) == solving.said(spot) and not seen.locks:
            return str(self.result.path)
        return None

    def _end(self, how: str) -> None:
        if (running := self._runs.get(self.visitor)) is not None:
            (running.stop if how == "stop" else running.pause)()

    def _described(self) -> None:
        """The spot may be another: only the one that was paused is gone on with."""
        paused = self._paused
        if paused is not None and solving.said(paused.spot) != solving.said(self.spot()):
            self._paused = None

    def _tick(self) -> None:
        running = self._runs.get(self.visitor)
        for button in (self.pause, self.stop):
            button.set_visibility(running is not None)
        self.on.set_visibility(running is None and self._paused is not None)
        if running is None:
            return
        self._paused = None
        self.state.text = running.follow()
        self.curve.content = views.curve_svg(running.points, running.target)
        job = running.job
        if not job.over:
            return
        self._runs.pop(self.visitor, None)
        if job.state == "failed":
            complain(job.error)
            return
        if job.state == "cancelled" and not running.stopped:
            self._paused = running
        path = solving.solution_file(running.spot, running.locks)
        if path.exists():
            with told():
                self.locks = list(running.locks)
                self.result.open(path, ", ".join(self.result.line))
                ui.run_javascript(views.SHOW_ANSWER)

    def _open_if_there(self, at: str) -> None:
        with told():
            path = solving.solution_file(self.spot(), self.locks)
            if path.exists():
                self.result.open(path, at)

"""`/study`: a spot described on the left, its solution walked on the right.

Spots are solved by jobs (:mod:`.solving`) into files; the page opens those at once, looks at them and
draws what the library says (:mod:`.views`). `/study?spot=…` holds a spot in its address.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from nicegui import events, ui

from equipoise.cards.card import RANKS, SUITS, cards_text, parse_cards
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.web.jobs import Job
from equipoise.web.shell import House, complain, frame, told
from equipoise.web.study import solving
from equipoise.web.study.rangegrid import PAINTING, RangeGrid
from equipoise.web.study.result import Result

#: Kinds of documents that a visitor keeps: spots and ranges of his own.
SPOT, RANGE = "spot", "range"
_START = """
unit = "bb"
board = "Ks8d3c2h"
pot = 5
stack = 97.5
[ranges]
oop = "99-22,A9s-A2s,KJs-K2s,QTs-Q5s,J9s-J7s,T9s-T7s,97s+,86s+,75s+,65s,54s,ATo-A5o,KTo-K9o,QTo+,JTo"
ip = "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,54s,A2o+,K7o+,Q8o+,J8o+,T8o+,98o"
"""
_MENU = (("bets", "33%,75%"), ("raises", "60%"))


def register(house: House) -> None:
    """Define the page."""

    @ui.page("/study")
    def study(spot: str = "", at: str = "") -> None:
        with frame(house, "Study", wide=True) as visitor:
            StudyPage(house, visitor, spot, at)


class StudyPage:
    """One visitor's page."""

    def __init__(self, house: House, visitor: str, link: str, at: str) -> None:
        self.house, self.visitor = house, visitor
        spot = Spot.from_toml(_START)
        with told():
            if link:
                spot = Spot.from_toml(solving.unpacked(link))
        self.locks: list[solving.LockWords] = []
        self.base: str | None = None
        self.job: Job | None = None
        self.points: list[tuple[int, float]] = []
        ui.add_body_html(PAINTING)
        ui.on("painted", lambda event: self._painted(event))
        with ui.element("div").classes("study"):
            with ui.element("div").classes("describe"):
                self._form(spot)
            with ui.element("div").classes("answer"):
                self._solving()
                self.result = Result(self)
        ui.timer(0.5, self._tick)
        self._estimate()
        self._open_if_there(at)

    # ------------------------------------------------------------------------------------ the spot

    def _form(self, spot: Spot) -> None:
        settings = spot.to_dict()
        with ui.element("section").classes("panel"):
            ui.label("Spot").classes("h2")
            with ui.element("div").classes("line"):
                self.board = _field("board", settings["board"], self._estimate).classes("grow")
                ui.button(icon="style", on_click=self._pick_cards).props(
                    'flat dense aria-label="Pick cards"'
                )
            with ui.element("div").classes("line"):
                self.pot = _field("pot", f"{settings['pot']:g}", self._estimate).classes("short")
                self.stack = _field("stack", f"{settings['stack']:g}", self._estimate).classes(
                    "short"
                )
                unit = settings.get("unit", "chips")
                self.unit = ui.select(
                    ["bb", "chips"], value=unit, label="in", on_change=self._estimate
                )
                self.unit.props("dense outlined").classes("short")
            self.menus: dict[str, Any] = {}
            ui.label("Bet sizes by street; empty boxes are the defaults").classes("muted small")
            menu = settings["menu"] if link_menu(settings) else {}
            for street in ("flop", "turn", "river"):
                own = menu.get(street, menu if "bets" in menu else {})
                own = own.get("oop", own)
                with ui.element("div").classes("line"):
                    ui.label(street).classes("street")
                    for key, hint in _MENU:
                        raw = own.get(key, "")
                        text = raw if isinstance(raw, str) else raw[0]
                        box = _field(f"{key} ({hint})", text, self._estimate).classes("grow")
                        self.menus[f"{street}.{key}"] = box
            self.cost = ui.label().classes("small num").props('aria-live="polite"')
            self.cost.classes("cost")
            with ui.element("div").classes("line"):
                self.target = _field("target, % of pot", "0.5", None).classes("short")
                ui.button("Solve", on_click=self._solve).props("unelevated").classes("solve")
                ui.button("Link", on_click=self._share).props("outline")
                ui.button("Keep", on_click=self._keep).props("outline")
            self._library()
        own = self.house.store.kept(self.visitor, RANGE)
        self.ranges = {
            name: RangeGrid(name, settings["ranges"][name], own, self._estimate)
            for name in ("oop", "ip")
        }

    def _library(self) -> None:
        kept = self.house.store.kept(self.visitor, SPOT)
        if kept:
            ui.select(
                list(kept), label="kept spots", on_change=lambda e: self._go(kept[e.value])
            ).props("dense outlined")
        with ui.element("div").classes("line"):
            self.file = _field("saved solution of this machine", "", None).classes("grow")
            ui.button("Open", on_click=self._open_file).props("outline")

    def _painted(self, event: events.GenericEventArguments) -> None:
        if isinstance(event.args, dict):
            for grid in self.ranges.values():
                grid.painted(event.args)

    def _pick_cards(self) -> None:
        with ui.dialog() as dialog, ui.element("div").classes("panel"):
            ui.label("Cards of the board").classes("h3")
            with ui.element("div").classes("deck"):
                for suit in reversed(SUITS):
                    for rank in reversed(RANKS):
                        name = rank + suit
                        ui.button(name, on_click=lambda _, name=name: self._toggle(name)).props(
                            "dense flat no-caps"
                        )
        dialog.open()

    def _toggle(self, name: str) -> None:
        cards = [self.board.value[i : i + 2] for i in range(0, len(self.board.value), 2)]
        cards = [card for card in cards if card != name] if name in cards else [*cards, name]
        self.board.value = "".join(cards[:5])

    def spot(self) -> Spot:
        """The spot as the form says it; what is wrong is an error that names it."""
        settings: dict[str, Any] = {
            "board": cards_text(parse_cards(self.board.value)),
            "unit": self.unit.value,
            "pot": _amount("pot", self.pot.value),
            "stack": _amount("stack", self.stack.value),
            "ranges": {name: str(grid.range) for name, grid in self.ranges.items()},
        }
        spot = Spot.from_dict(settings)
        boxes = [(street, key) for street in spot.streets for key, _ in _MENU]
        given = {(s, key): str(self.menus[f"{s}.{key}"].value or "").strip() for s, key in boxes}
        if not any(given.values()):
            return spot
        # What is left empty is as in the menu of a spot that names none.
        menu = spot.menu.to_dict(spot.rounds)
        if "bets" in menu:
            thresholds = {key: menu.pop(key) for key in list(menu) if "threshold" in key}
            menu = {spot.street: menu, **thresholds}
        for (street, key), text in given.items():
            if text:
                menu[street][key] = text
        return Spot.from_dict({**settings, "menu": menu})

    def _estimate(self, *_: Any) -> None:
        """Memory and time before anything starts, or what is wrong with the spot."""
        from equipoise.solve.spots.cost import duration_text, spot_cost

        try:
            spot = self.spot()
            cost = spot_cost(spot)
        except EquipoiseError as error:
            self.cost.text = str(error)
            self.cost.classes(add="bad")
            return
        self.cost.classes(remove="bad")
        bits = solving.storage_for(spot)
        size = cost.memory_bytes(bits == "16-bit")
        seconds = 90 * cost.seconds_per_iteration
        self.cost.text = (
            f"{cost.total_decisions:,} decisions, {size / 1e6:,.0f} MB in {bits}, "
            f"some {duration_text(seconds)} of one core to 0.5 % of the pot"
        )

    def _go(self, text: str) -> None:
        ui.navigate.to(f"/study?spot={solving.packed(text)}")

    def _share(self) -> None:
        with told():
            line = quote(", ".join(self.result.line))
            link = f"/study?spot={solving.packed(self.spot().to_toml())}" + (
                f"&at={line}" if line else ""
            )
            self.link = link
            ui.run_javascript(
                f"history.replaceState(null, '', {link!r});"
                "navigator.clipboard && navigator.clipboard.writeText(location.href);"
            )
            ui.notify(
                "The address of this page now holds the spot, and is copied.", type="positive"
            )

    def _keep(self) -> None:
        with told():
            spot = self.spot()
            pot, stack = spot.amount(spot.pot), spot.amount(spot.stack)
            name = f"{cards_text(spot.board)}, pot {pot}, stack {stack} {spot.unit}"
            self.house.store.keep(self.visitor, SPOT, name, spot.to_toml())
            for player, grid in self.ranges.items():
                self.house.store.keep(self.visitor, RANGE, f"{player} {name}", str(grid.range))
            ui.notify(f"kept as {name}", type="positive", html=False)

    def _open_file(self) -> None:
        client = ui.context.client.request.client
        if client is None or client.host not in ("127.0.0.1", "::1"):
            complain("files of the server are opened by who sits at it: connect from this machine")
            return
        with told():
            self.result.open(Path(self.file.value).expanduser(), "")

    # ------------------------------------------------------------------------------------- solving

    def _solving(self) -> None:
        with ui.element("section").classes("panel") as panel:
            self.progress = panel
            self.state = ui.label().classes("num").props('aria-live="polite"')
            self.curve = ui.html("", sanitize=False)
            with ui.element("div").classes("line"):
                self.pause = ui.button("Pause", on_click=self._pause).props("outline")
                self.on = ui.button("Go on", on_click=self._solve).props("outline")
        self.progress.set_visibility(False)

    def _solve(self) -> None:
        with told():
            target = float(_amount("target", self.target.value))
            if not 0 < target <= 100:
                raise EquipoiseError("target: a percentage of the pot above 0, such as 0.5")
            spot = self.spot()
            from equipoise.solve.spots.fitting import check_fits

            check_fits(spot, compressed=solving.storage_for(spot) == "16-bit")
            self._submit(spot, target)

    def _submit(self, spot: Spot, target: float) -> None:
        if not self.locks:
            self.base = None
        self.job = self.house.jobs.submit(
            "long", solving.solve_work, spot.to_toml(), target, tuple(self.locks), self.base,
            label="solve", key=f"{self.visitor} study",
        )  # fmt: skip
        self._pot = spot.origin.pot
        self._goal = target
        self.points = []
        self.progress.set_visibility(True)

    def resolve(self, locks: list[solving.LockWords]) -> None:
        """Solve around locks, from the solution that is open."""
        with told():
            if self.base is None and self.result.path is not None:
                self.base = str(self.result.path)
            self.locks = locks
            self._submit(self.spot(), float(_amount("target", self.target.value)))

    def _pause(self) -> None:
        if self.job is not None:
            self.job.cancel()

    def _tick(self) -> None:
        job = self.job
        if job is None:
            return
        event = job.event
        if event is not None and event.exploitability_chips is not None:
            percent = 100 * event.exploitability_chips / self._pot
            if not self.points or self.points[-1][0] != event.done:
                self.points.append((event.done, percent))
                from equipoise.web.study import views

                self.curve.content = views.curve_svg(self.points, self._goal)
            self.state.text = f"{event.done} iterations, exploitability {percent:.3f} % of pot"
        elif job.state in ("waiting", "running"):
            self.state.text = f"{job.state} …"
        self.pause.set_visibility(not job.over)
        self.on.set_visibility(job.over)
        if not job.over:
            return
        self.job = None
        if job.state == "failed":
            self.state.text = job.error
            complain(job.error)
            return
        path = solving.solution_file(self.spot(), self.locks)
        if job.state == "cancelled":
            self.state.text = f"paused: {self.state.text}"
        if path.exists():
            with told():
                self.result.open(path, ", ".join(self.result.line))

    def _open_if_there(self, at: str) -> None:
        try:
            path = solving.solution_file(self.spot())
            if path.exists():
                self.result.open(path, at)
        except EquipoiseError as error:
            complain(str(error))


def link_menu(settings: dict[str, Any]) -> bool:
    """Whether a spot has sizes of its own, which the form then shows."""
    spot = Spot.from_dict({key: value for key, value in settings.items() if key != "menu"})
    return bool(spot.to_dict()["menu"] != settings["menu"])


def _field(label: str, value: str, changed: Any) -> ui.input:
    return ui.input(label, value=value, on_change=changed).props("dense outlined debounce=250")


def _amount(name: str, text: object) -> int | float:
    try:
        value = float(str(text).strip())
    except ValueError:
        raise EquipoiseError(f"{name}: write a number, such as 6.5") from None
    if value != value or abs(value) > 1e12:
        raise EquipoiseError(f"{name}: write a number, such as 6.5")
    return int(value) if value == int(value) else value

"""The form that a spot is described in: board, amounts, sizes, ranges; what it costs, or what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui import background_tasks, run, ui

from equipoise.cards.card import RANKS, SUITS, cards_text, parse_cards
from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.menu import StreetMenu
from equipoise.games.spot import Spot
from equipoise.games.spotmenu import default_menu
from equipoise.settings import parse_toml, toml_text
from equipoise.solve.spots.cost import duration_text, size_text, spot_cost
from equipoise.solve.spots.fitting import Cut, advice, cuts, memory_limit, storage_for
from equipoise.solve.study.presets import PRESETS, preset, preset_of
from equipoise.web import widgets
from equipoise.web.fields import Field, Sheet
from equipoise.web.shell import told
from equipoise.web.study.ownranges import OwnRanges
from equipoise.web.study.rangegrid import RangeGrid

_KEYS = ("bets", "raises")
#: What a box says for no sizes at all; an empty one is the default.
_NONE = "none"
#: Seconds without a change after which cuts are looked for.
_PAUSE = 0.5
#: Iterations that most spots take to 0.5 % of the pot.
_ITERATIONS = 90


class SpotForm:
    """A spot as somebody types and paints it; `changed` is called whenever it may be another."""

    def __init__(self, spot: Spot, own_ranges: OwnRanges, changed: Callable[[], None]) -> None:
        self._changed, self._filling = changed, False
        self.menus: dict[tuple[str, str], Field] = {}
        #: How often a cost was asked for: advice on what has changed since is not given.
        self._asked = 0
        with ui.element("section").classes("panel"):
            self._top()
            self._amounts()
            self._sizes()
            self._more()
            self.cost = ui.label().classes("small num cost").props('aria-live="polite"')
            self.cuts_box = ui.element("div").classes("cuts")
            #: Where the page puts its buttons.
            self.foot = ui.element("div").classes("foot")
        own_ranges.draw()
        self.ranges = {
            name: RangeGrid(name, str(own), own_ranges, self.estimate)
            for name, own in (("oop", spot.oop_range), ("ip", spot.ip_range))
        }
        self.fill(spot)

    def _top(self) -> None:
        with ui.element("div").classes("spread"):
            ui.label("Spot").classes("h2")
            titles = {name: f"{name}: {found.title}" for name, found in PRESETS.items()}
            self.preset = ui.select(
                titles, label="preset", on_change=lambda e: self._take_preset(e.value)
            )
            self.preset.props("dense outlined").classes("grow preset")

    def _amounts(self) -> None:
        with ui.element("div").classes("line"):
            self.board = field("board", self.estimate).classes("grow")
            ui.button(icon="style", on_click=self._pick_cards).props(
                'flat dense aria-label="Pick cards"'
            )
        self.faces = ui.html("", sanitize=False).classes("cards board-faces")
        with ui.element("div").classes("line"):
            self.pot = field("pot", self.estimate).classes("short")
            self.stack = field("stack", self.estimate).classes("short")
            self.unit = ui.select(["bb", "chips"], value="bb", label="in", on_change=self.estimate)
            self.unit.props("dense outlined").classes("short")

    def _sizes(self) -> None:
        ui.label(f"Bet sizes, in % of the pot; empty is the default, “{_NONE}” is no bet").classes(
            "muted small"
        )
        self._rows: dict[str, ui.element] = {}
        for street in STREETS[1:]:
            with ui.element("div").classes("line sizes-row") as row:
                self._rows[street] = row
                ui.label(street).classes("street")
                for key in _KEYS:
                    box = field(f"{street} {key}", self.estimate).classes("grow")
                    # The default is seen while the box is empty.
                    box.props("stack-label")
                    self.menus[street, key] = box

    def _more(self) -> None:
        with ui.expansion("Rake, betting so far, sizes by player").classes("more").props("dense"):
            with ui.element("div").classes("line"):
                self.rake = field("rake, %", self.estimate).classes("short")
                self.cap = field("rake cap", self.estimate).classes("short")
                self.least = field("smallest bet", self.estimate).classes("short")
            self.line = field("betting so far: check, bet 3.25", self.estimate)
            self.menu_text = Sheet(
                "sizes as a spot file has them, in place of the boxes above",
                on_change=self.estimate,
            ).props('dense outlined autogrow debounce=250 aria-label="sizes as text"')
            self.menu_text.classes("range-text")

    # ------------------------------------------------------------------------- from and to a spot

    def fill(self, spot: Spot) -> None:
        """Describe this spot."""
        self._filling = True
        settings = spot.to_dict()
        self.board.value = settings["board"]
        self.pot.value, self.stack.value = f"{settings['pot']:g}", f"{settings['stack']:g}"
        self.unit.value = spot.unit
        rake = settings.get("rake", {})
        self.rake.value = f"{100 * rake['rate']:g}" if rake else ""
        self.cap.value = f"{rake['cap']:g}" if "cap" in rake else ""
        self.least.value = f"{settings['min_bet']:g}" if "min_bet" in settings else ""
        self.line.value = spot.line
        boxes = _boxes(spot)
        for place, box in self.menus.items():
            box.value = (boxes or {}).get(place, "")
        self.menu_text.value = "" if boxes is not None else toml_text(settings["menu"])
        for grid, own in zip(self.ranges.values(), (spot.oop_range, spot.ip_range), strict=True):
            grid.become(own)
        self.preset.value = preset_of(spot) or None
        self._filling = False
        self.estimate()

    def spot(self) -> Spot:
        """The spot as the form says it; what is wrong is an error that names it."""
        settings: dict[str, Any] = {
            "board": cards_text(parse_cards(self.board.value or "")),
            "unit": self.unit.value,
            "pot": amount("pot", self.pot.value),
            "stack": amount("stack", self.stack.value),
            "ranges": {name: str(grid.range) for name, grid in self.ranges.items()},
        }
        if _text(self.least):
            settings["min_bet"] = amount("smallest bet", self.least.value)
        if _text(self.line):
            settings["line"] = _text(self.line)
        if _text(self.rake):
            settings["rake"] = {"rate": amount("rake", self.rake.value) / 100}
            if _text(self.cap):
                settings["rake"]["cap"] = amount("rake cap", self.cap.value)
        elif _text(self.cap):
            raise EquipoiseError("rake cap: without a rake nothing is capped: fill in both")
        if _text(self.menu_text):
            settings["menu"] = parse_toml(_text(self.menu_text), GameError)
            return Spot.from_dict(settings)
        spot = Spot.from_dict(settings)
        given = {
            place: _text(self.menus[place]) for place in self.menus if place[0] in spot.streets
        }
        if not any(given.values()):
            return spot
        menu = default_menu(spot.rounds).to_dict(spot.rounds)
        if "bets" in menu:
            thresholds = {key: menu.pop(key) for key in list(menu) if "threshold" in key}
            menu = {spot.street: menu, **thresholds}
        for (street, key), text in given.items():
            own = menu[street]
            for table in (own["oop"], own["ip"]) if "oop" in own else (own,):
                if text:
                    table[key] = "" if text.lower() == _NONE else text
        return Spot.from_dict({**settings, "menu": menu})

    def _take_preset(self, name: str | None) -> None:
        if self._filling or not name:
            return
        with told():
            try:
                spot = preset(name, self.board.value or "")
            except EquipoiseError:
                spot = preset(name)
            self.fill(spot)

    # ---------------------------------------------------------------------------------- its parts

    def _pick_cards(self) -> None:
        with ui.dialog() as dialog, ui.element("div").classes("panel picker"):
            ui.label("Cards of the board").classes("h3")
            with ui.element("div").classes("deck"):
                for suit in reversed(SUITS):
                    for rank in reversed(RANKS):
                        name = rank + suit
                        ui.button(name, on_click=lambda _, name=name: self._toggle(name)).props(
                            "dense flat no-caps"
                        ).classes(f"suit-{suit}")
            ui.button("Done", on_click=dialog.close).props("outline")
        dialog.open()

    def _toggle(self, name: str) -> None:
        text = "".join((self.board.value or "").split())
        cards = [text[i : i + 2] for i in range(0, len(text), 2)]
        cards = [card for card in cards if card != name] if name in cards else [*cards, name]
        self.board.value = "".join(cards[:5])

    def estimate(self, *_: Any) -> None:
        """Memory and time before anything starts, or what is wrong with the spot."""
        if self._filling or not hasattr(self, "ranges"):
            return
        self._asked += 1
        self.cuts_box.clear()
        try:
            cards = parse_cards(self.board.value or "")
            self.faces.content = widgets.cards(cards[:5])
            spot = self.spot()
            cost = spot_cost(spot)
            for street, row in self._rows.items():
                row.set_visibility(street in spot.streets)
            self._hint(spot.rounds)
        except EquipoiseError as error:
            self.cost.text = str(error)
            self.cost.classes(add="bad")
            return
        bits = storage_for(spot)
        size, limit = cost.memory_bytes(bits == "16-bit"), memory_limit()
        self.cost.classes(remove="bad")
        if size > limit:
            self.cost.classes(add="bad")
            self.cost.text = f"It needs {size_text(size)} and {size_text(limit)} may be used. Cut:"
            background_tasks.create(self._advise(spot, limit, bits == "16-bit"))
        else:
            seconds = _ITERATIONS * cost.seconds_per_iteration
            self.cost.text = (
                f"{cost.total_decisions:,} decisions, {size_text(size)} in {bits}, "
                f"some {duration_text(seconds)} of one core to 0.5 % of the pot"
            )
        self._changed()

    def _hint(self, rounds: int) -> None:
        """Say in each box what it stands for while it is empty."""
        usual = default_menu(rounds)
        for number, street in enumerate(STREETS[-rounds:]):
            for key in _KEYS:
                hint = _hint(usual.street(number), key)
                self.menus[street, key].props(f'placeholder="{hint}"')

    async def _advise(self, spot: Spot, limit: int, compressed: bool) -> None:
        """Look for cuts beside the pages, once typing pauses; it may take a second or two."""
        asked = self._asked
        await asyncio.sleep(_PAUSE)
        if asked != self._asked:
            return
        found = await run.io_bound(cuts, spot, limit, compressed)
        if asked == self._asked and found is not None:
            self._offer(found, limit)

    def _offer(self, found: tuple[Cut, ...], limit: int) -> None:
        """What to cut, with what each cut saves, and a button that takes them all."""
        with self.cuts_box:
            if not found or found[-1].memory_bytes > limit:
                ui.label(advice(found, limit)).classes("small")
                return
            for number, cut in enumerate(found, start=1):
                ui.label(f"{number}. {cut}").classes("small num")
            left = size_text(found[-1].memory_bytes)
            ui.button(f"Take these cuts: {left}", on_click=lambda: self.fill(found[-1].spot)).props(
                "outline dense no-caps"
            )


def field(label: str, changed: Any) -> Field:
    """A box for text that says what has changed once typing pauses."""
    return Field(label, on_change=changed).props("dense outlined debounce=250")


def amount(name: str, text: object) -> int | float:
    """A number that somebody typed."""
    try:
        value = float(str(text).strip().replace(",", "."))
    except ValueError:
        raise EquipoiseError(f"{name}: write a number, such as 6.5") from None
    if value != value or abs(value) > 1e12:
        raise EquipoiseError(f"{name}: write a number, such as 6.5")
    return int(value) if value == int(value) else value


def _text(box: Field | Sheet) -> str:
    return str(box.value or "").strip()


def _boxes(spot: Spot) -> dict[tuple[str, str], str] | None:
    """What stands in the boxes of a spot's sizes; None for a menu that says more than they can."""
    usual = default_menu(spot.rounds)
    names = ("add_allin_threshold", "force_allin_threshold", "merging_threshold")
    if any(getattr(usual, name) != getattr(spot.menu, name) for name in names):
        return None
    found = {}
    for number, street in enumerate(spot.streets):
        both, default = spot.menu.street(number), usual.street(number)
        for own, known in zip(both, default, strict=True):
            if own.donks is not None or len(own.raises) > 1 or own.max_raises != known.max_raises:
                return None
        for key in _KEYS:
            (oop, ip), known_sizes = _sizes(both, key), _sizes(default, key)
            if oop != ip and (oop, ip) != known_sizes:
                return None
            found[street, key] = "" if (oop, ip) == known_sizes else oop or _NONE
    return found


def _sizes(both: tuple[StreetMenu, StreetMenu], key: str) -> tuple[str, str]:
    """Sizes of both players on a street, as text."""
    oop, ip = (str(own.to_dict()[key]) for own in both)
    return oop, ip


def _hint(both: tuple[StreetMenu, StreetMenu], key: str) -> str:
    """What an empty box stands for."""
    oop, ip = _sizes(both, key)
    return oop if oop == ip else f"oop {oop}; ip {ip}"

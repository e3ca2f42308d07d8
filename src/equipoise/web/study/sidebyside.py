"""Two positions of the study page side by side: of one solution, or of two that are walked together."""

from __future__ import annotations

from typing import Any, Protocol

from nicegui import ui

from equipoise.cards.combos import COMBO_CLASS, COMBO_COUNT, class_text, parse_combo
from equipoise.errors import EquipoiseError
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.spots.solution import Solution
from equipoise.solve.study.comparison import Comparison, alongside
from equipoise.web.fields import Field
from equipoise.web.study import views
from equipoise.web.study.tables import figures_table, saved

#: Hands that the table shows at a time.
_ROWS = 12


class Looking(Protocol):
    """Who looks at which solution, and at which player's hands."""

    player: int
    solution: Solution | None
    #: The class of hands that was clicked; "" for all.
    filter: str

    def draw(self) -> None:
        """Draw everything anew."""


class SideBySide:
    """A position that was marked, beside the one that is shown."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._marked: ShownPosition | None = None
        #: Whose position is marked.
        self._solution: Solution | None = None
        #: Whether the marked solution is walked wherever the open one is.
        self._together = True
        #: Why it could not follow.
        self._lost = ""
        self._rows: list[dict[str, Any]] = []
        self._table: ui.table | None = None

    @property
    def _two(self) -> bool:
        """Whether the marked position is of another solution than the one that is open."""
        return self._solution is not None and self._solution is not self._looking.solution

    def follow(self, position: ShownPosition) -> None:
        """Go where the other solution goes, if two are walked together."""
        self._lost = ""
        if not self._two or not self._together:
            return
        assert self._solution is not None
        try:
            self._marked = alongside(self._solution.at(), position.line)
        except EquipoiseError as error:
            self._lost = str(error)

    def draw(self, position: ShownPosition) -> None:
        """Both charts, what they are worth, and both plays of every hand."""
        self._table = None
        with ui.element("div").classes("line"):
            ui.button("Mark this position", on_click=lambda: self._mark(position)).props(
                "outline no-caps"
            )
            if self._two:
                ui.switch(
                    "walk both", value=self._together, on_change=lambda e: self._join(e, position)
                )
        if self._marked is None:
            ui.label(
                "Mark a position, then walk on, or solve other sizes, or open another solution: both "
                "stand here side by side, and two solutions are walked together."
            ).classes("muted small")
            return
        if self._lost:
            ui.label(f"The marked solution stays behind: {self._lost}").classes("bad small")
        found = Comparison(self._marked, position)
        with ui.element("div").classes("side-by-side"):
            for one, name in ((self._marked, "marked"), (position, "here")):
                with ui.element("div"):
                    ui.label(f"{name}: {one.title}").classes("small strong")
                    player = one.to_act if one.to_act is not None else self._looking.player
                    ui.html(views.legend(one), sanitize=False)
                    ui.html(views.matrix(one, "strategy", player), sanitize=False)
        figures_table(["what", "marked", "here", "difference"], _totals(found), "what").classes(
            "compared"
        )
        by_hand = found.player is not None
        if by_hand:
            self._hands(found)
        saved(
            "comparison",
            found if by_hand else None,
            found.plot if found.drawable else None,
            whole=lambda: found.to_dict(most=COMBO_COUNT),
        )

    def choose(self) -> None:
        """Show the hands of the class that was clicked, or all."""
        if self._table is not None:
            chosen = self._looking.filter
            self._table.rows = [row for row in self._rows if chosen in ("", row["class"])]

    def _mark(self, position: ShownPosition) -> None:
        self._marked, self._solution, self._lost = position, self._looking.solution, ""
        ui.notify("marked: walk on, or solve another spot, and compare", type="positive")
        self._looking.draw()

    def _join(self, event: Any, position: ShownPosition) -> None:
        self._together = bool(event.value)
        if self._together:
            self.follow(position)
            self._looking.draw()

    def _hands(self, found: Comparison) -> None:
        """Both plays and both values of every hand, those first that differ most."""
        shown = found.columns()
        self._rows = []
        for i, hand in enumerate(shown["hand"]):
            row: dict[str, Any] = {"hand": hand, "class": _class_of(hand)}
            row["differs %"] = round(100 * shown["difference"][i], 1)
            for number, side in enumerate(("marked", "here"), start=1):
                for action in found.sides[number - 1]:
                    share = shown[f"{action} ({number})"][i]
                    row[f"{action} %, {side}"] = round(100 * share, 1)
                row[f"EV {side}"] = _rounded(shown[f"ev_{found.unit}_{number}"][i])
            self._rows.append(row)
        keys = [key for key in (self._rows[0] if self._rows else {}) if key != "class"]
        with ui.element("div").classes("spread"):
            ui.label(f"Hands of {found.player}, one by one").classes("h3")
            search = Field("filter: AK, Kh …").props("dense outlined clearable")
        self._table = figures_table(keys, self._rows, "hand", most=_ROWS).classes("by-hand")
        search.bind_value_to(self._table, "filter")
        self.choose()


def _totals(found: Comparison) -> list[dict[str, Any]]:
    """What both are worth to each player, and how often each action is taken."""
    rows = [
        {"what": f"EV {name} {found.unit}", "marked": f"{one:.3f}", "here": f"{other:.3f}",
         "difference": f"{other - one:+.3f}"}
        for name, (one, other) in found.ev.items()
    ]  # fmt: skip
    return rows + [
        {"what": name, "marked": f"{one:.1%}", "here": f"{other:.1%}",
         "difference": f"{100 * (other - one):+.1f} points"}
        for name, (one, other) in found.actions.items()
    ]  # fmt: skip


def _class_of(hand: str) -> str:
    return class_text(int(COMBO_CLASS[parse_combo(hand)]))


def _rounded(value: float) -> float | None:
    return None if value != value else round(value, 3)

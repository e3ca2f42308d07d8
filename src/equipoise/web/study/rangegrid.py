"""A range as a 13×13 grid that is painted by dragging, with its text beside it: each writes the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from equipoise.cards.combos import COMBO_CLASS, class_text
from equipoise.cards.range import Range
from equipoise.errors import EquipoiseError
from equipoise.web.fields import Field, Sheet
from equipoise.web.shell import told
from equipoise.web.study.ownranges import NAMES_ID, OwnRanges

#: Painting, once a page: from where the pointer goes down over others; told when it goes up.
PAINTING = """<script>
(() => { let brush = null, grid = null, seen = null;
  const cellAt = e => { const c = document.elementFromPoint(e.clientX, e.clientY);
    return c && c.closest ? c.closest('.paint .cell') : null; };
  const put = c => { if (!c || seen.has(c)) return; seen.add(c);
    c.style.setProperty('--w', brush); c.dataset.w = brush; };
  document.addEventListener('pointerdown', e => { const c = cellAt(e); if (!c) return;
    e.preventDefault(); grid = c.closest('.paint'); seen = new Set();
    const w = grid.dataset.brush || '1'; brush = c.dataset.w === w ? '0' : w; put(c); });
  document.addEventListener('pointermove', e => { if (!grid) return; const c = cellAt(e);
    if (c && c.closest('.paint') === grid) put(c); });
  document.addEventListener('pointerup', () => { if (!grid) return;
    emitEvent('painted', {grid: grid.id, hands: [...seen].map(c => c.dataset.hand), weight: brush});
    grid = null; });
})();
</script>"""


class RangeGrid:
    """One range of a page; `changed` is called whenever it becomes another."""

    def __init__(self, name: str, text: str, own: OwnRanges, changed: Callable[[], None]) -> None:
        self.name, self._own, self._changed = name, own, changed
        self.range = Range.parse(text) if text else Range.parse("AA")
        self._weight = "1"
        with ui.element("section").classes("panel range"):
            with ui.element("div").classes("spread"):
                ui.label(f"{name.upper()} range").classes("h3")
                self._count = ui.label().classes("muted small num")
            self._grid = ui.html("", sanitize=False)
            with ui.element("div").classes("line"):
                weight = ui.number("brush %", value=100, min=0, max=100, on_change=self._brush)
                weight.props("dense outlined").classes("short")
                top = ui.number("top %", min=0, max=100, on_change=lambda e: self._top(e.value))
                top.props("dense outlined").classes("short")
            with ui.element("div").classes("line"):
                # Browsers suggest from one list for both ranges: two hundred options of our own cost a page
                # more than all the rest of it.
                self._name = Field("by name", on_change=lambda e: self._named(e.value))
                self._name.props(f"dense outlined list={NAMES_ID}").classes("grow")
                ui.button(icon="bookmark", on_click=self._keep).props(
                    f'flat dense aria-label="Keep the {name} range by this name"'
                )
                self._delete = ui.button(icon="delete", on_click=self._drop).props(
                    f'flat dense aria-label="Delete the {name} range of this name"'
                )
                self._delete.set_visibility(False)
            self._text = Sheet(value=str(self.range), on_change=lambda e: self._typed(e.value))
            self._text.props(f'dense outlined autogrow aria-label="{name} range as text"')
            self._text.classes("range-text")
            self._wrong = ui.label().classes("bad small wrong").props('aria-live="polite"')
        self._draw()

    def _draw(self) -> None:
        weights = self.range.to_matrix().reshape(-1).tolist()
        cells = "".join(
            f'<div class="cell" data-hand="{class_text(k)}" data-w="{w:g}" style="--w:{w:g}">'
            f"{class_text(k)}</div>"
            for k, w in enumerate(weights)
        )
        head = f'id="grid-{self.name}" data-brush="{self._weight}"'
        self._grid.content = f'<div class="matrix paint" {head}>{cells}</div>'
        self._count.text = f"{self.range.combos:.4g} combos, {self.range.combos / 13.26:.1f} %"

    def painted(self, told: dict[str, Any]) -> None:
        """Take what was painted, if it was here."""
        if told.get("grid") != f"grid-{self.name}":
            return
        known = {class_text(k): k for k in range(169)}
        weights = self.range.weights.copy()
        try:
            weight = min(max(float(told["weight"]), 0.0), 1.0)
        except (TypeError, ValueError):
            return
        for hand in told.get("hands", []):
            if hand in known:
                weights[known[hand] == COMBO_CLASS] = weight
        self.become(Range(weights))

    def become(self, found: Range) -> None:
        """Be another range."""
        self.range, self._wrong.text = found, ""
        self._text.value = str(found)
        self._draw()
        self._changed()

    def _typed(self, text: str) -> None:
        if text == str(self.range):
            return
        try:
            self.range = Range.parse(text)
        except EquipoiseError as error:
            self._wrong.text = str(error)
            return
        self._wrong.text = ""
        self._draw()
        self._changed()

    def _brush(self, event: Any) -> None:
        self._weight = f"{min(max(float(event.value or 0), 0), 100) / 100:g}"
        self._draw()

    def _top(self, percent: float | None) -> None:
        if percent is not None and 0 <= percent <= 100:
            self.become(Range.parse(f"top {percent:g}%"))

    def _named(self, name: str | None) -> None:
        """Be the range of a name once it is written out."""
        self._delete.set_visibility(name in self._own)
        found = self._own.find(name or "")
        if found is not None:
            self.become(found)

    def _keep(self) -> None:
        with told():
            name = self._own.keep(str(self._name.value or ""), self.range)
            self._delete.set_visibility(True)
            ui.notify(f"kept as {name}", type="positive", html=False)

    def _drop(self) -> None:
        name = " ".join(str(self._name.value or "").split())
        if name in self._own:
            self._own.drop(name)
            self._delete.set_visibility(False)
            ui.notify(f"{name} is deleted", type="positive", html=False)

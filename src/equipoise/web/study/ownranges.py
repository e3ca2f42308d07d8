"""A visitor's own ranges: kept by name, suggested beside the shipped ones, taken back by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape

from nicegui import ui

from equipoise.cards.namedranges import range_names
from equipoise.cards.range import Range
from equipoise.errors import EquipoiseError
from equipoise.settings import brief
from equipoise.web.store import Store

#: Kind of document under which ranges are kept.
RANGE = "range"
#: The list that a field for names suggests from.
NAMES_ID = "range-names"


class OwnRanges:
    """The ranges that one visitor kept."""

    def __init__(self, store: Store, visitor: str) -> None:
        self._store, self._visitor = store, visitor
        self._texts = store.kept(visitor, RANGE)
        self._list: ui.html | None = None

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def find(self, name: str) -> Range | None:
        """The range of a name, one's own before a shipped one; None while it is not written out."""
        if name in self._texts:
            return Range.parse(self._texts[name])
        return Range.parse(name) if name in range_names() else None

    def keep(self, name: str, kept: Range) -> str:
        """Keep a range; the name as it is found again."""
        name = " ".join(name.split())
        if not name:
            raise EquipoiseError("give the range a name to find it by")
        if name in range_names():
            raise EquipoiseError(f"{brief(name)!r} is a range that ships: give yours another name")
        self._store.keep(self._visitor, RANGE, name, str(kept))
        self._changed()
        return name

    def drop(self, name: str) -> None:
        """Forget a range."""
        self._store.drop(self._visitor, RANGE, name)
        self._changed()

    def draw(self) -> None:
        """The list that browsers suggest from; once a page."""
        self._list = ui.html(suggestions(self._texts), sanitize=False)

    def _changed(self) -> None:
        self._texts = self._store.kept(self._visitor, RANGE)
        if self._list is not None:
            self._list.content = suggestions(self._texts)


def suggestions(own: Iterable[str]) -> str:
    """Names of ranges, those of a visitor first, as a list for browsers."""
    options = "".join(f'<option value="{escape(name)}">' for name in own)
    return f'<datalist id="{NAMES_ID}">{options}{_shipped_options()}</datalist>'


@cache
def _shipped_options() -> str:
    return "".join(f'<option value="{escape(name)}">' for name in range_names())

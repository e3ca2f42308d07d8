"""Ranges by name: how the blueprints that ship play before the flop, as `bb-call-vs-2.5x@200`.

After the @ stands the stack in big blinds. The name says who does what after what, sizes in big blinds:

    sb-open-2.5x             the small blind, first in, raises to 2.5 big blinds
    bb-call-vs-2.5x          the big blind calls that
    sb-4bet-22.5x-vs-2.5x-7.5x
    bb-check-vs-limp

A range is what arrives there: hands that took the player's earlier actions too, weighted by how often. It
is text in `data/ranges/STACK/NAME.txt`, written by `equipoise agents NAME --ranges FOLDER`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from equipoise.errors import RangeError
from equipoise.settings import brief, did_you_mean

#: Ending of a range's file.
SUFFIX = ".txt"


def _folder() -> Path:
    return Path(str(files("equipoise.cards"))) / "data" / "ranges"


@cache
def range_names() -> dict[str, Path]:
    """Every range that has a name, `NAME@STACK`, and its file."""
    found = sorted(_folder().glob(f"*/*{SUFFIX}"))
    return {f"{path.name.removesuffix(SUFFIX)}@{path.parent.name}": path for path in found}


def named_range(name: str) -> str:
    """Range text of a name; one that is not known is refused."""
    known = range_names()
    path = known.get(name.lower())
    if path is None:
        told = f"no range {brief(repr(name))}"
        if not known:
            raise RangeError(
                f"{told}: none ship with this version, write those of an agent with "
                "`equipoise agents quick --ranges FOLDER` and give the text of one"
            )
        stack = name.rpartition("@")[2]
        alike = [one for one in known if one.endswith(f"@{stack}")] or list(known)
        raise RangeError(f"{told}: {did_you_mean(name, alike, 'names are such as')}")
    return path.read_text("utf-8").strip()

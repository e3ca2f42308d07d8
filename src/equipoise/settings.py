"""Settings from a TOML file, checked: every key known, every value of its kind.

What is wrong is told in one sentence that names the key as the file does, `model.boards`, and what
to write in its place.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from equipoise.errors import RecipeError

#: Kinds of values, and what to write for them.
KINDS = {
    "text": 'text, such as "dcfr"',
    "whole": "a whole number, such as 20000",
    "number": "a number, such as 1.5",
    "truth": "true or false",
    "wholes": "whole numbers in brackets, such as [8, 12, 4, 4]",
    "numbers": "numbers in brackets, such as [0.6, 0.8]",
    "table": "a table of settings",
    "boards": 'a whole number, or "all"',
    "shares": "a whole number, or shares in brackets, such as [0.25, 0.5, 0.75]",
    "sizes": 'sizes as text, "50%,a", or a list of them',
}


def choose(name: str, known: Iterable[str], what: str) -> str:
    """`name` if it is known; otherwise a sentence that guesses the one that was meant.

    >>> choose("jiont", ["joint", "cards"], "model.kind")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: model.kind = 'jiont': did you mean 'joint'?
    """
    known = tuple(known)
    if name in known:
        return name
    near = difflib.get_close_matches(str(name), known, n=1)
    cure = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"
    raise RecipeError(f"{what} = {name!r}: {cure}")


def check(settings: Mapping[str, Any], kinds: Mapping[str, str], where: str = "") -> dict[str, Any]:
    """The settings as they are, once every key and kind of value is found to be right.

    >>> check({"boards": 100, "sede": 1}, {"boards": "boards", "seed": "whole"}, "model")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: unknown key 'model.sede': did you mean 'model.seed'?
    >>> check({"boards": 1.5}, {"boards": "boards"}, "model")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: model.boards = 1.5: write a whole number, or "all"
    """
    prefix = f"{where}." if where else ""
    for key, value in settings.items():
        if key not in kinds:
            near = difflib.get_close_matches(str(key), kinds, n=1)
            cure = (
                f"did you mean '{prefix}{near[0]}'?" if near else f"use one of {', '.join(kinds)}"
            )
            raise RecipeError(f"unknown key '{prefix}{key}': {cure}")
        if not _is(value, kinds[key]):
            raise RecipeError(f"{prefix}{key} = {value!r}: write {KINDS[kinds[key]]}")
    return dict(settings)


def _is(value: Any, kind: str) -> bool:
    if kind == "text":
        return isinstance(value, str)
    if kind == "truth":
        return isinstance(value, bool)
    if kind == "table":
        return isinstance(value, Mapping)
    if kind == "whole":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "boards":
        return value == "all" or _is(value, "whole")
    if kind == "shares":
        return _is(value, "whole") or _is(value, "numbers")
    if kind == "sizes":
        return isinstance(value, str) or (
            isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
        )
    each = "whole" if kind == "wholes" else "number"
    return isinstance(value, list | tuple) and all(_is(part, each) for part in value)

"""Settings written as TOML: plain values first, then one `[table]` after another.

The standard library reads TOML and does not write it. Settings here are text, numbers, lists of
text and tables of those, which is all this writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(settings: Mapping[str, Any]) -> str:
    """TOML of nested settings.

    >>> print(toml_text({"pot": 100, "ranges": {"oop": "QQ+"}}), end="")
    pot = 100
    <BLANKLINE>
    [ranges]
    oop = "QQ+"
    """
    return "\n".join(_lines(settings, ())).lstrip("\n") + "\n"


def _lines(settings: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in settings.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in settings.items() if isinstance(value, Mapping)}
    if path and (plain or not tables):
        yield f"\n[{'.'.join(path)}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, table in tables.items():
        yield from _lines(table, (*path, _key(key)))


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(part) for part in value)}]"
    escaped = "".join(
        f"\\{c}" if c in '"\\' else c if c.isprintable() else f"\\U{ord(c):08X}" for c in value
    )
    return f'"{escaped}"'

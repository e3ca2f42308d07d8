"""The tables of a report as text, and read back from the folder they were written to.

Anybody may name such a folder, in a browser too: a table is read only if every column is what the writer
puts there. The CSV files are read, nine digits of every number; the Parquet files beside them are for others.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any

from equipoise.cards.card import check_distinct, parse_cards
from equipoise.errors import EquipoiseError, FileError
from equipoise.games.notation.amounts import UNITS
from equipoise.games.spot import SEATS
from equipoise.solve.batch.results import ROOT

Row = dict[str, Any]
#: Reads a field, or raises ValueError.
Reads = Callable[[str], Any]

#: Bytes of a table: all flops with twenty lines each take a third of it.
_MOST_BYTES = 100_000_000
_ACTION = re.compile(r"(fold|check|call|(bet|raise|allin) [0-9]{1,10}(\.[0-9]{1,6})?)")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?(e[-+]?[0-9]{1,3})?")
_MOST_NAME = 200


def rows_text(rows: Sequence[Row]) -> str:
    """Rows as CSV, numbers in nine digits."""
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.9g}" if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def read_report(folder: Path) -> tuple[list[Row], list[Row]]:
    """Rows of the spots and of the lines of a report; a damaged one is refused."""
    try:
        spots = _read(folder / "spots.csv", _SPOTS, ("unit", "chips_per_unit"))
        lines = folder / "lines.csv"
        lines_read = _read(lines, _LINES) if lines.is_file() else []
        known = {row["name"]: row["board"] for row in spots}
        if not spots or len(known) != len(spots):
            raise ValueError
        if any(known.get(row["name"]) != row["board"] for row in lines_read):
            raise ValueError
    except (OSError, ValueError, csv.Error, EquipoiseError):
        raise FileError(f"{folder}: the report is damaged: run the batch again") from None
    return spots, lines_read


def _read(path: Path, kinds: Mapping[str, Reads], optional: Sequence[str] = ()) -> list[Row]:
    """Rows of a table whose columns are of these kinds; others are left out."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, strict=True)
        names = table.fieldnames or ()
        if not set(names) >= set(kinds) - set(optional):
            raise ValueError
        read = {name: kind for name, kind in kinds.items() if name in names}
        return [{name: kind(row[name] or "") for name, kind in read.items()} for row in table]


def _between(low: float, high: float, optional: bool = False) -> Reads:
    """A number within limits; an empty field where it may be unknown is None."""

    def read(text: str) -> float | None:
        if optional and not text:
            return None
        value = float(text) if _NUMBER.fullmatch(text) else float("nan")
        if not (isfinite(value) and low <= value <= high):
            raise ValueError
        return value

    return read


def _whole(least: int) -> Reads:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text) >= least):
            raise ValueError
        return int(text)

    return read


def _one_of(*words: str) -> Reads:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return read


def _name(text: str) -> str:
    if not (text.isprintable() and 0 < len(text) <= _MOST_NAME):
        raise ValueError
    return text


def _board(text: str) -> str:
    cards = parse_cards(text)
    check_distinct(cards)
    if not 3 <= len(cards) <= 5 or len(text) != 2 * len(cards):
        raise ValueError
    return text


def _action(text: str) -> str:
    if not _ACTION.fullmatch(text):
        raise ValueError
    return text


def _line(text: str) -> str:
    return text if text == ROOT else _action(text)


_SHARE = _between(-1e-6, 1 + 1e-6, optional=True)
_CHIPS = _between(-1e12, 1e12, optional=True)
_WEIGHT = _between(1e-9, 1e12)
_HEAD: dict[str, Reads] = {"name": _name, "board": _board, "weight": _WEIGHT}
_EACH: dict[str, Reads] = {"ev_oop_chips": _CHIPS, "ev_ip_chips": _CHIPS, "equity_oop": _SHARE}
_SPOTS: dict[str, Reads] = {
    **_HEAD,
    "pot": _between(1e-9, 1e12),
    "unit": _one_of(*UNITS),
    "chips_per_unit": _whole(1),
    "iterations": _whole(0),
    "seconds": _between(0, 1e12),
    "reached": lambda text: _one_of("True", "False")(text) == "True",
    "exploitability_pct_pot": _CHIPS,
    **_EACH,
    "nodes": _whole(0),
    "memory_mb": _between(0, 1e12),
}
_LINES: dict[str, Reads] = {
    **_HEAD,
    "line": _line,
    "player": _one_of(*SEATS),
    "pot": _between(1e-9, 1e12),
    "reach": _SHARE,
    "action": _action,
    "frequency": _SHARE,
    "action_ev_chips": _CHIPS,
    **_EACH,
}

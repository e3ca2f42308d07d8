"""Strategies written into the rows of a game: compiled, for a turn has thousands of decisions."""

from __future__ import annotations

from typing import Any

from equipoise.kernel import exact_kernel


@exact_kernel
def fill_by_hand(rows: Any, start: int, width: int, combos: Any, table: Any) -> None:
    """Rows of one decision from `table[combination, action]`: state s is the hand `combos[s]`."""
    for a in range(table.shape[1]):
        at = start + a * width
        for s in range(combos.shape[0]):
            rows[at + s] = table[combos[s], a]


@exact_kernel
def fill_by_column(
    rows: Any, start: int, width: int, combos: Any, columns: Any, table: Any
) -> None:
    """Rows of one decision from `table[action, column]`: state s stands in `columns[combos[s]]`."""
    for a in range(table.shape[0]):
        at = start + a * width
        for s in range(combos.shape[0]):
            rows[at + s] = table[a, columns[combos[s]]]

"""Hands as a table in a Parquet or CSV file, one row a hand, for notebooks and data frames.

Columns: `hand`, `line`, `game`, `big_blind`, `chips_per_unit`, `betting`, `board`, `showdown`, and
for each position (`0` the big blind, `1` the button) `player_`, `stack_`, `hole_` and
`payoff_chips_`. Cards never shown and results never seen are null; so are the stacks of a game that
has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.arena.record import HandRecord
from equipoise.cards.card import cards_text
from equipoise.columnar import columns_of, write_frame
from equipoise.errors import HistoryError
from equipoise.games.rules import UNLIMITED

if TYPE_CHECKING:
    from polars import DataFrame

#: Endings of the files that hands are exported to.
ENDINGS = (".parquet", ".csv")


def row(hand: HandRecord) -> dict[str, Any]:
    """One row of the table."""
    payoffs = hand.payoffs or (None, None)
    cells: dict[str, Any] = {
        "hand": hand.number,
        "line": hand.line,
        "game": hand.rules.name,
        "big_blind": hand.rules.big_blind,
        "chips_per_unit": hand.chips_per_unit,
        "betting": hand.state.betting_text(),
        "board": cards_text(hand.board),
        "showdown": hand.state.is_showdown,
    }
    for position in (0, 1):
        hole, stack = hand.holes[position], hand.rules.stacks[position]
        payoff = payoffs[position]
        cells[f"player_{position}"] = hand.players[position]
        cells[f"stack_{position}"] = None if stack == UNLIMITED else stack
        cells[f"hole_{position}"] = cards_text(hole) if hole else None
        cells[f"payoff_chips_{position}"] = None if payoff is None else float(payoff)
    return cells


def hands_frame(hands: Iterable[HandRecord]) -> DataFrame:
    """The table of hands; a column has its type even if it holds nothing."""
    import polars

    types = {
        "hand": polars.Int64,
        "line": polars.Int64,
        "game": polars.String,
        "big_blind": polars.Int64,
        "chips_per_unit": polars.Int64,
        "betting": polars.String,
        "board": polars.String,
        "showdown": polars.Boolean,
    }
    for position in (0, 1):
        types |= {
            f"player_{position}": polars.String,
            f"stack_{position}": polars.Int64,
            f"hole_{position}": polars.String,
            f"payoff_chips_{position}": polars.Float64,
        }
    columns = columns_of(map(row, hands)) or {name: [] for name in types}
    return polars.DataFrame(columns, schema=types)


def export_hands(hands: Iterable[HandRecord], path: str | Path) -> int:
    """Write hands as the file's ending says, .parquet or .csv; how many there are.

    The file appears only when it is whole.
    """
    if Path(path).suffix.lower() not in ENDINGS:
        raise HistoryError(f"{path}: hands are exported as {' or '.join(ENDINGS)}")
    frame = hands_frame(hands)
    write_frame(frame, path)
    return len(frame)

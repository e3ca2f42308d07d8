"""One row a board of a batch at one decision: sorted, filtered by texture, drawn.

table = BoardTable(BatchReport.load("batch"), "check")
table.where("monotone").by("bet 1.65").plot("monotone.png")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards.card import RANKS, SUITS, parse_cards
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import EquipoiseError
from equipoise.settings import brief, did_you_mean
from equipoise.solve.batch.report import BatchReport
from equipoise.solve.batch.reportfolder import Row
from equipoise.solve.batch.results import ROOT
from equipoise.solve.batch.texture import TEXTURES, texture

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

#: What a board's texture is made of, as columns.
LOOKS = ("high", "suits", "pairs", "straights")
#: Figures of a row besides the frequencies of actions.
FIGURES = ("weight", "reach", "ev_oop", "ev_ip", "equity_oop")


class BoardTable(Columnar):
    """The boards of a report at a line: how often each action is taken, EV and equity."""

    def __init__(
        self, report: BatchReport, line: str = ROOT, rows: Sequence[Row] | None = None
    ) -> None:
        lines = report.line_names()
        if line not in lines:
            cure = did_you_mean(line, lines, "lines are")
            raise EquipoiseError(f"no line {brief(repr(line))} in the report: {cure}")
        self.report, self.line = report, line
        #: What can be done there.
        self.actions: tuple[str, ...] = tuple(report.action_names(line))
        first = next(row for row in report.lines if row["line"] == line)
        #: Who acts.
        self.player: str = first["player"]
        #: What EVs are counted in.
        self.unit: str = report.spots[0].get("unit", "chips")
        self.rows: list[Row] = list(self._rows() if rows is None else rows)

    def _rows(self) -> list[Row]:
        found: dict[str, Row] = {}
        chips = {spot["name"]: spot.get("chips_per_unit", 1) for spot in self.report.spots}
        for told in self.report.lines:
            if told["line"] != self.line:
                continue
            row = found.get(told["name"])
            if row is None:
                words = texture(parse_cards(told["board"]))
                row = {
                    "name": told["name"],
                    "board": told["board"],
                    **dict(zip(LOOKS, words, strict=True)),
                }
                row |= {"weight": told["weight"], "reach": told["reach"]}
                for who in ("oop", "ip"):
                    worth = told[f"ev_{who}_chips"]
                    row[f"ev_{who}"] = None if worth is None else worth / chips[told["name"]]
                row |= {"equity_oop": told["equity_oop"], **dict.fromkeys(self.actions, 0.0)}
                found[told["name"]] = row
            row[told["action"]] = told["frequency"] or 0.0
        return list(found.values())

    def by(self, column: str, descending: bool = True) -> BoardTable:
        """The same boards in the order of a column; what is not known stands last."""
        names = ("board", *LOOKS, *FIGURES, *self.actions)
        if column not in names:
            cure = did_you_mean(column, names, "columns are")
            raise EquipoiseError(f"no column {brief(repr(column))}: {cure}")
        known = [row for row in self.rows if row[column] is not None]
        key = _rank_order if column == "board" else lambda row: row[column]
        known.sort(key=key, reverse=descending)
        rest = [row for row in self.rows if row[column] is None]
        return BoardTable(self.report, self.line, [*known, *rest])

    def where(self, words: str) -> BoardTable:
        """The boards that are all that the words say: textures, ranks or cards, such as `paired A`."""
        asked = words.replace(",", " ").split()
        rows = self.rows
        for word in asked:
            rows = [row for row in rows if _holds(row, word)]
        return BoardTable(self.report, self.line, rows)

    def means(self) -> dict[str, float | None]:
        """Frequencies over these boards, weighted by how often the decision comes up on them."""
        often = [row["weight"] * (row["reach"] or 0.0) for row in self.rows]
        total = sum(often)
        return {
            action: sum(w * row[action] for w, row in zip(often, self.rows, strict=True)) / total
            if total > 0
            else None
            for action in self.actions
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row a board."""
        return columns_of(self.rows)

    def caption(self) -> str:
        """Who acts, after what, on how many boards."""
        after = "first to act" if self.line == ROOT else f"after {self.line}"
        return f"{self.player}, {after}: {len(self.rows):,} boards"

    def table(self, most: int = 60) -> Table:
        """The boards for a terminal."""
        from rich.table import Table

        table = Table("board", title=self.caption())
        table.add_column("texture")
        for name in (*self.actions, f"EV oop {self.unit}", "EV ip", "equity oop"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in self.rows[:most]:
            table.add_row(
                row["board"],
                " ".join(row[look] for look in LOOKS),
                *(f"{row[action]:.1%}" for action in self.actions),
                *(_shown(row[f"ev_{who}"], ".2f") for who in ("oop", "ip")),
                _shown(row["equity_oop"], ".1%"),
            )
        if len(self.rows) > most:
            table.caption = f"{len(self.rows) - most:,} more boards not shown"
        return table

    def plot(self, path: str | Path | None = None) -> Figure:
        """Frequencies of the boards as they stand in the table; saved when a path is given."""
        from equipoise.cards import chart

        if not self.rows:
            raise EquipoiseError("no board is left to draw: filter less")
        figure = self.report.figure([row["name"] for row in self.rows], [self.line])
        if path is not None:
            chart.save(figure, path)
        return figure


def _holds(row: Row, word: str) -> bool:
    """Whether a board is what a word says."""
    same = {known.lower(): known for known in TEXTURES}
    if word.lower() in same:
        return same[word.lower()] in (row[look] for look in LOOKS)
    cards = {
        card.lower() for card in (row["board"][i : i + 2] for i in range(0, len(row["board"]), 2))
    }
    if word.upper() in RANKS and len(word) == 1:
        return word.upper() in row["board"][::2]
    if len(word) == 2 and word[0].upper() in RANKS and word[1].lower() in SUITS:
        return word.lower() in cards
    cure = did_you_mean(word, TEXTURES, "words are such as")
    raise EquipoiseError(f"{brief(repr(word))} is no texture, rank or card: {cure}")


def _rank_order(row: Row) -> tuple[int, ...]:
    return tuple(card >> 2 for card in parse_cards(row["board"]))


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, f"z{form}")

"""Boards of a batch at one decision: sorted, filtered, drawn, read back from the folder."""

from __future__ import annotations

import polars
import pytest

from equipoise.cards.card import parse_cards
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.run import Limit
from equipoise.solve.batch.boardtable import BoardTable
from equipoise.solve.batch.jobs import Batch
from equipoise.solve.batch.report import BatchReport
from equipoise.solve.batch.run import run_batch
from equipoise.solve.batch.texture import texture

BOARDS = [("Td9d6hQc2s", 2.0), ("AsKs7s3s2d", 1.0), ("8c8d4h4sKd", 3.0)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    template = Spot.from_dict(
        {
            "unit": "bb", "board": "Td9d6hQc2s", "pot": 5, "stack": 20,
            "ranges": {"oop": "22+,A2s+,K9s+", "ip": "66+,A9s+,QJs"},
        }
    )  # fmt: skip
    batch, folder = Batch.of_boards(BOARDS, template), tmp_path_factory.mktemp("batch")
    outcomes = run_batch(batch, folder, Limit(iterations=40, exploitability_pct_pot=1.0), workers=1)
    BatchReport(outcomes).save(folder / "report")
    return folder


def test_the_report_comes_back_as_it_was_written(folder):
    report = BatchReport.load(folder)
    written = polars.read_parquet(folder / "report" / "lines.parquet").to_dicts()
    for row, told in zip(report.lines, written, strict=True):
        assert row == pytest.approx(told)
    assert report.spots == BatchReport.load(folder / "report").spots
    table = BoardTable(report)
    assert [row["board"] for row in table.rows] == [board for board, _ in BOARDS]
    assert table.player == "oop"
    assert table.unit == "bb"
    for row in table.rows:
        assert sum(row[action] for action in table.actions) == pytest.approx(1)
        assert row["ev_oop"] + row["ev_ip"] == pytest.approx(5)
    whole = report.means()["lines"][0]["actions"]
    assert table.means() == pytest.approx({told["action"]: told["frequency"] for told in whole})


def test_boards_are_sorted_by_any_column(folder):
    table = BoardTable(BatchReport.load(folder), "check")
    for column in ("weight", "equity_oop", table.actions[-1]):
        values = [row[column] for row in table.by(column).rows]
        assert values == sorted(values, reverse=True)
        assert [row[column] for row in table.by(column, descending=False).rows] == values[::-1]
    assert table.by("board").rows[0]["board"].startswith("A")
    with pytest.raises(EquipoiseError, match="no column 'equty_oop': did you mean 'equity_oop'"):
        table.by("equty_oop")
    with pytest.raises(EquipoiseError, match="no line 'chekc'"):
        BoardTable(table.report, "chekc")


@pytest.mark.parametrize(
    ("words", "boards"),
    [
        ("", {0, 1, 2}), ("monotone", {1}), ("paired", {2}), ("connected, two-tone", {0}),
        ("k", {1, 2}), ("Kd", {2}), ("A-high rainbow", set()),
    ],
)  # fmt: skip
def test_boards_are_filtered_by_what_they_look_like(folder, words, boards):
    found = BoardTable(BatchReport.load(folder)).where(words)
    assert {row["board"] for row in found.rows} == {BOARDS[place][0] for place in boards}


def test_a_word_that_says_nothing_is_refused(folder):
    table = BoardTable(BatchReport.load(folder))
    with pytest.raises(EquipoiseError, match="did you mean 'monotone'"):
        table.where("monotne")
    with pytest.raises(EquipoiseError, match="no board is left"):
        table.where("A-high paired").plot()


def test_the_picture_shows_the_boards_that_are_left(folder, tmp_path):
    table = BoardTable(BatchReport.load(folder)).by("equity_oop").where("k")
    figure = table.plot(tmp_path / "flops.png")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [row["board"] for row in table.rows]
    assert (tmp_path / "flops.png").stat().st_size > 1000


def test_no_report_and_a_damaged_one_are_told(folder, tmp_path):
    with pytest.raises(EquipoiseError, match="no report of a batch"):
        BatchReport.load(tmp_path)
    whole = {name: (folder / "report" / name).read_text() for name in ("spots.csv", "lines.csv")}
    for name, old, new in (
        ("spots.csv", "weight", "wait"), ("spots.csv", ",2,", ",-2,"), ("spots.csv", "Td9d6hQc2s", "Td9d6h"),
        ("lines.csv", "check", "czech"), ("lines.csv", "AsKs7s3s2d", "AsKs7s3s2s"),
        ("lines.csv", ",oop,", ",nobody,"), ("lines.csv", "\n", "\n\0"),
    ):  # fmt: skip
        for other, text in whole.items():
            (tmp_path / other).write_text(text)
        BatchReport.load(tmp_path)
        assert old in whole[name]
        (tmp_path / name).write_text(whole[name].replace(old, new, 1 if old == "\n" else -1))
        with pytest.raises(EquipoiseError, match="damaged"):
            BatchReport.load(tmp_path)


def test_textures_of_turns_and_rivers():
    assert texture(parse_cards("AhKhQh2h7d")) == ("A-high", "monotone", "unpaired", "connected")
    assert texture(parse_cards("As2d3c9h")) == ("A-high", "rainbow", "unpaired", "connected")
    assert texture(parse_cards("7c7d7h7s")) == ("7-high", "rainbow", "trips", "disconnected")

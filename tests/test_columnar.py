"""Results as tables: NumPy records, Polars frames, notebooks."""

import math
from pathlib import Path

import numpy as np
import polars
import pytest

import equipoise as eq
from equipoise.arena.acpc.dealer import DealerResult
from equipoise.arena.histories.players import summarise
from equipoise.columnar import Columnar, html_table, write_frame

LEDUC = eq.game("leduc").betting.rules
LOG = Path(__file__).parent / "arena" / "data" / "dealer_nolimit.log"


class Table(Columnar):
    def __init__(self, **columns):
        self._columns = columns

    def columns(self):
        return self._columns


def test_what_is_not_known_is_nan_none_or_null():
    table = Table(number=[1, None], text=["a", None], real=np.array([math.nan, 2.0]), all=[1, 2])
    assert Table(a=[math.nan, 1]).to_polars().rows() == [(None,), (1,)]
    records = table.to_numpy()
    assert records.dtype.names == ("number", "text", "real", "all")
    assert math.isnan(records["number"][1])
    assert records["text"].tolist() == ["a", None]
    assert records["all"].dtype.kind == "i"
    frame = table.to_polars()
    assert frame.rows() == [(1, "a", None, 1), (None, None, 2.0, 2)]


def test_an_empty_table():
    assert Table().to_polars().shape == (0, 0)
    assert len(Table(a=[]).to_numpy()) == 0
    assert Table(a=[])._repr_html_().count("<tr>") == 1


def test_a_notebook_shows_the_first_rows_and_no_markup_of_others():
    shown = html_table("<b>", {"<i>": ["<script>"] + ["x"] * 24, "n": list(range(25))})
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<tr>") == 22
    assert "5 more rows" in shown


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_frame_is_written_as_its_name_says(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    write_frame(Table(a=[1, 2], b=[0.5, None]).to_polars(), path)
    read = polars.read_csv if ending == "csv" else polars.read_parquet
    assert read(path).rows() == [(1, 0.5), (2, None)]


def _results():
    spot = eq.Spot("Td9d6hQc2s", "AA,KK", "QQ,JJ", pot=100, stack=100, menu="50%,a")
    solution = eq.solve_spot(spot, target_pct_pot=1)
    curve = eq.Curve()
    eq.make_solver("cfr+", eq.game("kuhn")).run(eq.Limit(iterations=60), curve)
    match = eq.play_match("random", "call", hands=40, seed=3)
    return {
        "equity": eq.equity(["AsAh", "KcKd"]),
        "range": eq.Range.parse("QQ+,AKs:0.5"),
        "match": match,
        "curve": curve,
        "position": solution.at("check"),
        "history": eq.History.open(LOG),
        "tournament": eq.play_tournament(["fold", "call", "all-in"], hands=20),
        "strategy": eq.TabularStrategy.uniform(eq.game("leduc")),
        "potential": eq.potential("Ad Qc", "3h 4c Jh"),
        "exact": eq.exact_match(eq.make_agent("call"), eq.make_agent("fold"), LEDUC),
        "player": summarise(eq.History.open(LOG).hands())[0],
        "dealer": DealerResult(10, (50, -50), ("a", "b"), 0.5),
        "lbr": eq.local_best_response("call", hands=20, menu="fc"),
    }


def test_every_public_result_is_a_table_and_shows_itself():
    for name, result in _results().items():
        columns = result.columns()
        records, frame, shown = result.to_numpy(), result.to_polars(), result._repr_html_()
        assert records.dtype.names == tuple(frame.columns) == tuple(columns), name
        assert len(records) == len(frame) > 0, name
        assert "object at 0x" not in shown, name
        assert shown.startswith(("<table", "<svg")), name


def test_a_match_and_a_tournament_as_tables():
    found = _results()
    match = found["match"]
    frame = match.to_polars()
    assert frame["payoff_chips"].to_list() == match.payoffs.tolist()
    assert frame["a_position"].to_list() == [0, 1] * 20
    rates = found["tournament"].to_polars()
    assert rates.select("a", "b", "mbb_per_hand").rows()[1] == ("fold", "all-in", -750.0)
    assert found["equity"].to_numpy()["win"].sum() + found["equity"].tie == pytest.approx(1)


def test_a_strategy_as_a_table_has_a_row_for_each_action():
    strategy = eq.TabularStrategy.from_dict(eq.game("kuhn"), {("J", ""): {"bet": 1}})
    rows = strategy.to_polars().rows(named=True)
    first = {"player": 0, "board": "", "betting": "", "state": "J"}
    assert rows[0] == first | {"action": "check", "probability": 0.0}
    assert rows[1] == first | {"action": "bet 1", "probability": 1.0}
    assert len(rows) == sum(len(told.actions) for told in strategy)


def test_potential_as_a_table_is_its_counts():
    found = eq.potential("Ad Qc", "3h 4c Jh")
    table = found.to_numpy()
    assert table["now"].tolist() == ["ahead", "tied", "behind"]
    assert [tuple(row)[1:] for row in table.tolist()] == list(found.counts)


def test_a_solution_and_its_positions_as_tables():
    spot = eq.Spot("Td9d6hQc2s", "AA,KK", "QQ,JJ", pot=100, stack=100, menu="50%,a")
    solution = eq.solve_spot(spot, target_pct_pot=1)
    frame, records = solution.to_polars(), solution.to_numpy()
    first = frame.filter((polars.col("line") == "") & (polars.col("player") == "oop"))
    position = solution.at()
    here = position.to_polars()
    assert here["hand"].to_list() == first["hand"].to_list()
    assert here["ev_chips"].to_list() == pytest.approx(first["ev_chips"].to_list(), abs=1e-4)
    assert here["check"].to_list() == pytest.approx(position.strategy()[0].tolist())
    assert records.dtype.names == tuple(frame.columns)
    assert len(records) == len(frame)
    assert solution._repr_html_().startswith("<svg")

"""Subgame solving on games where the truth is known: what the tables must say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from equipoise.bench.reports import subgames_report
from equipoise.bench.reports.subgames_report import KNOWN_COIN
from equipoise.bench.reproduce.subgames import experiments, turnriver
from equipoise.bench.reproduce.subgames.closedforms import apart_table, coin_table, signs_table
from equipoise.bench.reproduce.subgames.leduc import (
    blueprints,
    exploited,
    leduc_table,
    resolved_by_program,
    sequence_leduc,
)
from equipoise.bench.reproduce.subgames.nolimit import nested_table
from equipoise.bench.reproduce.subgames.smalldeck import depth_table, small_table
from equipoise.bench.reproduce.subgames.turnriver import NARROW, TurnRiver, turnriver_table
from equipoise.cli import app
from equipoise.solve.spots.spotsolver import SpotSolver


def test_the_coin_in_closed_form() -> None:
    told = coin_table()
    assert told["value"] == pytest.approx(0, abs=1e-9)
    for name, row in told["rows"].items():
        assert row["exploitability"] == pytest.approx(KNOWN_COIN[name], abs=1e-9), name
    assert told["rows"]["reach-maxmargin, best response to 1/2"]["objective"] == pytest.approx(
        -0.25
    )


def test_hand_signs() -> None:
    rows = signs_table()["rows"]
    assert rows["unsafe"]["exploitability"] == pytest.approx(1.0)
    for name in ("resolve", "maxmargin"):
        assert rows[name]["play"] == pytest.approx([1 / 3] * 3)


def test_games_that_do_not_touch_are_solved_alone() -> None:
    told = apart_table()
    assert told["value"] == pytest.approx(0.5)
    assert told["before"] == pytest.approx([1 / 3, 1, 2 / 3])
    assert told["after"][:2] == pytest.approx([0.2, 0.0], abs=1e-9)
    plays = list(told["seat_1"].values())
    assert plays[0] == pytest.approx([2 / 5, 3 / 5])
    assert plays[1] == pytest.approx([5 / 6, 1 / 6])
    assert plays[2] == pytest.approx([3 / 5, 2 / 5])


#: Exploitability of the blueprints, and what ties broken by the range leave of resolve.
LEDUC = {
    "exact": ((0, 0), (0, 0)),
    "noisy": ((0.742491, 0.582754), (0.1514, 0.1782)),
    "uniform": ((2.574116, 2.173106), (0.9236, 0.8029)),
    "J=Q": ((0.689394, 0.902273), (0.4477, 0.5189)),
}


@pytest.mark.parametrize("name", LEDUC)
def test_leduc_by_the_program(name: str) -> None:
    game = sequence_leduc()
    _, value = game.equilibrium()
    assert value == pytest.approx(-0.0856064241, abs=1e-8)
    play = blueprints()[name]
    before, tied = LEDUC[name]
    assert game.exploitability(play, value)[:2] == pytest.approx(before, abs=1e-5)
    for seat in (0, 1):
        found = resolved_by_program(game, play, seat, "resolve, best response", tie=True)
        assert exploited(game, play, seat, found.play, value) == pytest.approx(tied[seat], abs=2e-3)


@pytest.mark.parametrize("behind", [8.0, 20.0])
def test_nested_solving_loses_a_quarter_of_translation(behind: float) -> None:
    rows = nested_table(behind)["rows"]
    for kind in ("resolve", "maxmargin"):
        for seat in (0, 1):
            assert rows[f"nested {kind}"][seat] <= rows["translation"][seat] / 4
    if behind == 8.0:
        assert rows["translation"] == pytest.approx([0.2708, 0.1147], abs=2e-3)
        assert rows["nested resolve"] == pytest.approx([0.0290, 0.0085], abs=2e-3)


def test_a_small_deck_by_the_sweep() -> None:
    rows = small_table(300)["rows"]
    for method in ("resolve, best response", "maxmargin", "reach-maxmargin"):
        for seat in (0, 1):
            assert rows[method]["lost"][seat] <= rows["blueprint"]["lost"][seat] + 0.005
        if method == "reach-maxmargin":
            continue
        assert min(rows[method]["least_margin_pct_pot"]) > -1.0


def test_a_depth_limit_with_choices_beats_one_continuation() -> None:
    rows = depth_table(300)["rows"]
    for row in rows.values():
        one, four = row["1 continuation"], row["4 continuations"]
        assert sum(four) < sum(one)


def test_a_turn_and_its_rivers() -> None:
    told = turnriver_table(NARROW, ("purified",), iterations=60, bucket_iterations=60)
    row = told["rows"]["purified"]
    for seat in (0, 1):
        for method in ("resolve, best response", "maxmargin"):
            assert row[method]["lost"][seat] <= row["blueprint"][seat] + 0.5
            assert row[method]["lost"][seat] >= row["floor"][seat] - 0.3
    mean = sum(row["resolve, self-play"]["lost"]) / 2
    assert mean < row["blueprint"][2]
    cut = told["thresholds"]
    assert set(cut) >= {"ranges as played", "ranges before the threshold", "blueprint"}


def test_rivers_go_on_from_a_solve_of_the_turn() -> None:
    """Continual re-solving: a turn that is half solved, its rivers solved again from its own values."""
    whole = TurnRiver(NARROW, exact_iterations=300)
    solver = SpotSolver(whole.game)
    solver.advance(12)
    plan = solver.plan
    before = whole.lost_pct(plan)
    for seat in (0, 1):
        new, least = whole.resolved(plan, seat, "resolve, best response", 300)
        assert whole.lost_pct(new)[seat] <= before[seat] + 0.1
        assert least > -2.0


def test_the_command_draws_and_prints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def little(ranges: tuple[str, str], **given: int) -> dict[str, Any]:
        return turnriver_table(
            ("TT,KQs", "QQ,JTs"), ("purified",), iterations=5, bucket_iterations=5
        )

    # Three lines lead to the rivers instead of five.
    monkeypatch.setitem(turnriver.MENU, "turn", {"bets": "75%", "raises": ""})
    monkeypatch.setattr(experiments, "turnriver_table", little)
    monkeypatch.setattr(experiments, "leduc_table", lambda count: leduc_table(10, ("noisy",)))
    monkeypatch.setattr(experiments, "small_table", lambda count: small_table(5))
    monkeypatch.setattr(experiments, "depth_table", lambda count: depth_table(5))
    monkeypatch.setattr(experiments, "nested_table", lambda behind: nested_table(2.0))
    picture = tmp_path / "subgames.png"
    words = ["reproduce", "subgames", "--quick", "--json", "--plot", str(picture)]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0
    assert picture.stat().st_size > 1000
    told = json.loads(result.stdout)
    assert told["coin_toss"]["value"] == pytest.approx(0, abs=1e-9)
    screen = Console(width=200)
    with screen.capture() as shown:
        screen.print(subgames_report.report(told))
    for title in ("Coin toss", "Leduc's second round", "No-limit Leduc", "A turn thresholded"):
        assert title in shown.get()

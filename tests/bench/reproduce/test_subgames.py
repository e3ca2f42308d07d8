"""Subgame solving on games where the truth is known: what the tables must say."""

from __future__ import annotations

import pytest

from equipoise.bench.reports.subgames_report import KNOWN_COIN
from equipoise.bench.reproduce.subgames.closedforms import apart_table, coin_table, signs_table
from equipoise.bench.reproduce.subgames.leduc import (
    blueprints,
    exploited,
    resolved_by_program,
    sequence_leduc,
)
from equipoise.bench.reproduce.subgames.nolimit import nested_table
from equipoise.bench.reproduce.subgames.smalldeck import depth_table, small_table
from equipoise.bench.reproduce.subgames.turnriver import NARROW, turnriver_table


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
    for method in ("resolve, best response", "maxmargin"):
        for seat in (0, 1):
            assert rows[method]["lost"][seat] <= rows["blueprint"]["lost"][seat] + 0.005
        assert min(rows[method]["least_margin"]) > -0.05


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

"""`equipoise show` and `equipoise drill`: a saved solution opened, walked and practised."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.solve.spots.solution import solve_spot

runner = CliRunner()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    spot = Spot("Td9d6hQc", "22+,A2s+", "TT+,AQs+,AQo", pot=100, stack=200, menu="50%,a")
    path = tmp_path_factory.mktemp("show") / "turn.solution"
    solve_spot(spot, 2).save(path)
    return str(path)


def run(*words: str, **settings):
    return runner.invoke(app, list(words), catch_exceptions=False, **settings)


def told(*words: str, **settings):
    return json.loads(run(*words, "--json", **settings).stdout)


def test_a_node_and_a_hand(file):
    root = told("show", file)
    assert [row["action"] for row in root["actions"]] == ["check", "bet 50", "allin 200"]
    assert sum(row["frequency"] for row in root["actions"]) == pytest.approx(1)
    assert len(root["position"]["action_ev_chips"]) == 3
    hand = told("show", file, "--at", "check", "--hand", "QdAh")["hand"]
    assert hand["hand"] == "AhQd"
    assert hand["player"] == "ip"
    assert sum(row["probability"] for row in hand["actions"]) == pytest.approx(1)
    shown = run("show", file, "--at", "check", "--hand", "AhQd").stdout
    assert "ip holds AhQd" in shown
    shown = run("show", file, "--at", "check – bet 50", "--hand", "AhQd").stdout
    assert "and is not to act" in shown


@pytest.mark.parametrize("report", ["--runouts", "--classes", "--equities"])
def test_reports_are_shown_and_written(file, report, tmp_path):
    at = "check, check" if report == "--runouts" else "check"
    out = tmp_path / "report.csv"
    picture = tmp_path / "report.png"
    found = told("show", file, "--at", at, report, "--out", str(out), "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = found[report[2:]]
    assert rows
    lines = out.read_text().splitlines()
    assert len(lines) - 1 == len(rows if isinstance(rows, list) else rows["share"])
    assert "EV" in run("show", file, "--at", at, report).stdout or report == "--equities"


def test_two_nodes_beside_each_other(file, tmp_path):
    picture = tmp_path / "both.svg"
    words = ("show", file, "--at", "check", "--compare-at", "bet 50", "--plot", str(picture))
    found = told(*words)["comparison"]
    assert "EV oop" in picture.read_text()
    assert found["player"] == "ip"
    assert found["frequencies"]["fold"][0] == 0
    assert "difference" in run("show", file, "--compare", file).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--at", "check, bet 60"], "choose from"),
        (["--hand", "Td9c"], "neither player can hold it"),
        (["--hand", "Ax"], "Ax"),
        (["--runouts"], "ends its street"),
        (["--at", "check, check, 2c", "--runouts"], "after the river"),
        (["--at", "check, check", "--classes"], "a card is dealt: add one"),
        (["--at", "check, check, 2c, check, check", "--classes"], "leave out the last step"),
        (["--runouts", "--classes"], "one report at a time"),
        (["--hand", "AhQd", "--plot", "x.png"], "--plot draws"),
        (["--at", "check, check", "--compare-at", "check, check", "--plot", "x.png"], "nobody"),
        (["--hand", "AhQd", "--out", "x.csv"], "--out writes tables"),
        (["--out", "x.txt"], "--out"),
    ],
)
def test_what_cannot_be_shown_is_refused(file, words, sentence):
    with pytest.raises(EquipoiseError, match=sentence):
        run("show", file, *words)


def test_a_spot_is_no_solution(tmp_path):
    path = tmp_path / "spot.toml"
    path.write_text('board = "Td9d6h"')
    with pytest.raises(EquipoiseError, match="solve it first"):
        run("show", str(path))


def test_a_drill_keeps_score(file):
    answers = "check\nnonsense\nbet\nallin\nq\n"
    found = told("drill", file, "--seed", "4", input=answers)
    assert found["hands"] == 3
    assert found["right"] + found["inaccurate"] + found["blunders"] == 3
    again = told("drill", file, "--seed", "4", input=answers)
    assert again == found
    shown = run("drill", file, "--hands", "1", "--at", "check", input="check\n").stdout
    assert "1 hands" in shown
    assert "how often" in shown

"""`equipoise solve`: figures, files, pictures, locks and one sentence for what cannot be."""

from __future__ import annotations

import json
import os
import signal

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.solve.solution import Solution
from equipoise.solve.spotsolver import SpotSolver

KEYS = [
    "spot",
    "iterations",
    "seconds",
    "exploitability_pct_pot",
    "exploitability_chips",
    "ev_oop_chips",
    "ev_ip_chips",
    "equity_oop",
    "nodes",
    "memory_mb",
    "threads",
    "reached",
]

TOML = """
board = "Td 9d 6h Qc 2s"
pot = 100
stack = 200

[ranges]
oop = "KJ,AQ,TT,55,A5s"
ip = "QJ,99,AT,KK:0.5,87s"

[menu]
bets = "50%,a"
"""

runner = CliRunner()


@pytest.fixture
def spot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "river.toml"
    path.write_text(TOML)
    return str(path)


def solve(*words: str):
    return runner.invoke(app, ["solve", *words], catch_exceptions=False)


def figures(*words: str) -> dict:
    done = solve(*words, "--json")
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_json_is_one_object_with_the_promised_keys(spot):
    told = figures(spot, "--target-pct-pot", "0.2")
    assert list(told) == KEYS
    assert told["spot"] == "river"
    assert told["reached"] is True
    assert told["exploitability_pct_pot"] <= 0.2
    assert told["exploitability_chips"] == pytest.approx(told["exploitability_pct_pot"])
    assert told["ev_oop_chips"] + told["ev_ip_chips"] == pytest.approx(100, abs=0.01)
    assert 0 < told["equity_oop"] < 1
    assert told["nodes"] == len(Spot.load(spot).game().betting.of_kind(0, 0, 1))


def test_limits_stop_short_of_the_target(spot):
    told = figures(spot, "--target-pct-pot", "0", "--iterations", "7")
    assert (told["iterations"], told["reached"]) == (7, False)
    assert figures(spot, "--target-pct-pot", "0", "--seconds", "0.05")["seconds"] < 2


def test_people_see_cost_chart_and_table(spot):
    done = solve(spot)
    assert done.exit_code == 0
    assert "decisions in all" in done.stderr
    for words in ("AQs", "bet 50", "frequency", "realised", "% of pot"):
        assert words in done.stdout


def test_saved_solves_go_on_and_may_be_cut(spot):
    first = figures(spot, "--iterations", "20", "--target-pct-pot", "0", "--save", "a.solution")
    again = figures("a.solution", "--target-pct-pot", "0.1")
    assert again["iterations"] > first["iterations"]
    assert again["exploitability_pct_pot"] <= 0.1
    same = figures(spot, "--resume", "a.solution", "--target-pct-pot", "0.1")
    assert same["iterations"] == again["iterations"]
    assert figures(spot, "--compress", "--target-pct-pot", "0.5")["memory_mb"] < first["memory_mb"]


def test_exports_and_pictures_are_written(spot, tmp_path):
    figures(spot, "--export", "all.json", "--plot", "chart.png", "--at", "check")
    assert len(json.loads((tmp_path / "all.json").read_text())["decisions"]) > 5
    assert (tmp_path / "chart.png").stat().st_size > 10_000


def test_locks_are_named_in_every_output(spot):
    words = ("--lock", "bet 50: fold=1", "--lock", "allin: fold=1 for QJ,99,AT,KK,87s")
    told = figures(spot, *words)
    assert told["exploitability_of"] == "restricted game"
    assert told["ev_oop_chips"] == pytest.approx(100, abs=0.5)
    assert "restricted game" in solve(spot, *words).stdout


def test_ctrl_c_saves_and_leaves_cleanly(spot, tmp_path, monkeypatch):
    advance = SpotSolver.advance

    def interrupted(self, count):
        advance(self, count)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(SpotSolver, "advance", interrupted)
    before = signal.getsignal(signal.SIGINT)
    done = solve(spot, "--target-pct-pot", "0", "--json")
    assert done.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before
    told = json.loads(done.stdout)
    assert told["reached"] is False
    assert "river.solution" in done.stderr
    opened = Solution.open(tmp_path / "river.solution")
    assert opened.iterations == told["iterations"] > 0
    assert solve(spot, "--target-pct-pot", "0", "--save", "mine").exit_code == 130
    assert Solution.open(tmp_path / "mine").spot == Spot.load(spot)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.toml"], "cannot be read"),
        ([], "which spot"),
        (["{spot}", "--target-pct-pot", "-1"], "0 or more"),
        (["{spot}", "--threads", "0"], "at least one"),
        (["{spot}", "--save", "nowhere/x"], "no folder"),
        (["{spot}", "--export", "x.xls", "--iterations", "1"], "name the export"),
        (["{spot}", "--lock", "check fold"], "write it as"),
        (["{spot}", "--lock", "bet 60: fold=1"], "choose from"),
        (["{spot}", "--at", "raise", "--iterations", "1"], "choose from"),
        (["broken.solution"], "damaged"),
        (["other.toml", "--resume", "good.solution"], "another spot"),
        (["answer.solution", "--target-pct-pot", "0"], "only the answer"),
    ],
)
def test_bad_input_is_one_sentence(spot, tmp_path, words, told):
    solution = Solution.unsolved(Spot.load(spot))
    solution.resolve(None, iterations=1)
    solution.save("good.solution")
    solution.save("answer.solution", compress=True)
    data = (tmp_path / "good.solution").read_bytes()
    (tmp_path / "broken.solution").write_bytes(data[: len(data) // 2])
    (tmp_path / "other.toml").write_text(TOML.replace("pot = 100", "pot = 90"))
    with pytest.raises(EquipoiseError, match=told) as error:
        solve(*(word.replace("{spot}", spot) for word in words), "--json")
    assert "\n" not in str(error.value)

"""`equipoise game`: figures as JSON, tables, pictures, checkpoints, and one sentence for bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games import catalogue
from equipoise.solve.registry import SOLVERS
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.solvers.linear_program import LinearProgram

runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb"})
KEYS = {
    "game",
    "solver",
    "iterations",
    "seconds",
    "exploitability_chips",
    "exploitability_mbb",
    "value_chips",
}


def shown(*words: str) -> str:
    done = runner.invoke(app, ["game", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def as_json(*words: str) -> dict[str, Any]:
    return json.loads(shown(*words, "--json"))


def refusal(*words: str) -> str:
    """The sentence that `main` prints before it exits with code 2."""
    with pytest.raises(EquipoiseError) as refused:
        runner.invoke(app, ["game", *words], catch_exceptions=False)
    return str(refused.value)


def process(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", "from equipoise.cli import main; main()", "game", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def test_one_solver_as_json() -> None:
    told = as_json("leduc", "--solver", "dcfr", "--iterations", "300")
    assert told.keys() >= KEYS
    assert (told["game"], told["solver"], told["iterations"]) == ("leduc", "dcfr", 300)
    assert 0 < told["exploitability_chips"] < 0.01
    assert told["exploitability_mbb"] == pytest.approx(1000 * told["exploitability_chips"])
    assert told["value_chips"] == pytest.approx(-0.0856, abs=2 * told["exploitability_chips"])
    assert told["seconds"] > 0


def test_json_is_all_there_is_on_stdout() -> None:
    """In a process of its own, as a script would call it."""
    done = process("leduc", "--solver", "dcfr", "--iterations", "300", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout).keys() >= KEYS


def test_milli_blinds_are_of_the_big_blind() -> None:
    told = as_json("holdem-small", "--set", "size=limit", "--iterations", "20")
    assert told["exploitability_mbb"] == pytest.approx(500 * told["exploitability_chips"])


def test_several_solvers_and_a_plot(tmp_path: Path) -> None:
    path = tmp_path / "curves.png"
    told = as_json("kuhn", "--solver", "cfr+, dcfr,egt", "--iterations", "50", "--plot", str(path))
    assert told["game"] == "kuhn"
    assert [run["solver"] for run in told["runs"]] == ["cfr+", "dcfr", "egt"]
    assert all(run.keys() >= KEYS and run["iterations"] == 50 for run in told["runs"])
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_chart_of_jam_or_fold(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    words = ("jamfold", "--stack", "10", "--iterations", "500", "--plot", str(path))
    assert as_json(*words)["value_chips"] / 2 == pytest.approx(-0.04537, abs=1e-3)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_table_for_people() -> None:
    text = shown("kuhn", "--iterations", "100", "--solver", "cfr+,lp")
    assert "kuhn: 6 + 6 information sets" in text
    assert re.search(r"cfr\+ .*100 .*chips = .* mbb .*-0\.05", text)
    assert re.search(r"lp .* 1 .*-0\.05555556 chips", text)
    assert "holds" not in text


def test_strategy() -> None:
    text = shown("kuhn", "--iterations", "1000", "--strategy")
    assert "kuhn: average strategy" in text
    rows = [line for line in text.splitlines() if "fold" in line and "call" in line]
    assert len(rows) == 6
    assert sum("fold 0.0%  call 100.0%" in row for row in rows) == 2


def test_list() -> None:
    told = as_json("--list")
    assert tuple(told["games"]) == catalogue.names()
    assert told["solvers"].keys() == SOLVERS.keys()
    assert told["games"]["leduc"]["parameters"] == {"max_raises": "2", "suits": "False"}
    assert all(told["solvers"].values())
    text = shown("--list")
    for name in (*catalogue.names(), *SOLVERS):
        assert name in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("leduk",), "no game 'leduk': did you mean 'leduc'?"),
        (("kuhn", "--solver", "dcrf"), "no solver 'dcrf': did you mean 'dcfr'?"),
        (("kuhn", "--solver", "dcfr,egg"), "no solver 'egg': did you mean 'egt'?"),
        (("kuhn", "--set", "max_raises"), "--set max_raises: write it as name=value"),
        (("kuhn", "--set", "max_raise=2"), "did you mean 'max_raises'?"),
        (("kuhn", "--set", "max_raises=two"), "write a whole number"),
        (("leduc", "--stack", "10"), "leduc has no parameter 'stack'"),
        (("leduc-nolimit", "--menu", "half a pot"), ""),
        (("kuhn", "--iterations", "-5"), "--iterations -5: give 1 to"),
        (("kuhn", "--iterations", "0"), "--iterations 0: give 1 to"),
        (("kuhn", "--iterations", str(10**25)), "give 1 to"),
        (("kuhn", "--target", "-1"), "--target -1.0: give 0 to"),
        (("kuhn", "--target", "nan"), "--target nan: give 0 to"),
        (("kuhn", "--target", "0"), "never reached: add --seconds"),
        (("kuhn", "--seconds", "0"), "give more than 0"),
        (("kuhn", "--seconds", "nan"), "give more than 0"),
        (("kuhn", "--seconds", "inf"), "give more than 0"),
        (("kuhn", "--threads", "0"), "--threads 0: give 1 to 256"),
        (("kuhn", "--threads", "-3"), "--threads -3: give 1 to 256"),
        (("kuhn", "--seed", "-1"), "--seed -1"),
        (("kuhn", "--seed", str(10**30)), "--seed 1"),
        (("kuhn", "--solver", "cfr+,cfr+"), "name each solver once"),
        (("kuhn", "--solver", ""), "no solver ''"),
        (("jamfold", "--stack", "1e999999999"), "write a number"),
        (("jamfold", "--stack", "1/0"), "write a number"),
        (("jamfold", "--stack", "9" * 5000), "write something shorter"),
        (("jamfold", "--stack", "10", "--set", "stack=11"), "stack is given twice"),
        (("kuhn", "--solver", "cfr,dcfr", "--checkpoint", "file"), "--checkpoint goes with one"),
        ((), "which game?"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    told = refusal(*words)
    assert sentence in told
    assert "\n" not in told


def test_bad_input_exits_with_code_2() -> None:
    done = process("leduk")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "equipoise: no game 'leduk': did you mean 'leduc'?\n"


def test_target_stops() -> None:
    told = as_json("leduc", "--solver", "cfr+", "--target", "0.05")
    assert told["exploitability_chips"] <= 0.05
    assert told["iterations"] < 200
    told = as_json("leduc", "--solver", "cfr+", "--target", "0.05", "--iterations", "5")
    assert told["iterations"] == 5


def test_seconds_stop() -> None:
    told = as_json("kuhn", "--seconds", "0.2")
    assert 0.2 <= told["seconds"] < 2


def test_parameters_reach_the_game() -> None:
    told = as_json("leduc-nolimit", "--stack", "5", "--menu", "100%,a", "--iterations", "5")
    assert told["game"] == "leduc-nolimit(stack=5, menu=100%,a)"
    told = as_json("leduc", "--set", "suits=yes", "--set", "max_raises=1", "--iterations", "5")
    assert told["game"] == "leduc(max_raises=1, suits)"


def test_checkpoint_resumes(tmp_path: Path) -> None:
    path = str(tmp_path / "checkpoint")
    straight = as_json("leduc", "--iterations", "100")
    words = ("leduc", "--checkpoint", path, "--iterations")
    assert as_json(*words, "60")["iterations"] == 60
    resumed = as_json(*words, "100")
    assert resumed["iterations"] == 100
    assert resumed["exploitability_chips"] == straight["exploitability_chips"]
    assert as_json(*words, "100")["iterations"] == 100
    assert "a checkpoint of dcfr, not cfr" in refusal(*words, "10", "--solver", "cfr")
    assert "another game" in refusal("kuhn", "--checkpoint", path)
    Path(path).write_bytes(b"something else")
    assert "not an Equipoise file" in refusal(*words, "100")


def test_seeds() -> None:
    words = ("kuhn", "--solver", "external", "--iterations", "500")
    first, same, other = (as_json(*words, "--seed", seed) for seed in ("1", "1", "2"))
    assert first["exploitability_chips"] == same["exploitability_chips"]
    assert first["exploitability_chips"] != other["exploitability_chips"]


def test_places_that_cannot_be_written_to(tmp_path: Path) -> None:
    """Said before anything is solved."""
    place = str(tmp_path / "nowhere" / "file.png")
    for option in ("--plot", "--checkpoint"):
        assert "there is no folder" in refusal("kuhn", "--seconds", "100", option, place)
    path = str(tmp_path / "curve.xyz")
    assert "end the name with .png" in refusal("kuhn", "--iterations", "5", "--plot", path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--plot", "x.bmp"), "--plot 'x.bmp': end the name with .png"),
        (("--plot", "folder"), "is a folder"),
        (("--plot", "old.png"), "exists: add --overwrite"),
        (("--plot", "none/x.png"), "there is no folder"),
        (("--checkpoint", "folder"), "is a folder"),
        (("--checkpoint", "old.png"), "not an Equipoise file"),
        (("--postprocess", "banana"), "banana"),
        (("--solver", "cfr+,lp", "--set", "max_raises=banana"), "write a whole number"),
    ],
)
def test_whatever_can_be_checked_is_checked_before_the_first_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.png").write_text("mine")

    def iterated(self: Any, count: int) -> None:
        raise AssertionError("an iteration was done")

    for kind in SOLVERS.values():
        monkeypatch.setattr(kind, "advance", iterated)
    assert told in refusal("kuhn", *words)
    assert (tmp_path / "old.png").read_text() == "mine"


def test_a_solver_that_does_not_fit_is_told_before_another_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SOLVERS["cfr+"], "run", lambda *words: pytest.fail("it ran"))
    monkeypatch.setitem(LinearProgram.__init__.__kwdefaults__, "most_entries", 5)
    assert "payoff entries" in refusal("kuhn", "--solver", "cfr+,lp")


def test_json_holds_the_strategy_that_was_asked_for() -> None:
    told = as_json("kuhn", "--strategy", "--iterations", "10")
    assert len(told["strategy"]) == 12
    assert told["strategy"][0].keys() >= {"player", "state", "actions", "probabilities"}
    both = as_json("kuhn", "--strategy", "--iterations", "10", "--solver", "cfr,cfr+")
    assert [len(run["strategy"]) for run in both["runs"]] == [12, 12]
    assert shown("kuhn", "--strategy", "--solver", "cfr,cfr+").count("average strategy") == 2


def test_a_full_disk_costs_the_picture_and_not_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("equipoise.files.os.fsync", full)
    done = runner.invoke(app, ["game", "kuhn", "--plot", "x.png", "--json"])
    assert str(done.exception) == "cannot write x.png: No space left on device"
    assert json.loads(done.stdout)["game"] == "kuhn"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_shows_what_there_is_and_runs_no_other_solver(tmp_path: Path, monkeypatch) -> None:
    """The first solver ends in good order, saved; the second one is not begun."""
    advance = CFRPlus.advance

    def pressed(self, count):
        advance(self, count)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(CFRPlus, "advance", pressed)
    words = ["game", "kuhn", "--iterations", "10000", "--json"]
    done = runner.invoke(app, [*words, "--solver", "cfr+,dcfr"], catch_exceptions=False)
    assert done.exit_code == 130
    told = json.loads(done.stdout)
    assert told["solver"] == "cfr+"
    assert 0 < told["iterations"] < 10000
    path = tmp_path / "saved"
    words += ["--solver", "cfr+", "--checkpoint", str(path)]
    done = runner.invoke(app, words, catch_exceptions=False)
    assert f"goes on from {path}" in done.stderr
    assert CFRPlus.load(path, catalogue.kuhn()).iteration == json.loads(done.stdout)["iterations"]


def test_safe_and_restricted_answers_as_json(tmp_path: Path) -> None:
    told = as_json("leduc", "--safe", "0.1", "--against", "uniform", "--player", "0")
    assert told["value_chips"] == pytest.approx(1.066536, abs=1e-6)
    assert told["exploitability_chips"] <= 0.1 + 1e-8
    words = ("leduc", "--restricted-nash", "0.5", "--against", "call", "--player", "1")
    told = as_json(*words)
    assert told["objective_chips"] == pytest.approx(0.673201, abs=1e-6)
    assert told["wins_chips"] == pytest.approx(1.3623, abs=1e-3)
    assert told["exploitability_chips"] == pytest.approx(0.1015, abs=1e-3)
    by_regrets = as_json(*words, "--solver", "dcfr", "--iterations", "300")
    assert by_regrets["objective_chips"] == pytest.approx(0.673201, abs=2e-3)
    picture = tmp_path / "curve.png"
    assert "best value" in shown("kuhn", "--safe", "0", "--against", "call", "--plot", str(picture))
    assert picture.stat().st_size > 5000


def test_an_opponent_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "equilibrium.json"
    file.write_text(shown("kuhn", "--solver", "lp", "--strategy", "--json"))
    told = as_json("kuhn", "--safe", "5", "--against", str(file), "--player", "1")
    assert told["value_chips"] == pytest.approx(1 / 18, abs=1e-9)
    assert "not of leduc" in refusal("leduc", "--safe", "5", "--against", str(file))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--safe", "-1", "--against", "call"), "0 chips or more"),
        (("--safe", "nan", "--against", "call"), "0 chips or more"),
        (("--safe", "1"), "against whom"),
        (("--against", "call"), "--safe K or --restricted-nash P"),
        (("--safe", "1", "--restricted-nash", "1", "--against", "call"), "ask one"),
        (("--restricted-nash", "2", "--against", "call"), "from 0 to 1"),
        (("--safe", "1", "--against", "cal"), "did you mean 'call'"),
        (("--safe", "1", "--against", "call", "--player", "2"), "seat 0 or 1"),
        (("--safe", "1", "--against", "call", "--solver", "dcfr"), "solved by lp"),
    ],
)
def test_questions_that_are_none(words: tuple[str, ...], why: str) -> None:
    assert why in refusal("kuhn", *words)

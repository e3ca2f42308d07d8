"""`equipoise solve`: figures, files, pictures, locks and one sentence for what cannot be."""

from __future__ import annotations

import errno
import json
import os
import signal

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.solve.spots import fitting
from equipoise.solve.spots.solution import Solution
from equipoise.solve.spots.spotsolver import SpotSolver

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
    assert (
        figures(spot, "--storage", "16-bit", "--target-pct-pot", "0.5")["memory_mb"]
        < first["memory_mb"]
    )


def test_numbers_are_kept_in_16_bits_where_32_would_take_much(spot, monkeypatch):
    goal = ("--target-pct-pot", "5")
    whole = figures(spot, *goal)["memory_mb"]
    monkeypatch.setattr(fitting, "_MOST_BYTES", 1000)
    half = figures(spot, *goal)["memory_mb"]
    assert half < whole == figures(spot, *goal, "--storage", "32-bit")["memory_mb"]
    assert "numbers are kept in 16 bits" in solve(spot, *goal).stderr
    # Locks need 32.
    assert figures(spot, *goal, "--lock", "check: check=1")["memory_mb"] == whole


def test_exports_and_pictures_are_written(spot, tmp_path):
    figures(spot, "--export", "all.json", "--plot", "chart.png", "--at", "check")
    assert len(json.loads((tmp_path / "all.json").read_text())["decisions"]) > 5
    assert (tmp_path / "chart.png").stat().st_size > 10_000


def test_locks_are_named_in_every_output(spot):
    words = ("--lock", "bet 50: fold=100%", "--lock", "allin: fold=1 for QJ,99,AT,KK,87s")
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
    opened = Solution.load(tmp_path / "river.solution")
    assert opened.iterations == told["iterations"] > 0
    assert "equipoise solve river.solution --target-pct-pot 0" in done.stderr
    assert solve(spot, "--target-pct-pot", "0", "--save", "mine").exit_code == 130
    assert Solution.load(tmp_path / "mine").spot == Spot.load(spot)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.toml"], "cannot be read"),
        ([], "which spot"),
        (["{spot}", "--target-pct-pot", "-1"], "give 0 to 100"),
        (["{spot}", "--target-pct-pot", "nan"], "give 0 to 100"),
        (["{spot}", "--target-pct-pot", "inf"], "give 0 to 100"),
        (["{spot}", "--threads", "0"], "give 1 to 256"),
        (["{spot}", "--threads", "100000"], "give 1 to 256"),
        (["{spot}", "--iterations", "0"], "--iterations 0: give 1 to"),
        (["{spot}", "--iterations", str(10**30)], "give 1 to"),
        (["{spot}", "--seconds", "0"], "--seconds 0.0: give more than 0"),
        (["{spot}", "--seconds", "nan"], "give more than 0"),
        (["{spot}", "--seconds", "inf"], "give more than 0"),
        (["{spot}", "--through", "river"], "add one of them"),
        (["good.solution", "--storage", "16-bit"], "goes with a new solve"),
        (["good.solution", "--resume", "good.solution"], "leave out --resume"),
        (["empty.solution"], "empty.solution: damaged, or not an Equipoise file"),
        (["{spot}", "--save", "x.json", "--export", "x.json"], "both 'x.json'"),
        (["{spot}", "--save", "nowhere/x"], "no folder"),
        (
            ["{spot}", "--export", "x.xls", "--iterations", "1"],
            "end the name with .csv, .parquet or .json",
        ),
        (["{spot}", "--lock", "check fold"], "write it as"),
        (["{spot}", "--lock", "check: bet=often"], "write it as"),
        (["{spot}", "--lock", "bet 60: fold=1"], "choose from"),
        (["{spot}", "--at", "raise", "--iterations", "1"], "choose from"),
        (["broken.solution"], "damaged"),
        (["other.toml", "--resume", "good.solution"], "another spot"),
        (["{spot}", "--resume", "good.solution", "--line", "check"], "another spot"),
        (["good.solution", "--line", "check"], "solved from its own: leave it out"),
        (
            ["{spot}", "--line", "check, bet 300"],
            "--line: 'bet 300': after 'check' it is ip's turn: choose from check, bet 1-199 or allin",
        ),
        (["{spot}", "--line", "check, check"], "--line: the hand is over after 'check, check'"),
        (["{spot}", "--line", "check", "--at", "fold"], "after 'check' it is ip's turn"),
        (["answer.solution", "--target-pct-pot", "0"], "only the answer"),
    ],
)
def test_bad_input_is_one_sentence(spot, tmp_path, words, told):
    solution = Solution.unsolved(Spot.load(spot))
    solution.solve_on(None, iterations=1)
    solution.save("good.solution")
    solution.save("answer.solution", answer_only=True)
    data = (tmp_path / "good.solution").read_bytes()
    (tmp_path / "broken.solution").write_bytes(data[: len(data) // 2])
    (tmp_path / "empty.solution").touch()
    (tmp_path / "other.toml").write_text(TOML.replace("pot = 100", "pot = 90"))
    with pytest.raises(EquipoiseError, match=told) as error:
        solve(*(word.replace("{spot}", spot) for word in words), "--json")
    assert "\n" not in str(error.value)


# ------------------------------------------------------------------------------ before the work


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--save", "folder"], "--save 'folder' is a folder: name a file"),
        (["--save", "river.toml"], "'river.toml' exists: add --overwrite"),
        (["--save", "river.toml", "--overwrite"], "is the spot itself: choose another name"),
        (["--save", "old"], "'old' exists: add --overwrite"),
        (["--save", "old/x"], "is not a folder"),
        (["--save", "x", "--through", "banana"], "'banana': cut at one of river"),
        (["--at", "foo"], "choose from check, bet 50, allin 200"),
        (["--at", "check, check", "--plot", "x.png"], "nobody decides"),
        (["--export", "x.xlsx"], "end the name with .csv, .parquet or .json"),
        (["--export", "folder"], "is a folder"),
        (["--export", "old.csv"], "exists: add --overwrite"),
        (["--plot", "x.bmp"], "--plot 'x.bmp': end the name with .png"),
        (["--plot", "none/x.png"], "there is no folder"),
        (["--plot", "old.png"], "exists: add --overwrite"),
        (["--lock", "check: fold=1"], "no action 'fold' there"),
    ],
)
def test_whatever_can_be_checked_is_checked_before_the_first_iteration(
    spot, tmp_path, monkeypatch, words, told
):
    (tmp_path / "folder").mkdir()
    for name in ("old", "old.csv", "old.png"):
        (tmp_path / name).write_text("mine")

    def iterated(self, count):
        raise AssertionError("an iteration was done")

    monkeypatch.setattr(SpotSolver, "advance", iterated)
    with pytest.raises(EquipoiseError, match=told):
        solve("river.toml", *words)
    assert (tmp_path / "river.toml").read_text() == TOML
    assert (tmp_path / "old").read_text() == "mine"


def test_files_are_replaced_only_when_told(spot, tmp_path):
    for name in ("a.solution", "a.csv", "a.png"):
        (tmp_path / name).write_text("mine")
    words = ("--save", "a.solution", "--export", "a.csv", "--plot", "a.png")
    told = figures(spot, *words, "--iterations", "5", "--overwrite")
    assert told["files"] == {"solution": "a.solution", "export": "a.csv", "plot": "a.png"}
    assert Solution.load(tmp_path / "a.solution").iterations == 5
    assert (tmp_path / "a.csv").read_text().startswith("street,")


# ----------------------------------------------------------------------------- what was asked


def test_json_holds_the_position_that_was_asked_for(spot):
    told = figures(spot, "--at", "check, bet 50")
    assert told["position"]["line"] == ["check", "bet 50"]
    assert told["position"]["actions"][:2] == ["fold", "call"]
    assert len(told["position"]["oop"]["hands"]) == len(told["position"]["strategy"][0])


def test_a_solve_begins_in_the_middle_of_a_street(spot, tmp_path):
    line = ("--line", "check, bet 50")
    told = figures(spot, *line, "--at", "call", "--save", "a.solution", "--target-pct-pot", "0.2")
    assert told["spot"] == "river: check, bet 50"
    assert told["position"]["before"] == ["check", "bet 50"]
    assert told["position"]["line"] == ["call"]
    assert told["position"]["pot"] == 200
    # Of the pot there, bets included.
    assert told["exploitability_pct_pot"] <= 0.2
    assert told["exploitability_chips"] == pytest.approx(1.5 * told["exploitability_pct_pot"])
    assert told["ev_oop_chips"] + told["ev_ip_chips"] == pytest.approx(150, abs=0.01)
    again = figures("a.solution", "--target-pct-pot", "0.1")
    assert again["spot"] == told["spot"]
    assert again["exploitability_pct_pot"] <= 0.1
    assert figures(spot, *line, "--resume", "a.solution")["iterations"] >= told["iterations"]
    (tmp_path / "middle.toml").write_text('line = "bet 80"' + TOML)
    middle = figures("middle.toml", "--lock", ": call=1")
    assert middle["ev_oop_chips"] + middle["ev_ip_chips"] == pytest.approx(180, abs=0.01)
    # The command line has the last word.
    assert figures("middle.toml", *line)["spot"] == "middle: check, bet 50"
    assert "check – bet 50: oop" in solve("middle.toml", *line).stdout
    assert figures("middle.toml", "--line", "")["spot"] == "middle"


def test_a_solution_that_was_cut_is_shown(spot, tmp_path):
    (tmp_path / "turn.toml").write_text(TOML.replace(" 2s", ""))
    figures("turn.toml", "--iterations", "3", "--save", "cut.solution", "--through", "turn")
    told = figures("cut.solution", "--at", "check")
    assert told["iterations"] == 3
    assert told["position"]["player"] == "ip"
    assert solve("cut.solution").exit_code == 0
    with pytest.raises(EquipoiseError, match="keeps only the answer"):
        solve("cut.solution", "--iterations", "9")


def test_the_target_that_was_asked_for_is_announced(spot):
    told = {
        words: solve(spot, *words, "--iterations", "20").stderr
        for words in ((), ("--target-pct-pot", "5"), ("--target-pct-pot", "0"))
    }
    assert "as asked for: 20 iterations" in told[()]
    assert "to 5 % of the pot: some 20 iterations" in told["--target-pct-pot", "5"]
    assert "as asked for: 20 iterations" in told["--target-pct-pot", "0"]
    assert "to 0.3 % of the pot: some 120 iterations" in solve(spot).stderr


# ---------------------------------------------------------------------------------- what is kept


class Killed(BaseException):
    """What ends a process at once."""


@pytest.fixture
def killed_after(monkeypatch):
    """Solves that keep themselves at every look, and die after some iterations."""
    advance = SpotSolver.advance

    def killed(iterations: int) -> None:
        def dying(self, count):
            if self.iteration >= iterations:
                raise Killed
            advance(self, count)

        monkeypatch.setattr(SpotSolver, "advance", dying)

    monkeypatch.setattr("equipoise.cli.solve._SAVE_EVERY", 0.0)
    monkeypatch.setattr("equipoise.run._SHARE_OF_SAVES", float("inf"))
    yield killed
    monkeypatch.setattr(SpotSolver, "advance", advance)


@pytest.mark.parametrize("save", [None, "mine.solution"])
def test_a_killed_solve_goes_on_from_its_last_checkpoint(
    spot, tmp_path, monkeypatch, killed_after, save
):
    words = ("--target-pct-pot", "0", "--iterations", "60")
    whole = figures(spot, *words, "--save", "whole.solution")
    killed_after(30)
    with pytest.raises(Killed):
        solve(spot, *words, *(("--save", save) if save else ()), "--json")
    kept = save or "river.solution"
    assert Solution.load(tmp_path / kept).iterations == 30
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    again = figures(kept, *words)
    assert again["exploitability_chips"] == whole["exploitability_chips"]


def test_a_long_solve_names_the_file_it_keeps_and_leaves_others_alone(spot, tmp_path, killed_after):
    (tmp_path / "river.solution").write_text("mine")
    done = solve(spot, "--target-pct-pot", "0", "--iterations", "30")
    assert "kept in river-2.solution from now on" in done.stderr
    assert "solution saved to river-2.solution" in done.stdout
    assert (tmp_path / "river.solution").read_text() == "mine"
    assert Solution.load(tmp_path / "river-2.solution").iterations == 30


def test_a_short_solve_leaves_no_file(spot, tmp_path):
    figures(spot)
    assert [path.name for path in tmp_path.iterdir()] == ["river.toml"]


def test_a_full_disk_costs_the_file_and_not_the_answer(spot, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("equipoise.files.os.fsync", full)
    for words in (("--save", "a"), ("--export", "a.parquet"), ("--export", "a.json"),
                  ("--export", "a.csv"), ("--plot", "a.png")):  # fmt: skip
        done = runner.invoke(app, ["solve", spot, *words, "--json"])
        assert isinstance(done.exception, EquipoiseError)
        assert str(done.exception) == f"cannot write {words[1]}: No space left on device"
        assert json.loads(done.stdout)["reached"] is True
        assert [path.name for path in tmp_path.iterdir()] == ["river.toml"]

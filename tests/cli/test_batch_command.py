"""`equipoise batch`: the report, resuming, Ctrl-C, and bad input in one sentence."""

import json
import signal

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.solve.batch import run as batchrun

runner = CliRunner()

SPOT = """
board = "Td 9d 6h Qc 2s"
pot = 100
stack = 200
[ranges]
oop = "99,JJ,AA,KJs,76s"
ip = "TT,KK,AQs,J8s"
[menu]
bets = "50%,a"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "river.toml").write_text(SPOT)
    (tmp_path / "boards.txt").write_text("Td9d6hQc2s 3\nTd9d6hQc3s\n")
    return tmp_path


def run(folder, *words):
    return runner.invoke(
        app,
        ["batch", str(folder / "boards.txt"), "--spot", str(folder / "river.toml"),
         "--out", str(folder / "out"), "--workers", "1", *words],
        catch_exceptions=False,
    )  # fmt: skip


def test_json_tells_means_and_files_and_the_second_run_resumes(folder):
    done = run(folder, "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["spots"], told["weight"], told["resumed"]) == (2, 4.0, 0)
    assert told["failed"] == told["passed_over"] == []
    assert told["lines"][0]["line"] == "root"
    for path in told["files"].values():
        with open(path, "rb") as opened:
            assert opened.read(1)
    again = json.loads(run(folder, "--json").stdout)
    assert again["resumed"] == 2
    assert again["ev_oop_chips"] == told["ev_oop_chips"]


def test_a_table_for_people(folder):
    shown = run(folder).stdout
    assert "2 spots, weight 4" in shown
    assert "check: ip" in shown
    assert "frequencies.png" in shown.replace("\n", "")


def test_a_folder_of_spots(folder):
    done = runner.invoke(
        app,
        ["batch", str(folder), "--out", str(folder / "out"), "--workers", "1", "--json"],
        catch_exceptions=False,
    )
    assert json.loads(done.stdout)["spots"] == 1


def test_ctrl_c_says_how_many_are_done_and_how_to_go_on(folder, monkeypatch):
    solve, calls = batchrun.solve_spot, []

    def interrupted(*args, **kwargs):
        if calls:
            signal.raise_signal(signal.SIGINT)
        calls.append(1)
        return solve(*args, **kwargs)

    monkeypatch.setattr(batchrun, "solve_spot", interrupted)
    monkeypatch.setattr("sys.argv", ["equipoise", "batch", "boards.txt", "--out", "a folder"])
    before = signal.getsignal(signal.SIGINT)
    done = run(folder)
    assert signal.getsignal(signal.SIGINT) is before
    assert done.exit_code == 130
    assert "1 of 2 spots are solved" in done.stderr
    assert "equipoise batch boards.txt --out 'a folder'" in done.stderr
    assert "Traceback" not in done.output


def test_a_spot_that_fails_is_named(folder, monkeypatch):
    solve = batchrun.solve_spot

    def fails(spot, *args, **kwargs):
        if spot.name.endswith("3s"):
            raise EquipoiseError("out of luck")
        return solve(spot, *args, **kwargs)

    monkeypatch.setattr(batchrun, "solve_spot", fails)
    assert "failed: Td9d6hQc3s: out of luck" in " ".join(run(folder).stdout.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "which spots"),
        (["nowhere"], "no such folder or file"),
        (["boards.txt"], "add --spot"),
        (["boards.txt", "--flops", "all"], "which spots"),
        ([".", "--spot", "river.toml"], "leave out --spot"),
        (["--flops", "x", "--spot", "river.toml"], "give 'all' or a number"),
        (["--flops", "5", "--spot", "river.toml"], "starts on the flop"),
        (["boards.txt", "--spot", "boards.txt"], "not TOML"),
        (["boards.txt", "--spot", "river.toml", "--target-pct-pot", "-1"], "--target-pct-pot -1.0"),
        (["boards.txt", "--spot", "river.toml", "--target-pct-pot", "nan"], "give 0 to 100"),
        (["boards.txt", "--spot", "river.toml", "--target-pct-pot", "0"], "never reached"),
        (["boards.txt", "--spot", "river.toml", "--seconds", "inf"], "more than 0"),
        (["boards.txt", "--spot", "river.toml", "--iterations", "0"], "--iterations 0"),
        (["boards.txt", "--spot", "river.toml", "--threads", "0"], "--threads 0"),
        (["boards.txt", "--spot", "river.toml", "--save-solutions", "banana"], "has no banana"),
        (["boards.txt", "--spot", "river.toml", "--out", "mine"], "exists: add --overwrite"),
        (["boards.txt", "--spot", "river.toml", "--out", "odd"], "is not a folder"),
        (["--flops", "0", "--spot", "flop.toml"], "flops"),
        (["--flops", "99999", "--spot", "flop.toml"], "flops"),
        (["binary.txt", "--spot", "river.toml"], "not a text file"),
        (["boards.txt", "--spot", "river.toml", "--save-solutions", "flop"], "has no flop"),
        (["boards.txt", "--spot", "river.toml", "--workers", "0"], "workers"),
        (["boards.txt", "--spot", "river.toml", "--out", "river.toml/x"], "cannot make"),
    ],
)
def test_bad_input_is_one_sentence(folder, monkeypatch, words, sentence):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(batchrun, "solve_spot", lambda *words: pytest.fail("a spot was solved"))
    (folder / "flop.toml").write_text(SPOT.replace(" Qc 2s", ""))
    (folder / "binary.txt").write_bytes(b"\0\xff")
    (folder / "mine" / "report").mkdir(parents=True)
    (folder / "mine" / "report" / "means.json").write_text("mine")
    (folder / "odd").mkdir()
    (folder / "odd" / "report").touch()
    with pytest.raises(EquipoiseError, match=sentence) as error:
        runner.invoke(app, ["batch", *words], catch_exceptions=False)
    assert "\n" not in str(error.value)


def test_kept_solutions_are_shown_by_solve(folder):
    (folder / "river.toml").write_text(SPOT.replace(" 2s", ""))
    (folder / "boards.txt").write_text("Td9d6hQc\n")
    run(folder, "--save-solutions", "turn", "--iterations", "20")
    (kept,) = (folder / "out" / "solutions").glob("*.solution")
    done = runner.invoke(app, ["solve", str(kept), "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["iterations"] == 20


def test_a_full_disk_is_one_sentence(folder, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    run(folder)
    monkeypatch.setattr("equipoise.files.os.fsync", full)
    with pytest.raises(EquipoiseError, match=r"cannot write .*: No space left on device"):
        run(folder)


def test_one_spot_is_a_batch_of_one(folder):
    words = ["batch", str(folder / "river.toml"), "--out", str(folder / "one"), "--json"]
    done = runner.invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["spots"] == 1

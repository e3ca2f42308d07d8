"""`equipoise history`, `dealer` and `acpc` on the command line."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError

DATA = Path(__file__).parents[1] / "arena" / "data"
runner = CliRunner()


def run(*words):
    return runner.invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_verify_says_how_many_are_right():
    done = run("history", DATA / "deepstack.acpc", "--verify")
    assert done.exit_code == 0
    assert done.stdout == "40 hands are right, 0 mismatches, 0 damaged\n"
    done = run("history", DATA / "headsup.phhs", "--verify", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["right"], len(told["mismatches"]), told["damaged"]) == (19, 1, [])


def test_damage_is_an_error_unless_skipped(tmp_path):
    path = tmp_path / "match.log"
    path.write_text("STATE:0:f:Ah8s|2h4c:50|-50:ann|bob\nnonsense\n")
    with pytest.raises(EquipoiseError, match="line 2"):
        run("history", path)
    assert run("history", path, "--verify").exit_code == 2
    done = run("history", path, "--verify", "--skip-damaged", "--json")
    assert done.exit_code == 0
    assert [problem["line"] for problem in json.loads(done.stdout)["damaged"]] == [2]
    done = run("history", path, "--skip-damaged", "--json")
    told = json.loads(done.stdout)
    assert (told["hands"], len(told["players"]), len(told["shown"])) == (1, 2, 1)
    assert told["damaged"][0]["line"] == 2


def test_hands_and_figures_are_shown(tmp_path):
    done = run("history", DATA / "dealer_limit.log", "--show", "2")
    assert "hand 1: limit hold'em 5-10" in done.stdout
    assert "hand 2" not in done.stdout
    assert "2 players, 30 hands" in done.stdout
    done = run("history", DATA / "dealer_limit.log", "--hand", "6")
    assert done.stdout.count("hand 6") == 1
    with pytest.raises(EquipoiseError, match="no hand 99"):
        run("history", DATA / "dealer_limit.log", "--hand", "99")
    done = run("history", DATA / "dealer_limit.log", "--stats", "--json")
    assert "shown" not in json.loads(done.stdout)
    out = tmp_path / "hands.parquet"
    done = run("history", DATA / "dealer_limit.log", "--export", out, "--json")
    assert json.loads(done.stdout)["hands"] == 30
    assert out.exists()


def test_parts_are_combined_and_json_has_all_of_them(tmp_path):
    out = tmp_path / "hands.csv"
    words = ("history", DATA / "headsup.phhs", "--verify", "--stats", "--export", out, "--hand")
    done = run(*words, "16417146194", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["right"], len(told["mismatches"]), told["hands"]) == (19, 1, 20)
    assert len(told["players"]) > 20
    assert told["export"] == str(out)
    assert len(told["shown"]) == 1
    done = run(*words, "16417146194", "--overwrite")
    assert done.exit_code == 1
    for part in ("19 hands are right", "20 hands written", "hand 16417146194", "players, 20 hands"):
        assert part in done.stdout


def test_a_free_fold_is_no_damage():
    done = run("history", DATA / "free_folds.phhs", "--stats", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["hands"] == 14
    assert run("history", DATA / "free_folds.phhs", "--verify").exit_code == 1


def test_what_is_damaged_is_not_exported_in_passing(tmp_path):
    path, out = tmp_path / "match.log", tmp_path / "x.csv"
    path.write_text("STATE:0:f:Ah8s|2h4c:50|-50:ann|bob\nnonsense\n")
    done = run("history", path, "--verify", "--export", out)
    assert done.exit_code == 2
    assert not out.exists()
    assert run("history", path, "--verify", "--skip-damaged", "--export", out).exit_code == 0
    assert out.exists()


def test_an_export_is_checked_before_the_file_is_read(tmp_path):
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    for name, words in ((kept, "exists: add --overwrite"), (tmp_path / "x.xlsx", "end the name"),
                        ("", "name of a file"), (tmp_path / "no" / "x.csv", "no folder")):  # fmt: skip
        with pytest.raises(EquipoiseError, match=words):
            run("history", "nowhere.log", "--export", name)
    assert kept.read_text() == "mine"


def test_the_interval_of_a_duplicate_log_says_what_it_is(tmp_path):
    log = tmp_path / "match.log"
    match = json.loads(run("match", "random", "call", "--hands", 40, "--log", log, "--json").stdout)
    told = json.loads(run("history", log, "--json").stdout)
    assert told["duplicate"]
    ours = next(player for player in told["players"] if player["player"] == "random")
    assert ours["pairs"] == 20
    assert ours["ci95_mbb"] == pytest.approx(match["ci95_mbb"])
    assert "one sample" in run("history", log, "--stats").stdout


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("dealer", "--ports", "1"), "give two"),
        (("dealer", "--ports", "a,b"), "from 0 to 65535"),
        (("dealer", "--game", "chess"), "no game 'chess': name a game file, or choose from limit"),
        (("dealer", "--hands", "0"), "at least 1 hand"),
        (("dealer", "--seed", "-1"), "from 0 to"),
        (("dealer", "--t-hand", "0"), "more than 0"),
        (("dealer", "--t-start", "nan"), "more than 0"),
        (("dealer", "--t-start", "99999999999999999999"), "at most 1,000,000"),
        (("dealer", "--t-per-hand", "inf"), "at most 1,000,000"),
        (("dealer", "--hands", "9" * 30), "at least 1 hand"),
        (("dealer", "--seed", "4294967296"), "from 0 to"),
        (("dealer", "--ports", "1,99999"), "from 0 to 65535"),
        (("dealer", "--ports", "1," + "9" * 5000), "from 0 to 65535"),
        (("dealer", "--ports", "1,²"), "from 0 to 65535"),
        (("dealer", "--ports", "-1,0"), "from 0 to 65535"),
        (("dealer", "--names", "a"), "give two"),
        (("dealer", "--names", "a:b,c"), "drop its"),
        (("dealer", "--names", "a,"), "cannot stand in a log"),
        (("dealer", "--host", ".."), "cannot listen"),
        (("dealer", "--game", "a\0b"), "no game"),
        (("dealer", "--log", ""), "name of a file|is a folder"),
        (("dealer", "--log", "nowhere/x.log"), "no folder"),
        (("dealer", "--log", "/proc/self/mem"), "exists|no ordinary file"),
        (("dealer", "--log", "x.log", "--transcript", "./x.log"), "choose two"),
        (("history", "match.log", "--show", "-3"), "0 for all"),
        (("history", "match.log", "--game", ""), "no game"),
        (("history", "match.log", "--game", "limt"), "did you mean 'limit'"),
        (("acpc", "cal", "127.0.0.1", "1"), "did you mean 'call'"),
        (("acpc", "call", "127.0.0.1", "1"), "start it first"),
        (("acpc", "call", "127.0.0.1", "1", "--timeout", "0"), "more than 0"),
        (("acpc", "call", "127.0.0.1", "1", "--timeout", "nan"), "more than 0"),
        (("acpc", "call", "127.0.0.1", "1", "--timeout", "1e30"), "at most"),
        (("acpc", "call", "127.0.0.1", "99999"), "from 1 to 65535"),
        (("acpc", "call", "127.0.0.1", "1", "--seed", "-1"), "from 0 to"),
        (("acpc", "call", "..", "1"), "check host and port"),
        (("acpc", "call", "a\0b", "1"), "check host and port"),
    ],
)
def test_bad_settings_are_one_sentence(words, cure):
    with pytest.raises(EquipoiseError, match=cure):
        run(*words)


def test_a_dealer_that_cannot_listen_leaves_no_log(tmp_path):
    log = tmp_path / "match.log"
    with socket.create_server(("127.0.0.1", 0)) as door:
        taken = door.getsockname()[1]
        with pytest.raises(EquipoiseError, match="cannot listen"):
            run("dealer", "--ports", f"{taken},0", "--log", log, "--transcript", tmp_path / "t.log")
    assert list(tmp_path.iterdir()) == []


def test_a_dealers_log_is_replaced_only_if_so_asked(tmp_path):
    log = tmp_path / "match.log"
    log.write_text("mine")
    with pytest.raises(EquipoiseError, match="exists: add --overwrite"):
        run("dealer", "--log", log)
    with pytest.raises(EquipoiseError, match="exists: add --overwrite"):
        run("dealer", "--transcript", log)
    assert log.read_text() == "mine"
    assert run("dealer", "--log", log, "--overwrite", "--t-start", "0.01").exit_code == 1
    assert "nobody took seat 1" in log.read_text()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux")
def test_a_log_that_takes_no_line_is_one_sentence():
    with pytest.raises(EquipoiseError, match="/proc/self/mem' cannot be written"):
        run("dealer", "--log", "/proc/self/mem", "--overwrite", "--t-start", "0.01")


def test_two_agents_meet_at_a_dealer(tmp_path):
    main = [sys.executable, "-c", "from equipoise.cli import main; main()"]
    log, transcript = tmp_path / "match.log", tmp_path / "match.actions.log"
    dealer = subprocess.Popen(
        [*main, "dealer", "--hands", "40", "--seed", "9", "--names", "ann,bob", "--log", log,
         "--transcript", transcript, "--t-start", "60", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ports = [word for word in dealer.stderr.readline().replace(",", "").split() if word.isdecimal()]
    players = [
        subprocess.Popen(
            [*main, "acpc", agent, "127.0.0.1", port, "--json"], stdout=subprocess.PIPE
        )
        for agent, port in zip(("random", "call"), ports, strict=True)
    ]
    told = json.loads(dealer.communicate(timeout=60)[0])
    visits = [json.loads(player.communicate(timeout=60)[0]) for player in players]
    assert told["ended_early"] is None
    assert told["hands"] == 40
    assert told["stray_lines"] == told["mended_answers"] == [0, 0]
    assert [visit["chips"] for visit in visits] == told["score_chips"]
    for path in (log, transcript):
        done = run("history", path, "--verify")
        assert done.stdout == "40 hands are right, 0 mismatches, 0 damaged\n"

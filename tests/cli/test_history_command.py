"""`equipoise history`, `dealer` and `acpc` on the command line."""

import json
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


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("dealer", "--ports", "1"), "give two"),
        (("dealer", "--ports", "a,b"), "from 0 to 65535"),
        (("dealer", "--game", "chess"), "no game 'chess': choose limit"),
        (("dealer", "--hands", "0"), "at least 1 hand"),
        (("dealer", "--seed", "-1"), "from 0 to"),
        (("dealer", "--t-hand", "0"), "more than 0"),
        (("history", "match.log", "--show", "-3"), "0 for all"),
        (("history", "match.log", "--game", "limt"), "did you mean 'limit'"),
        (("acpc", "cal", "127.0.0.1", "1"), "did you mean 'call'"),
        (("acpc", "call", "127.0.0.1", "1"), "start it first"),
        (("acpc", "call", "127.0.0.1", "1", "--timeout", "0"), "more than 0"),
    ],
)
def test_bad_settings_are_one_sentence(words, cure):
    with pytest.raises(EquipoiseError, match=cure):
        run(*words)


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
    assert [visit["chips"] for visit in visits] == told["score_chips"]
    for path in (log, transcript):
        done = run("history", path, "--verify")
        assert done.stdout == "40 hands are right, 0 mismatches, 0 damaged\n"

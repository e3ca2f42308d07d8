"""`equipoise match`, `tournament` and `agents`."""

import json
import multiprocessing

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.notation import gamefile
from equipoise.games.rules import nolimit

runner = CliRunner()


def as_json(*words: str) -> dict:
    done = runner.invoke(app, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_match_prints_the_figures_of_the_contract():
    told = as_json("match", "fold", "all-in", "--hands", "20", "--seed", "5")
    assert told["mbb_per_hand"] == -750
    assert told["ci95_mbb"] == told["std_mbb"] == 0
    assert (told["a"], told["b"], told["hands"], told["pairs"]) == ("fold", "all-in", 20, 10)
    assert told["seed"] == 5
    assert told["hands_per_second"] > 0
    assert told["log"] is None


def test_a_single_pair_has_no_interval():
    words = ["match", "random", "call", "--hands", "2", "--aivat"]
    assert "nan" not in runner.invoke(app, words, catch_exceptions=False).stdout
    assert "nan" not in runner.invoke(app, ["lbr", "call", "--hands", "2"]).stdout
    assert as_json("match", "random", "call", "--hands", "2")["ci95_mbb"] is None


@pytest.mark.parametrize("game", ["limit", "nolimit"])
def test_games_by_name(game):
    told = as_json("match", "call", "all-in", "--game", game, "--hands", "10", "--no-duplicate")
    assert told["pairs"] == 0
    assert told["game"].startswith("limit" if game == "limit" else "no-limit")


def test_a_game_file_and_a_toml_agent(tmp_path):
    game, agent = tmp_path / "short.game", tmp_path / "mine.toml"
    gamefile.save(nolimit(40, 1, 2), game)
    agent.write_text('agent = "fold"\nname = "mine"\n')
    told = as_json("match", str(agent), "all-in", "--game", str(game), "--hands", "10")
    assert told["a"] == "mine"
    assert told["mbb_per_hand"] == -750


JAM = """
import equipoise as eq


class Jam(eq.Agent):
    def act(self, view):
        legal = view.state.legal()
        return eq.raise_to(legal.raise_max) if legal.raise_max else eq.CALL
"""


@pytest.mark.parametrize("methods", [None, ["spawn"]], ids=["as usual", "spawned"])
def test_an_agent_from_a_file_also_for_workers(tmp_path, monkeypatch, methods):
    if methods is not None:
        monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: methods)
    path = tmp_path / "bots.py"
    path.write_text(JAM)
    told = as_json("match", "fold", f"{path}:Jam", "--hands", "40", "--workers", "2")
    assert (told["b"], told["mbb_per_hand"], told["faults"]) == ("Jam", -750, [0, 0])


def test_a_mistake_in_a_file_is_one_sentence(tmp_path):
    path = tmp_path / "bots.py"
    path.write_text(JAM.replace("eq.Agent", "eq.Agnet"))
    with pytest.raises(EquipoiseError, match=r"bots\.py, line 5: AttributeError"):
        runner.invoke(app, ["match", f"{path}:Jam", "call"], catch_exceptions=False)


def test_a_log_is_written_and_resumed(tmp_path):
    log = tmp_path / "match.log"
    words = ("match", "random", "call", "--seed", "2", "--log", str(log), "--hands")
    as_json(*words, "20")
    longer = as_json(*words, "40", "--resume")
    assert longer["log"] == str(log)
    plain = as_json("match", "random", "call", "--seed", "2", "--hands", "40")
    assert longer["mbb_per_hand"] == plain["mbb_per_hand"]


def test_a_person_gets_a_table():
    done = runner.invoke(app, ["match", "fold", "all-in", "--hands", "20"], catch_exceptions=False)
    assert "-750.0 ± 0.0 mbb/hand" in done.stdout
    assert "0, 10, 0 by the sum of both hands" in done.stdout


def test_tournament_prints_both_rankings_and_writes_files(tmp_path):
    files = [
        word
        for option, name in (("--csv", "t.csv"), ("--plot", "t.png"), ("--page", "t.html"))
        for word in (option, str(tmp_path / name))
    ]
    told = as_json("tournament", "fold", "call", "all-in", "--hands", "20", *files)
    assert told["bankroll"][0]["player"] == "all-in"
    assert told["runoff"][-1] == "fold"
    assert told["matches"][1]["triplet"] == [0, 10, 0]
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "t.png", "t.html"}
    words = ["tournament", "fold", "all-in", "--hands", "20"]
    shown = runner.invoke(app, words, catch_exceptions=False).stdout
    assert "+750 ± 0" in shown
    assert "(10, 0, 0)" in shown


def test_agents_are_listed():
    told = as_json("agents")["agents"]
    assert {"random", "all-in", "call", "fold"} <= told.keys()
    entry = told["call"]
    assert entry["game"] == "both"
    assert {"game", "description", "document", "cost_per_decision", "parameters"} <= entry.keys()
    done = runner.invoke(app, ["agents"], catch_exceptions=False)
    assert "all-in" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("match", "nobody", "call"), "no agent 'nobody'"),
        (("match", "call", "fold", "--hands", "11"), "duplicate pairs"),
        (
            ("match", "call", "fold", "--game", "none.game"),
            "no game 'none.game': name a game file, or choose from limit, one-bet, nolimit",
        ),
        (("match", "call", "fold", "--game", "a\0b"), "no game"),
        (("match", "call", "fold", "--game", "x" * 5000), "no game"),
        (("match", "call", "fold", "--game", "."), "cannot be read"),
        (("match", "call", "fold", "--game", ""), "no game"),
        (("match", "call", "fold", "--resume"), "nothing to resume"),
        (("match", "call", "fold", "--aivat", "--log", "/dev/null"), "name a file"),
        (("play", "--seed", "-1"), "from 0 to"),
        (("tournament", "call"), "at least two"),
        (("tournament", "call", "fold", "--resume"), "nothing to resume"),
        (("tournament", "call", "fold", "--page", "x.pdf"), "end the name with .html"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence):
    with pytest.raises(EquipoiseError, match=sentence):
        runner.invoke(app, list(words), catch_exceptions=False)


@pytest.mark.parametrize(
    "words",
    [
        ("match", "call", "fold", "--hands", "4", "--log"),
        ("tournament", "call", "fold", "--hands", "4", "--csv"),
        ("tournament", "call", "fold", "--hands", "4", "--plot"),
        ("tournament", "call", "fold", "--hands", "4", "--page"),
    ],
)
def test_what_is_there_is_replaced_only_if_so_asked(tmp_path, words):
    endings = {"--csv": "csv", "--plot": "png", "--page": "html", "--log": "log"}
    path = tmp_path / f"kept.{endings[words[-1]]}"
    path.write_text("mine")
    with pytest.raises(EquipoiseError, match="exists: add --overwrite"):
        runner.invoke(app, [*words, str(path)], catch_exceptions=False)
    assert path.read_text() == "mine"
    as_json(*words, str(path), "--overwrite")
    assert path.read_bytes() != b"mine"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("game", ["nolimt", "one_bet", "Limit"])
def test_a_misspelt_game_is_guessed(game):
    with pytest.raises(EquipoiseError, match=f"no game '{game}': did you mean '"):
        runner.invoke(app, ["match", "call", "fold", "--game", game], catch_exceptions=False)


def test_a_missing_game_file_is_named():
    words = ["match", "call", "fold", "--game", "missing.game"]
    with pytest.raises(EquipoiseError, match=r"missing\.game"):
        runner.invoke(app, words, catch_exceptions=False)


@pytest.mark.parametrize(
    "more",
    [
        ("--seed", "-3"),
        ("--hands", "11"),
        ("--workers", "0"),
        ("--game", "limit"),
        ("--csv", "nowhere/x.csv"),
    ],
)
def test_a_tournament_that_cannot_begin_leaves_nothing(tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    agent = tmp_path / "agent.toml"
    agent.write_text('agent = "call"\nspeed = 3\n' if "limit" in more else 'agent = "call"\n')
    words = ["tournament", "fold", str(agent), "--hands", "10", "--logs", "logs", *more]
    with pytest.raises(EquipoiseError):
        runner.invoke(app, words, catch_exceptions=False)
    assert [path.name for path in tmp_path.iterdir()] == ["agent.toml"]


@pytest.mark.parametrize("command", [("match", "call", "fold"), ("tournament", "call", "fold"),
                                     ("lbr", "call")])  # fmt: skip
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--hands", "0"),
        ("--hands", "-2"),
        ("--hands", "1" + "0" * 30),
        ("--seed", "-1"),
        ("--seed", "9" * 400),
        ("--workers", "0"),
        ("--workers", "-1"),
        ("--workers", "99999999"),
    ],
)
def test_absurd_numbers_are_one_sentence(command, option, value):
    with pytest.raises(EquipoiseError, match=option.strip("-")) as told:
        runner.invoke(app, [*command, option, value], catch_exceptions=False)
    assert len(str(told.value)) < 200


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_no_time_to_think_is_refused(seconds):
    words = ["match", "call", "fold", "--seconds-per-action", seconds]
    with pytest.raises(EquipoiseError, match="more than 0 seconds"):
        runner.invoke(app, words, catch_exceptions=False)


def test_stopping_aivat_keeps_the_match(monkeypatch):
    def stopped(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("equipoise.arena.measures.aivat.aivat", stopped)
    told = as_json("match", "fold", "all-in", "--hands", "20", "--aivat")
    assert told["mbb_per_hand"] == -750
    assert "aivat_mbb_per_hand" not in told
    shown = runner.invoke(app, ["match", "fold", "all-in", "--hands", "20", "--aivat"]).stdout
    assert "stopped" in shown

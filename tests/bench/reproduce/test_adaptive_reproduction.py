"""Players predicted again: the table of a small log, and what is refused."""

import gzip
import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents.adaptive.model import PlayerModel, shipped
from equipoise.arena.histories.played import read_decisions, shipped_log
from equipoise.bench.reports.adaptive_report import picture, report
from equipoise.bench.reproduce.adaptive import experiments as adaptive
from equipoise.bench.reproduce.adaptive import recklessness, tempers
from equipoise.bench.reproduce.adaptive.openings import agents_first_bets
from equipoise.bench.reproduce.adaptive.prediction import Study, boosted, stretches
from equipoise.cli import app
from equipoise.errors import EquipoiseError, HistoryError


@pytest.fixture(scope="module")
def log():
    with shipped_log() as path:
        yield path


@pytest.fixture(scope="module")
def data(log):
    return adaptive.run(quick=True, log=[log])


def test_cards_predict_and_more_of_them_better(data):
    found = {row["model"]: row["all"] for row in data["models"]}
    assert found["street × facing"] < found["buckets"] < found["odds, ln pot, equity"]
    assert found["without cards"] < found["full"]
    assert data["held_out_decisions"] < data["fitted_decisions"]
    assert data["raise_classes"] > data["raise_classes_by_log_normal"]
    told = sum(row["decisions"] for row in data["calibration"]["full"])
    assert 0 < told < data["held_out_decisions"]


def test_the_literal_payoff_raises_recklessly():
    # Of the hands that ship there are too few to tell of raises that nobody made.
    models = {"seed": shipped("seed").actions, "full": shipped().actions}
    failure = recklessness.failure(models)
    assert failure["seed_literal"]["reckless_share"] > 0.9
    assert failure["full_right"]["reckless_share"] < 0.5
    literal, right = (failure[name]["median_raise_to"] for name in ("seed_literal", "full_right"))
    assert literal >= 3000 > right
    aces = [row for row in failure["full_right"]["hands"] if row["hand"] == "AA"]
    assert len(aces) == 1
    assert aces[0]["win"] == pytest.approx(0.852, abs=1e-3)


def test_players_and_agents_are_drawn_alike(data):
    assert list(data["first_bets"]) == ["field", "nit", "maniac"]
    for curves in data["first_bets"].values():
        total = np.sum([curves[name] for name in ("fold", "call", "raise")], axis=0)
        assert np.allclose(total, 1, atol=1e-6)
        assert sum(curves["size_shares"]) == pytest.approx(1)
    nit, maniac = agents_first_bets().values()
    # The one waits for good hands; the other raises what it has.
    assert np.mean(nit["raise"]) < 0.4 < 0.6 < np.mean(maniac["raise"])
    assert nit["raise"][-1] > 0.9 > 0.2 > nit["raise"][0]


def test_stretches_can_be_chosen(log):
    decisions = read_decisions([log])
    study = Study(decisions, (101, 600), (1, 100))
    assert study.stretches == ((101, 600), (1, 100))
    assert set(study.held.hand) <= set(range(100))
    assert len(study.held) + len(study.fitted) < len(decisions)
    for fit, test, told in (
        ((1, 9), None, "both"),
        ((1, 9), (9, 12), "share"),
        ((1, 9), (10, 999), "to 625"),
    ):
        with pytest.raises(EquipoiseError, match=told):
            stretches(625, fit, test)
    wrong = CliRunner().invoke(app, ["reproduce", "adaptive", "--log", str(log), "--fit", "all"])
    assert "as 1-25000" in str(wrong.exception)


def test_trees_are_left_out_where_they_are_not_installed(log, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    assert boosted(Study(read_decisions([log])), 0) is None


def test_curves_are_of_stretches():
    payoffs = np.array([100.0, 0, 300, 100, -100, -100, 0, 0])
    told = tempers.curve(payoffs, 2)
    assert [row["hands_seen"] for row in told] == [4, 8]
    assert [row["mbb_per_hand"] for row in told] == [1250, -500]
    both = tempers.curve(np.stack([payoffs, -payoffs]), 2)
    assert [row["mbb_per_hand"] for row in both] == [0, 0]


def test_matches_are_played_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))
    table = tempers.Table(4, 3)
    monkeypatch.setattr(tempers.Table, "stamp", "none")
    monkeypatch.setattr(tempers, "PLAYERS", {"call": "", "fold": ""})
    monkeypatch.setattr(tempers, "STRETCHES", 2)
    told = table.meeting("all-in")
    assert told["difference"]["mbb_per_hand"] == pytest.approx(
        told["call"]["mbb_per_hand"] - told["fold"]["mbb_per_hand"]
    )
    monkeypatch.setattr(tempers, "play_match", None)
    assert table.meeting("all-in") == told
    with pytest.raises(EquipoiseError, match="such as 10000"):
        tempers.play_all(10, 0)


def test_matches_are_told_and_drawn(tmp_path):
    figure = {"mbb_per_hand": 5.0, "ci95_mbb": 2.0}
    curve = [{"hands_seen": 10 * k, **figure} for k in (1, 2)]
    names = ("adaptive", "flagship-none")
    row = dict.fromkeys((*names, "difference"), figure) | {"curves": dict.fromkeys(names, curve)}
    rows = [{"opponent": name, **row} for name in tempers.OPPONENTS]
    turns = [
        {"first": a, "then": b, "matches": 2, "turns_at": 10, "curve": curve}
        for a, b in tempers.TURNS
    ]
    matches = {"hands": 20, "rows": rows, "turns": turns, "against_flagship": figure}
    assert "station" in told_text({"matches": matches})
    picture({"matches": matches}, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000


def told_text(data):
    from rich.console import Console

    console = Console(record=True, width=160)
    console.print(report(data))
    return console.export_text()


def test_it_is_told_and_drawn(data, tmp_path):
    assert "nats a decision" in told_text(data)
    picture(data, tmp_path / "players.png")
    assert (tmp_path / "players.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_no_log_of_the_game_is_refused(tmp_path):
    with pytest.raises(EquipoiseError, match="--log"):
        adaptive.run()
    empty = tmp_path / "empty.log"
    empty.write_text("# nothing\nSCORE:0|0:a|b\n")
    with pytest.raises(HistoryError, match="no hand to learn from"):
        adaptive.run(log=[empty])
    limit = tmp_path / "limit.log"
    limit.write_text("STATE:0:rrf:AsKs|2c3c:10|-10:a|b\n")
    with pytest.raises(EquipoiseError, match="no-limit"):
        adaptive.run(log=[limit])


def test_the_command_trains_a_model(log, tmp_path):
    lines = gzip.decompress(log.read_bytes()).decode().splitlines()[:250]
    short = tmp_path / "short.log"
    short.write_text("\n".join(lines) + "\n")
    out = tmp_path / "players.model"
    words = ["train", "adaptive", "--log", str(short), "--features", "odds", "--out", str(out)]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["hands"] == 250
    assert told["groups"] == ["field"]
    assert PlayerModel.load(out).actions.features.name == "odds"
    again = CliRunner().invoke(app, words)
    assert isinstance(again.exception, EquipoiseError)
    assert "--overwrite" in str(again.exception)

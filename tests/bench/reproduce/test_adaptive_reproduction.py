"""Players predicted again: the table of a small log, and what is refused."""

import gzip
import json

import pytest
from typer.testing import CliRunner

from equipoise.agents.adaptive.model import PlayerModel
from equipoise.arena.histories.played import shipped_log
from equipoise.bench.reports.adaptive_report import picture, report
from equipoise.bench.reproduce import adaptive
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


def test_the_literal_payoff_raises_recklessly(data):
    failure = data["failure"]
    assert failure["seed_literal"]["raise_to"] > 3000
    literal, right = (failure[name]["raise_to"] for name in ("seed_literal", "seed_right"))
    assert literal >= right


def test_it_is_told_and_drawn(data, tmp_path):
    from rich.console import Console

    console = Console(record=True, width=140)
    console.print(report(data))
    assert "nats a decision" in console.export_text()
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

"""The reproduction of the suite of agents, with so little play that a test can afford it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equipoise.agents import registry
from equipoise.agents.agent import Agent
from equipoise.agents.suite.votes import VoteAgent
from equipoise.bench.reproduce import agents_suite
from equipoise.cli import app
from equipoise.games.rules import Rules

TINY = agents_suite.Effort(
    model_runs=1, learners=2, training=50, measuring=20, q_hands=1000, q_learners=1, hands=80
)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents that are trained for a moment, and hardly any play."""
    monkeypatch.setattr(agents_suite, "QUICK_EFFORT", TINY)
    monkeypatch.setattr(agents_suite, "MODEL_GAMES", 3)
    monkeypatch.setattr(agents_suite, "PAIRS_PER_MEETING", 2)

    def make(name: str, rules: Rules) -> Agent:
        if name == "votes":
            return VoteAgent(rules, training=50, teacher=0)
        return registry.make_agent(name, rules)

    monkeypatch.setattr(agents_suite, "make_agent", make)


def test_figures_and_picture(little: None, tmp_path: Path) -> None:
    picture = tmp_path / "suite.png"
    words = ["reproduce", "agents-suite", "--quick", "--json", "--plot", str(picture)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["models"]["styles"]["careful"]["document"][0] == [0.1635, 0.7581, 0.0783]
    assert len(data["triplets"]) == 10
    assert all(sum(row["triplet"]) == 2 for row in data["triplets"])
    assert all(sum(row["document"]) == 20 for row in data["triplets"])
    assert {row["a"] for row in data["tournament"] if row["b"] == "regret"} == {
        "all-in", "bucket", "bayes", "votes", "random", "call", "fold", "q-learner",
    }  # fmt: skip
    assert set(data["ranking"]["order"]) == set(agents_suite.FINALISTS)
    assert data["evidence"][1]["of_document_model"] == pytest.approx(1.58, abs=0.005)
    assert picture.stat().st_size > 10_000


def test_tables(little: None) -> None:
    result = CliRunner().invoke(app, ["reproduce", "agents-suite", "--quick"])
    assert result.exit_code == 0, result.output
    for words in ("Model of the careful player", "Q-learner", "all-in v bucket", "Document:"):
        assert words in result.stdout


def test_the_same_seed_gives_the_same_figures(little: None) -> None:
    effort = agents_suite.QUICK_EFFORT
    assert agents_suite.learners(effort, 4) == agents_suite.learners(effort, 4)
    assert agents_suite.triplets(4) == agents_suite.triplets(4)


def test_an_unknown_experiment_is_refused() -> None:
    result = CliRunner().invoke(app, ["reproduce", "suite"])
    assert "choose from adaptive, agents-suite" in str(result.exception)

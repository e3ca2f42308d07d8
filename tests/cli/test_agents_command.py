"""`equipoise agents`: the list, an agent's chart, and its limp report."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents.registry import make_agent
from equipoise.arena.opening import opening_chart, opening_earnings
from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.rules import NOLIMIT_HOLDEM

runner = CliRunner()


def run(*words: str):
    done = runner.invoke(app, ["agents", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_the_list_names_blueprint_agents_and_their_settings():
    listed = json.loads(run("--json"))["agents"]
    assert {"tartanian4", "tartanian5", "inot", "fell-omen-1", "fell-omen-2", "quick"} <= set(
        listed
    )
    assert listed["tartanian5"]["parameters"]["postprocess"] == "purify"
    assert listed["inot"]["game"] == "limit"


def test_a_chart_and_a_limp_report(tmp_path):
    picture = tmp_path / "chart.png"
    told = json.loads(run("random", "--game", "limit", "--hands", "60", "--json", "--plot",
                          str(picture), "--against", "call"))  # fmt: skip
    assert told["shares"] == pytest.approx({"fold": 1 / 3, "limp": 1 / 3, "raise": 1 / 3}, abs=1e-6)
    assert np.allclose(told["chart"], 1 / 3, atol=1e-5)
    assert sum(part["hands"] for part in told["earned"].values()) == 60
    assert told["earned"]["fold"]["mbb_per_hand"] == -500
    assert told["opponent"] == "call"
    assert picture.read_bytes()[:4] == b"\x89PNG"
    text = run("random", "--game", "limit", "--hands", "0")
    assert "how often random limps" in text
    assert "33%" in text


def test_limped_hands_earn_what_was_won_with_them():
    call, other = make_agent("call"), make_agent("call")
    earned = opening_earnings(call, other, NOLIMIT_HOLDEM, hands=300, seed=2)
    limp = earned.by_manner["limp"]
    assert limp.count == 300
    assert abs(limp.mean) < 4 * limp.standard_error
    assert limp.deviation == pytest.approx(1000, rel=0.05)


def test_an_agent_without_a_policy_has_no_chart():
    with pytest.raises(EquipoiseError, match="does not say its policy"):
        opening_chart(make_agent("odd-sizes"), NOLIMIT_HOLDEM)

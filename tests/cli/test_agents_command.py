"""`equipoise agents`: the list, an agent's chart, and its limp report."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents import registry
from equipoise.agents.registry import make_agent
from equipoise.arena.measures.opening import opening_chart, opening_earnings
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


def test_the_list_says_which_agents_ship_trained(monkeypatch, tmp_path):
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    listed = json.loads(run("--json"))["agents"]
    blueprints = {name: told["trained"] for name, told in listed.items() if told["trained"]}
    shipped = {
        "claudico",
        "flagship",
        "flagship-100",
        "quick",
        "tartanian5",
        "inot",
        "fell-omen-1",
        "fell-omen-2",
        "regret",
    }
    assert {name for name, trained in blueprints.items() if trained == "ships"} == shipped
    assert {name for name, trained in blueprints.items() if trained == "no"} == {
        "regret-limit",
        "sampled",
        "tartanian4",
    }
    assert listed["call"]["trained"] is None
    assert listed["sampled"]["train"] == (
        f"equipoise train sampled --out {tmp_path / 'cache' / 'sampled.run'}"
    )
    assert listed["quick"]["train"] is None
    text = run()
    assert "equipoise train sampled" in text
    assert "about 60 minutes" in text
    assert "equipoise train quick" not in text
    run_folder = tmp_path / "sampled.run"
    run_folder.mkdir()
    (run_folder / "blueprint.safetensors").write_bytes(b"")
    assert json.loads(run("--json"))["agents"]["sampled"]["trained"] == "here"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("call", "--hands", "-1"), "--hands -1: give 0 to"),
        (("call", "--hands", "99999999999999999999"), "--hands 99999999999999999999: give 0 to"),
        (("call", "--seed", "-1"), "--seed -1: give a whole number from 0"),
        (("call", "--plot", "chart.bmp"), "end the name with"),
        (("call", "--plot", "no/such/folder.png"), "there is no folder"),
        (("call", "--plot", ""), "name"),
        (("call", "--against", "nobody"), "no agent 'nobody'"),
        (("call", "--against", "call", "--hands", "0"), "give some with --hands"),
        (("--against", "call"), "name it"),
        (("--game", "limit"), "name it"),
        (("nobody",), "no agent 'nobody'"),
        (("call\0",), "no agent"),
        (("none.toml",), "cannot be read"),
        (("odd-sizes",), "does not say its policy"),
        (("bucket", "--game", "nolimit"), "plays limit games"),
    ],
)
def test_wrong_words_are_one_sentence(words, sentence):
    done = runner.invoke(app, ["agents", *words])
    assert isinstance(done.exception, EquipoiseError), done.output
    assert sentence in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_picture_that_exists_is_not_replaced_unless_asked(tmp_path):
    picture = tmp_path / "chart.png"
    picture.write_bytes(b"mine")
    words = ["agents", "call", "--hands", "0", "--plot", str(picture)]
    done = runner.invoke(app, words)
    assert "add --overwrite" in str(done.exception)
    assert picture.read_bytes() == b"mine"
    assert runner.invoke(app, [*words, "--overwrite"]).exit_code == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"


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


def test_an_agent_of_another_package_that_cannot_be_loaded_is_listed(another_package):
    another_package("", {registry.GROUP: {"broken": "another:Thing"}})
    registry.entries.cache_clear()
    try:
        told = json.loads(runner.invoke(app, ["agents", "--json"], catch_exceptions=False).stdout)
    finally:
        registry.entries.cache_clear()
    assert "'broken' of another package cannot be loaded" in told["agents"]["broken"]["description"]

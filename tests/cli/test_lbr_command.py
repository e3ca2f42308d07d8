"""`equipoise lbr`, and `equipoise match --aivat`."""

import json

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_folding_is_beaten_for_750():
    told = json.loads(run("lbr", "fold", "--hands", 20, "--menu", "56", "--seed", 3, "--json"))
    assert told["mbb_per_hand"] == 750
    assert told["ci95_mbb"] == 0
    assert (told["agent"], told["menu"], told["hands"], told["seed"]) == ("fold", "56", 20, 3)
    assert "difference_mbb" not in told


def test_the_table_says_what_it_wins():
    text = run("lbr", "fold", "--game", "limit", "--hands", 20, "--against", "fold")
    assert "+750.0 ± 0.0 mbb/hand" in text
    assert "more from fold" in text
    assert "+0.0 ± 0.0 mbb/hand, on the same deals" in text


def test_agents_without_a_policy_are_refused():
    with pytest.raises(EquipoiseError, match="random does not say its policy"):
        run("lbr", "random", "--hands", 20)


def test_a_match_without_its_luck(tmp_path):
    words = ("match", "random", "call", "--game", "limit", "--hands", 12, "--seed", 1)
    told = json.loads(run(*words, "--aivat", "--json"))
    assert told["log"] is None
    assert told["aivat_mbb_per_hand"] == pytest.approx(-1000 / 12)
    assert told["aivat_std_mbb"] == pytest.approx(0, abs=1e-9)
    assert told["aivat_ci95_mbb"] == pytest.approx(0, abs=1e-9)
    assert told["aivat_reduction"] == pytest.approx(1)
    plain = json.loads(run(*words, "--json"))
    assert plain["mbb_per_hand"] == told["mbb_per_hand"]
    assert "aivat_reduction" not in plain
    log = tmp_path / "match.log"
    assert "100% less" in run(*words, "--aivat", "--log", log)
    assert log.exists()


def test_a_menu_for_each_street():
    words = ("lbr", "fold", "--hands", 20, "--seed", 3, "--json")
    told = json.loads(run(*words, "--menu", "fcpa,fcpa,fc,cf"))
    assert (told["menu"], told["mbb_per_hand"]) == ("fcpa,fcpa,fc,fc", 750)
    # Who limps and then bets the flop wins the same blinds.
    assert json.loads(run(*words, "--menu", "c,56,fc,fc"))["mbb_per_hand"] == 750
    with pytest.raises(EquipoiseError, match="no menu 'fp'"):
        run(*words, "--menu", "fp,fc,fc,fc")
    with pytest.raises(EquipoiseError, match="3 streets: this game has 4"):
        run(*words, "--menu", "fc,fc,fc")

"""`equipoise search`: what an agent thinks at a point of a hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from equipoise.agents.registry import make_agent
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import parse_combo
from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.policy import PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, State


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


RIVER = ("--board", "Td9d6hQc2s", "--history", "cc/cc/cc/r333", "--iterations", 30)


def test_a_river_as_json() -> None:
    told = json.loads(run("search", "call", *RIVER, "--hand", "KsJs", "--json"))
    assert told["pot"] == 433
    assert told["stacks"] == [19667, 19900]
    assert told["source"] == "subgame"
    assert told["policy"]["actions"][:2] == ["f", "c"]
    assert told["hand"]["policy"][0] < 0.01
    assert told["tree"]["decisions"] > 3
    assert len(told["values"]) == 2
    assert told["seconds"] > 0


def test_a_table_for_a_person() -> None:
    text = run("search", "call", *RIVER, "--hand", "KsJs")
    assert "433, 233 to call" in text
    assert "solved to the end of the hand" in text
    flop = ("--history", "r250c/cr400", "--board", "Td9d6h")
    before = run("search", "call", *flop, "--flops", "none")
    assert "nothing is solved here" in before


def test_a_large_pot_before_the_flop() -> None:
    words = ("search", "call", "--history", "r300r1000r3000r9900r20000", "--hand", "As4s")
    told = json.loads(run(*words, "--iterations", 30, "--json"))
    assert told["source"] == "preflop"
    assert told["hand"]["policy"][0] <= 0.01


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("call", "--history", "f"), "the hand is over"),
        (("call", "--history", "cc/", "--board", "Td9d"), "give 3 cards"),
        (("random", "--history", "cc/cc/cc/", "--board", "Td9d6hQc2s"), "policy is known"),
        (("call", *RIVER, "--hand", "TdTc"), "holds a card of the board"),
        (("call", *RIVER, "--gadget", "safe"), "--gadget"),
        (("call", *RIVER, "--seat", 2), "--seat 2"),
        (("call", "--history", "r10"), "cannot raise to 10"),
    ],
)
def test_what_is_refused(words: tuple[object, ...], sentence: str) -> None:
    with pytest.raises(EquipoiseError, match=sentence):
        run("search", *words)


def test_an_agent_that_searches_thinks_as_it_plays(tmp_path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('agent = "search"\nblueprint = "quick"\nsearch = "river"\nbudget = 0.1\n')
    told = json.loads(run("search", file, *RIVER[:4], "--hand", "KsJs", "--json"))
    assert told["source"] == "subgame"
    # A tenth of 300, and half of that: a bet off the tree came before any decision.
    assert told["iterations"] == 15
    player = make_agent(file)
    state = State.from_betting_text(NOLIMIT_HOLDEM, "cc/cc/cc/r333")
    policy = player.policy(PublicState(state, parse_cards("Td9d6hQc2s"), 0))
    assert policy is not None
    assert told["hand"]["policy"] == pytest.approx(policy.probabilities[parse_combo("KsJs")])
    turn = json.loads(run("search", file, "--board", "Td9d6hQc", "--history", "cc/cc/", "--json"))
    assert turn["source"] == "trunk"

"""Sites' hand histories through pokerkit, and spots made from hands."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from equipoise.arena.histories.handspot import spot_of_hand
from equipoise.arena.histories.history import History
from equipoise.bench.fuzz.samples import SITE
from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.games.policy import same_for_all
from equipoise.games.spot import Spot

HAND = SITE


class Flat:
    """Plays every action equally often, with every hand."""

    name = "flat"

    def policy(self, public):
        from equipoise.games.menu import BetMenu

        options = BetMenu.parse("100%").actions(public.state)
        return same_for_all(public.state, dict.fromkeys(options, 1 / len(options)))


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("pokerkit")
    path = tmp_path / "hands.txt"
    path.write_text(HAND + "\n\n" + HAND.replace("123456789", "123456790").replace("Qc", "Xc"))
    return path


def test_a_site_s_hands_are_read_like_all_others(file, capsys):
    history = History.open(file)
    problems = []
    hands = list(history.hands(problems.append))
    assert history.kind == "pokerstars"
    assert [hand.number for hand in hands] == [123456789]
    assert hands[0].players == ("Villain", "Hero")
    assert hands[0].state.betting_text() == "r250c/cr500c/cc/r1000c"
    assert hands[0].payoffs == (-1000, 1000)
    assert len(problems) == 1
    assert problems[0].damaged
    assert capsys.readouterr().err == ""
    assert problems[0].line == HAND.count("\n") + 3


def test_a_spot_has_the_pot_the_stacks_and_the_ranges_of_the_hand(file):
    hand = next(History.open(file).hands(lambda problem: None))
    spot = spot_of_hand(hand, "turn", Flat())
    told = spot.to_dict()
    assert (told["board"], told["unit"], told["pot"], told["stack"]) == ("Td9d6hQc", "bb", 10, 92.5)
    assert Spot.from_toml(spot.to_toml()) == spot
    # Who plays all hands alike arrives with all of them.
    assert set(spot.oop_range.weights[spot.oop_range.weights > 0].tolist()) == {1.0}
    for street, sentence in (("preflop", "choose flop"), ("moon", "choose flop")):
        with pytest.raises(EquipoiseError, match=sentence):
            spot_of_hand(hand, street, Flat())


def test_the_command_writes_a_spot_that_solves(file, tmp_path):
    out = tmp_path / "spot.toml"
    words = ["spot", "--from-hand", str(file), "--street", "river", "--out", str(out), "--json"]
    told = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
    assert (told["hand"], told["pot"]) == (123456789, 10)
    assert Spot.load(out).street == "river"
    with pytest.raises(EquipoiseError, match="of number 5"):
        CliRunner().invoke(app, [*words[:3], "--number", "5"], catch_exceptions=False)

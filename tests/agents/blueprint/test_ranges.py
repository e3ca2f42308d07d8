"""How a blueprint plays before the flop, as ranges with names."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tinyblueprint import halves, tiny
from typer.testing import CliRunner

from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.ranges import preflop_decisions, write_ranges
from equipoise.cards import namedranges
from equipoise.cards.range import Range
from equipoise.cli import app
from equipoise.errors import FileError, RangeError
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, State
from equipoise.games.spot import Spot

MENU = {
    "preflop": {"bets": "250c,a", "raises": ["100%,a", "100%,a"], "max_raises": 3},
    "flop": {"bets": "a"},
}


@pytest.fixture(scope="module")
def agent():
    return BlueprintAgent(NOLIMIT_HOLDEM, tiny(MENU, form="fine"))


def chances(agent, betting: str, action: int):
    """How often each hand takes an action after betting of the tree."""
    node = agent.blueprint.nodes[State.from_betting_text(NOLIMIT_HOLDEM, betting).history]
    return agent.blueprint.rows(node)[action][halves().buckets()]


def test_names_say_who_does_what_after_what(agent):
    decisions = {one.name: one for one in preflop_decisions(agent)}
    assert decisions["sb-first-in"].actions == ("fold", "limp", "open-2.5x", "open-allin")
    assert decisions["bb-vs-limp"].actions == ("check", "raise-2.5x", "raise-allin")
    assert decisions["bb-vs-2.5x"].actions == ("fold", "call", "3bet-7.5x", "3bet-allin")
    assert decisions["sb-vs-2.5x-7.5x"].actions == ("fold", "call", "4bet-22.5x", "4bet-allin")
    assert decisions["sb-vs-limp-2.5x"].actions[1:3] == ("call", "3bet-7.5x")
    assert decisions["bb-vs-allin"].actions == ("fold", "call")
    assert "sb-4bet-22.5x-vs-2.5x-7.5x" in decisions["sb-vs-2.5x-7.5x"].ranges


def test_a_range_is_what_arrives(agent):
    ranges = {name: hands for one in preflop_decisions(agent) for name, hands in one.ranges.items()}
    opened = chances(agent, "", 2)
    assert np.allclose(ranges["sb-open-2.5x"].weights, opened, atol=6e-4)
    called = opened * chances(agent, "r250r750", 1)
    assert np.allclose(ranges["sb-call-vs-2.5x-7.5x"].weights, called, atol=6e-4)
    answered = chances(agent, "r250", 1)
    assert np.allclose(ranges["bb-call-vs-2.5x"].weights, answered, atol=6e-4)


def test_frequencies_of_a_decision_sum_to_what_comes_there(agent):
    for decision in preflop_decisions(agent):
        assert decision.shares.sum() == pytest.approx(1)
        assert decision.frequencies.max() <= 1 + 1e-9
    first = next(iter(preflop_decisions(agent)))
    assert np.allclose(first.frequencies.sum(axis=1), 1)


def test_lines_that_never_come_up_are_left_out():
    def always_folds(betting, node, columns):
        table = np.zeros((int(betting.count[node]), columns))
        table[0] = 1
        return table

    folder = BlueprintAgent(NOLIMIT_HOLDEM, tiny(MENU, always_folds))
    assert [one.name for one in preflop_decisions(folder)] == ["sb-first-in"]


def test_ranges_are_post_processed_as_the_agent_plays():
    pure = BlueprintAgent(NOLIMIT_HOLDEM, tiny(MENU), postprocess="purify")
    opened = next(iter(preflop_decisions(pure)))
    assert set(np.unique(opened.frequencies)) == {0.0, 1.0}


def test_limit_has_ranges_too():
    limit = BlueprintAgent(LIMIT_HOLDEM, tiny(limit=True))
    names = {name for one in preflop_decisions(limit) for name in one.ranges}
    assert {"sb-open-2x", "bb-call-vs-2x", "bb-3bet-3x-vs-2x", "bb-check-vs-limp"} <= names


def test_ranges_are_written_and_read_by_name(agent, tmp_path, monkeypatch):
    folder = tmp_path / "ranges" / "200"
    decisions = write_ranges(agent, folder)
    names = [name for one in decisions for name in one.ranges]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(names)
    with pytest.raises(FileError, match="is not empty: add --overwrite"):
        write_ranges(agent, folder)
    write_ranges(agent, folder, overwrite=True)
    monkeypatch.setattr(namedranges, "_folder", lambda: tmp_path / "ranges")
    namedranges.range_names.cache_clear()
    try:
        opened = Range.parse("sb-open-2.5x@200")
        assert opened == decisions[0].ranges["sb-open-2.5x"]
        half = Range.parse("sb-open-2.5x@200:0.5, AA:1")
        assert half.weight("72o") == pytest.approx(opened.weight("72o") / 2)
        assert half.weight("AA") == 1
        spot = Spot("Td9d6h", "bb-call-vs-2.5x@200", "SB-open-2.5x@200", 500, 19750, "a")
        assert spot.ip_range == opened
        with pytest.raises(RangeError, match=r"did you mean 'sb-open-2\.5x@200'\?"):
            Range.parse("sb-open-2.6x@200")
        with pytest.raises(RangeError, match=r"no range '\.\./200/sb"):
            Range.parse("../200/sb-open-2.5x@200")
    finally:
        namedranges.range_names.cache_clear()


def test_names_that_do_not_ship_are_refused_with_a_cure(tmp_path, monkeypatch):
    monkeypatch.setattr(namedranges, "_folder", lambda: tmp_path)
    namedranges.range_names.cache_clear()
    try:
        with pytest.raises(RangeError, match="equipoise agents quick --ranges FOLDER"):
            Range.parse("sb-open-3x@200")
    finally:
        namedranges.range_names.cache_clear()


def test_the_command_writes_ranges_and_charts(tmp_path):
    file = tmp_path / "tiny.blueprint"
    tiny({"preflop": {"bets": "250c", "raises": "a"}, "flop": {"bets": "a"}}).save(file)
    mine = tmp_path / "mine.toml"
    mine.write_text('agent = "blueprint"\nname = "mine"\nblueprint = "tiny.blueprint"\n')
    out = tmp_path / "out"
    words = ["agents", str(mine), "--ranges", str(out)]
    done = CliRunner().invoke(app, [*words, "--charts", "--json"], catch_exceptions=False)
    data = json.loads(done.stdout)
    assert Range.parse((out / "sb-limp.txt").read_text()).combos > 0
    assert (out / "sb-first-in.png").read_bytes()[:4] == b"\x89PNG"
    assert "bb-call-vs-2.5x" in data["ranges"]
    assert sum(data["decisions"]["sb-first-in"].values()) == pytest.approx(1, abs=1e-4)
    shown = CliRunner().invoke(app, [*words, "--overwrite"], catch_exceptions=False)
    assert "sb-first-in" in shown.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["call", "--ranges", "out"], "plays no blueprint"),
        (["--ranges", "out"], "name it"),
        (["quick", "--charts"], "name a folder"),
        (["quick", "--ranges", "out", "--game", "limit"], "stands alone"),
    ],
)
def test_wrong_options_are_refused(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["agents", *words])
    assert done.exit_code != 0
    assert sentence in str(done.exception)
    assert not (tmp_path / "out").exists()

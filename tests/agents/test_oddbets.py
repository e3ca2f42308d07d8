"""Blueprints against odd sizes, in this process and over sockets; and the watcher sees faults."""

import pytest
from tinyblueprint import tiny

from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.oddsizes import OddSizesAgent
from equipoise.bench.agents import odd_figure
from equipoise.bench.oddbets import Findings, play_odd_bets
from equipoise.games.hand import View
from equipoise.games.rules import (
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    State,
    raise_to,
)

MENU = {"bets": "50%,a", "raises": "100%,a", "force_allin_threshold": 0.25, "max_raises": 3}


@pytest.fixture(scope="module")
def blueprint():
    return tiny(MENU)


@pytest.mark.parametrize("acpc", [False, True])
@pytest.mark.parametrize("back_onto_tree", [False, True])
def test_odd_sizes_are_answered(blueprint, acpc, back_onto_tree):
    agent = BlueprintAgent(NOLIMIT_HOLDEM, blueprint, guard="always", back_onto_tree=back_onto_tree)
    seen = play_odd_bets(agent, NOLIMIT_HOLDEM, 120, seed=3, acpc=acpc)
    assert seen.clean, seen.first
    assert seen.hands == 120
    assert seen.off_tree > 60
    assert seen.folds_off_tree > 1
    assert seen.guard_asked >= seen.folds_off_tree


def test_limit_over_sockets():
    agent = BlueprintAgent(LIMIT_HOLDEM, tiny(limit=True, classes=3))
    seen = play_odd_bets(agent, LIMIT_HOLDEM, 100, acpc=True)
    assert seen.clean, seen.first
    assert seen.off_tree == 0


def test_folds_with_the_price_are_seen_without_the_guard(blueprint):
    agent = BlueprintAgent(NOLIMIT_HOLDEM, blueprint, guard="never")
    seen = play_odd_bets(agent, NOLIMIT_HOLDEM, 120, seed=3)
    assert seen.folds_with_price
    assert "folded an equity of" in seen.first
    assert not seen.clean


@pytest.mark.parametrize(
    ("act", "counted"),
    [(lambda view: raise_to(7), "illegal"), (lambda view: 1 / 0, "exceptions")],
)
def test_other_faults_are_seen(blueprint, act, counted):
    agent = BlueprintAgent(NOLIMIT_HOLDEM, blueprint)
    agent.act = act
    seen = play_odd_bets(agent, NOLIMIT_HOLDEM, 2)
    assert getattr(seen, counted) >= 1
    assert not seen.clean


def test_odd_sizes_are_odd_and_legal():
    player, state = OddSizesAgent(), State.start(NOLIMIT_HOLDEM)
    view = View(state, 1, (0, 1), (), 0)
    played = [player.act(view) for _ in range(2000)]
    assert all(state.can(action) for action in played)
    amounts = {action.amount for action in played}
    assert {200, 201, 266, 567, 20000, 19999} <= amounts
    assert FOLD in played


def test_folds_with_the_price_are_held_against_agents_with_a_guard_only(blueprint):
    seen = Findings("tiny", "process", hands=10, illegal=1, folds_with_price=3)
    for guard, wrong in (("never", 1), ("closing", 4), ("always", 4)):
        agent = BlueprintAgent(NOLIMIT_HOLDEM, blueprint, guard=guard)
        told = odd_figure("tiny", agent, seen)
        assert told["value"] == wrong
        assert ("with the price" in told["name"]) == (guard != "never")

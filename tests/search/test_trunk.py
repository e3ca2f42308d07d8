"""A blueprint as the trunk of a search."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tinyblueprint import tiny

from equipoise.abstraction.bets.translation import mapping
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import GameError
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, State
from equipoise.search.subgame import free_combos
from equipoise.search.trunk import BlueprintTrunk, TrunkValues, trunk_ranges

TURN = parse_cards("Td9d6hQc")


def played(text: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, text)


@cache
def trunk() -> BlueprintTrunk:
    return BlueprintTrunk(tiny(), mapping("pseudo-harmonic"), seed=4)


@cache
def agent() -> BlueprintAgent:
    made = BlueprintAgent(NOLIMIT_HOLDEM, trunk().blueprint, guard="never")
    made.reset(4)
    return made


@pytest.mark.parametrize("text", ["r300c/cc/", "r300c/r900c/"])
def test_on_its_tree_it_plays_as_the_agent_without_guard_and_rules(text: str) -> None:
    public, free = PublicState(played(text), TURN, 0), free_combos(TURN)
    mine, other = trunk()(public), agent().policy(public)
    assert mine.actions == other.actions
    assert mine.probabilities[free] == pytest.approx(other.probabilities[free], abs=1e-6)


@pytest.mark.parametrize("text", ["r270c/r611c/", "r270c/cc/r417"])
def test_after_other_bets_it_follows_one_line_of_the_tree(text: str) -> None:
    state, free, met = played(text), free_combos(TURN), set()
    for hand in range(8):
        mine = trunk()(PublicState(state, TURN, hand))
        line = agent().line
        assert line is not None
        standing = line.stand(state, 4, hand)
        met.add(standing.place)
        other = agent().mixture.played(standing, state, TURN)
        assert set(mine.actions) == set(other)
        for column, action in enumerate(mine.actions):
            chances = other[action][free]
            assert mine.probabilities[free, column] == pytest.approx(chances, abs=1e-6)
    assert len(met) > 1


def test_columns_and_policies_give_the_same_values() -> None:
    state = played("r270c/r611c/")
    ranges = trunk_ranges(trunk(), state, TURN)
    assert all(own[free_combos(TURN)].max() > 0 for own in ranges)

    def plain(public: PublicState, /) -> Policy:
        return trunk()(public)

    by_column = TrunkValues(trunk(), state, TURN, ranges)
    by_hand = TrunkValues(plain, state, TURN, ranges)
    assert np.allclose(by_column.rows, by_hand.rows, atol=1e-6)
    values = by_column.values(1)
    assert values.shape == (COMBO_COUNT,)
    assert values == pytest.approx(by_hand.values(1), abs=0.5)


def test_without_a_mapping_its_own_lines_are_all_it_knows() -> None:
    own = BlueprintTrunk(trunk().blueprint)
    assert own(PublicState(played("r300"), (), 0)).actions == agent().blueprint.actions(
        agent().blueprint.nodes[played("r300").history]
    )
    with pytest.raises(GameError, match="give the trunk a mapping"):
        own(PublicState(played("r277"), (), 0))

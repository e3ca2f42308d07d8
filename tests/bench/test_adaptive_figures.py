"""Figures of the adaptive agent: updates are timed, odd sizes are watched, numbers that are none are seen."""

import numpy as np
import pytest

from equipoise.bench import adaptive
from equipoise.bench.adaptive import Careful, belief_figures, odd_figures
from equipoise.bench.oddbets import play_odd_bets
from equipoise.games.rules import NOLIMIT_HOLDEM


def test_updates_are_timed_for_both_forms():
    told = belief_figures(3, deals=1)
    assert len(told) == 2 * 9
    assert all(one["value"] > 0 and "target" in one for one in told)
    assert sum("first sight" in one["name"] for one in told) == 6


def test_odd_sizes_are_watched():
    wrong, memory, slowest, median, speed = odd_figures(3, hands=12)
    assert wrong["value"] == 0
    assert memory["unit"] == "MB"
    assert 0 < median["value"] / 1000 <= slowest["value"]
    assert speed["value"] > 0


@pytest.mark.parametrize("spoiled", ["memory", "value"])
def test_a_number_that_is_none_is_seen(spoiled, monkeypatch):
    agent = Careful(NOLIMIT_HOLDEM)
    if spoiled == "memory":
        learn = agent._opponent.__class__.learn

        def forget(self, actions, held):
            learn(self, actions, held)
            self.memory.coarse[0] = np.nan

        monkeypatch.setattr(agent._opponent.__class__, "learn", forget)
    else:
        monkeypatch.setattr(
            "equipoise.agents.adaptive.expectimax.Expectimax.best",
            lambda search, state: adaptive.Choice(adaptive.raise_to(300), float("nan")),
        )
    seen = play_odd_bets(agent, NOLIMIT_HOLDEM, 4, seed=1)
    assert seen.exceptions >= 1
    assert "FloatingPointError" in seen.first

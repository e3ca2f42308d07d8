"""The simple agents: what they do, and that their policy says so."""

import copy
import pickle
from collections import Counter
from random import Random

import numpy as np
import pytest

from equipoise.agents.simple import AllInAgent, CallAgent, FoldAgent, RandomAgent
from equipoise.games.hand import View
from equipoise.games.policy import PublicState
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, State, nolimit


def view(rules, betting: str) -> View:
    state = State.from_betting_text(rules, betting)
    return View(state, state.to_act, (0, 1), (), 0)


def public(rules, betting: str) -> PublicState:
    return PublicState(State.from_betting_text(rules, betting), (), 0)


@pytest.mark.parametrize(
    ("kind", "rules", "betting", "action"),
    [
        (CallAgent, NOLIMIT_HOLDEM, "", "c"),
        (CallAgent, NOLIMIT_HOLDEM, "r20000", "c"),
        (FoldAgent, NOLIMIT_HOLDEM, "", "f"),
        (FoldAgent, NOLIMIT_HOLDEM, "c", "c"),
        (FoldAgent, NOLIMIT_HOLDEM, "cc/", "c"),
        (FoldAgent, NOLIMIT_HOLDEM, "cc/r200", "f"),
        (AllInAgent, NOLIMIT_HOLDEM, "", "r20000"),
        (AllInAgent, NOLIMIT_HOLDEM, "r300", "r20000"),
        (AllInAgent, NOLIMIT_HOLDEM, "r20000", "c"),
        (AllInAgent, LIMIT_HOLDEM, "", "r20"),
        (AllInAgent, LIMIT_HOLDEM, "rrr", "c"),
    ],
)
def test_a_pure_agent_does_the_one_thing_and_says_so(kind, rules, betting, action):
    agent = kind()
    assert str(agent.act(view(rules, betting))) == action
    told = agent.policy(public(rules, betting))
    assert [str(choice) for choice in told.actions] == [action]
    assert told.probabilities.shape == (1326, 1)
    assert (told.probabilities == 1).all()


@pytest.mark.parametrize(
    ("rules", "betting"),
    [
        (LIMIT_HOLDEM, ""),
        (LIMIT_HOLDEM, "rrr"),
        (LIMIT_HOLDEM, "cc/"),
        (nolimit(6, 1, 2), ""),
        (nolimit(6, 1, 2), "c"),
        (nolimit(6, 1, 2), "r6"),
    ],
)
def test_random_plays_its_policy(rules, betting):
    agent, seat = RandomAgent(), view(rules, betting)
    told = agent.policy(public(rules, betting))
    assert told.probabilities[0].sum() == pytest.approx(1)
    assert (told.probabilities == told.probabilities[0]).all()
    assert all(seat.state.can(action) for action in told.actions)
    draws = 6000
    counts = Counter(agent.act(seat) for _ in range(draws))
    assert set(counts) == set(told.actions)
    for action, chance in zip(told.actions, told.probabilities[0].tolist(), strict=True):
        error = np.sqrt(draws * chance * (1 - chance))
        assert abs(counts[action] - draws * chance) <= 4.5 * error


def test_random_raises_over_the_whole_range():
    agent, seat = RandomAgent(), view(NOLIMIT_HOLDEM, "")
    sizes = [action.amount for action in (agent.act(seat) for _ in range(9000)) if action.amount]
    assert len(sizes) == pytest.approx(3000, abs=200)
    assert 200 <= min(sizes) < 230
    assert 19960 < max(sizes) <= 20000
    assert np.mean(sizes) == pytest.approx(10100, abs=4 * 5716 / np.sqrt(3000))


def test_too_many_sizes_are_no_policy():
    assert RandomAgent().policy(public(NOLIMIT_HOLDEM, "")) is None
    assert RandomAgent().policy(public(NOLIMIT_HOLDEM, "r20000")) is not None


def test_random_follows_its_seed():
    seat = view(NOLIMIT_HOLDEM, "")

    def played(seed: int) -> list:
        agent = RandomAgent()
        agent.reset(seed)
        return [agent.act(seat) for _ in range(20)]

    assert played(1) == played(1) != played(2)


def test_agents_that_never_draw_have_the_same_generator_as_the_others_once_they_do():
    agent = CallAgent()
    pick = agent.random.choice
    for seed in (7, 8, 2**70):
        agent.random.seed(seed)
        twin = Random(seed)
        assert agent.random.gauss() == twin.gauss()
        assert [pick(range(99)) for _ in range(5)] == [twin.choice(range(99)) for _ in range(5)]
        assert agent.random.random() == twin.random()
        assert agent.random.getstate() == twin.getstate()
        agent.random.seed(seed)
        assert copy.deepcopy(agent).random.random() == Random(seed).random()
        assert pickle.loads(pickle.dumps(agent.random)).getrandbits(64) == Random(seed).getrandbits(
            64
        )
        agent.random.gauss()

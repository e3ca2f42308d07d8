"""Environments: PettingZoo's and Gymnasium's own checks, and what they do not check."""

from __future__ import annotations

import warnings
from random import Random

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from equipoise import environment
from equipoise.agents.agent import Agent
from equipoise.agents.simple import RandomAgent
from equipoise.arena.match import play_match
from equipoise.environment.choices import Choices
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import DealtCards, deck_of
from equipoise.games.hand import Hand
from equipoise.games.rules import NOLIMIT_HOLDEM, State


@pytest.mark.parametrize("game", environment.GAMES)
def test_pettingzoo_and_gymnasium_are_content(game):
    with warnings.catch_warnings():
        # They warn of observations that are dictionaries, and yet ask for masks in them.
        warnings.simplefilter("ignore")
        api_test(environment.env(game), num_cycles=100)
        seed_test(lambda: environment.env(game), num_cycles=40)
        check_env(environment.env(game, opponent="random"))


def _play(table, random):
    """Play a hand at random; every observation on the way, by player."""
    seen = []
    while not any(table.terminations.values()):
        for player in table.possible_agents:
            seen.append((player, table.observe(player)))
        mask = table.observe(table.agent_selection)["action_mask"]
        table.step(int(random.choice(np.flatnonzero(mask).tolist())))
    return seen


@pytest.mark.parametrize("game", environment.GAMES)
def test_no_private_card_of_the_other_seat_is_seen(game):
    table = environment.raw_env(game)
    for seed in range(40):
        table.reset(seed=seed)
        deal, rules = table.hand.deal, table.rules
        mine = seed % 2
        player = f"player_{mine}"
        first = [obs for who, obs in _play(table, Random(seed)) if who == player]
        # The same hand, with other cards for the opponent.
        free = sorted(set(deck_of(rules)) - {*deal.holes[mine], *deal.boards[-1]})
        swapped = tuple(Random(seed).sample(free, rules.hole_cards))
        holes = (deal.holes[0], swapped) if mine == 0 else (swapped, deal.holes[1])
        table.reset(seed=seed)
        other = DealtCards.of(rules, holes, deal.boards[-1])
        table._hand = Hand(State.start(rules), other, 0)
        table._encoding.begin(table._hand)
        second = [obs for who, obs in _play(table, Random(seed)) if who == player]
        assert len(first) == len(second)
        for one, two in zip(first, second, strict=True):
            assert np.array_equal(one["observation"], two["observation"])
            assert np.array_equal(one["action_mask"], two["action_mask"])


def test_masks_allow_what_the_rules_allow_and_rewards_sum_to_zero():
    random, table = Random(5), environment.raw_env("nolimit", actions="50%,100%,2e,300c,a")
    for number in range(200):
        table.reset(seed=5 if number == 0 else None)
        while not any(table.terminations.values()):
            state = table.hand.state
            mask = table.observe(table.agent_selection)["action_mask"]
            actions = [table.choices.action(state, i) for i in range(table.choices.count)]
            assert [action is not None for action in actions] == mask.astype(bool).tolist()
            allowed = [action for action in actions if action is not None]
            assert len(set(allowed)) == len(allowed)
            assert all(state.can(action) for action in allowed)
            table.step(int(random.choice(np.flatnonzero(mask).tolist())))
        assert sum(table.rewards.values()) == 0
        assert table.rewards["player_0"] == table.hand.payoffs()[0] / 100


def test_amounts_may_be_named_chip_by_chip():
    choices, state = Choices(NOLIMIT_HOLDEM, "chips"), State.start(NOLIMIT_HOLDEM)
    mask = choices.mask(state)
    assert np.flatnonzero(mask).tolist() == [0, 1, *range(200, 20_001)]
    assert str(choices.action(state, 317)) == "r317"
    assert choices.action(state, 199) is None


def test_a_forbidden_action_is_a_fault_and_the_hand_goes_on():
    table = environment.raw_env("nolimit")
    table.reset(seed=1)
    table.step(1)
    table.step(0)  # the big blind folds where checking is free
    assert "not allowed" in table.infos["player_0"]["fault"]
    assert table.hand.state.betting_text() == "cc/"


class _Sizes(Agent):
    """Plays as a rollout of the environment does, from the same draws."""

    def __init__(self, choices, draws):
        super().__init__()
        self.choices, self.draws = choices, draws

    def act(self, view):
        allowed = np.flatnonzero(self.choices.mask(view.state)).tolist()
        return self.choices.action(view.state, self.draws.choice(allowed))


def test_a_seat_plays_the_hands_of_the_match_with_the_same_seed():
    seat = environment.env("nolimit", opponent=RandomAgent())
    draws, won = Random(9), []
    for number in range(60):
        seen, info = seat.reset(seed=11 if number == 0 else None)
        assert (info["hand"], info["position"]) == (number, number % 2)
        over = False
        while not over:
            allowed = np.flatnonzero(seen["action_mask"]).tolist()
            seen, reward, over, _, _ = seat.step(draws.choice(allowed) if allowed else 0)
        won.append(reward)
    match = play_match(_Sizes(seat.choices, Random(9)), "random", hands=60, seed=11)
    assert won == (match.payoffs / 100).tolist()


def test_what_cannot_be_is_refused():
    with pytest.raises(EquipoiseError, match="did you mean 'nolimit'"):
        environment.env("nolimt")
    with pytest.raises(EquipoiseError, match="name an opponent"):
        environment.env("nolimit", seat=1)
    with pytest.raises(EquipoiseError, match="'3x'"):
        environment.env("nolimit", actions="3x")
    with pytest.raises(EquipoiseError, match="stack is for"):
        environment.env("kuhn", stack=3)

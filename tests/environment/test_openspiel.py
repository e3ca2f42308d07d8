"""OpenSpiel both ways: its exploitability of our strategies, its policies, our agents as its bots."""

from __future__ import annotations

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import cfr, exploitability  # noqa: E402
from open_spiel.python.policy import UniformRandomPolicy  # noqa: E402

from equipoise.agents.registry import AgentSpec  # noqa: E402
from equipoise.agents.strategyagent import StrategyAgent  # noqa: E402
from equipoise.arena.match import play_match  # noqa: E402
from equipoise.environment.openspiel import (  # noqa: E402
    bot,
    followed,
    policy_of,
    strategy_of,
    universal_poker,
)
from equipoise.errors import GameError  # noqa: E402
from equipoise.games.catalogue import kuhn, leduc  # noqa: E402
from equipoise.games.dealing import SeededDeals  # noqa: E402
from equipoise.games.hand import Hand, hand_seed  # noqa: E402
from equipoise.games.rules import NOLIMIT_HOLDEM, State  # noqa: E402
from equipoise.run import Limit  # noqa: E402
from equipoise.solve.registry import make_solver  # noqa: E402
from equipoise.solve.strategies.tabular import TabularStrategy  # noqa: E402


def _judged(strategy):
    policy = policy_of(strategy)
    return exploitability.exploitability(policy.game, policy)


@pytest.mark.parametrize("game", [kuhn, leduc])
def test_openspiel_judges_our_strategies_as_we_do(game):
    solver = make_solver("dcfr", game())
    solver.run(Limit(iterations=50))
    for strategy in (TabularStrategy.uniform(game()), solver.average_strategy()):
        assert abs(_judged(strategy) - strategy.exploitability()) < 1e-9


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_policies_come_and_go_unchanged(name):
    solver = cfr.CFRSolver(pyspiel.load_game(name))
    for _ in range(3):
        solver.evaluate_and_update_policy()
    theirs = solver.average_policy()
    ours = strategy_of(theirs)
    gap = exploitability.exploitability(pyspiel.load_game(name), theirs) - ours.exploitability()
    assert abs(gap) < 1e-9
    back = policy_of(ours)
    for key, row in theirs.state_lookup.items():
        mine = back.action_probability_array[back.state_lookup[key]]
        assert np.allclose(mine, theirs.action_probability_array[row], atol=1e-12)


def test_a_policy_of_theirs_is_an_opponent_of_ours():
    uniform = strategy_of(UniformRandomPolicy(pyspiel.load_game("leduc_poker")))
    rules = leduc().betting.rules
    match = play_match(StrategyAgent(uniform), "call", rules, hands=2000, seed=3)
    assert not match.faults
    assert match.payoffs.any()


def test_other_games_are_refused():
    with pytest.raises(GameError, match="kuhn_poker and leduc_poker"):
        strategy_of(UniformRandomPolicy(pyspiel.load_game("tic_tac_toe")))


def test_a_thousand_hands_on_universal_poker_pay_the_same():
    game = universal_poker(NOLIMIT_HOLDEM)
    deals = SeededDeals(NOLIMIT_HOLDEM, 21)
    names = ("quick", "odd-sizes")
    bots = [
        bot(AgentSpec.read(name).make(), seat, NOLIMIT_HOLDEM, seed=21)
        for seat, name in enumerate(names)
    ]
    agents = [AgentSpec.read(name).make() for name in names]
    for seat, agent in enumerate(agents):
        agent.reset(2 * 21 + seat)
    for number in range(1000):
        deal = deals.deal(number)
        cards = [*deal.holes[0], *deal.holes[1], *deal.boards[-1]]
        state = game.new_initial_state()
        for one in bots:
            one.restart()
        while not state.is_terminal():
            player = state.current_player()
            state.apply_action(cards.pop(0) if player < 0 else bots[player].step(state))
        hand = Hand(State.start(NOLIMIT_HOLDEM), deal, number)
        for seat, agent in enumerate(agents):
            agent.random.seed(hand_seed(21, number, seat))
            agent.begin(number, seat)
        while hand.state.to_act is not None:
            hand.play(agents[hand.state.to_act].act(hand.view()))
        assert followed(NOLIMIT_HOLDEM, state).state.history == hand.state.history
        assert tuple(state.returns()) == hand.payoffs()

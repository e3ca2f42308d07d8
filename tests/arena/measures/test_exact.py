"""Exact values of agents against each other: the solver's figures, and what matches converge to."""

import numpy as np
import pytest
from chartagent import ChartAgent

from equipoise.agents.simple import AllInAgent, CallAgent, FoldAgent, RandomAgent
from equipoise.agents.strategyagent import StrategyAgent
from equipoise.arena.match import play_match
from equipoise.arena.measures.exact import exact_match, exact_value
from equipoise.cards.combos import combo_index, hand_number
from equipoise.errors import EquipoiseError, GameError, TooLargeError
from equipoise.games import catalogue
from equipoise.games.hand import View
from equipoise.games.policy import PublicState
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, State, raise_to
from equipoise.run import Limit
from equipoise.solve.solvers.cfr import CFR
from equipoise.solve.strategies.bestresponse import value_of
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau


def solved(game, iterations=10):
    solver = CFR(game)
    solver.run(Limit(iterations, None, None))
    return solver.average_strategy()


def plan(strategy):
    """Rows of a strategy as behaviour probabilities."""
    rows = np.zeros(strategy.index.size)
    for board, node in strategy.index.decisions():
        strategy.index.block(rows, board, node)[:] = strategy.rows(node, board)
    return rows


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("kuhn", {}),
        ("leduc", {}),
        ("leduc", {"suits": True}),
        ("leduc-nolimit", {"stack": 5}),
        ("holdem-small", {"size": "limit"}),
        ("holdem-small", {"size": "short", "suits": 3, "ranks": 3, "menu": "a"}),
    ],
)
def test_a_strategy_at_the_table_is_worth_what_the_solver_says(name, parameters):
    game = catalogue.game(name, **parameters)
    strategy = solved(game)
    agent = StrategyAgent(strategy)
    expected = value_of(Tableau(game), plan(strategy).astype(Tableau(game).dtype))
    assert exact_value(agent, agent, game.betting.rules) == pytest.approx(expected, abs=2e-6)


def test_an_equilibrium_of_kuhn_poker_loses_an_eighteenth_from_the_first_seat():
    game = catalogue.game("kuhn")
    agent = StrategyAgent(solved(game, 3000))
    assert exact_value(agent, agent, game.betting.rules) == pytest.approx(-1 / 18, abs=1e-3)
    assert exact_match(agent, agent, game.betting.rules).mbb_per_hand == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_matches_agree_with_the_exact_value(name):
    game = catalogue.game(name)
    rules = game.betting.rules
    agent, random = StrategyAgent(solved(game, 30)), RandomAgent()
    exact = exact_match(agent, random, rules)
    match = play_match(agent, random, rules, hands=8000, seed=2)
    assert not match.faults
    assert abs(match.mbb_per_hand - exact.mbb_per_hand) < 1.5 * match.ci95_mbb
    assert match.ci95_mbb < 0.3 * exact.mbb_per_hand


def test_pure_agents_by_hand():
    rules = catalogue.game("leduc").betting.rules
    assert exact_match(FoldAgent(), AllInAgent(), rules).chips == (-1, -1)
    assert exact_value(CallAgent(), CallAgent(), rules) == pytest.approx(0, abs=1e-12)
    assert exact_match(FoldAgent(), CallAgent(), rules).chips == pytest.approx((0, 0), abs=1e-12)


def test_swapping_the_agents_negates_the_value():
    rules = catalogue.game("leduc").betting.rules
    a, b = ChartAgent(rules, 1), ChartAgent(rules, 2)
    assert exact_match(a, b, rules).mbb_per_hand == pytest.approx(
        -exact_match(b, a, rules).mbb_per_hand, abs=1e-9
    )
    assert exact_match(a, b, rules).chips[0] == -exact_match(b, a, rules).chips[1]


def test_what_cannot_be_exact_is_refused():
    with pytest.raises(TooLargeError, match="play a match"):
        exact_value(CallAgent(), CallAgent(), LIMIT_HOLDEM)
    rules = catalogue.game("leduc").betting.rules
    with pytest.raises(EquipoiseError, match="no known policy"):
        exact_value(CallAgent(), ChartAgent(rules, 1, secret=lambda state: True), rules)


# The agent


def test_hands_are_numbered_as_everywhere():
    assert hand_number((17, 40)) == hand_number((40, 17)) == combo_index(17, 40)


def test_suits_of_the_table_are_renamed_into_those_of_the_game():
    game = catalogue.game("holdem-small", size="limit")
    agent = StrategyAgent(solved(game))
    state = State.from_betting_text(game.betting.rules, "cc/")

    def row(board, hole):
        return agent.policy(PublicState(state, board, 0)).probabilities[hand_number(hole)]

    # Suits 2 and 3 exchanged: ace of spades with the queen of hearts, and the other way round.
    assert row((45 + 2,), (51, 42)).tolist() == row((44 + 2,), (50, 43)).tolist()
    assert row((45 + 2,), (51, 42)).sum() == pytest.approx(1)
    assert not row((51,), (51, 42)).any()


def test_other_rules_and_bets_off_the_menu_are_refused():
    game = catalogue.game("leduc-nolimit", stack=12, menu="100%")
    agent = StrategyAgent(TabularStrategy.uniform(game))
    with pytest.raises(GameError, match="rules of that game"):
        agent.policy(PublicState(State.start(NOLIMIT_HOLDEM), (), 0))
    off = State.start(game.betting.rules).apply(raise_to(12))
    with pytest.raises(GameError, match="lacks a bet"):
        agent.act(View(off, 1, (51,), (), 0))


@pytest.mark.parametrize("name", ["clairvoyance", "jamfold"])
def test_games_without_a_deck_cannot_be_played(name):
    game = catalogue.game(name)
    agent = StrategyAgent(TabularStrategy.uniform(game))
    with pytest.raises(GameError, match="card by card"):
        agent.policy(PublicState(State.start(game.betting.rules), (), 0))

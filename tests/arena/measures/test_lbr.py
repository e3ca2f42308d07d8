"""Local best response: never above the exact one, and right where the answer is known by hand."""

import numpy as np
import pytest
from chartagent import ChartAgent

from equipoise.agents.registry import make_agent
from equipoise.agents.simple import CallAgent, FoldAgent
from equipoise.agents.strategyagent import StrategyAgent
from equipoise.arena.measures.exact import exact_match, exact_value
from equipoise.arena.measures.lbr import LocalBestResponse, local_best_response
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CLASS, parse_combo
from equipoise.errors import EquipoiseError
from equipoise.games import catalogue
from equipoise.games.hand import View
from equipoise.games.policy import PublicState
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    State,
    nolimit,
    raise_to,
)
from equipoise.run import Limit
from equipoise.solve.solvers.cfr import CFR
from equipoise.solve.strategies.bestresponse import response_value
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau

# Small games, exactly


def leduc_strategies():
    game = catalogue.game("leduc")
    yield TabularStrategy.uniform(game)
    for iterations in (2, 5, 300):
        solver = CFR(game)
        solver.run(Limit(iterations, None, None))
        yield solver.average_strategy()
    random = np.random.default_rng(4)
    for _ in range(3):
        yield TabularStrategy(game, random.random(TabularStrategy.uniform(game).index.size) ** 4)


@pytest.mark.parametrize("menu", ["fc", "fcpa", "56", "c,fcpa"])
def test_on_leduc_it_never_wins_more_than_the_best_response(menu):
    best_of = []
    for strategy in leduc_strategies():
        game = strategy.game
        rules, tableau = game.betting.rules, Tableau(game)
        rows = tableau.rows()
        for board, node in strategy.index.decisions():
            strategy.index.block(rows, board, node)[:] = strategy.rows(node, board)
        target = StrategyAgent(strategy)
        response = LocalBestResponse(target, rules, menu)
        local = (exact_value(response, target, rules), -exact_value(target, response, rules))
        best = [response_value(tableau, player, rows) for player in (0, 1)]
        assert local[0] <= best[0] + 1e-6
        assert local[1] <= best[1] + 1e-6
        best_of.append(sum(local) / sum(best))
    # Against the uniform strategy one step is nearly enough.
    assert best_of[0] > {"fc": 0.15, "c,fcpa": 0.5}.get(menu, 0.85)


def test_the_exact_value_is_what_matches_converge_to():
    rules = catalogue.game("leduc").betting.rules
    target = ChartAgent(rules, 5)
    exact = exact_match(LocalBestResponse(target, rules), target, rules).mbb_per_hand
    played = local_best_response(target, rules, 3000, seed=1)
    assert abs(played.match.mbb_per_hand - exact) < 1.5 * played.match.ci95_mbb
    luckless = local_best_response(target, rules, 400, seed=2, without_luck=True).without_luck
    assert luckless is not None
    assert abs(luckless.estimate.mean - exact) < 1.5 * luckless.estimate.half_width
    assert luckless.reduction > 0.3


# Hold'em


def test_folding_is_beaten_for_the_blinds():
    for rules in (NOLIMIT_HOLDEM, LIMIT_HOLDEM):
        result = local_best_response("fold", rules, 40, "fcpa")
        assert result.match.mbb_per_hand == 750
        assert result.match.ci95_mbb == 0


def test_a_calling_station_is_bet_into():
    result = local_best_response("call", nolimit(1000, 50, 100), 160, "fcpa", seed=3)
    assert result.match.estimate.interval[0] > 0
    passive = local_best_response("call", nolimit(1000, 50, 100), 160, "fc", seed=3)
    assert passive.match.mbb_per_hand < result.match.mbb_per_hand


def test_the_range_is_the_product_of_the_policy():
    rules = nolimit(600, 50, 100)
    target = ChartAgent(rules, 1, key=COMBO_CLASS.astype(np.int64), sizes=(0.0, 1.0))
    response = LocalBestResponse(target, rules)
    board = parse_cards("Kh 7d 2c")
    state = State.from_betting_text(rules, "cr200c/cr300")
    held = response.range(state, board, 7).weights
    expected = 1.0
    hand = parse_combo("AsQd")
    now = State.start(rules)
    for text, seen in (("c", ()), ("r200", ()), ("c", ()), ("c", board), ("r300", board)):
        action = now.read_action(text)
        if now.to_act == 1 - state.to_act:
            policy = target.policy(PublicState(now, seen, 7))
            expected *= policy.probabilities[hand, policy.actions.index(action)]
        now = now.apply(action)
    assert held[hand] == pytest.approx(expected)
    assert held[parse_combo("Kh3s")] == 0


def test_one_step_on_the_river_by_hand():
    # The target folds to every bet, so betting wins the pot at once with any hand.
    bluff = LocalBestResponse(FoldAgent(), NOLIMIT_HOLDEM, "fcpa")
    state = State.from_betting_text(NOLIMIT_HOLDEM, "cc/cc/cc/c")
    board = parse_cards("Kh 7d 2c 9s 3s")
    public, facing = PublicState(state, board, 0), bluff.range(state, board, 0)
    nothing, nuts = parse_combo("5c4c"), parse_combo("KcKd")
    worth = bluff.values(nothing, public, facing)
    assert worth[raise_to(300)] == pytest.approx(100)
    assert worth[CALL] < 0
    # A calling station is bet into with the best hand, all-in, and never with the worst.
    value = LocalBestResponse(CallAgent(), NOLIMIT_HOLDEM, "fcpa")
    worth = value.values(nuts, public, facing)
    assert max(worth, key=worth.get) == raise_to(20000)
    assert worth[raise_to(20000)] == pytest.approx(20000)
    worth = value.values(nothing, public, facing)
    assert max(worth, key=worth.get) == CALL
    assert bluff.act(View(state, 1, parse_cards("5c4c"), board, 0)) == raise_to(300)
    assert value.act(View(state, 1, parse_cards("5c4c"), board, 0)) == CALL


def test_a_responder_that_may_not_fold_never_does():
    rules = nolimit(1000, 50, 100)
    jams = local_best_response("all-in", rules, 40, "c", seed=2).match
    assert not jams.faults
    state = State.from_betting_text(rules, "r1000")
    calls, folds = (LocalBestResponse(make_agent("all-in"), rules, menu) for menu in ("c", "fc"))
    view = View(state, 0, parse_cards("7c2d"), (), 0)
    assert (calls.act(view), folds.act(view)) == (CALL, FOLD)


def test_an_agent_without_a_policy_is_refused():
    with pytest.raises(EquipoiseError, match="does not say its policy"):
        local_best_response("random", NOLIMIT_HOLDEM, 10)
    with pytest.raises(EquipoiseError, match="no menu 'fp'"):
        local_best_response("call", NOLIMIT_HOLDEM, 10, "fp")
    later = ChartAgent(LIMIT_HOLDEM, 1, secret=lambda state: state.round > 0)
    with pytest.raises(EquipoiseError, match=r"failed in hand .* policy"):
        local_best_response(later, LIMIT_HOLDEM, 40)

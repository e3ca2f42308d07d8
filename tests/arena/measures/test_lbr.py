"""Local best response: never above the exact one, and right where the answer is known by hand."""

from itertools import permutations

import numpy as np
import pytest
from chartagent import ChartAgent

from equipoise.agents.registry import make_agent
from equipoise.agents.simple import CallAgent, FoldAgent
from equipoise.agents.strategyagent import StrategyAgent
from equipoise.arena.match import play_match
from equipoise.arena.measures import imagined
from equipoise.arena.measures.exact import exact_match, exact_value
from equipoise.arena.measures.lbr import LocalBestResponse, local_best_response
from equipoise.arena.statistics import paired_difference
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


def test_the_exact_value_is_what_scores_converge_to():
    rules = catalogue.game("leduc").betting.rules
    target = ChartAgent(rules, 5)
    exact = exact_match(LocalBestResponse(target, rules), target, rules).mbb_per_hand
    played = local_best_response(target, rules, 3000, seed=1)
    assert abs(played.match.mbb_per_hand - exact) < 1.5 * played.match.ci95_mbb


class Choices:
    """Draws as they are told, then the first of each, and what was drawn."""

    def __init__(self, told):
        self.told, self.met = told, []

    def __call__(self, weights):
        done = len(self.met)
        chosen = self.told[done] if done < len(self.told) else 0
        self.met.append((chosen, len(weights), weights[chosen] / sum(weights)))
        return chosen


def over_all_draws(play):
    """The mean of play(draw) over everything that may be drawn, and the most draws there were."""
    mean, most, told = 0.0, 0, []
    while True:
        draw = Choices(told)
        value, met = play(draw), draw.met
        mean += value * float(np.prod([chance for _, _, chance in met]))
        most = max(most, len(met))
        while met and met[-1][0] + 1 == met[-1][1]:
            met.pop()
        if not met:
            return mean, most
        told = [chosen for chosen, _, _ in met]
        told[-1] += 1


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("share", [0.0, 0.3, 2.0])
def test_imagined_hands_are_worth_on_average_exactly_what_is_played(position, share, monkeypatch):
    # Over all private cards of the responder, all boards and all draws.
    monkeypatch.setattr(imagined, "_OWN_PATH", share)
    rules = catalogue.game("leduc").betting.rules
    target = ChartAgent(rules, 8)
    response = LocalBestResponse(target, rules)
    seats = (response, target) if position == 0 else (target, response)
    exact = exact_value(*seats, rules) * (1 if position == 0 else -1)
    means = []
    for hole, card in permutations(response.checkdown.deck, 2):
        boards = ((), (card,))

        def play(draw, hole=hole, boards=boards):
            hand = imagined.ImaginedHand(response.checkdown, position, hole, 0, boards, draw)
            return hand.value(response.respond, response.ask)

        mean, draws = over_all_draws(play)
        assert {0.0: draws == 0, 2.0: draws > 0}.get(share, True)
        means.append(mean)
    assert np.mean(means) == pytest.approx(exact, abs=1e-9)


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


def test_scores_agree_with_a_match_and_have_less_luck():
    # Before the flop the chart goes by classes, after it by hands; both are noise, as tests want.
    rules = nolimit(1000, 50, 100)
    target = ChartAgent(rules, 2, sizes=(0.0, 0.4))
    scored = local_best_response(target, rules, 400, "fcpa", seed=5).match.estimate
    response = LocalBestResponse(target, rules, "fcpa")
    played = play_match(response, target, rules, 400, seed=5, allin_equity=True).estimate
    error = np.hypot(scored.standard_error, played.standard_error)
    assert abs(scored.mean - played.mean) < 5 * error
    assert scored.half_width < 0.6 * played.half_width


def test_two_agents_are_compared_on_the_same_deals():
    rules = nolimit(1000, 50, 100)
    both = local_best_response("call", rules, 40, "fcpa", seed=3, against="fold")
    call, fold = (
        local_best_response(name, rules, 40, "fcpa", seed=3).match for name in ("call", "fold")
    )
    assert both.match.payoffs.tolist() == call.payoffs.tolist()
    assert both.other.match.payoffs.tolist() == fold.payoffs.tolist()
    more = paired_difference(call.samples_mbb, fold.samples_mbb)
    told = both.to_dict()
    assert told["difference_mbb"] == more.mean == pytest.approx(call.mbb_per_hand - 750)
    assert told["difference_ci95_mbb"] == more.half_width
    assert (told["against"], told["against_mbb_per_hand"]) == ("fold", 750)
    same = local_best_response("call", rules, 40, "fcpa", seed=3, against="call").difference
    assert (same.mean, same.half_width) == (0, 0)


def test_the_score_is_the_same_for_any_number_of_workers():
    rules = nolimit(1000, 50, 100)
    scored = [
        local_best_response("call", rules, 140, "fcpa", seed=3, workers=workers).match.payoffs
        for workers in (1, 2)
    ]
    assert scored[0].tolist() == scored[1].tolist()


def test_an_agent_without_a_policy_is_refused():
    with pytest.raises(EquipoiseError, match="does not say its policy"):
        local_best_response("random", NOLIMIT_HOLDEM, 10)
    with pytest.raises(EquipoiseError, match="no menu 'fp'"):
        local_best_response("call", NOLIMIT_HOLDEM, 10, "fp")
    later = ChartAgent(LIMIT_HOLDEM, 1, secret=lambda state: state.round > 0)
    with pytest.raises(EquipoiseError, match=r"failed in hand .* policy"):
        local_best_response(later, LIMIT_HOLDEM, 40)

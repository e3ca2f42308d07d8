"""The adaptive agent: its arithmetic, its beliefs, what it learns and keeps, and that it plays."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from equipoise.agents.adaptive import memory as remembering
from equipoise.agents.adaptive.beliefs import Beliefs, MatrixRecursion, RangeRecursion
from equipoise.agents.adaptive.decisions import Decisions, PlayedHand, size_class, steps
from equipoise.agents.adaptive.expectimax import Expectimax, golden_section, payoff
from equipoise.agents.adaptive.features import FEATURES, extended
from equipoise.agents.adaptive.fitting import fit_actions, fit_players, grouped
from equipoise.agents.adaptive.memory import Memory
from equipoise.agents.adaptive.model import PlayerModel, shipped
from equipoise.agents.adaptive.opponent import Opponent
from equipoise.agents.adaptive.situation import Situation, hand_on, hands_on, situation
from equipoise.agents.adaptive.sizes import class_chances, log_density
from equipoise.agents.adaptive.softmax import ascend, fit, gradient, log_probabilities
from equipoise.agents.adaptive.twostep import TwoStep, beginnings, fit_two_step
from equipoise.agents.registry import make_agent
from equipoise.arena.match import play_match
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, blocked, combo_index, parse_combo
from equipoise.cards.strength import potential, river_equities
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.games.checkdown import CheckDown
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    Kind,
    State,
    nolimit,
    raise_to,
)  # fmt: skip

FLOP = parse_cards("Td9d6h")
GAME = CheckDown(NOLIMIT_HOLDEM)


def at(betting: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, betting)


# ------------------------------------------------------------------------------- the payoff


def test_the_literal_payoff_counts_its_own_raise_as_won():
    assert payoff(200, 300, 0.3, 0.55, literal=True) == 273.5
    assert payoff(200, 300, 0.3, 0.55) == 158
    for r in (100, 300, 1000):
        gap = payoff(200, r, 0.3, 0.55, literal=True) - payoff(200, r, 0.3, 0.55)
        assert gap == pytest.approx(0.7 * 0.55 * r)
    literal = [payoff(200, r, 0.2, 0.4, literal=True) for r in (100, 1000)]
    right = [payoff(200, r, 0.2, 0.4) for r in (100, 1000)]
    assert (literal, right) == ([120, 264], [88, -56])


def test_golden_section_finds_a_peak():
    assert golden_section(lambda x: -abs(x - 1.3), 0, 4, 40) == pytest.approx(1.3, abs=1e-6)


# ------------------------------------------------------------------------------- the estimator


def test_the_literal_gradient_is_that_of_the_probability():
    chances = np.array([0.2, 0.5, 0.3])
    step = gradient(np.ones(1), chances, 2, literal=True)[0]
    assert np.allclose(step, [-0.06, -0.15])
    assert np.allclose(gradient(np.ones(1), chances, 2, literal=False)[0], [-0.2, -0.5])
    # 70 to 30 at P = .7: the likelihood rests, the probability goes on to certainty.
    pulls = [
        sum(gradient(np.ones(1), np.array([0.7, 0.3]), k, literal=literal)[0, 0] * share
            for k, share in ((0, 0.7), (1, 0.3)))
        for literal in (True, False)
    ]  # fmt: skip
    assert np.allclose(pulls, [0.084, 0])


def test_newton_finds_where_the_gradient_vanishes():
    random = np.random.default_rng(3)
    x = np.concatenate([np.ones((400, 1)), random.normal(size=(400, 3))], axis=1)
    truth = np.array([[0.3, -0.5], [1.0, 0.2], [-0.4, 0.8], [0.0, 0.5]])
    open_ = np.ones((400, 3), dtype=bool)
    open_[:40, 0] = False
    chances = np.exp(log_probabilities(x, truth, open_))
    chosen = np.array([random.choice(3, p=row) for row in chances])
    theta = fit(x, chosen, open_, 0.5)
    logs = np.exp(log_probabilities(x, theta, open_))
    slope = x.T @ (np.eye(3)[chosen] - logs)[:, :2]
    assert np.allclose(slope[1:], 0.5 * theta[1:], atol=0.05)
    assert abs(slope[0]).max() < 0.05
    # One pass of small steps goes the same way.
    once = ascend(x, chosen, open_, np.arange(400), rate=0.01)
    assert np.corrcoef(once.ravel(), theta.ravel())[0, 1] > 0.8


# ------------------------------------------------------------------------------- situations


@pytest.mark.parametrize("text", ["", "Td9d6h", "Td9d6hQc", "Td9d6hQc2s"])
def test_one_hand_and_all_hands_agree_with_counting(text):
    board = parse_cards(text)
    for name in ("AsAh", "8c7c", "KdJd"):
        hole = parse_cards(name)
        one = hand_on(hole, board)
        assert np.allclose(hands_on(board)[combo_index(*hole)], one, atol=1e-7)
        if board:
            found = potential(hole, board)
            assert one[0] == pytest.approx(found.equity, abs=3e-5)
            assert one[1] == pytest.approx(found.strength, abs=1e-12)
            equities, chances = river_equities(hole, board)
            spread = np.sqrt(max(0, (equities**2) @ chances - (equities @ chances) ** 2))
            assert one[2] == pytest.approx(spread, abs=1e-4)
    assert (hands_on(board)[blocked(board)] == 0).all()


def test_who_raised_last():
    assert situation(at("r300r900c/")).facts[4:6] == (1.0, 0.0)
    assert situation(at("r300r900c/c")).facts[4:6] == (0.0, 1.0)
    assert situation(at("cc/cc/")).facts[4:6] == (0.0, 0.0)
    assert situation(at("cc/r300c/c")).facts[3:6] == (1.0, 0.0, 1.0)


def test_sizes_and_their_classes():
    state = at("r300c/")
    sizes = [300 + share for share in (100, 200, 300, 390, 450, 600, 900, 1200, 1800, 19700)]
    assert [size_class(state, raise_to(size)) for size in sizes] == list(range(10))


# ------------------------------------------------------------------------------- fitting


@pytest.fixture(scope="module")
def fixture():
    from equipoise.arena.histories.played import read_decisions, shipped_log

    with shipped_log() as path:
        return read_decisions([path])


@pytest.fixture(scope="module")
def halves(fixture):
    early = fixture.hand < 500
    return fixture.where(early), fixture.where(~early)


def mean_log(model, decisions, group):
    return model.logs(decisions, group)[np.arange(len(decisions)), decisions.kind].mean()


def test_more_features_predict_better(halves):
    early, late = halves
    group, later = (np.zeros(len(part), dtype=np.int64) for part in halves)
    found = {name: mean_log(fit_actions(early, group, FEATURES[name]), late, later)
             for name in ("cardless", "seed", "context")}  # fmt: skip
    assert found["cardless"] < found["seed"] < found["context"] < -0.5
    literal = fit_actions(early, group, FEATURES["seed"], estimator="literal")
    proper = fit_actions(early, group, FEATURES["seed"], estimator="ascent")
    assert mean_log(literal, late, later) < mean_log(proper, late, later) < found["seed"]


def test_the_model_that_ships_knows_the_hands_of_the_fixture(fixture):
    model = shipped()
    assert model.groups == ("field", "deepstack")
    group = model.groups_of(fixture)
    assert mean_log(model.actions, fixture, group) > -0.52
    expected = np.exp(model.cardless.logs(fixture, group))
    residuals = remembering.running_residuals(fixture, expected)
    with_them = model.actions.logs(fixture, group, residuals)
    assert np.isfinite(with_them[np.arange(len(fixture)), fixture.kind]).all()
    chances = np.exp(with_them)
    assert np.allclose(chances.sum(axis=1), 1)
    assert (chances[~fixture.facing, 0] == 0).all()
    assert np.allclose(chances[~fixture.can_raise, 2], 0)


def test_all_hands_at_once_are_the_same_as_one_by_one():
    model, state = shipped(), at("r300c/cr600")
    found, hole = situation(state), parse_cards("KdJd")
    residuals = np.array([0.1, -0.05, 0.2, 0.0, 0.1, -0.2])
    every = model.actions.chances(found, 0, hands_on(FLOP), {}, residuals)
    hand = PlayedHand(at("r300c/cr600f"), (None, None), FLOP, ("a", "b"))
    rows = Decisions.of([hand._replace(holes=(hole, parse_cards("2c3c")))])
    last = rows.where(np.arange(len(rows)) == len(rows) - 1)
    private = hand_on(hole, FLOP)[None]
    one = Decisions(
        **{**{k: getattr(last, k) for k in last.__dataclass_fields__}, "private": private}
    )
    logs = model.actions.logs(one, np.zeros(1, dtype=np.int64), residuals[None])
    assert np.allclose(np.exp(logs[0]), every[combo_index(*hole)], atol=1e-9)


def test_payoffs_play_as_they_were_fitted(halves):
    early, late = halves
    own, random = np.zeros(len(early), dtype=np.int64), np.random.default_rng(1)
    learnt = random.normal(0, 0.1, (len(early), 6))
    model = fit_actions(early, own, FEATURES["payoff"], learnt)
    few = late.where(late.hand < 505)
    residuals = np.array([0.1, -0.05, 0.2, 0.0, 0.1, -0.2])
    group = np.zeros(len(few), dtype=np.int64)
    wanted = np.exp(model.logs(few, group, np.tile(residuals, (len(few), 1))))
    for row in range(len(few)):
        facts = int(few.street[row]), bool(few.facing[row]), bool(few.can_raise[row])
        found = Situation(*facts, tuple(few.facts[row].tolist()))
        one = model.chances(found, 0, few.private[[row]], {}, residuals)
        assert np.allclose(one[0], wanted[row], atol=1e-9)


def test_a_model_is_kept_in_a_file(fixture, tmp_path):
    model = fit_players(fixture.where(fixture.hand < 300), FEATURES["context"])
    model.save(tmp_path / "m", {"hands": 300})
    again = PlayerModel.load(tmp_path / "m")
    group = model.groups_of(fixture)
    assert mean_log(again.actions, fixture, group) == mean_log(model.actions, fixture, group)
    data = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(data[:-9] + b"x" + data[-8:])
    with pytest.raises(ArtefactError, match="damaged"):
        PlayerModel.load(tmp_path / "m")
    hidden = fixture.where(fixture.hand < 300)
    hidden.private[:] = np.nan
    with pytest.raises(EquipoiseError, match="known cards"):
        fit_players(hidden)


def test_large_parts_are_groups_of_their_own(fixture, monkeypatch):
    from equipoise.agents.adaptive import fitting

    monkeypatch.setattr(fitting, "OWN_DECISIONS", 500)
    names, group = grouped(fixture)
    assert names == ("field", "deepstack")
    assert (np.array(fixture.players)[fixture.player[group == 1]] == "deepstack").all()


# ------------------------------------------------------------------------------- two steps


def dealt(betting: str, holes: tuple[str, str], board: tuple[int, ...] = ()) -> PlayedHand:
    first, second = (parse_cards(hole) for hole in holes)
    return PlayedHand(at(betting), (first, second), board, ("a", "b"))


@pytest.mark.parametrize("literal", [False, True])
def test_where_nothing_is_believed_yet_two_steps_are_an_ascent(halves, literal):
    start = beginnings(halves[0])
    hands = [dealt("f", ("7h2c", hole)) for hole in ("AsAh", "9c4d", "KdJd")]
    learner = TwoStep(start, rate=0.1, literal=literal)
    for hand in hands:
        learner.learn(hand)
    rows = Decisions.of(hands)
    key = (0, True, 0)
    facts = extended(rows.facts, rows.street, np.zeros(3, dtype=np.int64))
    design = start[key].scale.design(facts, rows.private)
    chosen, open_ = np.array([1, 1, 1]), np.ones((3, 3), dtype=bool)
    slow = ascend(design, chosen, open_, np.arange(3), rate=0.1, literal=literal)
    # Equity against any hand is a table of 65,535 levels.
    assert np.allclose(learner.theta[key], slow, atol=1e-4)
    assert (learner.theta[0, False, 0] == 0).all()


def test_the_second_bet_believes_by_what_the_first_has_taught(halves):
    start = beginnings(halves[0])
    draw = np.random.default_rng(4).normal
    rise = {key: replace(cell, theta=draw(size=cell.theta.shape)) for key, cell in start.items()}
    learner = TwoStep(rise, rate=0.0)
    raised, answered = learner._bets(dealt("r300f", ("AsKd", "QhQc")))
    chances = np.exp(
        log_probabilities(raised.design, learner.theta[0, True, 0], np.ones((1326, 3), bool))
    )
    believed = GAME.equities(chances[:, 0], ())
    scale, hand = rise[0, True, 0].scale, combo_index(*parse_cards("AsKd"))
    rows = Decisions.of([dealt("r300f", ("AsKd", "QhQc"))])
    private = rows.private[1:].copy()
    private[0, 0] = believed[hand]
    facts = extended(rows.facts[1:], rows.street[1:], np.zeros(1, dtype=np.int64))
    assert np.allclose(answered.design[hand], scale.design(facts, private)[0], atol=1e-9)
    assert abs(believed[hand] - rows.private[1, 0]) > 0.005


def test_two_steps_make_a_model_that_plays(tmp_path):
    from equipoise.arena.histories.played import read_hands, shipped_log

    with shipped_log() as path:
        hands = read_hands([path], 12)
    learner = fit_two_step(hands, passes=2, rate=0.01)
    assert learner.mean_log(hands) > TwoStep(beginnings(Decisions.of(hands))).mean_log(hands)
    learner.completed(shipped("seed")).save(tmp_path / "m", {})
    assert PlayerModel.load(tmp_path / "m").actions.features.name == "seed"
    with pytest.raises(EquipoiseError, match="all hole cards"):
        fit_two_step([hand._replace(holes=(None, None)) for hand in hands])


# ------------------------------------------------------------------------------- beliefs


def believer(hole: str, kind=RangeRecursion, board=()):
    opponent = Opponent(shipped())
    beliefs = Beliefs(NOLIMIT_HOLDEM, parse_cards(hole), GAME, opponent,
                      kind(NOLIMIT_HOLDEM, GAME, Opponent(shipped())))  # fmt: skip
    beliefs.see(board)
    return beliefs


def test_p_excludes_our_cards_and_q_does_not():
    beliefs = believer("AsKd", board=FLOP)
    ours = blocked(parse_cards("AsKd"))
    assert (beliefs.p[ours] == 0).all()
    assert (beliefs.recursion.range.weights[ours & ~blocked(FLOP)] > 0).all()
    assert np.count_nonzero(beliefs.p) == 1081
    assert beliefs.p.sum() == pytest.approx(1)


def test_an_action_multiplies_by_its_likelihood():
    beliefs = believer("AsKd")
    before = beliefs.p
    state = at("")
    beliefs.opponent_acts(state, raise_to(300))
    likelihood = Opponent(shipped()).likelihood(state, raise_to(300), ())
    wanted = before * likelihood
    assert np.allclose(beliefs.p, wanted / wanted.sum(), atol=1e-9)
    aces, trash = parse_combo("QhQc"), parse_combo("7h2c")
    assert beliefs.p[aces] / before[aces] > 1 > beliefs.p[trash] / before[trash]
    # A raise makes us less likely to win.
    assert beliefs.win < float(before @ beliefs.win_given_pair)


def test_winning_chances_are_those_of_counting():
    beliefs = believer("AsAh", board=FLOP)
    kings = parse_combo("KsKh")
    assert beliefs.win_given_pair[kings] == pytest.approx(0.8919, abs=1e-4)
    assert beliefs.win == pytest.approx(potential("AsAh", "Td9d6h").equity, abs=1e-9)


def test_one_public_range_serves_all_of_his_hands():
    beliefs = believer("AsKd", board=FLOP)
    beliefs.agent_acts(at("cc/"), raise_to(200))
    weights = beliefs.recursion.range.weights
    winning = beliefs.recursion.winning()
    for name in ("QhQc", "8c7c"):
        hand = parse_combo(name)
        left = weights * ~blocked(tuple(COMBO_CARDS[hand].tolist()))
        slow = 1 - (left @ (1 + GAME.against_hand(hand, FLOP).margin) / 2) / left.sum()
        assert winning[hand] == pytest.approx(slow, abs=1e-9)


def test_a_hand_bets_by_what_it_believes_itself():
    player = Opponent(shipped("seed"))
    beliefs = Beliefs(NOLIMIT_HOLDEM, parse_cards("AsKd"), GAME, player,
                      RangeRecursion(NOLIMIT_HOLDEM, GAME, player))  # fmt: skip
    beliefs.see(FLOP)
    beliefs.opponent_acts(at("cc/"), raise_to(300))
    # His range as all see it holds our cards, and is p where it does not.
    public, ours = beliefs.public.weights, blocked(parse_cards("AsKd"))
    assert (public[ours & ~blocked(FLOP)] > 0).all()
    assert np.allclose(public[~ours], beliefs.range.weights[~ours])
    before = beliefs.recursion.range.weights
    beliefs.agent_acts(at("cc/r300"), raise_to(900))
    winning = GAME.equities(public, FLOP)
    wanted = before * player.likelihood(at("cc/r300"), raise_to(900), FLOP, np.nan_to_num(winning))
    assert np.allclose(beliefs.recursion.range.weights, wanted, atol=1e-12)


def test_the_literal_recursion_differs_from_pair_to_pair():
    river = parse_cards("Td9d6hQc2s")
    beliefs = believer("AsKd", MatrixRecursion, river)
    q = beliefs.recursion
    first, second = parse_combo("8c7c"), parse_combo("5h3h")
    a, b = parse_combo("QhQd"), parse_combo("4s3c")
    q.act(at("cc/cc/cc/"), raise_to(200), None)
    ratios = [q.weights[y, a] / q.weights[y, b] for y in (first, second)]
    # Against the straight both lose; a set beats the lesser hand and three high does not.
    assert ratios[1] > 1.05 * ratios[0]
    assert (q.weights[first][blocked(parse_cards("8c"))] == 0).all()
    assert 0 <= q.winning().min() <= q.winning().max() <= 1


# ------------------------------------------------------------------------------- expectimax


class Fixed(Opponent):
    """Answers every bet alike, whatever the model says."""

    def __init__(self, *chances: float) -> None:
        super().__init__(shipped())
        self.fixed = chances

    def chances(self, found, board, winning=None):
        row = np.array(self.fixed)
        if not found.facing:
            row = np.array([0.0, row[0] + row[1], row[2]])
        if not found.can_raise:
            row = np.array([row[0], 1 - row[0], 0.0])
        return np.tile(row, (1326, 1))


def thinker(opponent, hole, board=(), depth=1, position=1, **more):
    recursion = RangeRecursion(NOLIMIT_HOLDEM, GAME, Opponent(shipped()))
    beliefs = Beliefs(NOLIMIT_HOLDEM, parse_cards(hole), GAME, opponent, recursion)
    beliefs.see(board)
    return Expectimax(beliefs, opponent, position, depth, **more)


def test_against_a_caller_the_best_raise_is_all_in_above_one_half():
    caller = Fixed(0, 1, 0)
    assert thinker(caller, "AsAh").best(at("")).action == raise_to(20000)
    aces = thinker(caller, "AsAh").best(at("")).value
    assert aces == pytest.approx(20000 * (2 * 0.85204 - 1), rel=1e-3)
    assert thinker(caller, "7h2c").best(at("")).action.kind != Kind.RAISE


def test_against_a_folder_any_raise_wins_the_blind():
    folder = Fixed(1, 0, 0)
    for name in ("7h2c", "AsAh"):
        best = thinker(folder, name).best(at(""))
        assert best.action.kind == Kind.RAISE
        assert best.value == pytest.approx(100)


def test_values_are_those_of_the_payoff_formula():
    mixed = Fixed(0.3, 0.7, 0)
    search = thinker(mixed, "KcQd", depth=0)
    win = search._beliefs.win
    found = {one.action: one.value for one in search.choices(at(""))}
    for amount in (200, 20000):
        wanted = payoff(200, amount - 100, 0.3, win) - 100
        assert found[raise_to(amount)] == pytest.approx(wanted)
    assert found[FOLD] == -50
    assert found[CALL] == pytest.approx((2 * win - 1) * 100)
    literal = thinker(mixed, "KcQd", depth=0, payoffs="literal")
    found = {one.action: one.value for one in literal.choices(at(""))}
    assert found[raise_to(200)] == pytest.approx(payoff(200, 100, 0.3, win, literal=True) - 100)


class Choosy(Fixed):
    """Calls with the better half of hands, folds the other."""

    def chances(self, found, board, winning=None):
        call = (hands_on(board)[:, 0] > 0.5).astype(float)
        return np.stack([1 - call, call, 0 * call], axis=1)


def test_those_who_call_are_as_strong_as_callers():
    search = thinker(Choosy(), "KcQd", depth=0)
    value = search._after(at(""), raise_to(20000), search._weights, 0)
    p, win = search._beliefs.p, search._beliefs.win_given_pair
    calls = hands_on(())[:, 0] > 0.5
    slow = sum(
        weight * ((2 * equity - 1) * 20000 if call else 100)
        for weight, equity, call in zip(p, win, calls, strict=True)
    )
    assert value == pytest.approx(slow)
    fold = float(p @ ~calls)
    assert payoff(200, 19900, fold, float(p @ win)) - 100 > value + 500


class ByHand(Fixed):
    """Two hands, each with chances of its own."""

    def __init__(self, rows: dict[int, tuple[float, float, float]]) -> None:
        super().__init__()
        self.rows = rows

    def chances(self, found, board, winning=None):
        table = np.zeros((1326, 3))
        for hand, row in self.rows.items():
            table[hand] = row if found.can_raise else (row[0], 1 - row[0], 0)
        return table


def between_two(rows, wins, depth):
    """A search that believes two hands alike, with given winning chances against each."""
    search = thinker(ByHand(rows), "7h2c", depth=depth)
    search._rows, search._weights = np.array(list(rows)), np.array([0.5, 0.5])
    search._margin = 2 * np.array(wins) - 1
    return search


def test_the_winning_chance_is_that_given_a_call():
    a, b = parse_combo("AsAh"), parse_combo("KsKh")
    search = between_two({a: (0.6, 0.4, 0), b: (0.1, 0.9, 0)}, (0.8, 0.3), 0)
    given_call = (0.4 * 0.8 + 0.9 * 0.3) / 1.3
    assert given_call == pytest.approx(0.4538, abs=1e-4)
    value = search._after(at(""), raise_to(300), search._weights, 0)
    assert value == pytest.approx(payoff(200, 200, 0.35, given_call) - 100)
    assert value < payoff(200, 200, 0.35, 0.55) - 100


def test_his_action_is_a_mixture_over_his_hands():
    def jams(q):
        return 1 / (1 + exp(-10 * (q - 0.7)))

    a, b = parse_combo("AsAh"), parse_combo("KsKh")
    rows = {hand: (1 - jams(q), 0.0, jams(q)) for hand, q in ((a, 0.4), (b, 0.8))}
    search = between_two(rows, (0.0, 0.0), 1)
    # We fold to every raise: chips lost to raises, and the blind won otherwise.
    value = search._after(at(""), raise_to(300), search._weights, 1)
    raised = (100 - value) / 400
    assert raised == pytest.approx(0.3892, abs=1e-4)
    assert jams(0.6) == pytest.approx(0.2689, abs=1e-4)


def test_a_tie_is_half_a_win():
    beliefs = believer("AsKd")
    assert beliefs.win_given_pair[parse_combo("AhKc")] * 200 == pytest.approx(100, abs=1e-3)


def test_after_the_last_raise_the_rest_is_renormalised():
    raiser = Fixed(0.2, 0.5, 0.3)
    calm = Fixed(0.2 / 0.7, 0.5 / 0.7, 0.0)
    shallow, known = (thinker(one, "KcQd", depth=0) for one in (raiser, calm))
    a, b = (one._after(at(""), raise_to(300), one._weights, 0) for one in (shallow, known))
    assert a == pytest.approx(b)


def test_an_opponent_all_in_for_less_is_paid_for_less():
    rules = nolimit(stack=5000)
    state = State.from_betting_text(rules, "r5000")
    recursion = RangeRecursion(rules, GAME, Opponent(shipped()))
    player = Fixed(0, 1, 0)
    beliefs = Beliefs(rules, parse_cards("AsAh"), GAME, player, recursion)
    found = {one.action: one.value for one in Expectimax(beliefs, player, 0).choices(state)}
    assert found[CALL] == pytest.approx(5000 * (2 * beliefs.win - 1))
    assert set(found) == {FOLD, CALL}


# ------------------------------------------------------------------------------- memory


def test_counts_overrule_the_model():
    memory, found = Memory(), situation(at("r300"))
    classes = remembering.rank_classes(np.linspace(0, 1, 1326))
    model = np.tile([0.6, 0.3, 0.1], (1326, 1))
    assert np.allclose(memory.blend(found, model, classes), model)
    even = np.full(11, 1 / 11)
    for _ in range(400):
        memory.count(found, 1, even)
    blended = memory.blend(found, model, classes)
    assert blended[:, 1].min() > 0.95
    # A change of ways is followed.
    for _ in range(900):
        memory.count(found, 0, even)
    assert memory.blend(found, model, classes)[:, 0].min() > 0.6
    assert memory.fine.sum(axis=-1).max() <= remembering.ROW_HORIZON + 1


def test_what_is_not_open_stays_closed():
    memory, found = Memory(), situation(at("r20000"))
    memory.count(found, 1, np.full(11, 5.0))
    memory.fine[..., 2] += 1
    model = np.tile([0.5, 0.5, 0.0], (1326, 1))
    blended = memory.blend(found, model, np.zeros(1326, dtype=np.int64))
    assert (blended[:, 2] == 0).all()
    assert np.allclose(blended.sum(axis=1), 1)


def test_memories_are_kept_by_name_and_damage_is_refused(tmp_path):
    path = tmp_path / "memory"
    memory = Memory(hands=12)
    memory.surprise(0, True, 0, (0.2, 0.5, 0.3))
    remembering.save(path, {"Ann": memory, "Bob": Memory()})
    again = remembering.load(path)
    assert list(again) == ["Ann", "Bob"]
    assert again["Ann"].hands == 12
    assert (again["Ann"].sums == memory.sums).all()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ArtefactError, match="damaged"):
        make_agent("adaptive", memory=str(path))
    path.write_text("something else")
    with pytest.raises(ArtefactError, match="damaged, or not"):
        make_agent("adaptive", memory=str(path))
    for wrong in (np.nan, -1.0, 1e9):
        memory.fine[0, 0, 0, 0, 0] = wrong
        remembering.save(path, {"Ann": memory})
        with pytest.raises(ArtefactError, match="the fine of player 0"):
            make_agent("adaptive", memory=str(path))
    shipped().save(path, {})
    with pytest.raises(ArtefactError, match="holds a player model, not a"):
        make_agent("adaptive", memory=str(path))


def test_a_model_of_another_shape_or_size_is_refused(tmp_path):
    path = tmp_path / "model"
    model = shipped("seed")
    cell = model.actions.cells[0, True, 0]
    for theta in (cell.theta[:-1], cell.theta[:, :1], np.full_like(cell.theta, 1e9)):
        cells = model.actions.cells | {(0, True, 0): replace(cell, theta=theta)}
        replace(model, actions=replace(model.actions, cells=cells)).save(path, {})
        with pytest.raises(ArtefactError, match=r"actions\.0\.1\.0\.theta"):
            make_agent("adaptive", model=str(path))
    model.save(path, {})
    make_agent("adaptive", model=str(path))
    with pytest.raises(EquipoiseError, match="fitted with features = 'seed'"):
        make_agent("adaptive", model=str(path), features="full")


# ------------------------------------------------------------------------------- the agent


def test_it_plays_odd_sizes_without_a_fault_and_learns(tmp_path):
    path = tmp_path / "kept"
    agent = make_agent("adaptive", memory=str(path), opponent="odd")
    result = play_match(agent, "odd-sizes", hands=30, seed=4, allin_equity=True)
    assert not result.faults
    assert np.isfinite(result.payoffs).all()
    assert agent.memory.hands == 30
    agent.reset(0)
    assert agent.memory.hands == 30
    assert remembering.load(path)["odd"].hands == 30
    assert play_match("adaptive", "odd-sizes", nolimit(1000), 10, 4).faults == ()


def test_it_takes_much_from_a_caller():
    result = play_match("adaptive", "call", hands=40, seed=9, allin_equity=True)
    other = play_match("quick", "call", hands=40, seed=9, allin_equity=True)
    assert result.mbb_per_hand > other.mbb_per_hand + 5000


def test_the_same_seed_gives_the_same_match():
    first, again = (play_match("adaptive", "station", hands=12, seed=2) for _ in range(2))
    assert (first.payoffs == again.payoffs).all()


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"depth": 9}, "0 to 4"), ({"payoff": "high"}, "right or literal"),
     ({"recursion": "deep"}, "range or matrix"), ({"model": "nowhere"}, "no such file"),
     ({"features": "sead"}, "seed"), ({"opponent": "x" * 201}, "200 characters")],
)  # fmt: skip
def test_wrong_settings_are_a_sentence(settings, told):
    with pytest.raises(EquipoiseError, match=told):
        make_agent("adaptive", **settings)


def test_the_document_plays_as_it_is_written():
    settings = {"features": "seed", "payoff": "literal", "recursion": "matrix"}
    agent = make_agent("adaptive", **settings)
    assert agent.model.actions.features.name == "seed"
    result = play_match(agent, "call", hands=2, seed=3)
    assert not result.faults
    plain = play_match(make_agent("adaptive", features="seed"), "odd-sizes", hands=6, seed=4)
    assert not plain.faults


def test_limit_is_refused():
    with pytest.raises(EquipoiseError, match="nolimit"):
        make_agent("adaptive", LIMIT_HOLDEM)
    with pytest.raises(EquipoiseError, match="no-limit"):
        Decisions.of([PlayedHand(State.start(LIMIT_HOLDEM), (None, None), (), ("a", "b"))])


def test_a_cut_log_normal_has_mass_one():
    mean, sigma = log(300), 0.45
    edges = np.geomspace(200, 2000, 4001)
    middle = np.sqrt(edges[1:] * edges[:-1])
    density = [exp(log_density(r, mean, sigma, 200, 2000, in_logarithm=False)) for r in middle]
    assert np.dot(density, np.diff(edges)) == pytest.approx(1, abs=1e-5)
    wide = np.geomspace(10, 10_000, 4001)
    at_wide = [exp(log_density(r, mean, sigma, in_logarithm=False)) * r for r in wide[1:]]
    assert np.dot(at_wide, np.diff(wide)) == pytest.approx(331.97, rel=2e-3)
    assert log_density(150, mean, sigma, 200, 2000) == log_density(2000, mean, sigma, 200, 2000)
    for all_in in (None, 0.2):
        assert class_chances(0.1, 0.6, all_in).sum() == pytest.approx(1)
    assert class_chances(0.1, 0.6, 0.2)[-1] == 0.2


def test_every_step_of_a_hand_is_a_state_and_an_action():
    state = at("cr300c/cr600f")
    taken = list(steps(state))
    assert [str(action) for _, action in taken] == ["c", "r300", "c", "c", "r600", "f"]
    assert all(before.can(action) for before, action in taken)

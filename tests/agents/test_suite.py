"""The agents of the suite: what they play, what they learn, and that they keep to the rules."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from equipoise.agents.agent import Agent
from equipoise.agents.registry import make_agent
from equipoise.agents.simple import AllInAgent, CallAgent
from equipoise.agents.suite.bayes import BayesAgent
from equipoise.agents.suite.bucket import STYLES, BucketAgent
from equipoise.agents.suite.practice import practice
from equipoise.agents.suite.qlearner import QLearningAgent
from equipoise.agents.suite.situation import Situations
from equipoise.agents.suite.threeway import moves
from equipoise.agents.suite.votes import VoteAgent, chances
from equipoise.arena.match import play_match
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import blocked, combo_index
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import winner
from equipoise.games.hand import HandResult, View
from equipoise.games.policy import PublicState
from equipoise.games.rules import LIMIT_HOLDEM, ONE_BET_HOLDEM, Kind, State

RULES = ONE_BET_HOLDEM


def suite() -> list[Agent]:
    """One of each, small enough for a test."""
    return [
        BucketAgent(),
        BayesAgent(),
        VoteAgent(RULES, training=60, teacher=20),
        QLearningAgent(RULES, training=60),
        make_agent("regret", RULES),
    ]


@pytest.fixture(scope="module")
def agents() -> list[Agent]:
    return suite()


def test_a_match_has_no_faults(agents: list[Agent]) -> None:
    for number, first in enumerate(agents):
        second = agents[(number + 1) % len(agents)]
        result = play_match(first, second, RULES, hands=60, seed=number, reveal=True)
        assert result.hands == 60
        assert not result.faults


def test_the_same_seed_gives_the_same_match() -> None:
    scores = [play_match(suite()[1], suite()[2], RULES, 40, seed=5).payoffs for _ in range(2)]
    assert np.array_equal(*scores)


@pytest.mark.parametrize("text", ["", "c", "cr", "cc/", "crc/r", "cc/cc/r", "cc/cc/cc/cr"])
def test_play_follows_the_stated_policy(agents: list[Agent], text: str) -> None:
    state = State.from_betting_text(RULES, text)
    deck = Random(text).sample(range(52), 7)
    hole, board = tuple(deck[:2]), tuple(deck[2 : 2 + BOARD_SIZES[state.round]])
    for agent in agents:
        stated = agent.policy(PublicState(state, board, 0))
        assert stated is not None
        live = ~blocked(board)
        assert stated.probabilities.shape == (1326, len(stated.actions))
        assert stated.probabilities[live].sum(axis=1) == pytest.approx(1, abs=1e-5)
        agent.random.seed(1)
        view = View(state, state.to_act or 0, hole, board, 0)
        drawn = [agent.act(view) for _ in range(400)]
        for action, chance in zip(
            stated.actions, stated.probabilities[combo_index(*hole)], strict=True
        ):
            assert drawn.count(action) / 400 == pytest.approx(float(chance), abs=0.1)
        assert set(drawn) <= set(stated.actions)


# -------------------------------------------------------------------------------------- bucket, bayes


def test_styles_and_tables(tmp_path: Path) -> None:
    file = tmp_path / "three.toml"
    file.write_text('agent = "bucket"\ntable = [[1, 0, 0], [0, 1, 0], [0, 0, 3]]\n')
    agent = make_agent(file, RULES)
    assert isinstance(agent, BucketAgent)
    assert agent.table.tolist() == np.eye(3).tolist()
    assert agent.buckets.count == 3
    start = State.start(RULES)
    assert str(agent.act(View(start, 1, parse_cards("AsAh"), (), 0))) == "r20"
    assert str(agent.act(View(start, 1, parse_cards("3s2h"), (), 0))) == "f"
    with pytest.raises(EquipoiseError, match="careful or bluffing"):
        BucketAgent("wild")
    with pytest.raises(EquipoiseError, match="one row of fold, call and raise"):
        BucketAgent(table=[[1.0, 0.0]])


def test_beliefs_are_counts_and_the_estimate_is_the_mode() -> None:
    agent = BayesAgent()
    state = State.from_betting_text(RULES, "cr")
    # The opponent, player 0, raised before the flop with aces.
    aces = parse_cards("AsAh")
    agent.observe(HandResult(state, 1, parse_cards("7c2d"), (), 0, -10, aces, None))
    assert agent.beliefs[4, 0].tolist() == [6, 5]
    assert agent.beliefs[4, 1].tolist() == [5, 5]
    # (6 - 1) / (11 - 2) to raise, then 1/2 to call.
    assert agent.model()[4].tolist() == pytest.approx([2 / 9, 2 / 9, 5 / 9])
    before = agent.beliefs.copy()
    agent.observe(HandResult(state, 1, parse_cards("7c2d"), (), 0, -10, None, None))
    assert np.array_equal(agent.beliefs, before), "a hand not shown teaches nothing"
    agent.reset(3)
    assert np.all(agent.beliefs == 5)


def test_free_checks_count_as_calls_unless_told_otherwise() -> None:
    state = State.from_betting_text(RULES, "cc/cc/")
    seen = HandResult(state, 1, parse_cards("7c2d"), (), 0, 0, parse_cards("AsAh"),
                      parse_cards("Ac Kd 2c 9h 3s"))  # fmt: skip
    literal, strict = BayesAgent(), BayesAgent(open_choices=True)
    for agent in (literal, strict):
        agent.observe(seen)
    assert literal.beliefs[:, 1, 0].sum() == 5 * 5 + 2
    assert strict.beliefs[:, 1, 0].sum() == 5 * 5
    assert np.array_equal(literal.beliefs[:, 0], strict.beliefs[:, 0])


@pytest.mark.parametrize("style", STYLES)
def test_models_come_near_the_truth(style: str) -> None:
    agent = BayesAgent(open_choices=True)
    for _ in practice(agent, BucketAgent(style), RULES, 1500, seed=4):
        pass
    # The prior pulls towards a quarter, a quarter, a half.
    assert np.abs(agent.model() - np.array(STYLES[style])).max() < 0.09


def test_three_bets_alarm_only_from_the_careful() -> None:
    found = {}
    for name, opponent in (("all-in", AllInAgent()), ("careful", BucketAgent())):
        agent = BayesAgent()
        for _ in practice(agent, opponent, RULES, 1000, seed=2):
            pass
        found[name] = agent.guess([Kind.RAISE] * 3)
    assert found["all-in"].evidence < 1.2
    assert found["careful"].bucket == 4
    assert found["careful"].evidence > 1.5
    assert BayesAgent().guess([]).evidence == 1


# ---------------------------------------------------------------------------------- votes, Q-learning


def test_states_are_numbered_without_gaps() -> None:
    with_draws, without = Situations(), Situations(draws=False)
    assert (with_draws.count, without.count) == (58, 48)
    rng = Random(3)
    seen: dict[int, set[int]] = {58: set(), 48: set()}
    for situations in (with_draws, without):
        for _ in range(4000):
            cards = tuple(rng.sample(range(52), 7))
            size = rng.choice(BOARD_SIZES)
            number = situations.number(cards[:2], cards[2 : 2 + size], rng.random() < 0.5)
            seen[situations.count].add(number)
        assert seen[situations.count] == set(range(situations.count))


def test_numbers_of_all_hands_agree_with_one_by_one() -> None:
    rng = Random(4)
    for size in BOARD_SIZES:
        cards = tuple(rng.sample(range(52), 20))
        board = cards[:size]
        every = Situations().numbers(board, True)
        for hole in zip(cards[size::2], cards[size + 1 :: 2], strict=False):
            assert every[combo_index(*hole)] == Situations().number(hole, board, True)


def test_votes_become_chances() -> None:
    start, free = State.start(LIMIT_HOLDEM), State.from_betting_text(LIMIT_HOLDEM, "c")
    assert chances(np.array([1.0, 417.0, -32.0]), start) == pytest.approx(
        [34 / 485, 450 / 485, 1 / 485]
    )
    assert chances(np.zeros(3), start) == pytest.approx([1 / 3] * 3)
    assert chances(np.array([90.0, 3.0, 1.0]), free) == pytest.approx([0, 3 / 4, 1 / 4])


def _blank() -> VoteAgent:
    return VoteAgent(RULES, training=0, teacher=0, keep_learning=True)


def _voted(agent: VoteAgent) -> dict[tuple[int, int], float]:
    return {(int(s), int(a)): float(agent.figures[s, a]) for s, a in zip(*np.nonzero(agent.figures),
                                                                       strict=True)}  # fmt: skip


BOARD = parse_cards("Ac Kd 2c 9h 3s")
HOLE, OTHER = parse_cards("7c2d"), parse_cards("QsQh")


def test_a_loss_takes_votes_and_half_of_one_for_a_free_check() -> None:
    agent = _blank()
    # Player 1 limps, checks the flop after a check, calls a bet on the turn, checks down, loses.
    state = State.from_betting_text(RULES, "cc/cc/rc/cc")
    agent.observe(HandResult(state, 1, HOLE, BOARD, 0, -20, OTHER, BOARD))
    numbers = [agent.situations.number(HOLE, BOARD[:size], bet)
               for size, bet in ((0, False), (3, False), (4, True), (5, False))]  # fmt: skip
    assert _voted(agent) == dict(zip([(n, 1) for n in numbers], [-1, -0.5, -1, -0.5], strict=True))


def test_a_win_gives_whole_votes() -> None:
    agent = _blank()
    state = State.from_betting_text(RULES, "cc/cc/rc/cc")
    agent.observe(HandResult(state, 1, OTHER, BOARD, 0, 20, HOLE, BOARD))
    assert sorted(_voted(agent).values()) == [1, 1, 1, 1]


@pytest.mark.parametrize(("hole", "other", "vote"), [(HOLE, OTHER, 1.0), (OTHER, HOLE, -1.0)])
def test_a_fold_is_judged_by_who_would_have_won(
    hole: tuple[int, ...], other: tuple[int, ...], vote: float
) -> None:
    agent = _blank()
    state = State.from_betting_text(RULES, "cc/rf")
    flop = BOARD[:3]
    agent.observe(HandResult(state, 1, hole, flop, 0, -10, other, BOARD))
    assert agent.figures[agent.situations.number(hole, flop, True), Kind.FOLD] == vote
    hidden = _blank()
    hidden.observe(HandResult(state, 1, hole, flop, 0, -10, None, None))
    assert hidden.figures[:, Kind.FOLD].any() == False  # noqa: E712


def test_a_teacher_passes_on_only_what_he_won() -> None:
    agent = _blank()
    state = State.from_betting_text(RULES, "cc/cc/rc/cc")
    agent.learn_from_teacher(HandResult(state, 1, HOLE, BOARD, 0, -20, OTHER, BOARD))
    assert not agent.figures.any()
    agent.learn_from_teacher(HandResult(state, 1, OTHER, BOARD, 0, 20, HOLE, BOARD))
    assert agent.figures.sum() == 4
    assert agent.episodes == 0


def test_a_teacher_helps_the_learner() -> None:
    scores = [
        play_match(VoteAgent(RULES, training=200, teacher=teacher), BucketAgent(), RULES, 2000, 3)
        for teacher in (0, 1500)
    ]
    assert scores[1].mbb_per_hand > scores[0].mbb_per_hand + 100


def test_q_learning_ends_in_folding() -> None:
    agent = QLearningAgent(RULES, training=0, keep_learning=True)
    folds = []
    for result in practice(agent, BucketAgent(), RULES, 2500, seed=3):
        faced = [move for move in moves(result.state)
                 if move.player == result.position and move.could_fold]  # fmt: skip
        folds.append([sum(move.kind == Kind.FOLD for move in faced), len(faced)])
    early, late = np.sum(folds[:100], axis=0), np.sum(folds[-800:], axis=0)
    assert early[0] / early[1] < 0.35
    assert late[0] / late[1] > 0.65


# ----------------------------------------------------------------------------------- regret, training


def test_regret_beats_the_simple_ones(agents: list[Agent]) -> None:
    regret = agents[-1]
    for other in (CallAgent(), AllInAgent(), agents[2]):
        result = play_match(other, regret, RULES, hands=2000, seed=8)
        assert result.mbb_per_hand - result.ci95_mbb < 0


def test_practice_pays_what_the_rules_say() -> None:
    total = 0.0
    for result in practice(CallAgent(), AllInAgent(), RULES, 40, seed=9):
        assert result.opponent is not None
        assert result.full_board is not None
        won = winner(result.hole, result.opponent, result.full_board)
        # Two bets a round at most, the all-in agent making one of them.
        assert abs(result.payoff) == (0 if won is None else 50)
        assert won is None or (result.payoff > 0) == (won == 0)
        total += result.payoff
    assert total != 0


def test_the_regret_agent_folds_what_is_weak() -> None:
    state = State.from_betting_text(RULES, "cc/cc/cc/r")
    policy = make_agent("regret", RULES).policy(
        PublicState(state, parse_cards("Ks 7d 2c 9h 3s"), 0)
    )
    assert policy is not None
    fold = [str(action) for action in policy.actions].index("f")
    assert policy.probabilities[combo_index(*parse_cards("KdKc")), fold] < 0.05
    assert policy.probabilities[combo_index(*parse_cards("5d4d")), fold] > 0.2

"""AIVAT: exactly unbiased where everything can be enumerated, and less luck in hold'em."""

from itertools import permutations

import numpy as np
import pytest
from chartagent import ChartAgent

from equipoise.agents.simple import CallAgent, FoldAgent, RandomAgent
from equipoise.arena.match import play_match
from equipoise.arena.measures import aivat as aivat_module
from equipoise.arena.measures.aivat import Aivat, _Hand, aivat
from equipoise.arena.measures.exact import exact_value
from equipoise.arena.record import HandRecord
from equipoise.arena.statistics import estimate, rate_text
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.games.checkdown import CheckDown
from equipoise.games.dealing import DealtCards
from equipoise.games.policy import Policy
from equipoise.games.rules import LIMIT_HOLDEM, Rules, State, nolimit

#: Four cards, one of them private, one of them public: 24 deals.
FOUR_CARDS = Rules(
    name="four cards",
    limit=True,
    blinds=(2, 1),
    first=(1, 0),
    raise_sizes=(2, 4),
    max_raises=(1, 1),
    suits=2,
    ranks=2,
    hole_cards=1,
    board_cards=(0, 1),
)
SHORT_STACKS = Rules(
    name="four cards, four chips",
    limit=False,
    blinds=(2, 1),
    first=(1, 0),
    stacks=(5, 5),
    suits=2,
    ranks=2,
    hole_cards=1,
    board_cards=(0, 1),
)


def every_deal(rules):
    deck = CheckDown(rules).deck
    deals = []
    for first, second, public in permutations(deck, 3):
        deals.append(DealtCards.of(rules, ((first,), (second,)), (public,)))
    return deals


def record(deal, end):
    return HandRecord(0, end, deal.holes, deal.boards[-1], ("A", "B"))


def every_end(state, deal, players):
    """All ways a deal can be played, with their probabilities."""
    if state.is_over:
        yield state, 1.0
        return
    policy = players[state.to_act].chart(state, deal.boards[state.round])
    chances = policy.probabilities[deal.holes[state.to_act][0]]
    for action, chance in zip(policy.actions, chances.tolist(), strict=True):
        for end, rest in every_end(state.apply(action), deal, players):
            yield end, chance * rest


def secret_later(state):
    return state.round == 1 or len(state.history[0]) == 2


@pytest.mark.parametrize("rules", [FOUR_CARDS, SHORT_STACKS])
@pytest.mark.parametrize("known", ["both", "A", "B", "neither", "partly"])
def test_the_mean_over_everything_that_can_happen_is_the_true_value(rules, known):
    secret = secret_later if known == "partly" else lambda state: False
    players = [ChartAgent(rules, seed, secret=secret) for seed in (1, 2)]
    told = [
        player if known in ("both", "partly") or known == "AB"[seat] else None
        for seat, player in enumerate(players)
    ]
    aivat_of = Aivat(rules, told)
    mean = square = raw = raw_square = 0.0
    deals = every_deal(rules)
    for deal in deals:
        for end, chance in every_end(State.start(rules), deal, players):
            payoff = end.payoffs(deal.winner if end.folded is None else None)[0]
            value = aivat_of.value(record(deal, end))
            mean += chance * value / len(deals)
            square += chance * value**2 / len(deals)
            raw += chance * payoff / len(deals)
            raw_square += chance * payoff**2 / len(deals)
    open_players = [ChartAgent(rules, seed) for seed in (1, 2)]
    assert raw == pytest.approx(exact_value(*open_players, rules), abs=1e-12)
    assert mean == pytest.approx(raw, abs=1e-9)
    assert square - mean**2 < 0.9 * (raw_square - raw**2)


@pytest.mark.parametrize("rules", [FOUR_CARDS, SHORT_STACKS])
def test_with_the_last_street_exact_the_mean_is_the_same_and_less_is_luck(rules):
    players = [ChartAgent(rules, seed) for seed in (1, 2)]
    deals = every_deal(rules)
    means, squares = [], []
    for exact_end in (False, True):
        aivat_of = Aivat(rules, players, exact_end=exact_end)
        values = [
            (chance / len(deals), aivat_of.value(record(deal, end)))
            for deal in deals
            for end, chance in every_end(State.start(rules), deal, players)
        ]
        means.append(sum(chance * value for chance, value in values))
        squares.append(sum(chance * value**2 for chance, value in values))
    assert means == pytest.approx([exact_value(*players, rules)] * 2, abs=1e-9)
    assert squares[1] < 0.9 * squares[0]


def test_an_exact_end_needs_both_policies(tmp_path):
    match = play_match("random", "call", LIMIT_HOLDEM, hands=40, seed=3, log=tmp_path / "m.log")
    one, exact = (aivat(match, "random", "call", exact_end=end) for end in (False, True))
    assert exact.std_mbb <= one.std_mbb + 1e-6
    with pytest.raises(EquipoiseError, match="--exact-end"):
        aivat(match, Hidden(), "call", exact_end=True)


def test_a_policy_that_is_not_the_one_played_is_refused():
    wrong = CallAgent()
    start = State.start(FOUR_CARDS)
    end = start.apply(start.read_action("f"))
    with pytest.raises(EquipoiseError, match="never does"):
        Aivat(FOUR_CARDS, (None, wrong)).value(record(every_deal(FOUR_CARDS)[0], end))


# Matches


def high_cards():
    """Groups of hands that play alike: by class."""
    return COMBO_CLASS.astype(np.int64)


@pytest.mark.parametrize("duplicate", [True, False])
def test_the_figure_agrees_with_the_raw_one_and_has_less_luck(tmp_path, duplicate):
    rules = nolimit(600, 50, 100)
    a = ChartAgent(rules, 3, key=high_cards(), sizes=(0.0, 0.3, 1.0))
    match = play_match(a, "random", rules, 120, 4, duplicate=duplicate, log=tmp_path / "log")
    result = aivat(match, a, "random")
    assert result.known == (True, True)
    assert result.std_mbb < 0.8 * match.std_mbb
    gap = estimate(result.payoffs - match.payoffs)
    assert abs(gap.mean) < 4 * gap.standard_error


def test_suits_that_tell_and_an_unknown_opponent(tmp_path):
    rules = nolimit(600, 50, 100)
    suits = (COMBO_CARDS & 3).sum(axis=1).astype(np.int64)
    a = ChartAgent(rules, 3, key=suits)
    match = play_match(a, "random", rules, 300, 5, duplicate=False, log=tmp_path / "log")
    again = aivat(match, a, Hidden())
    assert again.known == (True, False)
    gap = estimate(again.payoffs - match.payoffs)
    assert abs(gap.mean) < 4 * gap.standard_error
    assert again.std_mbb < 0.9 * match.std_mbb


class Jammer(ChartAgent):
    """Opens all-in for a hundred big blinds, each hand by a chance of its own; else it gives up."""

    def chart(self, state, board):
        policy = super().chart(state, board)
        shares = np.zeros_like(policy.probabilities)
        shares[:, 0] = 1
        if state.betting_text() == "":
            chance = (COMBO_CLASS % 7 / 100).astype(np.float32)
            shares[:, 0] -= chance
            shares[:, -1] = chance
        return Policy(policy.actions, shares)


def test_a_jam_that_is_always_folded_to_is_no_luck_of_a_hundred_pots(tmp_path):
    rules = nolimit(10_000, 50, 100)
    jammer = Jammer(rules, 3, key=high_cards())
    match = play_match(jammer, "fold", rules, 1000, 4, log=tmp_path / "log")
    assert match.std_mbb > 50
    assert aivat(match, jammer, "fold").std_mbb < match.std_mbb


class Hidden(RandomAgent):
    """Learns, so that its policy is another in every hand."""

    learns = True


def test_card_blind_agents_leave_no_luck_at_all(tmp_path):
    match = play_match("random", "call", LIMIT_HOLDEM, 16, 1, log=tmp_path / "log")
    result = aivat(match, "random", "call")
    # On the button `random` folds a third of its hands, and loses half a big blind.
    assert result.estimate.mean == pytest.approx(-1000 / 2 / 3 / 2)
    assert result.std_mbb < 1e-9
    assert result.reduction == pytest.approx(1)


def test_any_number_of_workers_gives_the_same(tmp_path):
    match = play_match("random", "all-in", FOUR_CARDS, 150, 1, log=tmp_path / "log")
    one = aivat(match, "random", "all-in")
    assert one.payoffs.tolist() == aivat(match, "random", "all-in", workers=2).payoffs.tolist()
    assert one.std_mbb < match.std_mbb


def test_faults_are_no_part_of_a_policy(tmp_path):
    class Faulty(FoldAgent):
        def act(self, view):
            return super().act(view) if view.hand else None

    agent = Faulty()
    match = play_match(agent, "all-in", LIMIT_HOLDEM, 20, 1, log=tmp_path / "log")
    assert len(match.faults) == 1
    assert aivat(match, agent, "all-in").known == (False, True)


def test_without_its_log_there_is_nothing_to_read(tmp_path):
    match = play_match("fold", "call", hands=4)
    with pytest.raises(EquipoiseError, match="log"):
        aivat(match, "fold", "call")
    log = tmp_path / "log"
    match = play_match("fold", "call", hands=4, log=log)
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:4]))
    with pytest.raises(ArtefactError, match="4 hands"):
        aivat(match, "fold", "call")


def test_the_mean_over_the_eighths_of_a_flop_is_that_over_all_run_outs(monkeypatch):
    rules = nolimit(2000, 50, 100)
    classes = COMBO_CLASS.astype(np.int64)
    agents = [ChartAgent(rules, seed, key=classes, sizes=(0.0, 1.0)) for seed in (1, 2)]
    board = parse_cards("Kh 7d 2c 9s 3s")
    holes = parse_cards("AsQd"), parse_cards("8h8c")
    checkdown = CheckDown(rules)

    def estimates(betting):
        record = HandRecord(0, State.from_betting_text(rules, betting), holes, board, ("A", "B"))
        hands = [
            _Hand(checkdown, agents, record, eighth, {})
            for eighth in range(aivat_module._FLOP_STEP)
        ]
        return [hand.estimate() for hand in hands]

    lines = ("cr200c/r300c/cc/cc", "cc/cr2000c//", "cc/cr200f")
    drawn = [estimates(line) for line in lines]
    monkeypatch.setattr(aivat_module, "_FLOP_STEP", 1)
    for several, line in zip(drawn, lines, strict=True):
        (exact,) = estimates(line)
        assert np.mean(several) == pytest.approx(exact, abs=1e-6)
        assert np.std(several) > 1e-6


def test_what_is_told_of_it_is_the_figure_so_far(tmp_path):
    rules = nolimit(1000, 50, 100)
    match = play_match("call", "call", rules, 200, seed=1, log=tmp_path / "match.log")
    told = []
    luckless = aivat(match, "call", "call", progress=told.append)
    assert [(event.done, event.total) for event in told] == [
        (64, 200),
        (128, 200),
        (192, 200),
        (200, 200),
    ]
    now = luckless.estimate
    assert told[-1].what == f"without luck {rate_text(now.mean, now.half_width)} mbb/hand"

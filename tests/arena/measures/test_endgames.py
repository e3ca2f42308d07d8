"""Exploitability in endgames: against an independent best response, and where it is known by hand."""

from itertools import islice

import numpy as np
import pytest
from chartagent import ChartAgent

from equipoise.agents.agent import Agent
from equipoise.agents.simple import CallAgent
from equipoise.arena.measures.endgames import (
    Root,
    endgames,
    exploitability_chips,
    read_sizes,
    self_play,
)
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT, parse_combo
from equipoise.cards.evaluator import evaluate_many
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, FOLD, Kind, State, nolimit, raise_to

BOARD = parse_cards("Kh 9s 5d 8c 2h")
APART = ~(COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))


def by_hand(agent, root, responder, more=None):
    """A best response by recursion over public situations, every pair of hands one by one."""
    hands = [np.flatnonzero(weights) for weights in root.ranges]
    mine, theirs = hands[responder], hands[1 - responder]
    apart = APART[np.ix_(mine, theirs)]

    def free(chosen, board):
        return ~np.isin(COMBO_CARDS[chosen], board).any(axis=1)

    def showdown(board):
        if len(board) < 5:
            boards = [(*board, card) for card in range(52) if card not in board]
            return sum(map(showdown, boards)) / (len(boards) - 4)
        strength = []
        for chosen in (mine, theirs):
            cards = np.hstack([COMBO_CARDS[chosen], np.tile(board, (len(chosen), 1))])
            live = free(chosen, board)
            value = np.zeros(len(chosen), dtype=np.int64)
            value[live] = evaluate_many(cards[live].astype(np.uint8), threads=1)
            strength.append((value, live))
        (first, one), (second, two) = strength
        sign = np.sign(first[:, None] - second[None, :])
        return sign * (one[:, None] & two[None, :] & apart)

    def value(state, board, reach):
        """Chips times reach met, for each hand of the responder."""
        if state.folded is not None:
            return state.payoffs()[responder] * (apart @ reach) * free(mine, board)
        if state.to_act is None:
            return state.payoffs(responder)[responder] * (showdown(board) @ reach)
        if len(board) < state.round + 2:
            boards = [(*board, card) for card in range(52) if card not in board]
            parts = [value(state, b, reach * free(theirs, b)) * free(mine, b) for b in boards]
            return sum(parts) / (len(boards) - 4)
        policy = agent.policy(PublicState(state, board, root.number))
        if state.to_act == responder:
            actions = {*policy.actions}
            if more is not None and state.round == root.state.round:
                actions |= {*more.actions(state)}
            return np.max([value(state.apply(a), board, reach) for a in actions], axis=0)
        chances = policy.probabilities[theirs].astype(np.float64)
        return sum(
            value(state.apply(a), board, reach * chances[:, column])
            for column, a in enumerate(policy.actions)
        )

    own, other = root.ranges[responder][mine], root.ranges[1 - responder][theirs]
    met = own @ apart @ other
    return own @ value(root.state, root.board, other) / met


def some_range(seed, board, count):
    """A few hands with weights of all sizes."""
    random = np.random.default_rng(seed)
    weights = np.zeros(COMBO_COUNT)
    free = np.flatnonzero(~np.isin(COMBO_CARDS, board).any(axis=1))
    chosen = random.choice(free, count, replace=False)
    weights[chosen] = random.random(count) ** 2
    return weights


@pytest.mark.parametrize(
    ("line", "cards", "hands", "more"),
    [
        ("cc/cc/cc/", 5, 60, None),
        ("cc/cr300c/cc/", 5, 60, "40,a"),
        ("r300c/cc/cc/r500", 5, 40, None),
        ("cc/cc/", 4, 12, None),
        ("r300c/cc/", 4, 10, "50"),
    ],
)
def test_it_is_what_two_best_responses_win(line, cards, hands, more):
    rules = nolimit(900, 50, 100)
    agent = ChartAgent(rules, 7, sizes=(0.0, 1.0) if cards == 5 else (1.0,))
    board = BOARD[:cards]
    ranges = (some_range(1, board, hands), some_range(2, board, hands))
    root = Root(State.from_betting_text(rules, line), board, ranges, 0)
    sizes = read_sizes(more or "")
    expected = sum(by_hand(agent, root, seat, sizes) for seat in (0, 1)) / 2
    assert expected > 20
    assert exploitability_chips(agent, root, sizes) == pytest.approx(expected, rel=1e-4)


class FoldsToOdd(Agent):
    """Checks, and folds to every bet but a pot; has a pot as its own size."""

    name = "odd"

    def act(self, view):
        raise NotImplementedError

    def policy(self, public):
        legal = public.state.legal()
        actions = [CALL]
        if legal.raise_min:
            pot = raise_to(3 * max(public.state.committed))
            actions.append(public.state.nearest(pot))
        played = CALL
        last = public.state.history[-1][-1:] if public.state.history else ()
        if legal.fold and public.state.round == 3:
            actions.insert(0, FOLD)
            faced = max(public.state.committed) - min(public.state.committed)
            if last and last[0].kind == Kind.RAISE and faced != 2 * min(public.state.committed):
                played = FOLD
        rows = np.zeros((COMBO_COUNT, len(actions)), dtype=np.float32)
        rows[:, actions.index(played)] = 1.0
        return Policy(tuple(actions), rows)


def test_sizes_that_the_agent_lacks_find_what_its_own_do_not():
    rules = nolimit(2000, 50, 100)
    state = State.from_betting_text(rules, "cc/cc/cc/")
    # The responder's only hand never wins: betting the pot is called, betting half of it wins the pot.
    ranges = [np.zeros(COMBO_COUNT) for _ in range(2)]
    ranges[0][parse_combo("7c6c")], ranges[1][parse_combo("KsKd")] = 1, 1
    root = Root(state, BOARD, (ranges[0], ranges[1]), 0)
    # Kings bet the pot and are called by the worse hand: 100 more than checking through, and more
    # than the all-in that it folds to.
    assert exploitability_chips(FoldsToOdd(), root) == pytest.approx((-100 + 300) / 2)
    # A bluff of half the pot wins the pot: 100 instead of losing 100.
    assert exploitability_chips(FoldsToOdd(), root, read_sizes("50")) == pytest.approx(
        (100 + 300) / 2
    )


def test_endgames_are_those_of_self_play():
    rules = nolimit(1000, 50, 100)
    agent = ChartAgent(rules, 3)
    for root in islice(self_play(agent, rules, 3, 5), 4):
        assert root.state.round == 3
        assert root.state.to_act is not None
        for player, weights in enumerate(root.ranges):
            hand, expected = int(weights.argmax()), 1.0
            now = State.start(rules)
            for part, seen in zip(root.state.history, (0, 3, 4, 5), strict=False):
                for action in part:
                    policy = agent.policy(PublicState(now, root.board[:seen], root.number))
                    if now.to_act == player:
                        expected *= policy.probabilities[hand, policy.actions.index(action)]
                    now = now.apply(action)
            assert weights[hand] == pytest.approx(expected)
            assert not weights[np.isin(COMBO_CARDS, root.board).any(axis=1)].any()


def test_seed_and_roots_fix_the_result():
    rules = nolimit(800, 50, 100)
    agent = ChartAgent(rules, 3)
    settings = {"street": "river", "roots": 4, "rules": rules, "responder_sizes": "50,a"}
    one, two = (endgames(agent, seed=5, workers=workers, **settings) for workers in (1, 2))
    assert one.own_pct.tolist() == two.own_pct.tolist()
    assert one.more_pct.tolist() == two.more_pct.tolist()
    assert (one.more_pct >= one.own_pct - 1e-3).all()
    assert one.own_pct.min() > 0
    told = one.to_dict()
    assert list(told) == ["agent", "street", "roots", "exploitability_pct_pot", "ci95_pct_pot",
                          "off_tree_pct_pot", "seconds"]  # fmt: skip
    assert endgames(agent, seed=6, street="river", roots=2, rules=rules).off_tree is None


def test_who_only_calls_is_beaten_by_foreign_sizes_alone():
    found = endgames(CallAgent(), roots=3, seed=1, responder_sizes="a")
    assert found.own_pct.tolist() == [0, 0, 0]
    assert found.more_pct.min() > 100


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(EquipoiseError, match="does not say its policy"):
        endgames("random", roots=1)
    with pytest.raises(EquipoiseError, match="came to no such street"):
        endgames("fold", roots=1)
    with pytest.raises(EquipoiseError, match="choose turn or river"):
        endgames("call", "flop")
    with pytest.raises(GameError, match="25,50,100,200,a"):
        read_sizes("50,b")
    with pytest.raises(EquipoiseError, match="roots = 0"):
        endgames("call", roots=0)

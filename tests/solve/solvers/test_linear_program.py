"""The linear program against closed forms, the sweeps' best response, and DCFR."""

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest

from equipoise.errors import ArtefactError, SolverError, TooLargeError
from equipoise.games.betting import Betting, Rake
from equipoise.games.boards import deal_cards
from equipoise.games.catalogue import kuhn, kuhn_half_street, leduc, leduc_nolimit
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules
from equipoise.run import Limit
from equipoise.solve.jointdeal import JointDeal
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.solvers.linear_program import LinearProgram

SUITS, RANKS = 3, 3


def strength(hands, board):
    """Most cards of a rank, then of a suit, then the highest, then the sum."""
    public = np.tile(np.array(board, dtype=hands.dtype), (len(hands), 1))
    cards = np.concatenate([hands, public], axis=1)
    ranks, suits = cards // SUITS, cards % SUITS
    alike = np.array([np.bincount(row).max() for row in ranks])
    suited = np.array([np.bincount(row).max() for row in suits])
    return alike * 10_000 + suited * 1000 + ranks.max(axis=1) * 100 + ranks.sum(axis=1)


def tiny_holdem(evaluator="matrix", use_symmetry=True, ranges=None):
    """Nine cards, two each, one on the board, one bet a round."""
    rules = Rules(
        "tiny hold'em", True, (1, 1), (0, 0), raise_sizes=(2, 4), max_raises=(1, 1), suits=SUITS,
        ranks=RANKS, hole_cards=2, board_cards=(0, 1),
    )  # fmt: skip
    deal = deal_cards(
        suits=SUITS, ranks=RANKS, hole_cards=2, board_cards=(0, 1), strength=strength,
        evaluator=evaluator, use_symmetry=use_symmetry, ranges=ranges,
    )  # fmt: skip
    betting = Betting.build(rules, BetMenu.limit())
    return Game("tiny", betting, deal, 1.0, lambda *_: "", lambda *_: "")


def solved(game):
    solver = LinearProgram(game)
    solver.step()
    return solver


@pytest.mark.parametrize(
    ("game", "value"),
    [
        (kuhn(), -1 / 18),
        (kuhn_half_street(bet=50, pot=100), 100 * 0.5 * 0.5 / (6 * 1.5)),
        (leduc(), -0.0856064241),
        (leduc(suits=True), -0.0856064241),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_known_values(game, value):
    solver = solved(game)
    assert solver.value() == pytest.approx(value, abs=1e-9)
    assert abs(solver.exploitability()) < 1e-9


def test_kuhn_strategy_is_one_of_the_known_equilibria():
    strategy = {(e.player, e.betting, e.state): e.probabilities for e in solved(kuhn())
                .average_strategy()}  # fmt: skip
    bluffs = strategy[0, "", "J"][1]
    assert 0 <= bluffs <= 1 / 3 + 1e-9
    assert strategy[0, "", "K"][1] == pytest.approx(3 * bluffs)
    assert strategy[0, "cr", "Q"][1] == pytest.approx(bluffs + 1 / 3)
    assert strategy[1, "c", "J"][1] == pytest.approx(1 / 3)
    assert strategy[1, "r", "Q"][1] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "game", [leduc_nolimit(stack=4), tiny_holdem(use_symmetry=False)], ids=["leduc", "tiny"]
)
def test_agrees_with_dcfr(game):
    exact, iterative = solved(game), DCFR(game)
    assert abs(exact.exploitability()) < 1e-9
    iterative.advance(20_000)
    assert iterative.value() == pytest.approx(exact.value(), abs=1e-6)


def test_merged_suits_and_sorted_hands_tell_the_same_game():
    merged, apart = solved(tiny_holdem()), solved(tiny_holdem(use_symmetry=False))
    assert len(merged.game.deal.boards) < len(apart.game.deal.boards)
    assert merged.value() == pytest.approx(apart.value(), abs=1e-9)
    assert abs(merged.exploitability()) < 1e-9
    in_order = solved(tiny_holdem("sorted"))
    assert in_order.value() == pytest.approx(apart.value(), abs=1e-6)
    assert abs(in_order.exploitability()) < 1e-6


def test_joint_deal_against_every_deal_of_the_cards():
    """Weights on some hands: the probability of a pair and a board, counted card by card."""
    cards = range(SUITS * RANKS)
    hands = np.array([c[::-1] for c in combinations(cards, 2)], dtype=np.int16)
    weights = np.random.default_rng(1).uniform(0.1, 1, (2, len(hands)))
    ranges = ((hands, weights[0]), (hands[5:], weights[1][5:]))
    chance, total = {}, 0.0
    for i, mine in enumerate(hands.tolist()):
        for j, theirs in enumerate(hands[5:].tolist(), 5):
            if set(mine) & set(theirs):
                continue
            total += weights[0][i] * weights[1][j]
            for card in set(cards) - set(mine) - set(theirs):
                key = (tuple(mine), tuple(theirs), card)
                chance[key] = weights[0][i] * weights[1][j] / comb(len(cards) - 4, 1)
    for evaluator in ("matrix", "sorted"):
        game = tiny_holdem(evaluator, ranges=ranges)
        dealt = JointDeal(game).hands(10**6)
        found = {}
        for p, board, state in zip(*dealt, strict=True):
            held = game.deal.boards[board[1]].hands
            key = (*(tuple(held[q][state[1, q]].tolist()) for q in (0, 1)),
                   game.deal.boards[board[1]].cards[0])  # fmt: skip
            found[key] = found.get(key, 0.0) + p
            above = game.deal.boards[0].hands
            assert (above[0][state[0, 0]] == held[0][state[1, 0]]).all()
        assert found.keys() == chance.keys()
        assert all(found[key] == pytest.approx(chance[key] / total) for key in found)


def test_joint_deal_of_merged_boards_counts_every_arrival():
    merged, apart = JointDeal(tiny_holdem()), JointDeal(tiny_holdem(use_symmetry=False))
    assert merged.count_hands() == apart.count_hands() == 36 * 21 * 5
    results = []
    for joint in (merged, apart):
        dealt = joint.hands(10**6)
        assert dealt.probability.sum() == pytest.approx(1)
        # Who holds what before the board, and how often he then wins.
        table = np.zeros((36, 36))
        for p, board, state in zip(*dealt, strict=True):
            b, (i, j) = board[1], state[1]
            table[state[0, 0], state[0, 1]] += p * joint.signed[b][i, j] / joint.mass[b][i, j]
        np.testing.assert_allclose(table, joint.signed[0], atol=1e-12)
        results.append(table)
    np.testing.assert_allclose(results[0], results[1], atol=1e-12)


def test_orbits_are_hands_that_a_renaming_exchanges():
    joint = JointDeal(tiny_holdem())
    before = joint.orbits[0][0]
    # Three pairs, three suited and three unsuited combinations of different ranks.
    assert len(set(before.tolist())) == 9
    for b, board in enumerate(joint.game.deal.boards):
        values = strength(board.hands[0], board.cards or (0,)) if b else None
        first = joint.orbits[b][0]
        assert (first <= np.arange(len(first))).all()
        assert (first[first] == first).all()
        if values is not None:
            assert (values[first] == values).all()


def test_refusals():
    with pytest.raises(SolverError, match="perfect recall"):
        LinearProgram(replace(kuhn(), perfect_recall=False))
    with pytest.raises(TooLargeError, match=r"1,116 payoff entries.*dcfr"):
        LinearProgram(leduc(), most_entries=1000)
    game = kuhn()
    raked = Betting.build(game.betting.rules, game.betting.menu, Rake(0.05))
    with pytest.raises(SolverError, match="rake"):
        LinearProgram(replace(game, betting=raked))
    mass = game.deal.boards[0].mass / 2
    deal = replace(game.deal, boards=[replace(game.deal.boards[0], mass=mass)])
    with pytest.raises(SolverError, match="add up"):
        JointDeal(replace(game, deal=deal)).hands(100)


def test_run_save_and_load(tmp_path):
    solver, path = LinearProgram(kuhn()), tmp_path / "kuhn.eq"
    seen = []
    event = solver.run(Limit(seconds=60), seen.append, path)
    assert event.done == solver.iteration == 1
    assert event.exploitability_chips == pytest.approx(0, abs=1e-12)
    assert seen[-1] == event
    again = LinearProgram.load(path, kuhn())
    assert again.iteration == 1
    np.testing.assert_array_equal(again.plan, solver.plan)
    assert again.value() == solver.value()
    with pytest.raises(ArtefactError, match="another game"):
        LinearProgram.load(path, leduc())

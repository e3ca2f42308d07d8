"""Public chance sampling: what a walk adds, beside matrices of all pairs of hands; and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.lookup import board_buckets, lookup
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.evaluator import evaluate_many
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.catalogue import leduc
from equipoise.games.library.jamfold import jamfold
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules
from equipoise.solve.sampling.deals import HoldemDeals
from equipoise.solve.sampling.mccfr import CardGame, CardSampling, PublicSampling
from equipoise.solve.sampling.rows import AVERAGE, REGRET

SHALLOW = Rules("shallow", False, (2, 1), (1, 0, 0, 0), stacks=(12, 12))


@pytest.fixture
def shallow(deals):
    betting = Betting.build(SHALLOW, BetMenu.parse("100%,a"))
    return CardGame("shallow", betting, deals)


class PairsOfHands:
    """The slow twin: every pair of hands that a board leaves, as matrices."""

    def __init__(self, solver, board):
        self.layout, self.rows = solver.layout, solver.sampler.rows
        cards = set(board.tolist())
        live = np.array([c for c, pair in enumerate(COMBO_CARDS.tolist()) if not cards & {*pair}])
        hands = COMBO_CARDS[live]
        shown = np.hstack([hands, np.tile(board, (len(hands), 1))]).astype(np.uint8)
        strength = evaluate_many(shown).astype(np.int64)
        meets = (hands[:, None, :, None] != hands[None, :, None, :]).all((2, 3))
        self.meets = meets.astype(np.float64)
        self.result = np.sign(strength[:, None] - strength[None, :]) * meets
        buckets = np.zeros((4, 1326), dtype=np.uint16)
        board_buckets(solver.game.deals.lookup, board, buckets)
        self.buckets = buckets[:, live].astype(np.int64)
        self.gains = np.zeros(len(self.rows))
        self.tremble = solver.tremble

    def walk(self, node, player, reach):
        """Values of all hands of `player`, the opponent's reach being `reach`."""
        betting = self.layout.betting
        node = int(betting.past_deals[node])
        kind = int(betting.kind[node])
        if kind > 1:
            swing = float(betting.swing[node])
            return float(betting.even[node, player]) * (self.meets @ reach) + swing * (
                self.result @ reach
            )
        mine = self.buckets[betting.round_of(node)]
        block = self.layout.block(self.rows, node).astype(np.float64)
        positive = np.maximum(block[:, REGRET], 0)
        total = positive.sum(1, keepdims=True)
        actions = positive.shape[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            strategy = np.where(total > 0, positive / total, 1 / actions)[mine]
        gains = self.layout.block(self.gains, node)
        children = range(int(betting.first[node]), int(betting.first[node]) + actions)
        if kind != player:
            np.add.at(gains[:, AVERAGE], mine, 990 * reach[:, None] * strategy)
            played = (1 - self.tremble) * strategy + self.tremble / actions
            below = [
                self.walk(child, player, reach * played[:, a]) for a, child in enumerate(children)
            ]
            return np.sum(below, axis=0)
        values = np.stack([self.walk(child, player, reach) for child in children], axis=1)
        mean = (strategy * values).sum(1)
        np.add.at(gains[:, REGRET], mine, values - mean[:, None])
        return mean


@pytest.mark.parametrize("tremble", [0.0, 0.1])
def test_a_walk_adds_what_all_pairs_of_hands_add(shallow, tremble):
    solver = PublicSampling(shallow, seed=3, tremble=tremble)
    rows = solver.sampler.rows
    # Some strategies are pure, so that lines are reached by nobody and left out.
    rows[:] = np.random.default_rng(5).normal(-0.3, 1, len(rows))
    gains = solver.sampler.estimate(1)
    twin = PairsOfHands(solver, solver.sampler._stacks[0].dealt.board)
    # The board that was drawn last is that of player 1's walk.
    twin.walk(0, 1, np.full(1081, 1 / 990))
    betting = shallow.betting
    learnt = 0
    for node in solver.layout.decisions.tolist():
        which = REGRET if betting.kind[node] == 1 else AVERAGE
        found = solver.layout.block(gains, node)[:, which]
        expected = solver.layout.block(twin.gains, node)[:, which]
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-3)
        learnt += int(np.count_nonzero(expected))
    assert learnt > 2_000


def test_lines_that_nobody_takes_are_left_out_and_taken_up_again(shallow):
    """Whoever folds all hands at once teaches nothing below; what was there before is not reused."""
    solver = PublicSampling(shallow, seed=4)
    first = solver.layout.block(solver.sampler.rows, 0)
    first[:, REGRET] = 0
    first[:, REGRET, 0] = 1  # player 0 always takes his first action
    before = solver.sampler.estimate(1)
    twin = PairsOfHands(solver, solver.sampler._stacks[0].dealt.board)
    twin.walk(0, 1, np.full(1081, 1 / 990))
    for node in solver.layout.decisions.tolist():
        if shallow.betting.kind[node] == 1:
            found = solver.layout.block(before, node)[:, REGRET]
            np.testing.assert_allclose(
                found, solver.layout.block(twin.gains, node)[:, REGRET], rtol=2e-4, atol=2e-3
            )


def test_all_hands_at_once_play_jam_or_fold(features):
    """All-in before the flop: the exact chart judges what two thousand boards taught."""
    game, none = jamfold(10), np.zeros((1, 8), dtype=np.uint16)
    hands = np.arange(169, dtype=np.uint16)[None]
    deals = HoldemDeals(lookup(features, [hands, none, none, none]))
    solver = PublicSampling(CardGame("jam", game.betting, deals, game), seed=1)
    solver.advance(1_000)
    assert solver.exploitability() < 0.009 * game.unit_chips
    assert solver.value() == pytest.approx(-0.0907, abs=0.006)


def test_resumes_bit_for_bit(tmp_path, shallow):
    straight, half = (PublicSampling(shallow, seed=9) for _ in range(2))
    straight.advance(6)
    half.advance(2)
    half.save(tmp_path / "half.solver")
    resumed = PublicSampling.load(tmp_path / "half.solver", shallow)
    resumed.advance(4)
    np.testing.assert_array_equal(resumed.sampler.rows, straight.sampler.rows)
    with pytest.raises(ArtefactError, match="public"):
        CardSampling.load(tmp_path / "half.solver", shallow)


def test_two_threads_learn_too(shallow):
    one, two = PublicSampling(shallow, seed=9), PublicSampling(shallow, seed=9, threads=2)
    for solver in (one, two):
        solver.advance(60)
    shares = [solver.average_strategy().rows(0).mean(1) for solver in (one, two)]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.08)


def test_listed_deals_are_refused():
    with pytest.raises(SolverError, match="hold'em"):
        PublicSampling(CardGame.of(leduc()))

"""Public chance sampling: what a walk adds, beside matrices of all pairs of hands; and that it learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.abstraction.lookup import board_buckets, lookup
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.evaluator import evaluate_many
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.catalogue import leduc
from equipoise.games.library.jamfold import jamfold
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.rules import Rules
from equipoise.solve.sampling.deals import HoldemDeals
from equipoise.solve.sampling.mccfr import CardGame, CardSampling, PublicSampling
from equipoise.solve.sampling.rows import AVERAGE, REGRET
from equipoise.solve.strategies.postprocessing import PostProcessing, Processed

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
        self.tremble, self.informed = solver.tremble, solver.informed == 1

    def ends(self, node, player, reach):
        """What the end of a hand is worth to all hands of `player`."""
        betting = self.layout.betting
        even, swing = float(betting.even[node, player]), float(betting.swing[node])
        return even * (self.meets @ reach) + swing * (self.result @ reach)

    def at(self, node):
        """The strategy of all hands at a decision, and its children."""
        betting = self.layout.betting
        mine = self.buckets[betting.round_of(node)]
        positive = np.maximum(self.layout.block(self.rows, node)[:, REGRET].astype(np.float64), 0)
        total = positive.sum(1, keepdims=True)
        actions = positive.shape[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            strategy = np.where(total > 0, positive / total, 1 / actions)[mine]
        return strategy, range(int(betting.first[node]), int(betting.first[node]) + actions)

    def trembling(self, strategy):
        return (1 - self.tremble) * strategy + self.tremble / strategy.shape[1]

    def respond(self, node, responder, reach, found):
        """Values of a best response to a player who reaches `node` with `reach`; its actions in `found`."""
        betting = self.layout.betting
        node = int(betting.past_deals[node])
        if int(betting.kind[node]) > 1:
            return self.ends(node, responder, reach)
        strategy, children = self.at(node)
        if int(betting.kind[node]) != responder:
            played = self.trembling(strategy)
            return np.sum(
                [
                    self.respond(child, responder, reach * played[:, a], found)
                    for a, child in enumerate(children)
                ],
                axis=0,
            )
        values = np.stack([self.respond(c, responder, reach, found) for c in children], axis=1)
        # Against nobody everything is best, and buckets are played.
        found[node] = np.eye(len(children))[values.argmax(1)] if reach.any() else strategy
        return values.max(1)

    def walk(self, node, player, reach, own):
        """Values of all hands of `player`, the opponent's reach being `reach` and his own `own`."""
        betting = self.layout.betting
        node = int(betting.past_deals[node])
        kind = int(betting.kind[node])
        if kind > 1:
            return self.ends(node, player, reach)
        if self.informed and betting.round_of(node) == 3:
            found = {}
            self.respond(node, 1 - player, own, found)
            return self.learn(node, player, reach, reach, found)
        strategy, children = self.at(node)
        played = self.trembling(strategy)
        if kind != player:
            self.keep_average(node, reach, strategy)
            below = [
                self.walk(child, player, reach * played[:, a], own)
                for a, child in enumerate(children)
            ]
            return np.sum(below, axis=0)
        values = np.stack(
            [
                self.walk(child, player, reach, own * played[:, a])
                for a, child in enumerate(children)
            ],
            axis=1,
        )
        return self.regret(node, strategy, values)

    def learn(self, node, player, reach, best, found):
        """The last street, against `best` by the responses `found`; averages by his `reach` by buckets."""
        betting = self.layout.betting
        kind = int(betting.kind[node])
        if kind > 1:
            return self.ends(node, player, best)
        strategy, children = self.at(node)
        played = self.trembling(strategy)
        if kind != player:
            self.keep_average(node, reach, strategy)
            return np.sum(
                [
                    self.learn(child, player, reach * played[:, a], best * found[node][:, a], found)
                    for a, child in enumerate(children)
                ],
                axis=0,
            )
        values = [self.learn(child, player, reach, best, found) for child in children]
        return self.regret(node, strategy, np.stack(values, axis=1))

    def keep_average(self, node, reach, strategy):
        gains = self.layout.block(self.gains, node)
        mine = self.buckets[self.layout.betting.round_of(node)]
        np.add.at(gains[:, AVERAGE], mine, 990 * reach[:, None] * strategy)

    def regret(self, node, strategy, values):
        mean = (strategy * values).sum(1)
        mine = self.buckets[self.layout.betting.round_of(node)]
        gains = self.layout.block(self.gains, node)
        np.add.at(gains[:, REGRET], mine, values - mean[:, None])
        return mean

    def responded(self, player):
        """What a hand wins on average by responding best from the first decision on."""
        return self.respond(0, player, np.full(1081, 1 / 990), {}).mean()

    def from_the_start(self, player):
        """One walk."""
        even = np.full(1081, 1 / 990)
        return self.walk(0, player, even, even)


@pytest.mark.parametrize(("tremble", "informed"), [(0.0, 0.0), (0.1, 0.0), (0.0, 1.0), (0.1, 1.0)])
def test_a_walk_adds_what_all_pairs_of_hands_add(shallow, tremble, informed):
    solver = PublicSampling(shallow, seed=3, tremble=tremble, informed=informed)
    rows = solver.sampler.rows
    # Some strategies are pure, so that lines are reached by nobody and left out.
    rows[:] = np.random.default_rng(5).normal(-0.3, 1, len(rows))
    gains = solver.sampler.estimate(1)
    twin = PairsOfHands(solver, solver.sampler._stacks[0].dealt.board)
    # The board that was drawn last is that of player 1's walk.
    twin.from_the_start(1)
    betting = shallow.betting
    learnt = 0
    for node in solver.layout.decisions.tolist():
        which = REGRET if betting.kind[node] == 1 else AVERAGE
        found = solver.layout.block(gains, node)[:, which]
        expected = solver.layout.block(twin.gains, node)[:, which]
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-3)
        learnt += int(np.count_nonzero(expected))
    assert learnt > 2_000


def early_means(solver, looks=150, parts=24):
    """What `parts` of `looks` walks teach the first two decisions, all buckets together."""
    solver.sampler.rows[:] = np.random.default_rng(5).normal(-0.3, 1, len(solver.sampler.rows))
    early = solver.layout.decisions[:2].tolist()
    found = (solver.sampler.estimate(looks) / looks for _ in range(parts))
    sums = [
        [total for node in early for total in solver.layout.block(part, node).sum(0).ravel()]
        for part in found
    ]
    return np.array(sums, dtype=np.float64)


def errors(means):
    """Squared standard errors of the means over the parts."""
    return means.var(0) / (len(means) - 1)


def test_lines_that_are_walked_by_chance_teach_the_same_on_average(shallow):
    """The slow twin of the roulette is no roulette: means over boards of both agree."""
    by_chance, always = (
        early_means(PublicSampling(shallow, seed=7, tremble=0.05, rare=rare)) for rare in (0.6, 0)
    )
    gap = by_chance.mean(0) - always.mean(0)
    assert (np.abs(gap) < 5 * np.sqrt(errors(by_chance) + errors(always)) + 1e-3).all()
    # It is another walk: what it adds is noisier.
    assert (by_chance.std(0) > always.std(0)).mean() > 0.5


def test_half_of_the_opponents_informed_teach_the_mean_of_all_and_none(shallow):
    half, none, everyone = (
        early_means(PublicSampling(shallow, seed=7, tremble=0.05, informed=share))
        for share in (0.5, 0.0, 1.0)
    )
    expected = (none.mean(0) + everyone.mean(0)) / 2
    error = np.sqrt(errors(half) + (errors(none) + errors(everyone)) / 4)
    assert (np.abs(half.mean(0) - expected) < 5 * error + 1e-3).all()
    # The two are told apart by this many walks.
    apart = np.abs(everyone.mean(0) - none.mean(0))
    assert (apart > 5 * np.sqrt(errors(none) + errors(everyone))).any()


def test_lines_that_nobody_takes_are_left_out_and_taken_up_again(shallow):
    """Whoever folds all hands at once teaches nothing below; what was there before is not reused."""
    solver = PublicSampling(shallow, seed=4)
    first = solver.layout.block(solver.sampler.rows, 0)
    first[:, REGRET] = 0
    first[:, REGRET, 0] = 1  # player 0 always takes his first action
    before = solver.sampler.estimate(1)
    twin = PairsOfHands(solver, solver.sampler._stacks[0].dealt.board)
    twin.from_the_start(1)
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


def test_a_run_begins_with_a_strategy_and_leaves_it_slowly(shallow):
    taught = PublicSampling(shallow, seed=2)
    taught.advance(150)
    strategy = taught.average_strategy()
    begun = PublicSampling(shallow, seed=5)
    begun.begin_with(strategy.rows)
    assert begun.iteration == 12_000
    anchored = PublicSampling(shallow, seed=5)
    anchored.begin_with(strategy.rows, 60_000)
    assert anchored.iteration == 60_000
    # What is played now, and what it is on average so far, is what was begun with.
    opening = strategy.rows(0).T
    regrets = np.maximum(begun.layout.block(begun.sampler.rows, 0)[:, REGRET], 0)
    np.testing.assert_allclose(regrets / regrets.sum(1, keepdims=True), opening, atol=1e-4)
    np.testing.assert_allclose(begun.average_strategy().rows(0).T, opening, atol=1e-4)
    begun.advance(60)
    anchored.advance(60)
    moved, less = (
        np.abs(solver.average_strategy().rows(0).T - opening).mean() for solver in (begun, anchored)
    )
    assert 0 < less < moved < 0.02


def test_what_a_strategy_never_plays_is_held_against_it(shallow):
    taught = PublicSampling(shallow, seed=2)
    taught.advance(150)
    pure = Processed(taught.average_strategy(), PostProcessing.parse("purify"))
    begun = PublicSampling(shallow, seed=5)
    begun.begin_with(pure.rows)
    regrets, played = begun.layout.block(begun.sampler.rows, 0)[:, REGRET], pure.rows(0).T
    assert (np.sign(regrets) == np.where(played > 0, 1, -1)).all()
    np.testing.assert_allclose(np.abs(regrets), regrets.max(1, keepdims=True) + 0 * regrets)
    # So a few iterations leave it as it was.
    begun.advance(30)
    kept = np.maximum(begun.layout.block(begun.sampler.rows, 0)[:, REGRET], 0)
    assert (kept.argmax(1) == played.argmax(1)).mean() > 0.95


def test_the_informed_take_less_from_who_has_met_them(deals):
    """What best responses on the river of one board take from an average strategy, all hands together."""
    none, bets = StreetMenu(), StreetMenu.parse("100%,a")
    menu = BetMenu(((none, none), (none, none), (none, none), (bets, bets)))
    checked = CardGame("checked", Betting.build(replace(SHALLOW, stacks=(40, 40)), menu), deals)

    def taken(informed):
        solver = PublicSampling(checked, seed=6, informed=informed)
        solver.advance(1_000)
        judge = PublicSampling(checked, seed=8, informed=1.0)
        average = solver.average_strategy()
        for node in judge.layout.decisions.tolist():
            judge.layout.block(judge.sampler.rows, node)[:, REGRET] = average.rows(node).T
        judge.sampler.estimate(1)
        twin = PairsOfHands(judge, judge.sampler._stacks[0].dealt.board)
        return sum(twin.responded(player) for player in (0, 1))

    blind, informed = taken(0.0), taken(0.5)
    assert 0 < informed < 0.8 * blind

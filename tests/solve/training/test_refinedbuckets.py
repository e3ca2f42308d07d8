"""Buckets refined by what a trained strategy loses with its neighbours' strategies."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.buckets.potential import StreetDivision, even_shares
from equipoise.abstraction.tables.bucketgame import independent_game
from equipoise.abstraction.tables.transitions import Transitions
from equipoise.errors import GameError
from equipoise.games.rules import LIMIT_HOLDEM
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.training.refinement import neighbour_losses, preflop_ranges, refined_divisions

COUNT = 5
DIVISIONS = (StreetDivision(even_shares(COUNT)),) * 3


class Played:
    """As much of a blueprint as is asked for: rows of a strategy, and buckets before the flop."""

    def __init__(self, strategy, masses):
        self.betting = strategy.game.betting
        self.strategy, self._masses = strategy, masses
        self.abstraction = self

    def rows(self, node):
        return self.strategy.rows(node, self.betting.round_of(node)).astype(np.float32)

    def masses(self, street):
        return self._masses


def _game(preflop: int, edges=(0.0, 0.1, 0.2, 0.9, 1.0)):
    """Buckets that keep their place from the flop on; between the third and fourth is the gap."""
    rng = np.random.default_rng(1)
    keep = 0.9 * np.eye(COUNT) + 0.1 / COUNT
    first = np.zeros((COUNT, preflop))
    first[rng.integers(0, COUNT, preflop), np.arange(preflop)] = 0.5
    first += 0.5 / COUNT
    edge = np.array(edges)
    results = np.sign(edge[:, None] - edge) * np.sqrt(abs(edge[:, None] - edge))
    chances = Transitions(
        np.full(preflop, 1 / preflop), np.ones(1), ((first, keep, keep),), (results,)
    )
    return independent_game(LIMIT_HOLDEM, chances)


@pytest.fixture(scope="module")
def solved():
    game = _game(COUNT)
    solver = DCFR(game)
    solver.advance(60)
    return game, Played(solver.average_strategy(), np.full(COUNT, 1 / COUNT))


def test_the_widest_gap_loses_most_and_is_divided(solved):
    game, played = solved
    told = []
    losses = neighbour_losses(played, game, DIVISIONS, told.append)
    assert [found.street for found in losses] == ["flop", "turn", "river"]
    river = losses[2].losses_bb
    assert river.argmax() == 2
    assert river[2] > 3 * river[0]
    finer = refined_divisions(DIVISIONS, losses, (0, 0, 2))
    assert finer[0] == DIVISIONS[0]
    np.testing.assert_allclose(finer[2].equity, (0.2, 0.4, 0.5, 0.6, 0.7, 0.8))
    assert told[-1].done == told[-1].total == COUNT


def test_looking_leaves_no_trace(solved):
    game, played = solved
    one = neighbour_losses(played, game, DIVISIONS)
    two = neighbour_losses(played, game, DIVISIONS)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first.losses_bb, second.losses_bb)


def test_other_divisions_are_refused(solved):
    game, played = solved
    with pytest.raises(GameError, match="its division 6"):
        neighbour_losses(played, game, (StreetDivision(even_shares(6)),) * 3)


def test_ranges_are_what_bayes_says():
    game = _game(169)
    solver = DCFR(game)
    solver.advance(20)
    masses = np.random.default_rng(2).dirichlet(np.ones(169))
    played = Played(solver.average_strategy(), masses)
    reraise, call = preflop_ranges(played)
    assert reraise.sum() == pytest.approx(1)
    assert call.sum() == pytest.approx(1)
    root = played.rows(0)
    labels = [game.betting.label(child) for child in game.betting.children(0)]
    weight = masses * root[labels.index("call")]
    if weight.sum() < 0.01:
        node = list(game.betting.children(0))[labels.index("raise 20")]
        below = [game.betting.label(child) for child in game.betting.children(node)]
        weight = masses * played.rows(node)[below.index("call")]
    np.testing.assert_allclose(call, weight / weight.sum())

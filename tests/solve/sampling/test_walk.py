"""Walks: bit for bit as a slow walk, and unbiased at every information set, whatever deals."""

from __future__ import annotations

import numpy as np
import pytest
from slowsampling import SlowSampling, slow_holdem, slow_listed
from threesuits import three_suits

from equipoise.abstraction.boardindex import BOARD_CLASSES
from equipoise.abstraction.lookup import lookup
from equipoise.cards.combos import CLASS_SIZE, COMBO_CLASS
from equipoise.cards.preflop import BOARDS_PER_PAIR, table
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, BoardTree
from equipoise.games.catalogue import kuhn, leduc, leduc_nolimit
from equipoise.games.game import Game
from equipoise.games.library.smalldeck import holdem_small
from equipoise.games.menu import BetMenu
from equipoise.games.rules import LIMIT_HOLDEM, Rules
from equipoise.solve.jointdeal import JointDeal
from equipoise.solve.sampling.deals import HoldemDeals, ListedDeals
from equipoise.solve.sampling.mccfr import CardGame, CardSampling, MonteCarloCFR
from equipoise.solve.sampling.rows import AVERAGE, REGRET
from equipoise.solve.sampling.sampler import SCHEMES, Sampler, sampling_rule
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.rowindex import RowIndex
from equipoise.solve.sweep.tableau import Tableau

#: No-limit, all-in on any street, three sizes to choose from.
SHALLOW = Rules("shallow", False, (2, 1), (1, 0, 0, 0), stacks=(12, 12))
#: Those that draw single deals, of a list too.
SINGLE = [scheme for scheme in SCHEMES if scheme != "public"]


# --------------------------------------------------------------------------- the slow twin


def compare(solver, twin, iterations):
    solver.advance(iterations)
    twin.advance(iterations)
    assert solver.sampler.rows.any()
    np.testing.assert_array_equal(solver.sampler.rows, twin.rows)
    assert int(solver.sampler.streams[0]) == twin.stream.state


@pytest.mark.parametrize("linear", [True, False])
def test_walks_listed_deals_as_the_slow_twin(linear):
    game = CardGame.of(holdem_small("short", menu="100%,a"))
    solver = CardSampling(game, seed=3, linear=linear, prune=0.5, prune_after=50)
    twin = SlowSampling(solver.sampler, slow_listed(game.deals))
    compare(solver, twin, 600)
    assert twin.skipped > 50
    assert twin.early > 50


@pytest.mark.parametrize("options", [{}, {"linear": True}, {"clipped": True}])
@pytest.mark.parametrize("scheme", SINGLE)
def test_walks_in_double_precision_as_the_slow_twin(scheme, options):
    game = holdem_small("short", menu="100%,a")
    solver = MonteCarloCFR(game, scheme=scheme, seed=3, **options)
    twin = SlowSampling(solver.sampler, slow_listed(ListedDeals(game)))
    compare(solver, twin, 200)
    assert solver.sampler.rows.dtype == np.float64


@pytest.mark.parametrize("rules", [SHALLOW, LIMIT_HOLDEM], ids=["no-limit", "limit"])
def test_walks_holdem_as_the_slow_twin(deals, rules):
    menu = BetMenu.full() if rules.limit else BetMenu.parse("50%,100%,a")
    game = CardGame("cards", Betting.build(rules, menu), deals)
    solver = CardSampling(game, seed=4, prune=0.02, prune_after=20)
    twin = SlowSampling(solver.sampler, slow_holdem(deals))
    compare(solver, twin, 60 if rules.limit else 250)
    assert twin.skipped > 5
    assert (twin.early > 0) != rules.limit


# ------------------------------------------------------------------------ unbiased estimates


def hole_classes():
    """Hold'em where players know whether their hole cards are a pair, suited or neither.

    As real cards with such buckets, and as a game of three states whose chances and results are those
    of the exact table of hands before the flop.
    """
    names = COMBO_CLASS.astype(np.uint16)
    kinds = np.array([{6: 0, 4: 1, 12: 2}[int(size)] for size in CLASS_SIZE], dtype=np.uint16)
    features = [names, *(np.zeros((BOARD_CLASSES[n], 1326), np.uint16) for n in (3, 4, 5))]
    same = np.arange(3, dtype=np.uint16)[:, None]
    deals = HoldemDeals(lookup(features, [kinds[None], same, same, same]))
    counts = table()
    total = float(counts.pairs.sum())
    into = (kinds[:, None] == np.arange(3)).astype(np.float64)
    mass = into.T @ (counts.pairs / total) @ into
    signed = into.T @ ((counts.wins - counts.wins.T) / (BOARDS_PER_PAIR * total)) @ into
    empty = np.zeros((3, 0), dtype=np.uint8)
    boards = [
        Board(street, street - 1, (), 1.0, (empty, empty), mass=mass, signed=signed)
        for street in range(4)
    ]
    for board in boards[1:]:
        board.arrivals.append((np.arange(3), np.arange(3)))
        board.deals.append(())
    ones = np.ones(3)
    game = Game(
        "hole classes",
        Betting.build(SHALLOW, BetMenu.parse("a")),
        BoardTree(boards, (ones, ones), 1.0, "matrix"),
        2.0,
        lambda *_: "",
        lambda *_: "",
    )
    return game, deals


def exact(sampler, game, states):
    """What an iteration adds in expectation, from full sweeps over the game."""
    tableau, joint, layout = Tableau(game, "float64"), JointDeal(game), sampler.layout
    betting, index = game.betting, tableau.index
    rows = layout.by_state(sampler.rows, REGRET, states, index).astype(np.float64)
    values, reached = tableau.rows(), tableau.rows()
    for player in (0, 1):
        tableau.sweep(player, rowrules.GRADIENT, facing=rows, rows=rows, out=values, plan=reached)
    strategy = TabularStrategy(game, rows, index)
    truth = np.zeros(layout.size)
    for b, node in index.decisions():
        player = int(betting.kind[node])
        value = index.block(values, b, node)
        regret = value - (value * strategy.rows(node, b)).sum(axis=0)
        visits = joint.mass[b].sum(axis=1 - player) * index.block(reached, b, node)
        block = layout.block(truth, node)
        for state, bucket in enumerate(states[b][player]):
            block[bucket, REGRET] += joint.ways[b] * regret[:, state]
            block[bucket, AVERAGE] += joint.ways[b] * visits[:, state]
    return truth


def check_unbiased(sampler, game, states, size, walks=1, rounding=1e-12):
    """Strategies fixed by random regrets, some negative; means over batches against the truth.

    `walks` are those that one walk stands for, `rounding` is that of sums in their precision.
    """
    layout, index = sampler.layout, RowIndex(game)
    regrets = np.random.default_rng(5).uniform(-0.5, 1.0, index.size)
    layout.by_bucket(regrets, REGRET, states, index, sampler.rows)
    before = sampler.rows.copy()
    truth = exact(sampler, game, states)
    found = np.array([sampler.estimate(size) / (size * walks) for _ in range(200)])
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    off = np.abs(mean - truth)
    assert (off <= 5 * error + rounding).all(), (off / (error + rounding)).max()
    # The errors are small enough for the sentence above to mean something.
    kind = np.zeros(layout.size, dtype=np.int64)
    for node in layout.decisions.tolist():
        layout.block(kind, node)[:, AVERAGE] = AVERAGE
    for which in (REGRET, AVERAGE):
        told = (kind == which) & (truth != 0)
        assert np.median(error[told] / np.abs(truth[told])) < 0.15
    np.testing.assert_array_equal(sampler.rows, before)


@pytest.mark.parametrize(
    "game",
    [kuhn(), leduc(), leduc_nolimit(stack=4), three_suits(), three_suits(rake=0.1)],
    ids=["kuhn", "leduc", "no-limit", "merged suits", "raked"],
)
@pytest.mark.parametrize("scheme", SINGLE)
def test_estimates_on_listed_deals_are_unbiased_at_every_information_set(scheme, game):
    deals = ListedDeals(game)
    rule = sampling_rule(exploration=0.6)
    sampler = Sampler(game.betting, deals, rule, scheme=scheme, seed=11, real=np.float64)
    size = 10_000 if scheme == "outcome" else 2000
    check_unbiased(sampler, game, deals.buckets_of(game), size)


@pytest.mark.parametrize("scheme", SINGLE)
def test_estimates_on_real_cards_are_unbiased_at_every_information_set(scheme):
    game, deals = hole_classes()
    rule = sampling_rule(exploration=0.6)
    sampler = Sampler(game.betting, deals, rule, scheme=scheme, seed=11, real=np.float64)
    size = 10_000 if scheme == "outcome" else 2000
    check_unbiased(sampler, game, deals.buckets_of(game), size)


def test_estimates_with_all_hands_at_once_are_unbiased_at_every_information_set():
    game, deals = hole_classes()
    sampler = Sampler(game.betting, deals, sampling_rule(), scheme="public", seed=11)
    # A board leaves C(47, 2) hands, and a walk is one for each of them.
    check_unbiased(sampler, game, deals.buckets_of(game), 40, walks=1081, rounding=1e-5)

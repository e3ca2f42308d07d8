"""Sampling solvers: unbiased at every information set, convergent, reproducible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.errors import ArtefactError, SolverError, TooLargeError
from equipoise.games.betting import Betting, Rake
from equipoise.games.boards import deal_cards
from equipoise.games.catalogue import kuhn, leduc, leduc_nolimit
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules
from equipoise.run import Limit
from equipoise.solve.jointdeal import JointDeal
from equipoise.solve.sampling.mccfr import (
    ChanceSampling,
    ExternalSampling,
    MonteCarloCFR,
    OutcomeSampling,
    alias_table,
)
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep import rowrules

SCHEMES = (ExternalSampling, OutcomeSampling, ChanceSampling)


def three_suits(use_symmetry=True, rake=0.0):
    """Nine cards, one each, two on the board: a pair beats high card; suits only have names."""

    def strength(hands, board):
        ranks, pair = hands[:, 0] // 3, np.isin(hands[:, 0] // 3, np.array(board) // 3)
        return ranks + 10 * pair.astype(np.int64)

    cards = {"suits": 3, "ranks": 3, "hole_cards": 1, "board_cards": (0, 1, 1)}
    rules = Rules(
        "three suits", False, (1, 1), (0, 0, 0), stacks=(4, 4), **cards
    )  # fmt: skip
    betting = Betting.build(rules, BetMenu.parse("a"), Rake(rake))
    deal = deal_cards(**cards, strength=strength, use_symmetry=use_symmetry)
    return Game("three suits", betting, deal, 1.0, lambda *_: "", lambda *_: "")


def random_profile(solver):
    """Strategies fixed by random regrets, some of them negative, alike within an orbit."""
    rng = np.random.default_rng(5)
    solver.regrets[:] = rng.uniform(-0.5, 1.0, solver.regrets.shape)
    solver._share_within_orbits()
    return solver.regrets


def exact(solver):
    """What an iteration adds in expectation, from full sweeps over the game."""
    tableau, joint, rows = solver.tableau, JointDeal(solver.game), solver.regrets
    betting, index = solver.game.betting, solver.tableau.index
    values, reached = tableau.rows(), tableau.rows()
    for player in (0, 1):
        tableau.sweep(player, rowrules.GRADIENT, facing=rows, rows=rows, out=values, plan=reached)
    strategy = TabularStrategy(solver.game, rows, index)
    regrets, plan = np.zeros(index.size), np.zeros(index.size)
    for b, node in index.decisions():
        player = int(betting.kind[node])
        value = index.block(values, b, node)
        regret = value - (value * strategy.rows(node, b)).sum(axis=0)
        visits = joint.mass[b].sum(axis=1 - player) * index.block(reached, b, node)
        first = joint.orbits[b][player]
        for rows_out, numbers in ((regrets, regret), (plan, visits)):
            block = index.block(rows_out, b, node)
            for state, at in enumerate(first):
                block[:, at] += joint.ways[b] * numbers[:, state]
    return regrets, plan


def sampled(solver, batches, size):
    """Mean and standard error of what an iteration adds, by batches."""
    found = [[part / size for part in solver.estimate(size)] for _ in range(batches)]
    for k in (0, 1):
        parts = np.array([batch[k] for batch in found])
        yield parts.mean(axis=0), parts.std(axis=0, ddof=1) / np.sqrt(batches)


@pytest.mark.parametrize(
    "game",
    [kuhn(), leduc(), leduc_nolimit(stack=4), three_suits(), three_suits(rake=0.1)],
    ids=["kuhn", "leduc", "no-limit", "merged suits", "raked"],
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_estimates_are_unbiased_at_every_information_set(scheme, game):
    solver = scheme(game, seed=11)
    before = random_profile(solver).copy()
    truths = exact(solver)
    size = 10_000 if scheme is OutcomeSampling else 2000
    for truth, (mean, error) in zip(truths, sampled(solver, 200, size), strict=True):
        off = np.abs(mean - truth)
        assert (off <= 5 * error + 1e-12).all(), (off / (error + 1e-12)).max()
        # The errors are small enough for the sentence above to mean something.
        assert np.median(error[truth != 0] / np.abs(truth[truth != 0])) < 0.15
    np.testing.assert_array_equal(solver.regrets, before)
    assert not solver.plan.any()


@pytest.mark.parametrize(
    ("scheme", "on_kuhn", "on_leduc"),
    [(ExternalSampling, 0.005, 0.025), (OutcomeSampling, 0.012, 0.13), (ChanceSampling, 0.005, 0.018)],
)  # fmt: skip
def test_converges(scheme, on_kuhn, on_leduc):
    for game, iterations, bound in ((kuhn(), 200_000, on_kuhn), (leduc(), 500_000, on_leduc)):
        solver = scheme(game, seed=7)
        solver.advance(iterations)
        assert solver.exploitability() < bound
    assert solver.value() == pytest.approx(-0.0856, abs=0.02)


@pytest.mark.parametrize("options", [{"linear": True}, {"clipped": True}])
def test_options_converge_too(options):
    solver = ExternalSampling(leduc(), seed=7, **options)
    solver.advance(500_000)
    assert solver.exploitability() < 0.05
    assert (solver.regrets.min() >= 0) == options.get("clipped", False)


def test_linear_weights():
    """Weights 1 to 3 make the plan of a player's first decision add up to six walks."""
    solver = ExternalSampling(kuhn(), seed=1, linear=True)
    solver.advance(3)
    assert solver.tableau.index.block(solver.plan, 0, 0).sum() == pytest.approx(1 + 2 + 3)


def test_merged_suits_converge_and_stay_symmetric():
    solver = ExternalSampling(three_suits(), seed=3)
    solver.advance(100_000)
    block = solver.tableau.index.block(solver.plan, 0, 0)
    np.testing.assert_array_equal(block[:, 0], block[:, 2])
    assert solver.exploitability() < 0.03


@pytest.mark.parametrize("scheme", SCHEMES)
def test_resumes_bit_for_bit(scheme, tmp_path):
    path = tmp_path / "half.eq"
    straight, half = scheme(leduc(), seed=9), scheme(leduc(), seed=9)
    straight.advance(3000)
    half.run(Limit(iterations=1000), checkpoint=path)
    resumed = scheme.load(path, leduc())
    resumed.advance(2000)
    assert resumed.iteration == straight.iteration
    for name, array in straight.arrays().items():
        np.testing.assert_array_equal(resumed.arrays()[name], array)
    other = scheme(leduc(), seed=10)
    other.advance(3000)
    assert (other.plan != straight.plan).any()
    with pytest.raises(ArtefactError):
        MonteCarloCFR.load(path, leduc())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_threads_agree_statistically(scheme):
    bound = 0.13 if scheme is OutcomeSampling else 0.025
    solver = scheme(leduc(), seed=7, threads=2)
    solver.advance(500_001)
    assert solver.iteration == 500_001
    assert solver.exploitability() < bound
    # Every walk of a player passes the other's first decision, less what a race may lose.
    first = solver.tableau.index.block(solver.plan, 0, 0).sum()
    assert 0.9 * 500_001 < first < 500_001.5


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=30))
def test_alias_table_holds_the_distribution(chances):
    chances = np.array(chances) / sum(chances)
    keep, other = alias_table(chances)
    found = np.zeros(len(chances))
    for column, share in enumerate(keep):
        found[column] += share / len(chances)
        found[other[column]] += (1 - share) / len(chances)
    np.testing.assert_allclose(found, chances, atol=1e-12)


def test_refusals():
    with pytest.raises(SolverError, match="scheme 'robust'"):
        MonteCarloCFR(kuhn(), scheme="robust")
    with pytest.raises(SolverError, match="exploration"):
        OutcomeSampling(kuhn(), exploration=0)
    with pytest.raises(SolverError, match="threads"):
        ExternalSampling(kuhn(), threads=0)
    with pytest.raises(SolverError, match="seed"):
        ExternalSampling(kuhn(), seed=-1)
    with pytest.raises(TooLargeError, match=r"24 complete deals.*dcfr"):
        ExternalSampling(leduc(), most_deals=20)

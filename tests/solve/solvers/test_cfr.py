"""The family of counterfactual regret minimisation: how fast each member converges, and why."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from equipoise.errors import SolverError
from equipoise.games.catalogue import holdem_small, kuhn, leduc
from equipoise.games.game import Game
from equipoise.solve.solvers.cfr import CFR, DCFR, CFRPlus, Discounting, LinearCFR, PCFRPlus
from equipoise.solve.strategies.bestresponse import exploitability_of, value_of
from equipoise.solve.strategies.tabular import TabularStrategy

KUHN, LEDUC = kuhn(), leduc()

#: Exploitability in chips after 100 and 1000 iterations, computed by an independent program.
TABLE = [
    (CFR, KUHN, 8.2e-3, 9.4e-4),
    (CFRPlus, KUHN, 1.2e-3, 8.7e-5),
    (LinearCFR, KUHN, 1.1e-3, 9.4e-5),
    (DCFR, KUHN, 1.7e-3, 1.5e-4),
    (PCFRPlus, KUHN, 2.3e-5, 2.4e-8),
    (CFR, LEDUC, 9.6e-2, 1.2e-2),
    (CFRPlus, LEDUC, 1.3e-2, 2.6e-4),
    (LinearCFR, LEDUC, 3.5e-2, 6.7e-3),
    (DCFR, LEDUC, 7.8e-3, 1.5e-4),
    (PCFRPlus, LEDUC, 2.0e-2, 7.1e-4),
]


def member(part: object) -> str:
    return part.name if isinstance(part, Game | type) else ""


@pytest.mark.parametrize(("solver", "game", "hundred", "thousand"), TABLE, ids=member)
def test_exploitability_by_iteration(
    solver: type[CFR], game: Game, hundred: float, thousand: float
) -> None:
    """Within a factor of two of the known figures, from either side."""
    found = solver(game)
    found.advance(100)
    assert hundred / 2 <= found.exploitability() <= 2 * hundred
    found.advance(900)
    assert thousand / 2 <= found.exploitability() <= 2 * thousand


@pytest.mark.parametrize("game", [KUHN, LEDUC], ids=member)
@pytest.mark.parametrize("solver", [CFR, CFRPlus, LinearCFR, DCFR, PCFRPlus], ids=member)
def test_simultaneous_updates_converge_too(solver: type[CFR], game: Game) -> None:
    alternating, simultaneous = solver(game), solver(game, alternating=False)
    for each in (alternating, simultaneous):
        each.advance(1000)
    assert simultaneous.exploitability() < (0.015 if game is KUHN else 0.08)
    assert alternating.average_strategy().distance(simultaneous.average_strategy()) > 1e-6


@pytest.mark.parametrize(
    ("alpha", "beta"), list(product([None, "linear", 1.5], [None, "linear", 0.0, -2.0]))
)
def test_every_combination_converges(alpha: float | str | None, beta: float | str | None) -> None:
    for gamma, clipped, predictive, alternating in product(
        (0.0, 1.0, 2.0), (False, True), (False, True), (True, False)
    ):
        discounting = Discounting(alpha, beta, gamma=gamma, clipped=clipped, predictive=predictive)
        solver = CFR(KUHN, discounting=discounting, alternating=alternating)
        solver.advance(1000)
        assert solver.exploitability() < 0.025, (discounting, alternating)


def test_parts_make_the_members() -> None:
    for named in (CFRPlus, LinearCFR, DCFR, PCFRPlus):
        whole, parts = named(LEDUC), CFR(LEDUC, discounting=named.default)
        for solver in (whole, parts):
            solver.advance(20)
        assert np.array_equal(whole.regrets, parts.regrets)
        assert np.array_equal(whole.plan, parts.plan)


@pytest.mark.parametrize(
    "setting",
    [
        {"alpha": 1.5},
        {"beta": 0.0},
        {"gamma": 1.0},
        {"clipped": True},
        {"predictive": True},
        {"alpha": 1.5, "predictive": True},
        {"beta": 0.0, "predictive": True},
        {"clipped": True, "predictive": True},
        {"alpha": 1.5, "alpha_ramp": 20},
        {"step": 0.1},
    ],
    ids=str,
)
def test_no_setting_is_ignored(setting: dict) -> None:
    """Leaving any one part out of a discounting changes the run."""
    plans = []
    for part in [None, *setting]:
        kept = {key: value for key, value in setting.items() if key != part}
        solver = CFR(LEDUC, discounting=Discounting(**kept))
        solver.advance(20)
        plans.append(solver.plan)
    for other in plans[1:]:
        assert not np.allclose(plans[0], other, rtol=1e-6)


def test_discounts_have_the_iteration_in_the_right_place() -> None:
    """At iteration t what came before is discounted with u = t - 1; the first finds nothing."""
    dcfr = Discounting(alpha=1.5, beta=-0.5, gamma=2.0)
    assert dcfr.parameters(1) == {"positive": 0.0, "negative": 0.0, "keep": 0.0}
    at_five = {"positive": 8 / 9, "negative": 1 / 3, "keep": 0.64}
    assert dcfr.parameters(5) == pytest.approx(at_five)
    linear = LinearCFR.default.parameters(4)
    assert linear == pytest.approx({"positive": 0.75, "negative": 0.75, "keep": 0.75})
    plus = {"positive": 1.0, "negative": 1.0, "keep": 2 / 3, "floor": 0.0}
    assert CFRPlus.default.parameters(3) == pytest.approx(plus)
    assert CFR.default.parameters(9) == {"positive": 1.0, "negative": 1.0, "keep": 1.0}


def test_exponents_grow_and_steps_widen() -> None:
    grown = Discounting(alpha=2.0, alpha_ramp=8, beta=1.0, beta_ramp=4, step=0.5)
    assert grown.parameters(5) == pytest.approx({"positive": 8 / 9, "negative": 4 / 5, "keep": 1.0})
    assert grown.parameters(9)["positive"] == pytest.approx(64 / 65)
    assert "step" not in grown.parameters(16)
    steps = [grown.parameters(t)["step"] for t in (17, 100, 400)]
    assert steps == pytest.approx([0.5, 0.5, 1.0])
    with pytest.raises(SolverError, match="without prediction"):
        Discounting(step=0.5, predictive=True)
    with pytest.raises(SolverError, match="step = -1"):
        Discounting(step=-1.0)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0, 3.5])
def test_the_average_weighs_iteration_t_by_its_power(gamma: float) -> None:
    """The plan is Σ t^γ (reach × strategy), up to a factor."""
    solver = CFR(LEDUC, discounting=Discounting(gamma=gamma, clipped=True))
    tableau = solver.tableau
    expected = tableau.rows()
    for t in range(1, 13):
        # Player 0 is swept for first, against player 1's old rows; player 1 faces his new ones.
        old = solver.regrets.copy()
        solver.step()
        own = tableau.parameters(keep=1.0, gain=t**gamma)
        tableau.mix(1, old, expected, own)
        tableau.mix(0, solver.regrets, expected, own)
    np.testing.assert_allclose(solver.plan * 12**gamma, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("settings", [{"alpha": 3.0}, {"beta": 0.5}, {"gamma": 5.0}], ids=str)
def test_parameters_of_dcfr_matter_and_converge(settings: dict[str, float]) -> None:
    plain, other = DCFR(LEDUC), DCFR(LEDUC, **settings)
    for solver in (plain, other):
        solver.advance(300)
    assert other.exploitability() < 0.03
    assert plain.average_strategy().distance(other.average_strategy()) > 1e-3
    assert other.settings()["discounting"] | settings == other.settings()["discounting"]


def test_negative_exponents_are_refused() -> None:
    with pytest.raises(SolverError, match="alpha = -1"):
        DCFR(KUHN, alpha=-1)
    with pytest.raises(SolverError, match="gamma = -2"):
        DCFR(KUHN, gamma=-2)


@pytest.mark.parametrize("solver", [CFR, CFRPlus, DCFR], ids=member)
@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_sixteen_bits_are_enough(solver: type[CFR], evaluator: str) -> None:
    game = holdem_small("limit", evaluator=evaluator)
    whole, short = solver(game, precision="float32"), solver(game, storage="16-bit")
    assert short.plan.dtype == short.regrets.dtype == np.int16
    for each in (whole, short):
        each.advance(150)
    pot = 2 * float(game.betting.swing.max())
    assert short.value() == pytest.approx(whole.value(), abs=1e-3 * pot)
    assert short.exploitability() == pytest.approx(whole.exploitability(), abs=1e-3 * pot)


def test_padding_takes_no_part_in_the_unit_of_sixteen_bits() -> None:
    """Every decision that learnt something uses the whole range of its integers for real hands."""
    solver = DCFR(holdem_small("limit", evaluator="sorted"), storage="16-bit")
    solver.advance(5)
    index = solver.tableau.index
    largest = []
    for b, node in index.decisions():
        block = index.block(solver.regrets, b, node)
        assert block.shape[1] % 16
        largest.append(int(np.abs(block.astype(int)).max()))
    assert set(largest) <= {0, 32767}
    assert 32767 in largest


def test_sixteen_bits_are_refused_where_they_cannot_be() -> None:
    for settings in (
        {"precision": "float64"},
        {"alternating": False},
        {"discounting": Discounting(predictive=True)},
    ):
        with pytest.raises(SolverError, match="16-bit storage goes with"):
            CFR(KUHN, storage="16-bit", **settings)


@pytest.mark.parametrize("steps", [1, 7, 60])
def test_iterations_one_by_one_or_at_once(steps: int) -> None:
    at_once, one_by_one = CFRPlus(LEDUC), CFRPlus(LEDUC)
    at_once.advance(steps)
    for _ in range(steps):
        one_by_one.step()
    assert at_once.iteration == one_by_one.iteration == steps
    assert np.array_equal(at_once.plan, one_by_one.plan)


def test_regrets_grow_slower_than_time() -> None:
    """The bound that makes CFR work: average positive regret falls with the root of time."""
    solver = CFR(LEDUC)
    solver.advance(100)
    early = np.maximum(solver.regrets, 0).sum() / 100
    solver.advance(1500)
    assert np.maximum(solver.regrets, 0).sum() / 1600 < early / 3


# ------------------------------------------------------------------------- what goes wrong


def test_neither_the_last_strategy_nor_a_plain_mean_will_do() -> None:
    """Behaviours must be weighted by their own reach; the mean of them node by node is not it."""
    solver, known = CFR(LEDUC), 1.2e-2
    tableau = solver.tableau
    weighted, mean = np.zeros_like(solver.plan), np.zeros_like(solver.plan)
    for _ in range(1000):
        faced = solver.regrets.copy()
        solver.step()
        for player, rows in ((0, solver.regrets), (1, faced)):
            strategy = TabularStrategy(LEDUC, rows, tableau.index)
            tableau.mix(player, rows, weighted, tableau.parameters())
            for b, node in tableau.index.decisions():
                if int(LEDUC.betting.kind[node]) == player:
                    tableau.index.block(mean, b, node)[:] += strategy.rows(node, b)
    np.testing.assert_allclose(solver.plan, weighted, rtol=1e-9, atol=1e-12)
    right = solver.exploitability()
    assert right < 1.1 * known
    assert exploitability_of(tableau, mean) > 1.4 * known
    assert exploitability_of(tableau, solver.regrets) > 10 * known


@pytest.mark.parametrize("wrong", ["discounts one late", "t instead of u", "kept and not scaled"])
def test_shifted_discounts_are_another_algorithm(wrong: str) -> None:
    """A wrong t would not be seen in the table of figures alone, but is seen in a few steps."""

    class Shifted(Discounting):
        def parameters(self, t: int) -> dict[str, float]:
            right = super().parameters(t)
            if wrong == "discounts one late":
                return super().parameters(max(t - 1, 1))
            if wrong == "t instead of u":
                return super().parameters(t + 1)
            return right | {"keep": 1.0}

    right, other = DCFR(LEDUC), DCFR(LEDUC, discounting=Shifted(1.5, 0.0, 0, 2.0))
    for solver in (right, other):
        solver.advance(5)
    assert right.average_strategy().distance(other.average_strategy()) > 1e-3


def test_regret_matching_is_in_proportion_to_positive_regrets() -> None:
    solver = CFR(KUHN)
    solver.advance(3)
    tableau = solver.tableau
    plan = tableau.rows()
    for player in (0, 1):
        tableau.mix(player, solver.regrets, plan, tableau.parameters(keep=0.0))
    for b, node in tableau.index.decisions():
        regrets = np.maximum(tableau.index.block(solver.regrets, b, node), 0)
        total = regrets.sum(axis=0)
        expected = np.where(total > 0, regrets / np.where(total > 0, total, 1), 1 / len(regrets))
        shares = tableau.index.block(plan, b, node)
        reach = shares.sum(axis=0)
        np.testing.assert_allclose(shares, expected * reach, atol=1e-15)
    assert value_of(tableau, plan) == pytest.approx(value_of(tableau, solver.regrets), abs=1e-12)

"""Fictitious play: best responses to averages of realisation plans."""

from __future__ import annotations

import numpy as np
import pytest
from twin import Twin

from equipoise.errors import SolverError
from equipoise.games.catalogue import clairvoyance, kuhn, leduc
from equipoise.games.game import Game
from equipoise.solve.solvers.fictitious import BranchFictitiousPlay, FictitiousPlay
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.sweep import rowrules


@pytest.mark.parametrize(
    ("game", "value", "iterations", "exploitable"),
    [
        (kuhn(), -1 / 18, 3000, 5e-3),
        (leduc(), -0.0856064241, 3000, 0.1),
        (clairvoyance(1), 25.0, 3000, 0.5),
    ],
    ids=lambda part: part.name if isinstance(part, Game) else "",
)
def test_value(game: Game, value: float, iterations: int, exploitable: float) -> None:
    solver = FictitiousPlay(game)
    solver.advance(iterations // 10)
    early = solver.exploitability()
    solver.advance(iterations - iterations // 10)
    late = solver.exploitability()
    assert late < exploitable
    assert late < early / 2
    assert solver.value() == pytest.approx(value, abs=2 * late)


@pytest.mark.parametrize("start", [0, 1, 2.5])
def test_plans_are_plain_means_of_best_responses(start: float) -> None:
    """Against the slow twin, both players answering the averages of the iteration before."""
    game = leduc()
    solver, twin = FictitiousPlay(game, start=start), Twin(game)
    plan, uniform = np.zeros_like(solver.plan), solver.tableau.rows()
    if start:
        for player in (0, 1):
            twin.sweep(1 - player, rowrules.VALUE, facing=uniform, rows=uniform, plan=plan)
    for n in range(1, 13):
        solver.step()
        total, response = np.zeros_like(plan), solver._response
        for player in (0, 1):
            played = twin.sweep(player, rowrules.VALUE, facing=plan, rows=response)
            best = twin.sweep(player, rowrules.BEST, facing=plan)
            assert played.sum() == pytest.approx(best.sum(), abs=1e-12)
            twin.sweep(1 - player, rowrules.VALUE, facing=response, rows=response, plan=total)
        plan = ((start + n - 1) * plan + total) / (start + n)
        np.testing.assert_allclose(solver.plan, plan, rtol=0, atol=1e-12)


def test_the_plan_is_a_realisation_plan() -> None:
    """At a player's first decision his actions add up to one, and so they stay for ever."""
    game = leduc()
    solver = FictitiousPlay(game)
    for _ in range(20):
        solver.advance(5)
        first = solver.tableau.index.block(solver.plan, 0, 0)
        np.testing.assert_allclose(first.sum(axis=0), 1.0, atol=1e-12)
        check = int(game.betting.children(0)[0])
        reply = solver.tableau.index.block(solver.plan, 0, check)
        np.testing.assert_allclose(reply.sum(axis=0), 1.0, atol=1e-12)


def test_averaging_behaviours_instead_is_worse() -> None:
    game = leduc()
    solver = FictitiousPlay(game)
    tableau = solver.tableau
    behaviours, response = tableau.rows(), tableau.rows()
    for _ in range(3000):
        for player in (0, 1):
            tableau.sweep(player, rowrules.BEST, facing=behaviours, out=response)
        behaviours += response
    solver.advance(3000)
    assert exploitability_of(tableau, behaviours) > 1.2 * solver.exploitability()


def test_a_start_that_counts_keeps_every_line_in_play() -> None:
    """With no start a line that no response plays has no strategy of its own; with one it has."""
    game = leduc()
    bare, started = (FictitiousPlay(game, start=start) for start in (0, 1))
    live = started.plan > 0
    bare.step()
    started.step()
    assert not bare.plan[live].all()
    assert started.plan[live].all()


@pytest.mark.parametrize("start", [-1, float("nan"), float("inf")])
def test_a_start_is_a_number_of_responses(start: float) -> None:
    with pytest.raises(SolverError, match="counts as 0 or more responses"):
        FictitiousPlay(kuhn(), start=start)


def test_in_turn_player_1_answers_the_newest_average():
    game = kuhn()
    solver = FictitiousPlay(game, alternating=True)
    solver.advance(7)
    twin = FictitiousPlay(game, alternating=True)
    twin.advance(6)
    tableau, par = twin.tableau, twin.tableau.parameters(keep=7 / 8, gain=1 / 8)
    for player in (0, 1):
        tableau.sweep(player, rowrules.BEST, facing=twin.plan, out=twin._response)
        tableau.mix(player, twin._response, twin.plan, par)
    np.testing.assert_array_equal(solver.plan, twin.plan)
    solver.advance(2000)
    assert solver.exploitability() < 0.01


@pytest.mark.parametrize("make", [kuhn, leduc])
def test_one_branch_at_a_time_converges_too(make):
    game = make()
    solver = BranchFictitiousPlay(game)
    solver.advance(20 * solver.branches)
    early = solver.exploitability()
    solver.advance(600 * solver.branches)
    assert solver.exploitability() < early / 3
    assert solver.exploitability() < 0.1 * game.unit_chips


def test_a_branch_leaves_the_behaviour_elsewhere_alone():
    solver = BranchFictitiousPlay(leduc())
    solver.advance(3 * solver.branches + 2)
    before = solver.average_strategy()
    branch = solver.iteration % solver.branches
    solver.step()
    after = solver.average_strategy()
    index, changed = solver.tableau.index, 0
    for board, node in index.decisions():
        same = np.allclose(before.rows(node, board), after.rows(node, board), atol=1e-12)
        if (index.block(solver._branch, board, node) == branch).all():
            changed += not same
        else:
            assert same
    assert changed

"""The depth limit against whole games."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.bench.reproduce.subgames.smalldeck import small_game
from equipoise.errors import SolverError
from equipoise.games.library.kuhn import kuhn
from equipoise.games.library.leduc import leduc
from equipoise.games.rules import Kind
from equipoise.search.depthlimit import (
    Continuations,
    DepthLimitedSolver,
    biased,
    continuations,
    with_choices,
)
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.strategies.bestresponse import response_value, value_of
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau


def nearly_exact(game, iterations=1500):
    solver = DCFR(game)
    solver.advance(iterations)
    return solver.average_strategy(), solver.value()


@pytest.mark.parametrize("make", [leduc, small_game])
@pytest.mark.parametrize("me", [0, 1])
def test_leaves_are_worth_what_the_whole_game_says(make, me: int) -> None:
    """Both play the blueprint: the cut game with its matrices has the value of the whole."""
    game = make()
    tableau = Tableau(game)
    # After a few iterations: far from solved, and the same under every renaming of suits.
    blueprint, _ = nearly_exact(game, 5)
    rows = np.array(blueprint.numbers, dtype=tableau.dtype)
    solver = DepthLimitedSolver(game, 1, me, blueprint, [blueprint])
    for b, node in solver.tableau.index.decisions():
        if int(game.betting.kind[node]) < 2:
            solver.tableau.index.block(solver.plan, b, node)[:] = blueprint.rows(node, b)
        else:
            solver.tableau.index.block(solver.plan, b, node)[:] = 1.0
    solver.value_leaves(0, solver.plan)
    assert value_of(solver.tableau, solver.plan) == pytest.approx(value_of(tableau, rows), abs=1e-6)


@pytest.mark.parametrize("me", [0, 1])
def test_leduc_solved_to_its_first_round(me: int) -> None:
    game = leduc()
    blueprint, value = nearly_exact(game)
    tableau = Tableau(game)
    lost = {}
    for ways in (1, 4):
        his = continuations(blueprint)[:ways]
        solver = DepthLimitedSolver(game, 1, me, blueprint, his)
        solver.advance(400)
        assert solver.exploitability() < 0.02
        rows = solver.combined(blueprint).numbers.astype(tableau.dtype)
        lost[ways] = response_value(tableau, 1 - me, rows) + (1 if me == 0 else -1) * value
    assert lost[4] < lost[1]
    assert lost[4] < 0.1


def test_biased_strategies_are_strategies() -> None:
    strategy = TabularStrategy.uniform(leduc())
    for kind in Kind:
        bent = biased(strategy, kind)
        for b, node in bent.index.decisions():
            assert bent.rows(node, b).sum(axis=0) == pytest.approx(1.0)


def test_a_tree_with_choices_has_them_at_its_leaves() -> None:
    cut = leduc().until(1).betting
    tree = with_choices(cut, 1, 3)
    assert len(tree.kind) == len(cut.kind) + 3 * 5
    assert int((tree.kind == 1).sum()) == int((cut.kind == 1).sum()) + 5


def test_what_is_refused() -> None:
    game = leduc()
    blueprint = TabularStrategy.uniform(game)
    with pytest.raises(SolverError, match="needs a continuation"):
        Continuations(game, 1, 0, blueprint, [])
    with pytest.raises(SolverError, match="strategies of the game"):
        Continuations(game, 1, 0, TabularStrategy.uniform(kuhn()), [blueprint])

"""Solved games reach the values that theory and exact computation give."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.games.catalogue import (
    clairvoyance,
    holdem_small,
    jamfold,
    kuhn,
    kuhn_half_street,
    leduc,
    leduc_nolimit,
)
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.solve.solvers.cfr import CFR, DCFR, CFRPlus
from equipoise.solve.strategies.jamfoldcharts import charts
from equipoise.solve.strategies.tabular import InformationSet, TabularStrategy


def solved(game: Game, iterations: int, solver: type[CFR] = DCFR) -> CFR:
    found = solver(game)
    found.advance(iterations)
    return found


def entry(strategy: TabularStrategy, state: str, betting: str = "") -> InformationSet:
    (found,) = [e for e in strategy if e.state == state and e.betting == betting]
    return found


@pytest.mark.parametrize(
    ("game", "value_chips", "iterations", "exploitable"),
    [
        (kuhn(), -1 / 18, 2000, 2e-4),
        (leduc(), -0.0856064241, 2000, 1e-4),
        (leduc(suits=True), -0.0856064241, 2000, 1e-4),
        (clairvoyance(0.5), 100 / 6, 2000, 0.01),
        (clairvoyance(3), 37.5, 2000, 0.01),
        (clairvoyance(3, step=0.5), 37.5, 4000, 0.1),
    ],
    ids=lambda part: part.name if isinstance(part, Game) else "",
)
def test_value(game: Game, value_chips: float, iterations: int, exploitable: float) -> None:
    solver = solved(game, iterations)
    gap = solver.exploitability()
    assert 0 <= gap < exploitable
    # In a zero-sum game no profile is further from the value than both players' gains together.
    assert solver.value() == pytest.approx(value_chips, abs=2 * gap + 1e-10)


@pytest.mark.parametrize("bet", [25, 50, 80])
def test_half_street_three_cards(bet: int) -> None:
    solver = solved(kuhn_half_street(bet), 4000)
    s = bet / 100
    gap = solver.exploitability()
    assert gap < 0.01
    assert solver.value() == pytest.approx(100 * s * (1 - s) / (6 * (1 + s)), abs=2 * gap)
    strategy = solver.average_strategy()
    assert entry(strategy, "J").probabilities[1] == pytest.approx(s / (1 + s), abs=0.01)
    call = entry(strategy, "Q", f"r{bet}").probabilities[1]
    assert call == pytest.approx((1 - s) / (1 + s), abs=0.01)


def test_clairvoyant_player_bluffs_and_is_called() -> None:
    strategy = solved(clairvoyance(3), 3000).average_strategy()
    assert entry(strategy, "nuts").probabilities[1] == pytest.approx(1, abs=1e-3)
    assert entry(strategy, "air").probabilities[1] == pytest.approx(3 / 4, abs=1e-3)
    call = entry(strategy, "bluff catcher", "r300").probabilities[1]
    assert call == pytest.approx(1 / 4, abs=1e-3)


@pytest.mark.parametrize(
    ("stack", "value_blinds", "jam", "call"),
    [
        (2, 0.00955, 0.8944, 1.0),
        (5, 0.05620, 0.7148, 0.6207),
        (10, -0.04537, 0.5828, 0.3738),
        (20, -0.18319, 0.4024, 0.2173),
    ],
)
def test_jam_or_fold(stack: int, value_blinds: float, jam: float, call: float) -> None:
    solver = solved(jamfold(stack), 10_000)
    assert solver.exploitability() < 1e-6
    assert solver.value() / solver.game.unit_chips == pytest.approx(value_blinds, abs=6e-6)
    shown = charts(solver.average_strategy())
    assert shown.jam_share == pytest.approx(jam, abs=1.5e-4)
    assert shown.call_share == pytest.approx(call, abs=1.5e-4)
    if stack == 10:
        strategy = solver.average_strategy()
        assert entry(strategy, "43s").probabilities[1] == pytest.approx(0.711, abs=0.005)
        assert entry(strategy, "Q6s", "r20").probabilities[1] == pytest.approx(0.403, abs=0.005)


def test_jam_or_fold_with_half_a_blind() -> None:
    """Stacks need not be whole: the value of 7.5 blinds lies between those of 5 and 10."""
    value = solved(jamfold(7.5), 2000).value() / 2
    assert -0.04537 < value < 0.05620


def test_fewer_sizes_cost_the_player_who_has_them() -> None:
    full, never = StreetMenu.parse("*", raises="*"), StreetMenu()
    solvers = [
        solved(leduc_nolimit(stack=6, menu=BetMenu((pair,))), 500)
        for pair in ((never, full), (full, full), (full, never))
    ]
    gap = sum(solver.exploitability() for solver in solvers)
    values = [solver.value() for solver in solvers]
    assert values[0] + 2 * gap < values[1] < values[2] - 2 * gap


def test_both_evaluators_solve_to_the_same_value() -> None:
    found = []
    for evaluator in ("matrix", "sorted"):
        game = holdem_small("limit", evaluator=evaluator)
        solver = solved(game, 400, CFRPlus)
        gap = solver.exploitability()
        assert gap < 0.002
        found.append((solver.value(), gap))
    assert abs(found[0][0] - found[1][0]) < 2 * sum(gap for _, gap in found)


def test_symmetry_of_suits_changes_nothing() -> None:
    """Leduc with and without merged suits: the same strategies for every rank."""
    blind, apart = (
        solved(game, 100, CFR).average_strategy() for game in (leduc(), leduc(suits=True))
    )
    of_rank = {(e.board, e.betting, e.state): e.probabilities for e in blind}
    for e in apart:
        key = (e.board[:1], e.betting, e.state[:1])
        assert np.allclose(e.probabilities, of_rank[key], rtol=0, atol=1e-9)

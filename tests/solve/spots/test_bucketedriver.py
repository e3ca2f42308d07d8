"""Rivers by linear program: exact values, buckets by hand, and what trembling and blockers change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.bench.reproduce.claudico.spots import EXACT_EV_OOP_CHIPS, SPOT_A, SPOT_B, SPOT_C
from equipoise.cards.combos import parse_combo
from equipoise.errors import SolverError
from equipoise.games.spot import Spot
from equipoise.solve.solvers.linear_program import SequenceForm, optimal_plans
from equipoise.solve.spots.bucketedriver import (
    RiverHands,
    bucketed,
    quantile_buckets,
    river_buckets,
    solve_river,
    width_buckets,
)
from equipoise.solve.spots.solution import Solution, solve_spot


def play(solution: Solution, hand: str, *line: str) -> list[float]:
    """What one hand does at a position."""
    position = solution.at(*line)
    hands = position.hands(position.decider()).tolist()
    found: list[float] = np.asarray(position.strategy())[:, hands.index(parse_combo(hand))].tolist()
    return found


def test_who_bluffs_all_in_is_decided_by_one_card() -> None:
    exact = solve_river(SPOT_C)
    assert exact.to_dict()["ev_oop_chips"] == pytest.approx(
        EXACT_EV_OOP_CHIPS["C"], abs=1e-4 * SPOT_C.pot
    )
    assert abs(exact.exploitability_pct_pot) < 1e-4
    assert play(exact, "3s2c")[-1] == pytest.approx(1.0, abs=1e-6)
    assert play(exact, "3c2c")[-1] == pytest.approx(0.0, abs=1e-6)
    quantile = solve_river(SPOT_C, 20)
    assert play(quantile, "3s2c")[-1] == pytest.approx(play(quantile, "3c2c")[-1], abs=1e-9)
    assert play(quantile, "3s2c")[-1] == pytest.approx(0.362, abs=0.01)
    blockers = solve_river(SPOT_C, 20, "blockers")
    assert play(blockers, "3s2c")[-1] == pytest.approx(0.934, abs=0.01)
    assert play(blockers, "3c2c")[-1] < 1e-3


@pytest.mark.parametrize(
    ("spot", "count", "bucketing", "exploitability"),
    [
        (SPOT_A, 4, "quantile", 2.95),
        (SPOT_A, 8, "quantile", 1.117),
        (SPOT_A, 20, "width", 0.619),
        (SPOT_A, 8, "blockers", 3.11),
        (SPOT_B, 20, "quantile", 0.898),
        (SPOT_B, 20, "width", 1.370),
        (SPOT_B, 40, "blockers", 0.315),
    ],
)
def test_the_curve_of_buckets(
    spot: Spot, count: int, bucketing: str, exploitability: float
) -> None:
    found = solve_river(spot, count, bucketing).exploitability_pct_pot
    assert exploitability / 1.25 < found < exploitability * 1.25


def test_bucket_games_are_worth_what_they_are() -> None:
    shares = [
        solve_river(spot, count, tremble=0).to_dict()["program_ev_oop_chips"] / spot.pot
        for spot, count in ((SPOT_A, 8), (SPOT_B, 8), (SPOT_B, 20))
    ]
    assert shares == pytest.approx([0.411632, 0.464589, 0.469874], abs=2e-6)


def test_buckets_by_the_definition_hand_by_hand() -> None:
    game = SPOT_B.game(use_symmetry=False)
    board, (mine, theirs) = game.deal.boards[0], game.deal.initial
    hands = RiverHands(game)
    equity, mass = hands.equities(0)
    rng = np.random.default_rng(3)
    strength = board.strength
    assert strength is not None
    for h in rng.choice(len(mine), 12, replace=False):
        met = won = 0.0
        for k, weight in enumerate(theirs):
            if set(board.hands[0][h]) & set(board.hands[1][k]):
                continue
            met += weight
            won += weight * (1.0 * (strength[0][h] > strength[1][k])
                             + 0.5 * (strength[0][h] == strength[1][k]))  # fmt: skip
        assert equity[h] == pytest.approx(won / met, abs=1e-12)
        assert mass[h] == pytest.approx(mine[h] * met)
    quantiles, widths = quantile_buckets(hands, 0, 20), width_buckets(hands, 0, 20)
    total = mass.sum()
    for h in rng.choice(len(mine), 40, replace=False):
        alike = np.abs(equity - equity[h]) <= 1e-9
        below = mass[equity < equity[h] - 1e-9].sum() + mass[alike].sum() / 2
        assert quantiles[h] == min(19, int(20 * below / total + 1e-9))
        assert widths[h] == min(19, int(20 * equity[h] + 1e-9))


def test_buckets_keep_chances_and_results() -> None:
    game = SPOT_A.game(use_symmetry=False)
    hands = RiverHands(game)
    cells = river_buckets(hands, 7, "quantile")
    small = bucketed(game, hands, cells).deal.boards[0]
    assert small.mass is not None
    assert small.signed is not None
    assert small.mass.sum() == pytest.approx(1.0)
    weights = np.outer(*hands.weights)
    total = (weights * hands.apart).sum()
    assert small.signed.sum() == pytest.approx((weights * hands.signs).sum() / total)
    own = np.outer(cells[0] == 3, cells[1] == 5)
    assert small.mass[3, 5] == pytest.approx((weights * hands.apart * own).sum() / total)


def test_every_action_keeps_its_tremble() -> None:
    game = SPOT_A.game(use_symmetry=False)
    hands = RiverHands(game)
    small = bucketed(game, hands, river_buckets(hands, 5, "quantile"))
    form = SequenceForm(small)
    for player, plan in enumerate(optimal_plans(form, tremble=0.01, unit_chips=400)):
        betting = small.betting
        for node in betting.of_kind(0, player).tolist():
            before = plan[form.sequences(0, node, player)]
            for child in betting.children(node):
                assert (plan[form.sequences(0, child, player)] >= 0.01 * before - 1e-8).all()


def test_a_small_river_agrees_with_the_iterating_solver() -> None:
    spot = Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs,KJs", pot=100, stack=200, menu="50%,a")
    exact, solved = solve_river(spot), solve_spot(spot, target_pct_pot=0.01)
    for key in ("ev_oop_chips", "ev_ip_chips"):
        assert exact.to_dict()[key] == pytest.approx(solved.to_dict()[key], abs=0.02)
    later = replace(spot, line="check, bet 50")
    assert solve_river(later).to_dict()["ev_oop_chips"] == pytest.approx(
        solve_spot(later, target_pct_pot=0.01).to_dict()["ev_oop_chips"], abs=0.03
    )


def test_what_is_no_river_is_refused() -> None:
    turn = Spot("Td9d6hQc", "22+", "TT+", pot=100, stack=200, menu="50%,a")
    with pytest.raises(SolverError, match="rivers"):
        solve_river(turn)
    with pytest.raises(SolverError, match="rake"):
        solve_river(replace(SPOT_A, rake=(0.05, 3.0)))
    with pytest.raises(SolverError, match="tremble"):
        solve_river(SPOT_A, 8, tremble=0.2)

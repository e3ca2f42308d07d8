"""Three-player jam or fold: golden rows, identities, and values by brute force."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.cards.threeway.table import COMPARISONS, combinations_of, table
from equipoise.errors import GameError
from equipoise.solve.tournament.icm import prize_equities
from equipoise.solve.tournament.jamfold3 import (
    DECISIONS,
    JamFold3,
    JamFoldAnswer,
    JamFoldSolver,
    after_hand,
)

#: ev of button, small blind and big blind, and hands in per cent by decision.
ROWS = {
    ((10, 10, 10), (50, 30, 20)): (
        (33.8748, 33.1472, 32.9781), (27.48, 62.97, 7.59, 22.55, 9.02, 1.81),
    ),
    ((10, 10, 10), None): (
        (0.24137, -0.08362, -0.15775), (32.61, 56.29, 18.10, 36.14, 24.28, 13.12),
    ),
    ((15, 10, 5), (50, 30, 20)): (
        (38.9407, 34.0304, 27.0289), (39.71, 73.76, 6.64, 51.73, 28.36, 1.36),
    ),
}  # fmt: skip


@cache
def solved(stacks, prizes, button_folds=False) -> JamFoldAnswer:
    game = JamFold3(stacks, prizes)
    solver = JamFoldSolver(game, button_folds=button_folds)
    return solver.run(1e-5 if prizes is None else 1e-4 * game.unit)


@pytest.mark.parametrize("row", ROWS)
def test_rows(row):
    answer, (ev, ranges) = solved(*row), ROWS[row]
    assert answer.ev == pytest.approx(ev, abs=0.001 if row[1] is None else 0.01)
    assert max(abs(x - y) for x, y in zip(answer.ev, ev, strict=True)) <= answer.error
    assert list(answer.ranges_pct().values()) == pytest.approx(ranges, abs=1)
    assert sum(answer.ev) == pytest.approx(0 if row[1] is None else 100, abs=1e-4)


def test_a_button_that_folds_leaves_heads_up():
    answer = solved((10, 10, 10), None, True)
    assert answer.ev == pytest.approx((0, -0.04537, 0.04537), abs=1e-4)
    ranges = answer.ranges_pct()
    assert (ranges["sb_jam"], ranges["bb_v_sb"]) == pytest.approx((58.27, 37.37), abs=1)


def test_winner_takes_all_is_chips():
    for_chips = solved((10, 10, 10), None)
    game = JamFold3((10, 10, 10), (100, 0, 0))
    solver = JamFoldSolver(game)
    # Its equilibrium is the same: what nobody gains by deviating from it is scaled alike.
    assert max(solver.gains(for_chips.strategy)) == pytest.approx(
        100 / 30 * for_chips.epsilon, abs=1e-5
    )
    ev = solver.values(for_chips.strategy)
    assert ev == pytest.approx([100 * (10 + net) / 30 for net in for_chips.ev], abs=1e-4)


def test_values_by_brute_force():
    """The sums over all hands less those not folded, against one plain sum over 169³."""
    rng = np.random.default_rng(3)
    game = JamFold3((9, 6, 12), (60, 30, 10))
    solver = JamFoldSolver(game)
    played = {name: rng.random(169) * (rng.random(169) < 0.5) for name in DECISIONS}
    j, d, c, e, f, o = (played[name] for name in DECISIONS)
    ways = combinations_of().astype(np.float64)
    k1, k2, k4 = (np.array(game.worth(after_hand(game.stacks, (w,), (0, 0, 0)))) for w in (2, 1, 0))
    pays = {players: game.payoffs(players) for players in ((1, 2), (0, 2), (0, 1), (0, 1, 2))}
    slow = np.zeros(3)
    for a in range(169):
        triple, columns = _order_numbers(a)
        chances = table().units[triple[..., None], columns] / 255
        jam, sb, bb = j[a], np.arange(169)[:, None], np.arange(169)[None, :]
        lines = (
            ((1 - jam) * (1 - d[sb]) * np.ones((1, 169)), k1),
            ((1 - jam) * d[sb] * (1 - e[bb]), k2),
            ((1 - jam) * d[sb] * e[bb], chances @ pays[1, 2]),
            (jam * (1 - c[sb]) * (1 - f[bb]), k4),
            (jam * (1 - c[sb]) * f[bb], chances @ pays[0, 2]),
            (jam * c[sb] * (1 - o[bb]), chances @ pays[0, 1]),
            (jam * c[sb] * o[bb], chances @ pays[0, 1, 2]),
        )
        for reach, worth in lines:
            each = np.broadcast_to(worth, (169, 169, 3))
            slow += np.einsum("bc,bcp->p", ways[a] * reach, each)
    slow /= ways.sum()
    assert solver.values(played) == pytest.approx(slow, abs=1e-4)
    # A gain is what the best answer adds: never negative, and nothing is left to it.
    gains = solver.gains(played)
    assert min(gains) > 0
    for player in range(3):
        better = dict(played)
        for name, values in solver.action_values(player, played).items():
            better[name] = (values[1] > values[0]).astype(float)
        gained = solver.values(better)[player] - solver.values(played)[player]
        assert gained == pytest.approx(gains[player], abs=1e-4)


def _order_numbers(a):
    """With class `a` first: numbers of sorted triples, and their columns for the players' orders."""
    grid = np.stack(np.meshgrid([a], *[np.arange(169)] * 2, indexing="ij"), axis=-1)[0]
    order = np.argsort(grid, axis=-1, kind="stable")
    low, middle, high = np.moveaxis(np.take_along_axis(grid, order, axis=-1), -1, 0)
    triple = high * (high + 1) * (high + 2) // 6 + middle * (middle + 1) // 2 + low
    columns = np.zeros((*triple.shape, 13), dtype=np.int64)
    for seats in permutations(range(3)):
        here = (order == seats).all(axis=-1)
        row = []
        for told in COMPARISONS:
            versus = {(0, 1): told[0], (0, 2): told[1], (1, 2): told[2]}
            versus |= {(y, x): 2 - v for (x, y), v in versus.items()}
            # Who sits at each place, so where each player stands.
            place = [seats.index(player) for player in range(3)]
            row.append(tuple(versus[place[x], place[y]] for x, y in ((0, 1), (0, 2), (1, 2))))
        # Column of the table that holds each of the players' orders.
        columns[here] = [row.index(told) for told in COMPARISONS]
    return triple, columns


def test_prizes_of_stacks():
    assert prize_equities((5, 10, 15), (50, 30, 20)) == pytest.approx((27.5, 34, 38.5))
    assert prize_equities((0, 0, 30), (50, 30, 20), (10, 10, 10)) == (25, 25, 50)
    assert prize_equities((0, 12, 18), (50, 30, 20), (5, 10, 15)) == pytest.approx((20, 38, 42))


stack = st.integers(2, 40).map(lambda half: half / 2)


@settings(max_examples=60, deadline=None)
@given(st.tuples(stack, stack, stack), st.sampled_from([(0, 1), (0, 2), (1, 2), (0, 1, 2)]))
def test_chips_are_kept_and_nobody_wins_more_than_he_covers(stacks, players):
    for told in COMPARISONS:
        x, y, z = told
        standing = (x + y, 2 - x + z, 4 - y - z)
        after = after_hand(stacks, players, standing)
        assert sum(after) == pytest.approx(sum(stacks))
        assert min(after) >= 0
        for player in players:
            assert after[player] <= sum(min(s, stacks[player]) for s in stacks) + 1e-9


@pytest.mark.parametrize(
    ("stacks", "prizes", "why"),
    [
        ((0.5, 10, 10), None, "at least 1 big blind"),
        ((10, 10), None, "at least 1 big blind"),
        ((10, float("nan"), 10), None, "at least 1 big blind"),
        ((10, 10, 10), (20, 30, 50), "prizes fall"),
        ((10, 10, 10), (0, 0, 0), "prizes fall"),
        ((10, 10, 10), (50, 30, -1), "first, second and third"),
    ],
)
def test_what_is_no_game_is_refused(stacks, prizes, why):
    with pytest.raises(GameError, match=why):
        JamFold3(stacks, prizes)

"""Matrix games: supports tried one by one against the linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from equipoise.errors import GameError
from equipoise.solve.solvers.matrixgame import equilibria


def worth(game: NDArray[np.float64]) -> float:
    """What a game is worth to the row player, by linear programming."""
    height, width = game.shape
    found = linprog(
        np.append(np.zeros(height), -1.0),
        A_ub=np.hstack([-game.T, np.ones((width, 1))]),
        b_ub=np.zeros(width),
        A_eq=[[1.0] * height + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * height + [(None, None)],
    )
    assert found.success
    return float(found.x[-1])


def assert_solved(games: NDArray[np.float64]) -> None:
    found = equilibria(games)
    for part in (found.rows, found.columns):
        assert (part >= 0).all()
        assert part.sum(axis=1) == pytest.approx(1)
    size = max(np.abs(games).max(), 1e-300)
    secured = np.einsum("gij,gi->gj", games, found.rows).min(axis=1)
    conceded = np.einsum("gij,gj->gi", games, found.columns).max(axis=1)
    assert secured == pytest.approx(found.values, abs=1e-9 * size)
    assert conceded == pytest.approx(found.values, abs=1e-9 * size)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (4, 4), (2, 5), (4, 3), (6, 6)])
def test_random_games_against_the_linear_program(shape: tuple[int, int]) -> None:
    games = np.random.default_rng(5).uniform(-1, 1, (25, *shape))
    assert_solved(games)
    assert equilibria(games).values == pytest.approx([worth(game) for game in games], abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_games_with_ties(data: st.DataObject) -> None:
    height, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    numbers = st.integers(-2, 2)
    entries = data.draw(st.lists(numbers, min_size=height * width, max_size=height * width))
    assert_solved(np.array(entries, dtype=float).reshape(1, height, width))


def test_supports_are_equally_large_and_threads_agree() -> None:
    games = np.random.default_rng(1).uniform(-1, 1, (3000, 4, 4))
    one, two = equilibria(games, threads=1), equilibria(games, threads=2)
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    sizes = (one.rows > 1e-9).sum(axis=1)
    assert (sizes == (one.columns > 1e-9).sum(axis=1)).all()
    assert set(sizes) == {1, 2, 3, 4}
    # A random 4×4 game has a saddle point with probability 4! 4! / 7! = 4/35.
    assert abs((sizes == 1).mean() - 4 / 35) < 5 * (4 / 35 * 31 / 35 / 3000) ** 0.5


def test_units_do_not_matter() -> None:
    games = np.random.default_rng(2).uniform(-1, 1, (50, 3, 3))
    assert equilibria(1e9 * games).values == pytest.approx(1e9 * equilibria(games).values)
    assert equilibria(1e-9 * games).rows == pytest.approx(equilibria(games).rows)


def test_no_games_and_empty_payoffs() -> None:
    assert len(equilibria(np.zeros((0, 3, 3))).values) == 0
    assert equilibria(np.zeros((1, 2, 2))).values[0] == 0


@pytest.mark.parametrize("bad", [np.zeros((3, 3)), np.zeros((1, 7, 2)), np.zeros((1, 0, 2))])
def test_shapes_that_make_no_sense_are_refused(bad: NDArray[np.float64]) -> None:
    with pytest.raises(GameError, match="1 to 6"):
        equilibria(bad)


def test_payoffs_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(GameError, match="finite"):
        equilibria(np.full((1, 2, 2), np.nan))

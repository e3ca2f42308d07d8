"""Equilibria of many small zero-sum matrix games, exactly.

Shapley and Snow (1950): a matrix game has an optimal pair (x, y) that belongs to a square submatrix
M of the payoffs, and solves

    M y = v 1,   sum y = 1        and        M' x = v 1,   sum x = 1

with x and y zero elsewhere. So trying every pair of equally large supports, small ones first, and
keeping the first whose solution is non-negative and leaves neither player a better action, finds an
equilibrium of any game. Where payoffs are drawn from a continuous distribution it is the only one.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError, SolverError
from equipoise.kernel import exact_kernel, over_chunks

#: Actions beyond which there are too many supports to try.
MOST_ACTIONS = 6
#: Error allowed in probabilities and in payoffs, which are scaled to at most 1.
_EPSILON = 1e-11


class Equilibria(NamedTuple):
    """Equilibria of many games."""

    #: Mixed strategies of the row player, who maximises: [game, row].
    rows: NDArray[np.float64]
    #: Mixed strategies of the column player, who minimises: [game, column].
    columns: NDArray[np.float64]
    #: What each game is worth to the row player.
    values: NDArray[np.float64]


def equilibria(payoffs: NDArray[np.float64], threads: int | None = None) -> Equilibria:
    """Solve games given as payoffs to the row player: [game, row, column].

    >>> rock_paper_scissors = np.array([[[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]])
    >>> found = equilibria(rock_paper_scissors)
    >>> found.rows.round(3).tolist(), abs(float(found.values[0]))
    ([[0.333, 0.333, 0.333]], 0.0)
    """
    games = np.ascontiguousarray(payoffs, dtype=np.float64)
    if games.ndim != 3 or 0 in games.shape[1:] or max(games.shape[1:]) > MOST_ACTIONS:
        raise GameError(
            f"payoffs of shape {games.shape}: give [game, row, column] with 1 to {MOST_ACTIONS} "
            "actions a player"
        )
    if not np.isfinite(games).all():
        raise GameError("payoffs are finite numbers: drop games with others")
    count, height, width = games.shape
    scale = np.maximum(np.abs(games).max(axis=(1, 2), initial=0.0), 1e-300)
    scaled = games / scale[:, None, None]
    found = Equilibria(np.zeros((count, height)), np.zeros((count, width)), np.full(count, np.nan))
    supports = _supports(height, width)

    def work(start: int, stop: int) -> None:
        _solve(scaled, supports, _EPSILON, *found, start, stop)

    if count:
        over_chunks(work, count, threads)
    if np.isnan(found.values).any():
        raise SolverError("payoffs differ by too little to tell supports apart: round them")
    return found._replace(values=found.values * scale)


def _supports(height: int, width: int) -> NDArray[np.int64]:
    """All pairs of equally large supports: [pair, 1 + 2 * size], small ones first."""
    most = min(height, width)
    lines = []
    for size in range(1, most + 1):
        for mine in combinations(range(height), size):
            for his in combinations(range(width), size):
                padding = (0,) * (most - size)
                lines.append((size, *mine, *padding, *his, *padding))
    return np.array(lines, dtype=np.int64)


@exact_kernel
def _solve(
    games: NDArray[np.float64],
    supports: NDArray[np.int64],
    epsilon: float,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    values: NDArray[np.float64],
    start: int,
    stop: int,
) -> None:
    height, width = games.shape[1], games.shape[2]
    most = (supports.shape[1] - 1) // 2
    system = np.zeros((most + 1, most + 2))
    for g in range(start, stop):
        for s in range(len(supports)):
            size = supports[s, 0]
            mine, his = supports[s, 1 : 1 + most], supports[s, 1 + most :]
            if size == 1:
                _one_each(columns[g], rows[g], mine[0], his[0])
                value = games[g, mine[0], his[0]]
            else:
                for i in range(size):
                    for j in range(size):
                        system[i, j] = games[g, mine[i], his[j]]
                if not _mixture(system, size, epsilon, columns[g], his):
                    continue
                value = system[size, size + 1]
            better = False
            for i in range(height):
                total = 0.0
                for j in range(width):
                    total += games[g, i, j] * columns[g, j]
                better |= total > value + epsilon
            if better:
                continue
            if size > 1:
                for i in range(size):
                    for j in range(size):
                        system[j, i] = games[g, mine[i], his[j]]
                if not _mixture(system, size, epsilon, rows[g], mine):
                    continue
            for j in range(width):
                total = 0.0
                for i in range(height):
                    total += games[g, i, j] * rows[g, i]
                better |= total < value - epsilon
            if not better:
                values[g] = value
                break


@exact_kernel
def _one_each(columns: NDArray[np.float64], rows: NDArray[np.float64], mine: int, his: int) -> None:
    rows[:] = 0.0
    columns[:] = 0.0
    rows[mine] = 1.0
    columns[his] = 1.0


@exact_kernel
def _mixture(
    system: NDArray[np.float64],
    size: int,
    epsilon: float,
    out: NDArray[np.float64],
    support: NDArray[np.int64],
) -> bool:
    """Solve M z = v 1, sum z = 1 for the M in `system`, by elimination; whether z is a mixture."""
    for i in range(size):
        system[i, size] = -1.0
        system[i, size + 1] = 0.0
        system[size, i] = 1.0
    system[size, size] = 0.0
    system[size, size + 1] = 1.0
    count = size + 1
    for k in range(count):
        pivot = k
        for i in range(k + 1, count):
            if abs(system[i, k]) > abs(system[pivot, k]):
                pivot = i
        if abs(system[pivot, k]) < epsilon:
            return False
        for j in range(k, count + 1):
            system[k, j], system[pivot, j] = system[pivot, j], system[k, j]
        for i in range(count):
            if i != k:
                factor = system[i, k] / system[k, k]
                for j in range(k, count + 1):
                    system[i, j] -= factor * system[k, j]
    out[:] = 0.0
    for i in range(count):
        system[i, count] /= system[i, i]
    for i in range(size):
        if system[i, count] < -epsilon:
            return False
        out[support[i]] = max(system[i, count], 0.0)
    return True

"""What purification does to strategies computed in an abstraction.

Ganzfried, Sandholm and Waugh, "Strategy Purification and Thresholding" (AAMAS 2012): in random 4×4
zero-sum games with payoffs uniform on [-1, 1], the row player solves the 3×3 game without the last
row and column, and plays that strategy, raw or purified, against the equilibrium of the whole game.
Purifying won more on average, and the paper conjectures for which supports of the equilibria it
helps or changes nothing.

The size of the whole game's support decides some of it. Against the equilibrium all actions of the
row player's support earn the value of the game, so purifying changes nothing where it includes what
the abstract strategy mixes: with support 4 always. Beside it stands what the paper does not
average, the worst case: what a best response takes from the raw and the purified strategy.

A second experiment post-processes unconverged strategies of limit Leduc and measures exploitability
before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.games.catalogue import leduc
from equipoise.run import Event, Limit, Listener
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.solvers.matrixgame import equilibria
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.strategies.postprocessing import PostProcessing, processed, purified, tie_draws

Data = dict[str, Any]

GAMES, QUICK_GAMES = 1_500_000, 100_000
_AT_A_TIME = 50_000

RULES = ("raw", "threshold 0.05", "threshold 0.15", "purify", "fold 0.2")
ITERATIONS = (10, 100, 1000)

#: A probability or a payoff that differs by no more from another is the same.
_SAME = 1e-9
#: Figures that are averaged: payoffs, their difference, games won and lost by it, and losses to a
#: best response.
_FIGURES = ("raw", "pure", "gain", "better", "worse", "raw_lost", "pure_lost")


def run(seed: int, quick: bool, progress: Listener) -> Data:
    """Both experiments."""
    games = QUICK_GAMES if quick else GAMES
    steps = -(-games // _AT_A_TIME)
    matrices = matrix_games(
        games, seed, lambda done: progress(Event(done, steps + len(ITERATIONS), "random games"))
    )
    rows = []
    for number, iterations in enumerate(ITERATIONS):
        progress(Event(steps + number, steps + len(ITERATIONS), "Leduc"))
        rows.append(leduc_after(iterations, seed))
    return {"seed": seed, "matrix_games": matrices, "leduc": {"rules": list(RULES), "rows": rows}}


def matrix_games(count: int, seed: int, progress: Callable[[int], None] | None = None) -> Data:
    """Mean payoff of raw and purified abstract strategies, in all and by supports."""
    rng = np.random.default_rng(seed)
    # Support of the whole game, dropped row in it, dropped column in it, support of the abstract.
    shape = (5, 2, 2, 4)
    tally = np.zeros((1 + 2 * len(_FIGURES), int(np.prod(shape))))
    for start in range(0, count, _AT_A_TIME):
        games = rng.uniform(-1, 1, (min(_AT_A_TIME, count - start), 4, 4))
        kind, figures = _play(games, seed, start // _AT_A_TIME)
        where = np.ravel_multi_index(kind, shape)
        parts = [np.ones(len(games)), *figures, *(figure**2 for figure in figures)]
        for line, part in zip(tally, parts, strict=True):
            line += np.bincount(where, weights=part, minlength=tally.shape[1])
        if progress is not None:
            progress(start // _AT_A_TIME + 1)
    cells = tally.reshape(-1, *shape)
    by_detail = []
    found = np.argwhere(cells[0] > 0)
    for size, row, column, small in found:
        told = {
            "support": int(size),
            "dropped_row_in_support": bool(row),
            "dropped_column_in_support": bool(column),
            "abstract_support": int(small),
        }
        by_detail.append(told | _averages(cells[:, size, row, column, small], count, len(found)))
    return {
        "games": count,
        "all": _averages(cells.sum(axis=(1, 2, 3, 4)), count),
        "by_support": [
            {"support": size} | _averages(cells[:, size].sum(axis=(1, 2, 3)), count, 4)
            for size in range(1, 5)
            if cells[0, size].any()
        ],
        "by_detail": by_detail,
    }


def _play(
    games: NDArray[np.float64], seed: int, batch: int
) -> tuple[tuple[NDArray[np.int64], ...], list[NDArray[np.float64]]]:
    """Supports of each game, and its figures."""
    count = len(games)
    whole, abstract = equilibria(games), equilibria(games[:, :3, :3])
    mixed, pure = np.zeros((count, 4)), np.zeros((count, 4))
    mixed[:, :3] = abstract.rows
    draws = tie_draws(seed, batch, 3, np.arange(count))
    pure[:, :3] = purified(abstract.rows.T, draws).T
    earned = np.einsum("gij,gj->gi", games, whole.columns)
    raw_payoff, pure_payoff = ((plays * earned).sum(axis=1) for plays in (mixed, pure))
    gain = pure_payoff - raw_payoff
    lost = [
        whole.values - np.einsum("gij,gi->gj", games, plays).min(axis=1) for plays in (mixed, pure)
    ]
    kind = (
        (whole.rows > _SAME).sum(axis=1),
        (whole.rows[:, 3] > _SAME).astype(np.int64),
        (whole.columns[:, 3] > _SAME).astype(np.int64),
        (abstract.rows > _SAME).sum(axis=1),
    )
    better, worse = (gain > _SAME).astype(float), (gain < -_SAME).astype(float)
    return kind, [raw_payoff, pure_payoff, gain, better, worse, *lost]


def _averages(cell: NDArray[np.float64], games: int, cases: int = 1) -> Data:
    """Means and half-widths of 95 % intervals from a count, sums and sums of squares.

    The verdict on one of several cases is at 95 % for all of them together (Bonferroni).
    """
    count = float(cell[0])
    means = cell[1 : 1 + len(_FIGURES)] / count
    spread = np.sqrt(np.maximum(cell[1 + len(_FIGURES) :] / count - means**2, 0.0))
    half = 1.96 * spread / np.sqrt(count)
    told: Data = {"games": int(count), "share": count / games}
    for name, mean, width in zip(_FIGURES, means, half, strict=True):
        told |= {name: float(mean), f"{name}_ci95": float(width)}
    return told | {"verdict": _verdict(told, cases)}


def _verdict(told: Data, cases: int) -> str:
    if told["better"] == 0 == told["worse"]:
        return "no change"
    wider = NormalDist().inv_cdf(1 - 0.025 / cases) / 1.96
    if abs(told["gain"]) <= wider * told["gain_ci95"]:
        return "undecided"
    return "improves" if told["gain"] > 0 else "worsens"


def leduc_after(iterations: int, seed: int) -> Data:
    """Exploitability of limit Leduc after some iterations of CFR+, by post-processing rule."""
    solver = CFRPlus(leduc())
    solver.run(Limit(iterations=iterations, check_every=iterations))
    strategy = solver.average_strategy()
    found = {}
    for text in RULES:
        played = processed(strategy, PostProcessing.parse(text, seed))
        found[text] = (
            1000 * exploitability_of(solver.tableau, played.numbers) / solver.game.unit_chips
        )
    return {"iterations": iterations, "exploitability_mbb": found}

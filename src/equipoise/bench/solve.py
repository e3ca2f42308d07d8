"""The spot solver on the example spots: iterations, time and memory, one and two threads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from equipoise.bench.figures import figure
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.solve.spots.cost import spot_cost
from equipoise.solve.spots.spotsolver import SpotSolver

TARGETS = (0.5, 0.3, 0.1)
CHECK_EVERY = 10


def examples() -> Path:
    """The folder of example spots: in the current folder, or beside the source."""
    for folder in (Path.cwd(), Path(__file__).resolve().parents[3]):
        if (folder / "examples" / "spots").is_dir():
            return folder / "examples" / "spots"
    raise EquipoiseError("no examples/spots here: run this from the project's folder")


def run(seed: int = 0) -> dict[str, Any]:
    """Solve every example; the largest ones once, the others best of several."""
    figures: list[dict[str, Any]] = []
    for path in sorted(examples().glob("*.toml"), key=_size):
        figures.extend(_spot(path))
    return {"suite": "solve", "seed": seed, "figures": figures}


def _size(path: Path) -> float:
    return float(spot_cost(Spot.load(path)).memory_mb)


def _spot(path: Path) -> list[dict[str, Any]]:
    name, spot = path.stem, Spot.load(path)
    game = spot.game()
    large = spot_cost(spot).memory_mb > 100
    repeats = 1 if large else 5
    times: dict[int, dict[str, Any]] = {}
    for threads in (1, 2) if len(game.deal.boards) > 1 else (1,):
        runs = [_solve(game, spot.origin.pot, threads) for _ in range(repeats)]
        times[threads] = min(runs, key=lambda run: run["iteration_ms"]) | {
            "seconds": [min(r["seconds"][k] for r in runs) for k in range(len(TARGETS))]
        }
    one = times[1]
    figures = [
        figure(f"{name}: an iteration, 1 thread", one["iteration_ms"], "ms"),
        figure(f"{name}: regrets and average", one["memory_mb"], "MB"),
    ]
    for target, iterations, seconds in zip(TARGETS, one["iterations"], one["seconds"], strict=True):
        figures.append(figure(f"{name}: to {target} % of the pot", seconds, "s"))
        figures.append(figure(f"{name}: iterations to {target} %", iterations, ""))
    if 2 in times:
        gain = one["iteration_ms"] / times[2]["iteration_ms"]
        figures.append(figure(f"{name}: 2 threads over 1", gain, "×", at_least=1.7))
    return figures


def _solve(game: Any, pot: float, threads: int) -> dict[str, Any]:
    """One solve to the last target; the clock runs from the first iteration and counts checks."""
    solver = SpotSolver(game, threads=threads)
    solver.prepare()
    solver.exploitability()
    seconds: list[float] = []
    iterations: list[float] = []
    clock = iterating = 0.0
    while len(seconds) < len(TARGETS) and solver.iteration < 2000:
        began = time.perf_counter()
        solver.advance(CHECK_EVERY)
        iterating += time.perf_counter() - began
        reached = 100 * solver.exploitability() / pot
        clock += time.perf_counter() - began
        while len(seconds) < len(TARGETS) and reached <= TARGETS[len(seconds)]:
            seconds.append(clock)
            iterations.append(float(solver.iteration))
    missing = len(TARGETS) - len(seconds)
    return {
        "iteration_ms": 1e3 * iterating / solver.iteration,
        "memory_mb": solver.memory_bytes / 1e6,
        "seconds": seconds + [float("inf")] * missing,
        "iterations": iterations + [float("inf")] * missing,
    }

"""Which regret minimiser needs fewest iterations on exact spots: rules against spots."""

from __future__ import annotations

from typing import Any

from equipoise.bench.figures import figure
from equipoise.bench.solve import CHECK_EVERY, TARGETS, examples
from equipoise.games.spot import Spot
from equipoise.solve.solvers.cfr import Discounting, Storage
from equipoise.solve.spots.spotsolver import SpotSolver

RULES = {
    "spot (the default)": SpotSolver.default,
    "dcfr(1.5, 0, 2)": Discounting(alpha=1.5, beta=0.0, gamma=2.0),
    "dcfr(1.5, 0, 4)": Discounting(alpha=1.5, beta=0.0, gamma=4.0),
    "dcfr(1.25, 0.5, 4), no ramp": Discounting(alpha=1.25, beta=0.5, gamma=4.0),
    "linear": Discounting(alpha="linear", beta="linear", gamma=1.0),
    "cfr+, quadratic average": Discounting(gamma=2.0, clipped=True),
    "pcfr+": Discounting(gamma=2.0, clipped=True, predictive=True),
}
#: Spot and whether it is stored in 16 bits.
CASES = (
    ("river_small", False),
    ("river_overbets", False),
    ("river_raked", False),
    ("turn_medium", False),
    ("turn_medium", True),
    ("turn_threebet", False),
    ("flop_fourbet", False),
    ("flop_monotone", False),
)
MOST_ITERATIONS = 1000


def run(seed: int = 0) -> dict[str, Any]:
    """Iterations of every rule to each target, a figure for each case."""
    figures: list[dict[str, Any]] = []
    for name, compressed in CASES:
        spot = Spot.load(examples() / f"{name}.toml")
        game = spot.game()
        for rule, discounting in RULES.items():
            if compressed and discounting.predictive:
                continue
            storage: Storage = "16-bit" if compressed else "32-bit"
            solver = SpotSolver(game, discounting=discounting, storage=storage, threads=2)
            left = list(TARGETS)
            most = MOST_ITERATIONS if len(game.deal.boards) < 100 else 300
            while left and solver.iteration < most:
                solver.advance(CHECK_EVERY)
                reached = 100 * solver.exploitability() / spot.origin.pot
                while left and reached <= left[0]:
                    label = f"{name}{', 16 bits' if compressed else ''}: {rule}, to {left.pop(0)} %"
                    figures.append(figure(label, float(solver.iteration), "iterations"))
            for target in left:
                label = f"{name}{', 16 bits' if compressed else ''}: {rule}, to {target} %"
                figures.append(figure(label, float("inf"), f"iterations (not within {most})"))
    return {"suite": "discounting", "seed": seed, "figures": figures}

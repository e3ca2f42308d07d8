"""What thresholds do to the exploitability of a limit agent, inside its own abstraction.

Ganzfried, Sandholm and Waugh, "Strategy Purification and Thresholding" (AAMAS 2012), found that a
degree of thresholding made a limit hold'em agent *less* exploitable, and Claudico's authors build on
that. Here INOT is trained by CFR+ for more and more iterations, every action below a threshold is
dropped and the rest scaled up, and exploitability is measured exactly in the game it was trained on.
The last column is purification, the threshold above every other.

What thresholds take away early is the noise of a run not yet converged; from a converged strategy they
take part of the equilibrium.
"""

from __future__ import annotations

from typing import Any

from equipoise.errors import SolverError
from equipoise.run import Event, Limit, Listener
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.strategies.postprocessing import PostProcessing, processed
from equipoise.solve.training.model import TrainingModel
from equipoise.solve.training.recipe import Recipe

Data = dict[str, Any]

RECIPE = "inot"
ITERATIONS, QUICK_ITERATIONS = (10, 30, 100, 300, 1000), (10, 30, 100)
#: Thresholds; the strategy as computed stands before them and purification after.
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)


def rules_of(thresholds: tuple[float, ...]) -> tuple[str, ...]:
    """The rules of post-processing, from none to purification.

    >>> rules_of((0.1,))
    ('raw', 'threshold 0.1', 'purify')
    """
    return ("raw", *(f"threshold {level:g}" for level in thresholds), "purify")


def run(seed: int, quick: bool, progress: Listener) -> Data:
    """Train INOT, and measure it by threshold after some numbers of iterations."""
    return curve(
        Recipe.load(RECIPE), QUICK_ITERATIONS if quick else ITERATIONS, THRESHOLDS, seed, progress
    )


def curve(
    recipe: Recipe,
    iterations: tuple[int, ...],
    thresholds: tuple[float, ...],
    seed: int,
    progress: Listener,
) -> Data:
    """Exploitability of a recipe's strategy by CFR+, by iterations and post-processing rule."""
    model = TrainingModel(recipe.solved_by("cfr+"), progress=progress)
    if model.game is None:
        raise SolverError(f"{recipe.name} is trained on real cards: choose a recipe with tables")
    solver = CFRPlus(model.game, threads=model.threads)
    rules = rules_of(thresholds)
    rows: list[Data] = []
    for count in iterations:
        progress(Event(solver.iteration, iterations[-1], "CFR+"))
        solver.run(Limit(iterations=count, check_every=count))
        strategy = solver.average_strategy()
        found = {}
        for text in rules:
            played = processed(strategy, PostProcessing.parse(text, seed))
            chips = exploitability_of(solver.tableau, played.numbers)
            found[text] = 1000 * chips / recipe.rules.big_blind
        best = min(found, key=found.__getitem__)
        rows.append({"iterations": count, "exploitability_mbb": found, "best": best})
    return {
        "experiment": "thresholding",
        "recipe": recipe.name,
        "seed": seed,
        "thresholds": list(thresholds),
        "rules": list(rules),
        "rows": rows,
        "a_threshold_helps_after": [
            row["iterations"] for row in rows if row["best"].startswith("threshold")
        ],
    }

"""What it is worth to know the public class of the flop, of the turn, of the river.

Fellows (2010) gave Fell Omen 2 eleven classes of flops, tried classes of later boards besides, and
found that those add little. Here INOT's strategy, which knows no class, is put into INOT's model with
the boards of one street in classes: the chances of buckets and results are counted in each class
apart, and an opponent who knows the class best-responds. What he takes more than in INOT's own model
is what the classes are worth. Counting on fewer boards also makes a difference, so there is a control:
the same number of classes with the same sizes, boards dealt to them at random.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import board_index
from equipoise.abstraction.tables.bucketgame import independent_game
from equipoise.abstraction.tables.transitions import classed_street, transitions
from equipoise.agents.blueprint.files import load_blueprint
from equipoise.run import Event, Listener
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.model import TrainingModel
from equipoise.solve.training.recipe import CLASSED, Recipe

Data = dict[str, Any]
#: Boards of every class that decide results.
BOARDS, QUICK_BOARDS = 20_000, 2_000


def run(seed: int, quick: bool, progress: Listener) -> Data:
    """INOT's exploitability where opponents know nothing, and one street's classes."""
    blueprint = load_blueprint("inot")
    boards = QUICK_BOARDS if quick else BOARDS
    ranges = replace(Recipe.shipped("fell-omen-2").model, boards=boards)
    rows: list[Data] = []
    for number, street in enumerate(CLASSED):
        progress(Event(number, len(CLASSED), f"classes of the {street}"))
        classes = None
        if street != "none":
            told = replace(blueprint.recipe, model=replace(ranges, classes=street))
            classes = TrainingModel(told).classes
        row: Data = {"street": street, "exploitability_sb": _lost(blueprint, boards, classes)}
        if classes is not None:
            row["classes"] = int(classes.max()) + 1
            row["control_sb"] = _lost(blueprint, boards, shuffled(classes, seed))
        rows.append(row)
    base = rows[0]["exploitability_sb"]
    for row in rows[1:]:
        row["worth_sb"] = row["exploitability_sb"] - base
        row["control_worth_sb"] = row["control_sb"] - base
    return {"experiment": "board-classes", "seed": seed, "boards": boards, "rows": rows}


def shuffled(classes: NDArray[np.int8], seed: int) -> NDArray[np.int8]:
    """Classes as likely as those given, boards dealt to them at random."""
    weight = board_index(classed_street(classes) + 2).multiplicity
    order = np.random.default_rng(seed).permutation(len(classes))
    ends = np.cumsum(np.bincount(classes, weight))
    found = np.empty_like(classes)
    middle = np.cumsum(weight[order]) - weight[order] / 2
    found[order] = np.searchsorted(ends, middle).astype(np.int8)
    return found


def _lost(blueprint: Blueprint, boards: int, classes: NDArray[np.int8] | None) -> float:
    """What best responses take from the blueprint in the model of the classes, in small bets."""
    recipe = blueprint.recipe
    chances = transitions(blueprint.abstraction, boards, recipe.model.seed, classes)
    game = independent_game(recipe.rules, chances, recipe.menu)
    return blueprint.in_game(game).exploitability() / blueprint.recipe.rules.big_blind

"""From a trained strategy to better buckets: Fell Omen's refinement, and the ranges that class flops.

Fell Omen 1 divides hands more finely where INOT, playing a neighbouring bucket's strategy, would lose
most (:mod:`equipoise.abstraction.buckets.refinement`): the strategies of two neighbours are swapped for both
players, both opponents respond best, and what they gain over before is the loss. Fell Omen 2 classes
flops by how well they suit the hands that re-raise before the flop against those that only call the
big blind (:mod:`equipoise.abstraction.publicclasses`), and these two ranges are INOT's as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.buckets.potential import StreetDivision
from equipoise.abstraction.buckets.refinement import (
    border_losses,
    grid_neighbours,
    refine_shares,
    swap_losses,
)
from equipoise.abstraction.methods import street_divisions
from equipoise.cards.streets import STREETS
from equipoise.errors import GameError, RecipeError
from equipoise.games.game import Game
from equipoise.games.rules import Kind
from equipoise.run import Event, Listener
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.sweep.tableau import Tableau
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.model import TrainingModel
from equipoise.solve.training.recipe import Recipe

#: Told of streets and pairs: what is looked at, how many are done, how many there are.

_STREETS = STREETS[1:]
#: Share of hands that must call the big blind for their range to be used.
LEAST_LIMPED = 0.01


@dataclass(frozen=True)
class StreetLoss:
    """What neighbours' strategies cost on one street, at every border of equity."""

    street: str
    #: Big blinds a hand, summed over the pairs of buckets along the border.
    losses_bb: NDArray[np.float64]


def neighbour_losses(
    blueprint: Blueprint,
    game: Game,
    divisions: tuple[StreetDivision, StreetDivision, StreetDivision],
    progress: Listener | None = None,
) -> list[StreetLoss]:
    """Losses at the borders of equity on flop, turn and river.

    `game` is the one of independent buckets that the blueprint was trained on, without classes of
    flops, and `divisions` are how its buckets were made.
    """
    if len(game.deal.boards) != 4 or not game.markov:
        raise GameError("refinement is for independent buckets without classes of flops")
    tableau = Tableau(game, "float32")
    rows = tableau.rows()
    index = tableau.index
    for b, node in index.decisions():
        index.block(rows, b, node)[:] = blueprint.rows(node)
    found = []
    for b, (street, division) in enumerate(zip(_STREETS, divisions, strict=True), start=1):
        nodes = [node for board, node in index.decisions() if board == b]
        blocks = [index.block(rows, b, node) for node in nodes]
        ends = np.cumsum([len(block) for block in blocks])[:-1]
        if blocks[0].shape[1] != division.count:
            raise GameError(
                f"the {street} has {blocks[0].shape[1]} buckets, its division {division.count}: "
                "give the divisions that the strategy was trained with"
            )
        strategies = np.concatenate(blocks).T.copy()
        pairs = grid_neighbours(*division.shape)
        done = 0

        def price(
            tried: NDArray[np.float32],
            blocks: list[NDArray[np.float32]] = blocks,
            ends: NDArray[np.int64] = ends,
            street: str = street,
            many: int = len(pairs) + 1,
        ) -> float:
            nonlocal done
            for block, part in zip(blocks, np.split(tried.T, ends), strict=True):
                block[:] = part
            done += 1
            if progress is not None:
                progress(Event(done, many, street))
            return exploitability_of(tableau, rows) / game.unit_chips

        losses = swap_losses(strategies, pairs, price)
        for block, part in zip(blocks, np.split(strategies.T, ends), strict=True):
            block[:] = part
        found.append(StreetLoss(street, border_losses(losses, division.shape)))
    return found


def refined_divisions(
    divisions: tuple[StreetDivision, StreetDivision, StreetDivision],
    losses: list[StreetLoss],
    more: tuple[int, int, int],
) -> tuple[StreetDivision, StreetDivision, StreetDivision]:
    """Divisions with `more` borders of equity on each street, where the losses are greatest."""
    flop, turn, river = (
        StreetDivision(
            refine_shares(division.equity, loss.losses_bb, extra),
            division.positive,
            division.negative,
        )
        for division, loss, extra in zip(divisions, losses, more, strict=True)
    )
    return flop, turn, river


def preflop_ranges(blueprint: Blueprint) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chances of the 169 classes of hole cards after a re-raise of one raise, and after a call.

    The re-raise is the big blind's, the call the small blind's of the big blind. A strategy that
    calls there with less than :data:`LEAST_LIMPED` of its hands has no such range to speak of; the
    big blind's call of the raise stands in for it.
    """
    betting = blueprint.betting
    masses = blueprint.abstraction.masses(0)
    if len(masses) != 169:
        raise GameError(f"{len(masses)} buckets before the flop: ranges are of all 169 classes")

    def child(node: int, kind: Kind) -> int:
        for place, below in enumerate(betting.children(node)):
            action = betting.actions[below]
            if action is not None and action.kind == kind:
                return place
        raise GameError(
            "the first decision has no call and raise: give a strategy of limit hold'em"
        )

    def played(node: int, kind: Kind) -> NDArray[np.float64]:
        weight: NDArray[np.float64] = masses * blueprint.rows(node)[child(node, kind)]
        return weight

    raised = int(betting.first[0]) + child(0, Kind.RAISE)
    reraise, call = played(raised, Kind.RAISE), played(0, Kind.CALL)
    if call.sum() < LEAST_LIMPED:
        call = played(raised, Kind.CALL)
    return reraise / reraise.sum(), call / call.sum()


def refined_recipe(
    blueprint: Blueprint, more: tuple[int, int, int], progress: Listener | None = None
) -> tuple[Recipe, list[StreetLoss]]:
    """The blueprint's recipe with finer buckets, and the losses that say where."""
    recipe = blueprint.recipe
    if recipe.abstraction.get("method") != "potential" or recipe.model.classed:
        raise RecipeError(
            f"{blueprint.name}: only buckets of equity and potential without classes of boards are "
            "refined; give a blueprint such as inot's"
        )
    divisions = street_divisions(recipe.abstraction)
    game = TrainingModel(recipe).game
    assert game is not None
    losses = neighbour_losses(blueprint, game, divisions, progress)
    abstraction: dict[str, Any] = {"method": "potential"}
    for street, division in zip(_STREETS, refined_divisions(divisions, losses, more), strict=True):
        shares = {name: [round(x, 6) for x in getattr(division, name)] for name in division.axes}
        abstraction[street] = shares
    finer = replace(recipe, name=f"{recipe.name}-refined", abstraction=abstraction)
    return finer, losses

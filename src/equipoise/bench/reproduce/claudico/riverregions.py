"""Qualitative models on real rivers, beside the exact solution.

A river with one bet and no raise, both ranges real. Hands are put in order of what they make, cut into
*pieces* of like weight, and stand on [0, 1] in that order, so each range is a piecewise linear distribution:
what :mod:`.orderings` solves for borders. A real hand then plays as the share of its rank that lies in
each region. The model knows neither ties nor which cards rule each other out; a best response with real hands
says what that costs, and the linear program over all hands is the exact solution beside it.
"""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.bench.reproduce.claudico.orderings import solve_regions
from equipoise.bench.reproduce.claudico.regions import Hands, Regions, check_regions
from equipoise.bench.reproduce.claudico.spots import SPOT_A, SPOT_B
from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.spot import Spot
from equipoise.solve.spots.bucketedriver import RiverHands, solve_river
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.sweep.rowindex import RowIndex, aligned
from equipoise.solve.sweep.tableau import Tableau

Data = dict[str, Any]
Floats = NDArray[np.float64]

#: Pieces of the distributions.
PIECES, QUICK_PIECES = (5, 10, 20, 40), (5, 20)
#: Share of a range that every piece has at least: a distribution has to rise.
_HAIR = 1e-6


def limit_river(spot: Spot, bets_in_pot: int) -> Spot:
    """A river with one bet, of which the pot holds so many, and no raise."""
    bet = spot.pot // bets_in_pot
    menu = BetMenu.from_dict({"bets": "a", "raises": ""})
    return replace(spot, stack=bet, menu=menu, name=f"{spot.name}, pot of {bets_in_pot} bets")


def _exchanged(spot: Spot) -> Spot:
    """The same river with the ranges the other way round."""
    return replace(
        spot,
        oop_range=spot.ip_range,
        ip_range=spot.oop_range,
        name=f"{spot.name}, ranges exchanged",
    )


#: Rivers that are solved both ways.
RIVERS = tuple(
    limit_river(spot, bets)
    for spot in (SPOT_A, _exchanged(SPOT_A), SPOT_B, _exchanged(SPOT_B))
    for bets in (1, 4)
)


class OrderedHands:
    """Both players' hands on [0, 1] by what they make, cut into at most so many pieces."""

    def __init__(self, game: Game, pieces: int) -> None:
        board, hands = game.deal.boards[0], RiverHands(game)
        assert board.strength is not None
        ranks, which = np.unique(np.concatenate(board.strength), return_inverse=True)
        split = len(board.strength[0])
        #: Rank of each player's hands, weakest first.
        self.rank = (which[:split], which[split:])
        masses = [hands.equities(player)[1] for player in (0, 1)]
        by_rank = [
            np.bincount(rank, mass, len(ranks)) / mass.sum()
            for rank, mass in zip(self.rank, masses, strict=True)
        ]
        both = (by_rank[0] + by_rank[1]) / 2
        middles = np.cumsum(both) - both / 2
        cut = np.minimum(pieces - 1, np.floor(pieces * middles + 1e-9).astype(np.int64))
        used, piece = np.unique(cut, return_inverse=True)
        count = len(used)
        heavy = np.bincount(piece, both, count)
        inside = np.concatenate([[0.0], np.cumsum(both)])
        before = inside[np.searchsorted(piece, np.arange(count))]
        #: Where each rank begins and ends on [0, 1].
        self.left = (piece + (inside[:-1] - before[piece]) / heavy[piece]) / count
        self.right = (piece + (inside[1:] - before[piece]) / heavy[piece]) / count
        #: Both ranges as distributions.
        self.own, self.other = (_distribution(piece, mass) for mass in by_rank)

    def above(self, border: float, player: int) -> Floats:
        """Share of each hand's rank above a border."""
        width = np.maximum(self.right - self.left, 1e-15)
        shares: Floats = np.clip((self.right - border) / width, 0, 1)[self.rank[player]]
        return shares


def _distribution(piece: NDArray[np.int64], mass: Floats) -> Hands:
    shares: Floats = np.maximum(np.bincount(piece, mass).astype(np.float64), _HAIR)
    ends = np.concatenate([[0.0], np.cumsum(shares / shares.sum())])
    ends[-1] = 1.0
    places = np.linspace(0, 1, len(ends))
    return Hands(tuple(zip(places.tolist(), ends.tolist(), strict=True)))


def lifted(game: Game, hands: OrderedHands, at: Regions) -> NDArray[Any]:
    """What all hands play, in the order of the game's rows: as their rank lies in the regions."""
    bets = 1 - hands.above(at.b, 0) + hands.above(at.a, 0)
    stabs = 1 - hands.above(at.f, 1) + hands.above(at.e, 1)
    # Lines of a river with one bet: what was played before, and how often the bolder action is taken.
    bold = {(): bets, (0,): stabs, (0, 1): hands.above(at.c, 0), (1,): hands.above(at.d, 1)}
    betting, index = game.betting, RowIndex(game)
    rows = aligned(index.size, np.float32)
    for b, node in index.decisions():
        line: list[int] = []
        below = node
        while (above := int(betting.parent[below])) >= 0:
            line.insert(0, below - int(betting.first[above]))
            below = above
        share = np.clip(bold[tuple(line)], 0, 1)
        index.block(rows, b, node)[:] = [1 - share, share]
    return rows


def solve_by_regions(spot: Spot, pieces: int) -> Data:
    """A river with one bet by regions: borders, ε inside the model, exploitability with real hands."""
    game = spot.game(use_symmetry=False)
    began = process_time()
    hands = OrderedHands(game, pieces)
    pot = spot.pot / spot.stack
    found, ordering = solve_regions(pot, hands.own, hands.other)
    took = process_time() - began
    checked = check_regions(pot, hands.own, hands.other, found)
    gain = exploitability_of(Tableau(game), lifted(game, hands, found))
    return {
        "pieces": pieces,
        "ordering": ordering,
        "borders": found._asdict(),
        "share_of_pot": checked.value / pot + 0.5,
        "model_epsilon_pct_pot": 100 * float(checked.epsilon) / pot,
        "exploitability_pct_pot": 100 * gain / spot.pot,
        "cpu_seconds": took,
    }


def river_rows(quick: bool) -> list[Data]:
    """Every river by regions of several pieces, and exactly."""
    rows: list[Data] = []
    for spot in RIVERS:
        began = process_time()
        exact = solve_river(spot)
        told: Data = {
            "river": spot.name,
            "bets_in_pot": spot.pot / spot.stack,
            "exact": {
                "share_of_pot": exact.to_dict()["ev_oop_chips"] / spot.pot,
                "exploitability_pct_pot": exact.exploitability_pct_pot,
                "cpu_seconds": process_time() - began,
            },
            "by_regions": [],
        }
        for pieces in QUICK_PIECES if quick else PIECES:
            try:
                told["by_regions"].append(solve_by_regions(spot, pieces))
            except SolverError as error:
                told["by_regions"].append({"pieces": pieces, "failed": str(error)})
        rows.append(told)
    return rows

"""Small-deck hold'em by the search's own gadgets, and the depth limit, refereed by the whole game.

Two private cards of a small deck, two rounds, no-limit: the second round is solved again for one seat
from a blueprint, every board and line, and the whole game says how exploitable the seat then is. The
depth limit is refereed alike: the first round is solved with what follows given, by one continuation or by
several among which the opponent chooses, and the blueprint is played after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.bench.reproduce.subgames.sequences import Gadgets
from equipoise.games.game import Game
from equipoise.games.library.leduc import leduc
from equipoise.games.library.smalldeck import holdem_small
from equipoise.games.nodes import DEAL
from equipoise.search.depthlimit import DepthLimitedSolver, continuations
from equipoise.search.gadgets import UNSAFE, Gadget, SubgameSolver, meeting, with_gifts
from equipoise.search.gifts import line_gifts
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.strategies.bestresponse import response_value
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Rows, Tableau

Data = dict[str, Any]

METHODS: dict[str, tuple[Gadgets, str]] = {
    "unsafe": ("unsafe", ""),
    "resolve, best response": ("resolve", "best"),
    "resolve, self-play": ("resolve", "self"),
    "maxmargin": ("maxmargin", "best"),
    "reach-maxmargin": ("maxmargin", "reach"),
}


def small_game() -> Game:
    """Ten cards, two of them private, one public; antes, bets of the pot or all-in."""
    return holdem_small(
        "short", ranks=5, suits=2, board_cards=(0, 1), stack=8, blinds=(1, 1), menu="100%,a",
        max_raises=2, evaluator="matrix",
    )  # fmt: skip


def blueprint_of(game: Game, noise: float, iterations: int = 1000) -> tuple[Rows, float]:
    """A nearly exact strategy mixed with the uniform one, and the value of the game."""
    solver = DCFR(game)
    solver.advance(iterations)
    numbers = solver.tableau.rows()
    for b, node in solver.tableau.index.decisions():
        play = probabilities(solver.tableau.index.block(solver.plan, b, node))
        mixed = (1 - noise) * play + noise / len(play)
        solver.tableau.index.block(numbers, b, node)[:] = mixed
    return numbers, solver.value()


def lost(tableau: Tableau, rows: Rows, seat: int, value: float) -> float:
    """Exploitability of a seat in chips."""
    sign = 1 if seat == 0 else -1
    return response_value(tableau, 1 - seat, rows) + sign * value


def reach_at(tableau: Tableau, rows: Rows, leaf: int) -> list[np.ndarray[Any, Any]]:
    """Reach of both players' states at the end of a line of the first round."""
    betting = tableau.game.betting
    reach = [np.array(own, dtype=np.float64) for own in tableau.game.deal.initial]
    node = leaf
    while (above := int(betting.parent[node])) >= 0:
        player = int(betting.kind[above])
        play = probabilities(tableau.index.block(rows, 0, above))
        reach[player] = reach[player] * play[node - int(betting.first[above])]
        node = above
    return reach


def second_rounds_resolved(
    tableau: Tableau, rows: Rows, seat: int, method: str, iterations: int
) -> tuple[Rows, float]:
    """A seat's second rounds solved again; and the least margin in chips."""
    kind, source = METHODS[method]
    game, betting, he = tableau.game, tableau.game.betting, 1 - seat
    new, least = rows.copy(), float("inf")
    best = tableau.rows()
    tableau.sweep(he, rowrules.BEST, facing=rows, out=best)
    leaves = betting.of_kind(0, DEAL).tolist()
    gifts = {leaf: line_gifts(tableau, rows, he, leaf) for leaf in leaves}
    for b in game.deal.children(0):
        board = game.deal.boards[b]
        worth = tableau.values(he, b, rows, None if source == "self" else best)
        for leaf in leaves:
            root = int(betting.next_root[leaf])
            arriving = reach_at(tableau, rows, leaf)
            mine, his = (arriving[p][board.arrivals[0][p]] for p in (seat, he))
            if mine.sum() < 1e-9:
                continue
            small = game.below(root, b)
            mass = meeting(small, he, mine)
            held = mass > 1e-5 * mass.max()
            chips = np.where(held, worth[root] / board.weight / np.where(held, mass, 1.0), 0.0)
            if source == "reach":
                chips = with_gifts(chips, gifts[leaf][board.arrivals[0][he]])
            gadget = UNSAFE if kind == "unsafe" else Gadget(kind, chips)
            ranges = (mine, his) if seat == 0 else (his, mine)
            solver = SubgameSolver(small, ranges=ranges, gadget=gadget, me=seat)
            solver.advance(iterations)
            if kind != "unsafe":
                least = min(least, float(solver.margins().min()))
            nodes = betting.below(root)[1]
            for own in small.betting.of_kind(0, seat).tolist():
                play = probabilities(solver.tableau.index.block(solver.plan, 0, own))
                tableau.index.block(new, b, int(nodes[own]))[:] = play
    return new, least


def small_table(iterations: int, noise: float = 0.2) -> Data:
    """Exploitability of both seats in chips, from a noisy blueprint, by every method."""
    game = small_game()
    tableau = Tableau(game)
    rows, value = blueprint_of(game, noise)
    found: Data = {"game": game.name, "value": value, "iterations": iterations, "rows": {}}
    found["rows"]["blueprint"] = {"lost": [lost(tableau, rows, seat, value) for seat in (0, 1)]}
    for method in METHODS:
        seats, margins = [], []
        for seat in (0, 1):
            new, least = second_rounds_resolved(tableau, rows, seat, method, iterations)
            seats.append(lost(tableau, new, seat, value))
            margins.append(least)
        found["rows"][method] = {"lost": seats, "least_margin": margins}
    return found


def depth_limited(
    game: Game, blueprint: TabularStrategy, seat: int, ways: int, iterations: int
) -> TabularStrategy:
    """A first round solved with so many continuations, the blueprint after it."""
    his = continuations(blueprint)[:ways]
    solver = DepthLimitedSolver(game, 1, seat, blueprint, his)
    solver.advance(iterations)
    return solver.combined(blueprint)


def depth_table(iterations: int) -> Data:
    """Exploitability of a seat whose first round is solved to a depth limit, in chips."""
    found: Data = {"iterations": iterations, "rows": {}}
    for name, game in (("leduc", leduc()), ("small deck", small_game())):
        rows, value = blueprint_of(game, 0.0)
        tableau = Tableau(game)
        blueprint = TabularStrategy(game, rows, tableau.index)
        row: Data = {"blueprint": [lost(tableau, rows, seat, value) for seat in (0, 1)]}
        for ways in (1, 4):
            row[f"{ways} continuation{'s' * (ways > 1)}"] = [
                lost(
                    tableau,
                    depth_limited(game, blueprint, seat, ways, iterations).numbers.astype(
                        tableau.dtype
                    ),
                    seat,
                    value,
                )
                for seat in (0, 1)
            ]
        found["rows"][name] = row
    return found

"""Small-deck hold'em by the search's own gadgets, and the depth limit, refereed by the whole game.

Two private cards of a small deck, two rounds, no-limit: the second round is solved again for one seat
from a blueprint, every board and line, and the whole game says how exploitable the seat then is. The
depth limit is refereed alike: the first round is solved with what follows given, by one continuation or by
several among which the opponent chooses, and the blueprint is played after it.
"""

from __future__ import annotations

from typing import Any

from equipoise.bench.reproduce.subgames.nextround import METHODS, TwoRounds
from equipoise.games.game import Game
from equipoise.games.library.leduc import leduc
from equipoise.games.library.smalldeck import holdem_small
from equipoise.search.depthlimit import DepthLimitedSolver, continuations
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Rows

Data = dict[str, Any]


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


def small_table(iterations: int, noise: float = 0.2) -> Data:
    """Exploitability of both seats in chips, from a noisy blueprint, by every method."""
    game = small_game()
    rows, value = blueprint_of(game, noise)
    whole = TwoRounds(game, value)
    found: Data = {"game": game.name, "value": value, "iterations": iterations}
    found["rows"] = {"blueprint": {"lost": whole.lost(rows)[:2]}}
    for method in METHODS:
        seats, margins = [], []
        for seat in (0, 1):
            new, least = whole.resolved(rows, seat, method, iterations)
            seats.append(whole.lost(new)[seat])
            margins.append(least)
        found["rows"][method] = {"lost": seats, "least_margin_pct_pot": margins}
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
        whole = TwoRounds(game, value)
        blueprint = TabularStrategy(game, rows, whole.tableau.index)
        row: Data = {"blueprint": whole.lost(rows)[:2]}
        for ways in (1, 4):
            seats = []
            for seat in (0, 1):
                played = depth_limited(game, blueprint, seat, ways, iterations).numbers
                seats.append(whole.lost(played.astype(whole.tableau.dtype))[seat])
            row[f"{ways} continuation{'s' * (ways > 1)}"] = seats
        found["rows"][name] = row
    return found

"""Rivers at the table by linear program over buckets of like hands, as Claudico solved them."""

from __future__ import annotations

from time import perf_counter

from equipoise.errors import SolverError
from equipoise.search.gadgets import UNSAFE, SubgameSolver
from equipoise.search.menus import check_menu
from equipoise.search.solved import Solved
from equipoise.search.subgame import Subgame, hand_combos
from equipoise.solve.spots.bucketedriver import Program, solve_program


def solve_by_program(subgame: Subgame, me: int, program: Program) -> Solved:
    """Solve a river by linear program: a subgame like any other, its strategy found at once.

    Hands outside a range, which are there with a hair of weight, play as the bucket that their equity
    puts them in.
    """
    if subgame.state.rules.rounds - subgame.state.round != 1:
        raise SolverError("linear programs are for rivers: search earlier streets otherwise")
    check_menu(subgame.menu, subgame.state)
    began = perf_counter()
    game = subgame.game(use_symmetry=False)
    rows, _, _ = solve_program(game, program, subgame.pot)
    combos = hand_combos(game.deal.boards[0])
    ranges = (subgame.ranges[0][combos[0]], subgame.ranges[1][combos[1]])
    solver = SubgameSolver(game, ranges=ranges, gadget=UNSAFE, me=me)
    solver.plan[:] = rows
    return Solved(subgame, solver, perf_counter() - began)

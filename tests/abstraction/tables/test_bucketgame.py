"""Bucket games: readable, symmetric, and solved alike by solvers that share little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.abstraction.tables.bucketgame import bucket_game, independent_game
from equipoise.abstraction.tables.joint import JointTables, count_tables
from equipoise.abstraction.tables.transitions import Transitions
from equipoise.errors import GameError, SolverError
from equipoise.games.game import Game
from equipoise.games.library.smalldeck import SmallDeck
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, ONE_BET_HOLDEM, Kind
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.solvers.egt import ExcessiveGap
from equipoise.solve.solvers.linear_program import LinearProgram
from equipoise.solve.strategies.bestresponse import exploitability_of, response_value, value_of
from equipoise.solve.sweep.tableau import Tableau


@pytest.fixture(scope="module")
def tables() -> JointTables:
    return count_tables(EquityBuckets(2).lookup(), boards=40, seed=3)


def always(game: Game, *wanted: Kind) -> np.ndarray:
    """Rows of a profile that plays the first of the wanted actions that it may."""
    tableau = Tableau(game)
    plan = tableau.rows()
    for board, node in tableau.index.decisions():
        kinds = [game.betting.actions[child].kind for child in game.betting.children(node)]
        choice = next(kinds.index(kind) for kind in wanted if kind in kinds)
        tableau.index.block(plan, board, node)[choice] = 1.0
    return plan


def test_solvers_agree_on_a_bucket_game(tables: JointTables) -> None:
    rules = replace(ONE_BET_HOLDEM, max_raises=(1, 0, 1, 1))
    game = bucket_game(rules, tables)
    program = LinearProgram(game)
    program.step()
    solver = CFRPlus(game)
    solver.advance(1000)
    assert program.exploitability() < 1e-6
    assert solver.exploitability() < 0.01
    assert solver.value() == pytest.approx(program.value(), abs=0.01)


def test_checking_down_is_worth_nothing_between_equal_players(tables: JointTables) -> None:
    game = bucket_game(ONE_BET_HOLDEM, tables)
    plan = always(game, Kind.CALL)
    tableau = Tableau(game)
    assert value_of(tableau, plan) == pytest.approx(0, abs=1e-9)
    # Raising always from both seats must be symmetric as well, in a larger pot.
    assert exploitability_of(tableau, plan) > 1


def test_always_folding_loses_three_quarters_of_a_big_blind(tables: JointTables) -> None:
    game = bucket_game(NOLIMIT_HOLDEM, tables, "100%,a")
    tableau = Tableau(game, precision="float64")
    plan = always(game, Kind.FOLD, Kind.CALL)
    big = NOLIMIT_HOLDEM.big_blind
    # The small blind takes the big one; the big blind takes the small one.
    gains = sorted(response_value(tableau, player, plan) / big for player in (0, 1))
    assert gains == pytest.approx([0.5, 1.0], abs=1e-6)
    assert exploitability_of(tableau, plan) / big == pytest.approx(0.75, abs=1e-6)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_to_a_caller_in_closed_form(tables: JointTables, seat: int) -> None:
    game = bucket_game(NOLIMIT_HOLDEM, tables, "100%,a")
    tableau = Tableau(game, precision="float64")
    plan = always(game, Kind.CALL)
    # He bets 200 big blinds on the river with what is ahead there, and checks what is behind.
    ahead = tables.signed[3].astype(np.float64).sum(axis=1)
    expected = 200 * ahead[ahead > 0].sum() + ahead[ahead < 0].sum()
    found = response_value(tableau, seat, plan) / NOLIMIT_HOLDEM.big_blind
    assert found == pytest.approx(expected, rel=1e-6)


def test_states_have_readable_names(tables: JointTables) -> None:
    game = bucket_game(ONE_BET_HOLDEM, tables)
    boards = game.deal.boards
    assert game.board_name(boards[3]) == "river"
    assert game.state_name(boards[0], 0, 1) == "2"
    assert game.state_name(boards[1], 0, 0) == "1-1"
    assert game.state_name(boards[3], 0, 6) == "1-2-2-1"
    assert game.perfect_recall


def small_transitions() -> Transitions:
    """Two streets and two public classes with different chances."""
    rng = np.random.default_rng(4)
    steps = tuple((rng.dirichlet(np.ones(4), size=3).T,) for _ in range(2))
    results = []
    for _ in range(2):
        result = rng.uniform(-1, 1, (4, 4))
        results.append((result - result.T) / 2)
    prior = np.array([0.5, 0.3, 0.2])
    return Transitions(prior, np.array([0.6, 0.4]), steps, tuple(results), (0, 1))


def test_a_game_that_forgets_says_so() -> None:
    rules = SmallDeck(limit=True, max_raises=2, blinds=(2, 1)).rules()
    game = independent_game(rules, small_transitions())
    assert game.markov
    assert not game.perfect_recall
    assert len(game.deal.boards) == 3
    assert game.board_name(game.deal.boards[2]) == "flop of class 2"
    for refused in (ExcessiveGap, LinearProgram):
        with pytest.raises(SolverError, match="recall"):
            refused(game)
    solver = CFRPlus(game)
    solver.advance(500)
    assert solver.exploitability() < 0.01
    # Chances are part of what is solved.
    other = small_transitions()
    other.steps[0][0][:] = other.steps[1][0]
    assert independent_game(rules, other).fingerprint() != game.fingerprint()


def test_what_does_not_fit_is_refused(tables: JointTables) -> None:
    with pytest.raises(GameError, match="choose a bet menu"):
        bucket_game(NOLIMIT_HOLDEM, tables)
    with pytest.raises(GameError, match="public cards"):
        bucket_game(SmallDeck().rules(), tables)
    with pytest.raises(GameError, match="public cards"):
        independent_game(LIMIT_HOLDEM, small_transitions())

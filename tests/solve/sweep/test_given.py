"""Lines of betting that are cut, and worth what the caller gives."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from enumerator import Cards, Referee
from test_referee import by_ranks, random_play, rows_of
from test_sweep import STREETS, random_rows

from equipoise.errors import GameError, SolverError
from equipoise.games.catalogue import holdem_small, leduc
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL, GIVEN
from equipoise.solve.registry import make_solver
from equipoise.solve.strategies.bestresponse import exploitability_of, response_value, value_of
from equipoise.solve.sweep.rowrules import VALUE
from equipoise.solve.sweep.tableau import Tableau


@cache
def worth(player: int, hole: Cards, text: str) -> float:
    """Any chips, the same each time."""
    rank = hole[0] // 2
    seed = [player, rank, *text.encode()]
    return float(np.random.default_rng(seed).normal(scale=4.0))


@pytest.mark.parametrize("seed", range(2))
def test_leduc_cut_after_its_first_round_agrees_with_the_enumerator(seed: int) -> None:
    game = leduc(suits=True).until(1)
    rules, menu = game.betting.rules, game.betting.menu
    play = random_play(game, menu, seed, 2, (1,))
    referee = Referee(rules, menu, by_ranks(2), cut=1, given=worth)
    tableau = Tableau(game)
    tableau.give(
        {
            (0, node): tuple(
                np.array([worth(player, tuple(hole), text) for hole in hands.tolist()])
                for player, hands in enumerate(game.deal.boards[0].hands)
            )
            for node in game.betting.of_kind(0, GIVEN).tolist()
            for text in [game.betting.states[node].betting_text()]
        }
    )
    rows = rows_of(tableau, play)
    values = [
        tableau.root_value(player, tableau.sweep(player, VALUE, facing=rows)) for player in (0, 1)
    ]
    assert values == pytest.approx(referee.values(play), abs=1e-9)
    best = [response_value(tableau, player, rows) for player in (0, 1)]
    assert best == pytest.approx([referee.best_response(p, play) for p in (0, 1)], abs=1e-9)
    gains = sum(best) - sum(values)
    assert exploitability_of(tableau, rows) == pytest.approx(gains / 2, abs=1e-9)
    assert gains > 0.01
    # Nothing given is worth nothing.
    tableau.give({})
    nothing = Referee(rules, menu, by_ranks(2), cut=1)
    assert value_of(tableau, rows) == pytest.approx(nothing.values(play)[0], abs=1e-9)


def small(evaluator: str) -> Game:
    """Three rounds, all-in on every street."""
    return holdem_small(ranks=3, suits=3, evaluator=evaluator, **STREETS)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_a_game_cut_and_given_its_own_values_is_worth_the_same(evaluator: str, rounds: int) -> None:
    """All-in calls before the cut are dealt out over boards on which nobody bets any more."""
    whole, cut = small(evaluator), small(evaluator).until(rounds)
    full, part = Tableau(whole, "float64"), Tableau(cut, "float64")
    rows = random_rows(full, np.random.default_rng(3))
    kept = rows[: part.index.size]
    last = whole.betting.of_kind(rounds - 1, DEAL)
    assert np.array_equal(last, cut.betting.of_kind(rounds - 1, GIVEN))
    boards = [b for b, board in enumerate(cut.deal.boards) if board.round == rounds - 1]
    ones = {
        (b, int(node)): tuple(np.ones(len(hands)) for hands in cut.deal.boards[b].hands)
        for b in boards
        for node in last
    }
    given: dict[tuple[int, int], list[np.ndarray]] = {key: [] for key in ones}
    for player in (0, 1):
        for b in boards:
            part.give(ones)
            reached = part.values(player, b, kept)
            values = full.values(player, b, rows)
            for node in last.tolist():
                with np.errstate(invalid="ignore", divide="ignore"):
                    each = np.nan_to_num(values[node] / reached[node], posinf=0, neginf=0)
                given[b, node].append(each)
    part.give({key: tuple(each) for key, each in given.items()})
    tolerance = 1e-12 if full.dtype == np.float64 else 1e-4
    for player in (0, 1):
        expected = full.sweep(player, VALUE, facing=rows)
        found = part.sweep(player, VALUE, facing=kept)
        np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())
        assert np.abs(expected).max() > 0.01


def test_a_cut_game_is_solved_for_what_it_is_given() -> None:
    """A second round after a bet costs player 1 nine chips, after two checks nothing."""
    game = leduc().until(1)
    solver = make_solver("dcfr", game)
    states = len(game.deal.boards[0].hands[0])
    nodes = game.betting.of_kind(0, GIVEN).tolist()
    bet = [node for node in nodes if game.betting.states[node].committed[0] > 1]
    assert len(bet) == len(nodes) - 1
    solver.tableau.give({(0, n): (np.full(states, 9.0), np.full(states, -9.0)) for n in bet})
    solver.advance(300)
    # Player 0 bets, and player 1 gives up his ante.
    assert solver.value() == pytest.approx(1.0, abs=0.01)
    assert solver.exploitability() < 0.01


@pytest.mark.parametrize("name", ["lp", "egt", "external"])
def test_solvers_that_cannot_take_given_values_say_so(name: str) -> None:
    with pytest.raises(SolverError, match="is cut"):
        make_solver(name, leduc().until(1))


def test_what_cannot_be_cut_or_given() -> None:
    with pytest.raises(GameError, match="can be cut after 1 to 1"):
        leduc().until(2)
    tableau = Tableau(leduc().until(1))
    with pytest.raises(GameError, match="not one whose values are given"):
        tableau.give({(0, 0): (np.zeros(3), np.zeros(3))})

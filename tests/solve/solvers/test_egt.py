"""The excessive gap technique keeps its gap, its bound and its regulariser as the theory says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equipoise.errors import SolverError
from equipoise.games.catalogue import holdem_small, kuhn, leduc
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL
from equipoise.solve.solvers.egt import ExcessiveGap
from equipoise.solve.strategies.bestresponse import response_value, value_of

PROXES = pytest.mark.parametrize("prox", ["entropy", "euclidean"])
STEPS = pytest.mark.parametrize("steps", ["adaptive", "theoretical"])
GAMES = pytest.mark.parametrize(
    "game",
    [kuhn(), leduc(), holdem_small("tiny", stack=3)],
    ids=lambda game: game.name,
)


def true_gap(solver: ExcessiveGap) -> float:
    return sum(response_value(solver.tableau, player, solver.plan) for player in (0, 1))


@GAMES
@PROXES
@STEPS
def test_the_gap_never_goes_negative_and_bounds_the_error(
    game: Game, prox: str, steps: str
) -> None:
    solver = ExcessiveGap(game, prox=prox, steps=steps)
    diameters = [solver.diameter(player) for player in (0, 1)]
    assert min(diameters) > 0
    before = [np.inf, np.inf]
    first = 0.0
    for _ in range(100):
        solver.step()
        first = max(first, sum(solver.smoothing))
        assert solver.gap() >= -1e-10
        bound = sum(mu * d for mu, d in zip(solver.smoothing, diameters, strict=True))
        assert -1e-12 <= true_gap(solver) <= bound + 1e-10
        if steps == "adaptive":
            assert all(now <= then for now, then in zip(solver.smoothing, before, strict=True))
            assert 0 < sum(solver.smoothing) < sum(before)
        before = solver.smoothing
    assert sum(before) < first / 5
    assert true_gap(solver) == pytest.approx(2 * solver.exploitability(), abs=1e-12)


@PROXES
@STEPS
def test_values(prox: str, steps: str) -> None:
    for game, value in ((kuhn(), -1 / 18), (leduc(), -0.0856064241)):
        solver = ExcessiveGap(game, prox=prox, steps=steps)
        solver.advance(200)
        gap = solver.exploitability()
        assert gap < 0.15
        assert solver.value() == pytest.approx(value, abs=2 * gap)


def test_known_speed() -> None:
    """Entropy and adaptive steps, within a factor of two of figures computed independently."""
    solver = ExcessiveGap(leduc())
    solver.advance(100)
    assert solver.exploitability() <= 2 * 3.3e-2
    solver.advance(900)
    assert solver.exploitability() <= 2 * 2.0e-3
    solver = ExcessiveGap(kuhn())
    solver.advance(1000)
    assert solver.exploitability() <= 2 * 3e-4


def regulariser(solver: ExcessiveGap, player: int, behaviour: np.ndarray) -> float:
    """The dilated regulariser of a strategy, summed up board by board and node by node."""
    game, index = solver.game, solver.tableau.index
    betting, total = game.betting, 0.0
    reach = {(0, 0): np.ones(int(index.states[0, player]))}
    for b, board in enumerate(game.deal.boards):
        assert board.mass is not None
        prior = board.mass.sum(axis=1 - player)
        first, last = betting.spans()[board.round]
        if b:
            leaves = betting.of_kind(board.round - 1, DEAL).tolist()
            for leaf in leaves:
                arriving = reach[board.parent, leaf][board.arrivals[0][player]]
                reach[b, int(betting.next_root[leaf])] = arriving
        # One merged board stands for as many deals as there are arrivals.
        copies = 1
        above = b
        while above:
            copies *= len(game.deal.boards[above].arrivals)
            above = game.deal.boards[above].parent
        for node in range(first, last):
            if betting.kind[node] > 1:
                continue
            mine = int(betting.kind[node]) == player
            mixture = index.block(behaviour, b, node)
            for a, child in enumerate(betting.children(node)):
                reach[b, child] = reach[b, node] * (mixture[a] if mine else 1.0)
            if mine:
                n = len(mixture)
                if solver.prox == "entropy":
                    logs = np.log(np.maximum(mixture, 1e-300))
                    term = np.log(n) + (mixture * logs).sum(axis=0)
                else:
                    term = ((mixture - 1 / n) ** 2).sum(axis=0) / 2
                total += copies * float(prior * reach[b, node] @ term)
    return total


@GAMES
@PROXES
def test_regularisers_lie_between_nothing_and_the_diameter(game: Game, prox: str) -> None:
    solver = ExcessiveGap(game, prox=prox)
    index, rng = solver.tableau.index, np.random.default_rng(1)
    for player in (0, 1):
        uniform, largest = solver.tableau.rows(), 0.0
        for b, node in index.decisions():
            block = index.block(uniform, b, node)
            block[:] = 1 / len(block)
        assert regulariser(solver, player, uniform) == pytest.approx(0, abs=1e-15)
        for pure in (False, True) * 15:
            rows = solver.tableau.rows()
            for b, node in index.decisions():
                block = index.block(rows, b, node)
                drawn = rng.dirichlet(np.ones(len(block)), block.shape[1]).T
                block[:] = drawn == drawn.max(axis=0) if pure else drawn
            found = regulariser(solver, player, rows)
            assert 0 < found <= solver.diameter(player) + 1e-12
            largest = max(largest, found)
        assert largest > solver.diameter(player) / 3


@PROXES
def test_smoothed_responses_beat_every_other_answer(prox: str) -> None:
    """φ is the largest of value less regulariser: its own answer attains it, no other passes it."""
    game = leduc()
    solver = ExcessiveGap(game, prox=prox)
    solver.advance(3)
    tableau, rng = solver.tableau, np.random.default_rng(2)
    for player in (0, 1):
        mu = solver.smoothing[player]
        phi = solver._respond(player, solver.plan, mu)
        answers = [solver._response.copy()]
        for _ in range(10):
            rows = tableau.rows()
            for b, node in tableau.index.decisions():
                block = tableau.index.block(rows, b, node)
                other = rng.dirichlet(np.ones(len(block)), block.shape[1]).T
                own = tableau.index.block(answers[0], b, node)
                block[:] = own + rng.choice([0.01, 0.3]) * (other - own)
            answers.append(rows)
        scores = []
        for rows in answers:
            mixed = np.where(solver._owner == player, rows, solver.plan)
            value = value_of(tableau, mixed) * (1 - 2 * player)
            scores.append(value - mu * regulariser(solver, player, rows))
        assert scores[0] == pytest.approx(phi, abs=1e-10)
        assert max(scores[1:]) < phi


def test_perfect_recall_is_needed() -> None:
    forgetful = replace(leduc(), name="forgetful", perfect_recall=False)
    with pytest.raises(SolverError, match="egt needs perfect recall, which forgetful has not"):
        ExcessiveGap(forgetful)


@pytest.mark.parametrize("settings", [{"prox": "entropic"}, {"steps": "bold"}], ids=str)
def test_unknown_settings_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(SolverError, match="choose"):
        ExcessiveGap(kuhn(), **settings)


def test_the_sorted_evaluator_is_refused() -> None:
    game = holdem_small(ranks=3, suits=2, hole_cards=2, evaluator="sorted", stack=3)
    with pytest.raises(SolverError, match="matrix evaluator"):
        ExcessiveGap(game)

"""Games of large products: BLAS, parts of the last round, threads, and chance of each player's own."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from equipoise.games.betting import NO_RAKE, Betting, Rake
from equipoise.games.boards import Board, BoardTree
from equipoise.games.catalogue import leduc
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.nodes import DEAL, FOLD
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM
from equipoise.solve.solvers.cfr import DCFR, CFRPlus
from equipoise.solve.strategies.bestresponse import response_value, value_of
from equipoise.solve.sweep import gamearrays, rowrules
from equipoise.solve.sweep import tableau as tableau_module
from equipoise.solve.sweep.tableau import Tableau

SMALL_MENU = BetMenu.parse("100%,a", max_raises=2)


def _board(number: int, states: int) -> Board:
    hands = np.arange(states, dtype=np.int16).reshape(states, 1)
    return Board(number, number - 1, (), 1.0, (hands, hands))


def _game(boards: list[Board], initial: np.ndarray, betting: Betting) -> Game:
    return Game(
        name="made up",
        betting=betting,
        deal=BoardTree(boards, (initial, initial), 1.0, "matrix"),
        unit_chips=100.0,
        state_name=lambda board, player, state: str(state),
        board_name=lambda board: str(board.round),
        perfect_recall=boards[-1].transition is None,
    )


def joint_game(counts=(2, 5, 9, 14), seed=1, rake=NO_RAKE) -> Game:
    """Random joint tables over states that split, street by street."""
    rng = np.random.default_rng(seed)
    mass = rng.random((counts[-1], counts[-1])) ** 3
    mass = (mass + mass.T) / (2 * mass.sum())
    signed = mass * rng.uniform(-1, 1, mass.shape)
    signed = (signed - signed.T) / 2
    boards = [_board(number, count) for number, count in enumerate(counts)]
    for number in range(len(counts) - 1, -1, -1):
        boards[number].mass, boards[number].signed = mass, signed
        if number:
            parents = np.sort(rng.integers(0, counts[number - 1], counts[number]))
            parents[: counts[number - 1]] = np.arange(counts[number - 1])
            parents.sort()
            boards[number].arrivals.append((parents, parents))
            boards[number].deals.append(())
            into = np.eye(counts[number - 1])[:, parents]
            mass, signed = into @ mass @ into.T, into @ signed @ into.T
    return _game(boards, np.ones(counts[0]), Betting.build(NOLIMIT_HOLDEM, SMALL_MENU, rake))


def raked_game() -> Game:
    """The same, and the house takes its share."""
    return joint_game(rake=Rake(0.05, 300))


def independent_game(counts=(3, 4, 2, 3), seed=2, classes=1) -> Game:
    """Random chances of each player's own, under some public classes from the second round on."""
    rng = np.random.default_rng(seed)

    def chances(rows: int, columns: int) -> np.ndarray:
        table = rng.random((rows, columns))
        return table / table.sum(axis=0)

    boards = [_board(0, counts[0])]
    parents = [0]
    for number in range(1, len(counts)):
        above, parents = parents, []
        for k in range(classes):
            board = _board(number, counts[number])
            board.parent = above[k if number > 1 else 0]
            board.weight = 1 / classes if number == 1 else 1.0
            board.transition = tuple(chances(counts[number], counts[number - 1]) for _ in (0, 1))
            parents.append(len(boards))
            boards.append(board)
    for board in boards:
        states = len(board.hands[0])
        board.mass, board.signed = np.ones((states, states)), np.zeros((states, states))
        if board.round == len(counts) - 1:
            board.signed = rng.uniform(-1, 1, (states, states))
    prior = rng.random(counts[0])
    return _game(boards, prior / prior.sum(), Betting.build(LIMIT_HOLDEM, BetMenu.full()))


@pytest.fixture
def many_parts(monkeypatch):
    monkeypatch.setattr(tableau_module, "_STATES_FOR_PRODUCTS", 1)
    monkeypatch.setattr(gamearrays, "_TERMINALS_A_PART", 7)


@pytest.mark.parametrize("make", [leduc, joint_game])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_products_play_like_loops(make, threads, monkeypatch):
    game = make()
    plain = CFRPlus(game, precision="float64")
    assert not plain.tableau.products
    plain.advance(3)
    monkeypatch.setattr(tableau_module, "_STATES_FOR_PRODUCTS", 1)
    monkeypatch.setattr(gamearrays, "_TERMINALS_A_PART", 7)
    fast = CFRPlus(game, precision="float64", threads=threads)
    assert fast.tableau.products
    fast.advance(3)
    np.testing.assert_allclose(fast.plan, plain.plan, atol=1e-9)
    assert fast.exploitability() == pytest.approx(plain.exploitability(), abs=1e-7)
    assert fast.value() == pytest.approx(plain.value(), abs=1e-7)


@pytest.mark.parametrize("make", [leduc, joint_game, raked_game])
@pytest.mark.parametrize("threads", [1, 2])
def test_panels_of_single_precision_value_like_loops(make, threads, monkeypatch):
    """Sparse strategies, so that many hands come to no terminal, with and without a rake."""
    game = make()
    plain = Tableau(game, "float64")
    rng = np.random.default_rng(9)
    rows = rng.random(plain.index.size) * (rng.random(plain.index.size) < 0.5)
    monkeypatch.setattr(tableau_module, "_STATES_FOR_PRODUCTS", 1)
    monkeypatch.setattr(gamearrays, "_TERMINALS_A_PART", 7)
    fast = Tableau(game, "float32", threads)
    assert type(fast.layout.tables).__name__ == "Panels"
    single = rows.astype(np.float32)
    for player in (0, 1):
        for rule in (rowrules.VALUE, rowrules.BEST):
            slow = plain.sweep(player, rule, facing=rows)
            np.testing.assert_allclose(
                fast.sweep(player, rule, facing=single), slow, rtol=1e-4, atol=1e-3
            )


def test_the_last_round_has_parts_and_all_of_it_is_swept(many_parts):
    game = joint_game()
    tableau = Tableau(game, "float64", threads=2)
    lines = tableau.lines
    rounds = game.betting.rounds
    assert len(lines.fold_start) - 1 > rounds + 3
    for members, kinds in (("decisions", (0, 1)), ("folds", (FOLD,)), ("leaves", (DEAL,))):
        expected = np.concatenate([game.betting.of_kind(r, *kinds) for r in range(rounds)])
        np.testing.assert_array_equal(np.sort(getattr(lines, members)), np.sort(expected))


def test_values_at_all_nodes_of_a_round_in_parts(many_parts, monkeypatch):
    game = joint_game()
    plan = np.random.default_rng(3).random(Tableau(game, "float64").index.size)
    parted = Tableau(game, "float64").values(1, 3, plan)
    monkeypatch.setattr(tableau_module, "_STATES_FOR_PRODUCTS", 1000)
    whole = Tableau(game, "float64").values(1, 3, plan)
    assert parted.keys() == whole.keys()
    for node, values in whole.items():
        np.testing.assert_allclose(parted[node], values, atol=1e-12)


def _strategy(tableau: Tableau, plan: np.ndarray, board: int, node: int) -> np.ndarray:
    block = tableau.index.block(plan, board, node)
    return block / block.sum(axis=0)


def _played(game: Game, tableau: Tableau, plan: np.ndarray) -> float:
    """Player 0's chips by walking every line under every pair of states, chance by chance."""
    betting, boards = game.betting, game.deal.boards
    strategy = cache(lambda board, node: _strategy(tableau, plan, board, node))

    def walk(board: int, node: int, i: int, j: int) -> float:
        kind = int(betting.kind[node])
        if kind == DEAL:
            root = int(betting.next_root[node])
            total = 0.0
            for child in game.deal.children(board):
                below = boards[child]
                own, his = below.transition
                for a, b in product(range(len(own)), range(len(his))):
                    chance = below.weight * own[a, i] * his[b, j]
                    total += chance * walk(child, root, a, b)
            return total
        if kind > 1:
            return float(betting.even[node, 0] + betting.swing[node] * boards[board].signed[i, j])
        play = strategy(board, node)[:, (i, j)[kind]]
        return sum(
            float(p) * walk(board, child, i, j)
            for p, child in zip(play, betting.children(node), strict=True)
        )

    prior = game.deal.initial[0]
    return sum(
        prior[i] * prior[j] * walk(0, 0, i, j) for i in range(len(prior)) for j in range(len(prior))
    )


def test_chance_of_each_players_own_is_what_enumeration_says():
    game = independent_game((2, 2, 1, 2))
    tableau = Tableau(game, "float64")
    plan = np.random.default_rng(5).random(tableau.index.size)
    assert value_of(tableau, plan) == pytest.approx(_played(game, tableau, plan), abs=1e-9)
    assert tableau.root_value(1, tableau.sweep(1, 0, facing=plan)) == pytest.approx(
        -value_of(tableau, plan), abs=1e-9
    )


@pytest.mark.parametrize("classes", [1, 3])
def test_a_game_of_own_chances_is_solved(classes):
    game = independent_game(classes=classes)
    solver = DCFR(game, threads=2 if classes > 1 else 1)
    solver.advance(400)
    assert solver.exploitability() < 0.02
    # A best response answers every state by itself: it is no worse than what the solver plays.
    for player in (0, 1):
        played = solver.tableau.root_value(
            player, solver.tableau.sweep(player, 0, facing=solver.plan)
        )
        assert response_value(solver.tableau, player, solver.plan) >= played - 1e-9

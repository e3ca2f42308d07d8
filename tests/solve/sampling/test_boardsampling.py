"""Board-sampled CFR: on one board it is linear CFR; over many it learns the whole game."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import rank_of_five
from equipoise.abstraction.fullboards import random_boards
from equipoise.abstraction.lookup import lookup
from equipoise.abstraction.tables.bucketgame import bucket_game
from equipoise.abstraction.tables.joint import JointTables, bucket_parents
from equipoise.abstraction.tables.pairpoints import Points
from equipoise.errors import SolverError
from equipoise.games.menu import BetMenu
from equipoise.games.rules import NOLIMIT_HOLDEM
from equipoise.solve.sampling.boardsampling import BoardSampling
from equipoise.solve.solvers.cfr import LinearCFR

BOARDS = random_boards(3, seed=4)
MENU = BetMenu.parse("100%,a", max_raises=2)


def _lookup(kinds: int = 3):
    """Buckets by the rank of the higher card, split in two on every street."""
    rank = (np.arange(1326) % kinds).astype(np.uint16)
    feature = (np.arange(1326) // 7 % 2).astype(np.uint16)
    tables = [rank] + [np.zeros((n, 1326), np.uint16) for n in (1755, 16432, 134459)]
    children = [np.arange(kinds, dtype=np.uint16).reshape(1, -1)]
    count = kinds
    for street in (1, 2, 3):
        children.append(np.arange(2 * count, dtype=np.uint16).reshape(count, 2))
        count *= 2
        tables[street][:] = feature if street < 3 else 0
    return tables, children, feature


@pytest.fixture(scope="module")
def table():
    tables, children, feature = _lookup(6)
    made = lookup(tables, children)
    # The largest table is filled only where the boards of this test stand.
    for board in BOARDS:
        place = made.river_place[rank_of_five(*(np.uint64(c) for c in board))]
        tables[3][int(place) >> 5] = feature
    return lookup(tables, children)


def _game(table, boards):
    points = Points(table, len(bucket_parents(table)[-1]))
    points.add(boards, np.ones(len(boards), dtype=np.int64))
    joint = JointTables.from_points(points.total(), bucket_parents(table))
    return bucket_game(NOLIMIT_HOLDEM, joint, MENU)


@pytest.mark.parametrize("iterations", [0, 3])
def test_preparing_changes_nothing(table, iterations):
    plain, prepared = (BoardSampling(_game(table, BOARDS), lookup=table) for _ in range(2))
    for solver in (plain, prepared):
        solver.advance(iterations)
    prepared.prepare()
    for solver in (plain, prepared):
        solver.advance(4)
    for name, array in plain.arrays().items():
        np.testing.assert_array_equal(prepared.arrays()[name], array, err_msg=name)
    assert prepared.exploitability() == plain.exploitability()


@pytest.mark.parametrize("threads", [1, 2])
def test_one_board_is_linear_cfr(table, threads, monkeypatch):
    game = _game(table, BOARDS[:1])
    monkeypatch.setattr(BoardSampling, "_board", lambda self, number: BOARDS[0])
    sampled = BoardSampling(game, lookup=table, threads=threads)
    full = LinearCFR(game, precision="float32")
    sampled.advance(5)
    full.advance(5)
    assert sampled.exploitability() == pytest.approx(full.exploitability(), rel=1e-3)
    assert sampled.value() == pytest.approx(full.value(), rel=1e-3, abs=0.05)


def test_boards_in_turn_solve_the_game_of_them_all(table, monkeypatch):
    game = _game(table, BOARDS)
    monkeypatch.setattr(BoardSampling, "_board", lambda self, number: BOARDS[number % 3])
    solver = BoardSampling(game, lookup=table, threads=2)
    solver.advance(30)
    early = solver.exploitability()
    solver.advance(600)
    assert solver.exploitability() < early / 4


def test_a_checkpoint_goes_on_where_it_stopped(table, tmp_path, monkeypatch):
    game = _game(table, BOARDS)
    monkeypatch.setattr(BoardSampling, "_board", lambda self, number: BOARDS[number % 3])
    one = BoardSampling(game, lookup=table)
    one.advance(8)
    two = BoardSampling(game, lookup=table)
    two.advance(5)
    two.save(tmp_path / "half")
    three = BoardSampling.load(tmp_path / "half", game, lookup=table)
    assert three.exploitability() == two.exploitability()
    three.advance(3)
    for name, kept in one.arrays().items():
        np.testing.assert_array_equal(three.arrays()[name], kept)


def test_foreign_buckets_are_refused(table):
    game = _game(table, BOARDS)
    tables, children, _ = _lookup(3)
    with pytest.raises(SolverError, match="not made of these buckets"):
        BoardSampling(game, lookup=lookup(tables, children))

"""Bucket games: the joint tables against a count by hand, and the solvers on them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from equipoise.abstraction.bucketgame import (
    BucketTables,
    bucket_game,
    bucket_tables,
    random_boards,
)
from equipoise.abstraction.equitybuckets import EquityBuckets
from equipoise.abstraction.rollouts import BOARD_SIZES
from equipoise.cards.card import DECK_SIZE
from equipoise.cards.evaluator import strengths
from equipoise.cards.hand import combo_index
from equipoise.errors import GameError, TooLargeError
from equipoise.games.rules import NOLIMIT_HOLDEM, ONE_BET_HOLDEM
from equipoise.solve.cfr import CFRPlus
from equipoise.solve.linear_program import LinearProgram

TWO = EquityBuckets(2)


@pytest.fixture(scope="module")
def tables() -> BucketTables:
    return bucket_tables(TWO, boards=40, seed=3)


def test_one_board_counts_every_pair_of_hands() -> None:
    (board,) = random_boards(1, seed=5).tolist()
    found = bucket_tables(EquityBuckets(3), boards=1, seed=5)
    live = [card for card in range(DECK_SIZE) if card not in board]
    hands = np.array(list(combinations(live, 2)))
    combos = [combo_index(*hand) for hand in hands.tolist()]
    number = np.zeros(len(hands), dtype=np.int64)
    for size in BOARD_SIZES:
        number = 3 * number + EquityBuckets(3).buckets(board[:size])[combos]
    value = strengths(board)[combos].astype(np.int64)
    apart = (hands[:, None, :, None] != hands[None, :, None, :]).all(axis=(2, 3))
    result = np.sign(value[:, None] - value[None, :]) * apart
    mass, signed = np.zeros((81, 81)), np.zeros((81, 81))
    np.add.at(mass, (number[:, None], number[None, :]), apart)
    np.add.at(signed, (number[:, None], number[None, :]), result)
    known = found.sequences[3]
    total = 1081 * 990
    assert apart.sum() == total
    assert known.tolist() == np.unique(number).tolist()
    assert np.allclose(found.mass[3] * total, mass[np.ix_(known, known)])
    assert np.allclose(found.signed[3] * total, signed[np.ix_(known, known)])


def test_tables_are_symmetric_and_sum_over_streets(tables: BucketTables) -> None:
    for street in range(4):
        mass, signed = tables.mass[street], tables.signed[street]
        assert mass.sum() == pytest.approx(1)
        assert np.allclose(mass, mass.T)
        assert np.allclose(signed, -signed.T)
    for street in range(1, 4):
        parents = tables.parents(street)
        above = np.zeros_like(tables.mass[street - 1])
        np.add.at(above, (parents[:, None], parents[None, :]), tables.mass[street])
        assert np.allclose(above, tables.mass[street - 1])


def test_solvers_agree_on_a_bucket_game(tables: BucketTables) -> None:
    rules = replace(ONE_BET_HOLDEM, max_raises=(1, 0, 1, 1))
    game = bucket_game(rules, tables)
    program = LinearProgram(game)
    program.step()
    solver = CFRPlus(game)
    solver.advance(1000)
    assert program.exploitability() < 1e-6
    assert solver.exploitability() < 0.01
    assert solver.value() == pytest.approx(program.value(), abs=0.01)


def test_checking_down_is_worth_nothing_between_equal_players(tables: BucketTables) -> None:
    game = bucket_game(ONE_BET_HOLDEM, tables)
    solver = CFRPlus(game)
    plan = solver.tableau.rows()
    index = solver.tableau.index
    for board, node in index.decisions():
        calls = [game.betting.label(child) in ("call", "check")
                 for child in game.betting.children(node)]  # fmt: skip
        index.block(plan, board, node)[calls.index(True)] = 1.0
    assert solver.tableau.value(plan) == pytest.approx(0, abs=1e-12)
    # Raising always from both seats must be symmetric as well, in a larger pot.
    assert solver.tableau.exploitability(plan) > 1


def test_states_have_readable_names(tables: BucketTables) -> None:
    game = bucket_game(ONE_BET_HOLDEM, tables)
    boards = game.deal.boards
    assert game.board_name(boards[3]) == "river"
    assert game.state_name(boards[0], 0, 1) == "2"
    assert game.state_name(boards[1], 0, 0) == "1-1"


def test_what_does_not_fit_is_refused(tables: BucketTables) -> None:
    with pytest.raises(TooLargeError, match="at most 10 buckets"):
        bucket_tables(EquityBuckets(11))
    with pytest.raises(GameError, match="limit game"):
        bucket_game(NOLIMIT_HOLDEM, tables)
    with pytest.raises(GameError, match="at least one"):
        bucket_tables(TWO, boards=0)

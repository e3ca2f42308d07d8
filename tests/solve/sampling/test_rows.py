"""Where the numbers of sampled solvers stand, and the strategies made from them."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.errors import SolverError
from equipoise.games.betting import Betting, measure
from equipoise.games.catalogue import leduc
from equipoise.games.menu import BetMenu
from equipoise.games.rules import LIMIT_HOLDEM
from equipoise.solve.sampling.deals import ListedDeals
from equipoise.solve.sampling.rows import (
    AVERAGE,
    REGRET,
    SampledRows,
    SampledStrategy,
    table_bytes,
)
from equipoise.solve.sweep.rowindex import RowIndex


def test_subtrees_are_stretches_of_their_own():
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    buckets = np.array([[3, 4], [5, 6], [7, 8], [9, 10]])
    layout = SampledRows(betting, buckets)
    assert sorted(layout.decisions.tolist()) == np.flatnonzero(betting.kind < 2).tolist()
    rows = np.zeros(layout.size, dtype=np.float32)
    for node in layout.decisions.tolist():
        block = layout.block(rows, node)
        assert block.shape == (layout.width(node), 2, betting.count[node])
        block += 1
    assert (rows == 1).all()
    assert table_bytes(measure(LIMIT_HOLDEM, BetMenu.full()), buckets) == rows.nbytes
    ends = [0, *(s.last for s in layout.subtrees)]
    trunk = layout.subtrees[0].first
    assert [s.first for s in layout.subtrees] == [trunk, *ends[1:-1]]
    assert ends[-1] == layout.size
    for node in layout.decisions.tolist():
        begun = betting.states[node].history[0]
        homes = [s for s in layout.subtrees if betting.states[s.node].history[0] == begun]
        at = int(layout.base[node])
        if betting.round_of(node) == 0:
            assert at < trunk
        else:
            assert [s.first <= at < s.last for s in homes] == [True]


def test_average_strategy_by_bucket():
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    layout = SampledRows(betting, np.full((4, 2), 6))
    rows = np.zeros(layout.size, dtype=np.float32)
    rng = np.random.default_rng(1)
    for node in layout.decisions.tolist():
        layout.block(rows, node)[1:, 1] = rng.random((5, int(betting.count[node])))
    strategy = layout.average(rows)
    for node in layout.decisions[::37].tolist():
        table, sums = strategy.rows(node), layout.block(rows, node)[:, 1]
        np.testing.assert_allclose(table[:, 1:], (sums[1:] / sums[1:].sum(1, keepdims=True)).T)
        np.testing.assert_allclose(table[:, 0], 1 / len(table))
    with pytest.raises(SolverError, match="another betting tree"):
        SampledStrategy(layout, strategy.probabilities[1:])
    with pytest.raises(SolverError, match="no decision"):
        strategy.rows(int(np.flatnonzero(betting.kind > 1)[0]))
    with pytest.raises(SolverError, match="no decision"):
        layout.block(rows, int(np.flatnonzero(betting.kind > 1)[0]))


def test_numbers_by_state_and_back():
    game = leduc()
    deals, index = ListedDeals(game), RowIndex(game)
    states = deals.buckets_of(game)
    layout = SampledRows(game.betting, deals.buckets, np.float64)
    rows = np.random.default_rng(3).random(layout.size)
    again = np.zeros_like(rows)
    for which in (REGRET, AVERAGE):
        found = layout.by_state(rows, which, states, index)
        for b, node in index.decisions():
            player = int(game.betting.kind[node])
            for state, bucket in enumerate(states[b][player]):
                np.testing.assert_array_equal(
                    index.block(found, b, node)[:, state], layout.block(rows, node)[bucket, which]
                )
        layout.by_bucket(found, which, states, index, again)
    np.testing.assert_array_equal(again, rows)


def test_buckets_are_asked_for():
    with pytest.raises(SolverError, match="at least one bucket"):
        SampledRows(leduc().betting, np.zeros((2, 2), dtype=np.int64))

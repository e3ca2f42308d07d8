"""Deals: as likely as they should be, in the right buckets, for betting they are dealt for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.cards.combos import CLASS_SIZE
from equipoise.errors import SolverError
from equipoise.games.catalogue import leduc
from equipoise.games.library.smalldeck import holdem_small
from equipoise.solve.sampling.dealkernels import deal, deal_holdem
from equipoise.solve.sampling.deals import ListedDeals, alias_table


def test_deals_are_fair(deals):
    """Classes of both players' hands come as often as there are combinations in them."""
    tables, dealt, state, count = deals.tables, deals.dealt(np.float32), np.uint64(9), 60_000
    seen, cards, result = np.zeros((2, 169)), np.zeros((5, 52)), 0.0
    for _ in range(count):
        state, spot = deal_holdem(tables, np.uint64(state), dealt)
        assert spot == 0
        seen[0, dealt.bucket[0]] += 1
        seen[1, dealt.bucket[1]] += 1
        cards[np.arange(5), dealt.board] += 1
        result += dealt.result[0]
    for counts, chances in [(row, CLASS_SIZE / 1326) for row in seen] + [
        (row, np.full(52, 1 / 52)) for row in cards
    ]:
        expected = count * chances
        statistic = ((counts - expected) ** 2 / expected).sum()
        freedom = len(counts) - 1
        assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)
    assert abs(result) < 5 * np.sqrt(count)
    np.testing.assert_array_equal(dealt.result[0::2], -dealt.result[1::2])


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=30))
def test_alias_table_holds_the_distribution(chances):
    chances = np.array(chances) / sum(chances)
    keep, other = alias_table(chances)
    found = np.zeros(len(chances))
    for column, share in enumerate(keep):
        found[column] += share / len(chances)
        found[other[column]] += (1 - share) / len(chances)
    np.testing.assert_allclose(found, chances, atol=1e-12)


def test_buckets_of_other_games_are_refused(deals):
    small = holdem_small("flop")
    with pytest.raises(SolverError, match="no bucket game"):
        deals.buckets_of(small)
    with pytest.raises(SolverError, match="cannot be judged"):
        ListedDeals(leduc()).buckets_of(small)


def test_the_kind_of_deal_is_chosen_in_compiled_code_only(deals):
    with pytest.raises(RuntimeError, match="compiled"):
        deal(deals.tables, np.uint64(1), deals.dealt(np.float32))

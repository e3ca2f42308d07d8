"""Sampling divided by public classes of boards, right on games whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import BOARD_CLASSES, board_index
from equipoise.abstraction.lookup import lookup
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.catalogue import kuhn, leduc
from equipoise.games.menu import BetMenu
from equipoise.games.rules import LIMIT_HOLDEM
from equipoise.solve.sampling.deals import HoldemDeals, ListedDeals
from equipoise.solve.sampling.mccfr import CardGame
from equipoise.solve.sampling.sampler import sampling_rule
from equipoise.solve.sampling.sharded import ShardedSampling, total
from equipoise.solve.sampling.shardkernels import FREE_FLOPS, deal_own_flop, deal_own_listed
from equipoise.solve.sampling.shards import Head, Shard, part_sizes
from equipoise.solve.sampling.shares import own_deals, pairs_of, public_classes


@pytest.fixture(scope="module")
def by_suits(features):
    """Two buckets under each of three public classes of flops: one suit, two suits, three."""
    suits = board_index(3).boards % 4
    kinds = np.array([len(set(row)) - 1 for row in suits.tolist()])
    tables = [features[0]]
    tables.append((kinds[:, None] * 2 + features[1] % 2).astype(np.uint16))
    tables += [(features[k] % 2).astype(np.uint16) for k in (2, 3)]
    one = np.arange(169, dtype=np.uint16)[None]
    remember = (np.arange(6)[:, None] // 2 * 2 + np.arange(2)).astype(np.uint16)
    children = [one, np.arange(6, dtype=np.uint16)[None], remember, remember]
    assert tables[1].shape == (BOARD_CLASSES[3], 1326)
    return HoldemDeals(lookup(tables, children))


def test_classes_are_what_shares_no_bucket(by_suits, deals):
    classes = public_classes(by_suits)
    assert sorted(np.round(classes.chances * 22_100).astype(int)) == [1144, 8788, 12168]
    for first, second in classes.of_bucket:
        assert len(first) == 6
        assert np.array_equal(first, second)
        assert np.array_equal(np.bincount(first), [2, 2, 2])
    # A turn or river that forgets ties all flops together.
    assert len(public_classes(deals).chances) == 1


def test_shares_count_the_flops_that_miss_the_hole_cards(by_suits):
    """AsAh v KsKd: monotone 891, two-tone 9517, rainbow 6888 of 17,296, not the flops' own shares."""
    classes = public_classes(by_suits)
    hole = np.array([51, 50, 47, 45], dtype=np.uint32)
    found = []
    for one in classes.divided(3):
        own = own_deals(by_suits, classes, one)
        dealt = own.dealt(np.float32)
        state, boards = np.uint64(1), set()
        for _ in range(300):
            state, spot, share = deal_own_flop(own.tables, hole, np.uint64(state), dealt)
            assert spot == 0
            cards = [*dealt.board.tolist(), *hole.tolist()]
            assert len(set(cards)) == 9
            boards.add(len({card % 4 for card in cards[:3]}))
            assert dealt.bucket[2] < own.buckets[1, 0]
        assert len(boards) == 1
        found.append(round(share * FREE_FLOPS))
    assert sorted(found) == [891, 6888, 9517]


def test_listed_shares_add_up_to_one_for_every_pair():
    deals = ListedDeals(leduc())
    classes = public_classes(deals)
    assert len(classes.chances) == 3
    pairs = pairs_of(deals)
    shares = np.zeros(int(pairs.max()) + 1)
    for one in classes.divided(2):
        own = own_deals(deals, classes, one)
        for pair in range(len(shares)):
            private = np.array([pair, 0, 0, 0], dtype=np.uint32)
            _, spot, share = deal_own_listed(
                own.tables, private, np.uint64(3), own.dealt(np.float64)
            )
            shares[pair] += share
            if share:
                drawn = int(spot) // own.dealt(np.float64).width
                assert pairs[drawn] == pair
                assert one[classes.of_board[drawn]]
    assert np.allclose(shares, 1)


def test_entries_of_all_shards_are_worth_what_one_shard_finds():
    """In iteration 0 nothing is learnt: then the sum over shards has the mean of one shard."""
    game = leduc()
    deals = ListedDeals(game)
    classes, rule = public_classes(deals), sampling_rule(linear=True)
    round_ = next(Head(game.betting, deals, rule, seed=5, batch=4000).rounds(0))
    nodes = np.unique(round_.entry)
    means = {}
    for workers in (1, 3):
        shards = [
            Shard(game.betting, own_deals(deals, classes, own), rule, seed=6, number=k)
            for k, own in enumerate(classes.divided(workers))
        ]
        plays = [total([shard.play(0, round_) for shard in shards]) for _ in range(12)]
        assert not any(shard.rows.any() for shard in shards)
        means[workers] = np.array(
            [[values[round_.entry == node].mean() for node in nodes] for values in plays]
        )
    error = np.sqrt(sum(found.var(axis=0, ddof=1) / len(found) for found in means.values()))
    assert (np.abs(means[1].mean(axis=0) - means[3].mean(axis=0)) < 5 * error).all()


@pytest.mark.parametrize("workers", [1, 3])
def test_leduc_comes_down_on_any_number_of_workers(workers):
    solver = ShardedSampling(CardGame.of(leduc()), seed=2, batch=200, workers=workers)
    solver.prepare()
    solver.advance(1500)
    assert solver.exploitability() < 0.04
    assert abs(solver.value() + 0.0856) < 0.04


def test_resumes_bit_for_bit_and_on_other_workers(tmp_path):
    game, path = CardGame.of(leduc()), tmp_path / "sharded"
    whole = ShardedSampling(game, seed=3, batch=50, workers=2)
    whole.advance(20)
    whole.save(path)
    whole.advance(20)
    again = ShardedSampling.load(path, game, workers=2)
    assert again.iteration == 20
    again.advance(20)
    assert np.array_equal(whole.gathered(), again.gathered())
    more = ShardedSampling.load(path, game, workers=3)
    more.advance(1000)
    assert more.exploitability() < 0.1
    with pytest.raises(ArtefactError, match="another"):
        ShardedSampling.load(path, CardGame.of(leduc(max_raises=1)), workers=2)


def test_parts_of_a_round_change_nothing(monkeypatch):
    """However a round is cut, walks, values and what is learnt are the same, bit for bit."""
    game = CardGame.of(leduc())
    cut = []
    for part, end in ((12_288, 4096), (70, 30), (1000, 2)):
        monkeypatch.setattr("equipoise.solve.sampling.shards._PART", part)
        monkeypatch.setattr("equipoise.solve.sampling.shards._END", end)
        solver = ShardedSampling(game, seed=4, batch=150, workers=2, prune=1.0, prune_after=2)
        solver.advance(6)
        cut.append((len(part_sizes(300)), solver.arrays()))
    assert [parts for parts, _ in cut] == [1, 6, 3]
    for _, arrays in cut[1:]:
        assert all(np.array_equal(arrays[key], cut[0][1][key]) for key in arrays)


def test_the_kernels_of_a_run_change_nothing():
    game = CardGame.of(leduc())
    plain, ready = (ShardedSampling(game, seed=4, batch=30) for _ in range(2))
    ready.prepare()
    for solver in (plain, ready):
        solver.advance(5)
    assert np.array_equal(plain.gathered(), ready.gathered())


def test_real_cards_divide_without_a_trace_in_the_layout(by_suits):
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    game = CardGame("suits", betting, by_suits)
    solver = ShardedSampling(game, seed=1, batch=40, workers=3, prune=None)
    solver.advance(3)
    rows = solver.gathered()
    assert rows.any()
    parts = [shard.rows.copy() for shard in solver.crew.shards]
    solver.restore_arrays({"rows": rows, "streams": solver.arrays()["streams"]})
    assert all(
        np.array_equal(a, shard.rows) for a, shard in zip(parts, solver.crew.shards, strict=True)
    )
    assert solver.average_strategy().probabilities.min() >= 0


def test_what_cannot_be_divided_is_refused(deals):
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    with pytest.raises(SolverError, match="1 public class that share no buckets, choose at most 1"):
        ShardedSampling(CardGame("forgets", betting, deals), workers=2)
    with pytest.raises(SolverError, match="one round"):
        ShardedSampling(CardGame.of(kuhn()))
    with pytest.raises(SolverError, match="batch = 0"):
        ShardedSampling(CardGame.of(leduc()), batch=0)


def test_the_recipe_that_is_divided_says_so_and_others_refuse():
    from equipoise.errors import RecipeError
    from equipoise.solve.training.model import TrainingEstimate, TrainingModel
    from equipoise.solve.training.recipe import Recipe

    recipe = Recipe.shipped("claudico")
    assert recipe.solver == "sharded"
    # An iteration is a round of 16,384 deals.
    assert TrainingEstimate.of(recipe).iteration_seconds > 0.1
    with pytest.raises(RecipeError, match="not divided among workers: use a recipe whose solver"):
        TrainingModel(Recipe.shipped("flagship"), workers=2)

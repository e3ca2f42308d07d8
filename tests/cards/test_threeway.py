"""The three-way table: its sample by brute force, what it must sum to, and refusal of spoiled files."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from equipoise.cards.combos import CLASS_COUNT, COMBO_CARDS, COMBO_CLASS, class_of, combo_index
from equipoise.cards.evaluator import evaluate, tables
from equipoise.cards.preflop import table as heads_up
from equipoise.cards.threeway import table as threeway
from equipoise.cards.threeway.kernels import HANDS, ORDERS, count_orders
from equipoise.errors import ArtefactError


def test_counts_are_those_of_brute_force():
    rng = np.random.default_rng(4)
    decks = np.array([rng.permutation(52) for _ in range(3)], dtype=np.uint8)
    counts = np.zeros(threeway.TRIPLES * ORDERS, dtype=np.uint32)
    count_orders(decks, threeway._order_of(), tables(), counts)
    slow = np.zeros_like(counts)
    for deck in decks.tolist():
        hands = [deck[5 + 2 * i : 7 + 2 * i] for i in range(HANDS)]
        seen = [(class_of(*hand), evaluate([*deck[:5], *hand])) for hand in hands]
        for three in combinations(range(HANDS), 3):
            a, b, c = sorted((seen[i] for i in three), key=lambda pair: pair[0])
            # Equal classes are alike: whichever stands first, the sets are counted once.
            told = tuple(1 + (x[1] > y[1]) - (x[1] < y[1]) for x, y in ((a, b), (a, c), (b, c)))
            number = c[0] * (c[0] + 1) * (c[0] + 2) // 6 + b[0] * (b[0] + 1) // 2 + a[0]
            slow[number * ORDERS + threeway.COMPARISONS.index(told)] += 1
    assert counts.sum() == 3 * threeway.PER_DEAL
    per_triple = [told.reshape(-1, ORDERS).sum(axis=1) for told in (counts, slow)]
    assert (per_triple[0] == per_triple[1]).all()
    distinct = np.diff(threeway.triples(), axis=1).min(axis=1) > 0
    assert (counts.reshape(-1, ORDERS)[distinct] == slow.reshape(-1, ORDERS)[distinct]).all()


def test_ways_to_deal_three_classes_by_listing_them():
    ways = threeway.combinations_of()
    hands = [np.flatnonzero(np.equal(COMBO_CLASS, k)) for k in range(CLASS_COUNT)]
    for classes in ((0, 0, 0), (0, 1, 13), (14, 14, 30), (5, 12, 168)):
        slow = 0
        for x in hands[classes[0]]:
            for y in hands[classes[1]]:
                for z in hands[classes[2]]:
                    cards = {
                        *COMBO_CARDS[x].tolist(),
                        *COMBO_CARDS[y].tolist(),
                        *COMBO_CARDS[z].tolist(),
                    }
                    slow += len(cards) == 6
        assert ways[classes] == slow


def test_with_the_third_hand_averaged_out_it_is_the_heads_up_table():
    found, ways = threeway.table(), threeway.combinations_of()
    codes = np.array(threeway.COMPARISONS)
    places = ((0, 1), (0, 2), (1, 2))
    for mine, other in ((0, 14), (class_of(51, 47), 28), (168, 1), (40, 90)):
        won = total = 0.0
        for third in range(CLASS_COUNT):
            order = np.argsort([mine, other, third], kind="stable")
            classes = np.array([mine, other, third])[order]
            i, j = int(np.flatnonzero(order == 0)[0]), int(np.flatnonzero(order == 1)[0])
            versus = codes[:, places.index((min(i, j), max(i, j)))] / 2
            chances = found.probabilities(classes[None])[0]
            weight = float(ways[mine, other, third])
            won += weight * float(chances @ (versus if i < j else 1 - versus))
            total += weight
        assert won / total == pytest.approx(heads_up().equity(mine, other), abs=3e-4)


def test_known_showdowns_of_three():
    """Aces against kings and queens by a sample of its own."""
    rng = np.random.default_rng(9)
    hole = [combo_index(51, 50), combo_index(47, 46), combo_index(43, 42)]
    dead = COMBO_CARDS[hole].reshape(-1).tolist()
    left = [card for card in range(52) if card not in dead]
    wins = 0
    for _ in range(3000):
        board = rng.choice(left, 5, replace=False).tolist()
        values = [evaluate([*board, *COMBO_CARDS[hand].tolist()]) for hand in hole]
        wins += values[0] > max(values[1:])
    first = [number for number, told in enumerate(threeway.COMPARISONS) if told[:2] == (2, 2)]
    found = threeway.table().probabilities([[0, 14, 28]])[0][first].sum()
    assert found == pytest.approx(wins / 3000, abs=0.04)


def test_a_small_table_is_saved_and_spoiled_ones_are_refused(tmp_path):
    path = tmp_path / "small.npz"
    threeway.ThreeWayTable(threeway.table().units, 364).save(path)
    assert threeway.load(path).samples == 364
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ArtefactError, match="no three-way table"):
        threeway.load(path)
    units = threeway.table().units.copy()
    units[7, 0] ^= 1
    threeway.ThreeWayTable(units, 364).save(path)
    with pytest.raises(ArtefactError, match="do not sum to 1"):
        threeway.load(path)


def test_rounding_keeps_the_sum_and_favours_nobody():
    rng = np.random.default_rng(0)
    chances = np.tile(rng.dirichlet(np.ones(ORDERS)), (20_000, 1))
    units = threeway._rounded(chances, rng)
    assert (units.sum(axis=1, dtype=np.int64) == 255).all()
    assert units.mean(axis=0) / 255 == pytest.approx(chances[0], abs=1e-4)

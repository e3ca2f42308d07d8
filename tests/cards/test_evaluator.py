"""The evaluator against full enumerations, a sort-based twin and its own symmetries."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise.cards import evaluator
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.evaluator import (
    CARD_BIT,
    CARD_KEY,
    CLASS_VALUES,
    evaluate,
    evaluate_many,
    hand_classes,
    place,
    sort_by_strength,
    start_key,
    strengths,
    tables,
)
from equipoise.cards.handnames import CATEGORIES, category
from equipoise.errors import CardError
from equipoise.kernel import kernel

FIVE_CARD_COUNTS = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40)
SEVEN_CARD_COUNTS = (
    *(23294460, 58627800, 31433400, 6461620, 6180020),
    *(4047644, 3473184, 224848, 41584),
)


@kernel
def count_seven_card_values(
    first: int,
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    counts: NDArray[np.int64],
) -> None:
    """Count the values of all seven-card hands whose highest card is `first`."""
    a = np.uint64(first)
    ka, ba = start + CARD_KEY[a], CARD_BIT[a]
    for b in range(a):
        kb, bb = ka + CARD_KEY[b], ba + CARD_BIT[b]
        for c in range(b):
            kc, bc = kb + CARD_KEY[c], bb + CARD_BIT[c]
            for d in range(c):
                kd, bd = kc + CARD_KEY[d], bc + CARD_BIT[d]
                for e in range(d):
                    ke, be = kd + CARD_KEY[e], bd + CARD_BIT[e]
                    for f in range(e):
                        kf, bf = ke + CARD_KEY[f], be + CARD_BIT[f]
                        for g in range(f):
                            row, column = place(kf + CARD_KEY[g], bf + CARD_BIT[g])
                            counts[values[rows[row] + column]] += 1


def category_counts(value_counts: NDArray[np.int64]) -> tuple[int, ...]:
    totals = dict.fromkeys(CATEGORIES, 0)
    for value in range(1, CLASS_VALUES + 1):
        totals[category(value)] += int(value_counts[value])
    return tuple(totals.values())


def sorted_rank(cards: tuple[int, ...]) -> tuple[int, list[tuple[int, int]]]:
    """Comparable rank of five cards by counting and sorting, written without the evaluator."""
    ranks = sorted((card // 4 for card in cards), reverse=True)
    groups = sorted(((n, rank) for rank, n in Counter(ranks).items()), reverse=True)
    flush = len({card % 4 for card in cards}) == 1
    if ranks == [12, 3, 2, 1, 0]:
        ranks, groups = [3, 2, 1, 0, -1], [(1, 3)]
    straight = ranks == list(range(ranks[0], ranks[0] - 5, -1))
    sizes = [n for n, _ in groups]
    if straight and flush:
        kind = 8
    elif sizes[0] == 4:
        kind = 7
    elif sizes[:2] == [3, 2]:
        kind = 6
    elif flush:
        kind = 5
    elif straight:
        kind = 4
    elif sizes[0] == 3:
        kind = 3
    elif sizes[:2] == [2, 2]:
        kind = 2
    else:
        kind = 1 if sizes[0] == 2 else 0
    return kind, groups


def deals(count: int, size: int, seed: int) -> NDArray[np.uint8]:
    order = np.random.default_rng(seed).random((count, 52)).argsort(axis=1)
    return order[:, :size].astype(np.uint8)


def test_all_five_card_hands() -> None:
    hands = np.fromiter(
        (card for hand in combinations(range(52), 5) for card in hand), np.uint8, 5 * 2598960
    ).reshape(-1, 5)
    counts = np.bincount(evaluate_many(hands), minlength=CLASS_VALUES + 1)
    assert counts[0] == 0
    assert (counts[1:] > 0).all()
    assert counts[CLASS_VALUES] == 4
    assert category_counts(counts) == FIVE_CARD_COUNTS


def test_all_seven_card_hands() -> None:
    counts = np.zeros(CLASS_VALUES + 1, dtype=np.int64)
    for first in range(6, 52):
        count_seven_card_values(first, np.uint64(start_key(7)), *tables(), counts)
    assert counts.sum() == 133784560
    assert category_counts(counts) == SEVEN_CARD_COUNTS
    assert np.count_nonzero(counts) == 4824


@pytest.mark.parametrize("size", [5, 6, 7])
def test_agrees_with_the_sorting_twin(size: int) -> None:
    hands = deals(1500, size, seed=size)
    twin = [max(sorted_rank(five) for five in combinations(map(int, h), 5)) for h in hands]
    order = {rank: i for i, rank in enumerate(sorted(set(map(str, twin))))}
    values = evaluate_many(hands)
    by_value: dict[int, str] = {}
    for value, rank in zip(values.tolist(), twin, strict=True):
        assert by_value.setdefault(value, str(rank)) == str(rank)
        assert hand_classes()[value - 1].category == rank[0]
    assert len(by_value) == len(order)
    ranked = sorted(zip(twin, values.tolist(), strict=True))
    assert [value for _, value in ranked] == sorted(values.tolist())


def test_flushes_and_straights_agree_with_the_twin() -> None:
    """Hands that random deals hardly meet: all seven cards from two suits and eight ranks."""
    rng = np.random.default_rng(3)
    hands = []
    for _ in range(1500):
        low = rng.integers(0, 6)
        pool = [4 * ((low + r) % 13) + s for r in range(8) for s in (1, 2)]
        hands.append(rng.choice(pool, 7, replace=False))
    values = evaluate_many(np.array(hands))
    twin = [max(sorted_rank(five) for five in combinations(map(int, h), 5)) for h in hands]
    ranked = sorted(zip(twin, values.tolist(), strict=True))
    assert [value for _, value in ranked] == sorted(values.tolist())
    assert len(set(values.tolist())) == len({str(rank) for rank in twin})


@given(st.permutations(range(52)), st.sampled_from([5, 6, 7]), st.permutations(range(4)))
def test_order_and_suits_do_not_matter(deck: list[int], size: int, suits: list[int]) -> None:
    hand = deck[:size]
    moved = [4 * (card // 4) + suits[card % 4] for card in reversed(hand)]
    assert evaluate(hand) == evaluate(moved)


@given(st.permutations(range(52)))
@settings(max_examples=50)
def test_more_cards_are_the_best_of_fewer(deck: list[int]) -> None:
    for size in (6, 7):
        hand = deck[:size]
        fewer = [evaluate(subset) for subset in combinations(hand, size - 1)]
        assert evaluate(hand) == max(fewer)


def test_suit_permutations_of_one_hand_are_one_class() -> None:
    hand = parse_cards("AhKhQh9h2c2dAs")
    moved = [[4 * (c // 4) + suits[c % 4] for c in hand] for suits in permutations(range(4))]
    assert len(set(evaluate_many(np.array(moved)).tolist())) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_agree(threads: int) -> None:
    hands = np.tile(deals(20_000, 7, seed=9), (4, 1))
    assert (evaluate_many(hands, threads) == np.tile(evaluate_many(hands[:20_000]), 4)).all()


@pytest.mark.parametrize("board", ["2c 7d Th", "2c 7d Th Ts", "9h Th Jh Qh 2c"])
def test_strengths_of_all_combinations(board: str) -> None:
    cards = parse_cards(board)
    found = strengths(board)
    for combo in range(0, 1326, 7):
        hole = tuple(map(int, COMBO_CARDS[combo]))
        free = not set(hole) & set(cards)
        assert found[combo] == (evaluate(hole + cards) if free else 0)


@pytest.mark.parametrize(
    ("cards", "text"),
    [
        ("AsKsQsJs", "4 cards"),
        ("AsKsQsJsTs9s8s7s", "8 cards"),
        ("AsKsQsJsAs", "As appears twice"),
        ([0, 1, 2, 3, 52], "0 to 51"),
    ],
)
def test_bad_hands_are_refused(cards: str | list[int], text: str) -> None:
    with pytest.raises(CardError, match=text):
        evaluate(cards)


def test_bad_rows_are_named() -> None:
    hands = deals(100, 7, seed=1)
    hands[41, 6] = hands[41, 0]
    with pytest.raises(CardError, match=r"row 41: .* appears twice"):
        evaluate_many(hands)
    hands = deals(100, 6, seed=1)
    hands[17, 2] = 77
    with pytest.raises(CardError, match="row 17: 77"):
        evaluate_many(hands)
    wide = deals(10, 5, seed=1).astype(np.int64)
    wide[3, 0] = 51 + 256
    with pytest.raises(CardError, match="row 3"):
        evaluate_many(wide)
    with pytest.raises(CardError, match="5, 6 or 7"):
        evaluate_many(deals(10, 8, seed=1))
    with pytest.raises(CardError, match="type float64"):
        evaluate_many(deals(10, 5, seed=1) / 2)
    with pytest.raises(CardError, match="3, 4 or 5"):
        strengths("AsKs")


def test_no_hands_have_no_values() -> None:
    assert evaluate_many(np.empty((0, 7), dtype=np.uint8)).shape == (0,)


def test_one_card_seven_times_is_refused() -> None:
    with pytest.raises(CardError, match="row 0"):
        evaluate_many(np.full((1, 7), 51, dtype=np.uint8))


def test_sorting_by_strength() -> None:
    value = strengths("2c 7d Th Ts 9s")
    half_sorted, order = np.empty(1326, np.uint16), np.empty(1326, np.uint16)
    live = sort_by_strength(value, half_sorted, order)
    expected = np.argsort(value, kind="stable")[245:]
    assert live == 1081
    assert (order[:live] == expected).all()


def test_shipped_tables_are_what_the_rules_give():
    built, shipped = evaluator.build_tables(), evaluator.tables()
    assert np.array_equal(built.values, shipped.values)
    assert np.array_equal(built.rows, shipped.rows)


def test_tables_are_built_anew_where_the_file_is_missing_or_damaged(tmp_path, monkeypatch):
    damaged = tmp_path / "evaluator.npz"
    damaged.write_bytes(evaluator.DATA_FILE.read_bytes()[:1000])
    for path in (damaged, tmp_path / "nothing.npz"):
        monkeypatch.setattr(evaluator, "DATA_FILE", path)
        rebuilt = evaluator.tables.__wrapped__()
        assert np.array_equal(rebuilt.values, evaluator.build_tables().values)

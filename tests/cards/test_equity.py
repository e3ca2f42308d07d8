"""Equity against known counts, slow twins, symmetry, and the methods against one another."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise.cards import matchup
from equipoise.cards.card import cards_text, parse_cards
from equipoise.cards.combos import COMBO_CARDS, blocked, combo_text, parse_combo
from equipoise.cards.equity import equity, hand_equities
from equipoise.cards.evaluator import evaluate, strengths
from equipoise.cards.range import Range
from equipoise.errors import CardError, RangeError

EMPTY: tuple[int, ...] = ()
FLOP = parse_cards("Kh 7d 2c")


def slow_hands(first: str, second: str, board: str, dead: str = "") -> tuple[int, int, int]:
    """Wins, ties and boards of one hand against another, by plain enumeration."""
    a, b, common = parse_cards(first), parse_cards(second), parse_cards(board)
    gone = {*a, *b, *common, *parse_cards(dead)}
    wins = ties = total = 0
    for runout in combinations([c for c in range(52) if c not in gone], 5 - len(common)):
        mine, other = evaluate(a + common + runout), evaluate(b + common + runout)
        wins, ties, total = wins + (mine > other), ties + (mine == other), total + 1
    return wins, ties, total


def slow_vector(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], board: tuple[int, ...], dead: str = ""
) -> NDArray[np.float64]:
    """Equity of each hand of a range against another, comparing all pairs on all boards."""
    gone = parse_cards(dead)
    masks = (np.int64(1) << COMBO_CARDS.astype(np.int64)).sum(axis=1)
    apart = (masks[:, None] & masks[None, :]) == 0
    ours, theirs = (np.where(blocked(board + gone), 0, w) for w in (ours, theirs))
    share, weight = np.zeros(1326), np.zeros(1326)
    left = [c for c in range(52) if c not in {*board, *gone}]
    for runout in combinations(left, 5 - len(board)):
        value = strengths(board + runout).astype(int)
        met = apart & (value > 0)[None, :] & (value > 0)[:, None]
        score = (value[:, None] > value[None, :]) + 0.5 * (value[:, None] == value[None, :])
        share += (met * score) @ theirs
        weight += met @ theirs
    with np.errstate(invalid="ignore"):
        return np.where((ours > 0) & (weight > 0), share / weight, np.nan)


def random_range(seed: int, density: float) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    weights: NDArray[np.float64] = rng.random(1326) * (rng.random(1326) < density)
    return weights


@pytest.mark.parametrize(
    ("first", "second", "wins", "ties"),
    [
        ("AsAh", "KcKd", 1388072, 6538),
        ("AsAh", "KsKh", 1410336, 9308),
        ("AsKs", "QhQd", 787966, 6732),
        ("AcKd", "QhJh", 1030016, 7565),
        ("2c2d", "AhKh", 849322, 10775),
        ("AsKd", "AhKc", 37210, 1637884),
    ],
)
def test_known_counts(first: str, second: str, wins: int, ties: int) -> None:
    result = equity([first, second])
    assert (result.wins[0], result.ties, result.total) == (wins, ties, 1712304)
    assert result.boards == 1712304
    assert result.standard_error == 0
    assert equity([second, first]).wins[1] == wins


@pytest.mark.parametrize(
    ("first", "second", "board", "dead"),
    [
        ("AsAh", "KcKd", "Kh 7d 2c", ""),
        ("AsKs", "QhQd", "Js Ts 2d", "Qs Ac"),
        ("9c8c", "AdAs", "Tc 7c 2s Ah", "5h"),
        ("9c8c", "AdAs", "Tc 7c 2s Ah 6d", "5h"),
    ],
)
def test_hand_against_hand_on_a_board(first: str, second: str, board: str, dead: str) -> None:
    result = equity([first, second], board, dead)
    assert (result.wins[0], result.ties, result.total) == slow_hands(first, second, board, dead)
    assert sum(result.equity) == pytest.approx(1)
    assert sum(result.win) + result.tie == pytest.approx(1)


def test_three_and_four_cards_to_come() -> None:
    """Means over the next card: a board of one or two cards is the mean of boards one longer."""
    hands = ["AsKs", "QhQd"]
    for board in ("2c", "2c 7d"):
        used = parse_cards("AsKsQhQd" + board)
        longer = [
            equity(hands, board + cards_text([card])) for card in range(52) if card not in used
        ]
        short = equity(hands, board)
        again = 5 - len(parse_cards(board))
        assert short.wins[0] * again == sum(r.wins[0] for r in longer)
        assert short.ties * again == sum(r.ties for r in longer)


@pytest.mark.parametrize(
    "board", ["Kh 7d 2c 9s", "8h 8d 7h 2h", "As Kd Qh Js Tc", "2c 3c 4c 5c 6c"]
)
@pytest.mark.parametrize("density", [1.0, 0.02])
def test_ranges_agree_with_all_pairs(board: str, density: float) -> None:
    ours, theirs = random_range(1, density), random_range(2, 1.0)
    cards = parse_cards(board)
    found, slow = hand_equities(ours, theirs, board), slow_vector(ours, theirs, cards)
    assert (np.isnan(found) == np.isnan(slow)).all()
    assert np.nanmax(np.abs(found - slow)) < 1e-9


def test_dead_cards_agree_with_all_pairs() -> None:
    ours, theirs = random_range(3, 0.5), random_range(4, 0.5)
    found = hand_equities(ours, theirs, "Kh 7d 2c 9s", "Ah Ad 3c")
    slow = slow_vector(ours, theirs, parse_cards("Kh7d2c9s"), "AhAd3c")
    assert np.isnan(found[parse_combo("AhKs")])
    assert np.nanmax(np.abs(found - slow)) < 1e-9


def test_exchangeable_suits_give_what_all_boards_give() -> None:
    """Class-wise ranges on a monotone flop have three suits alike; using it changes nothing."""
    board = parse_cards("Kh 7h 2h")
    ours = Range.parse("22+,A2s+,KTo+").weights.astype(np.float64) * ~blocked(board)
    theirs = Range.parse("JJ+,T9s,QJo:0.5").weights.astype(np.float64) * ~blocked(board)
    alike = matchup.exchangeable(board, EMPTY, ours, theirs)
    assert alike == [[0, 1, 3], [2]]
    quick = matchup._count_sweep(ours, theirs, board, EMPTY, alike, 2, None)
    plain = matchup._count_sweep(ours, theirs, board, EMPTY, [[0], [1], [2], [3]], 1, None)
    for one, other in zip(quick, plain, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-9)
    held = np.flatnonzero(ours)
    pairs = matchup._count_pairs(ours, theirs, board, EMPTY, 1, None)
    for one, other in zip(quick, pairs, strict=True):
        assert np.allclose(one[held], other[held], rtol=1e-12, atol=1e-9)


def orbit_count(board: tuple[int, ...]) -> int:
    """Runouts that no renaming of suits which keeps the board makes from one another."""
    renamings = [
        suits
        for suits in permutations(range(4))
        if {4 * (c // 4) + suits[c % 4] for c in board} == {*board}
    ]
    left = [card for card in range(52) if card not in board]
    return len(
        {
            min(tuple(sorted(4 * (c // 4) + suits[c % 4] for c in runout)) for suits in renamings)
            for runout in combinations(left, 5 - len(board))
        }
    )


@pytest.mark.parametrize("board", ["", "Kh7h2h", "Kh7d2c", "KhKd2h2d", "2c3c4c5c6c"])
def test_runouts_stand_for_all_runouts(board: str) -> None:
    cards = parse_cards(board)
    everyone = np.ones(1326) * ~blocked(cards)
    groups = matchup.exchangeable(cards, EMPTY, everyone)
    boards, orbits = matchup.runouts(cards, EMPTY, groups)
    assert len(boards) == (orbit_count(cards) if board else 134_459)
    assert orbits.sum() == comb(52 - len(cards), 5 - len(cards))


def test_classwise_ranges_before_the_flop_agree_with_the_sweep() -> None:
    ours, theirs = (Range.parse(t).weights.astype(np.float64) for t in ("AA,AKs", "22+:0.5,KQo"))
    table = matchup.count(ours, theirs, EMPTY, EMPTY, None, None)
    groups = matchup.exchangeable(EMPTY, EMPTY, ours, theirs)
    win, tie = matchup._count_sweep(ours, theirs, EMPTY, EMPTY, groups, 2, None)
    held = np.flatnonzero(ours)
    assert table.method == "table"
    assert np.allclose(table.win[held], win[held], rtol=1e-12)
    assert np.allclose(table.tie[held], tie[held], rtol=1e-12)


def test_a_hand_against_a_random_one_comes_from_the_table() -> None:
    result = equity(["AsAh", "random"])
    assert result.method == equity(["random", "AsAh"]).method == "table"
    assert result.equity[0] == pytest.approx(0.85204, abs=5e-6)
    assert equity(["random", "AsAh"]).wins == result.wins[::-1]


@given(st.permutations(range(4)), st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_suits_do_not_matter(suits: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    deal = [int(card) for card in rng.permutation(52)[:9]]
    moved = [4 * (card // 4) + suits[card % 4] for card in deal]
    for size in (3, 4, 5):
        one = equity([deal[:2], deal[2:4]], deal[4 : 4 + size])
        other = equity([moved[:2], moved[2:4]], moved[4 : 4 + size])
        assert (one.wins, one.ties) == (other.wins, other.ties)


def test_ranges_are_means_of_hands() -> None:
    ours, theirs = Range.parse("AKs,QQ"), Range.parse("JJ,AQs:0.5")
    total = won = 0.0
    for a, weight_a in ours.without(FLOP):
        for b, weight_b in theirs.without(FLOP):
            if not set(COMBO_CARDS[a].tolist()) & set(COMBO_CARDS[b].tolist()):
                result = equity([combo_text(a), combo_text(b)], FLOP)
                won += weight_a * weight_b * result.equity[0]
                total += weight_a * weight_b
    found = equity([ours, theirs], FLOP)
    assert found.equity[0] == pytest.approx(won / total, abs=1e-12)
    vector = hand_equities(ours, theirs, FLOP)
    assert np.nanmin(vector) <= found.equity[0] <= np.nanmax(vector)


@pytest.mark.parametrize(
    ("hands", "board", "dead"),
    [
        (["AsKs", "QhQd"], "", ""),
        (["AKs,QQ", "JJ,AQs:0.25"], "Kh 7d 2c", "As"),
        (["random", "AA"], "2c 2d 2h 2s", ""),
        (["T9s", "22+"], "Kh 7d 2c 9s 3d", ""),
    ],
)
def test_sampling_is_near_exact(hands: list[str], board: str, dead: str) -> None:
    exact = equity(hands, board, dead)
    sampled = equity(hands, board, dead, samples=40_000, seed=11)
    assert sampled.method == "sampling"
    assert 0 < sampled.standard_error < 0.004
    for one, other in zip(sampled.equity, exact.equity, strict=True):
        assert abs(one - other) < 5 * sampled.standard_error
    assert abs(sampled.tie - exact.tie) < 5 * np.sqrt(max(exact.tie, 1e-4) / 40_000)
    assert equity(hands, board, dead, samples=40_000, seed=11) == sampled
    assert equity(hands, board, dead, samples=40_000, seed=12) != sampled


def test_the_standard_error_is_the_spread_of_repeated_samples() -> None:
    runs = [equity(["AsKs", "QhQd"], "2c 3d 4h", samples=400, seed=s) for s in range(200)]
    spread = np.std([run.equity[0] for run in runs], ddof=1)
    assert spread == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.2)


def test_progress_ends_at_the_total() -> None:
    seen: list[tuple[int, int]] = []
    equity(["AsKs", "QhQd"], progress=lambda told: seen.append((told.done, told.total)))
    assert seen[-1] == (1712304, 1712304)
    seen.clear()
    hand_equities(
        "random", "random", FLOP, progress=lambda told: seen.append((told.done, told.total))
    )
    assert seen[-1][0] == seen[-1][1] == 1176


def test_threads_agree() -> None:
    ours, theirs = random_range(5, 1.0), random_range(6, 1.0)
    one, two = (hand_equities(ours, theirs, FLOP, threads=n) for n in (1, 2))
    assert np.array_equal(one, two, equal_nan=True)


@pytest.mark.parametrize(
    ("hands", "board", "dead", "error", "text"),
    [
        (["AsAh"], "", "", RangeError, "exactly two"),
        (["AsAh", "KsKh", "QsQh"], "", "", RangeError, "exactly two"),
        (["AsAh", "AsKd"], "", "", RangeError, "holds a card"),
        (["AsAh", "KsKh"], "As 2c 3c", "", RangeError, "no hand without As2c3c"),
        (["AsAh", "KsKh"], "2c 2c", "", CardError, "2c appears twice"),
        (["AsAh", "KsKh"], "2c 3c", "3c", CardError, "3c appears twice"),
        (["AsAh", "KsKh"], "2c3c4c5c6c7c", "", CardError, "at most 5"),
        (["AsAh", np.ones(7)], "", "", RangeError, "1326 numbers"),
        (["AsAh", -np.ones(1326)], "", "", RangeError, "negative"),
        (["AsAh", np.zeros(1326)], "", "", RangeError, "no hand"),
    ],
)
def test_bad_input_is_refused(
    hands: list[str], board: str, dead: str, error: type[ValueError], text: str
) -> None:
    with pytest.raises(error, match=text):
        equity(hands, board, dead)


def test_too_many_dead_cards_or_too_few_samples() -> None:
    with pytest.raises(CardError, match="too few"):
        equity(["AsAh", "KsKh"], dead=range(44))
    with pytest.raises(RangeError, match="at least 2"):
        equity(["AsAh", "KsKh"], samples=1)

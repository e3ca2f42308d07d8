"""Check-down values: those of counting, hand by hand and range by range."""

import numpy as np
import pytest

from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, blocked, parse_combo
from equipoise.cards.equity import equity, hand_equities
from equipoise.cards.range import Range
from equipoise.errors import TooLargeError
from equipoise.games.belief import Belief
from equipoise.games.checkdown import CheckDown, half_pot, likely_half_pot
from equipoise.games.hand import all_in_share
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Rules, State

FLOP = parse_cards("Kh 7d 2c")


def test_margins_before_the_flop_are_exact_against_class_wise_ranges():
    weights = np.random.default_rng(0).random(169)[COMBO_CLASS]
    margin, mass = CheckDown(NOLIMIT_HOLDEM).against(weights, ())
    exact = hand_equities("random", weights)
    assert np.abs(margin / mass - (2 * exact - 1)).max() < 1e-12


@pytest.mark.parametrize("text", ["Kh 7d 2c", "Kh 7d 2c 9s", "Kh 7d 2c 9s 3s"])
def test_margins_on_a_board_agree_hand_by_hand(text):
    board = parse_cards(text)
    checkdown = CheckDown(LIMIT_HOLDEM)
    hero, villain = parse_combo("AsKd"), parse_combo("7c7s")
    weights = np.where(blocked(board), 0.0, np.random.default_rng(1).random(1326))
    margin, mass = checkdown.against(weights, board)
    one, met = checkdown.against_hand(hero, board)
    assert -(one @ weights) == pytest.approx(margin[hero])
    assert met @ weights == pytest.approx(mass[hero])
    share = all_in_share(*(tuple(COMBO_CARDS[hand].tolist()) for hand in (villain, hero)), board)
    assert one[villain] == pytest.approx(2 * share - 1)
    assert not one[blocked(tuple(COMBO_CARDS[hero].tolist()))].any()


def test_the_value_on_the_turn_is_the_mean_of_those_on_the_river():
    board = parse_cards("Kh 7d 2c 9s")
    checkdown = CheckDown(LIMIT_HOLDEM)
    hero = parse_combo("AsKd")
    random = np.random.default_rng(2)
    weights = np.where(blocked(board) | blocked((51, 45)), 0.0, random.random(1326))
    total = won = 0.0
    for card in set(range(52)) - {*board, *COMBO_CARDS[hero].tolist()}:
        longer = (*board, card)
        after = np.where(blocked(longer), 0.0, weights)
        margin, mass = checkdown.against_hand(hero, longer)
        total += mass @ after
        won -= margin @ after
    margin, mass = checkdown.against_hand(hero, board)
    assert won / total == pytest.approx(-(margin @ weights) / (mass @ weights), abs=1e-12)


def test_games_too_large_to_count_out_are_refused():
    with pytest.raises(TooLargeError, match="too many"):
        CheckDown(Rules("five", False, (2, 1), (1, 0), (50, 50), board_cards=(0, 3)))


@pytest.mark.parametrize("text", ["", "Kh 7h 2c", "Kh 7d 2c 9s 3s"])
def test_one_hand_against_a_range_is_the_same_from_both_sides(text):
    board = parse_cards(text)
    checkdown = CheckDown(NOLIMIT_HOLDEM)
    weights = np.where(blocked(board), 0.0, np.random.default_rng(5).random(1326))
    hand = parse_combo("AsJd")
    whole = checkdown.against(weights, board)
    single = checkdown.against(weights, board, Belief.start(NOLIMIT_HOLDEM).only(hand).weights)
    assert single.margin[hand] == pytest.approx(whole.margin[hand], abs=1e-9)
    assert single.mass[hand] == pytest.approx(whole.mass[hand])


def test_equities_against_a_range():
    weights = Range.parse("88+,ATs+,KQo:0.5").weights.astype(np.float64)
    game = CheckDown(NOLIMIT_HOLDEM)
    equities = game.equities(weights, ())
    for text in ("As4s", "7c2d", "KhKd"):
        hand, combo = parse_cards(text), parse_combo(text)
        assert game.equity(combo, weights, ()) == pytest.approx(equities[combo], abs=1e-12)
        assert equities[combo] == pytest.approx(equity([hand, weights]).equity[0], abs=1e-9)
    only = np.zeros(1326)
    only[parse_combo("AsAh")] = 1
    for board in ((), FLOP):
        assert np.isnan(game.equity(parse_combo("AsKd"), only, board))
        assert np.isnan(game.equities(only, board)[parse_combo("AsKd")])
        on_board = game.equities(np.where(blocked(board), 0, weights), board)
        for combo in np.flatnonzero(~blocked(board))[::300].tolist():
            alone = game.equity(combo, np.where(blocked(board), 0, weights), board)
            assert alone == pytest.approx(on_board[combo], abs=1e-12)


@pytest.mark.parametrize(
    ("betting", "called", "likely"),
    [
        ("", 100, 100),
        ("r200", 200, 200),
        ("r300", 300, 200),
        ("cc/r200", 200, 200),
        ("cc/cr20000", 20_000, 200),
        ("cc/r20000c//", 20_000, 20_000),
        ("r300c/", 300, 300),
    ],
)
def test_of_an_open_bet_half_the_pot_counts(betting, called, likely):
    state = State.from_betting_text(NOLIMIT_HOLDEM, betting)
    assert half_pot(state) == called
    assert likely_half_pot(state) == likely

"""Dealing: cards that follow from seed and number alone, all alike; and who wins."""

import numpy as np
import pytest

from equipoise.cards.card import parse_cards
from equipoise.cards.evaluator import evaluate
from equipoise.errors import GameError
from equipoise.games.dealing import (
    BLOCK,
    UNKNOWN,
    DealtCards,
    SeededDeals,
    deck_of,
    shuffled,
    winner,
)
from equipoise.games.library.kuhn import kuhn
from equipoise.games.library.leduc import leduc
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules

KUHN = kuhn().betting.rules
LEDUC = leduc().betting.rules


def test_deals_do_not_depend_on_where_one_starts():
    dealer = SeededDeals(NOLIMIT_HOLDEM, 3)
    whole = list(dealer.deals(0, BLOCK + 40))
    assert list(SeededDeals(NOLIMIT_HOLDEM, 3).deals(BLOCK - 10, BLOCK + 5)) == whole[-50:-35]
    assert list(SeededDeals(NOLIMIT_HOLDEM, 4).deals(0, 5)) != whole[:5]
    assert whole[:40] != whole[BLOCK:]


def test_a_deal_is_nine_cards_and_the_better_hand_wins():
    for deal in SeededDeals(NOLIMIT_HOLDEM, 1).deals(0, 200):
        board = deal.boards[-1]
        assert [len(seen) for seen in deal.boards] == [0, 3, 4, 5]
        assert all(board[: len(seen)] == seen for seen in deal.boards)
        assert len({*deal.holes[0], *deal.holes[1], *board}) == 9
        first, second = (evaluate((*hole, *board)) for hole in deal.holes)
        assert deal.winner == (None if first == second else int(second > first))


def test_every_card_comes_equally_often_in_every_place():
    cards = np.concatenate([shuffled(NOLIMIT_HOLDEM, 0, block) for block in range(40)])
    expected = len(cards) / 52
    for place in range(9):
        counts = np.bincount(cards[:, place], minlength=52)
        # Chi-squared with 51 degrees of freedom exceeds 110 once in 300,000.
        assert ((counts - expected) ** 2 / expected).sum() < 110


def test_small_decks_are_dealt_their_highest_cards():
    deals = list(SeededDeals(KUHN, 0).deals(0, 300))
    assert {card for deal in deals for hole in deal.holes for card in hole} == {43, 47, 51}
    assert all(deal.winner == int(deal.holes[1] > deal.holes[0]) for deal in deals)


def test_a_game_whose_hands_cannot_be_valued_is_refused():
    with pytest.raises(GameError, match="at most 7"):
        SeededDeals(Rules("omaha", False, (2, 1), (1, 0, 0, 0), (50, 50), hole_cards=4), 0)


def test_the_cards_of_a_hand_are_read_as_far_as_they_are_known():
    for deal in SeededDeals(NOLIMIT_HOLDEM, 2).deals(0, 50):
        board = deal.boards[-1]
        assert DealtCards.of(NOLIMIT_HOLDEM, deal.holes, board) == deal
        part = DealtCards.of(NOLIMIT_HOLDEM, deal.holes, board[:4])
        assert part == DealtCards(deal.holes, deal.boards[:3], UNKNOWN)
        mine = DealtCards.of(NOLIMIT_HOLDEM, (deal.holes[0], ()), board)
        assert mine == DealtCards((deal.holes[0], ()), deal.boards, UNKNOWN)


def test_short_hands_are_won_by_pairs_and_then_by_ranks():
    deck = deck_of(LEDUC)
    assert len(deck) == 6
    jack, queen, king = parse_cards("Qh Kh Ah")
    assert winner((jack,), (king,), (queen,)) == 1
    assert winner((jack,), (king,), (jack + 1,)) == 0
    assert winner((jack,), (jack + 1,), (king,)) is None

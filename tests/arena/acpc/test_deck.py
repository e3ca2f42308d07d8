"""The dealer's cards: the twister against a plain one, the deals against the real dealer's log."""

from pathlib import Path

import pytest

from equipoise.arena.acpc.deck import DealerDeck
from equipoise.arena.acpc.protocol import read_state_line
from equipoise.errors import GameError
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Rules

DATA = Path(__file__).parents[1] / "data"


def twister(seed: int):
    """MT19937 after the algorithm's definition: `init_genrand`, twist, temper."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xFFFFFFFF)
    while True:
        for i in range(624):
            mixed = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF)
            state[i] = state[(i + 397) % 624] ^ mixed >> 1 ^ (0x9908B0DF if mixed & 1 else 0)
        for number in state:
            number ^= number >> 11
            number ^= number << 7 & 0x9D2C5680
            number ^= number << 15 & 0xEFC60000
            yield number ^ number >> 18


def slow_deals(seed: int, hands: int):
    """The dealer's procedure step by step, on a deck of texts."""
    numbers = twister(seed)
    for _ in range(hands):
        deck = [rank + suit for suit in "cdhs" for rank in "23456789TJQKA"]
        drawn = []
        for _ in range(9):
            index = next(numbers) % len(deck)
            drawn.append(deck[index])
            deck[index] = deck[-1]
            deck.pop()
        yield drawn


@pytest.mark.parametrize("seed", [0, 1, 5489, 2**32 - 1])
def test_deals_equal_the_slow_twin(seed):
    from equipoise.cards.card import parse_card

    deck = DealerDeck(seed)
    for drawn in slow_deals(seed, 1500):
        deal = deck.deal()
        assert [*deal.holes[0], *deal.holes[1], *deal.boards[-1]] == [parse_card(c) for c in drawn]


@pytest.mark.parametrize(("game", "rules"), [("limit", LIMIT_HOLDEM), ("nolimit", NOLIMIT_HOLDEM)])
def test_deals_of_the_real_dealer_come_from_its_seed(game, rules):
    deck = DealerDeck(0, rules)
    hands = 0
    for line in (DATA / f"dealer_{game}.log").read_text().splitlines():
        if line.startswith("STATE:"):
            hand, deal = read_state_line(rules, line), deck.deal()
            assert hand.holes == deal.holes
            assert hand.board == deal.boards[-1][: len(hand.board)]
            hands += 1
    assert hands == 30


def test_small_games_have_the_highest_cards():
    kuhn = Rules("three cards", True, (1, 1), (0,), raise_sizes=(1,), suits=1, ranks=3,
                 hole_cards=1, board_cards=(0,))  # fmt: skip
    deck = DealerDeck(3, kuhn)
    seen = {card for _ in range(50) for hole in deck.deal().holes for card in hole}
    assert seen == {43, 47, 51}


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_out_of_range_are_refused(seed):
    with pytest.raises(GameError, match="from 0 to"):
        DealerDeck(seed)

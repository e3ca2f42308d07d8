"""Practice hands with all cards shown afterwards, for agents that learn before they play a match.

Seats alternate. The cards follow from the seed and the number of the hand, and so do the players'
random choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from equipoise.agents.agent import Agent
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import Hand, HandResult
from equipoise.games.rules import Rules, State

_DECK = range(52)
#: Practice hands that an agent may ask for: an hour or two of them.
MOST_HANDS = 10_000_000


def practice(
    student: Agent, opponent: Agent, rules: Rules, hands: int, seed: int = 0
) -> Iterator[HandResult]:
    """Play hands; each result is the student's, and both players have observed theirs."""
    start = State.start(rules)
    for number in range(hands):
        random = Random(f"{seed}/{number}")
        cards = tuple(random.sample(_DECK, 9))
        deal = DealtCards.of(rules, (cards[:2], cards[2:4]), cards[4:])
        seat = number & 1
        players = (student, opponent) if seat == 0 else (opponent, student)
        for position, player in enumerate(players):
            player.random.seed(random.getrandbits(64))
            player.begin(number, position)
        hand = Hand(start, deal, number)
        while (turn := hand.state.to_act) is not None:
            hand.play(players[turn].act(hand.view()))
        results = [hand.result(position, reveal=True) for position in (0, 1)]
        for player, result in zip(players, results, strict=True):
            player.observe(result)
        yield results[seat]

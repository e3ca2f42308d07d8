"""The cards of a match from its seed, as the dealer of the Annual Computer Poker Competition deals
them.

One stream of 32-bit numbers serves the whole match: the Mersenne twister MT19937 of Matsumoto and
Nishimura (1998), started by its `init_genrand(seed)`. Every hand takes a fresh deck in the order
2c 3c … Ac 2d … As, of which a game with fewer suits or ranks has the highest. A card is the one at
index `number mod cards left`, and the last card of the deck moves into the gap. Position 0 gets its
cards first, then position 1, then the board, which is drawn in full even if the hand ends early: so
the cards of hand n do not depend on how the hands before it were played.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.errors import GameError
from equipoise.games.dealing import DealtCards
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules

#: The dealer's seeds are 32-bit numbers.
SEEDS = 2**32

#: Hands whose random numbers are drawn at once.
_BATCH = 1024
#: Cards with which a hand can still be valued.
_MOST_CARDS = 7


class DealerDeck:
    """Deals the hands of a match one after another.

    >>> from equipoise.cards.card import cards_text
    >>> deal = DealerDeck(seed=0).deal()
    >>> [cards_text(cards) for cards in (*deal.holes, deal.boards[-1])]
    ['5d5c', '9hQd', '8dAs8s4h6d']
    """

    def __init__(self, seed: int, rules: Rules = NOLIMIT_HOLDEM) -> None:
        if not 0 <= seed < SEEDS:
            raise GameError(f"seed {seed}: the dealer's seed is a number from 0 to {SEEDS - 1}")
        if not 1 <= rules.suits <= 4 or not 1 <= rules.ranks <= 13:
            raise GameError(
                f"{rules.ranks} ranks, {rules.suits} suits: a deck has 1 to 13 ranks and 1 to 4 suits"
            )
        if rules.hole_cards + sum(rules.board_cards) > _MOST_CARDS:
            raise GameError(
                f"{rules.name}: a hand is valued with at most {_MOST_CARDS} cards: deal fewer"
            )
        seeded: Any = np.random.RandomState(seed).get_state(legacy=False)
        self._twister = np.random.MT19937()
        self._twister.state = seeded
        suits, ranks = range(4 - rules.suits, 4), range(13 - rules.ranks, 13)
        self._fresh = [4 * rank + suit for suit in suits for rank in ranks]
        self._rules = rules
        self._count = 2 * rules.hole_cards + sum(rules.board_cards)
        self._left = (len(self._fresh) - np.arange(self._count)).astype(np.uint64)
        self._indices: list[list[int]] = []

    def deal(self) -> DealtCards:
        """The next hand."""
        if not self._indices:
            raw = self._twister.random_raw(_BATCH * self._count).reshape(_BATCH, self._count)
            self._indices = (raw % self._left).tolist()[::-1]
        deck = self._fresh.copy()
        cards = []
        for index in self._indices.pop():
            cards.append(deck[index])
            last = deck.pop()
            if index < len(deck):
                deck[index] = last
        held = self._rules.hole_cards
        holes = (tuple(cards[:held]), tuple(cards[held : 2 * held]))
        return DealtCards.of(self._rules, holes, tuple(cards[2 * held :]))

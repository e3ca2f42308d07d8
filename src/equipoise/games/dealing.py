"""Dealing for matches: the cards of every hand follow from the match's seed and the deal's number.

Deals are made in blocks, each from a generator of its own that is seeded by (seed, block): whoever
plays deal 123,456 gets the same cards, whatever was played before and by whom. A block is dealt and
its showdowns are decided at once, by array operations: the first cards of a Fisher-Yates shuffle,
column by column, and both players' hands valued in one batch.

A game with fewer ranks or suits is dealt the highest of them, as the ACPC dealer does, so that
cards are numbered as everywhere else: Kuhn's three cards are Qs, Ks and As. Hands of five to seven
cards are compared as in hold'em, shorter ones by pairs, then by ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.rules import Rules

#: Deals that share a generator.
BLOCK = 1024
#: Cards with which a hand can still be valued.
_MOST_CARDS = 7


class Deal(NamedTuple):
    """The cards of one hand."""

    #: Private cards of the players, by position.
    holes: tuple[tuple[int, ...], tuple[int, ...]]
    #: The public cards seen in each round.
    boards: tuple[tuple[int, ...], ...]
    #: Position that wins the showdown, None if the pot is split.
    winner: int | None


class Dealer:
    """Deals the hands of a match.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> dealer = Dealer(NOLIMIT_HOLDEM, seed=7)
    >>> dealer.deal(5) == list(dealer.deals(0, 10))[5]
    True
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        if not 1 <= rules.suits <= 4 or not 1 <= rules.ranks <= 13:
            raise GameError(
                f"{rules.ranks} ranks, {rules.suits} suits: a deck has 1 to 13 ranks and 1 to 4 suits"
            )
        if rules.hole_cards + sum(rules.board_cards) > _MOST_CARDS:
            raise GameError(
                f"{rules.hole_cards} hole cards and {sum(rules.board_cards)} on the board: "
                f"a hand is valued with at most {_MOST_CARDS} cards"
            )
        self.rules = rules
        self.seed = seed
        self._last: tuple[int, list[Deal]] = -1, []

    def deals(self, start: int, stop: int) -> Iterator[Deal]:
        """The deals numbered `start` to `stop - 1`."""
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            first = block * BLOCK
            if block != self._last[0]:
                self._last = block, self._block(block)
            yield from self._last[1][max(start - first, 0) : stop - first]

    def deal(self, number: int) -> Deal:
        """One deal."""
        return next(self.deals(number, number + 1))

    def _block(self, block: int) -> list[Deal]:
        held = self.rules.hole_cards
        cards = shuffled(self.rules, self.seed, block)
        winners = showdowns(self.rules, cards).tolist()
        ends, seen = [], 2 * held
        for count in self.rules.board_cards:
            seen += count
            ends.append(seen)
        return [
            Deal(
                (tuple(row[:held]), tuple(row[held : 2 * held])),
                tuple([tuple(row[2 * held : end]) for end in ends]),
                None if winner < 0 else winner,
            )
            for row, winner in zip(cards.tolist(), winners, strict=True)
        ]


def shuffled(rules: Rules, seed: int, block: int) -> NDArray[np.uint8]:
    """The cards of a block of deals: uint8[BLOCK, cards], player 0's, player 1's, the board's."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, block))))
    ranks, suits = range(13 - rules.ranks, 13), range(4 - rules.suits, 4)
    deck = np.array([4 * rank + suit for rank in ranks for suit in suits], dtype=np.uint8)
    needed = 2 * rules.hole_cards + sum(rules.board_cards)
    decks = np.tile(deck, (BLOCK, 1))
    rows = np.arange(BLOCK)
    for place in range(needed):
        drawn = random.integers(place, len(deck), size=BLOCK)
        taken = decks[rows, drawn]
        decks[rows, drawn] = decks[:, place]
        decks[:, place] = taken
    return decks[:, :needed]


def showdowns(rules: Rules, cards: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Position that wins each deal's showdown, -1 where the pot is split."""
    held = rules.hole_cards
    board = cards[:, 2 * held :]
    values = [
        hand_values(np.hstack([cards[:, first : first + held], board])) for first in (0, held)
    ]
    return np.where(values[0] == values[1], -1, values[0] < values[1]).astype(np.int8)


def hand_values(cards: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Strength of each row of cards, the higher the better."""
    # Only where hands are compared is the evaluator needed.
    from equipoise.games.library.smalldeck import hand_strength

    return hand_strength(suits=4, ranks=13)(cards.astype(np.int16), ())

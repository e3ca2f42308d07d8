"""Dealing, and who wins: the cards of every hand follow from the match's seed and the deal's number.

Deals are made in blocks, each from a generator of its own that is seeded by (seed, block): whoever
plays deal 123,456 gets the same cards, whatever was played before and by whom. A block is dealt and
its showdowns are decided at once, by array operations: the first cards of a Fisher-Yates shuffle,
column by column, and both players' hands valued in one batch.

A game with fewer ranks or suits is dealt the highest of them, as the ACPC dealer does, so that
cards are numbered as everywhere else: Kuhn's three cards are Qs, Ks and As. Who wins is said here for
everybody: hands of five to seven cards are compared as in hold'em, shorter ones by multiplicities,
then by ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.rules import Rules
from equipoise.games.runouts import Hands, Strength

#: Deals that share a generator.
BLOCK = 1024
#: Cards with which a hand can still be valued.
_MOST_CARDS = 7
#: Cards from which on a hand is one of poker.
_FULL_HAND = 5
#: Stands for the winner of a showdown whose cards are not all known.
UNKNOWN = -1


class DealtCards(NamedTuple):
    """The cards of one hand, as far as they are known."""

    #: Private cards of the players, by position; () where they are not known.
    holes: tuple[tuple[int, ...], tuple[int, ...]]
    #: The public cards seen in each round.
    boards: tuple[tuple[int, ...], ...]
    #: Position that wins the showdown, None if the pot is split, UNKNOWN while cards are missing.
    winner: int | None

    @classmethod
    def of(
        cls,
        rules: Rules,
        holes: tuple[tuple[int, ...], tuple[int, ...]],
        board: tuple[int, ...],
    ) -> DealtCards:
        """From the private cards and the public ones, in the order in which they came.

        >>> from equipoise.games.rules import NOLIMIT_HOLDEM
        >>> DealtCards.of(NOLIMIT_HOLDEM, ((51, 50), ()), (1, 5, 9, 13))
        DealtCards(holes=((51, 50), ()), boards=((), (1, 5, 9), (1, 5, 9, 13)), winner=-1)
        """
        ends = [end for end in accumulate(rules.board_cards) if end <= len(board)]
        whole = len(ends) == rules.rounds and all(holes)
        return cls(
            holes,
            tuple([board[:end] for end in ends]),
            winner(*holes, board) if whole else UNKNOWN,
        )


class SeededDeals:
    """Deals the hands of a match.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> deals = SeededDeals(NOLIMIT_HOLDEM, seed=7)
    >>> deals.deal(5) == list(deals.deals(0, 10))[5]
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
        self._last: tuple[int, list[DealtCards]] = -1, []

    def deals(self, start: int, stop: int) -> Iterator[DealtCards]:
        """The deals numbered `start` to `stop - 1`."""
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            first = block * BLOCK
            if block != self._last[0]:
                self._last = block, self._block(block)
            yield from self._last[1][max(start - first, 0) : stop - first]

    def deal(self, number: int) -> DealtCards:
        """One deal."""
        return next(self.deals(number, number + 1))

    def _block(self, block: int) -> list[DealtCards]:
        held = self.rules.hole_cards
        cards = shuffled(self.rules, self.seed, block)
        winners = showdowns(self.rules, cards).tolist()
        ends = [2 * held + seen for seen in accumulate(self.rules.board_cards)]
        return [
            DealtCards(
                (tuple(row[:held]), tuple(row[held : 2 * held])),
                tuple([tuple(row[2 * held : end]) for end in ends]),
                None if winner < 0 else winner,
            )
            for row, winner in zip(cards.tolist(), winners, strict=True)
        ]


def deck_of(rules: Rules) -> tuple[int, ...]:
    """The cards of a game's deck, lowest first.

    >>> from equipoise.cards.card import cards_text
    >>> from equipoise.games.library.kuhn import kuhn
    >>> cards_text(deck_of(kuhn().betting.rules))
    'QsKsAs'
    """
    ranks, suits = range(13 - rules.ranks, 13), range(4 - rules.suits, 4)
    return tuple(4 * rank + suit for rank in ranks for suit in suits)


def shuffled(rules: Rules, seed: int, block: int) -> NDArray[np.uint8]:
    """The cards of a block of deals: uint8[BLOCK, cards], player 0's, player 1's, the board's."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, block))))
    deck = np.array(deck_of(rules), dtype=np.uint8)
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


def winner(first: tuple[int, ...], second: tuple[int, ...], board: tuple[int, ...]) -> int | None:
    """Who wins a showdown on a full board, 0 or 1; None splits the pot.

    >>> from equipoise.cards.card import parse_cards as cards
    >>> winner(cards("5d5c"), cards("9hQd"), cards("8dAs8s4h6d"))
    0
    """
    cards = np.array([first + board, second + board], dtype=np.uint8)
    if cards.shape[1] >= _FULL_HAND:
        from equipoise.cards.evaluator import evaluate_many

        one, two = evaluate_many(cards, threads=1).tolist()
    else:
        one, two = hand_values(cards).tolist()
    return None if one == two else int(two > one)


def hand_values(cards: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Strength of each row of cards, the higher the better."""
    return hand_strength(suits=4, ranks=13)(cards.astype(np.int16), ())


def hand_strength(suits: int, ranks: int) -> Strength:
    """Strength of hands with a full board in a deck of the highest `ranks` ranks.

    >>> strength = hand_strength(suits=2, ranks=3)
    >>> aces, queens = np.array([[5]], dtype=np.int16), np.array([[0]], dtype=np.int16)
    >>> bool(strength(queens, (1,)) > strength(aces, (1,)))
    True
    """

    def strength(hands: Hands, board: tuple[int, ...]) -> NDArray[np.int64]:
        public = np.broadcast_to(np.array(board, dtype=np.int64), (len(hands), len(board)))
        cards = np.concatenate([hands.astype(np.int64), public], axis=1)
        if cards.shape[1] < _FULL_HAND:
            return _multiplicities(cards // suits)
        # Only where hands are compared so is the evaluator needed.
        from equipoise.cards.evaluator import evaluate_many

        full = 4 * (cards // suits + 13 - ranks) + cards % suits
        return evaluate_many(full.astype(np.uint8), threads=1).astype(np.int64)

    return strength


def _multiplicities(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compare first how often ranks are repeated, most often first, then those ranks."""
    repeats = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
    digits = -np.sort(-(repeats * 16 + ranks), axis=1)
    value = np.zeros(len(ranks), dtype=np.int64)
    for part in (digits // 16, digits % 16):
        for digit in part.T:
            value = value * 16 + digit
    return value

"""Cards as integers 0–51 and as text, and the deck they come from.

A card is `4 * rank + suit`: ranks 0–12 are deuce to ace, suits 0–3 are clubs, diamonds, hearts,
spades. Sorting cards as integers therefore sorts them by rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from equipoise.errors import CardError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK_SIZE = 52
SUIT_SYMBOLS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def parse_card(text: str) -> int:
    """Read one card.

    >>> parse_card("As"), parse_card("2c"), parse_card("td")
    (51, 0, 33)
    >>> parse_card("Ax")
    Traceback (most recent call last):
        ...
    equipoise.errors.CardError: 'Ax': no suit 'x' (suits are c, d, h, s)
    """
    text = text.strip()
    if len(text) == 3 and text.startswith("10"):
        text = "T" + text[2]
    if len(text) != 2:
        raise CardError(f"{text!r}: a card is a rank and a suit, such as As or Td")
    rank, suit = RANKS.find(text[0].upper()), SUITS.find(text[1].lower())
    if rank < 0:
        raise CardError(f"{text!r}: no rank {text[0]!r} (ranks are 2 to 9, T, J, Q, K, A)")
    if suit < 0:
        raise CardError(f"{text!r}: no suit {text[1]!r} (suits are c, d, h, s)")
    return 4 * rank + suit


def card_text(card: int) -> str:
    """Write one card.

    >>> card_text(51)
    'As'
    """
    if not 0 <= card < DECK_SIZE:
        raise CardError(f"{card}: a card is a number from 0 to 51")
    return RANKS[card >> 2] + SUITS[card & 3]


def parse_cards(text: str, *, at_most: int | None = None) -> tuple[int, ...]:
    """Read any number of distinct cards, with or without spaces and commas between them.

    >>> parse_cards("AsKd"), parse_cards("As, Kd")
    ((51, 45), (51, 45))
    >>> parse_cards("AsAs")
    Traceback (most recent call last):
        ...
    equipoise.errors.CardError: 'AsAs': As appears twice
    """
    packed = "".join(text.replace(",", " ").split()).replace("10", "T")
    if len(packed) % 2:
        raise CardError(f"{text!r}: cards are pairs of rank and suit, such as AsKd")
    cards = tuple(parse_card(packed[i : i + 2]) for i in range(0, len(packed), 2))
    if at_most is not None and len(cards) > at_most:
        raise CardError(f"{text!r}: {len(cards)} cards, at most {at_most} fit here")
    check_distinct(cards, text)
    return cards


def cards_text(cards: Iterable[int]) -> str:
    """Write cards one after another, in the order given.

    >>> cards_text((51, 45))
    'AsKd'
    """
    return "".join(card_text(int(card)) for card in cards)


def check_distinct(cards: Iterable[int], text: str | None = None) -> None:
    """Raise :class:`CardError` if a card appears twice."""
    seen: set[int] = set()
    cards = list(cards)
    for card in cards:
        if card in seen:
            shown = text if text is not None else cards_text(cards)
            raise CardError(f"{shown!r}: {card_text(card)} appears twice")
        seen.add(card)


class Deck:
    """The cards not yet seen, dealt in the order a generator gives.

    >>> deck = Deck(dead=parse_cards("AsAh"))
    >>> len(deck), parse_card("As") in deck
    (50, False)
    >>> hand = deck.deal(2, np.random.default_rng(7))
    >>> len(hand), len(deck)
    (2, 48)
    """

    def __init__(self, dead: Iterable[int] = ()) -> None:
        dead = [int(card) for card in dead]
        for card in dead:
            card_text(card)
        check_distinct(dead)
        gone = set(dead)
        self._left = [card for card in range(DECK_SIZE) if card not in gone]

    def __len__(self) -> int:
        return len(self._left)

    def __iter__(self) -> Iterator[int]:
        return iter(self._left)

    def __contains__(self, card: object) -> bool:
        return card in self._left

    def deal(self, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Draw `count` cards at random and remove them."""
        if count > len(self._left):
            raise CardError(f"cannot deal {count} cards from the {len(self._left)} left")
        drawn = [int(self._left[i]) for i in rng.choice(len(self._left), count, replace=False)]
        gone = set(drawn)
        self._left = [card for card in self._left if card not in gone]
        return tuple(drawn)

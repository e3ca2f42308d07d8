"""What a board looks like, in the words players sort flops by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from equipoise.cards.card import RANKS

#: What is said of suits, of pairs and of straights; a board has one word of each.
SUIT_WORDS = ("rainbow", "two-tone", "monotone")
PAIR_WORDS = ("unpaired", "paired", "trips")
STRAIGHT_WORDS = ("disconnected", "connected")
#: What is said of the highest card.
HIGH_WORDS = tuple(f"{rank}-high" for rank in reversed(RANKS))
#: Every word.
TEXTURES = (*HIGH_WORDS, *SUIT_WORDS, *PAIR_WORDS, *STRAIGHT_WORDS)
_FIVE = 5


def texture(board: Sequence[int]) -> tuple[str, str, str, str]:
    """Words for a board: highest card, suits, pairs, and whether two cards can make a straight.

    >>> from equipoise.cards.card import parse_cards
    >>> texture(parse_cards("Td9d6h")), texture(parse_cards("Ks8d3c"))
    (('T-high', 'two-tone', 'unpaired', 'connected'), ('K-high', 'rainbow', 'unpaired', 'disconnected'))
    >>> texture(parse_cards("AhAd4h"))[2], texture(parse_cards("2h5h4h"))[1]
    ('paired', 'monotone')
    """
    ranks = [card >> 2 for card in board]
    most_of_a_suit = max(Counter(card & 3 for card in board).values())
    most_of_a_rank = max(Counter(ranks).values())
    # Of three of one suit, hands of two cards have a flush: further cards do not change the word.
    return (
        HIGH_WORDS[12 - max(ranks)],
        SUIT_WORDS[min(most_of_a_suit, 3) - 1],
        PAIR_WORDS[min(most_of_a_rank, 3) - 1],
        STRAIGHT_WORDS[_straight_for_two(set(ranks))],
    )


def _straight_for_two(ranks: set[int]) -> bool:
    """Whether some five ranks in a row, the ace high or low, hold three of these."""
    low = {-1} if 12 in ranks else set()
    return any(
        len((ranks | low) & set(range(start, start + _FIVE))) >= _FIVE - 2
        for start in range(-1, 13 - _FIVE + 1)
    )

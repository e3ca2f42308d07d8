"""Draws: what a hand on the way to a straight or a flush is on the way to.

Rollout equity hides them: 76 suited is a weak hand before the flop, and often a strong one after
it. Before the flop the *connectors* are set apart, two cards with at most two ranks between them
(an ace counts high or low), suited or not. On the flop a hand has

- a *flush draw* if exactly four of its five cards are of one suit;
- an *open-ended straight draw* if two or more ranks would each make a straight;
- an *inside straight draw* if exactly one would.

A flush draws to nothing, a straight only to a flush, and a flush draw goes before a straight draw.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from equipoise.cards.streets import street_of

#: Most ranks between two connectors.
MOST_BETWEEN = 2

_ACE = 12
#: Rank masks of the ten straights; bit 0 is the ace as a low card, bit 13 the ace as a high one.
_STRAIGHTS = tuple(0b11111 << low for low in range(10))


class Connectors(IntEnum):
    """Two cards before the flop that may make a straight; numbered as their buckets are."""

    NONE = -1
    SUITED = 0
    OFFSUIT = 1


class FlopDraw(IntEnum):
    """What is drawn to on the flop; numbered as their buckets are."""

    NONE = -1
    FLUSH = 0
    OPEN_ENDED = 1
    INSIDE = 2


#: Buckets that draws add on each street.
DRAW_BUCKETS = (2, 3, 0, 0)


def connectors(hole: tuple[int, ...]) -> Connectors:
    """Whether two cards are connectors.

    >>> from equipoise.cards.card import parse_cards
    >>> connectors(parse_cards("7s6s")).name, connectors(parse_cards("Ah3d")).name
    ('SUITED', 'OFFSUIT')
    >>> connectors(parse_cards("9s5s")).name, connectors(parse_cards("8s8d")).name
    ('NONE', 'NONE')
    """
    first, second = hole[0] >> 2, hole[1] >> 2
    apart = abs(first - second)
    if _ACE in (first, second):
        apart = min(apart, min(first, second) + 1)
    if not 1 <= apart <= MOST_BETWEEN + 1:
        return Connectors.NONE
    return Connectors.SUITED if hole[0] & 3 == hole[1] & 3 else Connectors.OFFSUIT


def flop_draw(hole: tuple[int, ...], flop: tuple[int, ...]) -> FlopDraw:
    """What five cards draw to.

    >>> from equipoise.cards.card import parse_cards
    >>> flop = parse_cards("5s 4s Kd")
    >>> [flop_draw(parse_cards(hole), flop).name for hole in ("As2s", "7h6h", "8h7h", "AhQd")]
    ['FLUSH', 'OPEN_ENDED', 'INSIDE', 'NONE']
    """
    cards = (*hole, *flop)
    suits = [card & 3 for card in cards]
    alike = max(suits.count(suit) for suit in range(4))
    if alike >= 4:
        return FlopDraw.FLUSH if alike == 4 else FlopDraw.NONE
    mask = 0
    for card in cards:
        mask |= 2 << (card >> 2)
    mask |= mask >> (_ACE + 1)
    return _straight_draw(mask)


@lru_cache(maxsize=1 << 14)
def _straight_draw(mask: int) -> FlopDraw:
    if any(mask & straight == straight for straight in _STRAIGHTS):
        return FlopDraw.NONE
    missing = (straight & ~mask for straight in _STRAIGHTS)
    single = {gap for gap in missing if gap.bit_count() == 1}
    # The two ends of the mask are the same ace.
    outs = {1 if gap == 2 << _ACE else gap for gap in single}
    if not outs:
        return FlopDraw.NONE
    return FlopDraw.OPEN_ENDED if len(outs) > 1 else FlopDraw.INSIDE


def draw_number(hole: tuple[int, ...], board: tuple[int, ...]) -> int:
    """Number of the draw among those of its street, -1 for none."""
    street = street_of(board)
    if street == 0:
        return int(connectors(hole))
    return int(flop_draw(hole, board)) if street == 1 else -1

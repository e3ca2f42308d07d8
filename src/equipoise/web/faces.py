"""Card faces, drawn: 52 small pictures and a back, made here so that no other host is asked for them.

Suits have shapes and four colours (black, red, blue, green; told apart by people who see no red or
green too), ranks stand large in two corners, number cards carry their pips, court cards a crown.
"""

from __future__ import annotations

from functools import cache

from equipoise.cards.card import card_text, parse_cards
from equipoise.errors import CardError

#: Outline of each suit in a square of 100 by 100.
_SUITS = {
    "s": "M50 4C38 24 10 36 10 60c0 14 10 22 21 22 7 0 12-3 16-8-1 9-5 15-12 20h30c-7-5-11-11-12-20"
    " 4 5 9 8 16 8 11 0 21-8 21-22C90 36 62 24 50 4z",
    "h": "M50 92C26 70 8 54 8 32 8 18 18 8 30 8c9 0 16 5 20 13C54 13 61 8 70 8c12 0 22 10 22 24"
    " 0 22-18 38-42 60z",
    "d": "M50 4C60 22 70 36 86 50 70 64 60 78 50 96 40 78 30 64 14 50 30 36 40 22 50 4z",
    "c": "M50 6c-12 0-21 9-21 20 0 6 2 10 5 14-3-1-6-2-9-2C13 38 5 47 5 58s8 20 20 20c8 0 15-4 20-11"
    "-1 12-5 20-12 27h34c-7-7-11-15-12-27 5 7 12 11 20 11 12 0 20-9 20-20s-8-20-20-20c-3 0-6 1-9 2"
    " 3-4 5-8 5-14C71 15 62 6 50 6z",
}
_COLOURS = {"s": "#1a1d21", "h": "#c2331f", "d": "#1d62b0", "c": "#0b7a52"}
_SUIT_NAMES = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}
_RANK_NAMES = {
    "T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace", "2": "two", "3": "three",
    "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight", "9": "nine",
}  # fmt: skip

#: Where pips stand between the corners: x and y from 0 to 1.
_PIPS: dict[str, tuple[tuple[float, float], ...]] = {
    "2": ((0.5, 0), (0.5, 1)),
    "3": ((0.5, 0), (0.5, 0.5), (0.5, 1)),
    "4": ((0, 0), (1, 0), (0, 1), (1, 1)),
    "5": ((0, 0), (1, 0), (0.5, 0.5), (0, 1), (1, 1)),
    "6": ((0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1)),
    "7": ((0, 0), (1, 0), (0.5, 0.25), (0, 0.5), (1, 0.5), (0, 1), (1, 1)),
    "8": ((0, 0), (1, 0), (0.5, 0.25), (0, 0.5), (1, 0.5), (0.5, 0.75), (0, 1), (1, 1)),
    "9": ((0, 0), (1, 0), (0, 1 / 3), (1, 1 / 3), (0.5, 0.5), (0, 2 / 3), (1, 2 / 3), (0, 1), (1, 1)),
    "T": (
        *((0, 0), (1, 0), (0.5, 1 / 6), (0, 1 / 3), (1, 1 / 3)),
        *((0, 2 / 3), (1, 2 / 3), (0.5, 5 / 6), (0, 1), (1, 1)),
    ),
}  # fmt: skip
#: Size of a card.
WIDTH, HEIGHT = 200, 280


def card_name(card: int) -> str:
    """A card in words.

    >>> card_name(51)
    'ace of spades'
    """
    text = card_text(card)
    rank, suit = text[0], text[1]
    return f"{_RANK_NAMES[rank]} of {_SUIT_NAMES[suit]}"


@cache
def card_svg(name: str) -> str:
    """The picture of a card, such as `As`; `back` is the back of all."""
    if name == "back":
        return _back()
    cards = parse_cards(name)
    if len(cards) != 1:
        raise CardError(f"{name[:20]!r} is not one card")
    text = card_text(cards[0])
    rank, suit = text[0], text[1]
    colour = _COLOURS[suit]
    shown = "10" if rank == "T" else rank
    spacing = ' letter-spacing="-9"' if rank == "T" else ""
    corner = (
        f'<text x="30" y="54" font-size="56" font-weight="700"'
        f' text-anchor="middle"{spacing}>{shown}</text>{_suit(suit, 31, 78, 34)}'
    )
    return (
        f'{_open()}<g fill="{colour}" font-family="Georgia,\'DejaVu Serif\',serif">'
        f'{corner}<g transform="rotate(180 {WIDTH / 2} {HEIGHT / 2})">{corner}</g>'
        f"{_middle(rank, suit, colour)}</g></svg>"
    )


def _open() -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="17" fill="#fffdf8" '
        'stroke="#cfc8b8" stroke-width="2"/>'
    )


def _suit(suit: str, x: float, y: float, size: float, turned: bool = False) -> str:
    """A suit with its middle at a place."""
    scale = size / 100
    turn = " rotate(180 50 50)" if turned else ""
    return (
        f'<path transform="translate({x - size / 2:.1f} {y - size / 2:.1f}) '
        f'scale({scale:.3f}){turn}" d="{_SUITS[suit]}"/>'
    )


def _middle(rank: str, suit: str, colour: str) -> str:
    if rank == "A":
        return _suit(suit, WIDTH / 2, HEIGHT / 2, 96)
    if rank in _PIPS:
        size = 36 if len(_PIPS[rank]) > 6 else 42
        return "".join(
            _suit(suit, 79 + 50 * x, 48 + 184 * y, size, turned=y > 0.5) for x, y in _PIPS[rank]
        )
    return _court(rank, suit, colour)


def _court(rank: str, suit: str, colour: str) -> str:
    """A framed half figure, twice: a crown, and the suit below it."""
    crowns = {
        "K": "M-34 16V-14l17 14L0-22 17 0l17-14v30z",
        "Q": "M-32 16l-6-26 19 12L0-20l19 22 19-12-6 26z",
        "J": "M-30 16c0-24 14-34 30-34s30 10 30 34zM24-16c10-4 16 2 20 10-8-3-12 0-15 4z",
    }
    half = (
        f'<g transform="translate(100 88)"><path d="{crowns[rank]}" fill="#e6b450" '
        f'stroke="{colour}" stroke-width="3.5" stroke-linejoin="round"/></g>'
        f"{_suit(suit, 100, 124, 34)}"
    )
    return (
        f'<rect x="57" y="42" width="86" height="196" rx="9" fill="{colour}" fill-opacity=".07" '
        f'stroke="{colour}" stroke-opacity=".55" stroke-width="2"/>'
        f'{half}<g transform="rotate(180 100 140)">{half}</g>'
        f'<path d="M57 140h86" stroke="{colour}" stroke-opacity=".3" stroke-width="2"/>'
    )


def _back() -> str:
    lines = "".join(
        f'<path d="M{x} 18L{x + 244} 262M{x + 244} 18L{x} 262"/>' for x in range(-226, 200, 20)
    )
    return (
        f'{_open()}<clipPath id="c"><rect x="13" y="13" width="174" height="254" rx="9"/></clipPath>'
        '<rect x="13" y="13" width="174" height="254" rx="9" fill="#1f4e79"/>'
        f'<g clip-path="url(#c)" stroke="#8fb4d6" stroke-width="1.6" opacity=".55">{lines}</g>'
        '<rect x="19" y="19" width="162" height="242" rx="6" fill="none" stroke="#cfe0ef" '
        'stroke-width="2"/><circle cx="100" cy="140" r="31" fill="#1f4e79" stroke="#cfe0ef" '
        f'stroke-width="2"/><g fill="#e8eff6">{_suit("s", 100, 140, 36)}</g></svg>'
    )

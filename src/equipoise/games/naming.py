"""Words for games: their names, and the cards that a player holds and that lie on the table.

A deck of `n` ranks is the top of the full one, so three ranks are Q, K and A unless a game names
them otherwise; with a single suit, or where suits do not count, a card is its rank alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from equipoise.cards.card import RANKS, SUITS
from equipoise.games.boards import Board
from equipoise.games.menu import BetMenu


def game_name(name: str, **parameters: object) -> str:
    """Name of a game with the parameters that differ from the plain one; None and False are plain.

    >>> game_name("leduc"), game_name("leduc-nolimit", stack=12, menu=BetMenu.parse("50%"))
    ('leduc', 'leduc-nolimit(stack=12, menu=50%)')
    """
    told = [
        key if value is True else f"{key}={value}"
        for key, value in parameters.items()
        if value is not None and value is not False and value != BetMenu.full()
    ]
    return f"{name}({', '.join(told)})" if told else name


def exact(number: Fraction | float) -> Fraction:
    """The number as it is written in decimals.

    >>> exact(7.1), exact(3)
    (Fraction(71, 10), Fraction(3, 1))
    """
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def number_text(number: Fraction) -> str:
    """Decimals where six digits are enough, else a fraction.

    >>> number_text(Fraction(15, 2)), number_text(Fraction(1, 3))
    ('7.5', '1/3')
    """
    decimals = f"{float(number):g}"
    return decimals if Fraction(decimals) == number else str(number)


@dataclass(frozen=True)
class CardText:
    """Writes the private states and boards of a game played with cards `suits * rank + suit`.

    >>> CardText("JQK").cards((2,)), CardText("QKA", suits=2).cards((5, 0))
    ('K', 'AdQc')
    """

    #: Letters of the ranks, lowest first.
    ranks: str
    #: Suits of the deck; 1 where they are not written.
    suits: int = 1

    @classmethod
    def of_deck(cls, ranks: int, suits: int) -> CardText:
        """The top `ranks` ranks of the full deck.

        >>> CardText.of_deck(4, 1).ranks
        'JQKA'
        """
        return cls(RANKS[-ranks:], suits)

    def cards(self, cards: Iterable[int]) -> str:
        """Text of cards, in the order given."""
        suits = SUITS if self.suits > 1 else ""
        return "".join(
            self.ranks[card // self.suits] + suits[card % self.suits : card % self.suits + 1]
            for card in map(int, cards)
        )

    def state(self, board: Board, player: int, state: int) -> str:
        """Hole cards of a private state."""
        return self.cards(board.hands[player][state])

    def board(self, board: Board) -> str:
        """Public cards."""
        return self.cards(board.cards)

"""A game: a betting tree, a tree of boards, and the words to print them with.

A deck of `n` ranks is the top of the full one, so three ranks are Q, K and A unless a game names them
otherwise; with a single suit, or where suits do not count, a card is its rank alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from equipoise.cards.card import RANKS, SUITS
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, BoardTree
from equipoise.games.menu import BetMenu

NameState = Callable[[Board, int, int], str]
NameBoard = Callable[[Board], str]


@dataclass(frozen=True, eq=False)
class Game:
    """Everything a solver needs to know, and nothing about how it solves.

    A *decision* is a (board, betting node) pair; an information set is a decision and a private
    state of the player who acts there.
    """

    #: What people call it, with its parameters: `leduc`, `jamfold(10)`.
    name: str
    betting: Betting
    deal: BoardTree
    #: Chips in one big blind (or ante): what milli-big-blinds are thousandths of.
    unit_chips: float
    #: Text of a private state: (board, player, state) -> "K", "AhKd", "nuts".
    state_name: NameState
    #: Text of the public cards of a board, empty before any are dealt.
    board_name: NameBoard
    #: Chips that the value to player 0 is counted from, if not from the start of the hand.
    value_offset_chips: float = 0.0
    #: A player never forgets what he saw or did: what EGT and the LP need.
    perfect_recall: bool = True
    #: (state, betting) is all that matters of the past: dynamic programming is exact even without.
    markov: bool = False

    def __repr__(self) -> str:
        first, second = self.information_sets()
        return f"<Game {self.name}: {first:,} + {second:,} information sets>"

    def until(self, rounds: int) -> Game:
        """The game cut after `rounds` rounds: what its lines are worth then is given to the solver.

        >>> from equipoise.games.library.leduc import leduc
        >>> leduc().until(1).information_sets()
        (9, 9)
        """
        return replace(
            self,
            name=f"{self.name} until round {rounds}",
            betting=self.betting.until(rounds),
            deal=self.deal.until(rounds),
        )

    def below(self, root: int, board: int) -> Game:
        """The game from a root of a round on, once the cards of a board lie there.

        Every private state begins with reach 1, and chips go on being counted from the start of the
        hand: who plays on from ranges gives them to the solver.

        >>> from equipoise.games.library.leduc import leduc
        >>> game = leduc()
        >>> game.below(int(game.betting.start[1]), 1).information_sets()
        (9, 9)
        """
        if self.betting.round_of(root) != self.deal.boards[board].round:
            raise GameError(f"node {root} of {self.name} is not played on board {board}")
        if self.betting.is_cut:
            raise GameError(f"{self.name} is cut: take a part of the whole game, and cut that")
        betting, _ = self.betting.below(root)
        deal, _ = self.deal.below(board)
        played = betting.origin.betting_text()
        name = f"{self.name} after {played} {self.board_name(self.deal.boards[board])}".rstrip()
        return replace(self, name=name, betting=betting, deal=deal)

    def information_sets(self) -> tuple[int, int]:
        """Number of information sets of each player."""
        counts = [0, 0]
        for b, board in enumerate(self.deal.boards):
            for player in (0, 1):
                nodes = len(self.betting.of_kind(board.round, player))
                counts[player] += nodes * self.deal.states(b, player)
        return counts[0], counts[1]

    def sequences(self) -> tuple[int, int]:
        """Number of sequences (information set, action) of each player, the empty one included."""
        counts = [1, 1]
        for b, board in enumerate(self.deal.boards):
            for player in (0, 1):
                rows = int(self.betting.rows[board.round, player])
                counts[player] += rows * self.deal.states(b, player)
        return counts[0], counts[1]

    def fingerprint(self) -> str:
        """A hash of everything that decides the solution: betting, payoffs, cards and chances."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256(self.name.encode())
        betting, deal = self.betting, self.deal
        for array in (betting.kind, betting.first, betting.even, betting.swing, *deal.initial):
            digest.update(np.ascontiguousarray(array).data)
        for board in deal.boards:
            digest.update(repr((board.round, board.parent, board.cards, board.weight)).encode())
            tables = (board.mass, board.signed, *(board.transition or ()), *(board.strength or ()))
            for part in (*board.hands, *tables):
                if part is not None:
                    digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:16]


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

"""Where the cards of a table stand in a game.

Solvers keep a game smaller than the table does: boards that differ by a renaming of suits are one
board, and in Leduc hold'em cards are only ranks. For the public cards of a table the boards of the
game are walked along the cards that came, keeping the renaming of suits under which they are the
game's, and the private state that each hand has become is looked up.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, combinations, pairwise, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.errors import GameError
from equipoise.games.game import Game

Cards = tuple[int, ...]


class BoardWalk:
    """Where the cards of a table stand in a game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        rules, deal = game.betting.rules, game.deal
        first = deal.boards[0]
        width = first.hands[0].shape[1]
        #: Suits as the game tells them apart; 1 where cards are only ranks.
        self.suits = deal.suits or 1
        by_rank = rules.hole_cards == 1 and deal.suits == 0
        cards = rules.ranks * self.suits
        whole = comb(cards, rules.hole_cards)
        if (
            width != rules.hole_cards
            or any(len(hands) != whole for hands in first.hands)
            or (not by_rank and deal.suits != rules.suits)
            or first.cards
        ):
            raise GameError(
                f"{game.name} is not dealt card by card from a whole deck: it cannot be played at "
                "a table"
            )
        self._seen = list(accumulate(rules.board_cards))
        self._children: dict[int, list[int]] = {}
        for number, board in enumerate(deal.boards):
            self._children.setdefault(board.parent, []).append(number)
        self._states = lru_cache(maxsize=4096)(self._walk)

    def card(self, card: int) -> int:
        """The game's number of a card of the table, -1 if it is not in the deck."""
        rules = self.game.betting.rules
        rank, suit = (card >> 2) - 13 + rules.ranks, (card & 3) - 4 + rules.suits
        if rank < 0 or suit < 0:
            return -1
        return rank if self.suits == 1 else self.suits * rank + suit

    def states(self, board: Cards, player: int) -> tuple[int, NDArray[np.int64]]:
        """Number of the board in the game, and the state of each hand there, -1 if it has none."""
        number, states = self._states(board)
        return number, states[player]

    def _walk(self, board: Cards) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        boards = self.game.deal.boards
        held = boards[0].hands[0].shape[1]
        place = [
            {tuple(sorted(hand)): i for i, hand in enumerate(b.tolist())} for b in boards[0].hands
        ]
        every = sorted(combinations(range(DECK_SIZE), held), key=lambda cards: cards[::-1])
        read = [tuple(sorted(self.card(card) for card in hand)) for hand in every]
        states = [np.array([places.get(hand, -1) for hand in read]) for places in place]
        number, renaming = 0, tuple(range(self.suits))
        for start, end in pairwise(self._seen):
            if end > len(board):
                break
            if start == end:
                continue
            dealt = {self._renamed(self.card(card), renaming) for card in board[start:end]}
            number, arrival = self._arrived(number, dealt)
            child = boards[number]
            step = self._renaming(number, arrival)
            renaming = tuple(step[suit] for suit in renaming)
            for player in (0, 1):
                became = np.full(len(boards[child.parent].hands[player]) + 1, -1)
                became[child.arrivals[arrival][player]] = np.arange(len(child.hands[player]))
                states[player] = became[states[player]]
        blocked = np.array([not set(hand).isdisjoint(board) for hand in every])
        return number, (np.where(blocked, -1, states[0]), np.where(blocked, -1, states[1]))

    def _renamed(self, card: int, renaming: tuple[int, ...]) -> int:
        rank, suit = divmod(card, self.suits)
        return rank * self.suits + renaming[suit]

    def _arrived(self, parent: int, dealt: set[int]) -> tuple[int, int]:
        """The board that the cards lead to from `parent`, and by which of its arrivals."""
        for number in self._children[parent]:
            board = self.game.deal.boards[number]
            deals = board.deals or [board.cards[-len(dealt) :]]
            for arrival, cards in enumerate(deals):
                if set(cards) == dealt:
                    return number, arrival
        raise GameError(f"{self.game.name} deals no such board: look at its cards")

    def _renaming(self, number: int, arrival: int) -> tuple[int, ...]:
        """The renaming of suits that an arrival stands for."""
        boards = self.game.deal.boards
        child = boards[number]
        if not child.deals:
            return tuple(range(self.suits))
        new = set(child.cards[len(boards[child.parent].cards) :])
        before = boards[child.parent].hands[0][child.arrivals[arrival][0]]
        after = [set(hand) for hand in child.hands[0].tolist()]
        for renaming in permutations(range(self.suits)):
            if {self._renamed(card, renaming) for card in child.deals[arrival]} == new and all(
                {self._renamed(card, renaming) for card in hand} == now
                for hand, now in zip(before.tolist(), after, strict=True)
            ):
                return renaming
        raise AssertionError("an arrival is a renaming of suits")

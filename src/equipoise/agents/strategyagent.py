"""An agent that plays a solved strategy, card by card, at a table of the game's own rules.

Solvers keep a game smaller than the table does: boards that differ by a renaming of suits are one
board, and in Leduc hold'em cards are only ranks. For a public situation at the table the agent walks
the boards of the game along the cards that came, keeping the renaming of suits under which they are
the game's, and looks up the private state that each hand has become.

A strategy knows the bets of its game's menu. After any other bet it has no answer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, combinations, pairwise, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import hand_number
from equipoise.errors import GameError
from equipoise.games.game import Game
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action, State
from equipoise.solve.strategies.strategy import Strategy

Cards = tuple[int, ...]


class StrategyAgent(Agent):
    """Plays a strategy of a game from either seat.

    >>> from equipoise.games.rules import State
    >>> from equipoise.games.library.leduc import leduc
    >>> agent = StrategyAgent(Strategy.uniform(leduc()))
    >>> start = State.start(agent.game.betting.rules)
    >>> [str(action) for action in agent.policy(PublicState(start, (), 0)).actions]
    ['c', 'r3']
    """

    name = "strategy"

    def __init__(self, strategy: Strategy) -> None:
        super().__init__()
        self.strategy = strategy
        self.game = strategy.game
        betting = self.game.betting
        self._table = Table(self.game)
        self._nodes = {
            betting.states[node].history: node for node in np.flatnonzero(betting.kind < 2).tolist()
        }
        self._policies: dict[tuple[object, Cards], Policy] = {}

    def act(self, view: View) -> Action:
        """Draw an action of the strategy."""
        policy = self.policy(PublicState(view.state, view.board, view.hand))
        chances = policy.probabilities[hand_number(view.hole)]
        draw = self.random.random() * float(chances.sum())
        for action, reached in zip(policy.actions, accumulate(chances.tolist()), strict=True):
            if draw < reached:
                return action
        return policy.actions[int(np.flatnonzero(chances)[-1])]

    def policy(self, public: PublicState) -> Policy:
        """The strategy in a public situation."""
        key = (public.state.history, public.board)
        if key not in self._policies:
            self._policies[key] = self._policy(public.state, public.board)
        return self._policies[key]

    def _policy(self, state: State, board: Cards) -> Policy:
        betting = self.game.betting
        if replace(state.rules, name="") != replace(betting.rules, name=""):
            raise GameError(
                f"the strategy is of {self.game.name}: play it by the rules of that game"
            )
        player = state.to_act
        if player is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        options = betting.menu.actions(state)
        if len(options) == 1:
            hands = comb(DECK_SIZE, state.rules.hole_cards)
            return Policy(tuple(options), np.ones((hands, 1), dtype=np.float32))
        node = self._nodes.get(state.history)
        if node is None:
            raise GameError(
                f"{self.game.name} has no betting {state.betting_text()!r}: "
                "its menu lacks a bet that was made"
            )
        number, states = self._table.states(board, player)
        chances = self.strategy.at(node, number)
        actions = tuple(betting.actions[child] for child in betting.children(node))
        rows = np.where(states[:, None] >= 0, chances.T[states], 0.0)
        return Policy(tuple(a for a in actions if a is not None), rows.astype(np.float32))


class Table:
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

"""An agent that plays a solved strategy, card by card, at a table of the game's own rules.

Solvers keep a game smaller than the table does. Where the cards of the table stand in the game
:class:`~equipoise.games.boards.BoardWalk` says: the board, and the private state that each hand has
become.

A strategy knows the bets of its game's menu. After any other bet it has no answer.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from math import comb

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import hand_number
from equipoise.errors import GameError
from equipoise.games.boards import BoardWalk
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
        self._walk = BoardWalk(self.game.name, betting.rules, self.game.deal)
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
        number, states = self._walk.states(board, player)
        chances = self.strategy.at(node, number)
        actions = tuple(betting.actions[child] for child in betting.children(node))
        rows = np.where(states[:, None] >= 0, chances.T[states], 0.0)
        return Policy(tuple(a for a in actions if a is not None), rows.astype(np.float32))

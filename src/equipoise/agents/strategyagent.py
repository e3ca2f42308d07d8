"""An agent that plays a strategy at a table of its game's own rules.

Whatever the strategy is, one of a game with all states listed or a blueprint, it is asked for what
every hand does in a public situation. After a bet that it does not know it has no answer.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.cards.combos import hand_number
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action
from equipoise.solve.strategies.strategy import Strategy

Cards = tuple[int, ...]


class StrategyAgent(Agent):
    """Plays a strategy of a game from either seat.

    >>> from equipoise.games.library.leduc import leduc
    >>> from equipoise.games.rules import State
    >>> from equipoise.solve.strategies.tabular import TabularStrategy
    >>> agent = StrategyAgent(TabularStrategy.uniform(leduc()))
    >>> start = State.start(leduc().betting.rules)
    >>> [str(action) for action in agent.policy(PublicState(start, (), 0)).actions]
    ['c', 'r3']
    """

    name = "strategy"

    def __init__(self, strategy: Strategy) -> None:
        super().__init__()
        self.strategy = strategy
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
            self._policies[key] = self.strategy.policy(public)
        return self._policies[key]

"""The Q-learner: the vote learner's first attempt, kept because of how it fails.

It learns the expected winnings of every (state, action) by Q-learning (Watkins, 1989): the value of
an action moves a step towards the best value of the state that follows, or towards the chips won if
the hand ends there. It acts greedily once the exploring hands are over. Chips won in a hand vary far
more than actions differ in the mean, so by bad luck alone a good action's value may fall below a
fold's; it is then never tried again, while the fold that is played instead costs what it is known
to cost. The longer the step, the sooner: with a step of 0.8 most bets are folded after a thousand
hands, with 0.1 luck averages out and little of it is seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.equitybuckets import EquityBuckets
from equipoise.agents.agent import Agent, HandResult, Policy, PublicState, View
from equipoise.agents.bucket import BucketAgent
from equipoise.agents.situation import Situations, facing_bet
from equipoise.agents.threeway import choose, three_way_policy
from equipoise.agents.training import practice
from equipoise.agents.votes import EXPLORING_HANDS, EXPLORING_RATE
from equipoise.errors import EquipoiseError
from equipoise.games.rules import LIMIT_HOLDEM, Action, Rules, State


class QLearningAgent(Agent):
    """Learns winnings against the bucket agent, then plays greedily."""

    name = "q-learner"

    def __init__(
        self,
        rules: Rules = LIMIT_HOLDEM,
        buckets: int = 6,
        division: str = "quantile",
        draws: bool = False,
        training: int = 4000,
        step: float = 0.8,
        keep_learning: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if training < 0 or not 0 < step <= 1:
            raise EquipoiseError("training is 0 hands or more, and step lies between 0 and 1")
        self.situations = Situations(EquityBuckets(buckets, division), draws)
        #: Expected winnings of fold, call and raise in each state, in big blinds.
        self.values = np.zeros((self.situations.count, 3))
        #: How far a value moves towards what was found.
        self.step = step
        self.episodes = 0
        self.learns = True
        for _ in practice(self, BucketAgent(), rules, training, seed):
            pass
        self.learns = keep_learning

    def act(self, view: View) -> Action:
        """The action of the highest value, or any while exploring."""
        if (
            self.learns
            and self.episodes < EXPLORING_HANDS
            and self.random.random() < EXPLORING_RATE
        ):
            return choose(self.random, view.state, (1.0, 1.0, 1.0))
        number = self.situations.number(view.hole, view.board, facing_bet(view.state))
        return choose(self.random, view.state, greedy(self.values[number], view.state).tolist())

    def observe(self, result: HandResult) -> None:
        """Move the values of the hand's actions, the last first."""
        if not self.learns:
            return
        target = result.payoff / result.state.rules.big_blind
        for number, move in reversed(self.situations.lived(result)):
            gap = target - self.values[number, move.kind]
            self.values[number, move.kind] += self.step * gap
            allowed = [move.could_fold, True, move.could_raise]
            target = float(self.values[number][allowed].max())
        self.episodes += 1

    def policy(self, public: PublicState) -> Policy:
        """The greedy choice of every hand."""
        numbers = self.situations.numbers(public.board, facing_bet(public.state))
        return three_way_policy(public.state, greedy(self.values[numbers], public.state))


def greedy(values: NDArray[np.float64], state: State) -> NDArray[np.float64]:
    """All on the allowed action of the highest value, shared where several have it: [..., 3].

    >>> greedy(np.array([0.0, -1.0, -2.0]), State.start(LIMIT_HOLDEM)).tolist()
    [1.0, 0.0, 0.0]
    """
    legal = state.legal()
    allowed = np.where([legal.fold, True, legal.raise_min > 0], values, -np.inf)
    best = (allowed == allowed.max(axis=-1, keepdims=True)).astype(np.float64)
    shared: NDArray[np.float64] = best / best.sum(axis=-1, keepdims=True)
    return shared

"""What the learning agents have in common: a figure for every action of every state.

A learner plays practice hands before its first match, and in the first of them tries out, now and
then, any action that is allowed. What the figures mean, how a hand changes them and how they become
chances is each learner's own.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.agents.agent import Agent
from equipoise.agents.suite.bucket import BucketAgent
from equipoise.agents.suite.practice import practice
from equipoise.agents.suite.situation import Situations, facing_bet
from equipoise.agents.suite.threeway import choose, three_way_policy
from equipoise.games.hand import HandResult, View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action, Rules, State

#: Hands in which actions are tried out, and how often.
EXPLORING_HANDS, EXPLORING_RATE = 100, 0.2


class Learner(Agent):
    """Plays by what it has learnt in each state."""

    def __init__(self, buckets: int, division: str, draws: bool) -> None:
        super().__init__()
        self.situations = Situations(EquityBuckets(buckets, division), draws)
        #: The figure of fold, call and raise in each state.
        self.figures = np.zeros((self.situations.count, 3))
        #: Hands of its own that it learnt from.
        self.episodes = 0
        self.learns = True

    def practise(self, rules: Rules, hands: int, seed: int) -> None:
        """Play against the bucket agent and learn."""
        for _ in practice(self, BucketAgent(), rules, hands, seed):
            pass

    @abstractmethod
    def mix(self, figures: NDArray[np.float64], state: State) -> NDArray[np.float64]:
        """Fold, call and raise chances from their figures, [..., 3], for what a state allows."""

    @abstractmethod
    def learn(self, result: HandResult) -> None:
        """Change the figures of the states and actions of a hand."""

    def act(self, view: View) -> Action:
        """Draw by the figures of the state, or anything while exploring."""
        exploring = self.learns and self.episodes < EXPLORING_HANDS
        if exploring and self.random.random() < EXPLORING_RATE:
            figures = np.zeros(3)
        else:
            number = self.situations.number(view.hole, view.board, facing_bet(view.state))
            figures = self.figures[number]
        return choose(self.random, view.state, self.mix(figures, view.state).tolist())

    def observe(self, result: HandResult) -> None:
        """Learn from a hand, while it still learns."""
        if self.learns:
            self.learn(result)
            self.episodes += 1

    def policy(self, public: PublicState) -> Policy:
        """The chances of every hand, given what was learnt so far."""
        numbers = self.situations.numbers(public.board, facing_bet(public.state))
        return three_way_policy(public.state, self.mix(self.figures[numbers], public.state))

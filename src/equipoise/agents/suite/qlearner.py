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

from equipoise.agents.suite.learner import Learner
from equipoise.agents.suite.practice import MOST_HANDS
from equipoise.errors import EquipoiseError
from equipoise.games.hand import HandResult
from equipoise.games.rules import LIMIT_HOLDEM, Rules, State


class QLearningAgent(Learner):
    """Learns winnings, in big blinds, against the bucket agent, then plays greedily."""

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
        """`step` is how far a value moves towards what was found, in `training` hands."""
        super().__init__(buckets, division, draws)
        if not 0 <= training <= MOST_HANDS or not 0 < step <= 1:
            raise EquipoiseError(
                f"training is 0 hands or more, at most {MOST_HANDS:,}, and step lies between 0 and 1"
            )
        self.step = step
        self.practise(rules, training, seed)
        self.learns = keep_learning

    def mix(self, figures: NDArray[np.float64], state: State) -> NDArray[np.float64]:
        """All on the highest value."""
        return greedy(figures, state)

    def learn(self, result: HandResult) -> None:
        """Move the values of the hand's actions, the last first."""
        values = self.figures
        target = result.payoff / result.state.rules.big_blind
        for number, move in reversed(self.situations.lived(result)):
            values[number, move.kind] += self.step * (target - values[number, move.kind])
            allowed = [move.could_fold, True, move.could_raise]
            target = float(values[number][allowed].max())


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

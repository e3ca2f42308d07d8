"""The vote learner: which action, in which state, came before winning?

After each hand the sign of the result is voted back to every (state, action) of it: one vote for a
win, one off for a loss, half a vote off where it checked and the opponent had not bet, because
little hangs on that. A fold is judged by who would have won: a vote for it if the opponent, one off
if the agent itself; it needs the cards to be shown. The votes of a state's actions are raised until
the lowest is 1, and played in proportion: votes of 417, −32 and 1 are chances of 450, 1 and 34 in
485.

For its first hundred hands one action in five is drawn at random. A *teacher*, a bucket agent that
plays in its place, passes on the hands that it won, as if the learner had played them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.suite.bucket import BucketAgent
from equipoise.agents.suite.learner import Learner
from equipoise.agents.suite.practice import MOST_HANDS, practice
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import winner
from equipoise.games.hand import HandResult
from equipoise.games.rules import LIMIT_HOLDEM, Kind, Rules, State


def chances(votes: NDArray[np.floating], state: State) -> NDArray[np.float64]:
    """Fold, call and raise chances from votes, [..., 3]; what is not allowed gets none.

    >>> votes = np.array([1.0, 417.0, -32.0])
    >>> start = State.start(LIMIT_HOLDEM)
    >>> (chances(votes, start) * 485).round()
    array([ 34., 450.,   1.])
    """
    legal = state.legal()
    open_choices = np.array([legal.fold, True, legal.raise_min > 0])
    lowest = np.where(open_choices, votes, np.inf).min(axis=-1, keepdims=True)
    raised = np.where(open_choices, votes - lowest + 1.0, 0.0)
    shares: NDArray[np.float64] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


class VoteAgent(Learner):
    """Learns by votes against the bucket agent, then plays what it has learnt."""

    name = "votes"

    def __init__(
        self,
        rules: Rules = LIMIT_HOLDEM,
        buckets: int = 6,
        division: str = "quantile",
        draws: bool = True,
        training: int = 2000,
        teacher: int = 2000,
        keep_learning: bool = False,
        seed: int = 0,
    ) -> None:
        """`training` hands are played by itself, after `teacher` hands by its teacher."""
        super().__init__(buckets, division, draws)
        if not (0 <= training <= MOST_HANDS and 0 <= teacher <= MOST_HANDS):
            raise EquipoiseError(
                f"training and teacher are numbers of hands: 0 or more, at most {MOST_HANDS:,}"
            )
        #: How often each action was taken in each state.
        self.visits = np.zeros((self.situations.count, 3), dtype=np.int64)
        for result in practice(BucketAgent(), BucketAgent(), rules, teacher, seed + 1):
            self.learn_from_teacher(result)
        self.practise(rules, training, seed)
        self.learns = keep_learning

    def mix(self, figures: NDArray[np.float64], state: State) -> NDArray[np.float64]:
        """In proportion to votes."""
        return chances(figures, state)

    def learn_from_teacher(self, result: HandResult) -> None:
        """Take over a hand of the teacher's, if he won it."""
        if result.payoff > 0:
            self.learn(result)

    def learn(self, result: HandResult) -> None:
        """Vote the sign of the result back."""
        sign = float(np.sign(result.payoff))
        for number, move in self.situations.lived(result):
            self.visits[number, move.kind] += 1
            if move.kind == Kind.FOLD:
                self.figures[number, Kind.FOLD] += _judged_fold(result)
                continue
            checked = move.kind == Kind.CALL and not move.could_fold and not move.facing_bet
            self.figures[number, move.kind] += sign / 2 if checked and sign < 0 else sign


def _judged_fold(result: HandResult) -> float:
    """A vote for the fold if it would not have won, one off if it would, none if nobody knows."""
    if result.opponent is None or result.full_board is None:
        return 0.0
    return -1.0 if winner(result.hole, result.opponent, result.full_board) == 0 else 1.0

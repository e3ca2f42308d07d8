"""The Bayesian agent: learns how the opponent plays each bucket, and plays against that.

The model is a blind opponent: in bucket i he raises with probability θ1(i); if he does not, he
calls with probability θ2(i); else he folds. All are independent, with priors Beta(5, 5). Hands that
are shown update them by counting,

    a1 += raises    b1 += calls + folds        a2 += calls    b2 += folds

and the estimate is the mode, (a − 1) / (a + b − 2). A check that costs nothing counts as a call, so
θ2 is estimated too high in hands that are rarely bet; with `open_choices` an action is counted only
for choices that were open, which removes that bias.

In a hand the likelihood of the opponent's actions so far is compared between buckets. The likeliest
is the guess, and its likelihood over the second likeliest's the *evidence*: 1 means no clue. With
enough evidence the agent plays its own bucket against the guess; without, its own bucket alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.buckets.equity import NO_BUCKET, EquityBuckets
from equipoise.agents.agent import Agent
from equipoise.agents.suite.bucket import STYLES
from equipoise.agents.suite.threeway import Move, choose, moves, three_way_policy
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import EquipoiseError
from equipoise.games.hand import HandResult, View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action, Kind, State

PRIOR = 5.0
#: Fold, call and raise by own bucket less the guessed one: far behind, behind, even, ahead.
COUNTER = {
    -2: (0.85, 0.1, 0.05),
    -1: (0.4, 0.55, 0.05),
    0: (0.05, 0.65, 0.3),
    1: (0.0, 0.25, 0.75),
}


class Guess(NamedTuple):
    """Which bucket the opponent is in, going by his actions."""

    bucket: int
    #: Likelihood of the guess over that of the next best: 1 means no clue.
    evidence: float


class BayesAgent(Agent):
    """Models the opponent bucket by bucket, and counters.

    >>> agent = BayesAgent()
    >>> agent.model()[0].tolist()
    [0.25, 0.25, 0.5]
    """

    name = "bayes"
    learns = True

    def __init__(
        self,
        buckets: int = 5,
        division: str = "quantile",
        evidence: float = 1.5,
        open_choices: bool = False,
    ) -> None:
        super().__init__()
        if buckets != len(STYLES["careful"]):
            raise EquipoiseError(
                f"{buckets} buckets: the play without evidence has {len(STYLES['careful'])}"
            )
        if evidence < 1:
            raise EquipoiseError(f"evidence = {evidence}: it is a ratio of 1 or more")
        self.buckets = EquityBuckets(buckets, division)
        #: Evidence from which the guess counts.
        self.evidence = evidence
        #: Count an action only for the choices that were open.
        self.open_choices = open_choices
        self._alone = np.array(STYLES["careful"])
        self.forget()

    def forget(self) -> None:
        """Back to the priors."""
        #: Beta parameters a and b of θ1 and θ2 for each bucket: [bucket, θ, a or b].
        self.beliefs = np.full((self.buckets.count, 2, 2), PRIOR)

    def reset(self, seed: int) -> None:
        """A new match: forget the opponent."""
        super().reset(seed)
        self.forget()

    def model(self) -> NDArray[np.float64]:
        """Estimated fold, call and raise of each bucket."""
        a, b = self.beliefs[:, :, 0], self.beliefs[:, :, 1]
        mode = (a - 1) / (a + b - 2)
        raised, called = mode[:, 0], mode[:, 1]
        stay = (1 - raised) * called
        return np.stack([(1 - raised) * (1 - called), stay, raised], axis=1)

    def observe(self, result: HandResult) -> None:
        """Learn from a hand whose cards were shown."""
        if result.opponent is None:
            return
        board = result.full_board or result.board
        for move in moves(result.state):
            if move.player != result.position:
                bucket = self.buckets.bucket(result.opponent, board[: BOARD_SIZES[move.round]])
                self._count(bucket, move)

    def _count(self, bucket: int, move: Move) -> None:
        raised = move.kind == Kind.RAISE
        if move.could_raise or not self.open_choices:
            self.beliefs[bucket, 0, 0 if raised else 1] += 1
        if not raised and (move.could_fold or not self.open_choices):
            self.beliefs[bucket, 1, 0 if move.kind == Kind.CALL else 1] += 1

    def guess(self, kinds: list[Kind]) -> Guess:
        """The bucket in which these actions are likeliest."""
        likelihood = np.prod(self.model()[:, [int(kind) for kind in kinds]], axis=1)
        second, best = np.sort(likelihood)[-2:]
        return Guess(int(np.argmax(likelihood)), float(best / second) if second > 0 else np.inf)

    def mixes(self, state: State) -> NDArray[np.float64]:
        """Fold, call and raise of each own bucket at this point of the betting."""
        assert state.to_act is not None
        opponent = 1 - state.to_act
        seen = [move.kind for move in moves(state) if move.player == opponent]
        guess = self.guess(seen)
        if not seen or guess.evidence < self.evidence:
            return self._alone
        ahead = np.clip(np.arange(self.buckets.count) - guess.bucket, -2, 1)
        return np.array([COUNTER[int(steps)] for steps in ahead])

    def act(self, view: View) -> Action:
        """Draw from the mixture against the guess."""
        own = self.buckets.bucket(view.hole, view.board)
        return choose(self.random, view.state, self.mixes(view.state)[own].tolist())

    def policy(self, public: PublicState) -> Policy:
        """The mixture of every hand, given what was learnt in earlier hands."""
        found = self.buckets.buckets(public.board)
        mixes = self.mixes(public.state)
        return three_way_policy(public.state, mixes[np.where(found == NO_BUCKET, 0, found)])

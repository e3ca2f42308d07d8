"""The regret agent: the average strategy of counterfactual regret minimisation over equity buckets.

The bucket game and its solution are made by :mod:`equipoise.solve.bucketstrategy` on first use and
kept; the agent only looks up. The average strategy, weighted by own reach, is near an equilibrium
of the *bucket game*: against it nobody who sees buckets alone can win, and who sees cards can win
only by what buckets hide.
"""

from __future__ import annotations

from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.agents.agent import Agent
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import LIMIT_HOLDEM, Action, Rules
from equipoise.solve.bucketstrategy import Training, bucket_strategy

#: Bets a round from which the betting tree is large and five buckets do instead of six.
_MANY_BETS = 3


class RegretAgent(Agent):
    """Plays an equilibrium of the bucket game."""

    name = "regret"

    def __init__(
        self,
        rules: Rules = LIMIT_HOLDEM,
        buckets: int | None = None,
        division: str = "quantile",
        boards: int = 10_000,
        iterations: int = 200,
    ) -> None:
        """Six buckets, or five where the rules allow many bets; trained on first use."""
        super().__init__()
        if buckets is None:
            bets = max((cap if cap is not None else _MANY_BETS) for cap in rules.max_raises)
            buckets = 5 if bets >= _MANY_BETS else 6
        training = Training(rules, EquityBuckets(buckets, division), boards, iterations)
        self.strategy = bucket_strategy(training)
        self._known: tuple[tuple[int, ...], tuple[int, ...], int] = ((), (), 0)

    def act(self, view: View) -> Action:
        """Draw from the strategy of the hand's sequence of buckets."""
        hole, board, sequence = self._known
        if hole != view.hole or board != view.board:
            sequence = self.strategy.sequence(view.hole, view.board)
            self._known = (view.hole, view.board, sequence)
        actions, chances = self.strategy.play(view.state, sequence)
        return self.random.choices(actions, chances.tolist())[0]

    def policy(self, public: PublicState) -> Policy:
        """The strategy of every hand."""
        return Policy(*self.strategy.policy(public.state, public.board))

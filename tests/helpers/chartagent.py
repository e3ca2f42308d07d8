"""Agents for tests whose policy is a fixed chart: drawn once for every public situation and hand."""

import zlib

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.cards.combos import hand_number
from equipoise.games.checkdown import CheckDown
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, FOLD, raise_to


class ChartAgent(Agent):
    """Plays a chart of probabilities that are sixty-fourths, so that they add up exactly.

    `groups` hands in a row of `key(hands)` share their probabilities; `secret(state)` are the
    situations in which the policy is not told.
    """

    name = "chart"

    def __init__(self, rules, seed, *, key=None, secret=lambda state: False, sizes=(1.0,)):
        super().__init__()
        self.rules, self.seed, self.secret, self.sizes = rules, seed, secret, sizes
        hands = CheckDown(rules).hands
        self.group = np.arange(hands) if key is None else key
        self.charts = {}

    def chart(self, state, board):
        where = (state.betting_text(), board)
        if where not in self.charts:
            legal = state.legal()
            actions = [FOLD] * legal.fold + [CALL]
            if legal.raise_min:
                totals = {
                    round(legal.raise_min + size * (legal.raise_max - legal.raise_min))
                    for size in self.sizes
                }
                actions += [raise_to(total) for total in sorted(totals)]
            random = np.random.default_rng([self.seed, zlib.crc32(repr(where).encode())])
            groups = int(self.group.max()) + 1
            rows = random.multinomial(
                64 - len(actions), np.ones(len(actions)) / len(actions), groups
            )
            skewed = np.where(random.random((groups, 1)) < 0.5, rows[:, ::-1], rows)
            self.charts[where] = Policy(
                tuple(actions), ((skewed + 1) / 64)[self.group].astype(np.float32)
            )
        return self.charts[where]

    def act(self, view):
        policy = self.chart(view.state, view.board)
        chances = policy.probabilities[hand_number(view.hole)].tolist()
        return self.random.choices(policy.actions, chances)[0]

    def policy(self, public: PublicState):
        if self.secret(public.state):
            return None
        return self.chart(public.state, public.board)

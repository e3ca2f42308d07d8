"""One seat at a table as a Gymnasium environment: the opponent is an agent.

An episode is a hand, and the hands are those of a match in which A is whoever acts here and B the
opponent: hand n of a series has deal n // 2, and A sits at position n mod 2, so that every deal is
played from both seats and `equipoise match A B --seed S` deals the same. With a `seat` of 0 or 1 the
player always sits there, and hand n has deal n. Rewards are in big blinds, at the end of the hand.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from equipoise.agents.agent import Agent
from equipoise.environment.choices import Choices, Mask
from equipoise.environment.encoding import Encoding
from equipoise.environment.table import Observation, giving_up, shown, spaces
from equipoise.errors import GameError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import Hand, check_seed, hand_seed
from equipoise.games.rules import Action, Rules, State


class Seat(gymnasium.Env[Any, Any]):  # type: ignore[misc]
    """One seat of a table, the other taken by an agent.

    >>> from equipoise.agents.simple import CallAgent
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> seat = Seat(NOLIMIT_HOLDEM, "50%,100%,a", CallAgent())
    >>> seen, info = seat.reset(seed=7)
    >>> info["position"], seat.step(1)[2], seat.action_masks().tolist()
    (0, False, [0, 1, 1, 1, 1])
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(
        self, rules: Rules, actions: str, opponent: Agent, seat: int | None = None
    ) -> None:
        if seat not in (None, 0, 1):
            raise GameError(f"seat = {seat}: sit at 0 or 1, or leave it out to take turns")
        self.rules, self.opponent, self.seat = rules, opponent, seat
        self.choices, self._encoding = Choices(rules, actions), Encoding(rules)
        self.observation_space, self.action_space = spaces(self._encoding, self.choices)
        self.render_mode = "ansi"
        self._start = State.start(rules)
        self._deals: SeededDeals | None = None
        self._next = 0
        self._hand: Hand | None = None
        self._position = 0

    @property
    def hand(self) -> Hand:
        """The hand in play; all cards are in it."""
        if self._hand is None:
            raise ValueError("no hand is dealt: call reset first")
        return self._hand

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal the next hand; with a seed, the first of its series."""
        super().reset(seed=seed)
        if seed is not None or self._deals is None:
            seed = int(self.np_random.integers(1 << 62)) if seed is None else int(seed)
            check_seed(seed)
            self._deals, self._next = SeededDeals(self.rules, seed), 0
            self.opponent.reset(2 * seed + 1)
        number, self._next = self._next, self._next + 1
        deal = self._deals.deal(number // 2 if self.seat is None else number)
        self._position = number & 1 if self.seat is None else self.seat
        self._hand = Hand(self._start, deal, number)
        self._encoding.begin(self._hand)
        self.opponent.random.seed(hand_seed(self._deals.seed, number, 1))
        self.opponent.begin(number, 1 - self._position)
        self._answer()
        return self._seen(), self._told("")

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play the action of a number, and let the opponent answer until it is our turn again.

        An opponent may fold before our first turn: the mask then allows nothing, and the first step,
        whatever its action, brings the reward.
        """
        hand = self.hand
        fault = ""
        if not hand.state.is_over:
            chosen = self.choices.action(hand.state, int(action))
            if chosen is None:
                fault = f"action {action} is not allowed: {hand.state.legal()}"
                chosen = giving_up(hand.state)
            self._play(chosen)
            self._answer()
        over = hand.state.is_over
        return self._seen(), self._payoff() if over else 0.0, over, False, self._told(fault)

    def _payoff(self) -> float:
        return self.hand.payoffs()[self._position] / self.rules.big_blind

    def _told(self, fault: str) -> dict[str, Any]:
        told: dict[str, Any] = {"position": self._position, "hand": self.hand.number}
        return told | ({"fault": fault} if fault else {})

    def action_masks(self) -> Mask:
        """Which actions are allowed now: all 0 when the hand is over."""
        state = self.hand.state
        if state.to_act == self._position:
            return self.choices.mask(state)
        return np.zeros(self.choices.count, dtype=np.int8)

    def _seen(self) -> Observation:
        vector = self._encoding.vectors[self._position].copy()
        return {"observation": vector, "action_mask": self.action_masks()}

    def _play(self, action: Action) -> None:
        before = self.hand.state
        self.hand.play(action)
        self._encoding.played(self.hand, before, action)

    def _answer(self) -> None:
        """The opponent acts for as long as it is its turn; at the end it is told the result."""
        hand = self.hand
        while hand.state.to_act == 1 - self._position:
            try:
                action = self.opponent.act(hand.view())
                if not hand.state.can(action):
                    action = giving_up(hand.state)
            except Exception:
                # A fault, as in the arena: the hand goes on.
                action = giving_up(hand.state)
            self._play(action)
        if hand.state.is_over:
            self.opponent.observe(hand.result(1 - self._position))

    def render(self) -> str:
        """The hand as text, with all cards."""
        return shown(self.hand)

"""A hand of heads-up poker as a PettingZoo environment: two players, one after the other.

`player_0` and `player_1` sit as in the rules: in hold'em 0 is the big blind, 1 the button. An episode
is a hand. Cards come from the seed given to `reset` as in `equipoise match --no-duplicate --seed`; a
`reset` without a seed deals the next hand of the same series. The reward comes at the end of the hand,
in big blinds (in Kuhn and Leduc, antes). An action that the mask forbids is what it is in the arena: a
fault, told in `infos`, and in its place the player folds to a bet and checks where there is none.
"""

from __future__ import annotations

from secrets import randbits
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv

from equipoise.environment.choices import Choices
from equipoise.environment.encoding import Encoding
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import Hand, check_seed
from equipoise.games.rules import CALL, FOLD, Action, Rules, State

Observation = dict[str, NDArray[Any]]

PLAYERS = ("player_0", "player_1")


def spaces(encoding: Encoding, choices: Choices) -> tuple[Dict, Discrete]:
    """Observations (a vector and a mask) and actions."""
    seen = Dict(
        observation=Box(0.0, 1.0, (encoding.size,), np.float32),
        action_mask=Box(0, 1, (choices.count,), np.int8),
    )
    return seen, Discrete(choices.count)


class Table(AECEnv):  # type: ignore[misc]
    """Both seats of a table.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> table = Table(NOLIMIT_HOLDEM, "50%,100%,a")
    >>> table.reset(seed=7)
    >>> table.agent_selection, table.observe("player_1")["action_mask"].tolist()
    ('player_1', [1, 1, 1, 1, 1])
    >>> table.step(0)
    >>> table.rewards
    {'player_0': 0.5, 'player_1': -0.5}
    """

    metadata = {  # noqa: RUF012
        "name": "equipoise_holdem_v0", "render_modes": ["ansi"], "is_parallelizable": False,
    }  # fmt: skip
    render_mode = "ansi"

    def __init__(self, rules: Rules, actions: str) -> None:
        super().__init__()
        self.rules = rules
        self.choices, self._encoding = Choices(rules, actions), Encoding(rules)
        self.possible_agents = list(PLAYERS)
        self.agents = list(PLAYERS)
        self._seen, self._acts = spaces(self._encoding, self.choices)
        self._start = State.start(rules)
        self._deals: SeededDeals | None = None
        self._next = 0
        self._hand: Hand | None = None

    def observation_space(self, agent: str) -> Dict:
        """A vector and a mask, the same for both."""
        return self._seen

    def action_space(self, agent: str) -> Discrete:
        """Numbers from 0, the same for both."""
        return self._acts

    @property
    def hand(self) -> Hand:
        """The hand in play; all cards are in it."""
        if self._hand is None:
            raise ValueError("no hand is dealt: call reset first")
        return self._hand

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the next hand; with a seed, the first of its series."""
        if seed is not None or self._deals is None:
            seed = randbits(62) if seed is None else int(seed)
            check_seed(seed)
            self._deals, self._next = SeededDeals(self.rules, seed), 0
        self._hand = hand = Hand(self._start, self._deals.deal(self._next), self._next)
        self._next += 1
        self._encoding.begin(hand)
        self.agents = list(PLAYERS)
        self.rewards = dict.fromkeys(PLAYERS, 0.0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0.0)
        self.terminations = dict.fromkeys(PLAYERS, False)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in PLAYERS}
        self.agent_selection = PLAYERS[hand.state.to_act or 0]

    def observe(self, agent: str) -> Observation:
        """What a player sees; his mask allows nothing while it is not his turn."""
        seat, state = PLAYERS.index(agent), self.hand.state
        if state.to_act == seat:
            mask = self.choices.mask(state)
        else:
            mask = np.zeros(self.choices.count, dtype=np.int8)
        return {"observation": self._encoding.vectors[seat].copy(), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """The player to act does the action of a number; after the end each is asked for None."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {}
        hand, before = self.hand, self.hand.state
        chosen = None if action is None else self.choices.action(before, int(action))
        if chosen is None:
            self.infos[agent] = {"fault": f"action {action} is not allowed: {before.legal()}"}
            chosen = giving_up(before)
        hand.play(chosen)
        self._encoding.played(hand, before, chosen)
        if hand.state.to_act is None:
            unit = self.rules.big_blind
            for player, chips in zip(PLAYERS, hand.payoffs(), strict=True):
                self.rewards[player] = chips / unit
                self.terminations[player] = True
            self._accumulate_rewards()
            self.agent_selection = PLAYERS[1 - PLAYERS.index(agent)]
        else:
            self.agent_selection = PLAYERS[hand.state.to_act]

    def render(self) -> str:
        """The hand as text, with all cards: betting, private cards, board."""
        return shown(self.hand)

    def close(self) -> None:
        """There is nothing to close."""


def giving_up(state: State) -> Action:
    """What stands in for an action that cannot be played, as in the arena."""
    return FOLD if state.to_call else CALL


def shown(hand: Hand) -> str:
    """A hand as text."""
    from equipoise.arena.record import write_cards

    state = hand.state
    cards = write_cards(state.rules, hand.deal.holes, hand.board)
    return f"{state.rules.name}: {state.betting_text() or 'blinds posted'}, {cards}"

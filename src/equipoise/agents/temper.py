"""Players of marked temper, whose mistakes a good opponent finds and takes: `nit`, `maniac`, `station`
and `turncoat`.

Each ranks its hand among all that the board allows, by rollout equity: the rank u is the share of
hands below it, ties half. A *temper* says which share of the best hands does what:

    nobody has bet   bets with the best `bets`; with any other hand `bluffs` of the time
    facing a bet     raises with the best `raises`, times `escalation` for each raise of the round so far;
                     bluffs a raise `bluff_raises` of the time; stays in with the best
                     plays · (1 − fear · odds), odds = to call / (pot + to call); folds the rest

A share s is a soft threshold, the logistic function of (u − (1 − s)) / :data:`SOFTNESS`: hands near it
mix. Sizes are shares of the pot after a call, drawn from one list for strong hands and another for
bluffs; a raise whose size leaves less than a fifth of the stack is all-in. Every probability is known, so
`policy` is exact.

`nit` waits for good hands and believes every bet; `maniac` bets and raises nearly anything, large;
`station` calls too much, hardly ever raises, and bets big when strong; `turncoat` is one of them in the
first half of the match and another after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.features.rollouts import rollout_table
from equipoise.abstraction.lookup import BLOCKED
from equipoise.agents.agent import Agent
from equipoise.cards.combos import combo_index
from equipoise.errors import EquipoiseError
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, FOLD, Action, Rules, State, raise_to
from equipoise.settings import choose

#: Ranks over which a share is soft.
SOFTNESS = 0.02
#: A raise that leaves a smaller share of the stack than this is all-in.
_ALL_IN = 0.2

#: Shares of the pot after a call, and how often each is drawn.
Sizes = tuple[tuple[float, float], ...]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Temper:
    """How a player of marked temper plays; shares are of all hands, the best first."""

    #: Share of hands that bet where nobody has, and chance of the rest to do so as well.
    bets: float
    bluffs: float
    #: Share that raises a bet, what each raise so far leaves of it, and chance of the rest.
    raises: float
    escalation: float
    bluff_raises: float
    #: Share that stays in against a bet, and how much of it the price takes away.
    plays: float
    fear: float
    #: Sizes of strong hands, and of bluffs.
    value_sizes: Sizes
    bluff_sizes: Sizes


TEMPERS = {
    "nit": Temper(
        bets=0.16, bluffs=0.02, raises=0.07, escalation=0.5, bluff_raises=0.0, plays=0.5, fear=1.75,
        value_sizes=((0.5, 0.5), (0.75, 0.5)), bluff_sizes=((0.5, 1.0),),
    ),
    "maniac": Temper(
        bets=0.6, bluffs=0.55, raises=0.4, escalation=0.75, bluff_raises=0.2, plays=1.0, fear=0.7,
        value_sizes=((1.0, 0.6), (1.75, 0.4)), bluff_sizes=((1.0, 0.5), (1.75, 0.5)),
    ),
    "station": Temper(
        bets=0.2, bluffs=0.04, raises=0.05, escalation=0.6, bluff_raises=0.0, plays=1.1, fear=0.8,
        value_sizes=((1.0, 0.5), (1.5, 0.5)), bluff_sizes=((0.33, 1.0),),
    ),
}  # fmt: skip


def ranks(board: tuple[int, ...]) -> Floats:
    """Share of the hands on a board that each hand outranks by rollout equity, ties half.

    >>> from equipoise.cards.combos import parse_combo
    >>> float(ranks(())[parse_combo("AsAh")].round(4))
    0.9977
    """
    return _ranks(tuple(sorted(board)))


@lru_cache(maxsize=16)
def _ranks(board: tuple[int, ...]) -> Floats:
    levels = rollout_table().levels(board)
    held = np.sort(levels[levels != BLOCKED])
    below, upto = (np.searchsorted(held, levels, side) for side in ("left", "right"))
    found: Floats = (below + upto) / (2 * len(held))
    found.flags.writeable = False
    return found


class TemperAgent(Agent):
    """Plays a temper; subclasses say which."""

    #: The temper of every hand.
    temper: ClassVar[str] = "nit"

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        if (rules.suits, rules.ranks, rules.hole_cards) != (4, 13, 2):
            raise EquipoiseError(
                f"{self.name} plays hold'em with the full deck: choose --game nolimit"
            )

    def temper_of(self, hand: int) -> Temper:
        """The temper in which a hand of the match is played, by its number."""
        return TEMPERS[self.temper]

    def act(self, view: View) -> Action:
        """Draw from the mixture of the hand's rank."""
        rank = ranks(view.board)[combo_index(*view.hole)]
        actions, chances = _mixtures(view.state, self.temper_of(view.hand), np.array([rank]))
        draw = self.random.random()
        for action, chance in zip(actions, chances[0].tolist(), strict=True):
            draw -= chance
            if draw < 0:
                return action
        return CALL

    def policy(self, public: PublicState) -> Policy:
        """The mixture of every hand."""
        every = ranks(public.board)
        actions, chances = _mixtures(public.state, self.temper_of(public.hand), every)
        return Policy(tuple(actions), chances.astype(np.float32))


class NitAgent(TemperAgent):
    """Waits for good hands and believes every bet."""

    name = temper = "nit"


class ManiacAgent(TemperAgent):
    """Bets and raises nearly anything, large."""

    name = temper = "maniac"


class StationAgent(TemperAgent):
    """Calls too much, and bets big when strong."""

    name = temper = "station"


class TurncoatAgent(TemperAgent):
    """One temper in the hands before `turns_at`, another from there on.

    The default turns at half of a match of 10,000 hands.
    """

    name = "turncoat"

    def __init__(
        self, rules: Rules, first: str = "nit", then: str = "maniac", turns_at: int = 5000
    ) -> None:
        super().__init__(rules)
        if turns_at < 0:
            raise EquipoiseError(f"turns_at = {turns_at}: give the number of a hand, from 0")
        self._tempers = tuple(TEMPERS[choose(one, TEMPERS, "temper")] for one in (first, then))
        self.turns_at = turns_at

    def temper_of(self, hand: int) -> Temper:
        """The first temper, or the second."""
        return self._tempers[hand >= self.turns_at]


def _mixtures(state: State, temper: Temper, rank: Floats) -> tuple[list[Action], Floats]:
    """Actions of a state, and their probabilities for hands of some ranks: [hand, action]."""
    legal = state.legal()
    facing = legal.fold
    value = np.zeros(len(rank))
    bluff = np.zeros(len(rank))
    if legal.raise_min:
        share, chance = temper.bets, temper.bluffs
        if facing:
            share = temper.raises * temper.escalation**state.raises
            chance = temper.bluff_raises * temper.escalation**state.raises
        value = _best(rank, share)
        bluff = (1 - value) * chance
    stay = np.ones(len(rank))
    if facing:
        odds = state.to_call / (state.pot + state.to_call)
        stay = _best(rank, temper.plays * max(0.0, 1 - temper.fear * odds))
    passive = 1 - value - bluff
    mix: dict[Action, Floats] = {}
    if facing:
        mix[FOLD] = passive * (1 - stay)
    mix[CALL] = passive * stay
    if legal.raise_min:
        for sizes, weight in ((temper.value_sizes, value), (temper.bluff_sizes, bluff)):
            for share, drawn in sizes:
                action = raise_to(_amount(state, share))
                mix[action] = mix.get(action, 0.0) + weight * drawn
    return list(mix), np.stack(list(mix.values()), axis=1)


def _best(rank: Floats, share: float) -> Floats:
    """How likely each rank is to count among the best `share` of hands.

    The logistic function, by the hyperbolic tangent, which does not overflow.
    """
    if share <= 0:
        return np.zeros(len(rank))
    found: Floats = 0.5 + 0.5 * np.tanh((rank - (1 - share)) / (2 * SOFTNESS))
    return found


def _amount(state: State, share: float) -> int:
    """The raise of a share of the pot after a call, within what is legal."""
    assert state.to_act is not None
    legal, called = state.legal(), max(state.committed)
    pot = 2 * called + state.rules.dead
    stack = state.rules.stacks[state.to_act]
    amount = called + round(share * pot)
    if stack - amount < _ALL_IN * stack:
        return legal.raise_max
    return min(max(amount, legal.raise_min), legal.raise_max)

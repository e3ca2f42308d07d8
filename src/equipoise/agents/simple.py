"""Agents that need no cards to decide: yardsticks for everything else.

`random` picks fold (only when there is a bet to face), call and raise alike, and in no-limit any
legal raise size alike; `all-in` raises as much as it may and calls where it may not; `call` never
folds and never raises; `fold` folds to any bet and checks where there is none.
"""

from __future__ import annotations

from abc import abstractmethod
from random import Random
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState, same_for_all
from equipoise.games.rules import CALL, FOLD, Action, Kind, State, raise_to

#: More raise sizes than this are not listed in a policy.
MOST_SIZES = 256


class RandomAgent(Agent):
    """Every kind of legal action alike, every raise size alike."""

    name = "random"

    def act(self, view: View) -> Action:
        """Draw the kind of action, then the size."""
        fold, _, least, most = view.state.legal()
        draw = self.random.random
        if not least:
            return FOLD if fold and draw() < 0.5 else CALL
        if fold:
            choice = draw() * 3
            if choice < 1:
                return FOLD
            if choice < 2:
                return CALL
        elif draw() < 0.5:
            return CALL
        return Action(Kind.RAISE, least + int(draw() * (most - least + 1)))

    def policy(self, public: PublicState) -> Policy | None:
        """The uniform strategy; None where there are too many raise sizes to list."""
        fold, _, least, most = public.state.legal()
        sizes = most - least + 1 if least else 0
        if sizes > MOST_SIZES:
            return None
        kinds = fold + 1 + (sizes > 0)
        mix = {FOLD: 1 / kinds} if fold else {}
        mix[CALL] = 1 / kinds
        for amount in range(least, least + sizes):
            mix[raise_to(amount)] = 1 / (kinds * sizes)
        return same_for_all(public.state, mix)


class _Undrawn(Random):
    """A generator that is set up when it is first drawn from.

    Setting one up takes longer than a hand of an agent that never draws.
    """

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Begin anew, at the first draw."""
        self._pending, self._version, self._due = a, version, True
        # Half of the last pair of normal numbers belongs to the old seed.
        self.gauss_next = None

    def random(self) -> float:
        """A number from 0 to 1."""
        self._set_up()
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        """A number of `k` bits."""
        self._set_up()
        return super().getrandbits(k)

    def getstate(self) -> tuple[Any, ...]:
        """Where it stands."""
        self._set_up()
        return super().getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Go on from where another stood."""
        self._due = False
        super().setstate(state)

    def _set_up(self) -> None:
        if self._due:
            self._due = False
            super().seed(self._pending, self._version)


class _PureAgent(Agent):
    """Plays one action in each betting state, whatever its cards."""

    def __init__(self) -> None:
        super().__init__()
        self.random = _Undrawn(0)

    @abstractmethod
    def _choose(self, state: State) -> Action:
        """The action of a betting state."""

    def act(self, view: View) -> Action:
        """The one action of this betting state."""
        return self._choose(view.state)

    def policy(self, public: PublicState) -> Policy:
        """Certainty."""
        return same_for_all(public.state, {self._choose(public.state): 1.0})


class AllInAgent(_PureAgent):
    """Raises as much as it may, calls where it may not."""

    name = "all-in"

    def _choose(self, state: State) -> Action:
        most = state.legal().raise_max
        return raise_to(most) if most else CALL


class CallAgent(_PureAgent):
    """Checks and calls, always."""

    name = "call"

    def _choose(self, state: State) -> Action:
        return CALL


class FoldAgent(_PureAgent):
    """Folds to any bet, checks where there is none."""

    name = "fold"

    def _choose(self, state: State) -> Action:
        return FOLD if state.legal().fold else CALL

"""The agent that a server plays, in as many copies as there are sessions under way.

A copy that is asked in the middle of a hand that it does not remember, because the server was started
anew or the copy was needed elsewhere, is led through the hand from its start: it is asked for every
decision that it took before, with the same random numbers, and so comes to where it stood. The cards
and seeds are those of a match in which the client is A and the house B (:mod:`equipoise.arena.match`).
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.remote.notation import RULES
from equipoise.errors import EquipoiseError
from equipoise.games.hand import Hand, hand_seed
from equipoise.games.rules import State

#: Copies that are kept: of agents that answer at once, and of those that think.
_MOST_QUICK, _MOST_SLOW = 256, 16
#: The house is the second agent of its matches.
_SEAT = 1


class Answered(NamedTuple):
    """What the house did when it was asked."""

    decisions: int
    seconds: float
    #: Decisions that were no action, or an illegal one.
    faults: int


class House:
    """An agent that plays many clients at once."""

    def __init__(self, spec: AgentSpec) -> None:
        self.spec, self.name = spec, spec.name
        first = spec.make(RULES)
        if first.learns:
            raise EquipoiseError(
                f"{spec.name} learns from hand to hand: serve an agent that plays one policy"
            )
        #: A decision may take long, and should be waited for elsewhere.
        self.waits = first.waits
        #: The mixed strategy is known.
        self.has_policy = type(first).policy is not Agent.policy
        self._spare: list[Agent] = [first]
        self._seats: OrderedDict[int, _Seat] = OrderedDict()

    def agent(self) -> Agent:
        """A copy of its own for whoever needs one."""
        return self.spec.make(RULES)

    def seat(self, session: int) -> _Seat:
        """The copy that plays a session."""
        seat = self._seats.pop(session, None)
        if seat is None:
            if len(self._seats) >= (_MOST_SLOW if self.waits else _MOST_QUICK):
                # The one that was asked longest ago, and is not being asked now.
                free = next((key for key, seat in self._seats.items() if not seat.busy), None)
                if free is not None:
                    self._spare.append(self._seats.pop(free).agent)
            seat = _Seat(self._spare.pop() if self._spare else self.agent())
        self._seats[session] = seat
        return seat


class _Seat:
    """One copy of the agent, and the hand that it plays."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        #: It is being asked.
        self.busy = False
        self._seed: int | None = None
        #: The hand it is in, and its decisions there.
        self._at: tuple[int, int, int] | None = None

    def play(self, hand: Hand, position: int, seed: int) -> Answered:
        """Act for `position` until it is the other's turn or the hand is over."""
        self.busy = True
        try:
            return self._play(hand, position, seed)
        finally:
            self.busy = False

    def _play(self, hand: Hand, position: int, seed: int) -> Answered:
        begun, faults, decisions = perf_counter(), 0, 0
        at = (seed, hand.number, _decisions(hand.state, position))
        known, count = self._at == at, at[2]
        if hand.state.to_act == position and not known:
            self._follow(hand, position, seed)
            known = True
        while hand.state.to_act == position:
            decisions += 1
            try:
                hand.play(self.agent.act(hand.view()))
            except Exception:
                # The arena's rule: the hand goes on, and the fault is counted.
                faults += 1
                hand.give_up()
            count += 1
        if hand.state.is_over and known:
            with suppress(Exception):
                self.agent.observe(hand.result(position))
        self._at = (seed, hand.number, count) if known else None
        return Answered(decisions, perf_counter() - begun, faults)

    def _follow(self, hand: Hand, position: int, seed: int) -> None:
        """Begin the hand, and take again the decisions that were taken before."""
        if self._seed != seed:
            self.agent.reset(2 * seed + _SEAT)
            self._seed = seed
        self.agent.random.seed(hand_seed(seed, hand.number, _SEAT))
        self.agent.begin(hand.number, position)
        past = Hand(State.start(hand.state.rules), hand.deal, hand.number)
        for action in (action for part in hand.state.history for action in part):
            if past.state.to_act == position:
                # What went wrong then goes wrong again.
                with suppress(Exception):
                    self.agent.act(past.view())
            past.play(action)


def _decisions(state: State, position: int) -> int:
    """How many decisions a position has taken."""
    count, now = 0, State.start(state.rules)
    for action in (action for part in state.history for action in part):
        count += now.to_act == position
        now = now.apply(action)
    return count

"""One hand between two agents, and what happens when an agent fails.

An action that breaks the rules, an exception, or a decision over the time limit is a *fault*. It is
not repaired: the agent folds if it faces a bet and checks if it does not, the hand goes on, and the
fault is reported with its reason. An agent that does not come back is called away by the shot clock
(:mod:`equipoise.arena.shotclock`), at the time limit or, where there is none, after a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from random import Random
from time import perf_counter
from typing import NamedTuple

from equipoise.agents.agent import Agent
from equipoise.arena.record import Fault
from equipoise.arena.shotclock import Overdue, shot_clock
from equipoise.errors import EquipoiseError, GameError, IllegalActionError
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import Hand, HandResult, View, check_seed, hand_seed
from equipoise.games.rules import Action, Rules, State

#: Seconds after which an agent without a time limit is taken to have hung.
PATIENCE = 60.0


class Finished(NamedTuple):
    """How a hand ended."""

    state: State
    #: Chips won by position 0.
    payoff: float


class Duel:
    """Two agents and the rules they play by; seat 0 is A, seat 1 is B."""

    def __init__(
        self,
        rules: Rules,
        agents: Sequence[Agent],
        seed: int,
        *,
        seconds_per_action: float | None = None,
        allin_equity: bool = False,
        reveal: bool = False,
    ) -> None:
        check_seed(seed)
        if allin_equity and (rules.suits, rules.ranks, rules.hole_cards) != (4, 13, 2):
            raise GameError("all-in equity is for hold'em with the full deck: play without it")
        if seconds_per_action is not None and not seconds_per_action > 0:
            raise EquipoiseError(
                f"seconds_per_action = {seconds_per_action:g}: allow more than 0 seconds"
            )
        self.rules = rules
        self.agents = tuple(agents)
        self.seed = seed
        self.seconds_per_action = seconds_per_action
        self.allin_equity = allin_equity
        #: Agents see all cards when a hand is over.
        self.reveal = reveal
        #: Every fault so far.
        self.faults: list[Fault] = []
        #: What an agent is being waited for; another object each time.
        self._waiting: object | None = None
        self._start = State.start(rules)
        # Hooks that a class leaves as they are need not be called.
        self._begins = [type(agent).begin is not Agent.begin for agent in self.agents]
        self._observes = [type(agent).observe is not Agent.observe for agent in self.agents]

    def reset(self) -> None:
        """A new match: both agents forget the last one."""
        self.faults.clear()
        for seat, agent in enumerate(self.agents):
            try:
                agent.reset(2 * self.seed + seat)
            except Exception as error:
                name = agent.name or type(agent).__name__
                told = f"{type(error).__name__}: {error}"
                raise EquipoiseError(f"{name} could not start: {told}") from error
            if not isinstance(getattr(agent, "random", None), Random):
                name = agent.name or type(agent).__name__
                raise EquipoiseError(f"{name} has no `random`: let its __init__ call super's")

    def watched(self) -> AbstractContextManager[None]:
        """Within it, an agent that does not come back is called away, which is a fault."""
        self._waiting = None
        return shot_clock(lambda: self._waiting, self.seconds_per_action or PATIENCE)

    def play(self, deal: DealtCards, number: int, first: int) -> Finished:
        """Play one hand; `first` is the seat that sits at position 0."""
        agents = self.agents
        seats = (agents[0], agents[1]) if first == 0 else (agents[1], agents[0])
        for seat in (0, 1):
            agents[seat].random.seed(hand_seed(self.seed, number, seat))
            if self._begins[seat]:
                self._tell_begin(seat, number, seat ^ first)
        limit = self.seconds_per_action
        hand = Hand(self._start, deal, number, self.allin_equity)
        while (position := hand.state.to_act) is not None:
            try:
                self._waiting = view = hand.view()
                if limit is None:
                    action = seats[position].act(view)
                else:
                    action = _timed(seats[position], view, limit)
                self._waiting = None
                hand.play(action)
            except (Exception, SystemExit, Overdue) as error:
                self._waiting = None
                self._fault(number, position ^ first, error)
                hand.give_up()
        for seat in (0, 1):
            if self._observes[seat]:
                self._tell_result(seat, hand.result(seat ^ first, reveal=self.reveal))
        return Finished(hand.state, hand.payoffs()[0])

    def _tell_begin(self, seat: int, hand: int, position: int) -> None:
        self._tell(seat, hand, lambda: self.agents[seat].begin(hand, position))

    def _tell(self, seat: int, hand: int, told: Callable[[], None]) -> None:
        """Call a hook of an agent."""
        try:
            self._waiting = told
            told()
            self._done()
        except (Exception, SystemExit, Overdue) as error:
            self._waiting = None
            self._fault(hand, seat, error)

    def _done(self) -> None:
        # A call, so that an exception on its way from another thread arrives here, to be caught.
        self._waiting = None

    def _tell_result(self, seat: int, result: HandResult) -> None:
        self._tell(seat, result.hand, lambda: self.agents[seat].observe(result))

    def _fault(self, hand: int, seat: int, error: BaseException) -> None:
        reason = " ".join(str(error).split())
        if isinstance(error, Overdue):
            limit = self.seconds_per_action or PATIENCE
            reason = f"gave no answer and was called away: {limit:g} s are allowed"
        elif not isinstance(error, IllegalActionError | SlowError):
            reason = f"{type(error).__name__}: {reason}"
        self.faults.append(Fault(hand, seat, reason))


class SlowError(EquipoiseError):
    """A decision that took longer than allowed."""


def _timed(agent: Agent, view: View, limit: float) -> Action:
    start = perf_counter()
    action = agent.act(view)
    taken = perf_counter() - start
    if taken > limit:
        raise SlowError(f"took {taken:.3g} s over an action, {limit:g} s are allowed")
    return action

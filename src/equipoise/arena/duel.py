"""One hand between two agents, and what happens when an agent fails.

An action that breaks the rules, an exception, or a decision over the time limit is a *fault*. It is
not repaired: the agent folds if it faces a bet and checks if it does not, the hand goes on, and the
fault is reported with its reason. An agent that does not come back is called away by the shot clock
(:mod:`equipoise.arena.shotclock`), at the time limit or, where there is none, after a minute.

By choice an all-in before the last card is paid by exact equity: what the pot is worth on average
over all run-outs, instead of what the dealt one says. The mean over deals is the same, the variance
is less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from operator import index
from random import Random
from time import perf_counter
from typing import NamedTuple

from equipoise.agents.agent import Agent, HandResult, View
from equipoise.agents.strategyagent import hand_number
from equipoise.arena.shotclock import Overdue, shot_clock
from equipoise.cards.card import RANKS, SUITS
from equipoise.errors import EquipoiseError, GameError, IllegalActionError
from equipoise.games.dealing import Deal
from equipoise.games.rules import CALL, FOLD, Action, Kind, Rules, State
from equipoise.settings import brief

#: Text of every card.
_TEXT = tuple(rank + suit for rank in RANKS for suit in SUITS)
#: Builds a View from its fields in order: half the time of the call by name.
_view = tuple.__new__
#: Seconds after which an agent without a time limit is taken to have hung.
PATIENCE = 60.0
#: Seeds there are.
_SEEDS = 1 << 63
#: Decimals kept of a payoff that is no whole number: what logs write.
PAYOFF_DECIMALS = 6


class Fault(NamedTuple):
    """A failure of an agent."""

    #: Number of the hand.
    hand: int
    #: The agent: 0 is A, 1 is B.
    seat: int
    #: What went wrong, in one line.
    reason: str


class Played(NamedTuple):
    """How a hand ended."""

    state: State
    #: Chips won by position 0.
    payoff: float


def check_seed(seed: int) -> None:
    """Refuse a seed from which no match is dealt."""
    if not 0 <= seed < _SEEDS:
        raise EquipoiseError(f"seed = {brief(seed)}: give a whole number from 0 to {_SEEDS - 1}")


def hand_seed(seed: int, hand: int, seat: int) -> int:
    """Seed of an agent's random choices in a hand: no two of a match are the same.

    >>> hand_seed(1, 0, 0) != hand_seed(0, 1, 0) != hand_seed(0, 0, 1)
    True
    """
    return (seed << 33 | hand) << 1 | seat


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

    def play(self, deal: Deal, hand: int, first: int) -> Played:
        """Play one hand; `first` is the seat that sits at position 0."""
        agents = self.agents
        seats = (agents[0], agents[1]) if first == 0 else (agents[1], agents[0])
        # What :func:`hand_seed` says, in line.
        base = (self.seed << 33 | hand) << 1
        for seat in (0, 1):
            agents[seat].random.seed(base | seat)
            if self._begins[seat]:
                self._tell_begin(seat, hand, seat ^ first)
        holes, boards, _ = deal
        limit = self.seconds_per_action
        state = self._start
        while (position := state[3]) is not None:
            try:
                view = _view(View, (state, position, holes[position], boards[state[1]], hand))
                self._waiting = view
                if limit is None:
                    action = seats[position].act(view)
                else:
                    action = _timed(seats[position], view, limit)
                self._waiting = None
                if (
                    action.__class__ is not Action
                    or action[0].__class__ is not Kind
                    or action[1].__class__ is not int
                ):
                    action = understood(action)
                state = state.apply(action)
            except (Exception, SystemExit, Overdue) as error:
                self._waiting = None
                self._fault(hand, position ^ first, error)
                state = state.apply(FOLD if state.legal().fold else CALL)
        payoff = payoff_of(state, deal, self.allin_equity)
        for seat in (0, 1):
            if self._observes[seat]:
                self._tell_result(seat, seat ^ first, Played(state, payoff), deal, hand)
        return Played(state, payoff)

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

    def _tell_result(self, seat: int, position: int, end: Played, deal: Deal, hand: int) -> None:
        state, payoff = end
        shown = self.reveal or state.folded is None
        result = HandResult(
            state,
            position,
            deal.holes[position],
            public_cards(state, deal),
            hand,
            -payoff if position else payoff,
            deal.holes[1 - position] if shown else None,
            deal.boards[-1] if self.reveal else None,
        )
        self._tell(seat, hand, lambda: self.agents[seat].observe(result))

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


def understood(action: object) -> Action:
    """An action made of other types that mean the same, such as NumPy's whole numbers."""
    try:
        if isinstance(action, tuple):
            kind, amount = action
            return Action(Kind(index(kind)), index(amount))
        raise TypeError
    except (TypeError, ValueError):
        raise IllegalActionError(f"returned {action!r}, which is no action") from None


def payoff_of(state: State, deal: Deal, allin_equity: bool) -> float:
    """Chips that position 0 wins in a hand that is over, an early all-in by equity if so chosen."""
    if state.folded is not None:
        return state.payoffs()[0]
    if allin_equity and state.rounds_to_deal:
        share = all_in_share(*deal.holes, deal.boards[state.round])
        return round(state.payoffs(0)[0] * (2 * share - 1), PAYOFF_DECIMALS)
    return state.payoffs(deal.winner)[0]


def public_cards(state: State, deal: Deal) -> tuple[int, ...]:
    """The board when the hand is over: all of it once the cards decide."""
    return deal.boards[state.round + state.rounds_to_deal]


def cards_line(state: State, deal: Deal) -> str:
    """The cards as ACPC logs write them: `5d5c|9hQd/8dAs8s/4h/6d`."""
    text = _TEXT
    first, second = deal.holes
    parts = [f"{''.join([text[c] for c in first])}|{''.join([text[c] for c in second])}"]
    seen = 0
    for board in deal.boards[1 : state.round + state.rounds_to_deal + 1]:
        parts.append("".join([text[card] for card in board[seen:]]))
        seen = len(board)
    return "/".join(parts)


def all_in_share(first: tuple[int, ...], second: tuple[int, ...], board: tuple[int, ...]) -> float:
    """What share of the pot `first` wins on average over all run-outs of a board.

    >>> from equipoise.cards.card import parse_cards
    >>> round(all_in_share(parse_cards("AsAh"), parse_cards("KcKd"), ()), 6)
    0.812555
    """
    if not board:
        from equipoise.cards.headsup import margins

        return (1 + float(margins()[hand_number(first), hand_number(second)])) / 2
    names: dict[int, int] = {}

    def renamed(cards: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(card & ~3 | names.setdefault(card & 3, len(names)) for card in sorted(cards))

    # Cards sorted, suits in the order they appear: equal matchups are then mostly written alike.
    return _exact_share(renamed(first), renamed(second), renamed(board))


@lru_cache(maxsize=1 << 16)
def _exact_share(first: tuple[int, ...], second: tuple[int, ...], board: tuple[int, ...]) -> float:
    from equipoise.cards.equity import equity

    return equity([first, second], board, threads=1).equity[0]

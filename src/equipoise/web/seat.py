"""The agents' side of all tables: jobs of the lane `table`, in a process that remembers who sits where.

An agent at a table goes through what an agent in a match does: `reset` with the session's seed, then
hand by hand `begin`, `act` and `observe`, its random choices seeded by session, hand and seat. So a
process that knows nothing of a session, because the server was restarted, makes the same agent again:
it plays the decisions of the hand once more and, if the agent learns, the hands before it.

What an agent breaks is a fault, as in a match: it folds to a bet and checks where there is none.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from typing import NamedTuple

from equipoise.agents.agent import Agent
from equipoise.agents.opponents import opponents
from equipoise.agents.registry import AgentSpec
from equipoise.arena.measures.aivat import Aivat
from equipoise.arena.record import HandRecord, board_cards
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import Hand, hand_seed, understood
from equipoise.games.policy import PublicState
from equipoise.games.rules import CALL, FOLD, LIMIT_HOLDEM, Action, Rules, State, nolimit
from equipoise.run import Listener, Stop

#: What is played at tables; chips and blinds are the competition's.
GAMES: dict[str, Rules] = {
    "nolimit 200": nolimit(20_000),
    "nolimit 100": nolimit(10_000),
    "limit": LIMIT_HOLDEM,
}
#: What people call them.
GAME_NAMES = {
    "nolimit 200": "No-limit, 200 big blinds",
    "nolimit 100": "No-limit, 100 big blinds",
    "limit": "Limit",
}
#: Sessions whose agents are kept ready.
_KEPT = 256


class Request(NamedTuple):
    """Where a table stands, as far as an agent's process needs to know."""

    session: str
    agent: str
    game: str
    seed: int
    #: The person's seat; the agent has the other.
    seat: int
    number: int
    #: The betting of the hand so far.
    betting: str
    #: The betting of all hands before, where the process has asked for it.
    past: tuple[str, ...] | None = None


class Answer(NamedTuple):
    """What an agent does."""

    #: A legal action; None asks for the hands before.
    action: Action | None
    #: What went wrong, if it did.
    fault: str = ""


class Offer(NamedTuple):
    """An agent that can sit down."""

    name: str
    description: str
    cost: str


class Luck(NamedTuple):
    """What the person won in a hand, in chips."""

    #: With an all-in paid by its equity.
    equity: float
    #: Without luck; None where the agent tells no policy.
    aivat: float | None


def position_of(seat: int, number: int) -> int:
    """Where a seat sits in a hand: seat 0 is out of position in hands 0, 2, 4 …"""
    return seat ^ (number & 1)


class _Seat:
    """An agent at a table."""

    def __init__(self, request: Request) -> None:
        self.rules = GAMES[request.game]
        self.seed, self.seat = request.seed, 1 - request.seat
        self.deals = SeededDeals(self.rules, request.seed)
        self.agent: Agent = AgentSpec.read(request.agent).make(self.rules)
        self.agent.reset(2 * request.seed + self.seat)
        #: The hand that it plays, the decisions it took in it, and whether it saw the end.
        self.number, self.decisions, self.seen_end = -1, 0, False

    def follow(self, number: int, betting: str) -> Hand:
        """Bring the agent to where a hand stands: it takes again what it took before."""
        if number != self.number or self.seen_end:
            self.agent.random.seed(hand_seed(self.seed, number, self.seat))
            self.agent.begin(number, position_of(self.seat, number))
            self.number, self.decisions, self.seen_end = number, 0, False
        end = State.from_betting_text(self.rules, betting)
        hand = Hand(State.start(self.rules), self.deals.deal(number), number)
        taken = 0
        for action in (action for street in end.history for action in street):
            if hand.state.to_act == position_of(self.seat, number):
                taken += 1
                if taken > self.decisions:
                    with suppress(Exception):
                        self.agent.act(hand.view())
                    self.decisions = taken
            hand.play(action)
        return hand

    def finish(self, number: int, betting: str) -> Hand:
        """The hand is over: the agent sees what it may see."""
        hand = self.follow(number, betting)
        self.agent.observe(hand.result(position_of(self.seat, number)))
        self.seen_end = True
        return hand

    def act(self, number: int, betting: str) -> Answer:
        """The agent's next action."""
        hand = self.follow(number, betting)
        try:
            action = self.agent.act(hand.view())
            hand.play(action)
            answer = Answer(understood(action))
        except Exception as error:  # as in a match, nothing that an agent does ends the hand
            given_up = FOLD if hand.state.legal().fold else CALL
            answer = Answer(given_up, f"{type(error).__name__}: {error}")
        self.decisions += 1
        return answer


_seats: OrderedDict[str, _Seat] = OrderedDict()


def _seat(request: Request) -> _Seat | None:
    """The agent of a session, made if it is not there; None if the hands before are needed for that."""
    found = _seats.get(request.session)
    if found is None or found.number > request.number:
        found = _Seat(request)
        if found.agent.learns and request.number:
            if request.past is None:
                return None
            for number, betting in enumerate(request.past):
                found.finish(number, betting)
        _seats[request.session] = found
        while len(_seats) > _KEPT:
            _seats.popitem(last=False)
    _seats.move_to_end(request.session)
    return found


def offers(listener: Listener, stop: Stop) -> dict[str, tuple[Offer, ...]]:
    """Who can sit down to each game, the best first; what they play from is loaded by that."""
    return {
        game: tuple(Offer(e.name, e.description, e.cost) for e in opponents(rules))
        for game, rules in GAMES.items()
    }


def decide(listener: Listener, stop: Stop, request: Request) -> Answer:
    """What the agent does where the table stands."""
    seat = _seat(request)
    return Answer(None) if seat is None else seat.act(request.number, request.betting)


def close_hand(listener: Listener, stop: Stop, request: Request) -> Luck | None:
    """A hand is over: the agent learns of it, and its luck is taken out; None asks for the past."""
    seat = _seat(request)
    if seat is None:
        return None
    hand = seat.finish(request.number, request.betting)
    paid = Hand(hand.state, hand.deal, request.number, allin_equity=True).payoffs()
    return Luck(paid[position_of(request.seat, request.number)], _without_luck(seat, hand, request))


def _without_luck(seat: _Seat, hand: Hand, request: Request) -> float | None:
    """The person's chips by AIVAT, with the agent as it sits there: what it searched it still knows."""
    agent, state = seat.agent, hand.state
    if agent.learns or not _tells(agent, hand, position_of(seat.seat, request.number)):
        return None
    board = hand.deal.boards[-1][: board_cards(state)]
    record = HandRecord(request.number, state, hand.deal.holes, board, ("0", "1"))
    measure = Aivat(seat.rules, (None, None), seat.seed)
    measure.agents = (agent, None) if seat.seat == 0 else (None, agent)
    try:
        chips = measure.value(record)
    except EquipoiseError:
        # An answer that a clock cut short is not given twice: that hand keeps its luck.
        return None
    return -chips if request.seat else chips


def _tells(agent: Agent, hand: Hand, position: int) -> bool:
    """Whether an agent tells its policy where it first was to act in a hand."""
    state = State.start(hand.state.rules)
    for street, actions in enumerate(hand.state.history):
        for action in actions:
            if state.to_act == position:
                public = PublicState(state, hand.deal.boards[street], hand.number)
                return agent.policy(public) is not None
            state = state.apply(action)
    return True

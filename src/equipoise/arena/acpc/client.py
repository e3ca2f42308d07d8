"""A player at somebody else's table: an agent that joins an ACPC dealer.

The client follows the MATCHSTATE lines it is sent, asks the agent when it is its turn and tells it
how each hand ended. A dealer that says something it cannot understand, falls silent or goes away in
the middle of a hand is a :class:`~equipoise.errors.ProtocolError`; one that closes the connection
between hands has ended the match.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from time import monotonic

from equipoise.agents.agent import Agent
from equipoise.arena.acpc.deck import DealerDeck
from equipoise.arena.acpc.protocol import VERSION, Follower, MatchState, answer_text, is_comment
from equipoise.arena.acpc.wire import LONGEST_WAIT, Wire
from equipoise.errors import EquipoiseError, ProtocolError
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import Hand, HandResult, View, check_seed, hand_seed, understood
from equipoise.games.rules import Action, Rules
from equipoise.settings import brief

#: Comments that a dealer may send in a row.
_MOST_COMMENTS = 1000


@dataclass(frozen=True, slots=True)
class Visit:
    """What a player brought home from a table."""

    #: Hands that were finished.
    hands: int
    #: Chips won.
    chips: float
    #: Wall time, from the first line to the last.
    seconds: float


def check_visit(port: int, seed: int, timeout: float) -> None:
    """Refuse settings with which no table can be joined."""
    if not 0 < timeout <= LONGEST_WAIT:
        raise ProtocolError(
            f"timeout = {timeout:g}: wait for more than 0 seconds, and at most {LONGEST_WAIT:,.0f}"
        )
    if not 1 <= port <= 65535:
        raise ProtocolError(f"port {brief(port)}: a port is a number from 1 to 65535")
    check_seed(seed)


def join(
    agent: Agent, rules: Rules, host: str, port: int, *, seed: int = 0, timeout: float = 1200.0
) -> Visit:
    """Connect to a dealer and play until it ends the match.

    `timeout` is the longest wait for the dealer's next line: the other seat may think meanwhile.
    """
    check_visit(port, seed, timeout)
    # What a showdown needs is loaded now: at the table it would count as thinking.
    DealerDeck(0, rules).deal()
    try:
        connection = socket.create_connection((host, port), timeout=min(timeout, 30.0))
    except (OSError, OverflowError, TypeError, ValueError) as error:
        # Not all names that can be no host's are an OSError.
        raise ProtocolError(
            f"no dealer at {host}:{port} ({error}): start it first, or check host and port"
        ) from None
    wire = Wire(connection, f"the dealer at {host}:{port}")
    try:
        return play(agent, rules, wire, seed=seed, timeout=timeout)
    finally:
        wire.close()


def play(
    agent: Agent, rules: Rules, wire: Wire, *, seed: int = 0, timeout: float = 1200.0
) -> Visit:
    """Play a match over a connection that is open."""
    wire.send(VERSION, timeout)
    agent.reset(seed)
    follower = Follower(rules)
    watches = type(agent).observe is not Agent.observe
    hands, chips = 0, 0.0
    begun: int | None = None
    over = True
    unpaid: MatchState | None = None
    comments = 0
    first = None
    while True:
        try:
            line = wire.receive(timeout)
        except ProtocolError:
            if over and hands and wire.ended:
                break
            raise
        # A line that a later one of the same hand has overtaken need not be read.
        while (following := wire.peek()) and _same_hand(line, following):
            line = wire.receive(timeout)
        first = first or monotonic()
        if is_comment(line):
            comments += 1
            if comments > _MOST_COMMENTS:
                raise ProtocolError(f"{wire.peer} sends comments only: it is not dealing")
            continue
        comments = 0
        told = follower.read(line)
        position, hand, state = told.position, told.hand, told.state
        if hand != begun:
            if not over:
                raise ProtocolError(f"{wire.peer} began hand {hand} before {begun} was over")
            begun, over = hand, False
            agent.random.seed(hand_seed(seed, hand, (position + hand) % 2))
            agent.begin(hand, position)
        elif over:
            continue
        if state.to_act == position:
            # Part of the cards suffices for a view: a whole hand is made of them at its end.
            view = View(state, position, told.holes[position], told.board, hand)
            action = _decision(agent, view)
            wire.send(f"{line}:{answer_text(state, action)}", timeout)
            if unpaid:
                chips += _result(unpaid).payoff
                unpaid = None
        elif state.to_act is None:
            over = True
            hands += 1
            if watches:
                result = _result(told)
                agent.observe(result)
                chips += result.payoff
            else:
                # Nobody waits for this one: it is counted while the dealer is at work.
                if unpaid:
                    chips += _result(unpaid).payoff
                unpaid = told
    if unpaid:
        chips += _result(unpaid).payoff
    return Visit(hands, chips, monotonic() - (first or monotonic()))


def _decision(agent: Agent, view: View) -> Action:
    """What the agent does, if it can be done: here nobody mends it."""
    try:
        action = agent.act(view)
        if action.__class__ is not Action:
            action = understood(action)
        if view.state.can(action):
            return action
        told = f"{action} is not allowed; legal: {view.state.legal()}"
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
    name = agent.name or type(agent).__name__
    raise EquipoiseError(f"{name} failed in hand {view.hand}: {told}")


def _same_hand(line: str, following: str) -> bool:
    return line.startswith("MATCHSTATE:") and line.split(":", 3)[:3] == following.split(":", 3)[:3]


def _hand(told: MatchState) -> Hand:
    """The hand as far as a seat was told of it."""
    rules = told.state.rules
    return Hand(told.state, DealtCards.of(rules, told.holes, told.board), told.hand)


def _result(told: MatchState) -> HandResult:
    """The end of a hand as the seat sees it."""
    return _hand(told).result(told.position)

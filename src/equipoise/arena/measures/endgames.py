"""How much an agent can be beaten for in the endgames that it plays into: exactly, with real cards.

An *endgame* is a turn or river that the agent comes to in play against itself: its public cards, its
betting, and for both seats the range of all hands that come there by the agent's policy. From there on,
for each seat in turn, the other seat plays the agent's policy, asked at every public situation and written
into the rows of an exact game, and the seat responds best to it: one sweep. Then

    exploitability = ½ Σ (best response of a seat - what it has when both play the policy)

in percent of the pot where the endgame begins; what both have sums to zero. The responder chooses among
the agent's *own sizes*: all actions that its policy names in a situation, whether any hand of its plays
them or not, for they are in its tree and it has an answer to them. He may be given more, at every
decision of the endgame's first street: what the agent has never solved it must answer too.

The responder knows what the agent's range is, and plays every hand of his own as well as can be; but it is
the agent's range, and the pots are those that the agent's own play makes. A small figure says that an
agent plays its endgames well, not that nobody leads it into bad ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import Player
from equipoise.arena.measures.parts import scores
from equipoise.arena.statistics import Estimate, estimate
from equipoise.cards.card import RANKS
from equipoise.cards.combos import COMBO_CARDS, hand_number
from equipoise.columnar import Columnar
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.belief import Belief, Cards, Weights, free_hands
from equipoise.games.betting import Betting
from equipoise.games.dealing import SeededDeals, deck_of
from equipoise.games.game import CardText, Game
from equipoise.games.hand import check_seed, hand_seed
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, Action, Rules, State
from equipoise.games.spot import deal_hands
from equipoise.run import Event, Listener
from equipoise.search.subgame import hand_combos
from equipoise.solve.strategies.bestresponse import response_value
from equipoise.solve.sweep.tableau import Tableau
from equipoise.workers import check_workers

#: Streets from which on endgames are solved, and their rounds.
STREETS = {"turn": 2, "river": 3}
#: Hands in which an endgame has to come.
_PATIENCE = 2_000
_TEXT = CardText(RANKS, suits=4)

History = tuple[tuple[Action, ...], ...]


class Root(NamedTuple):
    """Where an endgame begins."""

    state: State
    board: Cards
    #: Weight with which each hand of both positions comes here.
    ranges: tuple[Weights, Weights]
    #: Number of the hand.
    number: int


def _ask(agent: Agent, public: PublicState) -> Policy:
    policy = agent.policy(public)
    if policy is None:
        name = agent.name or type(agent).__name__
        raise EquipoiseError(
            f"{name} does not say its policy: endgames need what every hand plays in them"
        )
    return policy


def play_into(
    players: tuple[Agent, Agent], deals: SeededDeals, street: int, number: int
) -> Root | None:
    """The endgame that two agents, by position, come to in a deal; None where the hand ends before."""
    rules, seed, deal = deals.rules, deals.seed, deals.deal(number)
    for position, agent in enumerate(players):
        agent.begin(number, position)
    random = Random(hand_seed(seed, number, 0))
    held = [hand_number(hole) for hole in deal.holes]
    ranges = [Belief.start(rules), Belief.start(rules)]
    state = State.start(rules)
    while state.to_act is not None and state.round < street:
        board, player = deal.boards[state.round], state.to_act
        policy = _ask(players[player], PublicState(state, board, number))
        chances = policy.probabilities[held[player]].tolist()
        action = random.choices(policy.actions, chances)[0]
        ranges[player] = ranges[player].act(policy, action)
        state = state.apply(action)
    if state.to_act is None:
        return None
    board = deal.boards[street]
    first, second = (belief.see(board).weights for belief in ranges)
    return Root(state, board, (first, second), number)


def self_play(agent: Agent, rules: Rules, street: int, seed: int) -> Iterator[Root]:
    """The endgames that an agent comes to against itself, deal after deal."""
    waited = 0
    deals = SeededDeals(rules, seed)
    for number in range(1 << 31):
        root = play_into((agent, agent), deals, street, number)
        waited += 1
        if root is not None:
            yield root
            waited = 0
        elif waited >= _PATIENCE:
            raise EquipoiseError(
                f"{agent.name or type(agent).__name__} came to no such street in {waited:,} hands "
                "against itself: measure an agent that plays on"
            )


@dataclass(frozen=True)
class _PlayedMenu(BetMenu):
    """What may be played, betting by betting."""

    offered: dict[History, tuple[Action, ...]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self.offered)

    def actions(self, state: State) -> tuple[Action, ...]:
        """What was found when the policy was asked."""
        return self.offered[state.history]

    def looks_at(self, state: State) -> object:
        """The betting itself: what is offered depends on all of it."""
        return state.history


class Endgame:
    """What one seat of an endgame, the responder, meets: the agent's policy in the other."""

    def __init__(
        self, agent: Agent, root: Root, responder: int, more: BetMenu | None = None
    ) -> None:
        self.agent, self.root, self.responder, self.more = agent, root, responder, more
        self.rules = root.state.rules
        #: Actions of each situation.
        self.offered: dict[History, tuple[Action, ...]] = {}
        #: What the agent plays with the hands of its range, by situation and board.
        self.played: dict[tuple[History, Cards], Policy] = {}
        self.hands = [np.flatnonzero(weights) for weights in root.ranges]
        agent.begin(root.number, 1 - responder)
        own = root.ranges[1 - responder][self.hands[1 - responder]]
        self._walk(root.state, [(root.board, own)])

    def _walk(self, state: State, reached: list[tuple[Cards, Weights]]) -> None:
        """Ask the policy in all situations that can come; `reached` are the agent's, by board."""
        if state.to_act is None:
            return
        seen = sum(self.rules.board_cards[: state.round + 1])
        if len(reached[0][0]) < seen:
            # Board by board: who searches then solves each of them once.
            for part in self._dealt(reached[0]):
                self._walk(state, [part])
            return
        after: dict[Action, list[tuple[Cards, Weights]]] = {}
        if state.to_act == self.responder:
            # The sizes that the agent has depend on the betting: one board says them.
            found = {*self.offered.get(state.history, ())}
            if not found:
                policy = _ask(self.agent, PublicState(state, reached[0][0], self.root.number))
                found.update(policy.actions)
            if self.more is not None and state.round == self.root.state.round:
                found.update(self.more.actions(state))
            after = dict.fromkeys(found, reached)
        else:
            hands = self.hands[1 - self.responder]
            for board, reach in reached:
                policy = _ask(self.agent, PublicState(state, board, self.root.number))
                chances = policy.probabilities[hands]
                self.played[state.history, board] = Policy(policy.actions, chances)
                for column, action in enumerate(policy.actions):
                    goes_on = reach * chances[:, column]
                    if goes_on.any():
                        after.setdefault(action, []).append((board, goes_on))
        self.offered[state.history] = tuple(sorted({*self.offered.get(state.history, ()), *after}))
        for action in sorted(after):
            self._walk(state.apply(action), after[action])

    def _dealt(self, before: tuple[Cards, Weights]) -> list[tuple[Cards, Weights]]:
        """The boards that one more card makes, with the reach of the hands that they leave."""
        board, reach = before
        hands = self.hands[1 - self.responder]
        found = []
        for card in deck_of(self.rules):
            if card not in board:
                longer = (*board, card)
                left = np.where(free_hands(self.rules, longer)[hands], reach, 0.0)
                if left.any():
                    found.append((longer, left))
        return found

    def game(self) -> Game:
        """The exact game: the ranges' hands, and the actions that were found."""
        state, board = self.root.state, self.root.board
        menu = _PlayedMenu(BetMenu.full().streets, offered=self.offered)
        betting = Betting.build(self.rules, menu, keep_first=True, start=state)
        ranges = [
            (COMBO_CARDS[hands].astype(np.int16), weights[hands] / weights.max())
            for hands, weights in zip(self.hands, self.root.ranges, strict=True)
        ]
        # A policy need not treat suits alike, though the ranges do.
        deal = deal_hands(board, betting.board_cards, (ranges[0], ranges[1]), use_symmetry=False)
        unit = float(self.rules.big_blind)
        return Game("endgame", betting, deal, unit, _TEXT.state, _TEXT.board)

    def best_response(self) -> float:
        """Chips that the responder wins from the start of the hand."""
        tableau = Tableau(self.game())
        rows, betting = tableau.rows(), tableau.game.betting
        other = 1 - self.responder
        places = np.full(len(COMBO_CARDS), -1)
        places[self.hands[other]] = np.arange(len(self.hands[other]))
        boards = tableau.game.deal.boards
        stand = [places[hand_combos(board)[other]] for board in boards]
        for b, node in tableau.index.decisions():
            cards = (*self.root.board, *(boards[b].deals[0] if b else ()))
            played = self.played.get((betting.states[node].history, cards))
            if int(betting.kind[node]) != other or played is None:
                continue
            block = tableau.index.block(rows, b, node)
            for row, child in zip(block, betting.children(node), strict=True):
                action = betting.actions[child]
                if action in played.actions:
                    row[:] = played.probabilities[stand[b], played.actions.index(action)]
        return response_value(tableau, self.responder, rows)


def exploitability_chips(agent: Agent, root: Root, more: BetMenu | None = None) -> float:
    """What both seats gain on average by responding best to the agent in an endgame."""
    return sum(Endgame(agent, root, seat, more).best_response() for seat in (0, 1)) / 2


@dataclass(frozen=True)
class EndgamesResult(Columnar):
    """How much an agent can be beaten for in its endgames."""

    agent: str
    street: str
    rules: Rules
    seed: int
    #: Pot of each endgame, in chips.
    pots: NDArray[np.int64] = field(repr=False)
    #: Exploitability with the agent's own sizes, in percent of the pot.
    own_pct: NDArray[np.float64] = field(repr=False)
    #: The same with the responder's sizes as well; None if he was given none.
    more_pct: NDArray[np.float64] | None = field(repr=False)
    #: The responder's sizes.
    responder_sizes: str
    seconds: float
    #: Stopped by Ctrl-C before its end.
    interrupted: bool

    @property
    def estimate(self) -> Estimate:
        """Exploitability with the agent's own sizes, with its error."""
        return estimate(self.own_pct)

    @property
    def off_tree(self) -> Estimate | None:
        """Exploitability with the responder's sizes, with its error."""
        return None if self.more_pct is None else estimate(self.more_pct)

    def columns(self) -> dict[str, Any]:
        """One row an endgame."""
        more = {} if self.more_pct is None else {"off_tree_pct_pot": self.more_pct}
        return {"pot_chips": self.pots, "exploitability_pct_pot": self.own_pct, **more}

    def caption(self) -> str:
        """The figure with the agent's own sizes."""
        now = self.estimate
        told = f"{now.mean:.2f} ± {now.half_width:.2f} % of the pot"
        return f"{self.agent}, {len(self.own_pct)} endgames from the {self.street}: {told}"

    def to_dict(self) -> dict[str, Any]:
        """The figures, as `equipoise endgames --json` prints them."""
        now, more = self.estimate, self.off_tree
        return {
            "agent": self.agent,
            "street": self.street,
            "roots": now.count,
            "exploitability_pct_pot": now.mean,
            "ci95_pct_pot": now.half_width,
            "off_tree_pct_pot": None if more is None else more.mean,
            "seconds": self.seconds,
        }


@dataclass
class _Roots:
    """What a worker needs to measure any endgames."""

    agent: Agent
    seed: int
    more: BetMenu | None

    def start(self) -> None:
        self.agent.reset(self.seed)

    def score(self, part: Root) -> tuple[float, float | None]:
        """Exploitability in percent of the pot: own sizes, and the responder's too."""
        unit = 100 / part.state.pot
        own = unit * exploitability_chips(self.agent, part)
        if self.more is None:
            return own, None
        return own, unit * exploitability_chips(self.agent, part, self.more)


def read_sizes(text: str) -> BetMenu | None:
    """A responder's sizes, as `25,50,100,200,a`: percent of the pot, and all-in.

    >>> read_sizes("50,a") == BetMenu.parse("50%,a"), read_sizes("")
    (True, None)
    """
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    for word in words:
        percent = word.replace(".", "", 1)
        if word != "a" and not (percent.isascii() and percent.isdigit() and float(word) > 0):
            raise GameError(
                f"--responder-sizes {text[:40]}: write percents of the pot and a for all-in, "
                "as 25,50,100,200,a"
            )
    if not words:
        return None
    return BetMenu.parse(",".join(word if word == "a" else f"{word}%" for word in words))


def endgames(
    agent: Player,
    street: str = "river",
    roots: int = 200,
    seed: int = 0,
    *,
    rules: Rules = NOLIMIT_HOLDEM,
    responder_sizes: str = "",
    workers: int = 1,
    progress: Listener | None = None,
) -> EndgamesResult:
    """How much an agent can be beaten for in endgames of its own play.

    >>> round(endgames("call", roots=2, seed=1).estimate.mean, 6)
    0.0
    """
    if street not in STREETS:
        raise EquipoiseError(f"--street {street[:20]}: choose turn or river")
    if not 1 <= roots <= 1_000_000:
        raise EquipoiseError(f"roots = {roots}: measure 1 to 1,000,000 endgames")
    if (rules.suits, rules.ranks, rules.hole_cards, rules.rounds) != (4, 13, 2, 4):
        raise GameError(f"{rules.name}: endgames are of hold'em with the full deck")
    check_seed(seed)
    check_workers(workers)
    more = read_sizes(responder_sizes)
    target = agent if isinstance(agent, Agent) else AgentSpec.read(agent).make(rules)
    name = agent.name if isinstance(agent, Agent) else AgentSpec.read(agent).name
    start = perf_counter()
    target.reset(seed)
    found: list[Root] = []
    for root in self_play(target, rules, STREETS[street], seed):
        found.append(root)
        if len(found) == roots:
            break
    own: list[float] = []
    given: list[float] = []
    source = _Roots(target, seed, more)
    with closing(scores(source, found, workers)) as measured, suppress(KeyboardInterrupt):
        for gain, wider in measured:
            own.append(gain)
            given += [] if wider is None else [wider]
            if progress is not None:
                progress(Event(len(own), roots, f"{np.mean(own):.2f} % of the pot"))
    return EndgamesResult(
        agent=name or type(target).__name__,
        street=street,
        rules=rules,
        seed=seed,
        pots=np.array([root.state.pot for root in found[: len(own)]]),
        own_pct=np.array(own),
        more_pct=None if more is None else np.array(given),
        responder_sizes=responder_sizes,
        seconds=perf_counter() - start,
        interrupted=len(own) < roots,
    )

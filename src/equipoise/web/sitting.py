"""A person at a table: the hand in play, kept action by action, and the agent that answers.

    sitting = sittings.open(session)          # finds the hand where it was left
    sitting.act(action, stamp)                # the person's; the agent's follow by themselves
    sitting.deal()                            # the next hand
    sitting.watchers.append(redraw)           # told after every change

Nothing is drawn here and nothing of poker computed: the hand is a :class:`~equipoise.games.hand.Hand`,
the agent acts in a process of the lane `table` (:mod:`equipoise.web.seat`), figures come from the arena.
All pages that look at one session share one sitting. Every action is in the store before anybody sees
it. A `stamp` says at which betting somebody meant to act: a click that comes too late does nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from equipoise.arena.matchlog import Header, hand_text, score_line
from equipoise.arena.record import HandRecord, board_cards
from equipoise.arena.statistics import Estimate, estimate
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import DealtCards, SeededDeals
from equipoise.games.hand import Hand
from equipoise.games.notation import gamefile
from equipoise.games.rules import Action, Rules, State
from equipoise.settings import did_you_mean, shown
from equipoise.web.seat import (
    GAMES,
    Answer,
    Luck,
    Offer,
    Request,
    close_hand,
    decide,
    offers,
    position_of,
)
from equipoise.web.shell import House
from equipoise.web.store import HandRow, SessionRow

#: Letters of a person's name.
MOST_NAME = 24


def read_name(text: str) -> str:
    """What a person calls himself, if logs can hold it.

    >>> read_name(" Ann Lee "), read_name("")
    ('Ann-Lee', 'you')
    """
    name = "-".join(str(text).split())
    if not name:
        return "you"
    if len(name) > MOST_NAME or not name.isprintable() or set(name) & set(":|/\\<>&\"'#"):
        raise EquipoiseError(
            f"a name has at most {MOST_NAME} letters, without marks such as : | / < or quotes"
        )
    return name


def read_game(game: str) -> Rules:
    """The rules of a game that is played at tables."""
    if game not in GAMES:
        raise EquipoiseError(f"no game {shown(game)}: {did_you_mean(game, GAMES)}")
    return GAMES[game]


def choose_agent(agent: str, here: Sequence[Offer]) -> str:
    """The agent of that name among those that are here; "" is the best of them."""
    names = [offer.name for offer in here]
    if agent and agent not in names:
        raise EquipoiseError(
            f"{shown(agent)} does not play this here: {did_you_mean(agent, names)}"
        )
    return agent or names[0]


class Score(NamedTuple):
    """The person's score: hands, chips, and the win rate in bb/100, with and without luck."""

    hands: int
    chips: float
    raw: Estimate
    #: All-ins paid by equity.
    equity: Estimate
    #: AIVAT; hands whose agent told no policy are not in it.
    aivat: Estimate


def score(rules: Rules, hands: Sequence[HandRow]) -> Score:
    """The score of finished hands."""
    over = [row for row in hands if row.payoff is not None]
    rate = 100 / rules.big_blind

    def rates(values: Sequence[float | None]) -> Estimate:
        return estimate([rate * value for value in values if value is not None])

    return Score(
        len(over),
        sum(row.payoff or 0.0 for row in over),
        rates([row.payoff for row in over]),
        rates([row.payoff if row.equity is None else row.equity for row in over]),
        rates([row.aivat for row in over]),
    )


def log_text(row: SessionRow, hands: Sequence[HandRow]) -> str:
    """A session as the log of a match, which `equipoise history --verify` and `review` read."""
    rules = read_game(row.game)
    names = (row.player, row.agent) if row.seat == 0 else (row.agent, row.player)
    header = Header(names[0], names[1], gamefile.write(rules), row.seed, False, False)
    over = [hand for hand in hands if hand.payoff is not None]
    deals = SeededDeals(rules, row.seed)
    lines, won = [header.lines(rules.name, len(over))], []
    for hand in over:
        state = State.from_betting_text(rules, hand.betting)
        deal = deals.deal(hand.number)
        payoff = Hand(state, deal, hand.number).payoffs()[0]
        lines.append(hand_text(hand.number, state, deal, payoff, names))
        won.append(-payoff if hand.number & 1 else payoff)
    return "".join((*lines, score_line(won, *names)))


def record_of(row: SessionRow, hand: HandRow) -> HandRecord:
    """A hand of a session as every format of hand histories knows it, all cards seen."""
    rules = read_game(row.game)
    state = State.from_betting_text(rules, hand.betting)
    deal = SeededDeals(rules, row.seed).deal(hand.number)
    me = position_of(row.seat, hand.number)
    players = (row.player, row.agent) if me == 0 else (row.agent, row.player)
    board = deal.boards[-1][: board_cards(state)]
    return HandRecord(hand.number, state, deal.holes, board, players)


@dataclass
class Sitting:
    """One session, open."""

    house: House
    row: SessionRow

    def __post_init__(self) -> None:
        self.rules = read_game(self.row.game)
        #: Called after every change, by whoever shows the table.
        self.watchers: list[Callable[[], None]] = []
        #: Whether the agent is thinking, and since when.
        self.thinking_since: float | None = None
        #: What went wrong last.
        self.trouble = ""
        self._deals = SeededDeals(self.rules, self.row.seed)
        self._tasks: set[asyncio.Task[None]] = set()
        self.past: list[HandRow] = self.house.store.hands(self.row.id)
        last = self.past[-1] if self.past else None
        number, betting = (last.number, last.betting) if last else (0, "")
        if last is None:
            self.house.store.begin_hand(self.row.id, 0)
        elif last.payoff is None:
            self.past.pop()
        self.hand = Hand(State.from_betting_text(self.rules, betting), self._deal(number), number)
        for row in self.past:
            if row.equity is None:
                # The server went before the luck of this hand was known.
                self._soon(self._close(row.number, row.betting))
        self._soon(self._answer())

    # -------------------------------------------------------------------------------- where it is

    @property
    def me(self) -> int:
        """The person's position in this hand."""
        return position_of(self.row.seat, self.hand.number)

    @property
    def my_turn(self) -> bool:
        """Whether the person is to act."""
        return self.hand.state.to_act == self.me

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return self.hand.state.is_over

    @property
    def stamp(self) -> str:
        """Where the table stands, to be given back with an action."""
        return f"{self.hand.number} {self.hand.state.betting_text()}"

    @property
    def score(self) -> Score:
        """The score so far."""
        return score(self.rules, self.past)

    def _deal(self, number: int) -> DealtCards:
        return self._deals.deal(number)

    # ----------------------------------------------------------------------------- what is done

    def act(self, action: Action, stamp: str) -> None:
        """The person acts; nothing happens if the table stands elsewhere by now."""
        if stamp != self.stamp or not self.my_turn:
            return
        self._play(action)
        self._soon(self._answer())

    def deal(self) -> None:
        """The next hand, if this one is over."""
        if not self.over:
            return
        number = self.hand.number + 1
        self.house.store.begin_hand(self.row.id, number)
        self.hand = Hand(State.start(self.rules), self._deal(number), number)
        self._told()
        self._soon(self._answer())

    def _play(self, action: Action) -> None:
        """An action, whoever's: kept first, then seen."""
        state = self.hand.state.apply(action)
        store, number, betting = self.house.store, self.hand.number, state.betting_text()
        if not state.is_over:
            store.set_betting(self.row.id, number, betting)
            self.hand.state = state
        else:
            paid = Hand(state, self.hand.deal, number).payoffs()[self.me]
            store.finish_hand(self.row.id, number, betting, paid)
            self.hand.state = state
            self.past.append(HandRow(number, betting, paid, None, None, None))
            self._soon(self._close(number, betting))
        self._told()

    async def _answer(self) -> None:
        """The agent acts as long as it is its turn."""
        while not self.over and not self.my_turn and self.thinking_since is None:
            self.thinking_since = monotonic()
            self._told()
            try:
                answer = await self._ask(self.hand.number, self.hand.state.betting_text())
            except EquipoiseError as error:
                self.trouble = f"{self.row.agent} gave no answer: {error}"
                return
            finally:
                self.thinking_since = None
                self._told()
            self.trouble = f"{self.row.agent} failed: {answer.fault}" if answer.fault else ""
            assert answer.action is not None
            self._play(answer.action)

    def ask_again(self) -> None:
        """Ask the agent anew, after trouble."""
        self.trouble = ""
        self._soon(self._answer())

    async def _ask(self, number: int, betting: str) -> Answer:
        jobs = self.house.jobs
        request = self._request(number, betting)
        answer: Answer = await jobs.submit("table", decide, request).answer()
        if answer.action is None:
            request = request._replace(past=self._past(number))
            answer = await jobs.submit("table", decide, request).answer()
        return answer

    async def _close(self, number: int, betting: str) -> None:
        """Find out what a hand paid without luck."""
        jobs, request = self.house.jobs, self._request(number, betting)
        try:
            luck: Luck | None = await jobs.submit("table", close_hand, request).answer()
            if luck is None:
                request = request._replace(past=self._past(number))
                luck = await jobs.submit("table", close_hand, request).answer()
        except EquipoiseError:
            return
        assert luck is not None
        self.house.store.set_lucks(self.row.id, number, luck.equity, luck.aivat)
        self.past = [
            row._replace(equity=luck.equity, aivat=luck.aivat) if row.number == number else row
            for row in self.past
        ]
        self._told()

    def _request(self, number: int, betting: str) -> Request:
        row = self.row
        return Request(row.id, row.agent, row.game, row.seed, row.seat, number, betting)

    def _past(self, number: int) -> tuple[str, ...]:
        return tuple(row.betting for row in self.past if row.number < number)

    def _soon(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _told(self) -> None:
        for watcher in list(self.watchers):
            watcher()


class Sittings:
    """The sessions that are open, each once."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._open: dict[str, Sitting] = {}
        self._offers: dict[str, tuple[Offer, ...]] | None = None

    def open(self, row: SessionRow) -> Sitting:
        """A session's table; those that nobody looks at are put away."""
        for old in [key for key, one in self._open.items() if not one.watchers and not one._tasks]:
            del self._open[old]
        if row.id not in self._open:
            self._open[row.id] = Sitting(self.house, row)
        return self._open[row.id]

    @property
    def ready(self) -> bool:
        """Whether it is known who can be played."""
        return self._offers is not None

    async def offers(self) -> dict[str, tuple[Offer, ...]]:
        """Who can be played at which game, the best first; found out once, by the agents' process."""
        if self._offers is None:
            job = self.house.jobs.submit("table", offers, key="offers")
            self._offers = await job.answer()
        return self._offers

    async def of_visitor(self, visitor: str, session: str = "") -> Sitting:
        """The table of a visitor: the one named if it is his, else his last, else a new one."""
        if session:
            return self.open(self.row_of(visitor, session))
        for row in self.house.store.sessions(visitor, 1):
            return self.open(row)
        return await self.sit(visitor, "", "", "nolimit 200")

    def row_of(self, visitor: str, session: str) -> SessionRow:
        """A session of a visitor; nobody sees another's."""
        named = self.house.store.session(session)
        if named is None or named.visitor != visitor:
            raise EquipoiseError("there is no such session of yours: choose one of the list")
        return named

    async def sit(self, visitor: str, player: str, agent: str, game: str) -> Sitting:
        """A new session."""
        read_game(game)
        name, agent = read_name(player), choose_agent(agent, (await self.offers())[game])
        return self.open(self.house.store.begin_session(visitor, name, agent, game))

"""Play, session by session: a new hand, an action, and what is answered.

Hands are those of a match between the client, A, and the agent, B: in hand n the client sits at
position n mod 2, and the agent's random choices follow from the session's seed. A session of a *series*
has the deals of `equipoise match --seed SERIES`: every deal twice, from both seats. All others are
dealt fresh cards, each once, from a seed that nobody knows.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import uuid
from collections import OrderedDict
from time import monotonic
from typing import Any

from equipoise.arena.remote.house import Answered, House
from equipoise.arena.remote.notation import (
    RULES,
    answer,
    betting_text,
    cards_text,
    read_cards,
    read_increment,
)
from equipoise.errors import EquipoiseError, IllegalActionError
from equipoise.games.dealing import DealtCards, SeededDeals
from equipoise.games.hand import Hand
from equipoise.games.rules import State
from equipoise.settings import brief
from equipoise.web.auth import equal
from equipoise.web.benchmark.store import SessionRow, Step, Store

#: Sessions that are kept, and sessions whose hands are remembered besides in the file.
MOST_SESSIONS, _MOST_LIVE = 20_000, 2000
#: Deals of a series that are dealt ahead for a session: to deal one is to deal a thousand.
_AHEAD = 16
#: Requests a second on one token, and as many more at once; new sessions likewise, from one address.
_RATE, _BURST = 1000.0, 2000.0
_NEW_RATE, _NEW_BURST = 20.0, 400.0
#: Characters of a name, and of a password.
_MOST_NAME, _MOST_PASSWORD = 60, 1000


class RefusedError(EquipoiseError):
    """A request that cannot be served, with the status it is answered with."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Bucket:
    """So many requests a second, and some more at once.

    >>> bucket = Bucket(1.0, 2.0)
    >>> bucket.take(0.0), bucket.take(0.0), bucket.take(0.0), bucket.take(1.0)
    (True, True, False, True)
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._level, self._last = burst, 0.0

    def take(self, now: float) -> bool:
        """Whether one more is allowed now."""
        level = self._level + max(now - self._last, 0.0) * self.rate
        self._level, self._last = min(level, self.burst), now
        if self._level < 1:
            return False
        self._level -= 1
        return True


class _Live:
    """A session under way."""

    def __init__(self, token: str, row: SessionRow) -> None:
        self.token, self.row = token, row
        self.lock = asyncio.Lock()
        self.bucket = Bucket(_RATE, _BURST)
        self.hand: Hand | None = None
        self.old = ""
        self.hands, self.total = row.hands, row.total
        #: When the client was last told something, to know how long he thinks.
        self.told: float | None = None
        self.using = 0
        #: Deals of its series that come next, and the number of the first.
        self.ahead: tuple[int, list[DealtCards]] = (0, [])


class Sessions:
    """All sessions against one agent."""

    def __init__(self, store: Store, house: House) -> None:
        self.store, self.house = store, house
        self._live: OrderedDict[str, _Live] = OrderedDict()
        self._fresh = SeededDeals(RULES, secrets.randbits(62))
        self._dealt = 0
        self._new: OrderedDict[str, Bucket] = OrderedDict()
        self._start = State.start(RULES)
        #: When somebody last asked for anything.
        self.busy = monotonic()

    # ------------------------------------------------------------------------------------- requests

    async def new_hand(
        self, token: str | None, series: int | None, address: str = ""
    ) -> dict[str, Any]:
        """The next hand, or the one under way; without a token a new session begins."""
        self.busy = monotonic()
        live = self._begin("", series, address) if not token else self._find(token)
        return await self._in_turn(live, self._next(live, series))

    async def act(self, token: str, increment: str) -> dict[str, Any]:
        """The client's action, and what the agent does then."""
        self.busy = monotonic()
        live = self._find(token)
        return await self._in_turn(live, self._act(live, increment))

    async def login(self, name: str, password: str, address: str = "") -> dict[str, Any]:
        """A new session under a name, which is taken by the first password it is used with."""
        self.busy = monotonic()
        if not (0 < len(name) <= _MOST_NAME and name.isprintable()) or set(name) & set(":| /"):
            raise RefusedError(
                400,
                f"username: a name is one word without ':', '|' and '/', of {_MOST_NAME} characters",
            )
        if not 0 < len(password) <= _MOST_PASSWORD:
            raise RefusedError(400, f"password: give 1 to {_MOST_PASSWORD} characters")
        self._allow_new(address)
        if not await asyncio.to_thread(self._is_user, name, password):
            raise RefusedError(401, f"wrong password for {brief(name)}, or the name is taken")
        return {"token": self._begin(name, None, address, counted=True).token}

    def row(self, token: str) -> SessionRow:
        """The session of a token, as it stands."""
        self.busy = monotonic()
        row = self.store.session(token)
        if row is None:
            raise RefusedError(404, "no session has this token: begin one with new_hand")
        return row

    # ------------------------------------------------------------------------------------- sessions

    def _begin(self, name: str, series: int | None, address: str, counted: bool = False) -> _Live:
        if not counted:
            self._allow_new(address)
        if self.store.count() >= MOST_SESSIONS:
            self.store.forget_empty()
            if self.store.count() >= MOST_SESSIONS:
                raise RefusedError(
                    429, f"{MOST_SESSIONS:,} sessions are kept: no more can begin here"
                )
        token = str(uuid.uuid4())
        seed = secrets.randbits(62) if series is None else series
        row = self.store.begin_session(token, name, self.house.name, series, seed)
        return self._remember(_Live(token, row))

    def _allow_new(self, address: str) -> None:
        bucket = self._new.pop(address, None) or Bucket(_NEW_RATE, _NEW_BURST)
        self._new[address] = bucket
        if len(self._new) > _MOST_LIVE:
            self._new.popitem(last=False)
        if not bucket.take(monotonic()):
            raise RefusedError(
                429, "too many new sessions at once: wait a second, or go on with a token"
            )

    def _find(self, token: str) -> _Live:
        live = self._live.get(token)
        if live is not None:
            self._live.move_to_end(token)
            return live
        row = self.store.session(token)
        if row is None:
            raise RefusedError(401, "no session has this token: begin one with new_hand")
        if row.agent != self.house.name:
            raise RefusedError(
                401, f"this session is against {row.agent}: here plays {self.house.name}"
            )
        live = _Live(token, row)
        last = self.store.last_hand(row.id)
        if last is not None:
            state = State.from_betting_text(RULES, last.betting)
            live.hand = Hand(state, read_cards(last.cards), last.number)
            live.old = last.old
        return self._remember(live)

    def _remember(self, live: _Live) -> _Live:
        self._live[live.token] = live
        for token in list(self._live)[: max(len(self._live) - _MOST_LIVE, 0)]:
            if not self._live[token].using:
                del self._live[token]
        return live

    def _is_user(self, name: str, password: str) -> bool:
        known = self.store.user(name)
        salt = secrets.token_bytes(16) if known is None else known[0]
        found = hashlib.scrypt(password.encode("utf-8", "replace"), salt=salt, n=1 << 13, r=8, p=1)
        if known is None:
            return self.store.add_user(name, salt, found) or self._is_user(name, password)
        return equal(found.hex(), known[1].hex())

    # ----------------------------------------------------------------------------------------- play

    async def _in_turn(self, live: _Live, work: Any) -> dict[str, Any]:
        """Serve one request of a session, after those that came before."""
        if not live.bucket.take(monotonic()):
            work.close()
            raise RefusedError(429, f"more than {_RATE:,.0f} requests a second: wait a moment")
        live.using += 1
        try:
            async with live.lock:
                told: dict[str, Any] = await work
                live.told = monotonic()
                return told
        except IllegalActionError as error:
            self.store.add_error(live.row.id)
            # What is illegal is told as the public server does: in an answer like any other.
            raise RefusedError(200, str(error)) from None
        except BaseException as error:
            if not isinstance(error, RefusedError):
                # What was not written did not happen: the file is read again.
                self._live.pop(live.token, None)
            raise
        finally:
            live.using -= 1

    async def _next(self, live: _Live, series: int | None) -> dict[str, Any]:
        if live.hand is None and series is not None and live.row.series != series:
            self.store.set_series(live.row.id, series)
            live.row = live.row._replace(series=series, seed=series)
        elif series is not None and series != live.row.series:
            told = "fresh cards" if live.row.series is None else f"series {live.row.series}"
            raise IllegalActionError(f"this session plays {told}: begin another for the series")
        if live.hand is not None and not live.hand.state.is_over:
            return self._answer(live)
        number = 0 if live.hand is None else live.hand.number + 1
        hand = Hand(self._start, self._deal(live, number), number)
        await self._finish(live, hand, "", 0)
        return self._answer(live)

    async def _act(self, live: _Live, increment: str) -> dict[str, Any]:
        hand = live.hand
        if hand is None or hand.state.is_over:
            raise IllegalActionError("no hand is under way: ask for a new_hand")
        after = Hand(hand.state, hand.deal, hand.number)
        after.play(read_increment(hand.state, increment))
        await self._finish(live, after, betting_text(hand.state), 1)
        return self._answer(live)

    async def _finish(self, live: _Live, hand: Hand, old: str, decisions: int) -> None:
        """Let the agent answer, write what happened, and only then let it have happened."""
        thought = monotonic() - live.told if decisions and live.told is not None else 0.0
        position = hand.number % 2
        done = Answered(0, 0.0, 0)
        if hand.state.to_act == 1 - position or hand.state.is_over:
            seat = self.house.seat(live.row.id)
            asked = (hand, 1 - position, live.row.seed)
            if self.house.waits:
                seat.busy = True
                done = await asyncio.to_thread(seat.play, *asked)
            else:
                done = seat.play(*asked)
        won = hand.payoffs()[position] if hand.state.is_over else None
        betting, cards = hand.state.betting_text(), cards_text(hand)
        self.store.step(
            live.row.id,
            Step(hand.number, cards, betting, old, won, done.decisions, done.seconds, done.faults,
                 decisions if live.told is not None else 0, thought),
        )  # fmt: skip
        live.hand, live.old = hand, old
        if won is not None:
            live.hands, live.total = live.hands + 1, live.total + won

    def _answer(self, live: _Live) -> dict[str, Any]:
        assert live.hand is not None
        told = answer(live.hand, live.hand.number % 2, live.old, live.token)
        if live.hand.state.is_over:
            told |= {"session_num_hands": live.hands, "session_total": int(live.total)}
        return told

    def _deal(self, live: _Live, number: int) -> DealtCards:
        series = live.row.series
        if series is None:
            self._dealt += 1
            return self._fresh.deal(self._dealt - 1)
        first, deals = live.ahead
        wanted = number // 2
        if not first <= wanted < first + len(deals):
            deals = list(SeededDeals(RULES, series).deals(wanted, wanted + _AHEAD))
            first = wanted
            live.ahead = first, deals
        return deals[wanted - first]

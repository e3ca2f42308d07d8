"""An agent of ours against a server that speaks Slumbot's words, ours or another's.

With a series the agent plays the hands of `equipoise match AGENT OPPONENT --seed SERIES`, card by card
and draw by draw, on a server that knows what a series is; others deal as they like. A server that goes
away in the middle of a hand is asked again for some time, and the hand goes on where it stood.
"""

from __future__ import annotations

import http.client
import json
from contextlib import suppress
from time import perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import MAX_FAULTS, check_settings
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.record import Fault
from equipoise.arena.remote.notation import RULES, Told, increment_text, read_answer
from equipoise.errors import EquipoiseError, ProtocolError
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import Hand, View, hand_seed
from equipoise.games.rules import CALL, FOLD, Action
from equipoise.run import Event, Listener
from equipoise.settings import brief, shown

#: Bytes of an answer, and seconds for which a server that is gone is asked again.
_MOST_BYTES, PATIENCE = 1 << 20, 30.0
#: Status of a server that asks us to wait.
_WAIT = 429
#: Times that a session's figures are asked for until its luck is taken out.
_MOST_LOOKS, _MOST_TRIES = 60, 10


class LostError(ProtocolError):
    """The server did not answer."""


class Server:
    """A server, and the connection to it."""

    def __init__(self, url: str, key: str | None = None, seconds: float = 300.0) -> None:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            self.host, self.port = parts.hostname or "", parts.port
        except ValueError:
            raise ProtocolError(f"{brief(url)}: no address: as http://127.0.0.1:8300") from None
        sound = parts.scheme in ("http", "https") and self.host and url.isascii()
        if not sound or not url.isprintable() or " " in url:
            raise ProtocolError(f"{brief(url)}: no address: as http://127.0.0.1:8300")
        self.url, self.secure = url, parts.scheme == "https"
        self.path, self.seconds = parts.path.rstrip("/").removesuffix("/api"), seconds
        self._headers = {"Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, data: Any = None) -> tuple[int, Any]:
        """Status and answer; :class:`LostError` if there is none."""
        body = None if data is None else json.dumps(data).encode()
        if self._connection is None:
            kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
            self._connection = kind(self.host, self.port, timeout=self.seconds)
        try:
            self._connection.request(method, f"{self.path}{path}", body, self._headers)
            response = self._connection.getresponse()
            text = response.read(_MOST_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise LostError(f"the server at {self.url} does not answer: {error}") from None
        if len(text) > _MOST_BYTES:
            self.close()
            raise ProtocolError(f"the server at {self.url} answers with over {_MOST_BYTES:,} bytes")
        try:
            return response.status, json.loads(text)
        except (ValueError, RecursionError):
            told = f"{response.status}, {brief(repr(text))}"
            raise ProtocolError(f"the server at {self.url} answers {told}: is it one?") from None

    def hand(self, path: str, data: dict[str, Any]) -> Told:
        """The answer to `new_hand` or `act`."""
        for _ in range(100):
            status, told = self.ask("POST", f"/api/{path}", data)
            if status != _WAIT:
                return read_answer(told)
            sleep(0.2)
        return read_answer(told)

    def login(self, name: str, password: str) -> str:
        """The token of a session under a name."""
        _, told = self.ask("POST", "/api/login", {"username": name, "password": password})
        if not isinstance(told, dict) or not isinstance(told.get("token"), str):
            said = told.get("error_msg") if isinstance(told, dict) else told
            raise ProtocolError(f"the server does not log {brief(name)} in: {shown(said)}")
        return str(told["token"])

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.close()
            self._connection = None


class Challenge:
    """A visit to a server."""

    def __init__(
        self, server: Server, agent: Agent, seed: int, series: int | None, token: str | None
    ) -> None:
        self.server, self.agent, self.seed, self.series = server, agent, seed, series
        self.token = token
        self.payoffs: list[float] = []
        self.faults: list[Fault] = []
        #: Chips of the session as the server counts them, and hands that we did not see end.
        self._total, self._unseen = 0.0, 0
        agent.reset(2 * seed)

    def play(self) -> None:
        """Play one hand to its end."""
        told = self._ask("new_hand", {})
        number = self._begin(len(self.payoffs), told)
        while told.winnings is None:
            action = self._decide(View(told.state, told.position, told.hole, told.board, number))
            sent = {"incr": increment_text(told.state, action)}
            after = self._ask("act", sent)
            for _ in range(_MOST_LOOKS):
                if after.state != told.state:
                    break
                # The server was gone before our action came to it.
                after = self._ask("act", sent)
            if (after.hole, after.position) != (told.hole, told.position):
                # The server was gone, and our last action ended the hand: its chips come later.
                number = self._begin(number + 1, after)
            told = after
        self._end(told, number)

    def _begin(self, number: int, told: Told) -> int:
        """A hand begins: its number, by the server's count if it tells."""
        number = number if told.number is None else told.number
        self._unseen = max(number - len(self.payoffs), 0)
        self.agent.random.seed(hand_seed(self.seed, number, 0))
        self.agent.begin(number, told.position)
        return number

    def _ask(self, path: str, data: dict[str, Any]) -> Told:
        """An answer, asked for until there is one: after a loss by the hand that is under way."""
        until = perf_counter() + PATIENCE
        while True:
            more: dict[str, Any] = {} if self.token is None else {"token": self.token}
            if self.series is not None and path == "new_hand":
                more["series"] = self.series
            try:
                told = self.server.hand(path, data | more)
            except LostError:
                if perf_counter() > until or (self.token is None and not self.payoffs):
                    raise
                sleep(0.2)
                path, data = "new_hand", {}
                continue
            self.token = told.token or self.token
            return told

    def _decide(self, view: View) -> Action:
        try:
            action = self.agent.act(view)
            if view.state.can(action):
                return action
            reason = f"{action} is not allowed; legal: {view.state.legal()}"
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        self.faults.append(Fault(view.hand, 0, reason))
        if len(self.faults) >= MAX_FAULTS:
            raise EquipoiseError(f"{MAX_FAULTS} faults, the last in hand {view.hand}: {reason}")
        return FOLD if view.state.to_call else CALL

    def _end(self, told: Told, number: int) -> None:
        assert told.winnings is not None
        if self._unseen:
            self.payoffs += self._missed(told)
            self._unseen = 0
        holes = (told.hole, told.opponent) if told.position == 0 else (told.opponent, told.hole)
        hand = Hand(told.state, DealtCards.of(RULES, holes, told.board), number)
        if told.state.folded is not None or (told.opponent and len(told.board) == 5):
            due = hand.payoffs()[told.position]
            if due != told.winnings:
                raise ProtocolError(
                    f"hand {number}: the server pays {told.winnings:g} where the cards give {due:g}"
                )
            self.agent.observe(hand.result(told.position))
        self.payoffs.append(told.winnings)
        self._total = told.total if told.total is not None else self._total + told.winnings

    def _missed(self, told: Told) -> list[float]:
        """What hands paid that ended while the server was gone."""
        for _ in range(_MOST_TRIES if told.number is not None else 0):
            with suppress(ProtocolError):
                status, said = self.server.ask("GET", f"/api/session/{self.token}/payoffs")
                if status == 200 and isinstance(said, list):
                    found = [float(chips) for chips in said if type(chips) in (int, float)]
                    return found[len(self.payoffs) : -1]
            sleep(0.2)
        # Another's server tells the sum alone.
        missed = (told.total or 0.0) - self._total - (told.winnings or 0.0)
        return [missed] + [0.0] * (self._unseen - 1)

    def figures(self) -> dict[str, Any] | None:
        """What the server says of the session, where it says anything."""
        told: dict[str, Any] | None = None
        for _ in range(_MOST_LOOKS):
            try:
                status, said = self.server.ask("GET", f"/api/session/{self.token}")
            except ProtocolError:
                return None
            if status != 200 or not isinstance(said, dict) or "mbb_per_hand" not in said:
                return None
            told = said
            if told.get("allin_hands") == told.get("hands"):
                break
        return told


def challenge(
    url: str,
    agent: Agent | str,
    hands: int = 1000,
    seed: int = 0,
    *,
    series: int | None = None,
    key: str | None = None,
    login: tuple[str, str] | None = None,
    progress: Listener | None = None,
) -> tuple[MatchResult, dict[str, Any] | None]:
    """Play so many hands; the result, and the server's figures of the session if it has any.

    Ctrl-C ends it, and what was played counts.
    """
    seed = seed if series is None else series
    check_settings(hands, seed, series is not None)
    if isinstance(agent, Agent):
        player, name = agent, agent.name or type(agent).__name__
    else:
        spec = AgentSpec.read(agent)
        player, name = spec.make(RULES), spec.name
    server = Server(url, key)
    token = None if login is None else server.login(*login)
    visit = Challenge(server, player, seed, series, token)
    start = perf_counter()
    with suppress(KeyboardInterrupt):
        while len(visit.payoffs) < hands:
            visit.play()
            if progress is not None:
                progress(Event(len(visit.payoffs), hands, f"{sum(visit.payoffs):+,.0f} chips"))
    taken = perf_counter() - start
    told = visit.figures()
    server.close()
    duplicate = series is not None and told is not None and told.get("series") == series
    payoffs = visit.payoffs[: len(visit.payoffs) // 2 * 2] if duplicate else visit.payoffs
    return MatchResult(
        a=name,
        b=str(told.get("agent")) if told is not None else server.host,
        rules=RULES,
        seed=seed,
        duplicate=duplicate,
        payoffs=np.array(payoffs, dtype=np.float64),
        faults=tuple(visit.faults),
        forfeited_by=None,
        interrupted=len(visit.payoffs) < hands,
        hands_now=len(payoffs),
        seconds=taken,
        log=None,
    ), told

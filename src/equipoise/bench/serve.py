"""The benchmark's server under load: many sessions at once, kills in the middle, and nonsense.

The server runs in a process of its own, on this machine, with a folder of its own; its clients share one
event loop here. Every client plays a series of its own at random and thinks for a moment before it acts;
in the end its chips are compared, hand for hand, with the match that the series is. On a busy machine the
seconds of an answer are those of the queue for the processor, so its processor time stands beside them.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from equipoise.agents.registry import make_agent
from equipoise.arena.duel import Duel
from equipoise.arena.remote.notation import RULES, increment_text, read_answer
from equipoise.bench.figures import figure
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import View, hand_seed
from equipoise.web.app import free_port

#: Who is served: it does not search.
AGENT = "tartanian5"
SESSIONS, HANDS, KILLS, REQUESTS = 100, 50, 20, 100_000
#: Seconds that a client thinks, and for which a server that was killed is waited for.
THINKING, _PATIENCE = 0.1, 60.0
#: Connections over which nonsense is sent.
_WIRES = 8
_SECONDS = 30.0


class Served:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, agent: str = AGENT) -> None:
        self.folder, self.agent = folder, agent
        self.port = free_port("127.0.0.1", 18300, 1000)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin, and wait until it answers."""
        words = ["-m", "equipoise", "serve", "--agent", self.agent, "--port", str(self.port)]
        self._process = subprocess.Popen(
            [sys.executable, *words],
            env=os.environ | {"EQUIPOISE_DATA": str(self.folder)},
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if b"plays at" in line:
                return
        raise EquipoiseError("the server did not start: run equipoise serve to see why")

    def kill(self) -> None:
        """As hard as it goes."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    def memory_mb(self) -> float:
        """What it holds of its own now.

        Not what it has mapped: pages of a blueprint come in as hands look at them, and the system takes
        them back as it likes.
        """
        assert self._process is not None
        resident, mapped = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1:3]
        return (int(resident) - int(mapped)) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def cpu_seconds(self) -> float:
        """Processor time that it took so far."""
        assert self._process is not None
        told = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served() -> Iterator[Served]:
    """A server that is gone afterwards, with all that it kept."""
    with tempfile.TemporaryDirectory() as folder:
        server = Served(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.kill()


class Wire:
    """A connection that is kept open, and made again where it broke."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, data: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to a request."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        try:
            writer.write(data)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _SECONDS)
            status = int(head.split(b" ", 2)[1])
            length, closed = 0, b"connection: close" in head.lower()
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = await asyncio.wait_for(reader.readexactly(length), _SECONDS)
        except BaseException:
            self.close()
            raise
        if closed:
            self.close()
        return status, body

    async def post(self, path: str, data: Any) -> dict[str, Any]:
        """The answer to JSON."""
        status, body = await self.send(request(path, json.dumps(data).encode()))
        told = json.loads(body)
        if status != 200 or "error_msg" in told:
            raise EquipoiseError(f"{status}: {told}")
        assert isinstance(told, dict)
        return told

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def request(path: str, body: bytes, method: str = "POST") -> bytes:
    """A request as it goes over the wire."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode("utf-8", "replace") + body


class Visitor:
    """A client that plays a series at random, and knows what has to come of it."""

    def __init__(self, port: int, series: int, hands: int) -> None:
        self.wire, self.series, self.hands = Wire(port), series, hands
        self.token: str | None = None
        self.payoffs: list[float] = []
        self.latencies: list[float] = []
        self.errors = 0
        self._agent = make_agent("random")
        self._agent.reset(2 * series)

    async def play(self, thinking: float) -> None:
        """All hands; a server that goes away is waited for, and asked for the hand again."""
        while len(self.payoffs) < self.hands:
            told = await self._ask("new_hand", {"series": self.series})
            number = told["hand"]
            self._agent.random.seed(hand_seed(self.series, number, 0))
            while "winnings" not in told and told["hand"] == number:
                read = read_answer(told)
                view = View(read.state, read.position, read.hole, read.board, number)
                word = increment_text(read.state, self._agent.act(view))
                after = told
                while after["hand"] == number and after["action"] == told["action"]:
                    await asyncio.sleep(thinking)
                    after = await self._ask("act", {"incr": word})
                told = after
            if told["hand"] == number:
                self.payoffs.append(told["winnings"])
            else:
                # The hand ended while the server was gone: what it paid is in the session's total.
                self.payoffs = await self._known()
        self.wire.close()

    async def _known(self) -> list[float]:
        _, body = await self.wire.send(request(f"/api/session/{self.token}/payoffs", b"", "GET"))
        return [float(chips) for chips in json.loads(body)]

    async def _ask(self, path: str, data: dict[str, Any]) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while True:
            known = {} if self.token is None else {"token": self.token}
            began = time.perf_counter()
            try:
                told = await self.wire.post(f"/api/{path}", data | known)
            except EquipoiseError:
                self.errors += 1
                raise
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.1)
                path, data = "new_hand", {"series": self.series}
                continue
            self.latencies.append(time.perf_counter() - began)
            self.token = told["token"]
            return told

    def due(self) -> list[float]:
        """What the same match pays that is played here."""
        duel = Duel(RULES, (make_agent("random"), make_agent(AGENT)), self.series)
        duel.reset()
        deals, won = SeededDeals(RULES, self.series), []
        for number in range(self.hands):
            payoff = duel.play(deals.deal(number // 2), number, number % 2).payoff
            won.append(-payoff if number % 2 else payoff)
        return won


def load(seed: int, sessions: int, hands: int, thinking: float) -> list[dict[str, Any]]:
    """So many sessions at once, and what a server's memory does meanwhile."""
    with served() as server:
        # A first round, so that caches are what they will be.
        asyncio.run(
            _visit([Visitor(server.port, seed + 10**6 + i, 4) for i in range(sessions)], thinking)
        )
        before, worked = server.memory_mb(), server.cpu_seconds()
        visitors = [Visitor(server.port, seed + number, hands) for number in range(sessions)]
        began = time.perf_counter()
        asyncio.run(_visit(visitors, thinking))
        taken = time.perf_counter() - began
        grown, worked = server.memory_mb() - before, server.cpu_seconds() - worked
    waits = np.array([wait for visitor in visitors for wait in visitor.latencies])
    wrong = sum(visitor.payoffs != visitor.due() for visitor in visitors)
    told = f"{sessions} sessions of {hands} hands, {thinking:g} s of thought"
    return [
        figure(f"{told}: errors", sum(visitor.errors for visitor in visitors), "", at_most=0),
        figure(f"{told}: sessions with another's chips", wrong, "", at_most=0),
        figure(f"{told}: p50 of an answer", 1000 * float(np.quantile(waits, 0.5)), "ms"),
        figure(
            f"{told}: p95 of an answer", 1000 * float(np.quantile(waits, 0.95)), "ms", at_most=100
        ),
        figure(f"{told}: answers", len(waits) / taken, "/s"),
        figure(f"{told}: processor time of an answer", 1000 * worked / len(waits), "ms"),
        figure(f"{told}: memory grown", grown, "MB", at_most=50),
    ]


async def _visit(visitors: list[Visitor], thinking: float) -> None:
    await asyncio.gather(*(visitor.play(thinking) for visitor in visitors))


def kills(seed: int, count: int, sessions: int = 10) -> list[dict[str, Any]]:
    """A server that is killed again and again while sessions are under way."""
    random = Random(seed)

    async def crash(server: Served, visits: asyncio.Future[Any]) -> int:
        done = 0
        while done < count and not visits.done():
            await asyncio.sleep(random.uniform(0.3, 1.0))
            server.kill()
            await asyncio.to_thread(server.start)
            done += 1
        return done

    async def both(server: Served, visitors: list[Visitor]) -> int:
        visits = asyncio.ensure_future(_visit(visitors, 0.02))
        done = await crash(server, visits)
        await visits
        return done

    with served() as server:
        # So many hands that nobody is through before the last kill.
        visitors = [Visitor(server.port, seed + 500 + i, 20 * count) for i in range(sessions)]
        done = asyncio.run(both(server, visitors))
    wrong = sum(visitor.payoffs != visitor.due() for visitor in visitors)
    return [
        figure("kills in the middle of sessions", done, "", at_least=count),
        figure("sessions that went on otherwise", wrong, "", at_most=0),
    ]


def nonsense(seed: int, count: int) -> list[dict[str, Any]]:
    """Requests that are spoilt in every way: answers of 500, and answers that never come."""
    random = Random(seed)

    async def spoil(port: int, token: str, share: int) -> tuple[int, int]:
        wire, broken, hung = Wire(port), 0, 0
        for _ in range(share):
            try:
                status, _ = await wire.send(spoilt(random, token))
                broken += status >= 500
            except TimeoutError:
                hung += 1
            except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                # A server may hang up on what is no HTTP.
                wire.close()
        wire.close()
        return broken, hung

    async def all_of_it(port: int) -> tuple[int, int]:
        wire = Wire(port)
        token = (await wire.post("/api/new_hand", {}))["token"]
        wire.close()
        found = await asyncio.gather(*(spoil(port, token, count // _WIRES) for _ in range(_WIRES)))
        # It still plays; the first connection was idle for so long that the server hung up on it.
        again = Wire(port)
        await again.post("/api/new_hand", {"token": token})
        again.close()
        return sum(one[0] for one in found), sum(one[1] for one in found)

    with served() as server:
        began = time.perf_counter()
        broken, hung = asyncio.run(all_of_it(server.port))
        taken = time.perf_counter() - began
    return [
        figure(f"{count:,} spoilt requests: answers of 500", broken, "", at_most=0),
        figure(f"{count:,} spoilt requests: no answer", hung, "", at_most=0),
        figure(f"{count:,} spoilt requests", count / taken, "/s"),
    ]


def spoilt(random: Random, token: str) -> bytes:
    """A request that is nearly right, or not at all."""
    path = random.choice(
        ["/api/new_hand", "/api/act", "/slumbot/api/act", "/api/login", f"/api/session/{token}/acpc",
         "/leaderboard", "/api/session/x", "/openapi.json", "/api/%ff%00/..", "/\u00e4", "/" * 50]
    )  # fmt: skip
    value: Any = random.choice(
        [token, "", "k", "c", "f", "b200", "b" + "9" * 50, None, True, 0, -1, 1.5, 1 << 70, [], {},
         ["k"], "\ud800", "\0", "é" * 50, "x" * 200, float("inf")]
    )  # fmt: skip
    other = random.choice([token, token, "k", "b300", "c", None, 3])
    keys = random.sample(["token", "incr", "series", "username", "password", "x"], 2)
    body = json.dumps(
        {keys[0]: value, keys[1]: other, **({"token": token} if random.random() < 0.5 else {})}
    )
    data = bytearray(body.encode())
    for _ in range(random.choice([0, 0, 1, 3])):
        place = random.randrange(len(data))
        data[place : place + random.randrange(3)] = bytes([random.randrange(256)])
    if random.random() < 0.01:
        data *= 400
    return request(path, bytes(data), random.choice(["POST", "POST", "POST", "GET", "PUT"]))


def run(seed: int = 0) -> dict[str, Any]:
    """Load, kills, nonsense."""
    figures = load(seed, SESSIONS, HANDS, THINKING)
    figures += kills(seed, KILLS)
    figures += nonsense(seed, REQUESTS)
    return {"suite": "serve", "seed": seed, "figures": figures}

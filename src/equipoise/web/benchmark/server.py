"""The benchmark's HTTP: FastAPI over :mod:`equipoise.web.benchmark.sessions`, behind a door.

    POST /api/new_hand   {"token"?, "series"?}         also under /slumbot/api/
    POST /api/act        {"token", "incr"}
    POST /api/login      {"username", "password"}
    GET  /api/session/TOKEN            figures; …/TOKEN/payoffs, /acpc and /phh are its hands
    GET  /leaderboard                  JSON, or a page for a browser
    GET  /docs                         this, in full

What cannot be served is answered with `error_msg`. The door asks for the key where there is one, in
`Authorization: Bearer KEY` or as the first part of the path, lets nobody in by a foreign name or from a
foreign page, and reads no long bodies.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from equipoise.agents.registry import AgentSpec
from equipoise.arena.histories.phh import write_hands
from equipoise.arena.remote.house import House
from equipoise.datafolder import data_folder
from equipoise.errors import EquipoiseError
from equipoise.version import __version__
from equipoise.web.app import free_port, listen
from equipoise.web.auth import (
    Application,
    Message,
    Patience,
    Receive,
    Scope,
    Send,
    check_host,
    equal,
    is_loopback,
)
from equipoise.web.benchmark.page import leaderboard_page
from equipoise.web.benchmark.scoring import Scorer, figures, log_text, record
from equipoise.web.benchmark.sessions import RefusedError, Sessions
from equipoise.web.benchmark.store import FILE, Store

#: Where the server listens unless told otherwise, and ports after it that are tried.
PORT, _MORE_PORTS = 8300, 20
#: Bytes of a request's body, and seconds in which it has to come.
MOST_BODY_BYTES, _BODY_SECONDS = 4096, 20.0
#: Sessions that the leaderboard shows, and seconds that a session's figures are worked on at a time.
_MOST_SHOWN, _SCORE_SECONDS = 500, 20.0
#: Seconds without a request after which hands are scored, and for how long at a time.
_IDLE, _SPARE = 2.0, 0.2

Token = Annotated[str, Field(max_length=100)]


class NewHand(BaseModel):
    """Ask for a hand."""

    token: Token | None = None
    series: Annotated[int, Field(ge=0, lt=1 << 63, strict=True)] | None = None


class Act(BaseModel):
    """Do something in a hand."""

    token: Token
    incr: Annotated[str, Field(max_length=100)]


class Login(BaseModel):
    """Play under a name."""

    username: Annotated[str, Field(max_length=1000)]
    password: Annotated[str, Field(max_length=1000)]


class HandTold(BaseModel):
    """A hand as it stands, and once it is over how it ended."""

    old_action: str
    action: str
    client_pos: int
    hole_cards: list[str]
    board: list[str]
    token: str
    hand: int
    bot_hole_cards: list[str] | None = None
    winnings: int | None = None
    won_pot: int | None = None
    session_num_hands: int | None = None
    session_total: int | None = None


class TokenTold(BaseModel):
    """A new session."""

    token: str


class ErrorTold(BaseModel):
    """Why not."""

    error_msg: str


def answered(data: Any, status: int = 200) -> Response:
    """JSON that any client can read, whatever somebody sent."""
    return Response(json.dumps(data), status, media_type="application/json")


def refused(status: int, sentence: str) -> Response:
    """Why not, in one line."""
    return answered({"error_msg": " ".join(sentence.split())}, status)


def application(
    folder: Path, agent: str, key: str | None = None, local: bool = True
) -> Application:
    """The whole server; `folder` holds what is kept."""
    house = House(AgentSpec.read(agent))
    store = Store(folder / FILE)
    sessions, scorer = Sessions(store, house), Scorer(store, house)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        work = asyncio.create_task(_score_when_idle(sessions, scorer))
        yield
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        store.close()

    app = FastAPI(
        title="Equipoise benchmark",
        version=__version__,
        description=f"Heads-up no-limit hold'em, 50-100, 20,000 chips, against {house.name}.",
        lifespan=life,
        redoc_url=None,
    )
    _add_play(app, sessions)
    _add_figures(app, sessions, scorer)
    _add_errors(app)
    return Door(app, key, local)


def serve(
    agent: str,
    host: str = "127.0.0.1",
    port: int | None = None,
    key: str | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer until told to stop; `ready` is told the address once requests are answered."""
    check_host(host, key, "--key")
    if key is not None and not key.replace("-", "").replace("_", "").isalnum():
        raise EquipoiseError("--key stands in addresses: make it of letters, digits, - and _")
    chosen = free_port(host, PORT, _MORE_PORTS) if port is None else free_port(host, port)
    shown = f"[{host}]" if ":" in host else host
    app = application(data_folder(), agent, key, is_loopback(host) and key is None)
    listen(app, host, chosen, f"http://{shown}:{chosen}" + (f"/{key}" if key else ""), ready)


def _add_play(app: FastAPI, sessions: Sessions) -> None:
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorTold} for status in (400, 401, 429)
    }

    async def new_hand(body: NewHand, request: Request) -> Response:
        """A new hand, or the one under way; without a token, of a new session."""
        return answered(await sessions.new_hand(body.token, body.series, _address(request)))

    async def act(body: Act) -> Response:
        """`k` checks, `c` calls, `f` folds, `bN` bets or raises to N chips of this street.

        What is illegal is answered with `error_msg` and changes nothing.
        """
        return answered(await sessions.act(body.token, body.incr))

    async def login(body: Login, request: Request) -> Response:
        """A new session under a name; the first password that is used with a name keeps it."""
        return answered(await sessions.login(body.username, body.password, _address(request)))

    for prefix in ("/api", "/slumbot/api"):
        for function, model in ((new_hand, HandTold), (act, HandTold), (login, TokenTold)):
            app.add_api_route(
                f"{prefix}/{function.__name__}",
                function,
                methods=["POST"],
                response_model=model,
                responses=errors,
                include_in_schema=prefix == "/api",
            )


def _add_figures(app: FastAPI, sessions: Sessions, scorer: Scorer) -> None:
    store = sessions.store

    @app.get("/api/session/{token}")
    async def session(token: str) -> Response:
        """Figures of a session: rates in mbb/hand, raw, with all-ins by equity, and without luck.

        Hands from which the luck is not yet taken out are worked on for some seconds; `aivat_hands`
        says how many are done, and the rate comes when all are.
        """
        row = sessions.row(token)
        await asyncio.to_thread(scorer.work, row.id, _SCORE_SECONDS)
        return answered(figures(sessions.row(token), store.hands(row.id)))

    @app.get("/api/session/{token}/payoffs")
    async def payoffs(token: str) -> Response:
        """The client's chips in the hands that are over, in order."""
        return answered([hand.payoff for hand in store.hands(sessions.row(token).id)])

    @app.get("/api/session/{token}/acpc")
    async def acpc(token: str) -> Response:
        """The hands that are over, as the ACPC writes them."""
        row = sessions.row(token)
        return Response(log_text(row, store.hands(row.id)), media_type="text/plain")

    @app.get("/api/session/{token}/phh")
    async def phh(token: str) -> Response:
        """The hands that are over, as a `.phhs` file."""
        row = sessions.row(token)
        text = "".join(write_hands(record(row, hand) for hand in store.hands(row.id)))
        return Response(text, media_type="text/plain")

    @app.get("/leaderboard")
    async def leaderboard(request: Request) -> Response:
        """All sessions with a hand to their name, the best first: JSON, or a page."""
        told = await asyncio.to_thread(_standings, store, sessions.house.name)
        if "text/html" in request.headers.get("accept", ""):
            return Response(leaderboard_page(sessions.house.name, told), media_type="text/html")
        return answered({"agent": sessions.house.name, "sessions": told})

    @app.get("/", include_in_schema=False)
    async def root() -> Response:
        return Response(status_code=307, headers={"location": "leaderboard"})


def _standings(store: Store, agent: str) -> list[dict[str, Any]]:
    """Figures of all sessions, by the best figure that each has."""
    told = [figures(row, store.hands(row.id)) for row in store.played(agent, _MOST_SHOWN)]

    def rate(one: dict[str, Any]) -> float:
        known = (one["aivat_mbb_per_hand"], one["allin_mbb_per_hand"], one["mbb_per_hand"], 0.0)
        return float(next(value for value in known if value is not None))

    return sorted(told, key=rate, reverse=True)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    async def no(request: Request, error: RefusedError) -> Response:
        return refused(error.status, str(error))

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if isinstance(part, str))
        return refused(400, f"{where}: {first['msg']}: see /docs")

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        return refused(error.status_code, f"{error.detail}: see /docs")

    @app.exception_handler(sqlite3.Error)
    async def full(request: Request, error: sqlite3.Error) -> Response:
        return refused(503, f"the server cannot write ({error}): ask again later")


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _score_when_idle(sessions: Sessions, scorer: Scorer) -> None:
    """Take the luck out of hands while nobody plays."""
    more = True
    while True:
        await asyncio.sleep(0.05 if more else 1.0)
        more = monotonic() - sessions.busy > _IDLE
        if more:
            more = await asyncio.to_thread(scorer.work, None, _SPARE)


class Door:
    """The middleware: what does not belong here goes no further."""

    def __init__(self, app: Application, key: str | None = None, local: bool = True) -> None:
        self.app, self._key, self._local = app, key, local
        self._slow = Patience()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        why = self._unwelcome(scope, headers)
        if why is not None:
            if why[0] == 401:
                address = (scope.get("client") or ("?",))[0]
                wait = self._slow.wait(address)
                self._slow.blame(address)
                await asyncio.sleep(wait)
            await refused(*why)(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(_whole(receive), _BODY_SECONDS)
        except TimeoutError:
            body = None
        if body is None:
            told = f"more than {MOST_BODY_BYTES:,} bytes, or none in {_BODY_SECONDS:g} s: send less"
            await refused(413, told)(scope, receive, send)
            return
        if scope["method"] == "POST":
            # Some clients send JSON and do not say so, or nothing where nothing is needed.
            kept = [pair for pair in scope["headers"] if pair[0] != b"content-type"]
            scope["headers"] = [*kept, (b"content-type", b"application/json")]
            body = body or b"{}"
        await self.app(scope, _again(body, receive), send)

    def _unwelcome(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and sentence for who may not come in."""
        if self._key is not None:
            kind, _, shown = headers.get("authorization", "").partition(" ")
            first, slash, rest = scope["path"].lstrip("/").partition("/")
            if equal(first, self._key) and slash:
                scope["path"] = f"/{rest}"
                scope["raw_path"] = scope["path"].encode("utf-8", "replace")
            elif not (kind.lower() == "bearer" and equal(shown.strip(), self._key)):
                return 401, "send the key: Authorization: Bearer KEY, or /KEY/api/... as address"
        if self._local:
            try:
                name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
            except ValueError:
                name = ""
            if not is_loopback(name):
                return 421, "this server answers to localhost alone: name it so, or use --key"
        origin = headers.get("origin")
        if origin is not None and scope.get("method") not in ("GET", "HEAD"):
            try:
                same = urlsplit(origin).netloc == headers.get("host", "")
            except ValueError:
                same = False
            if not same:
                return 403, "this request came from a page of another site"
        return None


async def _whole(receive: Receive) -> bytes | None:
    """A request's body; None where it is too long or never ends."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > MOST_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """The body once more, and then whatever else comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def told() -> Message:
        return left.pop() if left else await receive()

    return told

"""Who may speak to the server: every request and every socket passes here first.

Three questions are asked, in this order:

    which host     a server of this machine alone answers to names of this machine alone, so that a
                   foreign name that points to 127.0.0.1 (DNS rebinding) gets nothing
    from where     what changes anything, and every socket, must come from a page of the same origin:
                   a foreign page can neither post nor open a socket here
    with what key  where a token is set, a visitor shows it once (`?token=…` or the form) and has a
                   cookie from then on, which is a keyed hash of it; compared in constant time, wrong
                   tokens are answered ever more slowly

A visitor without a name is given one, 128 random bits in a cookie: tables belong to it. Answers carry
a policy under which the browser itself loads nothing from another host.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from equipoise.errors import EquipoiseError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Names of the cookies: who visits, and that he showed the token.
VISITOR_COOKIE = "equipoise_visitor"
KEY_COOKIE = "equipoise_key"
#: Seconds a cookie lives: a year.
_COOKIE_SECONDS = 31_536_000
#: Characters that a token must have to be worth its name.
SHORTEST_TOKEN = 12
#: Seconds that the first wrong token waits, doubled by every further one up to the most.
_FIRST_WAIT, _MOST_WAIT = 0.25, 8.0
#: Seconds after which a wrong token is forgiven, and addresses that are remembered.
_FORGIVEN, _MOST_ADDRESSES = 600.0, 4096
#: Bytes of a form or an upload that are read at all.
MOST_BODY_BYTES = 4 << 20
#: Names by which a machine calls itself.
_OWN_NAMES = ("localhost", "127.0.0.1", "[::1]", "::1", "testserver")

#: What a page may load and be loaded by. NiceGUI compiles its templates in the browser: `unsafe-eval`.
_POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'self'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nobody else can reach it.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_host(host: str, token: str | None, option: str = "--token") -> None:
    """Refuse to open the server to others without a token worth its name.

    >>> check_host("0.0.0.0", None)
    Traceback (most recent call last):
        ...
    equipoise.errors.EquipoiseError: --host 0.0.0.0 lets others in: give a --token of 12 characters or more
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise EquipoiseError(
            f"{option}: give {SHORTEST_TOKEN} characters or more, such as a long word"
        )
    if token is None and not is_loopback(host):
        raise EquipoiseError(
            f"--host {host[:60]} lets others in: give a {option} of {SHORTEST_TOKEN} characters or more"
        )


class Gate:
    """The middleware: what does not belong here goes no further."""

    def __init__(self, app: Application, token: str | None = None, local: bool = True) -> None:
        self.app = app
        #: Only names of this machine are answered to.
        self.local = local
        self._token = token
        # Cookies outlive the server only where the token stays the same.
        self._key = "" if token is None else _keyed(token)
        self._slow = Patience()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or one socket."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not self._named_rightly(headers):
            await _refuse(scope, send, 421, "This name is not one of this server's.")
            return
        if not _same_origin(scope, headers):
            await _refuse(scope, send, 403, "This request came from another site.")
            return
        if _too_long(headers):
            await _refuse(scope, send, 413, f"More than {MOST_BODY_BYTES >> 20} MB is not read.")
            return
        cookies = _cookies(headers.get("cookie", ""))
        if self._token is not None and not equal(cookies.get(KEY_COOKIE, ""), self._key):
            await self._ask_token(scope, receive, send)
            return
        await self._pass(scope, receive, send, cookies)

    async def _pass(
        self, scope: Scope, receive: Receive, send: Send, cookies: dict[str, str]
    ) -> None:
        visitor, fresh = cookies.get(VISITOR_COOKIE, ""), False
        if not _is_visitor(visitor):
            visitor, fresh = secrets.token_hex(16), True
        scope["visitor"] = visitor

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *_HEADERS]
                if fresh:
                    headers.append((b"set-cookie", _cookie(VISITOR_COOKIE, visitor)))
                message["headers"] = headers
            await send(message)

        await self.app(scope, _bounded(receive), answer)

    def _named_rightly(self, headers: dict[str, str]) -> bool:
        if not self.local:
            return True
        name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        return name in _OWN_NAMES or is_loopback(name)

    async def _ask_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A visitor without the cookie: the right token earns it, anything else the form."""
        if scope["type"] == "websocket":
            await _refuse(scope, send, 403, "")
            return
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        shown = next((value for name, value in query if name == "token"), None)
        assert self._token is not None
        if shown is None:
            await _answer(send, 401, _form(""))
            return
        address = (scope.get("client") or ("?",))[0]
        await asyncio.sleep(self._slow.wait(address))
        if not equal(shown, self._token):
            self._slow.blame(address)
            await _answer(send, 401, _form("That is not the token."))
            return
        self._slow.forgive(address)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # A path that begins with two slashes would lead to another host.
        path = "/" + scope["path"].lstrip("/") + (f"?{rest}" if rest else "")
        place = (b"location", path.encode("latin-1", "replace"))
        await _answer(send, 303, "", (place, (b"set-cookie", _cookie(KEY_COOKIE, self._key))))


class Patience:
    """How long each address has to wait before its next token is looked at."""

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[int, float]] = {}

    def wait(self, address: str) -> float:
        """Seconds, none for who has not been wrong lately."""
        count, last = self._wrong.get(address, (0, 0.0))
        if not count or monotonic() - last > _FORGIVEN:
            return 0.0
        return float(min(_FIRST_WAIT * 2 ** (count - 1), _MOST_WAIT))

    def blame(self, address: str) -> None:
        """A wrong token came from there."""
        while len(self._wrong) >= _MOST_ADDRESSES:
            self._wrong.pop(next(iter(self._wrong)))
        self._wrong[address] = (self._wrong.pop(address, (0, 0.0))[0] + 1, monotonic())

    def forgive(self, address: str) -> None:
        """The right one came."""
        self._wrong.pop(address, None)


def _same_origin(scope: Scope, headers: dict[str, str]) -> bool:
    """Whether a request may act: it reads only, or comes from a page of this server.

    Browsers send `Origin` with every socket and every request that is no plain look; programs that
    are no browsers send none, and have no cookies of a visitor to misuse.
    """
    socket = scope["type"] == "websocket" or "/_nicegui_ws/" in scope["path"]
    reads = scope.get("method") in ("GET", "HEAD") and not socket
    if not reads and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if reads or origin is None:
        return True
    return urlsplit(origin).netloc == headers.get("host", "")


def _too_long(headers: dict[str, str]) -> bool:
    length = headers.get("content-length", "0")
    return not length.isdecimal() or len(length) > 12 or int(length) > MOST_BODY_BYTES


def _bounded(receive: Receive) -> Receive:
    """The same, cut off where a body that did not say its length grows too long."""
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        if message["type"] == "http.request":
            read += len(message.get("body", b""))
            if read > MOST_BODY_BYTES:
                return {"type": "http.disconnect"}
        return message

    return bounded


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}


def _cookie(name: str, value: str) -> bytes:
    return f"{name}={value}; Path=/; Max-Age={_COOKIE_SECONDS}; HttpOnly; SameSite=Strict".encode()


def _is_visitor(text: str) -> bool:
    return len(text) == 32 and all(letter in "0123456789abcdef" for letter in text)


def _keyed(token: str) -> str:
    return hmac.new(token.encode(), b"equipoise visitor key", hashlib.sha256).hexdigest()


def equal(shown: str, right: str) -> bool:
    """Whether two texts are the same, in a time that does not say where they differ."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), right.encode())


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await _answer(send, status, sentence)


async def _answer(
    send: Send, status: int, body: str, more: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    headers = [(b"content-type", b"text/html; charset=utf-8"), *_HEADERS, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


def _form(told: str) -> str:
    note = f"<p role=alert>{html.escape(told)}</p>" if told else ""
    return (
        "<!doctype html><html lang=en><meta name=viewport content='width=device-width'>"
        "<title>Equipoise</title><style>body{font:16px/1.5 system-ui,sans-serif;background:#10231c;"
        "color:#f3efe4;display:grid;place-items:center;min-height:100vh;margin:0}"
        "input,button{font:inherit;padding:.5em .8em;border-radius:.5em;border:0}"
        "button{background:#e69f00;color:#111}</style>"
        f"<form method=get action=/><h1>Equipoise</h1>{note}<label>Token "
        "<input name=token type=password autofocus autocomplete=off></label> "
        "<button>Enter</button></form></html>"
    )

"""The gate: who gets in, who does not, and what every answer carries."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from equipoise.errors import EquipoiseError
from equipoise.web import auth

TOKEN = "correct horse battery"


async def _inner(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    told = f"{scope['visitor']} {len(body)}".encode()
    await send({"type": "http.response.body", "body": told})


def ask(gate, path="/", method="GET", base="http://127.0.0.1:8200", **options):
    async def go():
        transport = httpx.ASGITransport(app=gate)
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, path, **options)

    return asyncio.run(go())


def socket(gate, **headers):
    """What a socket is told first."""
    said = []

    async def send(message):
        said.append(message["type"])

    async def receive():
        return {"type": "websocket.connect"}

    named = {"host": "127.0.0.1:8200", **headers}
    scope = {
        "type": "websocket",
        "path": "/_nicegui_ws/socket.io/",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }
    asyncio.run(gate(scope, receive, send))
    return said[0]


def test_a_visitor_is_named_once_and_kept():
    gate = auth.Gate(_inner)
    first = ask(gate)
    name = first.cookies[auth.VISITOR_COOKIE]
    assert first.text == f"{name} 0"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    again = ask(gate, headers={"cookie": f"{auth.VISITOR_COOKIE}={name}"})
    assert again.text == f"{name} 0"
    assert "set-cookie" not in again.headers
    forged = ask(gate, headers={"cookie": f"{auth.VISITOR_COOKIE}=../../x"})
    assert forged.text.split()[0] != "../../x"
    assert "default-src 'self'" in first.headers["content-security-policy"]


def test_foreign_names_and_foreign_pages_get_nothing():
    gate = auth.Gate(_inner)
    assert ask(gate, base="http://evil.example:8200").status_code == 421
    assert ask(gate, base="http://localhost:8200").status_code == 200
    assert ask(gate, base="http://[::1]:8200").status_code == 200
    evil = {"origin": "http://evil.example"}
    assert ask(gate, method="POST", headers=evil).status_code == 403
    assert ask(gate, method="POST", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert ask(gate, "/_nicegui_ws/socket.io/", headers=evil).status_code == 403
    own = {"origin": "http://127.0.0.1:8200"}
    assert ask(gate, method="POST", headers=own).status_code == 200
    # A link from elsewhere may lead here: it only looks.
    assert ask(gate, headers={"sec-fetch-site": "cross-site"}).status_code == 200
    assert socket(gate, **evil) == "websocket.close"
    assert socket(gate, origin="http://127.0.0.1:9999") == "websocket.close"
    assert socket(gate, **own) == "websocket.accept"


def test_bodies_are_bounded_whether_they_say_their_length_or_not():
    gate = auth.Gate(_inner)
    much = b"x" * (auth.MOST_BODY_BYTES + 1)
    assert ask(gate, method="POST", content=much).status_code == 413

    async def pieces():
        for _ in range(5):
            yield much[: len(much) // 4]

    answered = ask(gate, method="POST", content=pieces())
    assert int(answered.text.split()[1]) <= auth.MOST_BODY_BYTES
    assert ask(gate, headers={"content-length": "9" * 400}).status_code == 413


def test_a_token_is_shown_once_and_never_guessed_fast(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(auth.asyncio, "sleep", sleep)
    gate = auth.Gate(_inner, TOKEN, local=False)
    assert ask(gate).status_code == 401
    assert socket(gate) == "websocket.close"
    for _ in range(4):
        assert ask(gate, params={"token": "wrong" + TOKEN}).status_code == 401
    assert waits == sorted(waits)
    assert waits[-1] >= 1.0
    right = ask(gate, "/room/AB?x=1", params={"token": TOKEN, "x": "1"})
    assert right.status_code == 303
    assert right.headers["location"] == "/room/AB?x=1"
    assert TOKEN not in right.headers["set-cookie"]
    key = right.cookies[auth.KEY_COOKIE]
    assert ask(gate, headers={"cookie": f"{auth.KEY_COOKIE}={key}"}).status_code == 200
    assert ask(gate, headers={"cookie": f"{auth.KEY_COOKIE}={key[:-1]}"}).status_code == 401
    assert socket(gate, cookie=f"{auth.KEY_COOKIE}={key}") == "websocket.accept"
    off = ask(gate, "//evil.example/", params={"token": TOKEN})
    assert not off.headers["location"].startswith("//")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", "::"])
def test_an_open_host_needs_a_token_worth_its_name(host):
    with pytest.raises(EquipoiseError, match="--token"):
        auth.check_host(host, None)
    with pytest.raises(EquipoiseError, match="--token"):
        auth.check_host(host, "short")
    auth.check_host(host, TOKEN)
    auth.check_host("127.0.0.1", None)

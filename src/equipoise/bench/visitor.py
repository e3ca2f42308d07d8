"""A program that visits the pages as a browser does: it fetches one, opens its socket, clicks and types."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from html import unescape
from typing import Any

from equipoise.web.auth import VISITOR_COOKIE


class Visitor:
    """One page that is open; its elements are kept as the server changes them."""

    def __init__(self, address: str, visitor: str) -> None:
        self.address, self.visitor = address, visitor
        self.elements: dict[str, Any] = {}
        self.changed = asyncio.Event()
        self._client_id = ""
        self._socket: Any = None

    async def enter(self, path: str = "/") -> None:
        """Fetch a page and open its socket."""
        import httpx
        import socketio

        cookies = {"cookie": f"{VISITOR_COOKIE}={self.visitor}"}
        async with httpx.AsyncClient(timeout=60) as client:
            text = (await client.get(self.address + path, headers=cookies)).text
        told = re.search(r"parseElements\(String\.raw`(.*?)`\)", text, re.DOTALL)
        client_id = re.search(r"'client_id': '([0-9a-f-]+)'", text)
        assert told is not None
        assert client_id is not None
        self.elements, self._client_id = json.loads(unescape(told.group(1))), client_id.group(1)
        self._socket = socketio.AsyncClient(reconnection=False)
        self._socket.on("update", self._update)
        query = (
            f"client_id={self._client_id}&next_message_id=0&implicit_handshake=true"
            f"&tab_id={secrets.token_hex(8)}&document_id={secrets.token_hex(8)}"
        )
        await self._socket.connect(
            f"{self.address}?{query}",
            headers=cookies,
            socketio_path="/_nicegui_ws/socket.io",
            transports=["websocket"],
            wait_timeout=60,
        )

    async def leave(self) -> None:
        """Close the page."""
        await self._socket.disconnect()

    async def send(self, name: str, typed: str | None = None) -> None:
        """Click the element of this number, or say what was typed into it."""
        event = {
            "id": int(name),
            "client_id": self._client_id,
            "listener_id": self.elements[name]["events"][0]["listener_id"],
            "args": [] if typed is None else [json.dumps(typed)],
        }
        await self._socket.emit("event", event)

    def find(self, *classes: str, label: str = "") -> str | None:
        """Number of the element with these classes, or with this label; None if there is none."""
        for name, element in self.elements.items():
            if not set(classes) <= set(element.get("class") or []):
                continue
            if not label or element.get("props", {}).get("label") == label:
                return name
        return None

    def _update(self, message: dict[str, Any]) -> None:
        for name, element in message.items():
            if name != "_id" and isinstance(element, dict):
                self.elements.setdefault(name, {}).update(element)
        self.changed.set()

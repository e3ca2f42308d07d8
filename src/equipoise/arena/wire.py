"""Lines over a socket, with a bound on everything a peer can do to us.

A line ends in a line feed, with or without a carriage return before it. Whatever the peer sends,
no more than :data:`~equipoise.arena.acpc.LONGEST_LINE` bytes of an unfinished line are kept, and no
call lasts longer than it was given: every way in which a peer can fail is one
:class:`~equipoise.errors.ProtocolError` whose text says what happened.
"""

from __future__ import annotations

import contextlib
import socket
from time import monotonic
from typing import NoReturn

from equipoise.arena.acpc import LONGEST_LINE
from equipoise.errors import ProtocolError

#: Seconds a single wait lasts at most. The socket keeps this timeout, so that a call which gets its
#: answer at once, as nearly all do, costs one system call; longer waits are repeated.
_TICK = 1.0


class Wire:
    """One end of a connection, read and written line by line."""

    def __init__(self, connection: socket.socket, peer: str) -> None:
        self._socket = connection
        #: What errors call the other end.
        self.peer = peer
        #: Whether the other end is gone.
        self.ended = False
        self._lines: list[str] = []
        self._rest = b""
        self._tick = _TICK
        connection.settimeout(_TICK)
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            # A hand is a dialogue of short lines: none may wait to be sent with the next.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def receive(self, seconds: float) -> str:
        """The next line, without its end; it must be complete within `seconds`."""
        if self._lines:
            return self._lines.pop()
        deadline = monotonic() + seconds
        left = seconds
        while left > 0:
            self._set_tick(left)
            try:
                data = self._socket.recv(LONGEST_LINE)
            except TimeoutError:
                data = None
            except OSError as error:
                self._broke(error)
            if data == b"":
                self.ended = True
                raise ProtocolError(f"{self.peer} closed the connection")
            if data and b"\n" in data:
                *lines, self._rest = (self._rest + data).split(b"\n")
                # Every byte is a character of Latin-1, so that garbage is text like any other.
                self._lines = [line.rstrip(b"\r").decode("latin-1") for line in lines[::-1]]
                return self._lines.pop()
            if data:
                self._rest += data
                if len(self._rest) > LONGEST_LINE:
                    raise ProtocolError(
                        f"{self.peer} sent more than {LONGEST_LINE} bytes without ending the line"
                    )
            left = deadline - monotonic()
        raise ProtocolError(f"{self.peer} sent no line within {seconds:.3g} seconds")

    def send(self, line: str, seconds: float) -> None:
        """Send one line; a peer that does not take it within `seconds` is an error."""
        data = line.encode("latin-1", "replace") + b"\r\n"
        deadline = 0.0
        left = seconds
        while left > 0:
            self._set_tick(left)
            try:
                data = data[self._socket.send(data) :]
            except TimeoutError:
                pass
            except OSError as error:
                self._broke(error)
            if not data:
                return
            deadline = deadline or monotonic() + seconds
            left = deadline - monotonic()
        raise ProtocolError(f"{self.peer} read nothing for {seconds:.3g} seconds")

    def close(self) -> None:
        """Close the connection; doing so twice is harmless."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def _broke(self, error: OSError) -> NoReturn:
        self.ended = True
        raise ProtocolError(f"{self.peer}: the connection broke ({error})") from None

    def _set_tick(self, seconds: float) -> None:
        tick = seconds if seconds < _TICK else _TICK
        if tick != self._tick:
            self._tick = tick
            self._socket.settimeout(tick)

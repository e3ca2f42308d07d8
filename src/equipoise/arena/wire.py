"""Lines over a socket, with a bound on everything a peer can do to us.

A line ends in a line feed, with or without a carriage return before it. Whatever the peer sends,
no more than :data:`~equipoise.arena.acpc.LONGEST_LINE` bytes of an unfinished line are kept, and no
call lasts longer than it was given: every way in which a peer can fail is one
:class:`~equipoise.errors.ProtocolError` whose text says what happened.
"""

from __future__ import annotations

import contextlib
import select
import socket
from time import monotonic
from typing import NoReturn

from equipoise.arena.acpc import LONGEST_LINE
from equipoise.errors import ProtocolError


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
        self._held = b""
        #: Known to have something to receive.
        self._ready = False
        connection.setblocking(False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(connection, select.POLLIN)
        self._writable.register(connection, select.POLLOUT)
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            # A hand is a dialogue of short lines: none may wait to be sent with the next.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ready(self, seconds: float) -> bool:
        """Whether something can be received, now or within `seconds`."""
        if not self._lines and not self._ready:
            self._ready = bool(self._readable.poll(1000 * seconds))
        return bool(self._lines) or self._ready

    def receive(self, seconds: float) -> str:
        """The next line, without its end; it must be complete within `seconds`."""
        if self._lines:
            return self._lines.pop()
        deadline = monotonic() + seconds
        left = seconds
        while left > 0:
            # A millisecond at least: a poll of less returns at once.
            if self._ready or self._readable.poll(1000 * left + 1):
                self._ready = False
                try:
                    data = self._socket.recv(LONGEST_LINE)
                except BlockingIOError:
                    continue
                except OSError as error:
                    self._broke(error)
                if not data:
                    self.ended = True
                    raise ProtocolError(f"{self.peer} closed the connection")
                if b"\n" in data:
                    *lines, self._rest = (self._rest + data).split(b"\n")
                    # Every byte is a character of Latin-1, so that garbage is text like any other.
                    self._lines = [line.rstrip(b"\r").decode("latin-1") for line in lines[::-1]]
                    return self._lines.pop()
                self._rest += data
                if len(self._rest) > LONGEST_LINE:
                    raise ProtocolError(
                        f"{self.peer} sent more than {LONGEST_LINE} bytes without ending the line"
                    )
            left = deadline - monotonic()
        raise ProtocolError(f"{self.peer} sent no line within {seconds:.3g} seconds")

    def hold(self, line: str) -> None:
        """Send a line with the next one, or when :meth:`flush` is called."""
        self._held += line.encode("latin-1", "replace") + b"\r\n"

    def send(self, line: str, seconds: float) -> None:
        """Send one line, after those held; the peer must take it within `seconds`."""
        self.hold(line)
        self.flush(seconds)

    def flush(self, seconds: float) -> None:
        """Send what is held; the peer must take it within `seconds`."""
        deadline = 0.0
        while self._held:
            try:
                self._held = self._held[self._socket.send(self._held) :]
                continue
            except BlockingIOError:
                deadline = deadline or monotonic() + seconds
            except OSError as error:
                self._broke(error)
            left = deadline - monotonic()
            if left <= 0:
                raise ProtocolError(f"{self.peer} read nothing for {seconds:.3g} seconds")
            self._writable.poll(1000 * left + 1)

    def close(self) -> None:
        """Close the connection; doing so twice is harmless."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def _broke(self, error: OSError) -> NoReturn:
        self.ended = True
        raise ProtocolError(f"{self.peer}: the connection broke ({error})") from None

"""Lines over a socket, with a bound on everything a peer can do to us.

A line ends in a line feed, with or without a carriage return before it. Whatever the peer sends,
no more than :data:`~equipoise.arena.acpc.protocol.LONGEST_LINE` bytes of an unfinished line are kept, and no
call lasts longer than it was given: every way in which a peer can fail is one
:class:`~equipoise.errors.ProtocolError` whose text says what happened.

Between programs nearly every answer comes at once, and being woken for it costs more than reading it.
So the socket is first looked at some times, giving way to others in between; then it waits by itself
for :data:`PATIENCE`; only after that is it polled, for as long as the caller allows.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from os import sched_yield
from time import monotonic
from typing import NoReturn

from equipoise.arena.acpc.protocol import LONGEST_LINE
from equipoise.errors import ProtocolError

#: Looks at a socket before it waits: some fifty microseconds. Twice the hands a second.
GLANCES = 50
#: Seconds for which a socket waits by itself.
PATIENCE = 0.002

#: What a poll says of a peer that will send no more; where the system knows no half-closed
#: connections, only of one that is closed.
GONE = getattr(select, "POLLRDHUP", 0)
#: Longest time that may be waited, in seconds: polls count in milliseconds of 32 bits.
LONGEST_WAIT = 1_000_000.0

#: Most bytes that are taken at once.
_MOUTHFUL = 4096
#: How often something is taken at the end of a match.
_MOST_MOUTHFULS = 16


class Wire:
    """One end of a connection, read and written line by line."""

    def __init__(self, connection: socket.socket, peer: str) -> None:
        self._socket = connection
        #: What errors call the other end.
        self.peer = peer
        #: Whether the other end is gone.
        self.ended = False
        #: Lines received and not yet asked for, the next one last.
        self._lines: list[str] = []
        self._rest = b""
        self._held = b""
        self._watched: Wire | None = None
        connection.setblocking(True)
        timeval = struct.pack("ll", 0, int(1_000_000 * PATIENCE))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(connection, select.POLLIN)
        self._writable.register(connection, select.POLLOUT)
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            # A hand is a dialogue of short lines: none may wait to be sent with the next.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self) -> int:
        """The socket, as it can be polled."""
        return self._socket.fileno()

    def watch(self, other: Wire) -> None:
        """While a line is waited for here, notice at once if the peer of another wire goes away."""
        self._watched = other
        self._readable.register(other, GONE)

    def ready(self) -> bool:
        """Whether a line is there, or comes within :data:`PATIENCE`."""
        if not self._lines:
            self._fetch()
        return bool(self._lines)

    def peek(self) -> str | None:
        """The next line, if it is already here."""
        return self._lines[-1] if self._lines else None

    def take(self) -> str | None:
        """The next line, if it is already here, which is then no longer the next."""
        return self._lines.pop() if self._lines else None

    def rest(self) -> list[str]:
        """Lines that came and were never taken, as far as they are here; then there are none left."""
        lines = self._lines[::-1]
        self._lines = []
        with contextlib.suppress(ProtocolError, BlockingIOError):
            for _ in range(_MOST_MOUTHFULS):
                self._fetch()
                lines += self._lines[::-1]
                if not self._lines and not self._rest:
                    break
                self._lines = []
        return lines

    def receive(self, seconds: float) -> str:
        """The next line, without its end; it must be complete within `seconds`."""
        if self._lines or self.ready():
            return self._lines.pop()
        deadline = monotonic() + seconds - PATIENCE
        while (left := deadline - monotonic()) > 0:
            # Rounded up: a poll of no milliseconds would return at once, again and again.
            events = self._readable.poll(1000 * left + 1)
            if any(number == self.fileno() for number, _ in events):
                self._fetch()
                if self._lines:
                    return self._lines.pop()
            elif events and self._watched is not None:
                self._watched.ended = True
                raise ProtocolError(f"{self._watched.peer} closed the connection")
        raise ProtocolError(f"{self.peer} sent no line within {seconds:.3g} seconds")

    def _fetch(self) -> None:
        """Take what has come, if anything does within the socket's patience."""
        try:
            data = self._at_once()
            if data is None:
                data = self._socket.recv(_MOUTHFUL)
        except BlockingIOError:
            return
        except OSError as error:
            self._broke(error)
        if not data:
            self.ended = True
            raise ProtocolError(f"{self.peer} closed the connection")
        # Every byte is a character of Latin-1, so that garbage is text like any other.
        if not self._rest and data.find(b"\n") == len(data) - 1:
            self._lines = [data.decode("latin-1").rstrip("\r\n")]
            return
        if b"\n" in data:
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._lines = [line.rstrip(b"\r").decode("latin-1") for line in lines[::-1]]
            return
        self._rest += data
        if len(self._rest) > LONGEST_LINE:
            raise ProtocolError(
                f"{self.peer} sent more than {LONGEST_LINE} bytes without ending the line"
            )

    def _at_once(self) -> bytes | None:
        """What is there, or comes while it is glanced at; None if nothing does."""
        for _ in range(GLANCES):
            try:
                return self._socket.recv(_MOUTHFUL, socket.MSG_DONTWAIT)
            except BlockingIOError:
                sched_yield()
        return None

    def hold(self, line: str) -> None:
        """Send a line with the next one, or when :meth:`flush` is called."""
        self._held += line.encode("latin-1", "replace") + b"\r\n"

    def send(self, line: str, seconds: float) -> None:
        """Send one line, after those held; the peer must take it within `seconds`."""
        self._held += line.encode("latin-1", "replace") + b"\r\n"
        self.flush(seconds)

    def flush(self, seconds: float) -> None:
        """Send what is held; the peer must take it within `seconds`."""
        deadline = 0.0
        while self._held:
            try:
                self._held = self._held[self._socket.send(self._held, socket.MSG_DONTWAIT) :]
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

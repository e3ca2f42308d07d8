"""Ctrl-C, heard in one place: commands that run long end in good order and say how to go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from equipoise.run import Stop

#: What a shell is told when Ctrl-C ended a command.
INTERRUPTED = 130


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """A flag that Ctrl-C, or being asked to end, sets where something watches it.

    Where nothing does, as while tables are made or pictures drawn, and the second time, Ctrl-C is what
    it always was. Only the main thread may listen; elsewhere others may still set the flag.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def hear(number: int, frame: FrameType | None) -> None:
        again = stop.is_set()
        if stop.watched:
            stop.set()
        if number == signal.SIGINT and (again or not stop.watched):
            raise KeyboardInterrupt
        if number == signal.SIGTERM and not stop.watched:
            raise SystemExit(128 + number)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, known in before.items():
            signal.signal(number, known)

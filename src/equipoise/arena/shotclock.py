"""The shot clock: a player who does not come back is called away.

A timer ticks a few times within the limit. A decision that is the same at so many ticks in a row as
fill the limit is overdue, and :class:`Overdue` is raised inside it. Between ticks nothing runs, so
the clock costs a match nothing but to say what is being waited for.

In the main thread of a process, where matches and their workers play, the ticks are signals of the
interval timer (SIGALRM), which also end a sleep or a wait for input. Elsewhere, or where the signal
is taken or unknown, a thread ticks and raises the exception from outside: that ends any Python code,
but a call that waits in the system only when it returns. Compiled code that never returns, and an
agent that catches `BaseException`, can be stopped by neither: they belong in a process of their own,
at the other end of the dealer's sockets.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

#: Ticks within the limit, and the least and most seconds between two.
_TICKS = 8
_LEAST_TICK, _MOST_TICK = 0.005, 1.0


class Overdue(BaseException):
    """Raised inside a decision that takes too long; not an `Exception`, which agents may catch."""


class _Waiting:
    """Counts the ticks at which the same thing is waited for."""

    def __init__(self, waiting: Callable[[], object | None], seconds: float) -> None:
        self.tick = min(max(seconds / _TICKS, _LEAST_TICK), _MOST_TICK)
        self._waiting = waiting
        self._allowed = seconds / self.tick
        self._last: object | None = None
        self._ticks = 0

    def overdue(self) -> bool:
        """Look, at a tick."""
        now = self._waiting()
        if now is None or now is not self._last:
            self._last, self._ticks = now, 0
            return False
        self._ticks += 1
        return self._ticks >= self._allowed


@contextmanager
def shot_clock(waiting: Callable[[], object | None], seconds: float) -> Iterator[None]:
    """Raise :class:`Overdue` in this thread while `waiting()` stays the same object for too long.

    >>> decision = object()
    >>> try:
    ...     with shot_clock(lambda: decision, 0.05):
    ...         while True:
    ...             pass
    ... except Overdue:
    ...     print("called away")
    called away
    """
    watch = _Waiting(waiting, seconds)
    with _signals(watch) if _can_signal() else _thread(watch):
        yield


def _can_signal() -> bool:
    """Whether the interval timer is here to be used, and nobody uses it."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )


@contextmanager
def _signals(watch: _Waiting) -> Iterator[None]:
    def look(number: int, frame: FrameType | None) -> None:
        if watch.overdue():
            raise Overdue

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, watch.tick, watch.tick)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def _thread(watch: _Waiting) -> Iterator[None]:
    player = ctypes.c_ulong(threading.get_ident())
    over = threading.Event()

    def look() -> None:
        while not over.wait(watch.tick):
            if watch.overdue():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(player, ctypes.py_object(Overdue))

    ticker = threading.Thread(target=look, name="shot clock", daemon=True)
    ticker.start()
    try:
        yield
    finally:
        over.set()
        ticker.join()

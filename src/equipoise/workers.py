"""Processes that work for this one, and that end when it does.

A process that is killed cannot tell its workers to stop: without a guard they live on, each with all
the memory it had. So every worker keeps watch over the process that started it, in a thread that
sleeps until that process is gone, and then ends at once.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from typing import Any

from equipoise.errors import EquipoiseError

#: More processes than this are a slip of the finger on any machine.
MOST_WORKERS = 1024


def check_workers(workers: int) -> None:
    """Refuse a number of processes that cannot be meant.

    >>> check_workers(0)
    Traceback (most recent call last):
        ...
    equipoise.errors.EquipoiseError: workers = 0: choose from 1 to 1024
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise EquipoiseError(f"workers = {workers}: choose from 1 to {MOST_WORKERS}")


def start_pool(
    workers: int, enter: Callable[..., object], *args: Any, may_fork: bool = False
) -> ProcessPoolExecutor:
    """A pool of processes, each of which calls `enter(*args)` before anything else.

    With `may_fork` they are copies of this process where that is safe, which starts them at once
    and needs nothing of `args` to be picklable; otherwise they begin anew.
    """
    # A process with threads must not fork.
    can_fork = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if may_fork and can_fork else "spawn")
    return ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(enter, args))


def worked(
    pool: ProcessPoolExecutor, work: Callable[[Any], Any], parts: Iterable[Any], cure: str
) -> Generator[Any, None, None]:
    """What a pool makes of all parts, in their order; then, or when nobody listens any more, it ends."""
    try:
        yield from pool.map(work, parts)
    except BrokenProcessPool:
        raise EquipoiseError(f"a worker died, of memory or of an agent's crash: {cure}") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(enter: Callable[..., object], args: tuple[Any, ...]) -> None:
    follow_parent()
    enter(*args)


def follow_parent() -> None:
    """End this process as soon as the one that started it is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def follow() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=follow, name="parent watch", daemon=True).start()


def available_bytes() -> int:
    """Memory that can be taken without swapping.

    >>> available_bytes() > 10_000_000
    True
    """
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))

"""Processes that work for this one, and that end when it does.

A process that is killed cannot tell its workers to stop: without a guard they live on, each with all
the memory it had. So every worker keeps watch over the process that started it, in a thread that
sleeps until that process is gone, and then ends at once.

Inside :func:`cluster` the workers are processes of a Ray cluster instead, on whatever machines it has;
who works for whom and in which order results come does not change. Ray sees to it that they end.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
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
) -> Executor:
    """A pool of processes, each of which calls `enter(*args)` before anything else.

    With `may_fork` they are copies of this process where that is safe, which starts them at once
    and needs nothing of `args` to be picklable; otherwise they begin anew. On a cluster they are
    processes of it.
    """
    if (ray := _joined.get()) is not None:
        return _ClusterPool(ray, workers, enter, args)
    # A process with threads must not fork.
    can_fork = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if may_fork and can_fork else "spawn")
    return ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(enter, args))


def worked(
    pool: Executor, work: Callable[[Any], Any], parts: Iterable[Any], cure: str
) -> Generator[Any, None, None]:
    """What a pool makes of all parts, in their order; then, or when nobody listens any more, it ends."""
    try:
        yield from pool.map(work, parts)
    except BrokenProcessPool:
        raise EquipoiseError(f"a worker died, of memory or of an agent's crash: {cure}") from None
    finally:
        pool.shutdown(cancel_futures=True)


# -------------------------------------------------------------------------------------- a cluster

#: Seconds to wait for an answer at an address.
_PATIENCE = 5.0
#: What a client of HTTP/2 says first, as Ray's do: the preface, and settings that change nothing.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
#: How records of TLS begin: an alert, a handshake.
_TLS = (21, 22)
#: Jobs that wait at each process of a cluster, so that none idles while a message travels.
_AHEAD = 2
#: Ray, once a cluster is joined.
_joined: ContextVar[Any] = ContextVar("cluster", default=None)


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Inside this block workers are processes of the Ray cluster at `address`.

    "auto" is the cluster of this machine, "local" one that is started here; with None nothing changes.
    """
    if address is None:
        yield
        return
    token = _joined.set(join_cluster(None if address == "local" else address))
    try:
        yield
    finally:
        _joined.reset(token)


def on_cluster() -> bool:
    """Whether workers are processes of a cluster, which may be on other machines."""
    return _joined.get() is not None


def cluster_cores() -> int:
    """Processes that the joined cluster has room for."""
    return max(1, int(_joined.get().cluster_resources().get("CPU", 1)))


def check_room(ray: Any, workers: int) -> None:
    """Refuse more processes than a cluster has room for: they would be waited for without end."""
    room = int(ray.cluster_resources().get("CPU", 0))
    if workers > room:
        raise EquipoiseError(
            f"workers = {workers}: the cluster has room for {room}, choose at most so many or add "
            "machines to it"
        )


def join_cluster(address: str | None, workers: int = 1) -> Any:
    """Ray, joined to the cluster at `address`, or to one that is started here for `workers`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would else hide accelerators from processes that ask for none, and say so at length.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise EquipoiseError(
            "a cluster needs Ray, which is not installed: pip install 'equipoise[distributed]'"
        ) from None
    if ray.is_initialized():
        return ray
    told: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        here = max(workers, len(os.sched_getaffinity(0)))
        try:
            ray.init(num_cpus=here, include_dashboard=False, **told)
        except Exception as error:  # Ray raises no narrower kind
            raise EquipoiseError(
                f"a Ray cluster cannot be started here ({_first_sentence(error)}): see that there is "
                "memory and room in the folder for temporary files, or work without --address"
            ) from None
        return ray
    check_address(address)
    try:
        ray.init(address=address, **told)
    except Exception as error:  # as above
        raise EquipoiseError(
            f"the Ray cluster at {address} cannot be joined ({_first_sentence(error)}): start one with "
            "`ray start --head`, of the same versions of Ray and Python"
        ) from None
    return ray


def _first_sentence(error: Exception) -> str:
    said = str(error).strip() or type(error).__name__
    return said.splitlines()[0].partition(". ")[0].rstrip(".:")


def check_address(address: str | None) -> None:
    """Refuse an address at which no cluster answers: Ray itself would wait for minutes."""
    if address is None or address in ("auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        number = int(port)
        if not host or not 0 < number < 65_536:
            raise ValueError
    except ValueError:
        raise EquipoiseError(
            f"address = {address!r}: give HOST:PORT of a Ray cluster, auto or local"
        ) from None
    try:
        with socket.create_connection((host, number), timeout=_PATIENCE) as there:
            there.sendall(_GREETING)
            frame = there.recv(9)
    except OSError:
        frame = b""
    if not frame:
        raise EquipoiseError(
            f"nobody answers at {address}: start a cluster with `ray start --head`, or check the "
            "address"
        )
    # A frame of settings, in clear or within TLS.
    if frame[3:4] != b"\x04" and frame[0] not in _TLS:
        raise EquipoiseError(
            f"what answers at {address} is no Ray cluster: give the address that `ray start` told"
        )


class _ClusterWorker:
    """A process of the cluster."""

    def __init__(self, enter: Callable[..., object], args: tuple[Any, ...]) -> None:
        enter(*args)

    def work(self, job: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return job(*args)


class _ClusterPool(Executor):
    """Processes of a cluster behind the interface of the local ones."""

    def __init__(
        self, ray: Any, workers: int, enter: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        self._ray, self._lock = ray, threading.Lock()
        check_room(ray, workers)
        kind = ray.remote(num_cpus=1)(_ClusterWorker)
        self._actors = [kind.remote(enter, args) for _ in range(workers)]
        self._busy = [0] * workers
        self._waiting: deque[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = deque()
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand in a job; keywords are not for this pool."""
        assert not kwargs
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((future, fn, args))
        self._hand_out()
        return future

    def _hand_out(self) -> None:
        with self._lock:
            while self._waiting and not self._closed and min(self._busy) < _AHEAD:
                k = self._busy.index(min(self._busy))
                future, job, args = self._waiting.popleft()
                if not future.set_running_or_notify_cancel():
                    continue
                self._busy[k] += 1
                there = self._actors[k].work.remote(job, args).future()
                there.add_done_callback(
                    lambda done, k=k, future=future: self._done(k, future, done)
                )

    def _done(self, k: int, future: Future[Any], done: Future[Any]) -> None:
        with self._lock:
            self._busy[k] -= 1
        error = done.exception()
        if error is None:
            future.set_result(done.result())
        elif isinstance(error, self._ray.exceptions.RayActorError):
            future.set_exception(BrokenProcessPool("a process of the cluster was lost"))
        else:
            # A job's own error, as it was raised there.
            future.set_exception(getattr(error, "cause", None) or error)
        self._hand_out()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, and whatever they are at."""
        with self._lock:
            self._closed = True
            left, self._waiting = list(self._waiting), deque()
        for future, _, _ in left:
            future.cancel()
        for actor in self._actors:
            self._ray.kill(actor)


# ------------------------------------------------------------------------------ processes from here


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


def memory_of_process() -> int:
    """Memory that this process has in use.

    >>> memory_of_process() > 1_000_000
    True
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0

"""Work that takes longer than a page may wait: in processes of its own, with progress and cancel.

    def work(listener, stop, spot_text):              # a function at the top of some module
        return solve_spot(…, listener=listener, stop=stop).to_dict()

    job = jobs.submit("long", work, spot_text, label="flop", key=f"{visitor} flop")
    job.state, job.event                               # looked at by a timer of the page
    result = await job.answer()                        # or waited for; EquipoiseError if it failed
    job.cancel()

`work` gets a listener for :class:`~equipoise.run.Event`, a :class:`~equipoise.run.Stop` that `cancel`
sets, and its arguments; these and its result are pickled. Jobs of a *lane* are done in turn by its
processes: `table` for agents that are to act, `long` for solves and reviews, so that nobody waits at a
table for somebody's flop. A job that does not heed its flag is ended with its process, which is then
started anew; so is a process that dies, and its job says so.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Literal

from equipoise.errors import EquipoiseError
from equipoise.run import Event, Stop
from equipoise.workers import follow_parent

Work = Callable[..., Any]
#: What becomes of a job.
Standing = Literal["waiting", "running", "done", "failed", "cancelled"]

#: Processes of each lane.
LANES: Mapping[str, int] = {"table": 1, "long": 1}
#: How far the processes of a lane stand back for others: a solve takes all cores, and pages come first.
_NICENESS = {"long": 5}
#: Seconds that a cancelled job may still take.
_GRACE = 4.0
#: Finished jobs that are remembered, and jobs that may wait in a lane.
_REMEMBERED, _MOST_WAITING = 200, 200


class Job:
    """One piece of work."""

    def __init__(
        self, lane: str, work: Work, args: tuple[Any, ...], label: str, key: str, grace: float
    ) -> None:
        self.id = secrets.token_hex(8)
        self.lane, self.label, self.key = lane, label, key
        #: How far it is; None until it first says so.
        self.event: Event | None = None
        #: The events that told an exploitability.
        self.looks: list[Event] = []
        self.state: Standing = "waiting"
        #: Why it failed, in one sentence.
        self.error = ""
        #: Seconds it may still take once it is cancelled.
        self.grace = grace
        self._call = (work, args)
        self._future: Future[Any] = Future()
        self._cancelled = threading.Event()
        self._turning = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def result(self) -> Any:
        """What it made, once it is done."""
        return self._future.result() if self.state == "done" else None

    async def answer(self) -> Any:
        """What it makes, when it is there; an :class:`EquipoiseError` says why it did not."""
        return await asyncio.wrap_future(self._future)

    def cancel(self) -> None:
        """It is no longer wanted; one that has not begun is over at once."""
        self._cancelled.set()
        self._end("cancelled", only_waiting=True)

    @property
    def cancelling(self) -> bool:
        """Whether it was cancelled and is not over yet."""
        return self._cancelled.is_set() and not self.over

    def _begin(self) -> bool:
        """Whether it is still wanted, and runs from now on."""
        with self._turning:
            if not self.over:
                self.state = "running"
            return not self.over

    def _end(
        self, state: Standing, result: Any = None, error: str = "", only_waiting: bool = False
    ) -> None:
        with self._turning:
            if self.over or (only_waiting and self.state != "waiting"):
                return
            self.error = error
            # The state is set before who waits is told.
            self.state = state
        if state == "done":
            self._future.set_result(result)
        else:
            self._future.set_exception(EquipoiseError(error or "it was cancelled"))


class Jobs:
    """All jobs of a server, and the processes that do them."""

    def __init__(self, lanes: Mapping[str, int] = LANES) -> None:
        self._queues: dict[str, SimpleQueue[Job | None]] = {lane: SimpleQueue() for lane in lanes}
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(
                target=_Attendant(queue, _NICENESS.get(lane, 0)).run,
                name=f"{lane} jobs",
                daemon=True,
            )
            for lane, queue in self._queues.items()
            for _ in range(lanes[lane])
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        lane: str,
        work: Work,
        *args: Any,
        label: str = "",
        key: str = "",
        grace: float = _GRACE,
    ) -> Job:
        """Have something done; a job of the same key that is not over yet is that job.

        One that is cancelled and not over after `grace` seconds is ended with its process.
        """
        with self._lock:
            same = self._alive(key)
            if same is not None:
                return same
            if self._queues[lane].qsize() >= _MOST_WAITING:
                raise EquipoiseError("too many jobs are waiting: try again in a while")
            job = Job(lane, work, args, label, key, grace)
            self._jobs[job.id] = job
            for old in [id for id, kept in self._jobs.items() if kept.over][:-_REMEMBERED]:
                del self._jobs[old]
        self._queues[lane].put(job)
        return job

    def find(self, key: str) -> Job | None:
        """The job of a key that is not over yet."""
        with self._lock:
            return self._alive(key)

    def _alive(self, key: str) -> Job | None:
        jobs = (job for job in self._jobs.values() if key and job.key == key and not job.over)
        return next(jobs, None)

    def close(self) -> None:
        """Cancel everything and let the processes end."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel()
        for queue in self._queues.values():
            for _ in self._threads:
                queue.put(None)
        for thread in self._threads:
            thread.join(timeout=2)


class _Attendant:
    """A thread that hands the jobs of a lane to a process, and hears what it says."""

    def __init__(self, queue: SimpleQueue[Job | None], niceness: int = 0) -> None:
        self._queue, self._niceness = queue, niceness
        self._process: Any = None
        self._pipe: Connection | None = None
        self._flag: Any = None

    def run(self) -> None:
        """Until there is nothing more to do."""
        while (job := self._queue.get()) is not None:
            try:
                self._attend(job)
            except Exception as error:  # whoever waits for the job must hear of it
                self._dismiss()
                job._end("failed", error=f"{type(error).__name__}: {error}")
        self._dismiss()

    def _attend(self, job: Job) -> None:
        if not job._begin():
            return
        pipe = self._hired()
        self._flag.clear()
        try:
            pipe.send_bytes(pickle.dumps(job._call))
        except (OSError, EOFError):
            self._dismiss()
            job._end("failed", error="a worker died: try again")
            return
        patience = job.grace
        while not job.over:
            if job._cancelled.is_set():
                self._flag.set()
                patience -= 0.1
                if patience < 0:
                    self._dismiss()
                    job._end("cancelled")
                    return
            try:
                if not pipe.poll(0.1):
                    continue
                kind, told = pickle.loads(pipe.recv_bytes())
            except (EOFError, OSError):
                self._dismiss()
                job._end("failed", error="a worker died, perhaps of memory: try something smaller")
                return
            if kind == "event":
                job.event = told
                if told.exploitability_chips is not None:
                    job.looks.append(told)
            elif job._cancelled.is_set():
                job._end("cancelled")
            elif kind == "done":
                job._end("done", told)
            else:
                job._end("failed", error=told)

    def _hired(self) -> Connection:
        """The pipe to a living process."""
        if self._pipe is None or not self._process.is_alive():
            self._dismiss()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._flag = context.Event()
            self._process = context.Process(
                target=_serve, args=(theirs, self._flag, self._niceness), daemon=True
            )
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        return self._pipe

    def _dismiss(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection, flag: Any, niceness: int) -> None:
    """The life of a process: call after call, until nobody is there any more."""
    follow_parent()
    import signal

    if niceness and hasattr(os, "nice"):
        os.nice(niceness)

    # Ctrl-C is for the server, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def listener(event: Event) -> None:
        pipe.send_bytes(pickle.dumps(("event", event)))

    while True:
        try:
            work, args = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            said = "done", work(listener, Stop(flag), *args)
        except EquipoiseError as error:
            said = "failed", str(error)
        except MemoryError:
            said = "failed", "not enough memory: ask for less"
        except Exception as error:  # a job's fault is told, and the process goes on
            said = "failed", f"{type(error).__name__}: {error}"
        try:
            data = pickle.dumps(said)
        except Exception as error:
            data = pickle.dumps(("failed", f"the answer cannot be sent: {error}"))
        pipe.send_bytes(data)

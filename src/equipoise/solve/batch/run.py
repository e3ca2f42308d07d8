"""Solving a batch: on all cores, each answer written at once, so that a stop loses little.

Small spots use cores best one spot a core, so each of several processes solves spots on one thread.
A spot larger than a process's share of the memory waits until the others are done and then has the
machine to itself; so does a spot whose process died, to tell whether it was to blame.

Running the same batch again solves what is missing, damaged or changed (:mod:`.results`), and nothing
else.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from equipoise.errors import EquipoiseError, SolverError, TooLargeError
from equipoise.kernel import cores
from equipoise.run import Event, Flag, Limit, Listener, Stop
from equipoise.solve.batch.jobs import Batch, SpotJob
from equipoise.solve.batch.results import LIMIT, JobOutcome, Result, Results, summary
from equipoise.solve.solvers.cfr import Storage
from equipoise.solve.spots.cost import check_fits
from equipoise.solve.spots.solution import solve_spot
from equipoise.workers import available_bytes, start_pool

#: Share of the free memory that all processes together may fill.
_SHARE = 0.8
#: Seconds between looks at whether somebody wants the processes to stop.
_GLANCE = 0.1


def run_batch(
    batch: Batch,
    folder: str | Path,
    limit: Limit = LIMIT,
    workers: int | None = None,
    threads: int | None = None,
    through: str | None = None,
    listener: Listener | None = None,
    storage: Storage = "32-bit",
    stop: Stop | None = None,
) -> list[JobOutcome]:
    """Solve what is not solved yet, and tell what became of every job, in the order of the batch.

    Each spot is solved to `limit`, whose exploitability is in percent of its own pot. `workers`
    processes (by default one a core) solve a spot each on `threads` threads (by default one); with one
    worker everything happens in this process. With `through`, solutions are kept up to that street. A
    spot that fails is told as such and does not stop the others. Once `stop` is set, what is solved
    stays, jobs not done have no outcome, and the same call goes on from there.
    """
    _check(batch, limit, workers, threads, through)
    results, stop = Results(folder, limit, storage, through), stop or Stop()
    results.make_folders()
    found = [(job, results.read(job)) for job in batch.jobs]
    todo = [job for job, told in found if told is None]
    outcomes = {
        job.name: JobOutcome(job, told, resumed=True) for job, told in found if told is not None
    }
    resumed = len(outcomes)

    def tell(outcome: JobOutcome | None) -> None:
        if outcome is not None:
            outcomes[outcome.job.name] = outcome
        if listener is not None:
            failed = sum(1 for known in outcomes.values() if known.result is None)
            name = outcome.job.name if outcome is not None else ""
            total = len(batch.jobs)
            listener(Event(len(outcomes), total, name, resumed=resumed, failed=failed))

    tell(None)
    processes = min(workers or cores(), len(todo))
    with stop.watching():
        if processes > 1:
            _Crew(results, processes, threads or 1, stop).run(todo, tell)
        else:
            for job in todo:
                work = partial(_solve, job, results, threads or cores(), stop=stop)
                if (outcome := _attempt(work, job)) is not None:
                    tell(outcome)
    return [outcomes[job.name] for job in batch.jobs if job.name in outcomes]


def _check(
    batch: Batch, limit: Limit, workers: int | None, threads: int | None, through: str | None
) -> None:
    for name, value in (("workers", workers), ("threads", threads)):
        if value is not None and value < 1:
            raise SolverError(f"{name} = {value}: at least 1")
    if limit.exploitability_chips is not None or limit.exploitability_bb is not None:
        raise SolverError("spots differ in their pots: give the exploitability in % of the pot")
    if (limit.exploitability_pct_pot, limit.seconds, limit.iterations) == (0, None, None):
        raise SolverError("a target of 0 is never reached: give seconds or iterations too")
    if through is None:
        return
    for job in batch.jobs:
        if through not in job.spot.streets:
            raise SolverError(
                f"'{job.name}' has no {through}: keep solutions through one of "
                f"{', '.join(job.spot.streets)}"
            )


def _attempt(solve: Callable[[], Result | None], job: SpotJob) -> JobOutcome | None:
    """Solve a job; whatever goes wrong is its own failure. None if it was stopped."""
    try:
        result = solve()
        return None if result is None else JobOutcome(job, result)
    except EquipoiseError as error:
        return JobOutcome(job, None, str(error))
    except BrokenProcessPool:
        return JobOutcome(job, None, "its process died, perhaps for want of memory: cut the spot")
    except Exception as error:
        return JobOutcome(job, None, f"{type(error).__name__}: {error}")


#: In a worker: set when it is to stop, by the process that started it.
_stop = Stop()


def _solve(
    job: SpotJob,
    results: Results,
    threads: int,
    limit_bytes: int | None = None,
    stop: Stop | None = None,
) -> Result | None:
    """Solve a job and write its answer; the solution first, so that an answer means both.

    None, and nothing written, if it was stopped.
    """
    stop, limit = stop or _stop, results.limit
    if stop.is_set():
        return None
    if limit_bytes is not None:
        check_fits(job.spot, limit_bytes, results.storage == "16-bit")
    solution = solve_spot(
        job.spot,
        limit.exploitability_pct_pot,
        limit.seconds,
        limit.iterations,
        threads=threads,
        storage=results.storage,
        stop=stop,
    )
    if stop.is_set():
        return None
    kept = results.solution_path(job)
    if kept is not None:
        solution.save(kept, results.through)
    result = summary(solution)
    results.write(job, result)
    return result


class _Crew:
    """Processes that share the jobs of a batch."""

    def __init__(
        self, results: Results, workers: int, threads: int, stop: Stop | None = None
    ) -> None:
        self.results, self.workers, self.threads = results, workers, threads
        self._stop = stop or Stop()
        #: Set for the processes when :attr:`_stop` is, and when this one fails.
        self._flag: Flag = multiprocessing.get_context("spawn").Event()
        self._share = int(_SHARE * available_bytes() / workers)

    def run(self, jobs: Sequence[SpotJob], tell: Callable[[JobOutcome], None]) -> None:
        """Solve jobs side by side, then one at a time those that need the machine to themselves."""
        waiting, alone = deque(jobs), deque[SpotJob]()
        while waiting and not self._stop.is_set():
            with self._pool(self.workers) as pool:
                self._share_out(pool, waiting, alone, tell)
        while alone and not self._stop.is_set():
            with self._pool(1) as pool:
                broken = False
                while alone and not broken and not self._stop.is_set():
                    job, threads = alone.popleft(), self.workers * self.threads
                    running = self._submit(pool, job, threads, None)
                    self._finished([running])
                    outcome = _attempt(running.result, job)
                    broken = isinstance(running.exception(), BrokenProcessPool)
                    if outcome is not None:
                        tell(outcome)

    def _share_out(
        self,
        pool: ProcessPoolExecutor,
        waiting: deque[SpotJob],
        alone: deque[SpotJob],
        tell: Callable[[JobOutcome], None],
    ) -> None:
        """Keep all processes busy until nothing waits, one of them dies, or somebody stops them."""
        running: dict[Future[Result | None], SpotJob] = {}
        while (waiting and not self._stop.is_set()) or running:
            while waiting and len(running) < 2 * self.workers and not self._stop.is_set():
                job = waiting.popleft()
                running[self._submit(pool, job, self.threads, self._share)] = job
            finished = self._finished(running)
            broken = False
            for future in [future for future in running if future in finished]:
                job, error = running.pop(future), future.exception()
                if isinstance(error, TooLargeError | BrokenProcessPool):
                    alone.append(job)
                    broken |= isinstance(error, BrokenProcessPool)
                elif (outcome := _attempt(future.result, job)) is not None:
                    tell(outcome)
            if broken:
                alone.extend(running.values())
                return

    def _finished(self, running: Collection[Future[Result | None]]) -> set[Future[Result | None]]:
        """Wait for some of the jobs that run; a stop makes all of them end soon."""
        while True:
            finished, _ = wait(running, timeout=_GLANCE, return_when=FIRST_COMPLETED)
            if self._stop.is_set():
                self._flag.set()
            if finished:
                return finished

    def _submit(
        self, pool: ProcessPoolExecutor, job: SpotJob, threads: int, limit_bytes: int | None
    ) -> Future[Result | None]:
        try:
            with _sigint_held():
                return pool.submit(_solve, job, self.results, threads, limit_bytes)
        except BrokenProcessPool as error:
            broken: Future[Result | None] = Future()
            broken.set_exception(error)
            return broken

    @contextlib.contextmanager
    def _pool(self, workers: int) -> Iterator[ProcessPoolExecutor]:
        pool = start_pool(workers, _enter, self._flag)
        try:
            yield pool
        except BaseException:
            self._flag.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _sigint_held() -> Iterator[None]:
    """Processes started in this block never see Ctrl-C: the one that started them stops them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _enter(flag: Flag) -> None:
    """Begin a worker, deaf to Ctrl-C."""
    global _stop
    _stop = Stop(flag)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

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
import tempfile
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

from equipoise.errors import EquipoiseError, SolverError, TooLargeError
from equipoise.files import written
from equipoise.kernel import cores
from equipoise.run import Event, Flag, Limit, Listener, Stop
from equipoise.solve.batch.jobs import Batch, SpotJob
from equipoise.solve.batch.results import LIMIT, JobOutcome, Result, Results, summary
from equipoise.solve.solvers.cfr import Storage
from equipoise.solve.spots.fitting import check_fits
from equipoise.solve.spots.solution import Solution, solve_spot
from equipoise.workers import available_bytes, cluster_cores, on_cluster, start_pool

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
    processes = min(workers or (cluster_cores() if on_cluster() else cores()), len(todo))
    with stop.watching():
        if processes > 1 or (todo and on_cluster()):
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
    solution = _solution(job, results, threads, limit_bytes, stop)
    if solution is None:
        return None
    kept = results.solution_path(job)
    if kept is not None:
        solution.save(kept, results.through)
    result = summary(solution)
    results.write(job, result)
    return result


def _solve_elsewhere(
    job: SpotJob, results: Results, threads: int, limit_bytes: int | None
) -> tuple[Result, bytes | None] | None:
    """Solve a job on a machine that need not see the folder: its answer and its solution's file."""
    solution = _solution(job, results, threads, limit_bytes)
    if solution is None:
        return None
    if results.solution_path(job) is None:
        return summary(solution), None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.solution"
        solution.save(path, results.through)
        return summary(solution), path.read_bytes()


def _write(
    job: SpotJob, results: Results, answer: tuple[Result, bytes | None] | None
) -> Result | None:
    """Write what was solved elsewhere."""
    if answer is None:
        return None
    result, solution = answer
    kept = results.solution_path(job)
    if kept is not None and solution is not None:
        with written(kept) as there:
            there.write(solution)
    results.write(job, result)
    return result


def _solution(
    job: SpotJob,
    results: Results,
    threads: int,
    limit_bytes: int | None = None,
    stop: Stop | None = None,
) -> Solution | None:
    """Solve a job; none if it was stopped."""
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
    return None if stop.is_set() else solution


class _StoppedElsewhereError(Exception):
    """A stop does not reach processes on other machines: they are ended as they are."""


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
        with contextlib.suppress(_StoppedElsewhereError):
            self._run(jobs, tell)

    def _run(self, jobs: Sequence[SpotJob], tell: Callable[[JobOutcome], None]) -> None:
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
                    outcome = _attempt(partial(self._answer, job, running), job)
                    broken = isinstance(running.exception(), BrokenProcessPool)
                    if outcome is not None:
                        tell(outcome)

    def _share_out(
        self,
        pool: Executor,
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
                elif (outcome := _attempt(partial(self._answer, job, future), job)) is not None:
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
                if on_cluster():
                    raise _StoppedElsewhereError
            if finished:
                return finished

    def _submit(
        self, pool: Executor, job: SpotJob, threads: int, limit_bytes: int | None
    ) -> Future[Result | None]:
        work: Callable[..., Any] = _solve_elsewhere if on_cluster() else _solve
        try:
            with _sigint_held():
                return pool.submit(work, job, self.results, threads, limit_bytes)
        except BrokenProcessPool as error:
            broken: Future[Result | None] = Future()
            broken.set_exception(error)
            return broken

    def _answer(self, job: SpotJob, done: Future[Any]) -> Result | None:
        """What became of a job; what was solved elsewhere is written here."""
        found: Any = done.result()
        if on_cluster():
            return _write(job, self.results, found)
        result: Result | None = found
        return result

    @contextlib.contextmanager
    def _pool(self, workers: int) -> Iterator[Executor]:
        # A flag does not reach another machine: there a stop ends the processes.
        pool = start_pool(workers, _enter, None if on_cluster() else self._flag)
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


def _enter(flag: Flag | None) -> None:
    """Begin a worker, deaf to Ctrl-C."""
    global _stop
    _stop = Stop(flag) if flag is not None else Stop()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

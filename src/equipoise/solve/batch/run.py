"""Solving a batch: on all cores, each answer written at once, so that a stop loses little.

Small spots use cores best one spot a core, so each of several processes solves spots on one thread.
A spot larger than a process's share of the memory waits until the others are done and then has the
machine to itself; so does a spot whose process died, to tell whether it was to blame.

The answer to a spot is a small JSON file named by the spot and by a hash of the spot and of what it
is solved to. It is moved into place whole and carries a checksum: running the same batch again
solves what is missing, damaged or changed, and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import re
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.synchronize import Event as StopFlag
from pathlib import Path
from typing import Any

from equipoise.artefact import fingerprint
from equipoise.errors import ArtefactError, EquipoiseError, SolverError, TooLargeError
from equipoise.files import sweep_leftovers, written
from equipoise.games.estimate import available_bytes
from equipoise.games.spot import Spot
from equipoise.kernel import cores
from equipoise.solve.batch.jobs import Batch, Job
from equipoise.solve.solvers.solver import Event
from equipoise.solve.spots.position import Position
from equipoise.solve.spots.solution import Solution, solve_spot
from equipoise.workers import start_pool

#: Changes whenever the meaning of a result does.
LAYOUT = 1
#: Share of the free memory that all processes together may fill.
_SHARE = 0.8
#: How the first decision is called among lines.
ROOT = "root"

Result = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    """What every spot of a batch is solved to: the first of these that is met."""

    #: Exploitability in percent of the pot.
    target_pct_pot: float = 0.5
    #: Seconds for a spot.
    seconds: float | None = None
    #: Iterations for a spot.
    iterations: int | None = None
    #: Numbers are kept in 16 bits.
    compressed: bool = False

    def __post_init__(self) -> None:
        for name in ("target_pct_pot", "seconds", "iterations"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise SolverError(f"{name} = {value}: give a number of 0 or more")
        if (self.target_pct_pot, self.seconds, self.iterations) == (0, None, None):
            raise SolverError("a target of 0 is never reached: give seconds or iterations too")


@dataclass(frozen=True)
class Outcome:
    """What became of a job."""

    job: Job
    #: What :func:`summary` told, or nothing if it failed.
    result: Result | None
    #: Why it failed.
    error: str = ""
    #: Whether it was solved before this run.
    resumed: bool = False


@dataclass(frozen=True)
class BatchEvent:
    """Progress of a batch."""

    #: Jobs solved, resumed or failed so far.
    done: int
    total: int
    #: Jobs that were solved before this run.
    resumed: int
    failed: int
    #: What was just done; empty at the start.
    name: str = ""


BatchListener = Callable[[BatchEvent], None]


def summary(solution: Solution) -> Result:
    """Figures of a solved spot: the whole, and the first decisions of both players.

    The lines are the first decision, and the decision after each of its actions: how often a line
    is taken, what it is worth to both players, and each action's frequency and value.
    """
    root = solution.at()
    lines = []
    if root.to_act is not None:
        lines.append(_line(root, 1.0))
        for action, reach in zip(root.actions, root.frequencies(), strict=True):
            after = root.step(action)
            if after.to_act is not None:
                lines.append(_line(after, float(reach)))
    told: Result = _known({**solution.to_dict(), "pot": solution.spot.pot, "lines": lines})
    return told


def _line(position: Position, reach: float) -> dict[str, Any]:
    who = position.to_act
    assert who is not None
    actions = []
    for action, frequency in zip(position.actions, position.frequencies(), strict=True):
        after = position.step(action)
        paid = after.state.committed[who] - position.state.committed[who]
        # Folding is worth 0 by definition, up to the rounding of sums.
        worth = 0.0 if action == "fold" else after.mean_ev(who) - paid
        actions.append({"action": action, "frequency": float(frequency), "ev_chips": worth})
    return {
        "line": ", ".join(position.line) or ROOT,
        "player": position.player,
        "pot": position.pot,
        "reach": reach,
        "ev_oop_chips": position.mean_ev("oop"),
        "ev_ip_chips": position.mean_ev("ip"),
        "equity_oop": position.mean_equity("oop"),
        "actions": actions,
    }


def _known(value: Any) -> Any:
    """Plain types, None for what is not a number."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return None if isinstance(value, float) and value != value else value


# ---------------------------------------------------------------------------------- on disk


class Results:
    """The answers of a batch in a folder, and solutions beside them if they are kept."""

    def __init__(self, folder: str | Path, goal: Goal, through: str | None = None) -> None:
        self.folder, self.goal = Path(folder), goal
        #: Street up to which whole solutions are kept; None for not at all.
        self.through = through

    def make_folders(self) -> None:
        """Make sure that answers can be written, before anything is solved."""
        for folder in (self.folder / "results", self.folder / "solutions"):
            if folder.name == "solutions" and self.through is None:
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ArtefactError(f"cannot make {folder}: {error.strerror}") from None
            sweep_leftovers(folder)

    def identity(self, spot: Spot) -> str:
        """A hash of a spot, whatever its name, and of what it is solved to."""
        settings = spot.to_dict()
        settings.pop("name", None)
        return fingerprint({"spot": settings, "goal": asdict(self.goal), "layout": LAYOUT})

    def path(self, job: Job) -> Path:
        """Where the answer to a job is."""
        return self.folder / "results" / f"{self._stem(job)}.json"

    def solution_path(self, job: Job) -> Path | None:
        """Where the solution of a job is kept, if it is."""
        if self.through is None:
            return None
        return self.folder / "solutions" / f"{self._stem(job)}.{self.through}.solution"

    def _stem(self, job: Job) -> str:
        readable = re.sub(r"[^A-Za-z0-9._-]+", "_", job.name)[:60]
        return f"{readable}-{self.identity(job.spot)}"

    def read(self, job: Job) -> Result | None:
        """The answer to a job; None if it is missing, damaged or another's."""
        try:
            told = json.loads(self.path(job).read_text(encoding="utf-8"))
            result = told["result"]
            if told["identity"] != self.identity(job.spot):
                return None
            if told["checksum"] != fingerprint(result) or not isinstance(result, dict):
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        kept = self.solution_path(job)
        return None if kept is not None and not kept.is_file() else result

    def write(self, job: Job, result: Result) -> None:
        """Write the answer, whole or not at all."""
        path = self.path(job)
        told = {
            "name": job.name,
            "identity": self.identity(job.spot),
            "checksum": fingerprint(result),
            "result": result,
        }
        with written(path, "w") as out:
            json.dump(told, out)


# ---------------------------------------------------------------------------------- running


def run_batch(
    batch: Batch,
    folder: str | Path,
    goal: Goal | None = None,
    workers: int | None = None,
    threads: int | None = None,
    through: str | None = None,
    listener: BatchListener | None = None,
) -> list[Outcome]:
    """Solve what is not solved yet, and tell what became of every job, in the order of the batch.

    `workers` processes (by default one a core) solve a spot each on `threads` threads (by default
    one); with one worker everything happens in this process. With `through`, solutions are kept up
    to that street. A spot that fails is told as such and does not stop the others. Ctrl-C does:
    what is solved stays, and the same call goes on from there.
    """
    for name, value in (("workers", workers), ("threads", threads)):
        if value is not None and value < 1:
            raise SolverError(f"{name} = {value}: at least 1")
    results = Results(folder, goal or Goal(), through)
    if through is not None:
        for job in batch.jobs:
            if through not in job.spot.streets:
                raise SolverError(
                    f"'{job.name}' has no {through}: keep solutions through one of "
                    f"{', '.join(job.spot.streets)}"
                )
    results.make_folders()
    outcomes: dict[str, Outcome] = {}
    todo: list[Job] = []
    for job in batch.jobs:
        found = results.read(job)
        if found is None:
            todo.append(job)
        else:
            outcomes[job.name] = Outcome(job, found, resumed=True)
    resumed = len(outcomes)

    def tell(outcome: Outcome | None) -> None:
        if outcome is not None:
            outcomes[outcome.job.name] = outcome
        if listener is not None:
            failed = sum(1 for known in outcomes.values() if known.result is None)
            name = outcome.job.name if outcome is not None else ""
            listener(BatchEvent(len(outcomes), len(batch.jobs), resumed, failed, name))

    tell(None)
    processes = min(workers or cores(), len(todo))
    if processes > 1:
        _Crew(results, processes, threads or 1).run(todo, tell)
    else:
        for job in todo:
            tell(_attempt(partial(_solve, job, results, threads or cores()), job))
    return [outcomes[job.name] for job in batch.jobs]


def _attempt(solve: Callable[[], Result], job: Job) -> Outcome:
    """Solve a job; whatever goes wrong is its own failure."""
    try:
        return Outcome(job, solve())
    except EquipoiseError as error:
        return Outcome(job, None, str(error))
    except BrokenProcessPool:
        return Outcome(job, None, "its process died, perhaps for want of memory: cut the spot")
    except Exception as error:
        return Outcome(job, None, f"{type(error).__name__}: {error}")


#: In a worker: set when it is to stop, by the process that started it.
_stop: StopFlag | None = None


def _solve(job: Job, results: Results, threads: int, limit_bytes: int | None = None) -> Result:
    """Solve a job and write its answer; the solution first, so that an answer means both."""
    goal = results.goal

    def hear(event: Event | None = None) -> None:
        if _stop is not None and _stop.is_set():
            raise KeyboardInterrupt

    hear()
    if limit_bytes is not None:
        job.spot.check_fits(limit_bytes, goal.compressed)
    solution = solve_spot(
        job.spot,
        goal.target_pct_pot,
        goal.seconds,
        goal.iterations,
        threads=threads,
        compressed=goal.compressed,
        listener=hear,
    )
    kept = results.solution_path(job)
    if kept is not None:
        solution.save(kept, results.through)
    result = summary(solution)
    results.write(job, result)
    return result


class _Crew:
    """Processes that share the jobs of a batch."""

    def __init__(self, results: Results, workers: int, threads: int) -> None:
        self.results, self.workers, self.threads = results, workers, threads
        self._stop = multiprocessing.get_context("spawn").Event()
        self._share = int(_SHARE * available_bytes() / workers)

    def run(self, jobs: Sequence[Job], tell: Callable[[Outcome], None]) -> None:
        """Solve jobs side by side, then one at a time those that need the machine to themselves."""
        waiting, alone = deque(jobs), deque[Job]()
        while waiting:
            with self._pool(self.workers) as pool:
                self._share_out(pool, waiting, alone, tell)
        while alone:
            with self._pool(1) as pool:
                broken = False
                while alone and not broken:
                    job, threads = alone.popleft(), self.workers * self.threads
                    running = self._submit(pool, job, threads, None)
                    outcome = _attempt(running.result, job)
                    broken = isinstance(running.exception(), BrokenProcessPool)
                    tell(outcome)

    def _share_out(
        self,
        pool: ProcessPoolExecutor,
        waiting: deque[Job],
        alone: deque[Job],
        tell: Callable[[Outcome], None],
    ) -> None:
        """Keep all processes busy until nothing waits, or until one of them dies."""
        running: dict[Future[Result], Job] = {}
        while waiting or running:
            while waiting and len(running) < 2 * self.workers:
                job = waiting.popleft()
                running[self._submit(pool, job, self.threads, self._share)] = job
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            broken = False
            for future in [future for future in running if future in finished]:
                job, error = running.pop(future), future.exception()
                if isinstance(error, TooLargeError | BrokenProcessPool):
                    alone.append(job)
                    broken |= isinstance(error, BrokenProcessPool)
                else:
                    tell(_attempt(future.result, job))
            if broken:
                alone.extend(running.values())
                return

    def _submit(
        self, pool: ProcessPoolExecutor, job: Job, threads: int, limit_bytes: int | None
    ) -> Future[Result]:
        try:
            with _sigint_held():
                return pool.submit(_solve, job, self.results, threads, limit_bytes)
        except BrokenProcessPool as error:
            broken: Future[Result] = Future()
            broken.set_exception(error)
            return broken

    @contextlib.contextmanager
    def _pool(self, workers: int) -> Iterator[ProcessPoolExecutor]:
        pool = start_pool(workers, _enter, self._stop)
        try:
            yield pool
        except BaseException:
            self._stop.set()
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


def _enter(stop: StopFlag) -> None:
    """Begin a worker, deaf to Ctrl-C."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)

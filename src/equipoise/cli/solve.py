"""`equipoise solve`: solve a postflop spot exactly, look at it, keep it."""

from __future__ import annotations

import itertools
import math
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from equipoise.cli.output import (
    MOST_THREADS,
    Json,
    Overwrite,
    StorageOrFit,
    check_number,
    check_picture,
    check_positive,
    check_storage,
    emit,
    progress_bar,
)
from equipoise.cli.stopping import INTERRUPTED, stopped_by_signals
from equipoise.errors import EquipoiseError, FileError
from equipoise.settings import brief

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.games.spot import Spot
    from equipoise.run import Event
    from equipoise.solve.spots.show import ShownPosition
    from equipoise.solve.spots.solution import Solution

#: Iterations that a spot typically takes to 0.3 % of the pot, and how they grow with precision:
#: a third of the exploitability takes about twice as many.
_TYPICAL_ITERATIONS, _TYPICAL_TARGET, _GROWTH = 120, 0.3, 0.64
#: Exploitability that is solved to unless told otherwise, in % of the pot.
_TARGET = 0.3
#: How a lock ends that says how often actions are taken over all hands.
_OVERALL = " overall"
#: Seconds between the saves of a solve that takes long.
_SAVE_EVERY = 120.0


_Line = Annotated[
    str | None,
    typer.Option(help="Begin after this betting on the street, such as 'check, bet 50'."),
]
_At = Annotated[
    str, typer.Option(help="Show this position, such as 'check, bet 50'; else the first.")
]
_Locks = Annotated[
    list[str] | None,
    typer.Option(help="Fix a decision: 'check, bet 50: fold=1', add 'for 22+' or 'overall'."),
]
_Solver = Annotated[
    str, typer.Option(help="cfr, which iterates, or lp, a river by linear program, at once.")
]
_Buckets = Annotated[
    int | None, typer.Option(help="With lp: buckets of like hands for each player; else all hands.")
]
_Bucketing = Annotated[
    str, typer.Option(help="With --buckets: by quantile or width of equity, or blockers.")
]
_Tremble = Annotated[
    float | None,
    typer.Option(help="With lp: least chance of every action; 1e-4 with --buckets, else 0."),
]


def solve_command(
    spot: Annotated[
        Path | None, typer.Argument(help="TOML file of the spot, or a saved solution.")
    ] = None,
    target_pct_pot: Annotated[
        float | None,
        typer.Option(help=f"Stop at this exploitability, in % of the pot; {_TARGET} if not given."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this long.")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Stop after this many, those before a resume included.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads; they share the cards to come.")] = 1,
    storage: StorageOrFit = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the solution here, every few minutes and at the end.")
    ] = None,
    through: Annotated[
        str | None, typer.Option(help="Save and export only up to this street.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this saved solution of the spot.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write every decision as .csv, .parquet or .json.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the strategy into this png, svg or pdf.")
    ] = None,
    line: _Line = None,
    at: _At = "",
    lock: _Locks = None,
    solver: _Solver = "cfr",
    buckets: _Buckets = None,
    bucketing: _Bucketing = "quantile",
    tremble: _Tremble = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Solve a river, turn or flop spot exactly, until hardly anything can be gained against it.

    \b
    Example: equipoise solve spot.toml --target-pct-pot 0.3 --save spot.solution
    Example: equipoise solve spot.solution --target-pct-pot 0.1 --at 'check, bet 50'
    Example: equipoise solve spot.toml --lock 'check, bet 50: fold=1'
    Example: equipoise solve spot.toml --lock 'check: bet 50=0.3 overall'
    Example: equipoise solve spot.toml --line 'check, bet 50'
    Example: equipoise solve river.toml --solver lp --buckets 20 --bucketing blockers

    After --line, or `line` of the spot, the ranges are those with which both players get there, and
    percentages are of the pot there, bets included.

    Ctrl-C stops the solve and saves what there is. A solve that takes long saves itself every few
    minutes, to --save or to a file that it names; `equipoise solve FILE` goes on from there.
    """
    goal = _Goal(target_pct_pot, seconds, iterations, threads)
    files = _Files(save, export, plot, through)
    files.check(spot, overwrite)
    program = _Program(solver, buckets, bucketing, tremble)
    program.check(goal, resume, storage, lock)
    solution = program.solved(spot, line) or _solution(spot, resume, goal, storage, line, lock)
    overall = [words for words in lock or [] if words.strip().endswith(_OVERALL)]
    _lock_all(solution, (words for words in lock or [] if words not in overall))
    if solution.solver is None and not program.wanted and goal.wants_more(solution):
        raise EquipoiseError("this file keeps only the answer, which cannot be solved further")
    files.check_contents(solution, solution.at(at) if at else solution.at())
    kept = save or _free_name(spot or resume)
    goal.announce(solution, json)
    stopped = solution.solver is not None and _run(solution, goal, kept, quiet=json)
    if overall and not stopped:
        # Which hands lose least is known once the rest is solved.
        _lock_all(solution, overall)
        stopped = _run(solution, goal, kept, quiet=json)
    position = solution.at(at) if at else solution.at()
    told = files.write(solution, position, kept, stopped)
    data = solution.to_dict() | ({"position": position.to_dict()} if at else {}) | told.data
    emit(data, json, lambda: _shown(solution, position, told.lines))
    if stopped:
        print(_how_to_go_on(kept, goal, export), file=sys.stderr)
    told.end(stopped)


class _Goal:
    """When to stop, as the options say it."""

    def __init__(
        self, target: float | None, seconds: float | None, iterations: int | None, threads: int
    ) -> None:
        check_number("--target-pct-pot", target, 0, 100)
        check_positive("--seconds", seconds, 10**9)
        check_number("--iterations", iterations, 1, 10**12)
        check_number("--threads", threads, 1, MOST_THREADS)
        self.target = _TARGET if target is None else target
        self.seconds, self.iterations, self.threads = seconds, iterations, threads
        self.asked = any(given is not None for given in (target, seconds, iterations))

    def wants_more(self, solution: Solution) -> bool:
        """Whether a solve was asked for that a solution has not reached."""
        return self.asked and not solution.exploitability_pct_pot <= self.target

    def announce(self, solution: Solution, json: bool) -> None:
        """Say what a new solve costs, before it starts."""
        if not json and solution.solver is not None and not solution.iterations:
            print(self.announced(solution.spot), file=sys.stderr)
            if solution.storage == "16-bit":
                print("numbers are kept in 16 bits", file=sys.stderr)

    def announced(self, spot: Spot) -> str:
        """Cost of the solve, before it starts."""
        from equipoise.kernel import cores
        from equipoise.solve.spots.cost import duration_text, spot_cost

        cost = spot_cost(spot)
        each = cost.seconds_per_iteration / (1 + 0.7 * (min(self.threads, cores()) - 1))
        count, what = math.inf, ""
        if self.target > 0:
            count = max(10.0, _TYPICAL_ITERATIONS * (_TYPICAL_TARGET / self.target) ** _GROWTH)
            count = float(f"{count:.2g}")
            what = f"to {self.target:g} % of the pot: some "
        if self.iterations is not None and self.iterations < count:
            count, what = self.iterations, "as asked for: "
        if self.seconds is not None and self.seconds < count * each:
            return f"{cost}\nas asked for: {duration_text(self.seconds)}"
        if count == math.inf:
            return f"{cost}\nto 0 % of the pot: until Ctrl-C"
        took = duration_text(count * each)
        return f"{cost}\n{what}{count:,.0f} iterations, {took}"


class _Program(NamedTuple):
    """A river by linear program, as the options ask for it."""

    solver: str
    buckets: int | None
    bucketing: str
    tremble: float | None

    @property
    def wanted(self) -> bool:
        """Whether it is asked for."""
        return self.solver == "lp"

    def check(
        self, goal: _Goal, resume: Path | None, storage: str | None, lock: list[str] | None
    ) -> None:
        """Refuse options that do not go together."""
        from equipoise.settings import choose

        choose(self.solver, ("cfr", "lp"), "--solver")
        choose(self.bucketing, ("quantile", "width", "blockers"), "--bucketing")
        check_number("--buckets", self.buckets, 1, 2000)
        check_number("--tremble", self.tremble, 0, 0.05)
        if not self.wanted:
            given = {"--buckets": self.buckets is not None, "--tremble": self.tremble is not None}
            given["--bucketing"] = self.bucketing != "quantile"
            for name in (name for name, said in given.items() if said):
                raise EquipoiseError(f"{name} is for linear programs: add --solver lp")
        elif goal.asked or resume is not None or storage is not None:
            raise EquipoiseError(
                "--solver lp solves at once: leave out --target-pct-pot, --seconds, --iterations, "
                "--resume and --storage"
            )
        elif lock:
            raise EquipoiseError("--solver lp has no locks: leave out --lock, or --solver lp")

    def solved(self, spot: Path | None, line: str | None) -> Solution | None:
        """The solution, if a linear program was asked for."""
        from equipoise.solve.spots.solutionfile import is_solution

        if not self.wanted:
            return None
        if spot is None or spot.suffix == ".solution" or is_solution(spot):
            raise EquipoiseError("--solver lp: name the TOML file of a river")
        from equipoise.solve.spots.bucketedriver import solve_river

        return solve_river(_spot(spot, line), self.buckets, self.bucketing, self.tremble)


class _Written:
    """What was written after a solve: one file that fails does not keep the others from it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.data: dict[str, Any] = {}
        self.failures: list[EquipoiseError] = []

    def attempt(self, key: str, path: Path, words: str, write: Callable[[], object]) -> None:
        """Write a file and remember it, or remember why not."""
        try:
            count = write()
        except FileError as error:
            self.failures.append(error)
            return
        self.lines.append(f"{f'{count:,} ' if isinstance(count, int) else ''}{words} {path}")
        self.data.setdefault("files", {})[key] = str(path)

    def end(self, stopped: bool) -> None:
        """End the command as it went."""
        if self.failures:
            raise self.failures[0]
        if stopped:
            raise typer.Exit(INTERRUPTED)


class _Files(NamedTuple):
    """What is to be written after a solve."""

    save: Path | None
    export: Path | None
    plot: Path | None
    #: Street up to which the first two go.
    through: str | None

    def check(self, spot: Path | None, overwrite: bool) -> None:
        """Refuse, before anything is built, files that could not or should not be written."""
        save, export = self.save, self.export
        if self.through is not None and save is None and export is None:
            raise EquipoiseError("--through says how far --save and --export go: add one of them")
        if save is not None:
            from equipoise.files import check_target
            from equipoise.solve.spots.solutionfile import is_solution

            check_target(save, overwrite=overwrite, what="--save")
            same = spot is not None and spot.exists() and save.exists() and save.samefile(spot)
            if spot is not None and same and not is_solution(spot):
                raise EquipoiseError(f"--save '{save}' is the spot itself: choose another name")
        if export is not None and save is not None and export.absolute() == save.absolute():
            raise EquipoiseError(f"--save and --export are both '{save}': choose another name")
        if export is not None:
            from equipoise.files import check_target
            from equipoise.solve.spots.export import SUFFIXES

            check_target(export, overwrite=overwrite, suffixes=SUFFIXES, what="--export")
        check_picture(self.plot, overwrite)

    def check_contents(self, solution: Solution, position: ShownPosition) -> None:
        """Refuse, before anything is solved, what could not be written after it."""
        from equipoise.solve.spots.export import check_export
        from equipoise.solve.spots.solutionfile import check_cut

        if self.plot is not None:
            position.decider()
        if self.save is not None:
            check_cut(solution, self.through)
        if self.export is not None:
            check_export(solution, self.through)

    def write(
        self, solution: Solution, position: ShownPosition, kept: Path, stopped: bool
    ) -> _Written:
        """Write them all; a solve that was stopped is kept whole, and not exported."""
        told, export, plot = _Written(), self.export, self.plot
        if stopped or self.save is not None or kept.exists():
            cut = None if stopped else self.through
            told.attempt("solution", kept, "solution saved to", lambda: solution.save(kept, cut))
        if export is not None and not stopped:
            write = partial(solution.export, export, self.through)
            told.attempt("export", export, "decisions written to", write)
        if plot is not None:
            told.attempt("plot", plot, "picture written to", lambda: position.plot(plot))
        return told


def _free_name(path: Path | None) -> Path:
    """Where a solve keeps itself if nothing else was said: a name in this folder that is free."""
    stem = path.stem if path is not None else "spot"
    names = (f"{stem}{'' if n == 1 else f'-{n}'}.solution" for n in itertools.count(1))
    return next(Path(name) for name in names if not Path(name).exists())


def _how_to_go_on(kept: Path, goal: _Goal, export: Path | None) -> str:
    words = ["equipoise", "solve", str(kept), "--target-pct-pot", f"{goal.target:g}"]
    missing = "" if export is None else f", {export} was not written"
    return f"stopped{missing}: go on with\n    {shlex.join(words)}"


def _solution(
    spot: Path | None,
    resume: Path | None,
    goal: _Goal,
    storage: str | None,
    line: str | None,
    lock: list[str] | None,
) -> Solution:
    from equipoise.solve.spots.solution import Solution
    from equipoise.solve.spots.solutionfile import is_solution

    if spot is not None and (spot.suffix == ".solution" or is_solution(spot)):
        if resume is not None:
            raise EquipoiseError(f"{spot} is a solution itself: leave out --resume")
        spot, resume = None, spot
    if resume is not None:
        if storage is not None and check_storage(storage) != "32-bit":
            raise EquipoiseError("--storage goes with a new solve: a saved one stays as it is")
        opened = Solution.load(resume, goal.threads)
        if spot is None and line is not None:
            raise EquipoiseError(f"--line: {resume} has been solved from its own: leave it out")
        if spot is not None and not _same(_spot(spot, line), opened.spot):
            raise EquipoiseError(f"{resume}: a solution of another spot than {spot}")
        return opened
    if spot is None:
        raise EquipoiseError("which spot? name a TOML file; examples/spots has some")
    from equipoise.solve.spots.fitting import storage_for

    read = _spot(spot, line)
    if storage is None:
        bits = "32-bit" if lock else storage_for(read)
    else:
        bits = check_storage(storage)
    return Solution.unsolved(read, goal.threads, bits)


def _spot(path: Path, line: str | None) -> Spot:
    """The spot of a file, begun after a line of betting if one is given."""
    from equipoise.games.spot import Spot

    spot = Spot.load(path)
    if line is None:
        return spot
    try:
        return replace(spot, line=line)
    except EquipoiseError as error:
        raise type(error)(f"--{error}") from None


def _same(first: Spot, second: Spot) -> bool:
    """Whether two spots differ in their names at most."""
    return {**first.to_dict(), "name": ""} == {**second.to_dict(), "name": ""}


def _lock_all(solution: Solution, locks: Iterable[str]) -> None:
    for words in locks:
        _lock(solution, words)


def _lock(solution: Solution, words: str) -> None:
    """Read `LINE: action=probability, ... [for HANDS | overall]` and lock it."""
    from equipoise.games.notation.labels import named

    overall = words.strip().endswith(_OVERALL)
    line, colon, play = words.strip().removesuffix(_OVERALL).partition(":")
    play, _, hands = play.partition(" for ")
    probabilities = {}
    for part in play.split(","):
        action, equals, number = part.partition("=")
        try:
            share = float(number.strip().removesuffix("%"))
        except ValueError:
            equals = ""
        if not (colon and equals):
            raise EquipoiseError(
                f"--lock '{brief(words)}': write it as 'check, bet 50: fold=0.5, call=50% for 22+'"
            )
        probabilities[" ".join(action.split())] = share / 100 if "%" in number else share
    position = solution.at(line) if line.strip() else solution.at()
    # Sizes may be left out where there is one, as in lines.
    found = {name: named(name, position.actions) for name in probabilities}
    probabilities = {
        position.actions[found[name][0]] if len(found[name]) == 1 else name: share
        for name, share in probabilities.items()
    }
    if overall:
        from equipoise.solve.study.frequencylock import by_frequency

        if hands:
            raise EquipoiseError(f"--lock '{brief(words)}': 'overall' is for all hands: drop 'for'")
        solution.lock(position, by_frequency(position, probabilities))
        return
    solution.lock(position, probabilities, hands.strip() or None)


def _run(solution: Solution, goal: _Goal, kept: Path, quiet: bool) -> bool:
    """Solve; whether it was stopped."""
    first: list[float] = []
    noted = [True] * kept.exists()
    with (
        stopped_by_signals() as stop,
        progress_bar(solution.game.name, quiet) as progress,
    ):

        def hear(event: Event) -> None:
            if event.exploitability_chips is not None:
                percent = 100 * event.exploitability_chips / solution.pot
                first.append(percent)
                done = _share_done(first[0], percent, goal.target)
                if goal.iterations:
                    done = max(done, event.done / goal.iterations)
                if goal.seconds:
                    done = max(done, event.seconds / goal.seconds)
                note = f"{event.done} iterations, exploitability {percent:.3f} % of pot"
                progress(min(done, 1.0), 1.0, note)
            if not noted and kept.exists():
                noted.append(True)
                print(f"a long solve: kept in {kept} from now on", file=sys.stderr)

        solution.solve_on(goal.target, goal.seconds, goal.iterations, hear, kept, _SAVE_EVERY, stop)
    return stop.is_set()


def _share_done(first: float, now: float, target: float) -> float:
    """How far the exploitability has fallen towards the target, in magnitudes."""
    if not 0 < target < first or now <= 0:
        return 0.0
    return max(0.0, math.log(first / now) / math.log(first / target))


def _shown(solution: Solution, position: ShownPosition, written: list[str]) -> RenderableType:
    from rich.console import Group

    from equipoise.solve.spots.cost import duration_text

    parts: list[RenderableType] = []
    if position.to_act is not None:
        parts += [position.chart(), ""]
    restricted = " of the restricted game" if solution.locks else ""
    parts.append(position.table())
    if solution.program is not None:
        program = solution.program
        parts.append(
            f"linear program over {program.used[0]:,} and {program.used[1]:,} "
            f"{'hands' if program.buckets is None else f'buckets by {program.bucketing}'}, tremble "
            f"{program.tremble:g}: worth {program.ev_oop_chips:.6f} chips to oop"
        )
    parts += [
        f"exploitability{restricted} {solution.exploitability_pct_pot:.4f} % of pot = "
        f"{solution.exploitability_chips / solution.spot.parts:.4g} {solution.spot.unit}, "
        f"{solution.iterations:,} iterations in "
        f"{duration_text(solution.seconds)}, {solution.nodes:,} decision{'s' * (solution.nodes > 1)}, "
        f"{solution.memory_bytes / 1e6:,.1f} MB",
        *written,
    ]
    return Group(*parts)

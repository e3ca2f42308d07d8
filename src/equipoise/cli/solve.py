"""`equipoise solve`: solve a postflop spot exactly, look at it, keep it."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, check_places, emit, progress_bar
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.games.estimate import Estimate
    from equipoise.games.spot import Spot
    from equipoise.solve.solution import Solution
    from equipoise.solve.solver import Event

#: Iterations that a spot typically takes to 0.3 % of the pot.
_TYPICAL_ITERATIONS = 120
#: What a shell is told when Ctrl-C ended a command.
_INTERRUPTED = 130


def solve_command(
    spot: Annotated[
        Path | None, typer.Argument(help="TOML file of the spot, or a saved solution.")
    ] = None,
    target_pct_pot: Annotated[
        float, typer.Option(help="Stop at this exploitability, in % of the pot.")
    ] = 0.3,
    seconds: Annotated[float | None, typer.Option(help="Stop after this long.")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Stop after this many, those before a resume included.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads; they share the cards to come.")] = 1,
    compress: Annotated[
        bool, typer.Option("--compress", help="Keep numbers in 16 bits: half the memory.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Write the solution here.")] = None,
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
    at: Annotated[
        str, typer.Option(help="Show this position, such as 'check, bet 50'; else the first.")
    ] = "",
    lock: Annotated[
        list[str] | None,
        typer.Option(help="Fix a decision: 'check, bet 50: fold=1', or '...: fold=1 for 22+'."),
    ] = None,
    json: Json = False,
) -> None:
    """Solve a river, turn or flop spot exactly, until hardly anything can be gained against it.

    \b
    Example: equipoise solve spot.toml --target-pct-pot 0.3 --save spot.solution
    Example: equipoise solve spot.solution --target-pct-pot 0.1 --at 'check, bet 50'
    Example: equipoise solve spot.toml --lock 'check, bet 50: fold=1'

    Ctrl-C stops the solve and saves what there is.
    """
    if not target_pct_pot >= 0:
        raise EquipoiseError(f"--target-pct-pot {target_pct_pot}: give a percentage of 0 or more")
    if threads < 1:
        raise EquipoiseError(f"--threads {threads}: at least one")
    check_places(save, export, plot)
    solution = _solution(spot, resume, threads, compress, quiet=json)
    for words in lock or []:
        _lock(solution, words)
    stopped = False
    if solution.solver is not None:
        stopped = _run(solution, target_pct_pot, seconds, iterations, quiet=json)
    elif solution.exploitability_pct_pot > target_pct_pot:
        raise EquipoiseError("this file keeps only the answer, which cannot be solved further")
    written = []
    if stopped and save is None:
        save = Path(f"{_file_name(spot or resume)}.solution")
    if save is not None:
        solution.save(save, None if stopped else through)
        written.append(f"solution saved to {save}")
    position = solution.at(at) if at else solution.at()
    if export is not None and not stopped:
        lines = solution.export(export, through)
        written.append(f"{lines:,} lines written to {export}")
    if plot is not None:
        position.plot(plot)
        written.append(f"picture written to {plot}")
    emit(solution.figures(), json, lambda: _shown(solution, position, written))
    if stopped:
        if json:
            print(f"stopped: {written[0]}", file=sys.stderr)
        raise typer.Exit(_INTERRUPTED)


def _file_name(path: Path | None) -> str:
    return path.stem if path is not None else "spot"


def _solution(
    spot: Path | None, resume: Path | None, threads: int, compress: bool, quiet: bool
) -> Solution:
    from equipoise.games.spot import Spot
    from equipoise.solve.solution import Solution
    from equipoise.solve.solutionfile import is_solution

    if spot is not None and is_solution(spot):
        if resume is not None:
            raise EquipoiseError(f"{spot} is a solution itself: leave out --resume")
        spot, resume = None, spot
    if resume is not None:
        opened = Solution.open(resume, threads)
        if spot is not None and not _same(Spot.load(spot), opened.spot):
            raise EquipoiseError(f"{resume}: a solution of another spot than {spot}")
        return opened
    if spot is None:
        raise EquipoiseError("which spot? name a TOML file; examples/spots has some")
    asked = Spot.load(spot)
    estimate = asked.check_fits(compressed=compress)
    if not quiet:
        print(_announced(estimate, threads), file=sys.stderr)
    return Solution.unsolved(asked, threads, compress)


def _same(first: Spot, second: Spot) -> bool:
    """Whether two spots differ in their names at most."""
    return {**first.to_dict(), "name": ""} == {**second.to_dict(), "name": ""}


def _announced(estimate: Estimate, threads: int) -> str:
    """Cost of the solve, before it starts."""
    seconds = _TYPICAL_ITERATIONS * estimate.seconds_per_iteration / min(threads, 2)
    return (
        f"{estimate}\nto 0.3 % of the pot: some {_TYPICAL_ITERATIONS} iterations, {seconds:.2g} s"
    )


def _lock(solution: Solution, words: str) -> None:
    """Read `LINE: action=probability, ... [for HANDS]` and lock it."""
    line, colon, play = words.partition(":")
    play, _, hands = play.partition(" for ")
    probabilities = {}
    for part in play.split(","):
        action, equals, number = part.partition("=")
        try:
            probabilities[" ".join(action.split())] = float(number)
        except ValueError:
            equals = ""
        if not (colon and equals):
            raise EquipoiseError(
                f"--lock '{words}': write it as 'check, bet 50: fold=0.5, call=0.5 for 22+'"
            )
    position = solution.at(line) if line.strip() else solution.at()
    solution.lock(position, probabilities, hands.strip() or None)


def _run(
    solution: Solution,
    target_pct_pot: float,
    seconds: float | None,
    iterations: int | None,
    quiet: bool,
) -> bool:
    """Solve; whether it was interrupted."""
    first: list[float] = []
    with progress_bar(solution.game.name, quiet) as progress, _interruptible() as asked:

        def hear(event: Event) -> None:
            if event.exploitability_chips is not None:
                percent = 100 * event.exploitability_chips / solution.spot.pot
                first.append(percent)
                done = _share_done(first[0], percent, target_pct_pot)
                if iterations:
                    done = max(done, event.iteration / iterations)
                if seconds:
                    done = max(done, event.seconds / seconds)
                note = f"{event.iteration} iterations, exploitability {percent:.3f} % of pot"
                progress(min(done, 1.0), 1.0, note)
            if asked():
                raise KeyboardInterrupt

        try:
            solution.resolve(target_pct_pot, seconds, iterations, hear)
        except KeyboardInterrupt:
            return True
    return False


def _share_done(first: float, now: float, target: float) -> float:
    """How far the exploitability has fallen towards the target, in magnitudes."""
    if not 0 < target < first or now <= 0:
        return 0.0
    return max(0.0, math.log(first / now) / math.log(first / target))


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Between iterations only: a Ctrl-C in the midst of one would leave numbers half updated."""
    asked = False

    def note(number: int, frame: Any) -> None:
        nonlocal asked
        asked = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def _shown(solution: Solution, position: Any, written: list[str]) -> RenderableType:
    from rich.console import Group

    parts: list[RenderableType] = []
    if position.to_act is not None:
        parts += [position.chart(), ""]
    restricted = " of the restricted game" if solution.locks else ""
    parts += [
        position.table(),
        f"exploitability{restricted} {solution.exploitability_pct_pot:.4f} % of pot = "
        f"{solution.exploitability_chips:.4g} chips, {solution.iterations:,} iterations in "
        f"{solution.seconds:.3g} s, {solution.nodes:,} decisions, "
        f"{solution.memory_bytes / 1e6:,.1f} MB",
        *written,
    ]
    return Group(*parts)

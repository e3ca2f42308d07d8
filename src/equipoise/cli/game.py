"""`equipoise game`: solve a small game exactly, and look at the answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from equipoise.cli.output import (
    MOST_THREADS,
    Json,
    Overwrite,
    Seed,
    check_number,
    check_picture,
    check_positive,
    emit,
    progress_bar,
)
from equipoise.cli.stopping import INTERRUPTED, stopped_by_signals
from equipoise.cli.study.exploit import Question, exploit
from equipoise.errors import EquipoiseError, FileError, TooLargeError
from equipoise.settings import brief

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from equipoise.games.game import Game
    from equipoise.run import Event, Limit, Stop
    from equipoise.solve.solvers.tableausolver import TableauSolver
    from equipoise.solve.strategies.postprocessing import PostProcessing


#: Information sets whose strategy is printed as JSON.
_MOST_SETS = 100_000


Menu = Annotated[str | None, typer.Option(help="Bet sizes, for no-limit games: '50%,a'.")]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", help="Another parameter: --set max_raises=1.")
]
Plot = Annotated[
    Path | None, typer.Option(help="Picture of the curves, or of the chart where the game has one.")
]
Rules = Annotated[
    list[str] | None,
    typer.Option(help="Exploitability after: purify, 'threshold 0.15', 'fold 0.2', 'raw/purify'."),
]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Save here as the run goes; resume if the file is there.")
]
Safe = Annotated[
    float | None,
    typer.Option(
        help="The most that --player wins while at most this many chips a hand are risked."
    ),
]
Restricted = Annotated[
    float | None,
    typer.Option(help="The best against who plays --against with this probability, else free."),
]
Against = Annotated[
    str | None,
    typer.Option(help="uniform, call, fold, raise, or a file of --strategy --json."),
]


def game_command(
    name: Annotated[str, typer.Argument(help="Which game; --list shows them.")] = "",
    solver: Annotated[
        str | None, typer.Option(help="Solver, or several with commas: cfr+,dcfr,egt. [dcfr]")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Stop after this many.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this long.")] = None,
    target: Annotated[
        float | None, typer.Option(help="Stop at this exploitability, in chips a hand.")
    ] = None,
    stack: Annotated[str | None, typer.Option(help="Stack, for games that have one.")] = None,
    menu: Menu = None,
    parameter: Parameters = None,
    plot: Plot = None,
    strategy: Annotated[bool, typer.Option("--strategy", help="Print the strategy.")] = False,
    postprocess: Rules = None,
    checkpoint: Checkpoint = None,
    safe: Safe = None,
    restricted_nash: Restricted = None,
    against: Against = None,
    player: Annotated[int | None, typer.Option(help="Seat of who exploits: 0 or 1.")] = None,
    threads: Annotated[int, typer.Option(help="Threads, where the game has boards to share.")] = 1,
    show_list: Annotated[bool, typer.Option("--list", help="List games and solvers.")] = False,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Solve a small game and print its value and how far from equilibrium the answer is.

    \b
    Example: equipoise game leduc --solver dcfr --iterations 1000
    Example: equipoise game leduc --solver cfr+,dcfr,egt --plot curves.png
    Example: equipoise game jamfold --stack 10 --plot chart.png
    Example: equipoise game leduc --postprocess purify --postprocess "threshold 0.15"
    Example: equipoise game leduc --safe 0.1 --against uniform --player 0
    Example: equipoise game leduc --restricted-nash 0.5 --against call --player 1 --plot curve.png
    """
    if show_list:
        _list_games(json)
        return
    if not name:
        raise EquipoiseError("which game? `equipoise game --list` shows them")
    from equipoise.games import catalogue
    from equipoise.solve.strategies.postprocessing import PostProcessing

    check_number("--threads", threads, 1, MOST_THREADS)
    limit = _limit(iterations, seconds, target)
    question = Question(safe, restricted_nash, against, player)
    if question.asked:
        question.check()
        check_picture(plot, overwrite)
        game = catalogue.game(name, **_parameters(stack, menu, parameter or []))
        exploit(game, question, solver, iterations, plot, strategy, seed, json)
        return
    names = _solvers("dcfr" if solver is None else solver)
    _check_files(checkpoint, plot, names, overwrite)
    rules = [PostProcessing.parse(text, seed) for text in postprocess or []]
    game = catalogue.game(name, **_parameters(stack, menu, parameter or []))
    if strategy and json and sum(game.information_sets()) > _MOST_SETS:
        raise TooLargeError(f"over {_MOST_SETS:,} information sets: leave --strategy or --json out")
    # All are made before the first one runs: what does not fit the game is told at once.
    solvers = [_make(word, game, seed, threads, checkpoint) for word in names]
    curves: dict[str, Any] = {}
    runs: list[dict[str, Any]] = []
    with stopped_by_signals() as stop:
        for word, made in zip(names, solvers, strict=True):
            label = f"{game.name}, {word}"
            last, curves[word] = _run(label, made, limit, checkpoint, stop, quiet=json)
            runs.append(_figures(game, made, last, seed, rules, strategy and json))
            if stop.is_set():
                break
    failed = None if plot is None else _draw(plot, name, game, solvers, curves)
    data = runs[0] if len(runs) == 1 else {"game": game.name, "runs": runs}
    shown = solvers[: len(runs)] if strategy else []
    emit(data, json, lambda: _shown(game, runs, shown, None if failed else plot))
    if failed:
        raise failed
    if stop.is_set():
        _tell_stop(checkpoint)


def _tell_stop(checkpoint: Path | None) -> NoReturn:
    """End a command that was stopped."""
    how = f": the same command goes on from {checkpoint}" if checkpoint is not None else ""
    print(f"stopped{how}", file=sys.stderr)
    raise typer.Exit(INTERRUPTED)


def _check_files(
    checkpoint: Path | None, plot: Path | None, solvers: list[str], overwrite: bool
) -> None:
    """Refuse, before anything is built, files that could not or should not be written."""
    if checkpoint is not None:
        from equipoise.files import check_target

        if len(solvers) > 1:
            raise EquipoiseError("--checkpoint goes with one solver")
        check_target(checkpoint, overwrite=True, what="--checkpoint")
    check_picture(plot, overwrite)


def _run(
    label: str,
    solver: TableauSolver,
    limit: Limit,
    checkpoint: Path | None,
    stop: Stop,
    quiet: bool,
) -> tuple[Event, list[Event]]:
    """Run a solver to its limit: its last event, and those that measured something."""
    from equipoise.solve.curve import Curve

    curve = Curve()
    with progress_bar(label, quiet) as progress:

        def report(event: Event) -> None:
            curve(event)
            chips = event.exploitability_chips
            note = "" if chips is None else f"exploitability {chips:.2e} chips"
            progress(event.done, event.total, note)

        last = solver.run(limit, report, checkpoint, stop=stop)
    return last, curve.points


def _draw(
    plot: Path, name: str, game: Game, solvers: list[TableauSolver], curves: dict[str, Any]
) -> FileError | None:
    """Draw the chart of jam or fold, or the curves; why that failed, for the figures come first."""
    try:
        if name == "jamfold" and len(solvers) == 1:
            from equipoise.solve.strategies.jamfoldcharts import plot_charts

            plot_charts(solvers[0].average_strategy(), plot)
        else:
            from equipoise.solve.curve import plot_curves

            plot_curves(curves, game.name, plot)
    except FileError as error:
        return error
    return None


def _solvers(text: str) -> list[str]:
    """Names of solvers, each known and none twice."""
    from equipoise.solve.registry import solver_class

    names = [word.strip() for word in text.split(",")]
    for word in names:
        solver_class(word)
    if len(set(names)) < len(names):
        raise EquipoiseError(f"--solver {text}: name each solver once")
    return names


def _limit(iterations: int | None, seconds: float | None, target: float | None) -> Limit:
    from equipoise.run import Limit

    check_number("--iterations", iterations, 1, 10**12)
    check_positive("--seconds", seconds, 10**9)
    check_number("--target", target, 0, 10**9)
    if iterations is None and seconds is None:
        if target == 0:
            raise EquipoiseError("--target 0 is never reached: add --seconds or --iterations")
        if target is None:
            iterations = 1000
    return Limit(iterations, seconds, target)


def _parameters(stack: str | None, menu: str | None, pairs: list[str]) -> dict[str, str]:
    given: list[tuple[str, str]] = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise EquipoiseError(f"--set {brief(pair)}: write it as name=value")
        given.append((key.strip(), value.strip()))
    given += [(key, text) for key, text in (("stack", stack), ("menu", menu)) if text is not None]
    parameters: dict[str, str] = {}
    for key, text in given:
        if key in parameters:
            raise EquipoiseError(f"{brief(key)} is given twice: choose one")
        parameters[key] = text
    return parameters


def _make(word: str, game: Game, seed: int, threads: int, checkpoint: Path | None) -> TableauSolver:
    from equipoise.solve.registry import solver_class

    kind = solver_class(word)
    if checkpoint is not None and checkpoint.exists():
        return kind.load(checkpoint, game, threads=threads)
    settings: dict[str, Any] = {"threads": threads}
    if kind.samples:
        settings["seed"] = seed
    return kind(game, **settings)


def _figures(
    game: Game,
    solver: TableauSolver,
    last: Event,
    seed: int,
    rules: list[PostProcessing],
    with_strategy: bool,
) -> dict[str, Any]:
    chips = last.exploitability_chips
    assert chips is not None
    told: dict[str, Any] = {
        "game": game.name,
        "solver": solver.name,
        "iterations": last.done,
        "seconds": last.seconds,
        "exploitability_chips": chips,
        "exploitability_mbb": 1000 * chips / game.unit_chips,
        "value_chips": solver.value(),
        "value_mbb": 1000 * solver.value() / game.unit_chips,
        "information_sets": list(game.information_sets()),
        "seed": seed,
    }
    if rules:
        told["postprocessed"] = [_after(game, solver, rule) for rule in rules]
    if with_strategy:
        told["strategy"] = [entry._asdict() for entry in solver.average_strategy()]
    return told


def _after(game: Game, solver: TableauSolver, rules: PostProcessing) -> dict[str, Any]:
    """Exploitability of a solver's answer once it is post-processed."""
    from equipoise.solve.strategies.bestresponse import exploitability_of
    from equipoise.solve.strategies.postprocessing import processed

    played = processed(solver.average_strategy(), rules)
    chips = exploitability_of(solver.tableau, played.numbers)
    return {
        "postprocess": str(rules),
        "exploitability_chips": chips,
        "exploitability_mbb": 1000 * chips / game.unit_chips,
    }


def _shown(
    game: Game, runs: list[dict[str, Any]], solvers: list[TableauSolver], plot: Path | None
) -> Group:
    from rich.console import Group
    from rich.table import Table

    table = Table(title=f"{game.name}: {' + '.join(f'{n:,}' for n in game.information_sets())} "
                  "information sets")  # fmt: skip
    for column in ("solver", "iterations", "seconds", "exploitability", "value to player 0"):
        table.add_column(column, justify="left" if column == "solver" else "right")
    for run in runs:
        table.add_row(
            run["solver"],
            f"{run['iterations']:,}",
            f"{run['seconds']:.3g}" if run["seconds"] < 100 else f"{run['seconds']:,.0f}",
            f"{run['exploitability_chips']:.3e} chips = {run['exploitability_mbb']:.4g} mbb",
            f"{run['value_chips']:+z.8f} chips",
        )
        for after in run.get("postprocessed", []):
            table.add_row(
                f"  {after['postprocess']}",
                "",
                "",
                f"{after['exploitability_chips']:.3e} chips = {after['exploitability_mbb']:.4g} mbb",
            )
    parts: list[RenderableType] = [table]
    for solver in solvers:
        parts += [f"{solver.name}:"] * (len(solvers) > 1) + [solver.average_strategy().table()]
    if plot is not None:
        parts.append(f"picture written to {plot}")
    return Group(*parts)


def _list_games(json: bool) -> None:
    from equipoise.games import catalogue
    from equipoise.solve import registry

    games: dict[str, dict[str, Any]] = {}
    solvers: dict[str, str] = {}
    # What another package adds and cannot be loaded is listed all the same, with the reason.
    for name in catalogue.names():
        try:
            entry = catalogue.listing(name)
            parameters = {key: str(p.default) for key, p in entry.parameters.items()}
            games[name] = {"description": entry.description, "parameters": parameters}
        except EquipoiseError as error:
            games[name] = {"description": str(error), "parameters": {}}
    for name in registry.names():
        try:
            solvers[name] = (registry.solver_class(name).__doc__ or "").partition("\n")[0]
        except EquipoiseError as error:
            solvers[name] = str(error)

    def tables() -> RenderableType:
        from rich.console import Group
        from rich.table import Table

        first = Table("game", "what it is", "parameters", title="games")
        for name, listed in games.items():
            told = ", ".join(f"{key}={default}" for key, default in listed["parameters"].items())
            first.add_row(name, listed["description"], told)
        second = Table("solver", "what it is", title="solvers")
        for name, told in solvers.items():
            second.add_row(name, told)
        return Group(first, second)

    emit({"games": games, "solvers": solvers}, json, tables)

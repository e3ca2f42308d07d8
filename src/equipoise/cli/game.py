"""`equipoise game`: solve a small game exactly, and look at the answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Seed, check_places, emit, progress_bar
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from equipoise.abstraction.postprocessing import PostProcessing
    from equipoise.games.game import Game
    from equipoise.solve.solver import Event, Solver


def game_command(
    name: Annotated[str, typer.Argument(help="Which game; --list shows them.")] = "",
    solver: Annotated[
        str, typer.Option(help="Solver, or several with commas: cfr+,dcfr,egt.")
    ] = "dcfr",
    iterations: Annotated[int | None, typer.Option(help="Stop after this many.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this long.")] = None,
    target: Annotated[
        float | None, typer.Option(help="Stop at this exploitability, in chips a hand.")
    ] = None,
    stack: Annotated[str | None, typer.Option(help="Stack, for games that have one.")] = None,
    menu: Annotated[
        str | None, typer.Option(help="Bet sizes, for no-limit games: '50%,a'.")
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Another parameter: --set max_raises=1.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Picture of the curves, or of the chart where the game has one."),
    ] = None,
    strategy: Annotated[bool, typer.Option("--strategy", help="Print the strategy.")] = False,
    postprocess: Annotated[
        list[str] | None,
        typer.Option(
            help="Exploitability after: purify, 'threshold 0.15', 'fold 0.2', 'raw/purify'."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save here as the run goes; resume if the file is there.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads, where the game has boards to share.")] = 1,
    show_list: Annotated[bool, typer.Option("--list", help="List games and solvers.")] = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Solve a small game and print its value and how far from equilibrium the answer is.

    \b
    Example: equipoise game leduc --solver dcfr --iterations 1000
    Example: equipoise game leduc --solver cfr+,dcfr,egt --plot curves.png
    Example: equipoise game jamfold --stack 10 --plot chart.png
    Example: equipoise game leduc --postprocess purify --postprocess "threshold 0.15"
    """
    if show_list:
        _list_games(json)
        return
    if not name:
        raise EquipoiseError("which game? `equipoise game --list` shows them")
    from equipoise.abstraction.postprocessing import PostProcessing
    from equipoise.games import catalogue
    from equipoise.solve.curve import Curve, plot_curves
    from equipoise.solve.registry import solver_class

    names = [word.strip() for word in solver.split(",")]
    for word in names:
        solver_class(word)
    if checkpoint is not None and len(names) > 1:
        raise EquipoiseError("--checkpoint goes with one solver")
    rules = [PostProcessing.parse(text, seed) for text in postprocess or []]
    check_places(checkpoint, plot)
    limit = _limit(iterations, seconds, target)
    game = catalogue.game(name, **_parameters(stack, menu, parameter or []))
    curves: dict[str, Any] = {}
    runs: list[dict[str, Any]] = []
    solved: Solver | None = None
    for word in names:
        solved = _make(word, game, seed, threads, checkpoint)
        curve = Curve()
        with progress_bar(f"{game.name}, {word}", quiet=json) as progress:

            def report(event: Event, curve: Any = curve, progress: Any = progress) -> None:
                curve(event)
                chips = event.exploitability_chips
                note = "" if chips is None else f"exploitability {chips:.2e} chips"
                progress(event.iteration, limit.iterations, note)

            last = solved.run(limit, report, checkpoint)
        curves[word] = curve.points
        runs.append(_figures(game, solved, last, seed))
        if rules:
            runs[-1]["postprocessed"] = [_after(game, solved, rule) for rule in rules]
    if plot is not None:
        if name == "jamfold" and solved is not None and len(names) == 1:
            from equipoise.games.jamfold import plot_charts

            plot_charts(solved.average_strategy(), plot)
        else:
            plot_curves(curves, game.name, plot)
    data = runs[0] if len(runs) == 1 else {"game": game.name, "runs": runs}
    emit(data, json, lambda: _shown(game, runs, solved if strategy else None, plot))


def _limit(iterations: int | None, seconds: float | None, target: float | None) -> Any:
    from equipoise.solve.solver import Limit

    if iterations is None and seconds is None and target is None:
        iterations = 1000
    return Limit(iterations, seconds, target)


def _parameters(stack: str | None, menu: str | None, pairs: list[str]) -> dict[str, str]:
    parameters = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise EquipoiseError(f"--set {pair}: write it as name=value")
        parameters[key.strip()] = value.strip()
    for key, given in (("stack", stack), ("menu", menu)):
        if given is not None:
            parameters[key] = given
    return parameters


def _make(word: str, game: Game, seed: int, threads: int, checkpoint: Path | None) -> Solver:
    from equipoise.solve.registry import solver_class
    from equipoise.solve.sampling import MonteCarloCFR

    kind = solver_class(word)
    if checkpoint is not None and checkpoint.exists():
        return kind.load(checkpoint, game, threads=threads)
    settings: dict[str, Any] = {"threads": threads}
    if issubclass(kind, MonteCarloCFR):
        settings["seed"] = seed
    return kind(game, **settings)


def _figures(game: Game, solver: Solver, last: Event, seed: int) -> dict[str, Any]:
    chips = last.exploitability_chips
    assert chips is not None
    return {
        "game": game.name,
        "solver": solver.name,
        "iterations": last.iteration,
        "seconds": last.seconds,
        "exploitability_chips": chips,
        "exploitability_mbb": 1000 * chips / game.unit_chips,
        "value_chips": solver.value(),
        "value_mbb": 1000 * solver.value() / game.unit_chips,
        "information_sets": list(game.information_sets()),
        "seed": seed,
    }


def _after(game: Game, solver: Solver, rules: PostProcessing) -> dict[str, Any]:
    """Exploitability of a solver's answer once it is post-processed."""
    from equipoise.solve.processed import processed

    rows = processed(solver.average_strategy(), rules).rows
    chips = solver.tableau.exploitability(rows.astype(solver.tableau.dtype))
    return {
        "postprocess": str(rules),
        "exploitability_chips": chips,
        "exploitability_mbb": 1000 * chips / game.unit_chips,
    }


def _shown(
    game: Game, runs: list[dict[str, Any]], solver: Solver | None, plot: Path | None
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
            f"{run['seconds']:.3g}",
            f"{run['exploitability_chips']:.3e} chips = {run['exploitability_mbb']:.4g} mbb",
            f"{run['value_chips']:+.8f} chips",
        )
        for after in run.get("postprocessed", []):
            table.add_row(
                f"  {after['postprocess']}",
                "",
                "",
                f"{after['exploitability_chips']:.3e} chips = {after['exploitability_mbb']:.4g} mbb",
            )
    parts: list[RenderableType] = [table]
    if solver is not None:
        parts.append(solver.average_strategy().table())
    if plot is not None:
        parts.append(f"picture written to {plot}")
    return Group(*parts)


def _list_games(json: bool) -> None:
    from equipoise.games import catalogue
    from equipoise.solve.registry import SOLVERS

    listings = [catalogue.listing(name) for name in catalogue.names()]
    summaries = {name: (kind.__doc__ or "").splitlines()[0] for name, kind in SOLVERS.items()}
    data = {
        "games": {
            entry.name: {
                "description": entry.description,
                "parameters": {key: str(p.default) for key, p in entry.parameters.items()},
            }
            for entry in listings
        },
        "solvers": summaries,
    }

    def tables() -> RenderableType:
        from rich.console import Group
        from rich.table import Table

        games = Table("game", "what it is", "parameters", title="games")
        for entry in listings:
            told = ", ".join(f"{key}={p.default}" for key, p in entry.parameters.items())
            games.add_row(entry.name, entry.description, told)
        solvers = Table("solver", "what it is", title="solvers")
        for name, told in summaries.items():
            solvers.add_row(name, told)
        return Group(games, solvers)

    emit(data, json, tables)

"""`equipoise jamfold3`: three players who jam or fold, for chips or for prizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import (
    MOST_THREADS,
    Json,
    Overwrite,
    Seed,
    check_number,
    check_picture,
    emit,
    listening,
    progress_bar,
)
from equipoise.cli.stopping import INTERRUPTED, stopped_by_signals
from equipoise.errors import EquipoiseError, GameError
from equipoise.settings import brief

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.run import Listener, Stop
    from equipoise.solve.tournament.jamfold3 import JamFold3, JamFoldAnswer

#: What nobody may gain more than by deviating: per cent of the prizes, and chips.
_TARGET_PCT, _TARGET_CHIPS = 1e-4, 1e-5
#: Decks of a sample: two of them are as many as the shipped table was dealt from.
_DEALS = 14_000_000
#: Samples that may be joined.
_MOST_SAMPLES = 1000
#: Processor seconds of a grid point in a sweep, and sweeps and policies until the end, as measured.
_SECONDS_A_POINT, _SWEEPS = 0.3, 10


def jamfold3_command(
    stacks: Annotated[
        str, typer.Option(help="Big blinds of button, small blind and big blind, before posting.")
    ] = "10,10,10",
    prizes: Annotated[
        str | None, typer.Option(help="First, second and third prize. [50,30,20]")
    ] = None,
    chips: Annotated[
        bool, typer.Option("--chips", help="Play for chips: values are net big blinds.")
    ] = False,
    button_folds: Annotated[
        bool, typer.Option("--button-folds", help="The button folds every hand.")
    ] = False,
    tournament: Annotated[
        bool,
        typer.Option(
            "--tournament", help="Play on after the hand: stacks are worth what they win on a grid."
        ),
    ] = False,
    grid: Annotated[
        int,
        typer.Option(help="With --tournament: steps that all chips are cut into, 3 to 40."),
    ] = 12,
    plot: Annotated[Path | None, typer.Option(help="Picture of all charts.")] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Sample the three-way table anew, into --output.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="With --rebuild: the file.")] = None,
    deals: Annotated[
        int, typer.Option(help="With --rebuild: decks of each sample, 364 showdowns each.")
    ] = _DEALS,
    samples: Annotated[
        int,
        typer.Option(help="With --rebuild: samples, from --seed and the seeds after it, joined."),
    ] = 2,
    threads: Annotated[int, typer.Option(help="With --rebuild: threads.")] = 1,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Solve one hand of jam or fold among three players; after it stacks are worth prizes (ICM).

    \b
    Example: equipoise jamfold3 --stacks 10,10,10 --prizes 50,30,20 --plot charts.png
    Example: equipoise jamfold3 --stacks 15,10,5 --chips --json
    Example: equipoise jamfold3 --stacks 10,10,10 --tournament --grid 6
    Example: equipoise jamfold3 --rebuild --deals 14000000 --samples 2 --output threeway.npz
    """
    if rebuild:
        _rebuild(output, deals, samples, threads, seed, overwrite, json)
        return
    from equipoise.solve.tournament.jamfold3 import JamFold3, JamFoldSolver

    if chips and prizes is not None:
        raise EquipoiseError("--chips and --prizes are two ways to count: choose one")
    if tournament and (chips or button_folds):
        raise EquipoiseError("--tournament is for prizes, and everybody plays: leave out the rest")
    check_picture(plot, overwrite)
    won = None if chips else _three(prizes or "50,30,20", "--prizes")
    game = JamFold3(_three(stacks, "--stacks"), won)
    target = _TARGET_CHIPS if won is None else _TARGET_PCT * game.unit
    with progress_bar("jam or fold", quiet=json) as bar, stopped_by_signals() as stop:
        if tournament:
            answer, further = _whole(game, grid, target, listening(bar), stop)
        else:
            solver = JamFoldSolver(game, button_folds=button_folds)
            answer, further = solver.run(target, listener=listening(bar), stop=stop), {}
    told = _figures(answer, button_folds, seed) | further
    if plot is not None:
        from equipoise.solve.tournament.charts import plot_charts

        plot_charts(answer, plot)
        told["plot"] = str(plot)
    emit(told, json, lambda: _shown(told))
    if stop.is_set():
        raise typer.Exit(INTERRUPTED)


def _whole(
    game: JamFold3, grid: int, target: float, listener: Listener, stop: Stop
) -> tuple[JamFoldAnswer, dict[str, Any]]:
    """The first hand of the whole tournament, and what there is to tell of the grid behind it."""
    from equipoise.solve.tournament.icm import prize_equities
    from equipoise.solve.tournament.tournament import Tournament

    assert game.prizes is not None
    solved = Tournament(sum(game.stacks), game.prizes, grid)
    points = len(solved.points)
    typer.echo(
        f"{points} stacks on a grid of {solved.step:g} big blinds; a sweep over them takes about "
        f"{_SECONDS_A_POINT * points:.0f} s of processor time, a solution some {_SWEEPS}. "
        "Ctrl-C tells what the last whole sweep found.",
        err=True,
    )
    with stop.watching():
        told = solved.run(game.stacks, target, listener, stop)
    if told is None:
        typer.echo("stopped before the first sweep was done: there is nothing to tell", err=True)
        raise typer.Exit(INTERRUPTED)
    return told.hand, {
        "epsilon_pct_prizes": None if told.epsilon is None else told.epsilon / game.unit,
        "error": told.error,
        "tournament": {
            "grid": grid,
            "step_bb": solved.step,
            "points": points,
            "sweeps": told.sweeps,
            "settled": told.settled,
            "change_pct_prizes": told.change / game.unit,
            "hands_left_most": told.hands,
            "icm": list(prize_equities(game.stacks, game.prizes)),
        },
    }


def _three(text: str, option: str) -> tuple[float, float, float]:
    """Three numbers separated by commas."""
    parts = text.split(",")
    try:
        first, second, third = (float(part) for part in parts)
    except ValueError:
        raise GameError(
            f"{option} {brief(text)}: write three numbers separated by commas"
        ) from None
    return first, second, third


def _figures(answer: JamFoldAnswer, button_folds: bool, seed: int) -> dict[str, Any]:
    game, ranges = answer.game, dict[str, float | None](answer.ranges_pct())
    if button_folds:
        ranges |= dict.fromkeys(("b_jam", "sb_call", "bb_v_b", "bb_overcall"))
        ranges["b_jam"] = 0.0
    told: dict[str, Any] = {
        "stacks": list(game.stacks),
        "prizes": None if game.prizes is None else list(game.prizes),
        "ev": list(answer.ev),
        "ranges_pct": ranges,
    }
    if game.prizes is None:
        told["epsilon_chips"] = answer.epsilon
    else:
        told["epsilon_pct_prizes"] = answer.epsilon / game.unit
    return told | {"error": answer.error, "iterations": answer.iterations, "seed": seed}


def _shown(told: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    unit = "net big blinds" if told["prizes"] is None else "prize equity"
    table = Table("", "button", "small blind", "big blind", title="Jam or fold among three")
    table.add_row("stack", *(f"{stack:g}" for stack in told["stacks"]))
    table.add_row(unit, *(f"{value:.4f}" for value in told["ev"]))
    ranges = Table("decision", "hands")
    names = {
        "b_jam": "button jams",
        "sb_jam": "small blind jams",
        "sb_call": "small blind calls the button",
        "bb_v_sb": "big blind calls the small blind",
        "bb_v_b": "big blind calls the button",
        "bb_overcall": "big blind calls both",
    }
    for name, label in names.items():
        share = told["ranges_pct"][name]
        ranges.add_row(label, "-" if share is None else f"{share:.2f} %")
    whole = told.get("tournament")
    if whole is not None:
        table.add_row("by chips alone (ICM)", *(f"{value:.4f}" for value in whole["icm"]))
    gained = told.get("epsilon_pct_prizes")
    drawn = [f"picture written to {told['plot']}"] if "plot" in told else []
    if whole is not None and gained is None:
        return Group(table, ranges, "Stopped: nobody's best deviation was looked for.", *drawn)
    epsilon = (
        f"{told['epsilon_chips']:.1e} big blinds"
        if gained is None
        else f"{gained:.1e} % of the prizes"
    )
    lines = f"Nobody gains more than {epsilon} by deviating; values within {told['error']:.1e}."
    if whole is not None:
        lines += f" So on a grid of {whole['step_bb']:g} big blinds, {whole['sweeps']} sweeps."
    return Group(table, ranges, lines, *drawn)


def _rebuild(
    output: Path | None,
    deals: int,
    samples: int,
    threads: int,
    seed: int,
    overwrite: bool,
    json: bool,
) -> None:
    from equipoise.cards.threeway.table import PER_DEAL, rebuild
    from equipoise.files import check_target

    if output is None:
        raise EquipoiseError("--rebuild: add --output FILE.npz")
    check_target(output, overwrite=overwrite, suffixes=(".npz",), what="--output")
    check_number("--deals", deals, 1, 10_000_000_000)
    check_number("--samples", samples, 1, _MOST_SAMPLES)
    check_number("--threads", threads, 1, MOST_THREADS)
    with progress_bar("three-way deals", quiet=json) as bar:
        found = rebuild(deals, seed, listening(bar), threads, samples)
    found.save(output)
    told = {
        "output": str(output),
        "deals": samples * deals,
        "samples": samples * deals * PER_DEAL,
        "seeds": list(range(seed, seed + samples)),
        "seed": seed,
    }
    emit(told, json, lambda: f"{told['samples']:,} showdowns of three hands in {output}")

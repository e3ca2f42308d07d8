"""`equipoise drill`: hands dealt from a solved spot, played by you, graded by what they are worth."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.output import Json, Seed, check_number, emit, terminal
from equipoise.errors import IllegalActionError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.solve.study.drill import Drill, Graded


def drill_command(
    file: Annotated[Path, typer.Argument(help="A saved solution.")],
    at: Annotated[
        str, typer.Option(help="Where hands are dealt, such as 'check, bet 50'; else the start.")
    ] = "",
    hands: Annotated[int, typer.Option(help="How many; 0 is until you stop.")] = 20,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Practise a solved spot: you act, the solution says what each action was worth.

    Type an action or its first letters; `q` or Ctrl-D ends the drill, with the score.

    \b
    Example: equipoise drill spot.solution --at 'check, bet 50'
    """
    from numpy.random import default_rng

    from equipoise.cli.study.show import opened
    from equipoise.solve.study.drill import Drill

    check_number("--hands", hands, 0, 10**6)
    solution = opened(file)
    drill = Drill(solution.at(at) if at else solution.at(), default_rng(seed))
    console = terminal(stderr=json)
    console.print(drill.position.title)
    try:
        while not hands or len(drill.answers) < hands:
            hand = drill.deal()
            graded = _asked(drill, hand, console.print)
            if graded is None:
                break
            console.print(_verdict(graded, drill.position.answer.spot.unit))
    except KeyboardInterrupt:
        console.print("")
    score = drill.score()
    emit({"file": str(file), "at": at, **score}, json, lambda: _told(score))


def _asked(drill: Drill, hand: str, say: object) -> Graded | None:
    """One answer; None if the player has had enough."""
    assert callable(say)
    number, choices = len(drill.answers) + 1, ", ".join(drill.position.actions)
    while True:
        say(f"{number}. {hand}: {choices}?")
        word = sys.stdin.readline()
        if not word or word.strip().lower() in ("q", "quit", "exit"):
            return None
        try:
            return drill.answer(word.strip())
        except IllegalActionError as error:
            say(str(error))


def _verdict(graded: Graded, unit: str) -> str:
    listed = ", ".join(
        f"{action} {worth:z.2f} ({graded.plays[action]:.0%})"
        for action, worth in graded.worth.items()
    )
    lost = "" if graded.grade == "right" else f", {graded.loss:.2f} {unit} less than {graded.best}"
    return f"   {graded.grade}{lost}. EV {unit} (how often): {listed}"


def _told(score: dict[str, float]) -> RenderableType:
    return (
        f"{score['hands']} hands: {score['right']} right, {score['inaccurate']} inaccurate, "
        f"{score['blunders']} blunders; mean loss {score['mean_loss_pct_pot']:.2f} % of pot"
    )

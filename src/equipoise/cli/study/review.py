"""`equipoise review`: what an exact solve says of the decisions in a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.match import rules_of
from equipoise.cli.output import Json, check_number, emit, listening, progress_bar
from equipoise.cli.stopping import stopped_by_signals

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.measures.review import Review


def review_command(
    file: Annotated[Path, typer.Argument(help="An ACPC log or PHH file, also gzipped.")],
    player: Annotated[
        str, typer.Option(help="Whose decisions; by default who is no agent of ours.")
    ] = "",
    reference: Annotated[
        str, typer.Option(help="Agent whose policy says what both hold; by default the best here.")
    ] = "",
    hand: Annotated[int | None, typer.Option(help="Only hands of this number.")] = None,
    flop_seconds: Annotated[
        float, typer.Option(help="Seconds a flop may take; 0 lists flops as ungraded.")
    ] = 90.0,
    threads: Annotated[int, typer.Option(help="Threads of a solve.")] = 1,
    show: Annotated[int, typer.Option(help="Decisions to show; 0 is all.")] = 20,
    game: Annotated[
        str | None, typer.Option(help="Game of an ACPC log: limit, nolimit or a game file.")
    ] = None,
    json: Json = False,
) -> None:
    """Grade every decision after the flop: big blinds lost and the better action, worst first.

    Both ranges are what the reference's policy would have come with; the rest of the hand is solved
    with the real bets in its tree. Ctrl-C ends it and shows what was graded so far.

    \b
    Example: equipoise review session.log
    Example: equipoise review match.log --player call --reference quick --flop-seconds 0 --json
    """
    from equipoise.arena.histories.history import History
    from equipoise.arena.measures.review import review_hands

    check_number("--flop-seconds", flop_seconds, 0, 86_400)
    check_number("--threads", threads, 1, 256)
    check_number("--show", show, 0)
    history = History.open(file, None if game is None else rules_of(game))
    hands = [one for one in history.hands() if hand is None or one.number == hand]
    with (
        stopped_by_signals() as stop,
        progress_bar("review", quiet=json) as report,
        stop.watching(),
    ):
        found = review_hands(
            hands,
            player,
            reference,
            flop_seconds=flop_seconds,
            threads=threads,
            progress=listening(report),
            stop=stop,
        )
    emit({"file": str(file), **found.to_dict()}, json, lambda: _table(found, show))


def _table(found: Review, show: int) -> RenderableType:
    from rich.table import Table

    table = Table(title="decisions, worst first", caption=found.caption())
    for name in ("hand", "street", "cards", "board", "betting", "played", "best"):
        table.add_column(name, justify="right" if name == "hand" else "left")
    table.add_column("lost, bb", justify="right")
    for one in found.decisions[: show or None]:
        lost = "–" if one.ev_lost_bb is None else f"{one.ev_lost_bb:.3f}"
        best = one.best or one.ungraded
        table.add_row(
            str(one.hand), one.street, one.hole, one.board, one.betting, one.played, best, lost
        )
    return table

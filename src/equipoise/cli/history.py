"""`equipoise history`: hands that were played, shown, checked, counted and exported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.history import History, Problem
    from equipoise.arena.players import PlayerSummary
    from equipoise.arena.record import Hand

#: Problems that are written out; the rest are counted.
_SHOWN_PROBLEMS = 100


def history_command(
    file: Annotated[Path, typer.Argument(help="An ACPC log or transcript, or PHH; .gz too.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay everything; exit code 1 on a mismatch.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Only the players' figures.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write a Parquet file.")] = None,
    hand: Annotated[int | None, typer.Option(help="Show only hands of this number.")] = None,
    show: Annotated[int, typer.Option(help="Hands to show; 0 is all.")] = 10,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Report what cannot be read, and go on.")
    ] = False,
    game: Annotated[
        str | None, typer.Option(help="Game of an ACPC log: limit, nolimit or a game file.")
    ] = None,
    json: Json = False,
) -> None:
    """Show the hands of a file, and each player's figures.

    \b
    Example: equipoise history match.log --hand 17
    Example: equipoise history hands.phhs.gz --verify --skip-damaged
    """
    from equipoise.arena.history import History
    from equipoise.cli.match import rules_of
    from equipoise.errors import HistoryError

    if show < 0:
        raise HistoryError(f"--show {show}: show 1 hand or more, or 0 for all")
    history = History.open(file, None if game is None else rules_of(game))
    if verify:
        _verify(history, skip_damaged, json)
        return
    problems: list[Problem] = []
    hands = history.hands(problems.append if skip_damaged else None)
    data: dict[str, Any] = {"file": str(file), "format": history.kind}
    if export is not None:
        from equipoise.arena.parquet import export_parquet

        data |= {"hands": export_parquet(hands, export), "export": str(export)}
        _report(problems, data)
        emit(data, json, lambda: f"{data['hands']:,} hands written to {export}")
        return
    if hand is not None:
        chosen = [played for played in hands if played.number == hand]
        if not chosen:
            raise HistoryError(f"{file} has no hand {hand}: look at one with --show")
        _report(problems, data)
        data["shown"] = [played.text() for played in chosen]
        if json:
            emit(data, json, str)
        else:
            print("\n\n".join(data["shown"]))
        return
    _show(hands, problems, data, 0 if stats else show, stats, json)


def _show(
    hands: Iterator[Hand],
    problems: list[Problem],
    data: dict[str, Any],
    count: int,
    stats: bool,
    json: bool,
) -> None:
    from equipoise.arena.players import summarise

    texts: list[str] = []

    def noted() -> Iterator[Hand]:
        for played in hands:
            if not stats and (count == 0 or len(texts) < count):
                texts.append(played.text())
            yield played

    players = summarise(noted())
    data["hands"] = sum(player.hands for player in players) // 2
    data["players"] = [player.as_dict() for player in players]
    if not stats:
        data["shown"] = texts
    _report(problems, data)

    if texts and not json:
        print("\n\n".join(texts) + "\n")
    emit(data, json, lambda: _players_table(players, data["hands"]))


def _players_table(players: list[PlayerSummary], hands: int) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(
        title=f"{len(players):,} players, {hands:,} hands", box=box.SIMPLE_HEAD, padding=0
    )
    table.add_column("player", no_wrap=True)
    headings = ("hands", "VPIP", "raise", "fold\nto bet", "show-\ndown", "won\nthere", "mbb/hand")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    most = 40
    for player in players[:most]:
        rate = player.win_rate
        shares = (
            player.vpip,
            player.raised_preflop,
            player.fold_to_bet,
            player.showdown,
            player.won_at_showdown,
        )
        table.add_row(
            player.name,
            f"{player.hands:,}",
            *("–" if share != share else f"{share:.1%}" for share in shares),
            f"{rate.mean:+,.0f} ± {rate.half_width:,.0f}" if rate.count else "–",
        )
    if unseen := sum(player.unknown for player in players) // 2:
        table.caption = f"the winner of {unseen:,} hands was never seen: mbb/hand leaves them out"
    if len(players) > most:
        more = f"{len(players) - most:,} players with fewer hands: --json has them all"
        table.caption = f"{table.caption}; {more}" if table.caption else more
    return table


def _report(problems: list[Problem], data: dict[str, Any]) -> None:
    data["damaged"] = [{"line": line, "reason": text} for line, text, _ in problems]
    for problem in problems[:_SHOWN_PROBLEMS]:
        print(f"left out: {problem.text}", file=sys.stderr)
    if len(problems) > _SHOWN_PROBLEMS:
        print(f"left out: {len(problems) - _SHOWN_PROBLEMS:,} more hands", file=sys.stderr)


def _verify(history: History, skip_damaged: bool, json: bool) -> None:
    problems: list[Problem] = []
    right = history.verify(problems.append)
    damaged = [problem for problem in problems if problem.damaged]
    mismatches = [problem for problem in problems if not problem.damaged]
    data = {
        "file": str(history.path),
        "format": history.kind,
        "right": right,
        "mismatches": [{"line": line, "reason": text} for line, text, _ in mismatches],
        "damaged": [{"line": line, "reason": text} for line, text, _ in damaged],
    }

    if json:
        emit(data, json, str)
    else:
        for problem in problems[:_SHOWN_PROBLEMS]:
            print(problem.text)
        if len(problems) > _SHOWN_PROBLEMS:
            print(f"and {len(problems) - _SHOWN_PROBLEMS:,} more")
        print(
            f"{right:,} hands are right, {len(mismatches):,} mismatches, {len(damaged):,} damaged"
        )
    if damaged and not skip_damaged:
        print(
            f"equipoise: {history.path} has {len(damaged)} hands that cannot be read: "
            "--skip-damaged leaves them out",
            file=sys.stderr,
        )
        raise typer.Exit(2)
    if mismatches:
        raise typer.Exit(1)

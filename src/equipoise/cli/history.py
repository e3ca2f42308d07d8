"""`equipoise history`: hands that were played, shown, checked, counted and exported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.match import rules_of
from equipoise.cli.output import Json, Overwrite, emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.histories.history import History, Problem
    from equipoise.arena.histories.players import PlayerSummary
    from equipoise.arena.record import HandRecord

#: Problems that are written out; the rest are counted.
_SHOWN_PROBLEMS = 100


def history_command(
    file: Annotated[
        Path, typer.Argument(help="An ACPC log or transcript, PHH, or a poker site's; .gz too.")
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay everything; exit code 1 on a mismatch.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Only the players' figures.")] = False,
    export: Annotated[str | None, typer.Option(help="Write a .parquet or .csv file.")] = None,
    hand: Annotated[int | None, typer.Option(help="Show only hands of this number.")] = None,
    show: Annotated[int, typer.Option(help="Hands to show; 0 is all.")] = 10,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Report what cannot be read, and go on.")
    ] = False,
    game: Annotated[
        str | None, typer.Option(help="Game of an ACPC log: limit, nolimit or a game file.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Show the hands of a file, and each player's figures.

    --verify, --export, --hand and --stats may be combined: each says its part.

    \b
    Example: equipoise history match.log --hand 17
    Example: equipoise history hands.phhs.gz --verify --skip-damaged
    Example: equipoise history match.log --stats --export hands.csv --json
    """
    from equipoise.arena.histories.history import History
    from equipoise.arena.histories.parquet import ENDINGS
    from equipoise.errors import HistoryError
    from equipoise.files import check_target

    if show < 0:
        raise HistoryError(f"--show {show}: show 1 hand or more, or 0 for all")
    if export is not None:
        check_target(export, overwrite=overwrite, suffixes=ENDINGS, what="--export")
    history = History.open(file, None if game is None else rules_of(game))
    report = _Report(history, skip_damaged, {"file": str(file), "format": history.kind})
    if verify and not report.verify():
        report.end(json)
    if export is not None:
        report.export(export)
    if hand is not None:
        report.show_hand(hand)
    elif not (verify or export is not None or stats):
        report.show_hands(show)
        stats = True
    if stats:
        report.summarise()
    report.end(json)


class _Report:
    """What is said of a file, part after part: data for JSON, and something to show a person."""

    def __init__(self, history: History, skip_damaged: bool, data: dict[str, Any]) -> None:
        self.history, self.data = history, data
        self.parts: list[str | Callable[[], RenderableType]] = []
        self.exit_code = 0
        self._skip = skip_damaged
        self._problems: list[Problem] = []
        self._read = False

    def _hands(self) -> Iterator[HandRecord]:
        """The hands; what cannot be read is reported once, however often they are gone through."""
        if self._read:
            return self.history.hands(lambda problem: None)
        self._read = True
        return self.history.hands(self._problems.append if self._skip else None)

    def verify(self) -> bool:
        """Replay everything; whether the rest may follow."""
        problems: list[Problem] = []
        right = self.history.verify(problems.append)
        self._read = True
        damaged = [problem for problem in problems if problem.damaged]
        mismatches = [problem for problem in problems if not problem.damaged]
        self.data |= {
            "right": right,
            "mismatches": [{"line": line, "reason": text} for line, text, _ in mismatches],
            "damaged": [{"line": line, "reason": text} for line, text, _ in damaged],
        }
        self.parts += [problem.text for problem in problems[:_SHOWN_PROBLEMS]]
        if len(problems) > _SHOWN_PROBLEMS:
            self.parts.append(f"and {len(problems) - _SHOWN_PROBLEMS:,} more")
        self.parts.append(
            f"{right:,} hands are right, {len(mismatches):,} mismatches, {len(damaged):,} damaged"
        )
        if damaged and not self._skip:
            print(
                f"equipoise: {self.history.path} has {len(damaged)} hands that cannot be read: "
                "--skip-damaged leaves them out",
                file=sys.stderr,
            )
            self.exit_code = 2
        elif mismatches:
            self.exit_code = 1
        return self.exit_code < 2

    def export(self, path: str) -> None:
        from equipoise.arena.histories.parquet import export_hands

        count = export_hands(self._hands(), path)
        self.data |= {"hands": count, "export": path}
        self.parts.append(f"{count:,} hands written to {path}")

    def show_hand(self, number: int) -> None:
        from equipoise.errors import HistoryError

        chosen = [played.text() for played in self._hands() if played.number == number]
        if not chosen:
            raise HistoryError(f"{self.history.path} has no hand {number}: look at one with --show")
        self.data["shown"] = chosen
        self.parts.append("\n\n".join(chosen))

    def show_hands(self, count: int) -> None:
        # The rest of the file is read with the figures: here no more than is shown.
        shown = islice(self.history.hands(lambda problem: None), count or None)
        self.data["shown"] = [played.text() for played in shown]
        if self.data["shown"]:
            self.parts.append("\n\n".join(self.data["shown"]) + "\n")

    def summarise(self) -> None:
        from equipoise.arena.histories.players import summarise

        paired = self.history.duplicate
        players = summarise(self._hands(), paired)
        hands = sum(player.hands for player in players) // 2
        self.data |= {
            "hands": hands,
            "duplicate": paired,
            "players": [player.to_dict() for player in players],
        }
        self.parts.append(lambda: _players_table(players, hands))

    def end(self, json: bool) -> None:
        self.data.setdefault("damaged", [])
        self.data["damaged"] += [{"line": line, "reason": text} for line, text, _ in self._problems]
        for problem in self._problems[:_SHOWN_PROBLEMS]:
            print(f"left out: {problem.text}", file=sys.stderr)
        if len(self._problems) > _SHOWN_PROBLEMS:
            print(f"left out: {len(self._problems) - _SHOWN_PROBLEMS:,} more", file=sys.stderr)
        if json:
            emit(self.data, json, str)
        for part in () if json else self.parts:
            if isinstance(part, str):
                print(part)
            else:
                emit(self.data, json, part)
        if self.exit_code:
            raise typer.Exit(self.exit_code)


def _players_table(players: list[PlayerSummary], hands: int) -> RenderableType:
    from rich import box
    from rich.table import Table

    from equipoise.arena.statistics import rate_text

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
            rate_text(rate.mean, rate.half_width) if rate.count else "–",
        )
    captions = []
    if any(player.paired for player in players):
        captions.append("a pair of hands on one deal is one sample of mbb/hand, as in the match")
    if unseen := sum(player.unknown for player in players) // 2:
        captions.append(f"the winner of {unseen:,} hands was never seen: mbb/hand leaves them out")
    if len(players) > most:
        captions.append(f"{len(players) - most:,} players with fewer hands: --json has them all")
    table.caption = "; ".join(captions) or None
    return table

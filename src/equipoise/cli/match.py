"""`equipoise match`, `equipoise tournament` and `equipoise agents`: who beats whom, by how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.output import (
    Address,
    Json,
    Overwrite,
    Seed,
    at_address,
    emit,
    listening,
    progress_bar,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.matchresult import MatchResult
    from equipoise.arena.measures.aivat import AivatResult
    from equipoise.arena.tournament import Tournament
    from equipoise.games.rules import Rules

GameName = Annotated[
    str, typer.Option("--game", help="limit, one-bet, nolimit or an ACPC game file.")
]
Workers = Annotated[int, typer.Option("--workers", help="Processes that play.")]
AllinEquity = Annotated[
    bool, typer.Option("--allin-equity", help="Pay an early all-in by its exact equity.")
]
ExactEnd = Annotated[
    bool,
    typer.Option("--exact-end", help="With --aivat: the last street is worth its exact value."),
]
Duplicate = Annotated[
    bool, typer.Option("--duplicate/--no-duplicate", help="Play every deal from both seats.")
]


def rules_of(game: str) -> Rules:
    """The rules a `--game` names."""
    import os.path

    from equipoise.errors import GameError
    from equipoise.games.notation import gamefile
    from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, ONE_BET_HOLDEM
    from equipoise.settings import did_you_mean

    known = {"limit": LIMIT_HOLDEM, "one-bet": ONE_BET_HOLDEM, "nolimit": NOLIMIT_HOLDEM}
    if game in known:
        return known[game]
    if os.path.exists(game):
        return gamefile.load(game)
    cure = did_you_mean(game.lower(), known, "name a game file, or choose from")
    raise GameError(f"no game {game[:200]!r}: {cure}")


def match_command(
    a: Annotated[str, typer.Argument(help="An agent, its TOML file, or FILE.py:CLASS.")],
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    game: GameName = "nolimit",
    hands: Annotated[int, typer.Option(help="Hands in all: two for each deal.")] = 10_000,
    seed: Seed = 0,
    duplicate: Duplicate = True,
    workers: Workers = 1,
    address: Address = None,
    log: Annotated[Path | None, typer.Option(help="Keep every hand in this file.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the log.")] = False,
    overwrite: Overwrite = False,
    allin_equity: AllinEquity = False,
    seconds_per_action: Annotated[
        float | None, typer.Option(help="A decision that takes longer is a fault; 60 if not given.")
    ] = None,
    without_luck: Annotated[
        bool, typer.Option("--aivat", help="Also say the figures without luck (AIVAT).")
    ] = False,
    exact_end: ExactEnd = False,
    json: Json = False,
) -> None:
    """Play two agents against each other; figures are A's, in thousandths of a big blind a hand.

    \b
    Example: equipoise match random call --hands 100000 --seed 7 --workers 2
    Example: equipoise match fold all-in --game limit --log match.log
    Example: equipoise match random call --hands 1000 --aivat
    Example: equipoise match bots/jam.py:Jam call --workers 2

    An agent FILE.py:CLASS is a class of yours: the Python file that you name is run.
    """
    from contextlib import ExitStack, suppress
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from equipoise.arena.match import play_match
    from equipoise.errors import EquipoiseError

    if exact_end and not without_luck:
        raise EquipoiseError("--exact-end says how luck is taken out: give --aivat, too")
    if without_luck and log is not None and log.exists() and not log.is_file():
        raise EquipoiseError(f"--log {log}: AIVAT reads the hands from their log: name a file")
    luckless: AivatResult | None = None
    with ExitStack() as stack:
        workers = stack.enter_context(at_address(address, workers))
        report = stack.enter_context(progress_bar(f"{a} v {b}", quiet=json))
        kept = log
        if without_luck and log is None:
            kept = Path(stack.enter_context(TemporaryDirectory())) / "match.log"
        result = play_match(
            a,
            b,
            rules_of(game),
            hands,
            seed,
            duplicate=duplicate,
            workers=workers,
            log=kept,
            resume=resume,
            overwrite=overwrite,
            allin_equity=allin_equity,
            seconds_per_action=seconds_per_action,
            progress=listening(report),
        )
        if without_luck:
            from equipoise.arena.measures.aivat import aivat

            with suppress(KeyboardInterrupt):
                hear = listening(report)
                luckless = aivat(result, a, b, workers=workers, progress=hear, exact_end=exact_end)
    result = replace(result, log=log)
    data = result.to_dict() | (luckless.to_dict() if luckless is not None else {})
    stopped = without_luck and luckless is None
    emit(data, json, lambda: _match_table(result, luckless, stopped))


def luckless_rows(result: AivatResult) -> dict[str, str]:
    """What tables say of a match without its luck."""
    from equipoise.arena.statistics import rate_text

    now = result.estimate
    told = {
        "without luck": f"{rate_text(now.mean, now.half_width, 1)} mbb/hand",
        "its standard deviation": f"{result.std_mbb:,.0f} mbb a hand",
    }
    if result.match.std_mbb:
        less = "less" if result.reduction >= 0 else "more"
        told["its standard deviation"] += f", {abs(result.reduction):.0%} {less}"
    return told


def _match_table(
    result: MatchResult, luckless: AivatResult | None, stopped: bool
) -> RenderableType:
    rows = match_rows(result)
    if luckless is not None:
        rows |= luckless_rows(luckless)
    if stopped:
        rows["without luck"] = "stopped before the end"
    return rows_table(result, rows)


def rows_table(result: MatchResult, rows: dict[str, str]) -> RenderableType:
    """A table of what is said of a match."""
    from rich.table import Table

    table = Table(title=f"{result.a} v {result.b}: {result.rules.name}", show_header=False)
    for label, value in rows.items():
        # One sample has neither an interval nor a deviation.
        if not value.startswith(("nan", "+nan")):
            table.add_row(label, value)
    return table


def match_rows(result: MatchResult) -> dict[str, str]:
    """What tables say of a match."""
    from equipoise.arena.statistics import rate_text

    low, high = result.estimate.interval
    won, lost, drawn = result.triplet
    unit = "pairs" if result.duplicate else "hands"
    rows = {
        f"{result.a} wins": f"{rate_text(result.mbb_per_hand, result.ci95_mbb, 1)} mbb/hand",
        "95 % interval": f"{low:+,.1f} to {high:+,.1f}",
        "standard deviation": f"{result.std_mbb:,.0f} mbb a hand",
        "hands": f"{result.hands:,}"
        + f" in {result.pairs:,} pair{'s' * (result.pairs != 1)}" * result.duplicate,
        f"{unit} won, lost, drawn": f"{won:,}, {lost:,}, {drawn:,}"
        + " by the sum of both hands" * result.duplicate,
        "speed": f"{result.hands_per_second:,.0f} hands/s",
        "seed": str(result.seed),
    }
    if result.log is not None:
        rows["log"] = str(result.log)
    if result.faults:
        last = result.faults[-1]
        counts = [sum(fault.seat == seat for fault in result.faults) for seat in (0, 1)]
        rows["faults"] = (
            f"{counts[0]} and {counts[1]}; the last, in hand {last.hand}: {last.reason}"
        )
    if any(result.fallbacks):
        rows["fallbacks"] = f"{result.fallbacks[0]:,} and {result.fallbacks[1]:,} decisions"
    if result.forfeited_by is not None:
        rows["forfeited by"] = result.forfeited_by
    if result.interrupted:
        rows["stopped"] = "before the end" + ", --resume goes on" * (result.log is not None)
    return rows


def tournament_command(
    players: Annotated[
        list[str], typer.Argument(help="Agents, their TOML files, or FILE.py:CLASS.")
    ],
    game: GameName = "nolimit",
    hands: Annotated[int, typer.Option(help="Hands of each match.")] = 10_000,
    seed: Seed = 0,
    duplicate: Duplicate = True,
    workers: Workers = 1,
    address: Address = None,
    allin_equity: AllinEquity = False,
    logs: Annotated[Path | None, typer.Option(help="Directory for every match's log.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the logs.")] = False,
    overwrite: Overwrite = False,
    csv: Annotated[Path | None, typer.Option(help="Write the matches as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a heat map.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page for the browser.")] = None,
    json: Json = False,
) -> None:
    """Everybody plays everybody: cross table, total bankroll, instant run-off, triplets.

    \b
    Example: equipoise tournament random call fold all-in --hands 20000 --page cross.html
    """
    from equipoise.arena.crosstable import save
    from equipoise.arena.tournament import play_tournament
    from equipoise.files import check_target

    wanted = {"--csv": (".csv", csv), "--plot": (".png", plot), "--page": (".html", page)}
    for option, (ending, path) in wanted.items():
        if path is not None:
            check_target(path, overwrite=overwrite, suffixes=(ending,), what=option)
    with at_address(address, workers) as workers, progress_bar("tournament", json) as report:
        result = play_tournament(
            players,
            rules_of(game),
            hands,
            seed,
            duplicate=duplicate,
            workers=workers,
            allin_equity=allin_equity,
            logs=logs,
            resume=resume,
            # Who goes on from logs may well have the tables replaced.
            overwrite=overwrite and not resume,
            progress=listening(report),
        )
    for _, path in wanted.values():
        if path is not None:
            save(result, path)
    emit(result.to_dict(), json, lambda: _tournament_tables(result))


def _tournament_tables(result: Tournament) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from equipoise.arena.crosstable import cell_text, triplet_text
    from equipoise.arena.statistics import rate_text

    order, runoff = result.by_bankroll(), result.by_runoff()
    names = [result.names[i] for i in order]
    rates = Table("", *names, title=f"win rate of the row, mbb/hand: {result.rules.name}")
    triplets = Table("", *names, title="pairs the row won, lost, drew by the sum of both hands")
    for i in order:
        rates.add_row(result.names[i], *(cell_text(result, i, j) for j in order))
        triplets.add_row(result.names[i], *(triplet_text(result, i, j) for j in order))
    ranking = Table("bankroll", "player", "mbb/hand against all", "run-off", title="ranking")
    for place, i in enumerate(order, 1):
        mean, half = result.total(i)
        ranking.add_row(
            str(place), result.names[i], rate_text(mean, half), str(runoff.index(i) + 1)
        )
    parts: list[RenderableType] = [rates, triplets, ranking]
    if result.interrupted:
        parts.append("stopped before the end; --logs and --resume go on")
    return Group(*parts)

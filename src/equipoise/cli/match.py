"""`equipoise match`, `equipoise tournament` and `equipoise agents`: who beats whom, by how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Seed, emit, progress_bar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.match import MatchResult
    from equipoise.games.rules import Rules

GameName = Annotated[str, typer.Option("--game", help="limit, nolimit or an ACPC game file.")]
Workers = Annotated[int, typer.Option("--workers", help="Processes that play.")]
AllinEquity = Annotated[
    bool, typer.Option("--allin-equity", help="Pay an early all-in by its exact equity.")
]
Duplicate = Annotated[
    bool, typer.Option("--duplicate/--no-duplicate", help="Play every deal from both seats.")
]


def rules_of(game: str) -> Rules:
    """The rules a `--game` names."""
    from equipoise.games import gamefile
    from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM

    known = {"limit": LIMIT_HOLDEM, "nolimit": NOLIMIT_HOLDEM}
    return known[game] if game in known else gamefile.load(game)


def match_command(
    a: Annotated[str, typer.Argument(help="An agent, or the TOML file of one.")],
    b: Annotated[str, typer.Argument(help="Its opponent.")],
    game: GameName = "nolimit",
    hands: Annotated[int, typer.Option(help="Hands in all: two for each deal.")] = 10_000,
    seed: Seed = 0,
    duplicate: Duplicate = True,
    workers: Workers = 1,
    log: Annotated[Path | None, typer.Option(help="Keep every hand in this file.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the log.")] = False,
    allin_equity: AllinEquity = False,
    seconds_per_action: Annotated[
        float | None, typer.Option(help="A decision that takes longer is a fault.")
    ] = None,
    json: Json = False,
) -> None:
    """Play two agents against each other; figures are A's, in thousandths of a big blind a hand.

    \b
    Example: equipoise match random call --hands 100000 --seed 7 --workers 2
    Example: equipoise match fold all-in --game limit --log match.log
    """
    from equipoise.arena.match import play_match

    with progress_bar(f"{a} v {b}", quiet=json) as report:
        result = play_match(
            a,
            b,
            rules_of(game),
            hands,
            seed,
            duplicate=duplicate,
            workers=workers,
            log=log,
            resume=resume,
            allin_equity=allin_equity,
            seconds_per_action=seconds_per_action,
            progress=report,
        )
    emit(result.as_dict(), json, lambda: _match_table(result))


def _match_table(result: MatchResult) -> RenderableType:
    from rich.table import Table

    table = Table(title=f"{result.a} v {result.b}: {result.rules.name}", show_header=False)
    low, high = result.estimate.interval
    won, lost, drawn = result.triplet
    unit = "pairs" if result.duplicate else "hands"
    rows = {
        f"{result.a} wins": f"{result.mbb_per_hand:+,.1f} ± {result.ci95_mbb:,.1f} mbb/hand",
        "95 % interval": f"{low:+,.1f} to {high:+,.1f}",
        "standard deviation": f"{result.std_mbb:,.0f} mbb a hand",
        "hands": f"{result.hands:,}" + f" in {result.pairs:,} pairs" * result.duplicate,
        f"{unit} won, lost, drawn": f"{won:,}, {lost:,}, {drawn:,}",
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
    if result.forfeited_by is not None:
        rows["forfeited by"] = result.forfeited_by
    if result.interrupted:
        rows["stopped"] = "before the end" + ", --resume goes on" * (result.log is not None)
    for label, value in rows.items():
        table.add_row(label, value)
    return table


def agents_command(json: Json = False) -> None:
    """List the agents: what they play, where they come from, what a decision costs.

    Example: equipoise agents
    """
    from equipoise.agents.registry import entries

    listed = list(entries().values())
    data: dict[str, Any] = {
        "agents": {
            entry.name: {
                "game": entry.game,
                "description": entry.description,
                "document": entry.document,
                "cost_per_decision": entry.cost,
                "parameters": {key: str(value) for key, value in entry.parameters().items()},
            }
            for entry in listed
        }
    }

    def table() -> RenderableType:
        from rich.table import Table

        shown = Table("agent", "game", "what it does", "a decision costs", "from", title="agents")
        for entry in listed:
            shown.add_row(entry.name, entry.game, entry.description, entry.cost, entry.document)
        return shown

    emit(data, json, table)

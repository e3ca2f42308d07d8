"""`equipoise acpc` and `equipoise dealer`: both ends of the competition's protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.match import GameName, rules_of
from equipoise.cli.output import Json, Overwrite, Seed, emit

if TYPE_CHECKING:
    from equipoise.arena.acpc.dealer import DealerResult


def acpc_command(
    agent: Annotated[str, typer.Argument(help="An agent, its TOML file, or FILE.py:CLASS.")],
    host: Annotated[str, typer.Argument(help="Where the dealer is.")],
    port: Annotated[int, typer.Argument(help="The port of the seat.")],
    game: GameName = "nolimit",
    seed: Seed = 0,
    timeout: Annotated[
        float, typer.Option(help="Longest wait for the dealer's next line, in seconds.")
    ] = 1200.0,
    json: Json = False,
) -> None:
    """Join a dealer of the Annual Computer Poker Competition and play until it ends the match.

    \b
    Example: equipoise acpc call 127.0.0.1 16177 --game limit
    """
    from equipoise.agents.registry import make_agent
    from equipoise.arena.acpc.client import check_visit, join

    check_visit(port, seed, timeout)
    rules = rules_of(game)
    visit = join(make_agent(agent, rules), rules, host, port, seed=seed, timeout=timeout)
    rate = 1000 * visit.chips / visit.hands / rules.big_blind if visit.hands else 0.0
    data = {
        "agent": agent,
        "hands": visit.hands,
        "chips": visit.chips,
        "mbb_per_hand": rate,
        "hands_per_second": visit.hands / visit.seconds if visit.seconds else 0.0,
    }
    emit(
        data,
        json,
        lambda: (
            f"{agent}: {visit.chips:+,.0f} chips in {visit.hands:,} hands, {rate:+,.1f} mbb/hand"
        ),
    )


def dealer_command(
    game: GameName = "nolimit",
    hands: Annotated[int, typer.Option(help="Hands of the match.")] = 1000,
    seed: Seed = 0,
    ports: Annotated[str, typer.Option(help="A port for each seat; 0 is any free one.")] = "0,0",
    host: Annotated[
        str, typer.Option(help="Address to listen on; by default only this machine can connect.")
    ] = "127.0.0.1",
    names: Annotated[str, typer.Option(help="Names of the players, by seat.")] = "p1,p2",
    log: Annotated[Path | None, typer.Option(help="Write every hand to this file.")] = None,
    transcript: Annotated[
        Path | None, typer.Option(help="Write every line sent and received to this file.")
    ] = None,
    t_response: Annotated[float, typer.Option(help="Seconds for one answer.")] = 600.0,
    t_hand: Annotated[
        float, typer.Option(help="Seconds for a player's answers in a hand.")
    ] = 600.0,
    t_per_hand: Annotated[float, typer.Option(help="Seconds a hand, over the match.")] = 7.0,
    t_start: Annotated[float, typer.Option(help="Seconds for both players to connect.")] = 600.0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Deal a match to two players over TCP, by the rules of the competition's dealer.

    \b
    Example: equipoise dealer --game limit --hands 3000 --seed 7 --ports 16177,16178 --log match.log
    """
    from equipoise.arena.acpc.dealer import AcpcDealer, TimeLimits
    from equipoise.arena.matchlog import LogWriter
    from equipoise.errors import FileError
    from equipoise.files import check_target

    limits = TimeLimits(t_response, t_hand, t_per_hand, t_start)
    for option, path in (("--log", log), ("--transcript", transcript)):
        if path is not None:
            check_target(path, overwrite=overwrite, what=option)
    if log is not None and transcript is not None and log.absolute() == transcript.absolute():
        raise FileError("--log and --transcript name one file: choose two")
    with ExitStack() as stack:
        dealer = stack.enter_context(
            AcpcDealer(
                rules_of(game),
                hands,
                seed,
                ports=_ports(ports),
                host=host,
                names=_pair("--names", names),
                limits=limits,
                game=Path(game).name,
            )
        )
        # Not before the ports are open, so that a dealer which cannot deal leaves nothing.
        if log is not None:
            dealer.log = stack.enter_context(closing(LogWriter(log)))
        if transcript is not None:
            dealer.transcript = stack.enter_context(closing(LogWriter(transcript)))
        opened = dealer.ports
        print(f"dealing on {host}, ports {opened[0]} and {opened[1]}", file=sys.stderr, flush=True)
        outcome = dealer.run()
    data = outcome.to_dict() | {"seed": seed, "log": None if log is None else str(log)}
    score = ", ".join(
        f"{name} {chips:+,.0f}" for name, chips in zip(outcome.names, outcome.score, strict=True)
    )
    emit(
        data, json, lambda: "\n".join([f"{outcome.hands:,} hands: {score} chips", *_wrong(outcome)])
    )
    if outcome.reason:
        print(
            f"equipoise: the match ended after {outcome.hands} hands: {outcome.reason}",
            file=sys.stderr,
        )
        raise typer.Exit(1)


def _pair(option: str, text: str) -> tuple[str, str]:
    from equipoise.errors import GameError

    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2:
        raise GameError(f"{option} {text[:40]}: give two, with a comma between them")
    return parts[0], parts[1]


def _ports(text: str) -> tuple[int, int]:
    from equipoise.errors import GameError
    from equipoise.numerals import read_whole

    first, second = (read_whole(port) for port in _pair("--ports", text))
    if first is None or second is None or max(first, second) > 65535:
        raise GameError(f"--ports {text[:40]}: a port is a number from 0 to 65535")
    return first, second


def _wrong(outcome: DealerResult) -> Iterator[str]:
    """What the seats did wrong."""
    for name, strays, mended in zip(
        outcome.names, outcome.stray_lines, outcome.mended_answers, strict=True
    ):
        if strays or mended:
            yield f"{name}: {strays:,} lines that answer nothing, {mended:,} answers mended"

"""`equipoise acpc` and `equipoise dealer`: both ends of the competition's protocol."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TextIO

import typer

from equipoise.cli.match import GameName, rules_of
from equipoise.cli.output import Json, Seed, emit


def acpc_command(
    agent: Annotated[str, typer.Argument(help="An agent, or the TOML file of one.")],
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
    from equipoise.arena.client import join
    from equipoise.errors import EquipoiseError

    if timeout <= 0:
        raise EquipoiseError(f"--timeout {timeout:g}: wait for more than 0 seconds")
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
    json: Json = False,
) -> None:
    """Deal a match to two players over TCP, by the rules of the competition's dealer.

    \b
    Example: equipoise dealer --game limit --hands 3000 --seed 7 --ports 16177,16178 --log match.log
    """
    from equipoise.arena.dealer import Dealer, TimeLimits
    from equipoise.errors import GameError

    limits = TimeLimits(t_response, t_hand, t_per_hand, t_start)
    rules = rules_of(game)
    pair = _pair("--ports", ports)
    if not all(port.isdecimal() and int(port) < 65536 for port in pair):
        raise GameError(f"--ports {ports}: a port is a number from 0 to 65535")
    with ExitStack() as stack:
        files = [stack.enter_context(_create(path)) if path else None for path in (log, transcript)]
        dealer = stack.enter_context(
            Dealer(
                rules,
                hands,
                seed,
                ports=(int(pair[0]), int(pair[1])),
                host=host,
                names=_pair("--names", names),
                limits=limits,
                game=Path(game).name,
                log=files[0],
                transcript=files[1],
            )
        )
        opened = dealer.ports
        print(f"dealing on {host}, ports {opened[0]} and {opened[1]}", file=sys.stderr, flush=True)
        outcome = dealer.run()
    data = {
        "hands": outcome.hands,
        "names": outcome.names,
        "score_chips": outcome.score,
        "hands_per_second": outcome.hands / outcome.seconds if outcome.seconds else 0.0,
        "seed": seed,
        "log": None if log is None else str(log),
        "ended_early": outcome.reason,
    }
    score = ", ".join(
        f"{name} {chips:+,.0f}" for name, chips in zip(outcome.names, outcome.score, strict=True)
    )
    emit(data, json, lambda: f"{outcome.hands:,} hands: {score} chips")
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
        raise GameError(f"{option} {text}: give two, with a comma between them")
    return parts[0], parts[1]


def _create(path: Path) -> TextIO:
    from equipoise.errors import HistoryError

    try:
        # A line at a time: what was played is on disk whatever happens next.
        return path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise HistoryError(f"cannot write {path}: {error.strerror or error}") from None

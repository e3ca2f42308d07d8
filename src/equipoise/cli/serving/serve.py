"""`equipoise serve` and `equipoise challenge`: the benchmark over HTTP, from both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.match import match_rows, rows_table
from equipoise.cli.output import Json, check_seed, emit, listening, progress_bar
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.matchresult import MatchResult


def serve_command(
    agent: Annotated[
        str, typer.Option(help="Who plays: an agent, its TOML file, or FILE.py:CLASS.")
    ] = "",
    port: Annotated[int | None, typer.Option(help="Where to listen; 8300 if not given.")] = None,
    host: Annotated[str, typer.Option(help="Whom to listen to; with --key others as well.")] = (
        "127.0.0.1"
    ),
    key: Annotated[
        str | None, typer.Option(help="What clients must show, of 12 characters or more.")
    ] = None,
) -> None:
    """Let any client play an agent over HTTP, in the words of Slumbot's public server.

    \b
    Example: equipoise serve --agent tartanian5
    Example: equipoise serve --agent flagship --host 0.0.0.0 --key a-long-word-1234

    A client asks POST /api/new_hand and /api/act; /docs has it all, /leaderboard who did how well. What
    is played is kept in ~/.local/share/equipoise, or in the folder that EQUIPOISE_DATA names.
    """
    try:
        from equipoise.web.benchmark.server import serve
    except ImportError as error:
        raise EquipoiseError(f"serving needs {error.name}: pip install 'equipoise[web]'") from None
    from equipoise.agents.opponents import best_opponent
    from equipoise.arena.remote.notation import RULES

    chosen, why = (agent, "") if agent else best_opponent(RULES)
    if why:
        print(why, flush=True)

    def ready(address: str) -> None:
        print(f"{chosen} plays at {address} (POST {address}/api/new_hand); Ctrl-C ends", flush=True)

    serve(chosen, host, port, key, ready)


def challenge_command(
    url: Annotated[str, typer.Argument(help="The server, as http://127.0.0.1:8300.")],
    agent: Annotated[str, typer.Argument(help="An agent, its TOML file, or FILE.py:CLASS.")],
    hands: Annotated[int, typer.Option(help="Hands to play.")] = 1000,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            "--series",
            callback=check_seed,
            help="Series of deals, as of match --seed; fresh cards if not given.",
        ),
    ] = None,
    key: Annotated[str | None, typer.Option(help="The server's key, if it has one.")] = None,
    username: Annotated[str | None, typer.Option(help="Name for the leaderboard.")] = None,
    password: Annotated[
        str, typer.Option(envvar="EQUIPOISE_PASSWORD", help="Keeps the name yours.")
    ] = "",
    json: Json = False,
) -> None:
    """Play an agent against a server that speaks as Slumbot's does, ours or another's.

    \b
    Example: equipoise challenge http://127.0.0.1:8300 quick --hands 1000 --series 2026
    Example: equipoise challenge https://slumbot.com/slumbot tartanian5 --hands 100
    """
    from equipoise.arena.remote.challenge import challenge

    login = None if username is None else (username, password)
    with progress_bar(f"{agent} at {url}", quiet=json) as report:
        result, session = challenge(
            url, agent, hands, series=seed, key=key, login=login, progress=listening(report)
        )
    data = result.to_dict() | {
        "url": url,
        "series": seed,
        "payoffs": result.payoffs.tolist(),
        "session": session,
    }
    emit(data, json, lambda: _table(result, session))


def _table(result: MatchResult, session: dict[str, Any] | None) -> RenderableType:
    from equipoise.arena.statistics import rate_text

    rows = match_rows(result)
    if session is not None and session.get("aivat_mbb_per_hand") is not None:
        half = session.get("aivat_ci95_mbb")
        rate = rate_text(session["aivat_mbb_per_hand"], float("nan") if half is None else half, 1)
        rows["without luck"] = f"{rate} mbb/hand, says the server"
    return rows_table(result, rows)

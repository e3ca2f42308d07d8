"""`equipoise lbr` and `equipoise endgames`: how much an agent can be beaten for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.match import Duplicate, GameName, Workers, rules_of
from equipoise.cli.output import Address, Json, Seed, at_address, emit, listening, progress_bar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.measures.endgames import EndgamesResult
    from equipoise.arena.measures.lbr import LbrResult


def lbr_command(
    agent: Annotated[
        str, typer.Argument(help="An agent whose policy is known: name, file or FILE.py:CLASS.")
    ],
    game: GameName = "nolimit",
    hands: Annotated[int, typer.Option(help="Hands in all: two for each deal.")] = 60_000,
    menu: Annotated[
        str,
        typer.Option(
            help="Fold, call, pot, all-in: letters of fcpa, or 56 sizes; for all streets or each: "
            "c,56,fc,fc."
        ),
    ] = "fcpa",
    seed: Seed = 0,
    duplicate: Duplicate = True,
    workers: Workers = 1,
    address: Address = None,
    against: Annotated[
        str,
        typer.Option(
            help="Another agent: how much more is won from AGENT than from it, on the same deals."
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Score a local best response to an agent: what it wins, a best response wins at least.

    \b
    Example: equipoise lbr quick --seed 7 --workers 2
    Example: equipoise lbr quick --menu fcpa,fcpa,fc,fc --hands 20000
    Example: equipoise lbr fold --game limit --hands 1000 --json
    Example: equipoise lbr quick --against tartanian5 --hands 2000
    """
    from equipoise.arena.measures.lbr import local_best_response

    with at_address(address, workers) as workers, progress_bar(f"lbr v {agent}", json) as report:
        result = local_best_response(
            agent,
            rules_of(game),
            hands,
            menu,
            seed,
            duplicate=duplicate,
            workers=workers,
            against=against or None,
            progress=listening(report),
        )
    emit(result.to_dict(), json, lambda: _table(result))


def _table(result: LbrResult) -> RenderableType:
    from rich.table import Table

    from equipoise.arena.statistics import rate_text

    match = result.match
    table = Table(title=f"local best response to {result.agent}: {match.rules.name}")
    table.show_header = False
    low, high = match.estimate.interval
    rows = {
        "it wins": f"{rate_text(match.mbb_per_hand, match.ci95_mbb, 1)} mbb/hand",
        "95 % interval": f"{low:+,.1f} to {high:+,.1f}",
        "menu": result.menu,
        "hands": f"{match.hands:,}"
        + f" in {match.pairs:,} pair{'s' * (match.pairs != 1)}" * match.duplicate,
        "speed": f"{match.hands_per_second:,.0f} hands/s",
        "seed": str(match.seed),
    }
    if result.other is not None and result.difference is not None:
        other, more = result.other.match, result.difference
        rows[f"from {result.other.agent}"] = (
            f"{rate_text(other.mbb_per_hand, other.ci95_mbb, 1)} mbb/hand"
        )
        rows[f"more from {result.agent}"] = (
            f"{rate_text(more.mean, more.half_width, 1)} mbb/hand, on the same deals"
        )
    if match.interrupted:
        rows["stopped"] = "before the end"
    for label, value in rows.items():
        if not value.startswith("+nan"):
            table.add_row(label, value)
    return table


def endgames_command(
    agent: Annotated[
        str, typer.Argument(help="An agent whose policy is known: name, file or FILE.py:CLASS.")
    ],
    street: Annotated[str, typer.Option(help="Where endgames begin: turn or river.")] = "river",
    roots: Annotated[int, typer.Option(help="Endgames, from hands against itself.")] = 200,
    seed: Seed = 0,
    responder_sizes: Annotated[
        str,
        typer.Option(
            help="Sizes that a responder has besides the agent's own, in % of the pot and a for "
            "all-in: 25,50,100,200,a."
        ),
    ] = "",
    game: GameName = "nolimit",
    workers: Workers = 1,
    json: Json = False,
) -> None:
    """Measure exactly how much an agent can be beaten for in the endgames it plays into.

    \b
    Example: equipoise endgames tartanian5 --roots 50 --seed 7
    Example: equipoise endgames quick --street turn --roots 10 --workers 2
    Example: equipoise endgames quick --responder-sizes 25,50,100,200,a --json
    """
    from equipoise.arena.measures.endgames import endgames

    with progress_bar(f"endgames of {agent}", quiet=json) as report:
        result = endgames(
            agent,
            street,
            roots,
            seed,
            rules=rules_of(game),
            responder_sizes=responder_sizes,
            workers=workers,
            progress=listening(report),
        )
    emit(result.to_dict(), json, lambda: _endgames_table(result))


def _endgames_table(result: EndgamesResult) -> RenderableType:
    from rich.table import Table

    table = Table(title=f"{result.agent}: endgames from the {result.street}", show_header=False)
    rows = {"its own sizes": result.estimate}
    if result.off_tree is not None:
        rows[f"and {result.responder_sizes} of a responder"] = result.off_tree
    for label, figure in rows.items():
        error = f" ± {figure.half_width:,.2f}" if figure.count > 1 else ""
        table.add_row(label, f"beaten for {figure.mean:,.2f}{error} % of the pot")
    table.add_row("endgames", f"{len(result.own_pct):,}")
    table.add_row("seconds", f"{result.seconds:,.1f}")
    table.add_row("seed", str(result.seed))
    if result.interrupted:
        table.add_row("stopped", "before the end")
    return table

"""`equipoise agents`: the list of agents, and how one of them opens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.match import rules_of
from equipoise.cli.output import Json, Seed, check_places, emit, progress_bar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.arena.opening import Chart


def agents_command(
    agent: Annotated[
        str, typer.Argument(help="Show how this one opens; all are listed else.")
    ] = "",
    against: Annotated[
        str, typer.Option(help="Opponent of the limp report; by default the agent itself.")
    ] = "",
    game: Annotated[
        str, typer.Option(help="limit, nolimit or an ACPC game file; by default the agent's.")
    ] = "",
    hands: Annotated[
        int, typer.Option(help="Hands on the button for the limp report; 0 leaves it out.")
    ] = 10_000,
    plot: Annotated[Path | None, typer.Option(help="Draw the chart into this file.")] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """List the agents, or show one's chart before the flop and what its limps earn.

    \b
    Example: equipoise agents
    Example: equipoise agents quick --hands 20000 --plot quick.png
    """
    if not agent:
        _list(json)
        return
    from equipoise.agents.registry import Recipe
    from equipoise.arena.opening import opening_chart, opening_earnings
    from equipoise.cards.chart import figure, save

    check_places(plot)
    recipe = Recipe.read(agent)
    rules = rules_of(game or ("limit" if recipe.entry.game == "limit" else "nolimit"))
    player = recipe.make(rules)
    chart = opening_chart(player, rules, recipe.name)
    data: dict[str, Any] = {
        "agent": recipe.name,
        "game": rules.name,
        "actions": list(chart.actions),
        "shares": chart.shares,
        "chart": chart.frequencies.round(6),
    }
    if hands:
        other = Recipe.read(against or agent)
        with progress_bar(f"{recipe.name} on the button", quiet=json) as bar:
            earned = opening_earnings(player, other.make(rules), rules, hands, seed, bar)
        data |= earned.as_dict() | {"opponent": other.name, "seed": seed}
    if plot is not None:
        drawn = figure(_squares(chart), title=_title(chart), actions=chart.actions)
        save(drawn, plot)
        data["plot"] = str(plot)
    emit(data, json, lambda: _shown(chart, data))


def _squares(chart: Chart) -> Any:
    return chart.frequencies.reshape(13, 13, -1)


def _title(chart: Chart) -> str:
    return f"{chart.agent} on the button, first in"


def _shown(chart: Chart, data: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from equipoise.cards.chart import render
    from equipoise.games.rules import Kind

    table = Table("first action", "of all hands", title="limp report")
    if "earned" in data:
        against = f"earned, mbb/hand, against {data['opponent']}"
        table.add_column("hands played", justify="right")
        table.add_column(against, justify="right")
    for manner, share in data["shares"].items():
        cells = [manner, f"{share:.1%}"]
        if "earned" in data:
            told = data["earned"][manner]
            rate = f"{told['mbb_per_hand']:+,.0f} ± {told['ci95_mbb']:,.0f}"
            cells += [f"{told['hands']:,}", rate if told["hands"] else ""]
        table.add_row(*cells)
    parts: list[RenderableType] = [
        render(_squares(chart), title=_title(chart), actions=chart.actions)
    ]
    for manner, kind in (("raises", Kind.RAISE), ("limps", Kind.CALL)):
        # One figure a class: it is read without colours too.
        often = chart.frequencies[:, [k == kind for k in chart.kinds]].sum(axis=1)
        if often.any():
            parts.append(render(often.reshape(13, 13), title=f"how often {chart.agent} {manner}"))
    return Group(*parts, table)


def _list(json: bool) -> None:
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

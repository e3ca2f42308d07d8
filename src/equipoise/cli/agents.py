"""`equipoise agents`: the list of agents, and how one of them opens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.match import rules_of
from equipoise.cli.output import (
    Json,
    Overwrite,
    Seed,
    check_number,
    emit,
    listening,
    progress_bar,
)
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.agents.registry import AgentSpec
    from equipoise.arena.measures.opening import Chart
    from equipoise.games.rules import Rules

#: Hands of a limp report: a day of them.
MOST_HANDS = 1_000_000_000


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
    ranges: Annotated[
        Path | None, typer.Option(help="Write its ranges before the flop into this folder.")
    ] = None,
    charts: Annotated[
        bool, typer.Option("--charts", help="With --ranges: pictures of the decisions too.")
    ] = False,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """List the agents, or show one's chart before the flop and what its limps earn.

    \b
    Example: equipoise agents
    Example: equipoise agents quick --hands 20000 --plot quick.png
    Example: equipoise agents quick --ranges quick-ranges --charts
    """
    check_number("--hands", hands, 0, MOST_HANDS)
    if not agent:
        if against or game or plot is not None or ranges is not None:
            raise EquipoiseError("--against, --game, --plot and --ranges are of one agent: name it")
        _list(json)
        return
    if charts and ranges is None:
        raise EquipoiseError("--charts draws the decisions of --ranges: name a folder with that")
    if ranges is not None:
        if against or game or plot is not None:
            raise EquipoiseError("--ranges stands alone: leave out --against, --game and --plot")
        _write_ranges(agent, ranges, charts, overwrite, json)
        return
    from equipoise.agents.registry import AgentSpec
    from equipoise.arena.measures.opening import opening_chart, opening_earnings
    from equipoise.cards.chart import PICTURES, figure, save
    from equipoise.files import check_target

    if plot is not None:
        check_target(plot, overwrite=overwrite, suffixes=PICTURES, what="--plot")
    if against and not hands:
        raise EquipoiseError("--against plays the limp report's hands: give some with --hands")
    recipe = AgentSpec.read(agent)
    rules = rules_of(game) if game else _own_rules(recipe)
    other = AgentSpec.read(against) if against else recipe
    other.check(rules)
    player = recipe.make(rules)
    opponent = other.make(rules) if hands else None
    chart = opening_chart(player, rules, recipe.name)
    data: dict[str, Any] = {
        "agent": recipe.name,
        "game": rules.name,
        "actions": list(chart.actions),
        "shares": chart.shares,
        "chart": chart.frequencies.round(6),
    }
    if opponent is not None:
        with progress_bar(f"{recipe.name} on the button", quiet=json) as bar:
            earned = opening_earnings(player, opponent, rules, hands, seed, listening(bar))
        data |= earned.to_dict() | {"opponent": other.name, "seed": seed}
    if plot is not None:
        drawn = figure(_squares(chart), title=_title(chart), actions=chart.actions)
        save(drawn, plot)
        data["plot"] = str(plot)
    emit(data, json, lambda: _shown(chart, data))


def _write_ranges(agent: str, folder: Path, charts: bool, overwrite: bool, json: bool) -> None:
    """Write how an agent plays before the flop."""
    from equipoise.agents.blueprint.ranges import write_ranges
    from equipoise.agents.registry import AgentSpec
    from equipoise.agents.searching.searchagent import blueprint_player

    spec = AgentSpec.read(agent)
    player = blueprint_player(spec.make(_own_rules(spec)))
    if player is None:
        raise EquipoiseError(
            f"{spec.name} plays no blueprint: --ranges writes those of one that does"
        )
    decisions = write_ranges(player, folder, overwrite=overwrite, charts=charts)
    data = {
        "agent": spec.name,
        "folder": str(folder),
        "decisions": {
            one.name: dict(zip(one.actions, one.shares.round(6).tolist(), strict=True))
            for one in decisions
        },
        "ranges": sorted(name for one in decisions for name in one.ranges),
    }
    emit(data, json, lambda: _written(data))


def _own_rules(spec: AgentSpec) -> Rules:
    """The game that an agent plays: its blueprint's, if it has one."""
    from equipoise.agents.blueprint.files import has_blueprint, load_blueprint

    source = {**spec.entry.settings, **spec.parameters}.get("blueprint")
    if isinstance(source, str) and source and has_blueprint(source):
        return load_blueprint(source).recipe.rules
    return rules_of("limit" if spec.entry.game == "limit" else "nolimit")


def _written(data: dict[str, Any]) -> RenderableType:
    from rich.table import Table

    told = f"{data['agent']}: {len(data['ranges'])} ranges in {data['folder']}"
    table = Table("decision", "what it does", title=told)
    for name, shares in data["decisions"].items():
        table.add_row(name, ", ".join(f"{word} {share:.1%}" for word, share in shares.items()))
    return table


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
            rate = f"{told['mbb_per_hand']:+z,.0f} ± {told['ci95_mbb']:,.0f}"
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
    from equipoise.agents.blueprint.files import trained, training_command
    from equipoise.agents.registry import entries

    listed: dict[str, dict[str, Any]] = {}
    for entry in entries().values():
        blueprint = entry.settings.get("blueprint")
        state = trained(blueprint) if blueprint else None
        try:
            parameters = entry.parameters()
        except EquipoiseError:
            # Another package's agent that cannot be loaded is listed, and its description says so.
            parameters = {}
        listed[entry.name] = {
            "game": entry.game,
            "description": entry.description,
            "document": entry.document,
            "cost_per_decision": entry.cost,
            "trained": state,
            "train": training_command(str(blueprint)) if state == "no" else None,
            "parameters": {key: str(value) for key, value in parameters.items()},
        }
    emit({"agents": listed}, json, lambda: _listed(listed))


def _listed(listed: dict[str, dict[str, Any]]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from equipoise.agents.blueprint.files import training_time
    from equipoise.agents.registry import entries
    from equipoise.solve.training.recipe import Recipe

    shown = Table(title="agents")
    for name in ("agent", "game", "trained"):
        shown.add_column(name, no_wrap=True)
    shown.add_column("what it does")
    shown.add_column("a decision costs")
    for name, told in listed.items():
        shown.add_row(
            name,
            told["game"],
            told["trained"] or "",
            told["description"],
            told["cost_per_decision"],
        )
    documents: dict[str, list[str]] = {}
    for name, told in listed.items():
        if told["document"]:
            documents.setdefault(told["document"], []).append(name)
    sources = "".join(f"{', '.join(names)}: {title}\n" for title, names in documents.items())
    lines = []
    for name, told in listed.items():
        if told["train"] is not None:
            recipe = Recipe.shipped(entries()[name].settings["blueprint"])
            lines.append(f"{name} is not trained here ({training_time(recipe)}):")
            lines.append(f"    {told['train']}")
    # Commands are not broken, so that they can be copied.
    return Group(shown, Text(sources), Text("\n".join(lines), no_wrap=True, overflow="ignore"))

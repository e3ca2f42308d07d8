"""`equipoise show`: a saved solution, opened at once and walked, without solving on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import (
    Json,
    Overwrite,
    check_picture,
    emit,
    listening,
    progress_bar,
)
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.columnar import Columnar
    from equipoise.solve.spots.show import ShownPosition
    from equipoise.solve.spots.solution import Solution

#: How the name of a written report may end.
_TABLES = (".csv", ".parquet")


def show_command(
    file: Annotated[Path, typer.Argument(help="A saved solution.")],
    at: Annotated[
        str, typer.Option(help="Show this position, such as 'check, bet 50, call, Kh'.")
    ] = "",
    hand: Annotated[str | None, typer.Option(help="Show one hand there, such as AhQd.")] = None,
    hands: Annotated[bool, typer.Option("--hands", help="List the hands.")] = False,
    runouts: Annotated[
        bool, typer.Option("--runouts", help="One row for every card that may come there.")
    ] = False,
    classes: Annotated[
        bool, typer.Option("--classes", help="Hands by class: made hands and draws.")
    ] = False,
    equities: Annotated[
        bool, typer.Option("--equities", help="How equity is spread over both ranges.")
    ] = False,
    compare: Annotated[
        Path | None, typer.Option(help="Another solution, or this one, to stand beside it.")
    ] = None,
    compare_at: Annotated[
        str | None, typer.Option(help="Position to compare with; else the same line.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report as .csv or .parquet.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the chart or report into this png, svg or pdf.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Open a saved solution at any node: frequencies, EV of every action, hands, reports.

    Files of any size open at once: they are mapped, not read, and nothing is solved.

    \b
    Example: equipoise show spot.solution
    Example: equipoise show spot.solution --at 'check, bet 50' --hand AhQd
    Example: equipoise show spot.solution --at 'check, check' --runouts --plot cards.png
    Example: equipoise show spot.solution --compare other.solution --at check --plot both.png
    """
    wanted = {
        "--runouts": runouts,
        "--classes": classes,
        "--equities": equities,
        "--compare": compare is not None or compare_at is not None,
        "--hand": hand is not None,
    }
    asked = [name for name, given in wanted.items() if given]
    _check(asked, out, plot, overwrite)
    solution = opened(file)
    position = solution.at(at) if at else solution.at()
    told: dict[str, Any] = {"file": str(file), **_figures(solution)}
    if hand is not None:
        _show_hand(told, position, hand, json)
        return
    if asked == ["--compare"]:
        second = _second(compare or file, at if compare_at is None else compare_at)
        _show_comparison(told, position, second, json, out, plot)
        return
    report, shown = _report(told, position, asked, hands, plot, json)
    if out is not None:
        _write(report, out)
    emit(told, json, lambda: _group(shown, solution))


def _check(asked: list[str], out: Path | None, plot: Path | None, overwrite: bool) -> None:
    """Refuse, before anything is opened, what does not go together or could not be written."""
    if len(asked) > 1:
        raise EquipoiseError(f"{' and '.join(asked)}: ask for one report at a time")
    check_picture(plot, overwrite)
    if plot is not None and asked == ["--hand"]:
        raise EquipoiseError("--plot draws charts and reports: leave out --hand")
    if out is not None:
        from equipoise.files import check_target

        if asked == ["--hand"]:
            raise EquipoiseError("--out writes tables: leave out --hand to write all hands")
        check_target(out, overwrite=overwrite, suffixes=_TABLES, what="--out")


def _report(
    told: dict[str, Any],
    position: ShownPosition,
    asked: list[str],
    hands: bool,
    plot: Path | None,
    json: bool,
) -> tuple[Columnar, list[RenderableType]]:
    """The report that was asked for, told and drawn; what can be written of it, and shown."""
    if asked == ["--runouts"]:
        from equipoise.solve.study.runouts import RunoutReport

        with progress_bar("run-outs", json) as bar:
            found = RunoutReport(position, listening(bar))
        told["runouts"] = found.rows
        if plot is not None:
            found.plot(plot)
        return found, [found.table()]
    if asked == ["--equities"]:
        from equipoise.solve.study.equitygraph import EquityGraph

        graph = EquityGraph(position)
        told["equities"] = graph.columns()
        if plot is not None:
            graph.plot(plot)
        return graph, [_equity_table(graph.columns(), position.title)]
    if asked == ["--classes"]:
        from equipoise.solve.study.handclasses import HandClasses

        classes = HandClasses(position)
        told["classes"] = classes.rows
        if plot is not None:
            classes.plot(plot)
        return classes, [_class_table(classes)]
    told |= {"actions": _actions(position), "position": position.to_dict()}
    if plot is not None:
        position.plot(plot)
    return position, _position(position, hands)


def opened(file: Path) -> Solution:
    """A saved solution, to be looked at; a spot that is not solved is refused."""
    from equipoise.solve.spots.solution import Solution
    from equipoise.solve.spots.solutionfile import is_solution

    if file.is_file() and not is_solution(file):
        raise EquipoiseError(
            f"{file} is no saved solution: solve it first with `equipoise solve {file} --save FILE`"
        )
    return Solution.look(file)


def _figures(solution: Solution) -> dict[str, Any]:
    return {
        "spot": solution.game.name,
        "unit": solution.spot.unit,
        "iterations": solution.iterations,
        "exploitability_pct_pot": solution.exploitability_pct_pot,
        "locked_decisions": len(solution.locks),
    }


def _actions(position: ShownPosition) -> list[dict[str, Any]]:
    """Every action with its frequency and its mean EV over the hands that take it."""
    if position.to_act is None:
        return []
    return [
        {"action": action, "frequency": often, "combos": combos, f"ev_{position.unit}": worth}
        for action, often, combos, worth in position.action_figures()
    ]


def _show_hand(told: dict[str, Any], position: ShownPosition, hand: str, json: bool) -> None:
    from equipoise.cards.combos import combo_text, parse_combo

    name = combo_text(parse_combo(hand))
    found = position.hand(name)
    told |= {"hand": found, "line": list(position.line)}

    def table() -> RenderableType:
        from rich.table import Table

        unit = position.unit
        title = f"{position.title}\n{found['player']} holds {name}"
        worth = (
            f"EV {_number(found[f'ev_{unit}'])} {unit}, equity {_percent(found['equity'])}, "
            f"reach {found['reach']:.3f}"
        )
        if not found.get("actions"):
            return f"{title}, and is not to act\n{worth}"
        table = Table("action", title=title, caption=worth)
        table.add_column("probability", justify="right")
        table.add_column(f"EV {unit}", justify="right")
        for row in found["actions"]:
            table.add_row(row["action"], _percent(row["probability"]), _number(row[f"ev_{unit}"]))
        return table

    emit(told, json, table)


def _second(file: Path, line: str) -> ShownPosition:
    solution = opened(file)
    return solution.at(line) if line.strip() else solution.at()


def _show_comparison(
    told: dict[str, Any],
    position: ShownPosition,
    second: ShownPosition,
    json: bool,
    out: Path | None,
    plot: Path | None,
) -> None:
    from equipoise.solve.study.comparison import Comparison

    found = Comparison(position, second)
    if plot is not None:
        found.plot(plot)
    if out is not None:
        _write(found, out)
    told["comparison"] = found.to_dict()
    emit(told, json, found.table)


def _write(report: Columnar, out: Path) -> None:
    from equipoise.columnar import write_frame

    write_frame(report.to_polars(), out, decimals=6)


def _position(position: ShownPosition, hands: bool) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if position.to_act is not None:
        parts += [position.hand_table(most=1326) if hands else position.chart(), ""]
    return [*parts, position.table()]


def _group(parts: list[RenderableType], solution: Solution) -> RenderableType:
    from rich.console import Group

    note = (
        f"exploitability {solution.exploitability_pct_pot:.3f} % of pot after "
        f"{solution.iterations:,} iterations"
    )
    return Group(*parts, note)


def _class_table(found: Any) -> RenderableType:
    from rich.table import Table

    table = Table("class", title=found.title)
    for name in ("share", *found.actions, f"EV {found.unit}", "equity"):
        table.add_column(name, justify="right")
    before = "made"
    for row in found.rows:
        if row["kind"] != before:
            table.add_section()
            before = row["kind"]
        table.add_row(
            row["class"],
            _percent(row["share"]),
            *(_percent(row[action]) for action in found.actions),
            _number(row[f"ev_{found.unit}"]),
            _percent(row["equity"]),
        )
    return table


def _equity_table(columns: dict[str, Any], title: str) -> RenderableType:
    from rich.table import Table

    table = Table("share of the range", title=title)
    for name in ("oop", "ip"):
        table.add_column(f"equity {name}", justify="right")
    for place in range(5, 100, 10):
        table.add_row(
            f"{columns['share'][place]:.0%}",
            *(_percent(columns[f"equity_{name}"][place]) for name in ("oop", "ip")),
        )
    return table


def _percent(share: float | None) -> str:
    return "–" if share is None or share != share else f"{share:.1%}"


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:z.3f}"

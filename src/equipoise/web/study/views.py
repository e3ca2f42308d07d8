"""Pictures of solved positions and of tables for the pages, as markup of our own numbers and names alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from nicegui import ui
from numpy.typing import NDArray

from equipoise.cards import chart
from equipoise.cards.card import RANKS, SUITS
from equipoise.cards.combos import class_text

if TYPE_CHECKING:
    from equipoise.solve.batch.boardtable import BoardTable
    from equipoise.solve.spots.show import ShownPosition
    from equipoise.solve.study.equitygraph import EquityGraph
    from equipoise.solve.study.runouts import RunoutReport

#: What a matrix can be coloured by.
MODES = ("strategy", "EV", "equity", "range")
#: The pages of the study.
_SUBPAGES = (("Spot", "/study"), ("Flops", "/study/flops"), ("Jam or fold", "/study/jamfold"))
#: Where the answer stands below the form, on a phone, it is scrolled to.
SHOW_ANSWER = (
    "if (innerWidth <= 900) document.querySelector('.answer')"
    ".scrollIntoView({behavior: 'smooth', block: 'start'});"
)


def subpages(here: str) -> None:
    """Links to the pages of the study."""
    with ui.element("nav").classes("nav sub").props('aria-label="Study"'):
        for title, path in _SUBPAGES:
            link = ui.link(title, path)
            if path == here:
                link.props('aria-current="page"')


def legend(position: ShownPosition) -> str:
    """Actions as bars: how often they are taken and what they are worth."""
    if position.to_act is None:
        return ""
    colours = chart.action_colours(position.actions)
    parts = [
        f'<div class="action-bar"><span class="fill" style="width:{100 * often:.2f}%;background:{colour}">'
        f'</span><span class="key"><i style="background:{colour}"></i>{escape(action)}</span> '
        f'<b class="num">{often:.1%}</b> <span class="muted num">EV {number(worth)}</span></div>'
        for (action, often, _, worth), colour in zip(
            position.action_figures(), colours, strict=True
        )
    ]
    return f'<div class="action-bars">{"".join(parts)}</div>'


def matrix(position: ShownPosition, mode: str, player: int) -> str:
    """The 13×13 chart of a player: what he does if it is his turn, or EV, equity or weight by colour."""
    if mode == "strategy" and position.to_act == player:
        return strategy_chart(position.matrix(), position.actions)
    return grid(_heat(position, mode, player))


def strategy_chart(frequencies: NDArray[np.float64], actions: Sequence[str]) -> str:
    """A 13×13 chart of how often actions are taken: [13, 13, action]."""
    cells = chart.cells(frequencies, chart.action_colours(actions))
    return grid([(cell.label, _stripes(cell), cell.ink, cell.note) for cell in cells])


def grid(drawn: Sequence[tuple[str, str, str, str]]) -> str:
    """Cells of a chart: hand, background, ink and a note each."""
    inside = "".join(
        f'<div class="cell" data-hand="{label}" style="background:{fill};color:{ink}">'
        f"{label}<small>{escape(note)}</small></div>"
        for label, fill, ink, note in drawn
    )
    return f'<div class="matrix" role="img" aria-label="hand chart">{inside}</div>'


def _stripes(cell: chart.Cell) -> str:
    stops = [f"{colour} {100 * a:.1f}% {100 * b:.1f}%" for a, b, colour in cell.fills]
    return f"linear-gradient(90deg,{','.join(stops)})" if stops else "var(--panel-2)"


def _heat(position: ShownPosition, mode: str, player: int) -> list[tuple[str, str, str, str]]:
    figures = {"EV": position.ev, "equity": position.equity}.get(mode, position.reach)(player)
    means = position.class_means(figures, player)
    top = 1.0 if mode != "EV" else max(float(np.nanmax(means, initial=0.0)), 1e-9)
    notes = "{:.3g}" if mode == "EV" else "{:.0%}"
    return heat_cells(means / top, [notes.format(mean) for mean in means.tolist()])


def heat_cells(
    shares: NDArray[np.float64], notes: Sequence[str]
) -> list[tuple[str, str, str, str]]:
    """Cells coloured from 0 to 1; NaN is empty."""
    drawn = []
    for place, (share, note) in enumerate(zip(shares.tolist(), notes, strict=True)):
        if share != share:
            drawn.append((class_text(place), "var(--panel-2)", "var(--ink-2)", ""))
        else:
            drawn.append((class_text(place), *_warmth(share), note))
    return drawn


def _warmth(share: float) -> tuple[str, str]:
    """Background and ink of a share from 0 to 1."""
    share = min(max(share, 0.0), 1.0)
    fill = f"hsl({30 + 175 * share:.0f} 62% {78 - 34 * share:.0f}%)"
    return fill, "#16191d" if share < 0.75 else "#fff"


def curve_svg(points: list[tuple[int, float]], target: float) -> str:
    """Exploitability over iterations, in magnitudes, with the target as a line."""
    if len(points) < 2:
        return ""
    logs = [float(np.log10(max(value, 1e-4))) for _, value in points]
    low, high = min([*logs, float(np.log10(target))]) - 0.1, max(logs) + 0.1
    last = points[-1][0]
    xs = [58 + 332 * count / last for count, _ in points]

    def height(value: float) -> float:
        return 100 - 92 * (value - low) / (high - low)

    line = " ".join(f"{x:.1f},{height(y):.1f}" for x, y in zip(xs, logs, strict=True))
    goal = height(float(np.log10(target)))
    ticks = "".join(
        f'<text x="52" y="{height(power) + 4:.1f}" class="tick end">{10.0**power:g} %</text>'
        f'<line x1="58" x2="390" y1="{height(power):.1f}" y2="{height(power):.1f}" class="rule"/>'
        for power in range(int(np.ceil(low)), int(np.floor(high)) + 1)
    )
    return (
        '<svg viewBox="0 0 400 120" class="curve" role="img" aria-label="exploitability curve">'
        f'{ticks}<line x1="58" x2="390" y1="{goal:.1f}" y2="{goal:.1f}" class="goal"/>'
        f'<polyline points="{line}"/><text x="390" y="116" class="tick end">{last:,} iterations</text>'
        "</svg>"
    )


def equity_svg(graph: EquityGraph) -> str:
    """Equity over the share of both ranges."""
    shares = np.arange(101) / 100
    lines = []
    for player, name in ((0, "oop"), (1, "ip")):
        points = " ".join(
            f"{34 + 356 * x:.1f},{184 - 176 * y:.1f}"
            for x, y in zip(shares, graph.at(player, shares), strict=True)
            if y == y
        )
        lines.append(f'<polyline class="{name}" points="{points}"/>')
    ticks = "".join(
        f'<text x="30" y="{188 - 176 * part:.0f}" class="tick end">{part:.0%}</text>'
        f'<text x="{34 + 356 * part:.0f}" y="197" class="tick">{part:.0%}</text>'
        f'<line x1="34" x2="390" y1="{184 - 176 * part:.1f}" y2="{184 - 176 * part:.1f}" class="rule"/>'
        for part in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    return (
        '<svg viewBox="0 0 400 200" class="curve equities" role="img" aria-label="equity graph">'
        f"{ticks}{''.join(lines)}</svg>"
        '<div class="keys"><span class="key"><i class="oop"></i>oop</span>'
        '<span class="key"><i class="ip"></i>ip</span>'
        '<span class="muted">equity of the hands, weakest to strongest</span></div>'
    )


def runout_heat(report: RunoutReport, column: str) -> str:
    """Every card that may come, coloured by one figure."""
    rows = {row["card"]: row for row in report.rows}
    values = [row[column] for row in report.rows if column in row]
    low, high = min(values, default=0.0), max(values, default=1.0)
    cells = []
    for suit in reversed(SUITS):
        for rank in reversed(RANKS):
            row = rows.get(rank + suit)
            if row is None or column not in row:
                cells.append(f'<div class="card-cell gone">{rank}{suit}</div>')
                continue
            share = (row[column] - low) / (high - low) if high > low else 0.5
            text = f"{row[column]:.3g}" if column.startswith("ev_") else f"{row[column]:.0%}"
            fill, ink = _warmth(share)
            cells.append(
                f'<div class="card-cell" data-card="{rank}{suit}" '
                f'style="background:{fill};color:{ink}">{rank}{suit}<small>{text}</small></div>'
            )
    return f'<div class="runouts">{"".join(cells)}</div>'


def board_bars(table: BoardTable, most: int) -> str:
    """How often each action is taken on the boards of a table, a bar each."""
    colours = chart.action_colours(table.actions)
    rows = []
    for row in table.rows[:most]:
        parts = "".join(
            f'<span style="width:{100 * row[action]:.2f}%;background:{colour}" '
            f'title="{escape(action)} {row[action]:.1%}"></span>'
            for action, colour in zip(table.actions, colours, strict=True)
        )
        rows.append(
            f'<div class="flop-row"><b data-board="{row["board"]}">{_suited(row["board"])}</b>'
            f'<div class="flop-bar">{parts}</div></div>'
        )
    means = table.means()
    keys = "".join(
        f'<span class="key"><i style="background:{colour}"></i>{escape(action)} '
        f'<b class="num">{means[action] or 0.0:.1%}</b></span>'
        for action, colour in zip(table.actions, colours, strict=True)
    )
    more = f'<p class="muted small">and {len(table.rows) - most:,} more boards</p>'
    return (
        f'<div class="keys">{keys}</div><div class="flop-rows">{"".join(rows)}</div>'
        f"{more if len(table.rows) > most else ''}"
    )


def _suited(board: str) -> str:
    """Cards of a board, coloured by suit."""
    cards = [board[i : i + 2] for i in range(0, len(board), 2)]
    signs = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    return "".join(
        f'<span class="suit-{card[1]}">{card[0]}{signs[card[1]]}</span>' for card in cards
    )


def hand_rows(position: ShownPosition, player: int) -> list[dict[str, Any]]:
    """One row a hand for a table that sorts and filters: classes, weight, EV, equity, actions."""
    from equipoise.cards.combos import COMBO_CLASS
    from equipoise.solve.study.handclasses import DRAWS, MADE, classes_of

    combos = position.hands(player)
    reach = position.reach(player)
    # Hands that would show a weight of 0 are not held, whatever the last digits say.
    held = np.flatnonzero((position.weight(player) > 0) & (reach >= 0.0005))
    made, draws = classes_of(combos, position.board)
    hands, classes = _names()
    columns: dict[str, list[Any]] = {
        "hand": [hands[combo] for combo in combos[held].tolist()],
        "class": [classes[one] for one in COMBO_CLASS[combos[held]].tolist()],
        "made": [MADE[one] for one in made[held].tolist()],
        "draw": [DRAWS[one] for one in draws[held].tolist()],
        "weight": _rounded(reach[held], 3),
        "ev": _rounded(position.ev(player)[held], 3),
        "equity": _rounded(100 * position.equity(player)[held], 1),
    }
    if position.to_act == player:
        play, worth = position.strategy()[:, held], position.action_ev()[:, held]
        for k in range(len(play)):
            columns[f"p{k}"] = _rounded(100 * play[k], 1)
            columns[f"ev{k}"] = _rounded(worth[k], 3)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@cache
def _names() -> tuple[list[str], list[str]]:
    """Texts of all hands and of all classes."""
    from equipoise.cards.combos import CLASS_COUNT, COMBO_COUNT, combo_text

    return [combo_text(i) for i in range(COMBO_COUNT)], [class_text(i) for i in range(CLASS_COUNT)]


def _rounded(values: NDArray[Any], digits: int) -> list[float]:
    """Plain numbers of so many digits; what is left of sums is nothing, and not minus nothing."""
    found: list[float] = (np.asarray(values, dtype=np.float64).round(digits) + 0.0).tolist()
    return found


def number(value: float) -> str:
    """A figure in three digits; a dash for none.

    >>> number(12.3456), number(-1.8e-15), number(float("nan"))
    ('12.3', '0', '–')
    """
    # What is left of a fold's sums is nothing.
    return "–" if value != value else f"{round(value, 6) + 0.0:.3g}"

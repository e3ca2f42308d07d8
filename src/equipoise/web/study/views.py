"""Pictures of a solved position for the page, as markup made of our own numbers and names alone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.cards import chart
from equipoise.cards.card import RANKS, SUITS
from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS, class_text

if TYPE_CHECKING:
    from equipoise.solve.spots.show import ShownPosition
    from equipoise.solve.study.equitygraph import EquityGraph
    from equipoise.solve.study.runouts import RunoutReport

#: What a matrix can be coloured by.
MODES = ("strategy", "EV", "equity", "range")


def legend(position: ShownPosition) -> str:
    """Actions with their colours, how often and what they are worth."""
    if position.to_act is None:
        return ""
    colours = chart.action_colours(position.actions)
    parts = [
        f'<span class="key"><i style="background:{colour}"></i>{escape(action)} '
        f'<b class="num">{often:.1%}</b> <span class="muted num">EV {_number(worth)}</span></span>'
        for (action, often, _, worth), colour in zip(
            position.action_figures(), colours, strict=True
        )
    ]
    return f'<div class="keys">{"".join(parts)}</div>'


def matrix(position: ShownPosition, mode: str, player: int) -> str:
    """The 13×13 chart of a player: what he does if it is his turn, or EV, equity or weight by colour."""
    if mode == "strategy" and position.to_act == player:
        cells = chart.cells(position.matrix(), chart.action_colours(position.actions))
        drawn = [(cell.label, _stripes(cell), cell.ink, cell.note) for cell in cells]
    else:
        drawn = _heat(position, mode, player)
    inside = "".join(
        f'<div class="cell" data-hand="{label}" style="background:{fill};color:{ink}">'
        f"{label}<small>{note}</small></div>"
        for label, fill, ink, note in drawn
    )
    return f'<div class="matrix" role="img" aria-label="hand chart">{inside}</div>'


def _stripes(cell: chart.Cell) -> str:
    stops = [f"{colour} {100 * a:.1f}% {100 * b:.1f}%" for a, b, colour in cell.fills]
    return f"linear-gradient(90deg,{','.join(stops)})" if stops else "var(--panel-2)"


def _heat(position: ShownPosition, mode: str, player: int) -> list[tuple[str, str, str, str]]:
    weight = position.weight(player)
    figures = {"EV": position.ev, "equity": position.equity}.get(mode, position.reach)(player)
    classes = COMBO_CLASS[position.hands(player)]
    known = ~np.isnan(figures) & (weight > 0)
    held = np.bincount(classes, weights=np.where(known, weight, 0), minlength=CLASS_COUNT)
    summed = np.bincount(
        classes, weights=np.where(known, weight * figures, 0), minlength=CLASS_COUNT
    )
    means = np.divide(summed, held, out=np.full(CLASS_COUNT, np.nan), where=held > 0)
    top = 1.0 if mode != "EV" else max(float(np.nanmax(means, initial=0.0)), 1e-9)
    drawn = []
    for number, mean in enumerate(means.tolist()):
        if mean != mean:
            drawn.append((class_text(number), "var(--panel-2)", "var(--ink-2)", ""))
            continue
        share = min(max(mean / top, 0.0), 1.0)
        fill = f"hsl({30 + 175 * share:.0f} 62% {78 - 34 * share:.0f}%)"
        note = f"{mean:.0%}" if mode != "EV" else f"{mean:.3g}"
        drawn.append((class_text(number), fill, "#16191d" if share < 0.75 else "#fff", note))
    return drawn


def curve_svg(points: list[tuple[int, float]], target: float) -> str:
    """Exploitability over iterations, both in magnitudes."""
    if len(points) < 2:
        return '<p class="muted small">The curve begins with the second look.</p>'
    logs = [float(np.log10(max(value, 1e-4))) for _, value in points]
    low, high = min([*logs, float(np.log10(target))]) - 0.1, max(logs) + 0.1
    last = points[-1][0]
    xs = [10 + 380 * count / last for count, _ in points]
    ys = [110 - 100 * (value - low) / (high - low) for value in logs]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    goal = 110 - 100 * (float(np.log10(target)) - low) / (high - low)
    return (
        '<svg viewBox="0 0 400 120" class="curve" role="img" aria-label="exploitability curve">'
        f'<line x1="10" x2="390" y1="{goal:.1f}" y2="{goal:.1f}" class="goal"/>'
        f'<polyline points="{line}"/></svg>'
    )


def equity_svg(graph: EquityGraph) -> str:
    """Equity over the share of both ranges."""
    shares = np.arange(101) / 100
    lines = []
    for player, name in ((0, "oop"), (1, "ip")):
        points = " ".join(
            f"{10 + 380 * x:.1f},{190 - 180 * y:.1f}"
            for x, y in zip(shares, graph.at(player, shares), strict=True)
            if y == y
        )
        lines.append(f'<polyline class="{name}" points="{points}"/>')
    return (
        '<svg viewBox="0 0 400 200" class="curve equities" role="img" aria-label="equity graph">'
        f'<rect x="10" y="10" width="380" height="180"/>{"".join(lines)}</svg>'
        '<div class="keys"><span class="key"><i class="oop"></i>oop</span>'
        '<span class="key"><i class="ip"></i>ip</span></div>'
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
            cells.append(
                f'<div class="card-cell" data-card="{rank}{suit}" '
                f'style="background:hsl({30 + 175 * share:.0f} 62% {78 - 34 * share:.0f}%)">'
                f"{rank}{suit}<small>{text}</small></div>"
            )
    return f'<div class="runouts">{"".join(cells)}</div>'


def hand_rows(position: ShownPosition, player: int) -> list[dict[str, Any]]:
    """One row a hand for a table that sorts and filters: classes, weight, EV, equity, actions."""
    from equipoise.solve.study.handclasses import DRAWS, MADE, classes_of

    combos = position.hands(player)
    made, draws = classes_of(combos, position.board)
    reach, ev, equity = position.reach(player), position.ev(player), position.equity(player)
    turn = position.to_act == player
    play = position.strategy() if turn else np.zeros((0, len(combos)))
    worth = position.action_ev() if turn else play
    from equipoise.cards.combos import combo_text

    rows = []
    for i in np.flatnonzero(position.weight(player) > 0).tolist():
        row: dict[str, Any] = {
            "hand": combo_text(int(combos[i])),
            "class": class_text(int(COMBO_CLASS[combos[i]])),
            "made": MADE[made[i]],
            "draw": DRAWS[draws[i]],
            "weight": round(float(reach[i]), 3),
            "ev": round(float(ev[i]), 3),
            "equity": round(100 * float(equity[i]), 1),
        }
        for k in range(len(play)):
            row[f"p{k}"] = round(100 * float(play[k, i]), 1)
            row[f"ev{k}"] = round(float(worth[k, i]), 3)
        rows.append(row)
    return rows


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.3g}"

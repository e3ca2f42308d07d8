"""The 13×13 chart of hand classes: for a terminal, as an image, and as SVG for a notebook.

A chart is drawn from `frequencies[row, column, action]`: how much of a class takes an action. The
sum over actions is the weight of the class in the range, at most 1; it sets how strongly the cell
is coloured. The proportions within the sum split the cell from left to right, one colour an action.
A plain range is the case of one action (or a 13×13 array), so it and a strategy look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.combos import class_text
from equipoise.errors import RangeError
from equipoise.files import aside, check_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.text import Text

RANGE_COLOUR = "#f5a623"
FOLD_COLOUR = "#2f6da8"
PASSIVE_COLOUR = "#8fd0c0"
#: Smallest to largest bet, interpolated between the two.
BET_COLOURS = ("#f4b26b", "#9c3a00")
#: Cells of hands that are not there, on paper and on a terminal.
PAPER = "#eceff3"
SCREEN = "#262a31"
#: A class that is hardly played is still coloured this strongly, so that it is seen.
FAINTEST = 0.22

#: Columns of a cell on a terminal; with the gap between cells a chart is 77 columns wide.
_CELL_COLUMNS = 5
#: Sums of float32 frequencies miss 1 by this much and are still whole.
_ROUNDING = 1e-5
PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True)
class Cell:
    """One class as it is drawn."""

    label: str
    """Name of the class, such as `AKs`."""
    weight: float
    """Weight of the class in the range."""
    shares: tuple[float, ...]
    """Proportion of each action; they sum to 1, or are all 0 in an empty cell."""
    colours: tuple[str, ...]
    """Colour of each action, faded by the weight."""
    ink: str
    """Colour of the text."""

    @property
    def note(self) -> str:
        """Weight in percent where it is neither 0 nor 1, else nothing."""
        if self.weight <= 0.0 or self.weight >= 1.0 - _ROUNDING:
            return ""
        percent = round(100 * self.weight)
        return "<1%" if percent == 0 else ">99%" if percent == 100 else f"{percent}%"

    @property
    def fills(self) -> list[tuple[float, float, str]]:
        """Coloured stretches from left to right: start, stop (0 to 1) and colour."""
        stops = np.cumsum(self.shares)
        return [
            (float(stop - share), float(stop), colour)
            for share, stop, colour in zip(self.shares, stops, self.colours, strict=True)
            if share > 0.0
        ]


def action_colours(actions: Sequence[str]) -> tuple[str, ...]:
    """Colours of actions by name: fold blue, check and call pale teal, bets and raises ever darker orange.

    >>> action_colours(["fold", "limp", "raise 600", "all-in"])
    ('#2f6da8', '#8fd0c0', '#f4b26b', '#9c3a00')
    """
    verbs = [action.lower().split(" ")[0] for action in actions]
    calm = ("fold", "check", "call", "limp")
    bets = [place for place, verb in enumerate(verbs) if verb not in calm]
    colours = [FOLD_COLOUR if verb == "fold" else PASSIVE_COLOUR for verb in verbs]
    for order, place in enumerate(bets):
        depth = order / (len(bets) - 1) if len(bets) > 1 else 0.5
        colours[place] = _blend(BET_COLOURS[0], BET_COLOURS[1], depth)
    return tuple(colours)


def cells(
    frequencies: ArrayLike, colours: Sequence[str] | None = None, background: str = PAPER
) -> list[Cell]:
    """The 169 cells of a chart, row by row.

    >>> cell = cells(np.full((13, 13, 2), 0.25), ("#0000ff", "#ff0000"))[1]
    >>> cell.label, cell.weight, cell.shares, cell.note
    ('AKs', 0.5, (0.5, 0.5), '50%')
    """
    amounts = _amounts(frequencies)
    if colours is None:
        colours = (RANGE_COLOUR,) if amounts.shape[1] == 1 else ()
    if len(colours) != amounts.shape[1]:
        raise RangeError(f"a chart of {amounts.shape[1]} actions takes as many colours")
    drawn = []
    for hand_class, amount in enumerate(amounts):
        weight = float(amount.sum())
        shares = amount / weight if weight > 0.0 else amount
        strength = FAINTEST + (1.0 - FAINTEST) * min(weight, 1.0) if weight > 0.0 else 0.0
        faded = tuple(_blend(background, colour, strength) for colour in colours)
        light = sum(share * _light(colour) for share, colour in zip(shares, faded, strict=True))
        if weight == 0.0:
            ink = _blend(background, "#808080", 0.6)
        else:
            ink = "#16191d" if light > 0.42 else "#ffffff"
        drawn.append(
            Cell(
                class_text(hand_class), weight, tuple(float(share) for share in shares), faded, ink
            )
        )
    return drawn


def render(
    frequencies: ArrayLike,
    *,
    title: str | None = None,
    colours: Sequence[str] | None = None,
    actions: Sequence[str] = (),
) -> Text:
    """The chart for a terminal of 80 columns, as a rich renderable.

    Empty cells are a dot, so that the shape is seen without colour too. A second line in each row
    shows percentages if some class is neither absent nor complete.
    """
    from rich.style import Style
    from rich.text import Text

    drawn = cells(frequencies, colours or _colours_for(actions), SCREEN)
    with_notes = any(cell.note for cell in drawn)
    text = Text(no_wrap=True)
    if title:
        text.append(f"{title}\n", Style(bold=True))
    for row in range(13):
        for line in range(2 if with_notes else 1):
            for column in range(13):
                cell = drawn[13 * row + column]
                shown = cell.note if line else cell.label if cell.weight > 0.0 else "·"
                letters = shown.center(_CELL_COLUMNS)
                place = 0
                for colour, run in groupby(_columns(cell)):
                    stop = place + len(list(run))
                    style = Style(color=cell.ink, bgcolor=colour, bold=not line)
                    text.append(letters[place:stop], style)
                    place = stop
                text.append(" " if column < 12 else "\n")
    for action, colour in zip(actions, colours or _colours_for(actions) or (), strict=True):
        text.append("  ", Style(bgcolor=colour))
        text.append(f" {action}  ")
    if not actions:
        text.right_crop(1)
    return text


#: Actions named in one line under a chart.
_IN_A_LINE = 4


def figure(
    frequencies: ArrayLike,
    *,
    title: str | None = None,
    colours: Sequence[str] | None = None,
    actions: Sequence[str] = (),
) -> Figure:
    """The chart as a matplotlib figure, free of pyplot's global state."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    colours = colours or _colours_for(actions)
    # Names of many actions stand in several lines, or they would run out of the picture.
    lines = -(-len(actions) // _IN_A_LINE)
    side, margin, head = 7.5, 0.15, 0.45 if title else 0.0
    foot = 0.4 + 0.25 * (lines - 1) if actions else 0.0
    width, height = side + 2 * margin, side + 2 * margin + head + foot
    drawing = Figure(figsize=(width, height), dpi=150, facecolor="white")
    axes = drawing.add_axes((margin / width, (margin + foot) / height, side / width, side / height))
    draw(axes, frequencies, title=title, colours=colours)
    if actions:
        drawing.legend(
            handles=[Patch(color=c, label=a) for a, c in zip(actions, colours or (), strict=True)],
            loc="lower center",
            ncols=-(-len(actions) // lines),
            frameon=False,
        )
    return drawing


def draw(
    axes: Any,
    frequencies: ArrayLike,
    *,
    title: str | None = None,
    colours: Sequence[str] | None = None,
) -> None:
    """Draw the chart on axes of one's own, for pictures of several."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
    axes.axis("off")
    # All at once: hundreds of patches one by one take most of a second.
    boxes: list[Rectangle] = []
    fills: list[str] = []
    for place, cell in enumerate(cells(frequencies, colours)):
        row, column = divmod(place, 13)
        left, top, size = column + 0.03, row + 0.03, 0.94
        for start, stop, colour in ((0.0, 1.0, PAPER), *cell.fills):
            boxes.append(Rectangle((left + size * start, top), size * (stop - start), size))
            fills.append(colour)
        centre: dict[str, Any] = {"ha": "center", "va": "center", "color": cell.ink}
        middle = row + (0.40 if cell.note else 0.51)
        axes.text(column + 0.5, middle, cell.label, fontsize=10.5, weight="bold", **centre)
        if cell.note:
            axes.text(column + 0.5, row + 0.73, cell.note, fontsize=7.5, **centre)
    axes.add_collection(PatchCollection(boxes, facecolors=fills, linewidths=0), autolim=False)
    if title:
        axes.set_title(title, fontsize=13, weight="bold", color="#16191d", pad=7)


def save(drawing: Figure, path: str | Path, dpi: int | None = None) -> None:
    """Write a figure to an image file, whole or not at all; the ending chooses the format."""
    check_target(path, overwrite=True, suffixes=PICTURES)
    with aside(path) as beside:
        drawing.savefig(beside, dpi=dpi or "figure")


def svg(
    frequencies: ArrayLike,
    *,
    title: str | None = None,
    colours: Sequence[str] | None = None,
    actions: Sequence[str] = (),
    size: int = 520,
) -> str:
    """The chart as one SVG element, which notebooks and web pages show as it is.

    Each cell tells its class, weight and actions when pointed at.
    """
    colours = colours or _colours_for(actions)
    unit, head = 40, 34 if title else 0
    width, height = 13 * unit, 13 * unit + head + (30 if actions else 0)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{size}" style="max-width:100%;background:#ffffff" text-anchor="middle" '
        'font-family="system-ui,sans-serif" font-size="12" font-weight="600">'
    ]
    if title:
        out.append(
            f'<text x="{width // 2}" y="22" font-size="16" fill="#16191d">{escape(title)}</text>'
        )
    for place, cell in enumerate(cells(frequencies, colours)):
        row, column = divmod(place, 13)
        left, top, side = column * unit + 1, row * unit + head + 1, unit - 2
        out.append(f"<g><title>{escape(_told(cell, actions))}</title>")
        out.append(f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="{PAPER}"/>')
        for start, stop, colour in cell.fills:
            out.append(
                f'<rect x="{left + side * start:.4g}" y="{top}" '
                f'width="{side * (stop - start):.4g}" height="{side}" fill="{colour}"/>'
            )
        middle, label_y = left + side // 2, top + (18 if cell.note else 23)
        out.append(f'<text x="{middle}" y="{label_y}" fill="{cell.ink}">{cell.label}</text>')
        if cell.note:
            out.append(
                f'<text x="{middle}" y="{top + 32}" font-size="10" font-weight="400" '
                f'fill="{cell.ink}">{escape(cell.note)}</text>'
            )
        out.append("</g>")
    for place, (action, colour) in enumerate(zip(actions, colours or (), strict=bool(actions))):
        left, top = place * width // len(actions) + 6, height - 22
        out.append(f'<rect x="{left}" y="{top}" width="14" height="14" fill="{colour}"/>')
        out.append(
            f'<text x="{left + 20}" y="{top + 12}" text-anchor="start" fill="#16191d">'
            f"{escape(action)}</text>"
        )
    out.append("</svg>")
    return "".join(out)


def _amounts(frequencies: ArrayLike) -> NDArray[np.float64]:
    """Checked frequencies as float64[169, actions]."""
    try:
        array = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError):
        raise RangeError("a chart is drawn from a 13×13 or 13×13×actions array") from None
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.ndim != 3 or array.shape[:2] != (13, 13) or array.shape[2] == 0:
        raise RangeError(
            f"a chart is drawn from a 13×13 or 13×13×actions array, not of shape {array.shape}"
        )
    amounts = array.reshape(169, -1)
    if not ((amounts >= 0.0).all() and (amounts.sum(axis=1) <= 1.0 + _ROUNDING).all()):
        raise RangeError("frequencies of a cell are at least 0 and sum to at most 1")
    return amounts


def _colours_for(actions: Sequence[str]) -> tuple[str, ...] | None:
    """Colours of named actions; none named means a plain range."""
    return action_colours(actions) if actions else None


def _columns(cell: Cell) -> list[str]:
    """Colour of each terminal column of a cell: the action that holds its middle."""
    if cell.weight == 0.0:
        return [SCREEN] * _CELL_COLUMNS
    stops = np.cumsum(cell.shares)
    middles = (np.arange(_CELL_COLUMNS) + 0.5) / _CELL_COLUMNS * stops[-1]
    return [cell.colours[int(place)] for place in np.searchsorted(stops, middles)]


def _told(cell: Cell, actions: Sequence[str]) -> str:
    """What a cell says when pointed at."""
    parts = [f"{cell.label} {cell.weight:.1%}"]
    if cell.weight > 0.0:
        parts += [
            f"{a} {share:.1%}" for a, share in zip(actions, cell.shares, strict=bool(actions))
        ]
    return ", ".join(parts)


def _channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of `#rrggbb`."""
    value = int(colour[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


@lru_cache(maxsize=4096)
def _blend(first: str, second: str, share: float) -> str:
    """Colour between two: `share` of the second."""
    mixed = (
        round(a + (b - a) * share) for a, b in zip(_channels(first), _channels(second), strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


@lru_cache(maxsize=4096)
def _light(colour: str) -> float:
    """How bright a colour looks, 0 to 1 (Rec. 709 luma)."""
    red, green, blue = _channels(colour)
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255

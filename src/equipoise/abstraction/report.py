"""What an abstraction looks like: its buckets in figures, in example hands and in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards import chart
from equipoise.cards.card import cards_text
from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS, class_text, combo_text
from equipoise.cards.streets import BOARD_SIZES, STREET_COUNT, STREETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Random boards in which examples are looked for; a rarer bucket may have none.
_EXAMPLE_BOARDS = 400


@dataclass(frozen=True)
class BucketSummary:
    """One bucket in figures."""

    bucket: int
    #: Bucket on the street before, if there is but one.
    parent: int | None
    #: Probability that a hand is in it.
    mass: float
    #: Mean rollout equity of its hands.
    equity: float
    #: Standard deviation of their equities.
    spread: float
    #: Some hands in it, with their boards.
    examples: tuple[str, ...]


def describe(
    abstraction: Abstraction, street: int, examples: int = 3, seed: int = 0
) -> list[BucketSummary]:
    """All buckets of a street in order of their numbers."""
    totals, parents = abstraction.totals(street), abstraction.parents(street)
    shown = _examples(abstraction, street, examples, seed)
    masses, means, spreads = totals.masses, totals.means, totals.spreads
    return [
        BucketSummary(
            bucket,
            None if parents is None else int(parents[bucket]),
            float(masses[bucket]),
            float(means[bucket]),
            float(spreads[bucket]),
            tuple(shown[bucket]),
        )
        for bucket in range(abstraction.counts[street])
    ]


def _examples(abstraction: Abstraction, street: int, wanted: int, seed: int) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in range(abstraction.counts[street])]
    if street == 0:
        buckets = abstraction.buckets()
        for hand_class in range(CLASS_COUNT):
            of_class = found[buckets[np.flatnonzero(hand_class == COMBO_CLASS)[0]]]
            if len(of_class) < wanted:
                of_class.append(class_text(hand_class))
        return found
    rng = np.random.default_rng(seed)
    missing = wanted * len(found)
    for _ in range(_EXAMPLE_BOARDS):
        board = rng.permutation(52)[: BOARD_SIZES[street]].tolist()
        buckets = abstraction.buckets(board)
        hands = rng.permutation(np.flatnonzero(buckets != BLOCKED))
        # One example a board and bucket, so that they are of different kinds.
        here, first = np.unique(buckets[hands], return_index=True)
        for bucket, at in zip(here.tolist(), first.tolist(), strict=True):
            if len(found[bucket]) < wanted:
                found[bucket].append(f"{combo_text(int(hands[at]))} on {cards_text(board)}")
                missing -= 1
        if not missing:
            break
    return found


def draw(abstraction: Abstraction, path: str | Path | None = None) -> Figure:
    """A picture of the buckets of all streets, saved when a path is given.

    Hole cards are a 13×13 chart coloured by bucket. On later streets each bucket is a bar as wide as
    it is likely, from one standard deviation of equity below its mean to one above.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 9), layout="constrained")
    figure.suptitle(f"{abstraction.name}: {' - '.join(map(str, abstraction.counts))} buckets")
    panels = figure.subplots(2, 2).ravel()
    _draw_hole_cards(abstraction, panels[0])
    for street in range(1, STREET_COUNT):
        _draw_street(abstraction, street, panels[street])
    if path is not None:
        chart.save(figure, path, dpi=130)
    return figure


def _draw_hole_cards(abstraction: Abstraction, panel: Axes) -> None:
    totals, buckets = abstraction.totals(0), abstraction.buckets()
    first = [int(np.flatnonzero(one == COMBO_CLASS)[0]) for one in range(CLASS_COUNT)]
    numbers = buckets[first].astype(np.int64).reshape(13, 13)
    panel.imshow(totals.means[numbers], cmap="YlGnBu", vmin=0.3, vmax=1.15)
    for row in range(13):
        for column in range(13):
            label = f"{class_text(13 * row + column)}\n{numbers[row, column] + 1}"
            panel.text(column, row, label, ha="center", va="center", fontsize=5)
    panel.set(title="preflop (bucket below the hand)", xticks=[], yticks=[])


def _draw_street(abstraction: Abstraction, street: int, panel: Axes) -> None:
    totals = abstraction.totals(street)
    masses, means, spreads = totals.masses, totals.means, totals.spreads
    order = np.argsort(means, kind="stable")
    left = np.concatenate([[0.0], np.cumsum(masses[order])[:-1]])
    low, high = np.maximum(means - spreads, 0.0)[order], np.minimum(means + spreads, 1.0)[order]
    panel.bar(left, high - low, masses[order], low, align="edge", color="#9cc3e6")
    panel.step(np.append(left, 1.0), np.append(means[order], means[order[-1]]), where="post")
    panel.set(
        title=f"{STREETS[street]}: {abstraction.counts[street]} buckets",
        xlabel="share of hands, weakest bucket first",
        ylabel="equity in the bucket",
        xlim=(0, 1),
        ylim=(0, 1),
    )

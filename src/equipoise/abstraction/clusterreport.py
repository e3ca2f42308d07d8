"""What public clusters of flops look like: which flops are together, and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.definition import Definition, feature_table
from equipoise.abstraction.features.equities import weights
from equipoise.abstraction.flopclusters import FlopClusters, flop_distance, flop_shares
from equipoise.cards import chart
from equipoise.cards.card import RANKS, cards_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of the four suits in a picture, by number: clubs, diamonds, hearts, spades.
_COLOURS = ("#2e7d32", "#1565c0", "#c62828", "#212121")


@dataclass(frozen=True)
class ClusterSummary:
    """One public cluster in figures a player knows."""

    cluster: int
    #: Probability of a flop in it.
    mass: float
    #: Flops up to suits.
    flops: int
    #: Shares of its flops that show a pair, and one, two or three suits.
    paired: float
    one_suit: float
    two_suits: float
    #: Mean highest and lowest rank, as their letters.
    high: str
    low: str
    #: Mean distance of its flops from the nearest to all of them.
    radius: float
    #: That flop first, then others from near to far.
    examples: tuple[str, ...]

    @property
    def why(self) -> str:
        """What its flops have in common, in words.

        >>> ClusterSummary(0, 0.1, 20, 1.0, 0.0, 0.5, "K", "4", 0.1, ()).why
        'paired, K down to 4, two suits or three'
        """
        words = []
        if self.paired > 0.9:
            words.append("paired")
        elif self.paired > 0.1:
            words.append(f"{self.paired:.0%} paired")
        words.append(f"{self.high} down to {self.low}")
        three = 1 - self.one_suit - self.two_suits
        kinds = ((self.one_suit, "one suit"), (self.two_suits, "two suits"), (three, "three"))
        suits = " or ".join(name for share, name in kinds if share > 0.1)
        words.append("three suits" if suits == "three" else suits)
        return ", ".join(words)


def describe_clusters(abstraction: Abstraction, examples: int = 8) -> list[ClusterSummary]:
    """All public clusters of an abstraction that has them; else none."""
    definition = abstraction.definitions[1]
    if definition.kind != "clustered":
        return []
    clusters = FlopClusters(definition.arrays["clusters"])
    flat = Definition("nearest", definition.settings, {"centroids": definition.arrays["centroids"]})
    table = feature_table(1, [abstraction.definitions[0], flat, *abstraction.definitions[2:]])
    shares = flop_shares(table, flat.features)
    return [_summary(clusters, number, shares, examples) for number in range(clusters.count)]


def _summary(
    clusters: FlopClusters, number: int, shares: NDArray[np.float32], examples: int
) -> ClusterSummary:
    own = np.flatnonzero(clusters.of_flop == number)
    boards, often = clusters.flops(number), weights(1)[own].astype(np.float64)
    often /= often.sum()
    apart = np.array([[flop_distance(shares[i], shares[j]) for j in own] for i in own])
    middle = int(np.argmin(apart @ often))
    order = np.argsort(apart[middle], kind="stable")
    # Some near, some far: every so many flops from the middle outwards.
    shown = order[:: max(1, len(order) // max(1, examples))][:examples]
    ranks, suits = boards // 4, np.array([len(set(board % 4)) for board in boards])
    pairs = np.array([len(set(row)) < 3 for row in ranks])
    high, low = (round(float(often @ side)) for side in (ranks.max(axis=1), ranks.min(axis=1)))
    return ClusterSummary(
        number,
        float(clusters.masses[number]),
        len(own),
        float(often @ pairs),
        float(often @ (suits == 1)),
        float(often @ (suits == 2)),
        RANKS[high],
        RANKS[low],
        float(apart[middle] @ often),
        tuple(cards_text(_high_first(boards[n])) for n in shown),
    )


def _high_first(board: NDArray[np.uint8]) -> list[int]:
    return sorted((int(card) for card in board), reverse=True)


def draw_clusters(abstraction: Abstraction, path: str | Path | None = None) -> Figure:
    """A picture: a line for every cluster, as long as it is likely, with flops that are in it."""
    from matplotlib.figure import Figure

    told = describe_clusters(abstraction)
    figure = Figure(figsize=(13, 1.2 + 0.27 * len(told)), layout="constrained")
    panel = figure.subplots()
    panel.set_title(f"{abstraction.name}: flops that are played alike")
    for line, one in enumerate(told):
        _draw_cluster(panel, line, one)
    panel.set(xlim=(0, 1), ylim=(len(told) - 0.4, -1), xticks=[], yticks=[])
    panel.text(0.0, -0.8, "share of flops", fontsize=7)
    panel.text(0.16, -0.8, "what they share", fontsize=7)
    panel.text(0.44, -0.8, "for example, from the middle outwards", fontsize=7)
    if path is not None:
        chart.save(figure, path, dpi=130)
    return figure


def _draw_cluster(panel: Axes, line: int, one: ClusterSummary) -> None:
    panel.barh(line, min(one.mass, 0.12), height=0.7, left=0.035, color="#9cc3e6")
    panel.text(0.0, line, f"{one.cluster + 1}", fontsize=7, va="center")
    panel.text(0.037, line, f"{one.mass:.1%}", fontsize=7, va="center")
    panel.text(0.16, line, one.why, fontsize=7, va="center")
    for place, flop in enumerate(one.examples):
        for card in range(3):
            text = flop[2 * card : 2 * card + 2]
            panel.text(
                0.44 + 0.07 * place + 0.017 * card,
                line,
                text[0],
                color=_COLOURS["cdhs".index(text[1])],
                fontsize=8,
                fontweight="bold",
                va="center",
            )

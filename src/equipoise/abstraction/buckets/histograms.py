"""Buckets of hands with like histograms of equity, past buckets forgotten.

A hand of flop or turn is its cumulative histogram of the next street's equity, and hands are put
into clusters by k-means: by the Euclidean distance of the cumulative histograms, or by the earth
mover's distance, the L1 distance of them (Johanson, Burch, Valenzano and Bowling, "Evaluating
State-Space Abstractions in Extensive-Form Games", AAMAS 2013). River hands are divided by equity
into exact intervals, or into clusters of their equities against groups of opponents' hands
(:mod:`.ochs`). Hole cards stay the 169 classes. Buckets are numbered by mean equity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.buckets.ochs import ochs_definition
from equipoise.abstraction.childmass import score_mass
from equipoise.abstraction.definition import Definition
from equipoise.abstraction.features.equities import (
    count_below,
    later_equities,
    live,
    river_scores,
    weights,
)
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.kmeans import METRICS, Floats, cluster, line_clusters
from equipoise.abstraction.lookup import BLOCKED
from equipoise.errors import GameError
from equipoise.run import Listener

#: Boards and hands that centroids are fitted to.
_BOARDS, _SAMPLE = 600, 80_000
RIVERS = ("equity", "ochs")


@dataclass(frozen=True)
class HistogramBuckets:
    """How to make the buckets."""

    #: Buckets of flop, turn and river.
    counts: tuple[int, int, int] = (1000, 1000, 1000)
    #: `emd` for the earth mover's distance, `l2` for Euclid's on cumulative histograms.
    metric: str = "emd"
    #: `equity`, or `ochs` for equities against groups of opponents' hands.
    river: str = "ochs"
    #: Cells of the histograms, of equal width.
    cells: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.counts) != 3 or not all(1 <= count < BLOCKED for count in self.counts):
            raise GameError(f"counts {self.counts}: give buckets of flop, turn and river")
        if self.metric not in METRICS:
            raise GameError(f"metric = {self.metric!r}: choose {' or '.join(METRICS)}")
        if self.river not in RIVERS:
            raise GameError(f"river = {self.river!r}: choose {' or '.join(RIVERS)}")
        if not 2 <= self.cells <= 60:
            raise GameError(f"cells = {self.cells}: choose from 2 to 60")
        if self.river == "equity" and self.counts[2] > FULL_SCORE:
            raise GameError(f"{self.counts[2]} river buckets by equity: at most {FULL_SCORE}")

    @property
    def borders(self) -> tuple[float, ...]:
        """Equities below which next cards are counted."""
        return tuple(cell / self.cells for cell in range(1, self.cells))


def sampled_hands(
    vectors: Callable[[slice], NDArray[Any]], street: int, boards: int = _BOARDS, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Vectors of the hands on boards drawn by how often they come, and the hands' weights."""
    rng = np.random.default_rng(seed)
    worth = weights(street) / weights(street).sum()
    drawn, times = np.unique(
        rng.choice(len(worth), min(boards, len(worth)), p=worth), return_counts=True
    )
    rows, mass = [], []
    for board, often in zip(drawn, times, strict=True):
        here = slice(int(board), int(board) + 1)
        rows.append(vectors(here)[live(street, here)])
        mass.append(np.full(len(rows[-1]), float(often)))
    return np.concatenate(rows), np.concatenate(mass)


def fit_histograms(
    vectors: NDArray[Any], mass: NDArray[np.float64], count: int, metric: str, seed: int = 0
) -> Floats:
    """Centroids of cumulative histograms, the weakest hands first.

    The more next cards are below the borders, the weaker the hand: the sum of a cumulative histogram
    falls with the mean of the histogram.
    """
    found = cluster(
        vectors, count, mass, metric=metric, seed=seed, iterations=25, sample=_SAMPLE
    ).centroids
    order = np.argsort(-found.sum(axis=1), kind="stable")
    ordered: Floats = found[order]
    return ordered


def histogram_buckets(
    settings: HistogramBuckets | None = None, progress: Listener | None = None
) -> Abstraction:
    """Make the abstraction, in a minute or so."""
    settings = settings or HistogramBuckets()
    definitions = [Definition("class")]
    for street, count in ((1, settings.counts[0]), (2, settings.counts[1])):
        equities = later_equities(street, progress)
        vectors = partial(count_below, street, equities, settings.borders)
        rows, mass = sampled_hands(vectors, street, seed=settings.seed)
        found = fit_histograms(rows, mass, count, settings.metric, settings.seed)
        told = {"of": "histograms", "borders": list(settings.borders), "metric": settings.metric}
        definitions.append(Definition("nearest", told, {"centroids": found}))
    if settings.river == "ochs":
        definitions.append(ochs_definition(settings.counts[2], seed=settings.seed))
        last = _own(definitions[3].features)
    else:
        definitions.append(Definition("score"))
        counts = score_mass(river_scores(progress), weights(3)).sum(axis=0)
        last = equity_intervals(counts, settings.counts[2])
    children = (_own(169), *(_own(given.features) for given in definitions[1:3]), last)
    sizes = "-".join(str(int(child.max()) + 1) for child in children)
    made_by = {"method": "histogram-buckets", **asdict(settings)}
    return Abstraction(
        f"{settings.metric} {settings.river} {sizes}", tuple(definitions), children, made_by
    )


def _own(count: int) -> NDArray[np.uint16]:
    """Every feature a bucket of its own."""
    return np.arange(count, dtype=np.uint16)[None]


def equity_intervals(
    counts: Sequence[float] | NDArray[np.float64], buckets: int
) -> NDArray[np.uint16]:
    """Bucket of each river score, intervals of least squared error: uint16[1, scores].

    >>> equity_intervals([5, 1, 1, 0, 3, 3], 2)
    array([[0, 0, 0, 1, 1, 1]], dtype=uint16)
    """
    mass = np.asarray(counts, dtype=np.float64)
    borders = np.unique(line_clusters(mass, buckets).borders(buckets))
    found = np.searchsorted(borders, np.arange(len(mass)), side="right")
    return found.astype(np.uint16)[None]

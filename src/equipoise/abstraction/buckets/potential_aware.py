"""Potential-aware buckets with perfect recall, children allocated by integer programme.

The abstraction of Tartanian (Gilpin, Sandholm and Sørensen, AAAI 2007 and AAMAS 2008).

1. *Classes, bottom up.* River hands are told apart by their chance to win. Turn hands are clustered
   by where the 46 river cards lead (a histogram over cells of river equity), flop hands by where the
   47 turn cards lead (a histogram over turn classes), hole cards by where the flops lead. So a hand
   that is likely to become much better or much worse is apart from one that will stay as it is,
   though their chances to win agree. How histograms are compared is said in
   :mod:`equipoise.abstraction.features.outlook`.
2. *Buckets, top down.* Hole cards are clustered into the first round's buckets. The hands of each
   bucket are clustered by next street's class into 1, 2, 3 … children, and the integer programme of
   :mod:`equipoise.abstraction.integer_program` says how many each bucket gets of the round's total.
   A player who knows his bucket knows all the buckets he came through.
3. On the last round only the chance to win counts, and the children are exact intervals of it.

Children of a bucket are numbered by their mean equity, the weakest first.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import accumulate
from operator import mul

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.childmass import (
    flop_bucket_table,
    flop_mass,
    river_mass,
    score_mass,
    turn_mass,
)
from equipoise.abstraction.countkernels import Table
from equipoise.abstraction.definition import Definition, feature_table
from equipoise.abstraction.features.equities import moments, river_scores, weights
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.features.outlook import (
    energy_points,
    fit_outlooks,
    outlooks,
    step_points,
)
from equipoise.abstraction.integer_program import METHODS, allocate
from equipoise.abstraction.kmeans import Floats, Labels, cluster, line_clusters, nearest
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CLASS
from equipoise.cards.streets import STREET_COUNT
from equipoise.errors import GameError
from equipoise.kernel import cores
from equipoise.run import Event, Listener

#: A parent may get up to this many times the mean number of children.
_MOST_TIMES = 4
_RESTARTS, _PREFLOP_RESTARTS = 4, 100

Masses = NDArray[np.float64]


def _say_nothing(_: Event) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True)
class PotentialAware:
    """How to make the buckets.

    >>> PotentialAware.branching(8, 12, 4, 4).totals
    (8, 96, 384, 1536)
    """

    #: Buckets of each round, all together.
    totals: tuple[int, int, int, int]
    #: Cells of river equity in the turn's histograms.
    river_cells: int = 16
    #: Classes of turn hands, and of flop hands.
    turn_classes: int = 800
    flop_classes: int = 800
    #: How children are allocated: `highs`, `dynamic`, or `equal` for the same number each.
    allocation: str = "highs"
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.totals) != STREET_COUNT or list(self.totals) != sorted(self.totals):
            raise GameError(
                f"totals {self.totals}: give four that do not fall, such as 8 96 384 1536"
            )
        if not 1 <= self.totals[0] <= CLASS_COUNT or self.totals[-1] >= 65_535:
            raise GameError(
                f"totals {self.totals}: the first is from 1 to {CLASS_COUNT}, the last below 65535"
            )
        if not 2 <= self.river_cells <= 100:
            raise GameError(f"river_cells = {self.river_cells}: choose from 2 to 100")
        if not all(1 <= count < 65_535 for count in (self.turn_classes, self.flop_classes)):
            raise GameError("turn_classes and flop_classes: choose from 1 to 65534")
        if self.allocation not in (*METHODS, "equal"):
            raise GameError(
                f"allocation = {self.allocation!r}: choose {', '.join(METHODS)} or equal"
            )

    @classmethod
    def branching(cls, first: int, second: int, third: int, fourth: int) -> PotentialAware:
        """With each round's total the product of branching factors, as 8-12-4-4."""
        one, two, three, four = accumulate((first, second, third, fourth), mul)
        return cls((one, two, three, four))


def define_features(
    settings: PotentialAware, tell: Listener = _say_nothing
) -> tuple[Definition, Definition, Definition, Definition]:
    """Features bottom up: river scores, turn classes, flop classes, classes of hole cards."""
    tell(Event(0, what="river scores"))
    scores = river_scores()
    counts = score_mass(scores, weights(3)).sum(axis=0)
    borders = line_clusters(counts, settings.river_cells).borders(settings.river_cells)
    edges = np.concatenate([[0], borders, [FULL_SCORE + 1]])
    cells = (edges[:-1] + edges[1:] - 1) / (2 * FULL_SCORE)
    hole, river = Definition("class"), Definition("score")

    tell(Event(0, what="turn classes"))
    points = step_points(cells, np.arange(FULL_SCORE + 1) / FULL_SCORE)
    found = fit_outlooks(2, scores, points, settings.turn_classes, seed=settings.seed)
    turn = Definition("outlook", {}, {"points": points, "centroids": found})
    table = feature_table(2, (hole, hole, turn, river))

    tell(Event(0, what="flop classes"))
    points = energy_points(found, _class_mass(2, table, len(found)))
    found = fit_outlooks(1, table, points, settings.flop_classes, seed=settings.seed)
    flop = Definition("outlook", {}, {"points": points, "centroids": found})
    return hole, flop, turn, river


def _class_mass(street: int, table: Table, count: int) -> Masses:
    """How often each class of a street comes."""
    mass = np.zeros(count)
    for row, weight in zip(table, weights(street), strict=True):
        mass += weight * np.bincount(row[row != BLOCKED], minlength=count)
    return mass


def hole_card_points(flop_table: Table, flop_centroids: Floats) -> Floats:
    """Outlook of each of the 169 classes of hole cards over the classes of the flop."""
    mass = _class_mass(1, flop_table, len(flop_centroids))
    seen = outlooks(0, flop_table, energy_points(flop_centroids, mass))[0]
    return _class_means(seen).astype(np.float32)


def _class_means(of_combo: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mean over the combinations of each of the 169 classes."""
    sums = np.zeros((CLASS_COUNT, *of_combo.shape[1:]))
    np.add.at(sums, COMBO_CLASS, of_combo.astype(np.float64))
    means: NDArray[np.float64] = (sums.T / CLASS_SIZE).T
    return means


def divide(
    mass: Masses,
    points: Floats,
    equities: Masses,
    total: int,
    *,
    allocation: str = "highs",
    seed: int = 0,
) -> Table:
    """Child table of a round: uint16[parents, features].

    `mass` says how often each parent meets each feature, `points` and `equities` what features are.
    Features that a parent never meets go to the nearest of its children.
    """
    most = _most(len(mass), total, allocation)

    def split(parent: int) -> tuple[list[float], list[Labels]]:
        met = np.flatnonzero(mass[parent])
        errors: list[float] = []
        labels: list[Labels] = []
        for count in range(1, min(most, len(met)) + 1):
            found = cluster(
                *(points[met], count, mass[parent, met]),
                seed=seed + parent,
                restarts=_RESTARTS,
                threads=1,
            )
            errors.append(found.error)
            labels.append(nearest(points, found.centroids, threads=1))
        return errors, labels

    with ThreadPoolExecutor(cores()) as pool:
        options = list(pool.map(split, range(len(mass))))
    errors = np.full((len(mass), most), np.inf)
    for parent, (found, _) in enumerate(options):
        errors[parent, : len(found)] = found
    children = _children(mass, errors, total, allocation)
    return _numbered([options[i][1][k - 1] for i, k in enumerate(children)], mass, equities)


def divide_line(mass: Masses, total: int, *, allocation: str = "highs") -> Table:
    """Child table where a feature is a number: exact intervals of it for each parent."""
    most = _most(len(mass), total, allocation)
    lines = [line_clusters(row, most) for row in mass]
    errors = np.array([line.errors for line in lines])
    # More intervals than values met are not on offer.
    errors[np.arange(most) >= np.count_nonzero(mass, axis=1)[:, None]] = np.inf
    children = _children(mass, errors, total, allocation)
    values = np.arange(mass.shape[1])
    labels = [
        np.searchsorted(line.borders(count), values, side="right").astype(np.int32)
        for line, count in zip(lines, children, strict=True)
    ]
    return _numbered(labels, mass, values.astype(np.float64))


def _most(parents: int, total: int, allocation: str) -> int:
    if total < parents:
        raise GameError(
            f"{total} buckets for {parents} of the round before: allow at least one each"
        )
    mean = total // parents
    return mean if allocation == "equal" else _MOST_TIMES * -(-total // parents)


def _children(mass: Masses, errors: Masses, total: int, allocation: str) -> NDArray[np.int64]:
    """Children of each parent; errors are of all the parent's hands, so they carry its weight."""
    if allocation == "equal":
        offered: NDArray[np.int64] = np.isfinite(errors).sum(axis=1)
        return offered
    shares = mass.sum(axis=1) / mass.sum()
    return allocate(shares, errors / mass.sum(axis=1, keepdims=True), total, allocation)


def _numbered(labels: list[Labels], mass: Masses, equities: Masses) -> Table:
    """Bucket numbers of the round: parent by parent, and by mean equity within a parent."""
    table = np.empty((len(labels), mass.shape[1]), dtype=np.uint16)
    used = 0
    for parent, label in enumerate(labels):
        count = int(label.max()) + 1
        met = np.bincount(label, mass[parent], count)
        worth = np.bincount(label, mass[parent] * equities, count)
        # A cluster that no hand comes to takes no number; the features in it are never met.
        order = np.argsort(
            np.where(met > 0, worth / np.maximum(met, 1e-300), np.inf), kind="stable"
        )
        place = np.empty(count, dtype=np.int64)
        place[order] = np.arange(count)
        kept = int((met > 0).sum())
        table[parent] = used + np.minimum(place, kept - 1)[label]
        used += kept
    return table


def mean_equities(street: int, table: Table, count: int) -> Masses:
    """Mean rollout equity of each class of a street."""
    mean = moments(street).mean
    sums, met = np.zeros(count), np.zeros(count)
    for row, equity, weight in zip(table, mean, weights(street), strict=True):
        live = equity >= 0
        sums += weight * np.bincount(row[live], equity[live], count)
        met += weight * np.bincount(row[live], minlength=count)
    found: Masses = sums / np.maximum(met, 1)
    return found


def child_tables(
    settings: PotentialAware,
    definitions: tuple[Definition, ...],
    tell: Listener = _say_nothing,
) -> tuple[Table, Table, Table, Table]:
    """Buckets top down: the child tables of the four rounds."""
    flop_table, turn_table = (feature_table(street, definitions) for street in (1, 2))
    flop_points = definitions[1].arrays["centroids"]
    turn_points = definitions[2].arrays["centroids"]

    def share_out(mass: Masses, points: Floats, street: int, table: Table) -> Table:
        tell(Event(0, what=f"{'flop' if street == 1 else 'turn'} buckets"))
        equities = mean_equities(street, table, len(points))
        return divide(
            *(mass, points, equities, settings.totals[street]),
            allocation=settings.allocation,
            seed=settings.seed,
        )

    tell(Event(0, what="preflop buckets"))
    sizes = CLASS_SIZE.astype(np.float64)
    best = cluster(
        *(hole_card_points(flop_table, flop_points), settings.totals[0], sizes),
        seed=settings.seed,
        restarts=_PREFLOP_RESTARTS,
    )
    preflop = _numbered([best.labels], sizes[None], _class_means(moments(0).mean[0]))
    hole_buckets = preflop[0][COMBO_CLASS]
    buckets = int(preflop.max()) + 1

    mass = flop_mass(hole_buckets, flop_table, buckets, len(flop_points))
    flop = share_out(mass, flop_points, 1, flop_table)
    flop_buckets = flop_bucket_table(hole_buckets, flop_table, flop)

    mass = turn_mass(flop_buckets, turn_table, int(flop.max()) + 1, len(turn_points))
    turn = share_out(mass, turn_points, 2, turn_table)

    tell(Event(0, what="river buckets"))
    mass = river_mass(flop_buckets, turn_table, turn, river_scores(), FULL_SCORE + 1)
    river = divide_line(mass, settings.totals[3], allocation=settings.allocation)
    return preflop, flop, turn, river


def potential_aware(settings: PotentialAware, tell: Listener = _say_nothing) -> Abstraction:
    """Make the abstraction; `tell` hears what is being made: about a minute on two cores."""
    definitions = define_features(settings, tell)
    children = child_tables(settings, definitions, tell)
    name = "potential-aware " + "-".join(str(total) for total in settings.totals)
    return Abstraction(
        name, definitions, children, {"method": "potential-aware", **asdict(settings)}
    )

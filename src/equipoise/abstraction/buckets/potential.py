"""Buckets of equity and potential, as in INOT and Fell Omen.

Hands of a street are divided by rollout equity at quantiles of its distribution, every deal of hole
cards and board counted once. Within each division they are divided by *positive potential*, the
chance to be ahead at the river for a hand that is not ahead now, at quantiles of the potential in
that division: so a made hand and a draw of the same equity are played differently. INOT has 50
divisions of equity on flop and turn and 75 on the river; potential is cut at its 60th and 80th
percentiles on the flop and at its 75th on the turn. Before the flop each of the 169 classes of hole
cards is a bucket of its own. *Negative potential*, the chance of a hand ahead now to fall behind,
may divide each bucket once more.

Past buckets are forgotten, unless some are *remembered*: then a bucket is also told apart by which of so many
equally likely divisions of equity the hand was in on the street before. All of the past would be
169 · 150 · 100 · 75 sequences, far more than any table holds; the street before, by equity and coarsely,
tells a hand that came from behind from one that was ahead.

A border lies at a multiple of 1 / :data:`LEVELS`, the one that brings the share below it nearest to what is
wanted; hands that are equal stay together. Where potential takes so few values that a border divides off
nothing, a bucket stays empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.abstraction.childmass import score_mass
from equipoise.abstraction.definition import Definition, axis_values
from equipoise.abstraction.features.equities import live, river_scores, weights
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS
from equipoise.errors import GameError
from equipoise.run import Listener

#: Places for a border between an equity or potential of 0 and of 1.
LEVELS = 1 << 14

Shares = tuple[float, ...]


def even_shares(count: int) -> Shares:
    """Shares below the borders of equally likely divisions.

    >>> even_shares(4)
    (0.25, 0.5, 0.75)
    """
    return tuple(place / count for place in range(1, count))


@dataclass(frozen=True)
class StreetDivision:
    """How the hands of one street are divided."""

    #: Shares of hands below each border of equity.
    equity: Shares
    #: Within a division of equity, shares below each border of positive potential.
    positive: Shares = ()
    #: Within a division of those, shares below each border of negative potential.
    negative: Shares = ()

    def __post_init__(self) -> None:
        for shares in (self.equity, self.positive, self.negative):
            edges = np.array([0.0, *shares, 1.0])
            if np.any(np.diff(edges) <= 0):
                raise GameError(f"shares {shares}: give them ascending between 0 and 1")
        if not self.equity:
            raise GameError("a division without a border of equity: give at least one share")
        if self.count >= BLOCKED:
            raise GameError(f"{self.count} buckets on a street: choose fewer than {BLOCKED}")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Divisions by equity, by positive and by negative potential."""
        return len(self.equity) + 1, len(self.positive) + 1, len(self.negative) + 1

    @property
    def axes(self) -> tuple[str, ...]:
        """What divides, in order: those of equity, positive and negative that have shares."""
        given = (("equity", self.equity), ("positive", self.positive), ("negative", self.negative))
        return tuple(name for name, shares in given if shares)

    @property
    def shares(self) -> tuple[Shares, ...]:
        """Shares of each of the axes."""
        return tuple(given for given in (self.equity, self.positive, self.negative) if given)

    @property
    def count(self) -> int:
        """Buckets: they are numbered by equity, then positive, then negative potential."""
        return int(np.prod(self.shape))


#: INOT's: 150 buckets on the flop, 100 on the turn, 75 on the river.
INOT = (
    StreetDivision(even_shares(50), (0.6, 0.8)),
    StreetDivision(even_shares(50), (0.75,)),
    StreetDivision(even_shares(75)),
)


@dataclass(frozen=True)
class PotentialBuckets:
    """Divisions of flop, turn and river."""

    divisions: tuple[StreetDivision, StreetDivision, StreetDivision] = INOT
    #: Divisions of the street before that are told apart; 1 is to forget.
    remember: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.remember <= 100:
            raise GameError(f"remember = {self.remember}: tell 1 to 100 divisions apart")
        if self.remember * max(division.count for division in self.divisions) >= BLOCKED:
            raise GameError(f"remember = {self.remember}: too many buckets on a street, tell fewer")
        if len(self.divisions) != 3:
            raise GameError("potential buckets: give divisions of flop, turn and river")
        if self.divisions[2].positive or self.divisions[2].negative:
            raise GameError("river division: nothing is to come, divide it by equity alone")


def with_negative(
    divisions: Sequence[StreetDivision] = INOT, shares: Shares = (0.75,)
) -> tuple[StreetDivision, StreetDivision, StreetDivision]:
    """The same divisions, flop and turn divided once more by negative potential.

    >>> [division.count for division in with_negative()]
    [300, 200, 75]
    """
    flop, turn, river = divisions
    return (
        StreetDivision(flop.equity, flop.positive, shares),
        StreetDivision(turn.equity, turn.positive, shares),
        river,
    )


def quantile_cuts(counts: NDArray[np.float64], shares: Shares) -> NDArray[np.int64]:
    """Least level of each division but the first, in each row of counts: int64[rows, shares].

    >>> quantile_cuts(np.array([[4.0, 1, 3, 2]]), (0.5, 0.75))
    array([[2, 3]])
    """
    below = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
    cuts = np.empty((len(counts), len(shares)), dtype=np.int64)
    for row, sums in enumerate(below):
        wanted = np.array(shares) * sums[-1]
        over = np.minimum(np.searchsorted(sums, wanted), len(sums) - 1)
        under = np.maximum(over - 1, 0)
        cuts[row] = np.where(wanted - sums[under] < sums[over] - wanted, under, over)
    return cuts


def fit_borders(
    division: StreetDivision,
    values: Sequence[NDArray[np.float32]],
    dealt: NDArray[np.bool_],
    mass: NDArray[np.int64],
) -> list[NDArray[np.float64]]:
    """Borders of equity, then of each potential the division has: float64[cells, borders] each.

    `values` are the figures of every hand on every board, one array for each axis of the division;
    `dealt` says which hands there are, and `mass` weighs the boards.
    """
    cell = np.zeros(dealt.shape, dtype=np.int32)
    cells, found = 1, []
    for shares, figures in zip(division.shares, values, strict=True):
        counts = np.zeros((cells, LEVELS))
        for row, level, free, weight in zip(cell, _levels(figures), dealt, mass, strict=True):
            np.add.at(counts, (row[free], level[free]), weight)
        borders = quantile_cuts(counts, shares) / LEVELS
        found.append(borders[0] if cells == 1 else borders)
        within = np.zeros_like(cell)
        for k in range(len(shares)):
            within += figures >= borders[:, k].astype(np.float32)[cell]
        cell = cell * (len(shares) + 1) + within
        cells *= len(shares) + 1
    return found


def _levels(figures: NDArray[np.float32]) -> NDArray[np.int32]:
    levels: NDArray[np.int32] = np.minimum(figures * np.float32(LEVELS), LEVELS - 1).astype(
        np.int32
    )
    return levels


def define_street(
    division: StreetDivision, street: int, progress: Listener | None = None
) -> Definition:
    """Features of the flop (1) or the turn (2): the buckets themselves."""
    whole = slice(None)
    values = [axis_values(street, axis, whole, progress) for axis in division.axes]
    borders = fit_borders(division, values, live(street), weights(street))
    arrays = {f"borders{number}": found for number, found in enumerate(borders)}
    return Definition("cuts", {"axes": list(division.axes)}, arrays)


def river_child(shares: Shares, counts: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Bucket of each river score: uint16[1, 1981], from how often each score comes."""
    cuts = np.unique(quantile_cuts(counts[None], shares)[0])
    found = np.searchsorted(cuts, np.arange(len(counts)), side="right")
    return found.astype(np.uint16)[None]


def potential_buckets(
    settings: PotentialBuckets | None = None, progress: Listener | None = None
) -> Abstraction:
    """Make the abstraction: hole cards by class, then buckets that forget those before."""
    settings = settings or PotentialBuckets()
    flop, turn, river = settings.divisions
    definitions = (
        Definition("class"),
        define_street(flop, 1, progress),
        define_street(turn, 2, progress),
        Definition("score"),
    )
    counts = score_mass(river_scores(progress), weights(3)).sum(axis=0)
    cells = (
        *(np.arange(count, dtype=np.uint16)[None] for count in (169, flop.count, turn.count)),
        river_child(river.equity, counts),
    )
    told = {"method": "potential-buckets", "divisions": asdict(settings)["divisions"]}
    children, times = cells, settings.remember
    if times > 1:
        children, told = remembering(cells, settings), told | {"remember": times}
    sizes = "-".join(str(times * division.count) for division in settings.divisions)
    return Abstraction(f"potential 169-{sizes}", definitions, children, told)


def remembering(
    cells: tuple[NDArray[np.uint16], ...], settings: PotentialBuckets
) -> tuple[NDArray[np.uint16], ...]:
    """Child tables of buckets that know the division of equity on the street before."""
    flop, turn, _ = settings.divisions
    times = settings.remember
    before = np.zeros(CLASS_COUNT, dtype=np.int64)
    # Before the flop equity is of combinations, all of a class alike.
    before[COMBO_CLASS] = EquityBuckets(times).buckets()
    children = [cells[0]]
    for number, cell in enumerate(cells[1:]):
        count = int(cell.max()) + 1
        children.append((before[:, None] * count + cell).astype(np.uint16))
        if number < 2:
            division = (flop, turn)[number]
            parts = division.shape[0]
            equity = np.arange(division.count) // (division.count // parts)
            before = np.tile(equity * times // parts, times)
    first, second, third, last = children
    return first, second, third, last

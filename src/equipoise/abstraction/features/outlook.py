"""Outlooks: where the next card takes a hand, as one point of a space in which near means alike.

A hand's histogram over the classes of the next street treats all classes as equally different. Give
each class c a point z(c) instead, and let a hand's *outlook* be the mean of the points its next
cards lead to, the histogram h times z. If |z(c) - z(d)|² is the distance D(c, d) of the classes,

    |Σ h z - Σ h' z|² = Σ h D h' - ½ Σ h D h - ½ Σ h' D h',

the energy distance of the two histograms (Székely and Rizzo, 2013): 0 only for equal histograms, and
the further the mass must move the larger. Points with that property exist for Euclidean D, and
classical scaling finds them; the first few coordinates hold nearly everything. For classes on a line,
D the difference of their equities, the points are steps: z(c) is 1 below each border up to c, times
the root of the border's width, and an outlook is a cumulative histogram.

So every street has the same form: points of the next street's classes, the mean of them for each
hand, clusters of those means as the classes of this street.

Points are rounded to :data:`GRAIN`. Sums over turns or rivers are then exact, and hands that differ
by a renaming of suits have the same outlook to the last bit, in whatever order the cards come.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.abstraction.features.equities import (
    board_count,
    live,
    next_places,
    read_only,
    weights,
)
from equipoise.abstraction.features.kernels import mean_points
from equipoise.abstraction.kmeans import Floats, cluster, nearest
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import GameError
from equipoise.kernel import over_chunks
from equipoise.run import Event, Listener

#: Points are multiples of this: sums of 48 of them are exact in float32 while below 2⁸.
GRAIN = 2.0**-16
#: Boards a clustering is fitted to.
_FITTED = 400
#: Boards whose outlooks are held at one time.
_BATCH = 256


def outlooks(
    street: int, table: NDArray[np.uint16], points: Floats, boards: slice = slice(None)
) -> Floats:
    """Mean over the next cards of the points of the next street's classes.

    `table` holds the classes of the next street, `points` has a row for each class. The answer is
    float32[boards, 1326, dimensions], zeros for a hand that its board blocks.
    """
    if table.shape != (board_count(street + 1), COMBO_COUNT) or table.dtype != np.uint16:
        raise GameError(
            f"a table of {table.dtype}{list(table.shape)}: give the classes of street {street + 1}, "
            f"uint16{[board_count(street + 1), COMBO_COUNT]}"
        )
    children = next_places(street)[boards]
    out = np.empty((len(children), COMBO_COUNT, points.shape[1]), dtype=np.float32)
    table, points = read_only(table), read_only(np.ascontiguousarray(points))

    def work(first: int, last: int) -> None:
        mean_points(children[first:last], table, points, out[first:last])

    over_chunks(work, len(children))
    return out


def step_points(places: ArrayLike, values: ArrayLike) -> Floats:
    """Points of values on a line, so that a mean of them is a cumulative histogram.

    There is a border half-way between neighbours of `places`, and the step at it is as high as the
    root of their distance: for two of the places the squared distance of their points is the
    distance of the places.

    >>> step_points([0.0, 0.25, 1.0], [0.0, 0.3, 0.9]).round(3)
    array([[0.   , 0.   ],
           [0.5  , 0.   ],
           [0.5  , 0.866]], dtype=float32)
    """
    centres, given = np.asarray(places, float), np.asarray(values, float)
    if centres.ndim != 1 or len(centres) < 2 or np.any(np.diff(centres) <= 0):
        raise GameError("places on a line: give two or more that ascend")
    above = given[:, None] >= (centres[:-1] + centres[1:]) / 2
    return _grained(above * np.sqrt(np.diff(centres)))


def energy_points(centroids: ArrayLike, masses: ArrayLike, most: int = 24) -> Floats:
    """Points of classes such that squared distances are the Euclidean distances of `centroids`.

    Classical scaling, weighted by how often a class comes: the first `most` coordinates, those with
    the greatest spread, centred. Fewer where fewer hold all there is.

    >>> points = energy_points([[0.0], [1.0], [3.0]], [1, 1, 1])
    >>> round(float(((points[0] - points[2]) ** 2).sum()), 4)
    3.0
    """
    stand, mass = np.asarray(centroids, float), np.asarray(masses, float)
    share = mass / mass.sum()
    square = (stand**2).sum(axis=1)
    apart = np.sqrt(np.maximum(square[:, None] + square[None] - 2 * stand @ stand.T, 0))
    np.fill_diagonal(apart, 0)
    rows = apart @ share
    inner = -0.5 * (apart - rows[:, None] - rows[None, :] + share @ rows)
    root = np.sqrt(np.maximum(share, 1e-12))
    spread, axes = np.linalg.eigh(root[:, None] * inner * root[None, :])
    order = np.argsort(-spread, kind="stable")[:most]
    order = order[spread[order] > 1e-9 * spread[order[0]]]
    # The sign of an axis is arbitrary: let its largest entry be positive, wherever this runs.
    axes = axes[:, order]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(order))])
    return _grained(axes * np.sqrt(spread[order]) / root[:, None])


def _grained(points: NDArray[np.float64]) -> Floats:
    rounded: Floats = (np.round(points / GRAIN) * GRAIN).astype(np.float32)
    return rounded


def fit_outlooks(
    street: int,
    table: NDArray[np.uint16],
    points: Floats,
    count: int,
    *,
    seed: int = 0,
    sample: int = 60_000,
) -> Floats:
    """Centroids of `count` clusters of a street's hands by outlook: float32[count, dimensions].

    They are fitted to hands on boards drawn by how often they come.
    """
    rng = np.random.default_rng(seed)
    worth = weights(street) / weights(street).sum()
    boards = rng.choice(len(worth), min(len(worth), _FITTED), p=worth)
    seen, times = [], []
    for board, drawn in zip(*np.unique(boards, return_counts=True), strict=True):
        here = slice(int(board), int(board) + 1)
        seen.append(outlooks(street, table, points, here)[live(street, here)])
        times.append(np.full(len(seen[-1]), float(drawn)))
    fitted = cluster(
        np.concatenate(seen), count, np.concatenate(times), seed=seed, iterations=30, sample=sample
    )
    return fitted.centroids


def expand(
    street: int,
    table: NDArray[np.uint16],
    points: Floats,
    centroids: Floats,
    progress: Listener | None = None,
    out: NDArray[np.uint16] | None = None,
) -> NDArray[np.uint16]:
    """Class of every hand on every canonical board: the centroid nearest to its outlook."""
    boards = board_count(street)
    found = np.empty((boards, COMBO_COUNT), dtype=np.uint16) if out is None else out
    for first in range(0, boards, _BATCH):
        part = slice(first, min(first + _BATCH, boards))
        free = live(street, part)
        rows = np.full(free.shape, BLOCKED, dtype=np.uint16)
        rows[free] = nearest(outlooks(street, table, points, part)[free], centroids)
        found[part] = rows
        if progress is not None:
            progress(Event(part.stop, boards))
    return found

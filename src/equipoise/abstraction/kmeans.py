"""Clusters of weighted points: k-means, k-medians for the earth mover's distance, exact on a line.

`metric="l2"` is Lloyd's algorithm from a k-means++ start (Arthur and Vassilvitskii, SODA 2007): a
cluster is stood for by its mean, and the error is the weighted sum of squared distances.

`metric="emd"` is for *cumulative* histograms. In one dimension the earth mover's distance of two
histograms is the L1 distance of their cumulative ones (in units of a bin's width), so a cluster is
stood for by the cumulative histogram that is the weighted median in every coordinate, which is the
histogram of least total distance, and the error is the weighted sum of distances: k-medians, exactly
as k-means is for squares. Medians of cumulative histograms are again non-decreasing.

On a line the best clusters are intervals, and dynamic programming finds them exactly: with e(i, j)
the error of the values i..j-1 as one cluster, E(k, j) = min over i of E(k-1, i) + e(i, j). The best
i does not fall as j rises, so each layer is found by halving (Wu, 1991) in n log n steps.

Everything is the same for the same seed, whatever the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import GameError
from equipoise.kernel import kernel, over_chunks

METRICS = ("l2", "emd")
#: Below this many products an assignment is not worth a second thread.
_ONE_THREAD = 2_000_000
#: Points remembered while others are assigned: a power of two.
_RECENT = 4096
#: Coordinates are told apart in steps of 1/65536 by the hash, which multiplies by a large odd number.
_HASH_SCALE, _HASH_FACTOR = np.float32(65_536), 6_364_136_223_846_793_005
#: Centroids with the nearest sums that are looked at first, and room for rounding in what they bound.
_FEW, _ROOM = 32, 1e-5
#: Improvement of the error, as a share of it, below which iterations end.
_TOLERANCE = 1e-4

Floats = NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Clusters:
    """What clustering found."""

    #: What stands for each cluster: float32[clusters, dimensions].
    centroids: Floats
    #: Cluster of each point: int32[points].
    labels: Labels
    #: Weighted sum of squared distances ("l2") or of distances ("emd").
    error: float


def cluster(
    points: NDArray[Any],
    count: int,
    weights: ArrayLike | None = None,
    *,
    metric: str = "l2",
    seed: int = 0,
    restarts: int = 1,
    iterations: int = 50,
    sample: int | None = None,
    threads: int | None = None,
) -> Clusters:
    """Group points into `count` clusters, the best of several starts.

    Where there are fewer distinct points of positive weight, there are as many clusters as those.
    With `sample`, centroids are fitted to that many points drawn by weight, and then all points
    go to the nearest.

    >>> found = cluster(np.array([[0.0], [0.1], [5.0], [5.2]]), 2, restarts=4)
    >>> len(set(found.labels[:2])), len(set(found.labels)), round(found.error, 3)
    (1, 2, 0.025)
    """
    mass = _checked(points, count, weights, metric)
    rng = np.random.default_rng(seed)
    if sample is not None and sample < len(points):
        cumulative = np.cumsum(mass)
        drawn = np.searchsorted(cumulative, rng.random(sample) * cumulative[-1], side="right")
        # Sorted and merged: a memory map is read in order, and a point drawn twice weighs two.
        which, times = np.unique(np.minimum(drawn, len(points) - 1), return_counts=True)
        fitted = _fit(
            points[which],
            times.astype(np.float64),
            count,
            metric,
            rng,
            restarts,
            iterations,
            threads,
        )
        labels, distances = _nearest(points, fitted.centroids, metric, threads)
        return Clusters(fitted.centroids, labels, float(distances @ mass))
    return _fit(points, mass, count, metric, rng, restarts, iterations, threads)


def nearest(
    points: NDArray[Any], centroids: ArrayLike, metric: str = "l2", threads: int | None = None
) -> Labels:
    """Nearest centroid of each point, the first of equals; points may be of any number type.

    >>> nearest(np.array([[1], [9]], dtype=np.uint8), [[0.0], [10.0]])
    array([0, 1], dtype=int32)
    """
    _check_metric(metric)
    stand = np.ascontiguousarray(centroids, dtype=np.float32)
    if points.ndim != 2 or stand.ndim != 2 or points.shape[1] != stand.shape[1] or not len(stand):
        raise GameError(
            f"points of shape {points.shape} and centroids of shape {stand.shape}: give both as "
            "rows of the same length"
        )
    return _nearest(points, stand, metric, threads)[0]


def _checked(
    points: NDArray[Any], count: int, weights: ArrayLike | None, metric: str
) -> NDArray[np.float64]:
    """Weights of the points, after looking at everything given."""
    _check_metric(metric)
    if points.ndim != 2 or not len(points):
        raise GameError(f"points of shape {points.shape}: give at least one, each a row")
    if count < 1:
        raise GameError(f"{count} clusters: ask for at least 1")
    if weights is None:
        return np.ones(len(points))
    mass = np.asarray(weights, dtype=np.float64)
    if mass.shape != (len(points),):
        raise GameError(f"{mass.size} weights for {len(points)} points: give one each")
    if not np.isfinite(mass).all() or mass.min() < 0 or mass.max() == 0:
        raise GameError("weights of points: none may be negative, and one must be positive")
    return mass


def _check_metric(metric: str) -> None:
    if metric not in METRICS:
        raise GameError(f"metric = {metric!r}: choose {' or '.join(METRICS)}")


@kernel
def _spread_start(
    points: NDArray[Any],
    weights: NDArray[np.float64],
    squared: bool,
    draws: NDArray[np.float64],
    distances: NDArray[np.float64],
    chosen: NDArray[np.int64],
) -> int:
    """k-means++: each start drawn in proportion to weight times distance from those before it.

    Ends early, with the number found, when every point of positive weight is a start.
    """
    distances[:] = 1.0
    for n in range(len(draws)):
        total = 0.0
        for i in range(len(points)):
            total += weights[i] * distances[i]
        if total <= 0.0:
            return n
        left = draws[n] * total
        pick = -1
        for i in range(len(points)):
            share = weights[i] * distances[i]
            if share > 0.0:
                pick = i
                left -= share
                if left < 0.0:
                    break
        chosen[n] = pick
        for i in range(len(points)):
            apart = 0.0
            for j in range(points.shape[1]):
                step = np.float64(points[i, j]) - np.float64(points[pick, j])
                apart += step * step if squared else abs(step)
            distances[i] = apart if n == 0 else min(distances[i], apart)
    return len(draws)


@kernel
def _score(
    point: NDArray[Any],
    columns: Floats,
    half_norms: Floats,
    squared: bool,
    first: int,
    last: int,
    scores: Floats,
) -> int:
    """Score some centroids for a point, the less the nearer; the place of the first of the least.

    Of a squared distance |x|² - 2xc + |c|² only the last two terms, halved, need comparing. The
    inner loops run over centroids, so that they become vector instructions.
    """
    size, width = len(point), last - first
    by_four = size - size % 4
    # Slices, so that indices start at 0 and loops become vector instructions.
    here = scores[first:last]
    halves = half_norms[first:last]
    for c in range(width):
        here[c] = halves[c]
    # Four coordinates at a time: the scores are read and written a fourth as often.
    for j in range(0, by_four, 4):
        x, y = np.float32(point[j]), np.float32(point[j + 1])
        z, u = np.float32(point[j + 2]), np.float32(point[j + 3])
        p, q = columns[j, first:last], columns[j + 1, first:last]
        r, s = columns[j + 2, first:last], columns[j + 3, first:last]
        if squared:
            for c in range(width):
                here[c] -= x * p[c] + y * q[c] + z * r[c] + u * s[c]
        else:
            for c in range(width):
                here[c] += abs(x - p[c]) + abs(y - q[c]) + abs(z - r[c]) + abs(u - s[c])
    for j in range(by_four, size):
        x, p = np.float32(point[j]), columns[j, first:last]
        for c in range(width):
            here[c] += abs(x - p[c]) if not squared else -x * p[c]
    best, least = 0, here[0]
    for block in range(0, width, 64):
        lowest = here[block]
        for c in range(block, min(block + 64, width)):
            lowest = min(lowest, here[c])
        if lowest < least:
            least, best = lowest, block
    while here[best] > least:
        best += 1
    return first + best


@kernel
def _apart(point: NDArray[Any], columns: Floats, c: int, squared: bool) -> np.float32:
    """Distance of a point from one centroid."""
    apart = np.float32(0)
    for j in range(len(point)):
        step = np.float32(point[j]) - columns[j, c]
        apart += step * step if squared else abs(step)
    return apart


@kernel
def _assign(
    points: NDArray[Any],
    columns: Floats,
    half_norms: Floats,
    sums: Floats,
    numbers: Labels,
    squared: bool,
    labels: Labels,
    distances: Floats,
) -> None:
    """Nearest centroid of each point and how far it is; `columns` are the centroids transposed.

    Centroids stand in the order of the sums of their coordinates, `numbers` says which they are. Two
    points are at least as far apart as their sums are (by L1; by L2 divided by the root of the number of
    coordinates), so that only centroids are looked at whose sums are not farther away than the best of
    a few near ones, with room for rounding. Many hands of a board are alike: a point equal to a recent one
    (found by a hash of it) takes its answer over.
    """
    count, size = columns.shape[1], points.shape[1]
    scores = np.empty(count, np.float32)
    recent = np.full(_RECENT, -1, np.int64)
    for i in range(len(points)):
        code = np.int64(0)
        for j in range(size):
            code = (code + np.int64(np.float32(points[i, j]) * _HASH_SCALE)) * _HASH_FACTOR
        slot = (code >> 40) & (_RECENT - 1)
        like = recent[slot]
        alike = like >= 0
        for j in range(size):
            alike = alike and points[like, j] == points[i, j]
        if alike:
            labels[i], distances[i] = labels[like], distances[like]
            continue
        recent[slot] = i
        point = points[i]
        total, norm = np.float64(0), np.float64(0)
        for j in range(size):
            total += np.float64(point[j])
            norm += np.float64(point[j]) ** 2 if squared else abs(np.float64(point[j]))
        place = np.searchsorted(sums, np.float32(total))
        first = max(0, min(place - _FEW // 2, count - _FEW))
        last = min(count, first + _FEW)
        near = np.float64(
            _apart(point, columns, _score(point, columns, half_norms, squared, first, last, scores),
                   squared)
        )  # fmt: skip
        near += _ROOM * (near + norm)
        radius = np.sqrt(near * size) if squared else near
        radius += _ROOM * abs(total)
        first = min(first, np.searchsorted(sums, np.float32(total - radius)))
        last = max(last, np.searchsorted(sums, np.float32(total + radius), side="right"))
        best = _score(point, columns, half_norms, squared, first, last, scores)
        for c in range(best + 1, last):
            # The first of equals, as centroids were given.
            if scores[c] == scores[best] and numbers[c] < numbers[best]:
                best = c
        labels[i] = numbers[best]
        distances[i] = _apart(point, columns, best, squared)


@kernel
def _means(
    points: NDArray[Any],
    weights: NDArray[np.float64],
    labels: Labels,
    sums: NDArray[np.float64],
    masses: NDArray[np.float64],
) -> None:
    """Weighted mean of each cluster into `sums`; clusters without mass keep a zero."""
    sums[:] = 0.0
    masses[:] = 0.0
    for i in range(len(points)):
        c = labels[i]
        masses[c] += weights[i]
        for j in range(points.shape[1]):
            sums[c, j] += weights[i] * points[i, j]
    for c in range(len(masses)):
        if masses[c] > 0.0:
            for j in range(points.shape[1]):
                sums[c, j] /= masses[c]


@kernel
def _medians(
    points: NDArray[Any],
    weights: NDArray[np.float64],
    orders: NDArray[np.int32],
    labels: Labels,
    sums: NDArray[np.float64],
    masses: NDArray[np.float64],
) -> None:
    """Weighted lower median of each cluster in each coordinate; `orders` sort the coordinates."""
    masses[:] = 0.0
    for i in range(len(points)):
        masses[labels[i]] += weights[i]
    passed = np.empty(len(masses), np.float64)
    for j in range(points.shape[1]):
        passed[:] = 0.0
        for n in range(len(points)):
            i = orders[j, n]
            c = labels[i]
            # The first point at which half the mass is passed, and no later one.
            if weights[i] > 0.0 and 2.0 * passed[c] < masses[c]:
                sums[c, j] = points[i, j]
            passed[c] += weights[i]


def _nearest(
    points: NDArray[Any], centroids: Floats, metric: str, threads: int | None
) -> tuple[Labels, Floats]:
    sums = centroids.astype(np.float64).sum(axis=1)
    numbers = np.argsort(sums, kind="stable").astype(np.int32)
    sums = sums[numbers].astype(np.float32)
    ordered = centroids[numbers]
    columns = np.ascontiguousarray(ordered.T)
    halves = 0.5 * (ordered.astype(np.float64) ** 2).sum(axis=1) * (metric == "l2")
    half_norms = halves.astype(np.float32)
    labels = np.empty(len(points), dtype=np.int32)
    distances = np.empty(len(points), dtype=np.float32)
    squared = metric == "l2"

    def work(first: int, last: int) -> None:
        part = slice(first, last)
        _assign(
            points[part], columns, half_norms, sums, numbers, squared, labels[part], distances[part]
        )

    small = points.size * len(centroids) < _ONE_THREAD
    over_chunks(work, len(points), 1 if small else threads)
    return labels, distances


def _fit(
    points: NDArray[Any],
    weights: NDArray[np.float64],
    count: int,
    metric: str,
    rng: np.random.Generator,
    restarts: int,
    iterations: int,
    threads: int | None,
) -> Clusters:
    """The best of several starts, each improved until it hardly improves."""
    points = np.ascontiguousarray(points)
    if metric == "emd":
        orders = np.argsort(points, axis=0, kind="stable").T.astype(np.int32, order="C")
    best: Clusters | None = None
    distances = np.empty(len(points), dtype=np.float64)
    for _ in range(max(1, restarts)):
        chosen = np.empty(min(count, len(points)), dtype=np.int64)
        draws = rng.random(len(chosen))
        found = _spread_start(points, weights, metric == "l2", draws, distances, chosen)
        centroids = points[chosen[:found]].astype(np.float32)
        stands = centroids.astype(np.float64)
        masses = np.empty(found)
        error = np.inf
        for _ in range(iterations):
            labels, apart = _nearest(points, centroids, metric, threads)
            before, error = error, float(apart @ weights)
            if error >= before * (1 - _TOLERANCE):
                break
            if metric == "l2":
                _means(points, weights, labels, stands, masses)
            else:
                _medians(points, weights, orders, labels, stands, masses)
            empty = np.flatnonzero(masses == 0)
            if len(empty):
                # The points that pay most become clusters of their own.
                far = np.argsort(-(apart * weights), kind="stable")[: len(empty)]
                stands[empty] = points[far]
            centroids = stands.astype(np.float32)
        labels, apart = _nearest(points, centroids, metric, threads)
        error = float(apart @ weights)
        if best is None or error < best.error:
            best = Clusters(centroids, labels, error)
    assert best is not None
    return best


@dataclass(frozen=True)
class LineClusters:
    """The best intervals of 1, 2, 3 … clusters of values on a line."""

    #: Least error of `k` clusters at `k - 1`: float64[most].
    errors: NDArray[np.float64]
    #: Where the last of `k` clusters of the first `j` values starts: int32[most, values + 1].
    starts: NDArray[np.int32]

    def borders(self, count: int) -> NDArray[np.int64]:
        """Index of the first value of every cluster but the first: int64[count - 1]."""
        if not 1 <= count <= len(self.errors):
            raise GameError(f"{count} clusters on a line: from 1 to {len(self.errors)} were found")
        borders = np.empty(count - 1, dtype=np.int64)
        end = self.starts.shape[1] - 1
        for k in range(count - 1, 0, -1):
            end = borders[k - 1] = self.starts[k, end]
        return borders


@kernel
def _line_layer(
    mass: NDArray[np.float64],
    moment: NDArray[np.float64],
    square: NDArray[np.float64],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    starts: NDArray[np.int32],
    stack: NDArray[np.int64],
) -> None:
    """One more cluster: `after`[j] and where the last cluster of the first j values starts."""
    top = 0
    last = len(after) - 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, last, 0, last
    while top >= 0:
        first_j, last_j, low, high = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        top -= 1
        j = (first_j + last_j) // 2
        best, at = np.inf, low
        for i in range(low, min(j, high) + 1):
            m = mass[j] - mass[i]
            error = before[i]
            if m > 0.0:
                s = moment[j] - moment[i]
                error += max(0.0, square[j] - square[i] - s * s / m)
            if error < best:
                best, at = error, i
        after[j] = best
        starts[j] = at
        if first_j < j:
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = first_j, j - 1, low, at
        if j < last_j:
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = j + 1, last_j, at, high


def line_clusters(weights: ArrayLike, most: int, values: ArrayLike | None = None) -> LineClusters:
    """The intervals of least squared error for each number of clusters up to `most`.

    `values` ascend; without them they are 0, 1, 2 … as in a histogram.

    >>> found = line_clusters([4, 0, 1, 0, 0, 3, 3], 3)
    >>> found.borders(2), found.errors.round(2)
    (array([3]), array([75.64,  4.7 ,  1.5 ]))
    """
    mass = np.asarray(weights, dtype=np.float64)
    place = np.arange(len(mass)) if values is None else np.asarray(values)
    if mass.ndim != 1 or mass.shape != place.shape or not len(mass) or most < 1:
        raise GameError("clusters on a line: give as many weights as values, and ask for 1 or more")
    if not np.isfinite(mass).all() or mass.min() < 0 or np.any(np.diff(place) < 0):
        raise GameError("clusters on a line: weights may not be negative, and values ascend")
    # From the middle, so that sums of squares lose no digits.
    x = place - np.average(place, weights=mass if mass.any() else None)
    below, moment, square = (
        np.concatenate([[0.0], np.cumsum(mass * x**power)]) for power in range(3)
    )
    errors = np.empty((most, len(mass) + 1))
    starts = np.zeros((most, len(mass) + 1), dtype=np.int32)
    spent = np.full(len(mass) + 1, np.inf)
    spent[0] = 0.0
    stack = np.empty((128, 4), dtype=np.int64)
    for k in range(most):
        before = errors[k - 1] if k else spent
        _line_layer(below, moment, square, before, errors[k], starts[k], stack)
    return LineClusters(errors[:, -1].copy(), starts)

"""How a feature table is made: small enough to keep, exact enough to make the table again.

The feature tables of turn and river have 22 and 178 million entries, but each follows from a few
kilobytes: the centroids that hands are put to, or the borders they fall between. A *definition* is
these arrays, a kind and settings; :func:`feature_table` expands it once, into the cache. Kinds are

- `class`: the 169 classes of hole cards (preflop), with no arrays;
- `score`: the 1,981 river scores, with no arrays;
- `table`: the table itself, in `table`;
- `outlook`: the nearest of `centroids` to the hand's outlook over the next street's features with
  `points` (:mod:`equipoise.abstraction.features.outlook`);
- `nearest`: the nearest of `centroids` to a vector of the hand, by setting `metric`. Setting `of` is
  `histograms` (cumulative, with setting `borders`) or `ochs` (with setting `clusters`);
- `clustered`, on the flop: as `nearest` by histograms, but cell `merge[cluster, feature]` of the public
  cluster that the flop is in, which `clusters` names (:mod:`equipoise.abstraction.flopclusters`);
- `cuts`: the cell between borders on one or more axes. `borders0` cuts the first of the setting
  `axes`; row i of `borders1` cuts cell i on the second, and so on. A border belongs to the cell above.
  Axes are `equity`, `spread`, `river_spread`, `strength`, `positive` and `negative`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.features.equities import (
    board_count,
    count_below,
    later_equities,
    live,
    moments,
    river_scores,
)
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.features.ochs import cluster_count, ochs_vectors
from equipoise.abstraction.features.potentials import potentials
from equipoise.abstraction.flopclusters import FlopClusters
from equipoise.abstraction.kmeans import METRICS, nearest
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cache import cached_table
from equipoise.cards.combos import COMBO_CLASS, COMBO_COUNT
from equipoise.cards.streets import STREET_COUNT
from equipoise.errors import GameError
from equipoise.run import Event, Listener

Table = NDArray[np.uint16]

#: Boards that are worked on at a time.
_BATCH = 512
KINDS = ("class", "score", "table", "outlook", "nearest", "clustered", "cuts")
_MOMENT_AXES = {"equity": 0, "spread": 1, "river_spread": 2}
_POTENTIAL_AXES = {"strength": 0, "positive": 1, "negative": 2}


@dataclass(frozen=True)
class Definition:
    """What a feature table is made from.

    >>> Definition("cuts", {"axes": ["equity"]}, {"borders0": np.array([0.5])}).features
    2
    """

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise GameError(f"features by {self.kind!r}: choose {', '.join(KINDS)}")

    @property
    def features(self) -> int:
        """How many features there are."""
        if self.kind == "class":
            return 169
        if self.kind == "score":
            return FULL_SCORE + 1
        if self.kind == "table":
            table = self.arrays["table"]
            return int(table[table != BLOCKED].max()) + 1
        if self.kind == "cuts":
            last = self.arrays[f"borders{len(self.settings['axes']) - 1}"]
            return int(np.prod([*last.shape[:-1], last.shape[-1] + 1]))
        if self.kind == "clustered":
            return int(self.arrays["merge"].max(initial=0)) + 1
        return len(self.arrays["centroids"])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that the definition says."""
        digest = hashlib.sha256(
            json.dumps([self.kind, dict(self.settings)], sort_keys=True).encode()
        )
        for name in sorted(self.arrays):
            array = np.ascontiguousarray(self.arrays[name])
            digest.update(f"{name}:{array.dtype}:{array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()[:16]


def check_definitions(definitions: Sequence[Definition]) -> None:
    """Refuse what :func:`feature_table` could not expand: for definitions of unknown origin.

    Kernels follow these numbers without looking; whatever is of another size or type than they
    expect is found here.
    """
    if len(definitions) != STREET_COUNT:
        raise GameError(f"features of {len(definitions)} streets: give those of {STREET_COUNT}")
    for street, definition in enumerate(definitions):
        _check_kind(street, definition)
        _CHECKS.get(definition.kind, _no_more)(street, definitions)
        if not 0 < definition.features <= BLOCKED:
            raise GameError(
                f"{definition.features:,} features on street {street}: at most {BLOCKED}"
            )


def _check_kind(street: int, definition: Definition) -> None:
    fitting = {"class": (0,), "score": (3,), "outlook": (0, 1, 2), "clustered": (1,)}.get(
        definition.kind, tuple(range(STREET_COUNT))
    )
    if street not in fitting:
        raise GameError(f"features by {definition.kind!r} are not for street {street}")


def _no_more(street: int, definitions: Sequence[Definition]) -> None:
    """Classes and scores have nothing that could be wrong."""


def _check_table(street: int, definitions: Sequence[Definition]) -> None:
    table, shape = definitions[street].arrays["table"], (board_count(street), COMBO_COUNT)
    if table.dtype != np.uint16 or table.size != np.prod(shape) or table.ndim > 2:
        raise GameError(f"a feature table of {table.dtype}{list(table.shape)} on street {street}")
    rows = table.reshape(shape)
    for first in range(0, len(rows), _BATCH):
        part = slice(first, first + _BATCH)
        if not np.array_equal(rows[part] != BLOCKED, live(street, part)):
            raise GameError(
                f"the feature table of street {street} blocks other hands than the board"
            )


def _check_outlook(street: int, definitions: Sequence[Definition]) -> None:
    arrays, after = definitions[street].arrays, definitions[street + 1].features
    points, centroids = arrays["points"], arrays["centroids"]
    fits = points.ndim == 2 and len(points) == after and centroids.shape[1:] == points.shape[1:]
    if not fits or points.dtype != np.float32 or centroids.dtype != np.float32:
        raise GameError(f"outlooks of street {street} are not over the {after:,} features after it")


def _check_nearest(street: int, definitions: Sequence[Definition]) -> None:
    settings, centroids = definitions[street].settings, definitions[street].arrays["centroids"]
    _check_vectors(street, settings["of"])
    if settings["of"] == "ochs":
        size = cluster_count(settings["clusters"])
    else:
        size = len([float(border) for border in settings["borders"]])
    if settings.get("metric", "l2") not in METRICS:
        raise GameError(f"metric = {settings['metric']!r}: choose {' or '.join(METRICS)}")
    wanted = (len(centroids), size)
    if centroids.shape != wanted or centroids.dtype != np.float32 or not 0 < size < 256:
        raise GameError(f"centroids of street {street} are not of vectors of {size:,} numbers")


def _check_clustered(street: int, definitions: Sequence[Definition]) -> None:
    _check_nearest(street, definitions)
    arrays = definitions[street].arrays
    clusters = FlopClusters(arrays["clusters"])
    shape = (clusters.count, len(arrays["centroids"]))
    if arrays["merge"].shape != shape or arrays["merge"].dtype != np.uint16:
        raise GameError(f"cells of clustered flops: give uint16{list(shape)}, clusters by features")


def _check_cuts(street: int, definitions: Sequence[Definition]) -> None:
    definition, cells = definitions[street], 1
    axes = definition.settings["axes"]
    if not isinstance(axes, list) or not axes:
        raise GameError(f"axes = {axes!r:.40}: give a list of names")
    for number, axis in enumerate(axes):
        _check_axis(street, axis)
        borders = definition.arrays[f"borders{number}"]
        rows = math.prod(borders.shape[:-1])
        if borders.ndim == 0 or rows != cells or borders.dtype.kind != "f" or not borders.size:
            raise GameError(f"borders of {axis} on street {street} are not for {cells:,} cells")
        cells *= borders.shape[-1] + 1


_CHECKS = {
    "table": _check_table,
    "outlook": _check_outlook,
    "nearest": _check_nearest,
    "clustered": _check_clustered,
    "cuts": _check_cuts,
}


def feature_table(
    street: int, definitions: Sequence[Definition], progress: Listener | None = None
) -> Table:
    """Feature table of a street: uint16[boards, 1326], before the flop uint16[1326].

    Expanded on first use, mapped from the cache afterwards. `definitions` are those of all four
    streets: features by outlook rest on the next street's.
    """
    definition = definitions[street]
    _check_kind(street, definition)
    shape = (board_count(street), COMBO_COUNT)
    if definition.kind == "class":
        found: Table = COMBO_CLASS.astype(np.uint16)
        return found
    if definition.kind == "score":
        return river_scores(progress)
    if definition.kind == "table":
        table = definition.arrays["table"]
    else:

        def fill(out: Table) -> None:
            if definition.kind == "outlook":
                _fill_by_outlook(street, definitions, progress, out)
            elif definition.kind == "nearest":
                _fill_by_nearest(street, definition, progress, out)
            elif definition.kind == "clustered":
                _fill_by_cluster(street, definitions, progress, out)
            else:
                _fill_by_cuts(street, definition, progress, out)

        basis = definitions[street:] if definition.kind == "outlook" else [definition]
        configuration = {"street": street, "by": [given.fingerprint for given in basis]}
        table = cached_table("features", configuration, shape, np.uint16, fill)
    return table.reshape(COMBO_COUNT) if street == 0 else table


def _fill_by_outlook(
    street: int, definitions: Sequence[Definition], progress: Listener | None, out: Table
) -> None:
    from equipoise.abstraction.features.outlook import expand

    arrays = definitions[street].arrays
    after = feature_table(street + 1, definitions, progress)
    expand(street, after, arrays["points"], arrays["centroids"], progress, out)


def _fill_by_nearest(
    street: int, definition: Definition, progress: Listener | None, out: Table
) -> None:
    settings = definition.settings
    _check_vectors(street, settings["of"])
    # Vectors are many times larger than what is made of them: a batch at a time, never all.
    equities = None if settings["of"] == "ochs" else later_equities(street, progress)
    for first in range(0, len(out), _BATCH):
        part = slice(first, min(first + _BATCH, len(out)))
        free = live(street, part)
        rows = np.full(free.shape, BLOCKED, dtype=np.uint16)
        if equities is None:
            vectors = ochs_vectors(settings["clusters"], part)
        else:
            vectors = count_below(street, equities, settings["borders"], part)
        rows[free] = nearest(
            vectors[free], definition.arrays["centroids"], settings.get("metric", "l2")
        )
        out[part] = rows
        if progress is not None:
            progress(Event(part.stop, len(out)))


def _fill_by_cluster(
    street: int, definitions: Sequence[Definition], progress: Listener | None, out: Table
) -> None:
    own = definitions[street]
    flat = Definition("nearest", own.settings, {"centroids": own.arrays["centroids"]})
    features = feature_table(
        street, [*definitions[:street], flat, *definitions[street + 1 :]], progress
    )
    dealt = features != BLOCKED
    cells = own.arrays["merge"][own.arrays["clusters"][:, None], np.where(dealt, features, 0)]
    out[:] = np.where(dealt, cells, BLOCKED)


def _check_vectors(street: int, of: Any) -> None:
    if of != ("ochs" if street == 3 else "histograms"):
        raise GameError(
            f"features nearest to {of!r:.40} on street {street}: choose 'histograms' before the "
            "river and 'ochs' there"
        )


def axis_values(
    street: int, axis: str, boards: slice, progress: Listener | None = None
) -> NDArray[np.float32]:
    """Figures of every hand along a named axis: float32[boards, 1326]; blocked hands have any."""
    _check_axis(street, axis)
    if street == 3:
        return (river_scores(progress)[boards] / np.float32(FULL_SCORE)).astype(np.float32)
    if axis in _MOMENT_AXES:
        return moments(street, progress)[_MOMENT_AXES[axis]][boards]
    return potentials(street, progress)[_POTENTIAL_AXES[axis]][boards]


def _check_axis(street: int, axis: Any) -> None:
    known = ["equity"]
    if street < 3:
        known += _MOMENT_AXES
    if street in (1, 2):
        known += _POTENTIAL_AXES
    if axis not in known:
        raise GameError(
            f"axis {axis!r:.40} on street {street}: choose equity anywhere, spread or river_spread "
            "before the river, and strength, positive or negative on flop and turn"
        )


def _fill_by_cuts(
    street: int, definition: Definition, progress: Listener | None, out: Table
) -> None:
    axes: list[str] = list(definition.settings["axes"])
    for first in range(0, len(out), _BATCH):
        part = slice(first, min(first + _BATCH, len(out)))
        cell = np.zeros((part.stop - first, COMBO_COUNT), dtype=np.int64)
        for number, axis in enumerate(axes):
            borders = definition.arrays[f"borders{number}"].astype(np.float32)
            rows = borders.reshape(-1, borders.shape[-1])
            values = axis_values(street, axis, part, progress)
            above = np.zeros_like(cell)
            for k in range(rows.shape[1]):
                above += values >= rows[:, k][cell]
            cell = cell * (rows.shape[1] + 1) + above
        out[part] = np.where(live(street, part), cell, BLOCKED)
        if progress is not None:
            progress(Event(part.stop, len(out)))

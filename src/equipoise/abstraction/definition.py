"""How a feature table is made: small enough to keep, exact enough to make the table again.

The feature tables of turn and river have 22 and 178 million entries, but each follows from a few
kilobytes: the centroids that hands are put to, or the borders they fall between. A *definition* is
these arrays, a kind and settings; :func:`feature_table` expands it once, into the cache. Kinds are

- `class`: the 169 classes of hole cards (preflop), with no arrays;
- `score`: the 1,981 river scores, with no arrays;
- `table`: the table itself, in `table`;
- `outlook`: the nearest of `centroids` to the hand's outlook over the next street's features with
  `points` (:mod:`.outlook`);
- `nearest`: the nearest of `centroids` to a vector of the hand, by setting `metric`. Setting `of` is
  `histograms` (cumulative, with setting `borders`) or `ochs` (with setting `clusters`);
- `cuts`: the cell between borders on one or more axes. `borders0` cuts the first of the setting
  `axes`; row i of `borders1` cuts cell i on the second, and so on. A border belongs to the cell above.
  Axes are `equity`, `spread`, `river_spread`, `strength`, `positive` and `negative`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.features import (
    FULL_SCORE,
    board_count,
    histograms,
    live,
    moments,
    river_scores,
)
from equipoise.abstraction.lookup import BLOCKED, STREETS
from equipoise.abstraction.ochsvectors import ochs_vectors
from equipoise.abstraction.potentials import potentials
from equipoise.abstraction.tablecache import Progress, cached_table
from equipoise.cards.hand import COMBO_CLASS, COMBO_COUNT
from equipoise.errors import GameError

Table = NDArray[np.uint16]

#: Boards that are worked on at a time.
_BATCH = 512
KINDS = ("class", "score", "table", "outlook", "nearest", "cuts")
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


def feature_table(
    street: int, definitions: Sequence[Definition], progress: Progress | None = None
) -> Table:
    """Feature table of a street: uint16[boards, 1326], before the flop uint16[1326].

    Expanded on first use, mapped from the cache afterwards. `definitions` are those of all four
    streets: features by outlook rest on the next street's.
    """
    definition = definitions[street]
    fitting = {"class": (0,), "score": (3,), "outlook": (0, 1, 2)}.get(
        definition.kind, tuple(range(STREETS))
    )
    if street not in fitting:
        raise GameError(f"features by {definition.kind!r} are not for street {street}")
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
            else:
                _fill_by_cuts(street, definition, progress, out)

        basis = definitions[street:] if definition.kind == "outlook" else [definition]
        configuration = {"street": street, "by": [given.fingerprint for given in basis]}
        table = cached_table("features", configuration, shape, np.uint16, fill)
    return table.reshape(COMBO_COUNT) if street == 0 else table


def _fill_by_outlook(
    street: int, definitions: Sequence[Definition], progress: Progress | None, out: Table
) -> None:
    from equipoise.abstraction.outlook import expand

    arrays = definitions[street].arrays
    after = feature_table(street + 1, definitions, progress)
    expand(street, after, arrays["points"], arrays["centroids"], progress, out)


def _fill_by_nearest(
    street: int, definition: Definition, progress: Progress | None, out: Table
) -> None:
    from equipoise.abstraction.kmeans import nearest

    settings = definition.settings
    if settings["of"] == "ochs" and street == 3:
        vectors = ochs_vectors(settings["clusters"], progress)
    elif settings["of"] == "histograms" and street < 3:
        vectors = histograms(street, settings["borders"], progress)
    else:
        raise GameError(
            f"features nearest to {settings['of']!r} on street {street}: choose 'histograms' "
            "before the river and 'ochs' there"
        )
    for first in range(0, len(out), _BATCH):
        part = slice(first, min(first + _BATCH, len(out)))
        free = live(street, part)
        rows = np.full(free.shape, BLOCKED, dtype=np.uint16)
        rows[free] = nearest(
            vectors[part][free], definition.arrays["centroids"], settings.get("metric", "l2")
        )
        out[part] = rows
        if progress is not None:
            progress(part.stop, len(out))


def axis_values(
    street: int, axis: str, boards: slice, progress: Progress | None = None
) -> NDArray[np.float32]:
    """Figures of every hand along a named axis: float32[boards, 1326]; blocked hands have any."""
    if axis == "equity" and street == 3:
        return (river_scores(progress)[boards] / np.float32(FULL_SCORE)).astype(np.float32)
    if axis in _MOMENT_AXES and street < 3:
        return moments(street, progress)[_MOMENT_AXES[axis]][boards]
    if axis in _POTENTIAL_AXES and street in (1, 2):
        return potentials(street, progress)[_POTENTIAL_AXES[axis]][boards]
    raise GameError(
        f"axis {axis!r} on street {street}: choose equity anywhere, spread or river_spread before "
        "the river, and strength, positive or negative on flop and turn"
    )


def _fill_by_cuts(
    street: int, definition: Definition, progress: Progress | None, out: Table
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
            progress(part.stop, len(out))

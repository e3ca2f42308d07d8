"""What two players hold together: joint tables of their buckets on every street.

For buckets that remember, the last street's bucket is all a player knows of his cards. What ties two
players together is then one table: the probability that they hold buckets i and j there, and who
wins. With `P` the points of :mod:`.pairpoints`, over random full boards or over all, and `n` their
sum,

    mass = (P + Pᵀ) / 2n        signed = (P - Pᵀ) / 2n

and the points of earlier streets are sums over children, in whole numbers, so that the tables of all
streets agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.fullboards import every_board, random_boards
from equipoise.abstraction.lookup import BLOCKED, Lookup
from equipoise.abstraction.tables.pairpoints import Points
from equipoise.cache import cache_folder, tell_making
from equipoise.cards.streets import BOARD_CARDS, STREET_COUNT, STREETS
from equipoise.errors import ArtefactError, GameError
from equipoise.run import Event, Listener

#: Streets of hold'em and the cards that come before each.

#: Boards between two reports of progress.
_BATCH = 4096
#: Seconds after which work not finished is kept on disk.
_KEEP_AFTER = 120.0
#: Rows that are turned into probabilities at a time.
_ROWS = 512

_KIND, _UNFINISHED = "joint tables", "unfinished joint tables"


@dataclass(frozen=True)
class JointTables:
    """Joint tables of both players' states on every street.

    >>> tables = JointTables.from_points(np.array([[2, 1], [3, 2]]), [np.array([0, 0])], (0, 1))
    >>> tables.mass[1]
    array([[0.25, 0.25],
           [0.25, 0.25]], dtype=float32)
    >>> tables.signed[1][1, 0], tables.mass[0].item()
    (np.float32(0.125), 1.0)
    """

    #: State of the street before that each state of a street comes from; none on the first.
    parents: tuple[NDArray[np.int64], ...]
    #: Probability of each pair of states, on each street.
    mass: tuple[NDArray[np.float32], ...]
    #: That probability times who wins at the end: 1 the first player, -1 the second.
    signed: tuple[NDArray[np.float32], ...]
    #: Public cards before each street.
    board_cards: tuple[int, ...] = BOARD_CARDS

    @classmethod
    def from_points(
        cls,
        points: NDArray[Any],
        parents: Sequence[NDArray[np.int64]],
        board_cards: tuple[int, ...] = BOARD_CARDS,
    ) -> JointTables:
        """Tables of all streets from the points of the last, and the parents on all but the first."""
        every = [points]
        for above in reversed(parents):
            every.insert(0, _sum_children(every[0], above))
        pairs = [_probabilities(street) for street in every]
        return cls(
            (np.zeros(len(every[0]), dtype=np.int64), *parents),
            tuple(mass for mass, _ in pairs),
            tuple(signed for _, signed in pairs),
            board_cards,
        )

    @property
    def streets(self) -> int:
        """Streets of the game."""
        return len(self.mass)

    def states(self, street: int) -> int:
        """States of a street."""
        return len(self.mass[street])


def _sum_children(points: NDArray[Any], parents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Points of the states before, each the sum over its children."""
    order = np.argsort(parents, kind="stable")
    starts = np.searchsorted(parents[order], np.arange(int(parents.max()) + 1))
    rows = [points[part].sum(axis=0, dtype=np.float64) for part in np.split(order, starts[1:])]
    return np.add.reduceat(np.stack(rows)[:, order], starts, axis=1)


def _probabilities(points: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mass and signed mass from points: sums in double precision, rounded once."""
    size = len(points)
    mass, signed = (np.empty((size, size), dtype=np.float32) for _ in range(2))
    twice = 2 * points.sum(dtype=np.float64)
    for first in range(0, size, _ROWS):
        part = slice(first, first + _ROWS)
        mine, his = points[part].astype(np.float64), points[:, part].T.astype(np.float64)
        mass[part] = (mine + his) / twice
        signed[part] = (mine - his) / twice
    return mass, signed


def bucket_counts(lookup: Lookup) -> tuple[int, ...]:
    """Buckets of each street."""
    return tuple(
        int(child[child != BLOCKED].max()) + 1 for child in lookup[STREET_COUNT : 2 * STREET_COUNT]
    )


def bucket_parents(lookup: Lookup) -> list[NDArray[np.int64]]:
    """The bucket before from which each bucket comes, on flop, turn and river.

    Refuses buckets that forget, which may come from several.
    """
    counts, found = bucket_counts(lookup), []
    for street in range(1, STREET_COUNT):
        child = lookup[STREET_COUNT + street]
        parents = np.full(counts[street], -1, dtype=np.int64)
        for row in range(counts[street - 1]):
            children = np.unique(child[row if len(child) > 1 else 0])
            children = children[children != BLOCKED]
            if (parents[children] >= 0).any():
                raise GameError(
                    f"buckets of the {STREETS[street]} forget what came before: joint tables "
                    "need perfect recall; use transitions"
                )
            parents[children] = row
        if (parents < 0).any() or len(np.unique(parents)) < counts[street - 1]:
            raise GameError(
                f"buckets of the {STREETS[street]} have gaps: number them from 0 on, with "
                "children for every bucket before"
            )
        found.append(parents)
    return found


class Buckets(Protocol):
    """An abstraction, as far as tables need it."""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides the buckets."""

    def lookup(self) -> Lookup:
        """Buckets of cards for kernels."""


def count_tables(
    lookup: Lookup, boards: int | None, seed: int = 0, progress: Listener | None = None
) -> JointTables:
    """Tables of buckets that remember, over random boards or all (None); kept nowhere."""
    return _count(lookup, boards, seed, progress, None, {})


def joint_tables(
    buckets: Buckets, boards: int | None, seed: int = 0, progress: Listener | None = None
) -> JointTables:
    """Tables of an abstraction that remembers, from the cache folder, or counted and kept there.

    `boards` random boards of `seed`, or all if None. Tables of different seeds are independent. What
    is interrupted goes on, when called again, from what was last kept.
    """
    configuration = {"buckets": buckets.fingerprint, "boards": boards, "seed": seed}
    if boards is None:
        del configuration["seed"]
    path = cache_folder() / f"joint-{artefact.fingerprint(configuration)}.safetensors"
    lookup = buckets.lookup()
    parents = bucket_parents(lookup)
    try:
        _, arrays = artefact.read(path, _KIND)
        with artefact.understanding(path, _KIND):
            return JointTables.from_points(_of(parents, arrays["points"]), parents)
    except ArtefactError:
        what = "all boards" if boards is None else f"{boards:,} boards"
        tell_making(f"joint tables of {what}")
    return _count(lookup, boards, seed, progress, path, configuration)


def _of(parents: Sequence[NDArray[np.int64]], points: NDArray[Any]) -> NDArray[Any]:
    """Points from a file, if they are of as many buckets as there are."""
    count = len(parents[-1])
    if points.shape != (count, count) or points.dtype not in (np.uint32, np.float64):
        raise ArtefactError(f"points of {points.dtype}{list(points.shape)}")
    return points


def _count(
    lookup: Lookup,
    boards: int | None,
    seed: int,
    progress: Listener | None,
    path: Path | None,
    configuration: dict[str, Any],
) -> JointTables:
    parents = bucket_parents(lookup)
    points = Points(lookup, len(parents[-1]))
    if boards is None:
        chosen, weights = every_board()
    else:
        chosen = random_boards(boards, seed)
        weights = np.ones(boards, dtype=np.int64)
    done, spent = 0, 0.0
    unfinished = path.with_suffix(".unfinished") if path is not None else None
    if unfinished is not None:
        try:
            manifest, arrays = artefact.read(unfinished, _UNFINISHED)
            with artefact.understanding(unfinished, _UNFINISHED):
                if manifest["configuration"] == configuration:
                    past = int(manifest["boards"]), float(manifest["seconds"])
                    points.resume(_of(parents, arrays["points"]))
                    done, spent = past
        except ArtefactError:
            pass
    began, kept = perf_counter() - spent, monotonic()
    while done < len(chosen):
        part = slice(done, done + _BATCH)
        points.add(chosen[part], weights[part])
        done = min(done + _BATCH, len(chosen))
        if progress is not None:
            progress(Event(done, len(chosen)))
        if unfinished is not None and monotonic() - kept > _KEEP_AFTER and done < len(chosen):
            facts = {"boards": done, "seconds": round(perf_counter() - began, 1)}
            so_far = {"points": points.total()}
            artefact.write(unfinished, _UNFINISHED, configuration, so_far, **facts)
            kept = monotonic()
    total = points.total()
    if path is not None and unfinished is not None:
        seconds = round(perf_counter() - began, 1)
        artefact.write(path, _KIND, configuration, {"points": total}, seconds=seconds)
        unfinished.unlink(missing_ok=True)
    return JointTables.from_points(total, parents)

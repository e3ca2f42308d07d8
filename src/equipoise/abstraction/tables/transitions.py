"""Buckets that come and go by chance alone: the model of INOT and Fell Omen.

Each player's bucket moves from street to street by a matrix of chances of its own, whatever the other
holds and whatever he himself held before: T[k, j] is the probability of bucket k on a street given
bucket j on the street before, so columns sum to 1. On the river W[i, j] is the expected result of
bucket i against j: 1 if i always wins. The pair (bucket, betting) then is all that matters of the
past, and values go up the streets as

    EV(before) = Tᵀ · EV · T

with T that of either player. What ties two players together through shared cards is left out, unless
the public *class* c of the flop (its suits and ranks, say) is part of the model. Then, with P(c) its
probability and T and W counted on its flops alone,

    EV(before the flop) = Σ_c P(c) · T_cᵀ · EV_c · T_c

(with P(k, c | j) for both players P(c) would be in it twice.) Classes may as well be of the boards of
four cards or of five: they are known from the street on that deals them. The chances are counted over
all hands on all boards; W over all pairs of hands (:mod:`.pairpoints`) on random boards, or on all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.boardindex import BOARD_CLASSES, board_index, board_ranks
from equipoise.abstraction.countkernels import count_steps
from equipoise.abstraction.fullboards import every_board, random_boards
from equipoise.abstraction.lookup import Lookup
from equipoise.abstraction.tables.joint import Buckets, bucket_counts
from equipoise.abstraction.tables.pairpoints import Points
from equipoise.cache import cache_folder, tell_making
from equipoise.cards.streets import BOARD_CARDS, STREET_COUNT
from equipoise.errors import ArtefactError, GameError
from equipoise.kernel import over_chunks
from equipoise.run import Event, Listener

_KIND = "transitions"
#: Boards between two reports of progress.
_BATCH = 1 << 16


@dataclass(frozen=True)
class Transitions:
    """Chances of buckets from street to street, under each public class of boards."""

    #: Probability of each bucket on the first street.
    prior: NDArray[np.float64]
    #: Probability of each public class; a single 1 if there are none.
    chances: NDArray[np.float64]
    #: [class][street - 1]: chance of each bucket given the one before, [bucket, bucket before].
    steps: tuple[tuple[NDArray[np.float64], ...], ...]
    #: [class]: expected result of one bucket against another on the last street.
    results: tuple[NDArray[np.float64], ...]
    #: Public cards before each street.
    board_cards: tuple[int, ...] = BOARD_CARDS
    #: Street whose boards are classed; before it, chances are the same in all classes.
    classed: int = 1

    @property
    def streets(self) -> int:
        """Streets of the game."""
        return 1 + len(self.steps[0])

    @property
    def classes(self) -> int:
        """Public classes of boards."""
        return len(self.chances)

    def marginals(self, street: int, board_class: int = 0) -> NDArray[np.float64]:
        """Probability of each bucket on a street, given the class."""
        found = self.prior
        for step in self.steps[board_class][:street]:
            found = step @ found
        return found

    def expected(self, street: int, board_class: int = 0) -> NDArray[np.float64]:
        """Expected result of one bucket against another if all cards come, [bucket, bucket]."""
        if street == self.streets - 1:
            return self.results[board_class]
        below, weights = [board_class], np.ones(1)
        if street == self.classed - 1:
            below, weights = list(range(self.classes)), self.chances
        total = np.zeros(())
        for c, weight in zip(below, weights, strict=True):
            step = self.steps[c][street]
            # Not by BLAS, which rounds by the number of its threads: a game has one fingerprint.
            after = np.einsum("ki,kl->il", step, self.expected(street + 1, c))
            total = total + weight * np.einsum("il,lj->ij", after, step)
        return total


def count_transitions(
    lookup: Lookup,
    boards: int | None = 20_000,
    seed: int = 0,
    classes: NDArray[np.int8] | None = None,
    results_by_class: bool = True,
    progress: Listener | None = None,
) -> Transitions:
    """Transitions of any buckets, in a minute; kept nowhere.

    `boards` random boards (of every class, None for all there are) decide results, which are common
    to all classes if not `results_by_class`. `classes` has the class of each canonical board of
    three cards, of four or of five.
    """
    of_board = _checked(classes)
    classed = classed_street(of_board)
    number = int(of_board.max()) + 1
    counts = bucket_counts(lookup)
    first = np.bincount(lookup.preflop_child[0, lookup.preflop_feature], minlength=counts[0])
    weights = board_index(classed + 2).multiplicity
    chances = np.bincount(of_board, weights, number) / weights.sum()
    streets = []
    for street in range(1, STREET_COUNT):
        known = number if street >= classed else 1
        shape = (known, counts[street], counts[street - 1])
        found = _chances(_steps(lookup, street, of_board if known > 1 else None, shape, progress))
        streets.append(found if known == number else np.repeat(found, number, axis=0))
    common = _points(lookup, boards, seed, counts[-1], None, progress)
    points = [common] * number
    if results_by_class and number > 1:
        points = [
            _points(lookup, boards, seed, counts[-1], of_board == c, progress)
            for c in range(number)
        ]
    return Transitions(
        first / first.sum(),
        chances,
        tuple(tuple(street[c] for street in streets) for c in range(number)),
        tuple(_results(found, common) for found in points),
        classed=classed,
    )


def classed_street(classes: NDArray[Any]) -> int:
    """The street whose canonical boards are classed: there are as many classes as boards.

    >>> classed_street(np.zeros(1755, dtype=np.int8))
    1
    """
    for cards, boards in BOARD_CLASSES.items():
        if np.shape(classes) == (boards,):
            return cards - 2
    raise GameError(
        "classes are of the 1,755 flops, the 16,432 boards of four cards or the 134,459 of five: "
        f"not of shape {np.shape(classes)}"
    )


def _checked(classes: NDArray[np.int8] | None) -> NDArray[np.int64]:
    if classes is None:
        return np.zeros(BOARD_CLASSES[3], dtype=np.int64)
    classed_street(classes)
    found = np.asarray(classes).astype(np.int64)
    if len(np.unique(found)) != found.max() + 1:
        raise GameError("classes of boards are numbered 0, 1 … without gaps")
    return found


def class_of_boards(boards: NDArray[np.uint8], classes: NDArray[Any]) -> NDArray[Any]:
    """Class of each board, by as many of its first cards as are classed."""
    cards = classed_street(classes) + 2
    found: NDArray[Any] = classes[board_index(cards).class_of[board_ranks(boards[:, :cards])]]
    return found


def _steps(
    lookup: Lookup,
    street: int,
    classes: NDArray[np.int64] | None,
    shape: tuple[int, ...],
    progress: Listener | None,
) -> NDArray[np.int64]:
    """How often each bucket of a street follows each of the street before, on all boards."""
    boards, weights = every_board(street)
    of_board = np.zeros(len(boards), dtype=np.int64)
    if classes is not None:
        of_board = class_of_boards(boards, classes)
    total = np.zeros(shape, dtype=np.int64)
    for first in range(0, len(boards), _BATCH):
        part = slice(first, first + _BATCH)
        found: list[NDArray[np.int64]] = []

        def work(a: int, b: int, part: slice = part, found: list[Any] = found) -> None:
            counts = np.zeros(shape, dtype=np.int64)
            count_steps(lookup, boards[part][a:b], weights[part][a:b], of_board[part][a:b], counts)
            found.append(counts)

        over_chunks(work, len(boards[part]))
        total += np.sum(found, axis=0)
        if progress is not None:
            progress(Event(min(first + _BATCH, len(boards)), len(boards)))
    return total


def _chances(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Columns that sum to 1; one that never comes in a class is as it is in all of them."""
    together = counts.sum(axis=0, dtype=np.float64)
    together[:, together.sum(axis=0) == 0] = 1.0
    chances = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, together)
    columns: NDArray[np.float64] = chances / chances.sum(axis=1, keepdims=True)
    return columns


def _points(
    lookup: Lookup,
    count: int | None,
    seed: int,
    buckets: int,
    among: NDArray[np.bool_] | None,
    progress: Listener | None,
) -> NDArray[np.float64]:
    """Points of river buckets over boards that begin with one `among` those wanted."""
    if count is None:
        boards, weights = every_board()
        if among is not None:
            wanted = class_of_boards(boards, among)
            boards, weights = boards[wanted], weights[wanted]
    else:
        boards = random_boards(count, seed)
        if among is not None:
            boards = _redealt(boards, among, seed)
        weights = np.ones(len(boards), dtype=np.int64)
    points = Points(lookup, buckets)
    for first in range(0, len(boards), _BATCH):
        points.add(boards[first : first + _BATCH], weights[first : first + _BATCH])
        if progress is not None:
            progress(Event(min(first + _BATCH, len(boards)), len(boards)))
    return points.total().astype(np.float64)


def _redealt(boards: NDArray[np.uint8], among: NDArray[np.bool_], seed: int) -> NDArray[np.uint8]:
    """Boards that begin with one of the wanted, as many, and other cards at random."""
    cards = classed_street(among) + 2
    index = board_index(cards)
    chances = np.where(among, index.multiplicity, 0)
    rng = np.random.default_rng([seed, int(np.flatnonzero(among)[0])])
    first = index.boards[rng.choice(len(chances), len(boards), p=chances / chances.sum())]
    missing = 5 - cards
    if not missing:
        return first
    rest = rng.random((len(boards), 52), dtype=np.float32)
    np.put_along_axis(rest, first.astype(np.int64), 2.0, axis=1)
    later = np.argpartition(rest, missing, axis=1)[:, :missing]
    return np.concatenate([first, later.astype(np.uint8)], axis=1)


def _results(points: NDArray[np.float64], common: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected result of each pair; pairs never met in a class as in all, and 0 if never met."""
    pairs = points + points.T
    points, pairs = np.where(pairs, points, common), np.where(pairs, pairs, common + common.T)
    return (points - points.T) / np.where(pairs, pairs, 1.0)


def transitions(
    buckets: Buckets,
    boards: int | None = 20_000,
    seed: int = 0,
    classes: NDArray[np.int8] | None = None,
    results_by_class: bool = True,
    progress: Listener | None = None,
) -> Transitions:
    """:func:`count_transitions` of an abstraction, from the cache folder, or counted and kept."""
    configuration = {
        "buckets": buckets.fingerprint,
        "boards": boards,
        "seed": seed,
        "classes": None if classes is None else _checked(classes).tolist(),
        "results_by_class": results_by_class,
    }
    path = cache_folder() / f"transitions-{artefact.fingerprint(configuration)}.safetensors"
    try:
        _, arrays = artefact.read(path, _KIND)
        with artefact.understanding(path, _KIND):
            return _unpacked(arrays)
    except ArtefactError:
        tell_making("transitions of buckets")
    found = count_transitions(buckets.lookup(), boards, seed, classes, results_by_class, progress)
    artefact.write(path, _KIND, configuration, _packed(found))
    return found


def _packed(found: Transitions) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "prior": found.prior,
        "chances": found.chances,
        "results": np.stack(found.results),
        "classed": np.array([found.classed]),
    }
    for street in range(1, found.streets):
        arrays[f"steps{street}"] = np.stack([steps[street - 1] for steps in found.steps])
    return arrays


def _unpacked(arrays: dict[str, NDArray[Any]]) -> Transitions:
    steps = [arrays[f"steps{street}"] for street in range(1, STREET_COUNT)]
    prior, classes = arrays["prior"], len(arrays["chances"])
    counts = [len(prior), *(step.shape[1] for step in steps)]
    shapes = [(classes, after, before) for before, after in pairwise(counts)]
    shapes += [(classes, counts[-1], counts[-1])]
    for array, shape in zip((*steps, arrays["results"]), shapes, strict=True):
        if array.shape != shape:
            raise ArtefactError(f"chances of shape {array.shape} in place of {shape}")
    return Transitions(
        arrays["prior"],
        arrays["chances"],
        tuple(zip(*steps, strict=True)),
        tuple(arrays["results"]),
        classed=int(arrays["classed"][0]),
    )

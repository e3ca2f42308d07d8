"""What the cards to come may make of every hand, by enumeration: equities and histograms.

**River.** The *score* of a hand is two for each of the 990 hands an opponent may hold that it beats
and one for each it ties, 0 to 1,980; score / 1,980 is its equity. On each of the 134,459 boards up
to suits hands are sorted by strength once; walking them from the weakest, a hand beats what was
passed except for the passed hands that hold one of its own two cards.

**Earlier streets.** A hand's *histogram* counts the next cards that lead to each cell of the next
street: a range of equity, or a cluster of hands there. With ranges the counts are kept cumulative
("below a border"): the L1 distance of two such rows is the earth mover's distance, and their
Euclidean distance respects the order of the cells. With clusters of the next street they are the
potential-aware histograms of Gilpin, Sandholm and Sørensen (AAAI 2007). *Moments* are the mean
equity, its spread (standard deviation) over the next street, and its spread over rivers.

Tables have a row for each canonical board (:mod:`equipoise.abstraction.boardindex`) and a column for
each combination; before the flop there is a single row. All are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import (
    BOARD_CLASSES,
    board_index,
    board_places,
    board_ranks,
)
from equipoise.abstraction.features.kernels import (
    FULL_SCORE,
    NO_EQUITY,
    below_borders,
    count_values,
    moments_from_moments,
    moments_from_scores,
    score_boards,
)
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cache import cached_table
from equipoise.cards.card import DECK_SIZE
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.cards.evaluator import tables
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import GameError
from equipoise.kernel import over_chunks
from equipoise.run import Event, Listener

T = TypeVar("T", bound=np.generic)
#: Boards between two reports of progress.
_BATCH = 2048


class Moments(NamedTuple):
    """Moments of every hand on a street, :data:`NO_EQUITY` where the board blocks it."""

    mean: NDArray[np.float32]
    """Rollout equity: float32[boards, 1326], as the others; one row before the flop"""
    spread: NDArray[np.float32]
    """Standard deviation of the equity after the next cards"""
    river_spread: NDArray[np.float32]
    """Standard deviation of the equity at the river"""


@cache
def next_places(street: int) -> NDArray[np.uint32]:
    """Where each canonical board goes with each next card: uint32[boards, cards left].

    Entries are those of :func:`board_places` on the next street. Before the flop there is
    one board, none, and 22,100 flops; later come 49 turns or 48 rivers, some of them in the hand.
    """
    if street not in (0, 1, 2):
        raise GameError(f"street {street}: cards are to come on 0 (preflop), 1 (flop) and 2 (turn)")
    size = BOARD_SIZES[street]
    if street == 0:
        after = np.array(list(combinations(range(DECK_SIZE), 3)), dtype=np.uint8)[None]
    else:
        boards = board_index(size).boards
        left = np.ones((len(boards), DECK_SIZE), dtype=bool)
        np.put_along_axis(left, boards.astype(np.int64), False, axis=1)
        cards = np.nonzero(left)[1].astype(np.uint8).reshape(len(boards), -1)
        after = np.empty((*cards.shape, size + 1), dtype=np.uint8)
        after[:, :, :size], after[:, :, size] = boards[:, None], cards
    places: NDArray[np.uint32] = board_places(after.shape[2])[board_ranks(after)]
    places.setflags(write=False)
    return places


def board_count(street: int) -> int:
    """Canonical boards of a street; before the flop there is one, without cards.

    >>> [board_count(street) for street in range(4)]
    [1, 1755, 16432, 134459]
    """
    return 1 if street == 0 else BOARD_CLASSES[BOARD_SIZES[street]]


def in_batches(
    work: Callable[[int, int], object], count: int, progress: Listener | None, batch: int = _BATCH
) -> None:
    """Call `work(first, last)` on all cores, and tell of progress between batches."""
    for start in range(0, count, batch):
        stop = min(start + batch, count)

        def part(first: int, last: int, start: int = start) -> None:
            work(start + first, start + last)

        over_chunks(part, stop - start)
        if progress is not None:
            progress(Event(stop, count))


def read_only(array: NDArray[T]) -> NDArray[T]:
    """The array as kernels meet it that only read it.

    To Numba an array that may be written to is another type than a mapped one: it would compile a
    kernel twice for what makes no difference here.
    """
    found = array.view()
    found.flags.writeable = False
    return found


def score_rivers(
    boards: NDArray[np.uint8], out: NDArray[np.uint16] | None = None
) -> NDArray[np.uint16]:
    """Score of every combination on boards of five cards, :data:`BLOCKED` where they share one.

    >>> from equipoise.cards.card import parse_cards
    >>> board = np.array([parse_cards("As Ks Qs Js Ts")], dtype=np.uint8)
    >>> np.unique(score_rivers(board))
    array([  990, 65535], dtype=uint16)
    """
    found = np.empty((len(boards), COMBO_COUNT), np.uint16) if out is None else out
    score_boards(read_only(np.ascontiguousarray(boards)), tables(), found)
    return found


def river_scores(progress: Listener | None = None) -> NDArray[np.uint16]:
    """Score of every hand on every canonical board: uint16[134459, 1326], mapped from the cache."""
    boards = board_index(5).boards

    def fill(out: NDArray[np.uint16]) -> None:
        in_batches(lambda a, b: score_rivers(boards[a:b], out[a:b]), len(out), progress)

    return cached_table("river scores", {}, (len(boards), COMBO_COUNT), np.uint16, fill)


def turn_moments(
    scores: NDArray[np.uint16], boards: slice = slice(None), progress: Listener | None = None
) -> NDArray[np.float32]:
    """Mean and spread of the turn from river scores: float32[2, boards, 1326]."""
    children = next_places(2)[boards]
    out = np.empty((2, len(children), COMBO_COUNT), np.float32)
    in_batches(
        lambda a, b: moments_from_scores(children[a:b], scores, out[:, a:b]),
        len(children),
        progress,
    )
    return out


def earlier_moments(
    street: int, later: Moments, boards: slice = slice(None), progress: Listener | None = None
) -> NDArray[np.float32]:
    """Moments of the flop or of hole cards from those of the next street: float32[3, boards, 1326]."""
    children = next_places(street)[boards]
    # Cards to come with the next street's board and a hand on the table: 46, or 47 and 46.
    points = float(FULL_SCORE * (46 if street == 1 else 47 * 46))
    out = np.empty((3, len(children), COMBO_COUNT), np.float32)
    in_batches(
        lambda a, b: moments_from_moments(
            children[a:b], points, later.mean, later.river_spread, out[:, a:b]
        ),
        len(children),
        progress,
    )
    return out


def moments(street: int, progress: Listener | None = None) -> Moments:
    """Moments of every hand before the flop, on the flop or on the turn, mapped from the cache."""
    if street == 2:

        def fill(out: NDArray[np.float32]) -> None:
            out[:] = turn_moments(river_scores(progress), progress=progress)

        planes = 2
    else:
        next_places(street)

        def fill(out: NDArray[np.float32]) -> None:
            out[:] = earlier_moments(street, moments(street + 1, progress), progress=progress)

        planes = 3
    shape = (planes, board_count(street), COMBO_COUNT)
    found = cached_table("equity moments", {"street": street}, shape, np.float32, fill)
    return Moments(found[0], found[1], found[-1])


def equities(street: int, progress: Listener | None = None) -> NDArray[np.float32]:
    """Rollout equity of every hand on a street, :data:`NO_EQUITY` where blocked.

    On the river this is a new array of 0.7 GB: work with :func:`river_scores` where that will do.
    """
    if street < 3:
        return moments(street, progress).mean
    scores = river_scores(progress)
    found = scores.astype(np.float32)
    found /= np.float32(FULL_SCORE)
    found[scores == BLOCKED] = NO_EQUITY
    return found


def count_below(
    street: int,
    table: NDArray[Any],
    borders: Sequence[float],
    boards: slice = slice(None),
    out: NDArray[Any] | None = None,
    progress: Listener | None = None,
) -> NDArray[Any]:
    """Cumulative histogram over the next cards of the next street's `table`: scores or equities.

    uint8[boards, 1326, borders] (uint16 before the flop). Entry k counts the next cards after which
    the equity is below border k. A blocked hand has zeros everywhere: see :func:`cards_to_come`.
    """
    children = next_places(street)[boards]
    if (
        not borders
        or not all(border > 0.0 for border in borders)
        or list(borders) != sorted(set(borders))
    ):
        raise GameError(f"borders {list(borders)}: give ascending equities above 0")
    if out is None:
        dtype = np.uint16 if street == 0 else np.uint8
        out = np.empty((len(children), COMBO_COUNT, len(borders)), dtype)
    if table.dtype == np.uint16:
        # The least score at or above the border, free of the rounding of the product.
        cuts = np.ceil(np.array(borders) * FULL_SCORE - 1e-6).astype(np.uint16)
        missing: Any = np.uint16(BLOCKED)
    else:
        cuts, missing = np.array(borders, dtype=np.float32), np.float32(NO_EQUITY)
    found, table = out, read_only(table)
    in_batches(
        lambda a, b: below_borders(children[a:b], table, missing, cuts, found[a:b]),
        len(children),
        progress,
    )
    return found


def later_equities(street: int, progress: Listener | None = None) -> NDArray[Any]:
    """Equities of the next street, of the river as scores: what :func:`count_below` counts.

    Those of the turn are worked out in seconds and not kept: a table of them is larger than what is
    made of it.
    """
    if street == 2:
        return river_scores(progress)
    if street == 1:
        turn: NDArray[np.float32] = turn_moments(river_scores(progress), progress=progress)[0]
        return turn
    return moments(street + 1, progress).mean


def child_histograms(
    street: int,
    table: NDArray[np.uint16],
    cells: int,
    boards: slice = slice(None),
    progress: Listener | None = None,
) -> NDArray[Any]:
    """Next cards that lead to each of `cells` values of the next street's feature table.

    uint8[boards, 1326, cells] (uint16 before the flop); a blocked hand has zeros everywhere.
    """
    children = next_places(street)[boards]
    worst = int(table[table != BLOCKED].max(initial=0))
    if worst >= cells:
        raise GameError(f"the table holds the value {worst}: count at least {worst + 1} cells")
    out = np.empty((len(children), COMBO_COUNT, cells), np.uint16 if street == 0 else np.uint8)
    in_batches(
        lambda a, b: count_values(children[a:b], table, out[a:b]), len(children), progress, 256
    )
    return out


def cards_to_come(street: int) -> int:
    """Next cards that a hand may see: every live row of a histogram has that many.

    >>> [cards_to_come(street) for street in range(3)]
    [19600, 47, 46]
    """
    return (19_600, 47, 46)[street]


def live(street: int, boards: slice = slice(None)) -> NDArray[np.bool_]:
    """Which hands a canonical board leaves: bool[boards, 1326]."""
    if street == 0:
        return np.ones((1, COMBO_COUNT), dtype=bool)
    shown = board_index(BOARD_SIZES[street]).boards[boards]
    dead = np.zeros((len(shown), DECK_SIZE), dtype=bool)
    np.put_along_axis(dead, shown.astype(np.int64), True, axis=1)
    free: NDArray[np.bool_] = ~(dead[:, COMBO_CARDS[:, 0]] | dead[:, COMBO_CARDS[:, 1]])
    return free


def weights(street: int) -> NDArray[np.int64]:
    """Boards that each canonical board stands for: the weight of its hands."""
    if street == 0:
        return np.ones(1, dtype=np.int64)
    return board_index(BOARD_SIZES[street]).multiplicity

"""How often each bucket comes, and the equities in it: over all deals, exactly.

A bucket that remembers depends on the order in which the board came. On a board of four cards, seen
as a set, each of the four may have been the turn, equally likely; each of the 48 cards left may be
the river. So one pass over the 16,432 boards of four cards, with four flops and 48 rivers each, meets
every deal of hole cards and board. Buckets that forget need only their own street's boards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.childmass import flop_bucket_table, flops_of_turns
from equipoise.abstraction.countkernels import Table, add_later, add_street
from equipoise.abstraction.definition import axis_values
from equipoise.abstraction.features.equities import (
    board_count,
    moments,
    next_places,
    river_scores,
    weights,
)
from equipoise.abstraction.lookup import Lookup
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.streets import STREET_COUNT
from equipoise.errors import GameError
from equipoise.kernel import over_chunks

#: Boards whose equities are held at a time.
_BATCH = 2048


class BucketTotals(NamedTuple):
    """Sums over all deals of one street, bucket by bucket."""

    deals: NDArray[np.int64]
    """How often each bucket comes"""
    equity: NDArray[np.float64]
    """Sum of the rollout equities in it"""
    square: NDArray[np.float64]
    """Sum of their squares"""

    @property
    def masses(self) -> NDArray[np.float64]:
        """Probability of each bucket: they sum to 1."""
        shares: NDArray[np.float64] = self.deals / self.deals.sum()
        return shares

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean equity of each bucket, 0 for one that never comes."""
        means: NDArray[np.float64] = self.equity / np.maximum(self.deals, 1)
        return means

    @property
    def spreads(self) -> NDArray[np.float64]:
        """Standard deviation of the equities in each bucket."""
        variance = self.square / np.maximum(self.deals, 1) - self.means**2
        spreads: NDArray[np.float64] = np.sqrt(np.maximum(variance, 0.0))
        return spreads


def bucket_totals(lookup: Lookup, street: int, boards: slice = slice(None)) -> BucketTotals:
    """Totals of a street: at once where it forgets, half a minute for a river that remembers.

    `boards` restricts them to some canonical boards: of the street where it forgets, else of the
    turn.
    """
    if not 0 <= street < STREET_COUNT:
        raise GameError(f"street {street}: choose from 0 (preflop) to 3 (river)")
    child = _children(lookup)[street]
    features = _features(lookup)[street]
    count = int(child.max()) + 1
    parts: list[NDArray[np.float64]] = []

    if street < 2 or len(child) == 1:
        row = np.zeros(COMBO_COUNT, np.uint16)
        if street == 1 and len(child) > 1:
            row = lookup.preflop_child[0, lookup.preflop_feature]
        multiplicity = weights(street)

        def work(first: int, last: int) -> None:
            sums = _new_sums(parts, count)
            for batch in range(first, last, _BATCH):
                part = slice(batch, min(batch + _BATCH, last))
                equity = axis_values(street, "equity", part)
                add_street(*(features[part], row, child, equity, multiplicity[part], sums))

    else:
        rows = np.zeros(COMBO_COUNT, np.uint16)
        if len(lookup.flop_child) > 1:
            rows = lookup.preflop_child[0, lookup.preflop_feature]
        flops = flops_of_turns()
        flop_buckets = flop_bucket_table(rows, lookup.flop_feature, lookup.flop_child)
        rivers = next_places(2) if street == 3 else np.empty((board_count(2), 0), np.uint32)
        turn_equity, scores, multiplicity = moments(2).mean, river_scores(), weights(2)

        def work(first: int, last: int) -> None:
            part = slice(first, last)
            sums = _new_sums(parts, count)
            turns = lookup.turn_feature[part]
            add_later(
                *(flops[part], rivers[part], multiplicity[part]),
                *(flop_buckets, turns, lookup.turn_child),
                turn_equity[part],
                *(lookup.river_feature, lookup.river_child, scores),
                sums,
            )

    count_boards = board_count(2) if street == 3 and len(child) > 1 else len(features)
    start, stop, _ = boards.indices(count_boards)
    over_chunks(lambda first, last: work(start + first, start + last), stop - start)
    deals, equity, square, _ = np.sum(parts, axis=0).T
    return BucketTotals(deals.astype(np.int64), equity, square)


def _new_sums(parts: list[NDArray[np.float64]], count: int) -> NDArray[np.float64]:
    """Sums of one thread: deals, equity and square of each bucket side by side, in 32 bytes.

    Deals are whole numbers far below 2⁵³, so that adding them as floats is exact.
    """
    parts.append(np.zeros((count, 4)))
    return parts[-1]


def _features(lookup: Lookup) -> tuple[Table, ...]:
    first: Table = lookup.preflop_feature[None]
    return first, lookup.flop_feature, lookup.turn_feature, lookup.river_feature


def _children(lookup: Lookup) -> tuple[Table, ...]:
    return lookup.preflop_child, lookup.flop_child, lookup.turn_child, lookup.river_child

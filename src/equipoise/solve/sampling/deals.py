"""Where the deals of a sampled game come from, and which bucket each player is in.

:class:`HoldemDeals` are real cards, their buckets looked up in an abstraction. :class:`ListedDeals`
are the complete deals of a small game, one bucket for each private state on each board, states that
differ by a renaming of suits together: then nothing is abstracted, and what is learnt can be judged
exactly. Both give walks their tables; how a deal is drawn from them says :mod:`.dealkernels`.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.lookup import BLOCKED, Lookup
from equipoise.cards.evaluator import tables
from equipoise.cards.streets import BOARD_CARDS
from equipoise.errors import SolverError
from equipoise.games.betting import Betting
from equipoise.games.game import Game
from equipoise.solve.jointdeal import JointDeal
from equipoise.solve.sampling.dealkernels import (
    Dealt,
    FirstRoundTables,
    HoldemTables,
    ListedTables,
)
from equipoise.solve.sampling.rows import States

#: Complete deals that are listed unless told otherwise.
MOST_DEALS = 2_000_000


def alias_table(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """Columns of equal width that hold at most two outcomes each: Walker's alias method.

    >>> keep, other = alias_table(np.array([0.75, 0.25]))
    >>> keep.tolist(), other.tolist()
    ([1.0, 0.5], [0, 0])
    """
    count = len(chances)
    keep = chances * (count / chances.sum())
    other = np.arange(count)
    small, large = np.flatnonzero(keep < 1).tolist(), np.flatnonzero(keep >= 1).tolist()
    while small and large:
        low, high = small.pop(), large[-1]
        other[low] = high
        keep[high] -= 1 - keep[low]
        if keep[high] < 1:
            small.append(large.pop())
    # What is left differs from 1 by rounding only.
    keep[small + large] = 1.0
    return keep, other.astype(np.uint64)


class DealSource(ABC):
    """Deals for walks."""

    #: [round, player]
    buckets: NDArray[np.int64]

    @abstractmethod
    def check(self, betting: Betting) -> None:
        """Refuse betting that these cards are not dealt for."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that decides the buckets."""

    @property
    @abstractmethod
    def tables(self) -> tuple[Any, ...]:
        """What kernels draw deals from; its type says how."""

    @property
    def first_round(self) -> tuple[Any, ...]:
        """The tables of those who play the first round alone."""
        return self.tables

    @abstractmethod
    def dealt(self, real: Any) -> Dealt:
        """What the deals of one thread are read from, in the precision of a walk."""

    @abstractmethod
    def buckets_of(self, game: Game) -> States:
        """Bucket of each player's private states on each board of `game`, which judges."""


class HoldemDeals(DealSource):
    """Fifty-two cards, two each, five on the board, buckets by look-up.

    `fingerprint` names the abstraction; without one, the tables are read for it, every hundredth
    row of the features and all of the rest.
    """

    def __init__(self, lookup: Lookup, fingerprint: str | None = None) -> None:
        self.lookup = lookup
        self._fingerprint = fingerprint
        children = (lookup.preflop_child, lookup.flop_child, lookup.turn_child, lookup.river_child)
        counts = [int(child[child != BLOCKED].max(initial=0)) + 1 for child in children]
        self.buckets = np.repeat(np.array(counts, dtype=np.int64)[:, None], 2, axis=1)

    def check(self, betting: Betting) -> None:
        """Any betting on hold'em, down to a single round."""
        rules, rounds = betting.rules, betting.rounds
        deck = (rules.suits, rules.ranks, rules.hole_cards)
        if deck != (4, 13, 2) or rules.board_cards != BOARD_CARDS[:rounds]:
            raise SolverError(
                f"{rules.name} is not dealt as hold'em is: list the deals of the game instead"
            )

    def fingerprint(self) -> str:
        """The abstraction's hash."""
        if self._fingerprint is None:
            digest = hashlib.sha256()
            for name, table in self.lookup._asdict().items():
                rows = table[::101] if name.endswith("feature") else table
                digest.update(np.ascontiguousarray(rows).data)
            self._fingerprint = digest.hexdigest()[:16]
        return self._fingerprint

    @property
    def tables(self) -> HoldemTables:
        """The look-up and the evaluator's tables."""
        return HoldemTables(self.lookup, *tables())

    @property
    def first_round(self) -> FirstRoundTables:
        """Buckets of hole cards and the evaluator's tables."""
        look = self.lookup
        return FirstRoundTables(look.preflop_child[0, look.preflop_feature], *tables())

    def dealt(self, real: Any) -> Dealt:
        """Room for one deal, to the river whatever is bet."""
        return Dealt.of(np.zeros((1, 8)), np.zeros((1, 8), dtype=real))

    def buckets_of(self, game: Game) -> States:
        """States of a bucket game are the buckets themselves."""
        boards = game.deal.boards
        for board in boards:
            widths = tuple(len(hands) for hands in board.hands)
            if len(boards) != game.betting.rounds or widths != tuple(self.buckets[board.round]):
                raise SolverError(
                    f"{game.name} is no bucket game of these buckets: judge by one made from the "
                    "same abstraction"
                )
        return [(np.arange(n), np.arange(m)) for n, m in self.buckets[: len(boards)].tolist()]


class ListedDeals(DealSource):
    """The complete deals of a small game.

    >>> from equipoise.games.catalogue import leduc
    >>> ListedDeals(leduc()).buckets.tolist()
    [[3, 3], [9, 9]]
    """

    def __init__(self, game: Game, most_deals: int = MOST_DEALS) -> None:
        self.game = game
        joint = JointDeal(game)
        rounds = game.betting.rounds
        hands = joint.hands(most_deals)
        self.buckets = np.zeros((rounds, 2), dtype=np.int64)
        self._bucket_of: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        bucket = np.zeros((len(hands.board), 2 * rounds), dtype=np.uint64)
        result = np.zeros((len(hands.board), 2 * rounds))
        for b, board in enumerate(game.deal.boards):
            number = board.round
            lines = np.flatnonzero(hands.board[:, number] == b)
            states = hands.state[lines, number]
            found = []
            for player in (0, 1):
                alike, place = np.unique(joint.orbits[b][player], return_inverse=True)
                found.append(self.buckets[number, player] + place)
                self.buckets[number, player] += len(alike)
                bucket[lines, 2 * number + player] = found[player][states[:, player]]
            self._bucket_of.append((found[0], found[1]))
            pair = (states[:, 0], states[:, 1])
            result[lines, 2 * number] = joint.signed[b][pair] / joint.mass[b][pair]
        result[:, 1::2] = -result[:, 0::2]
        #: Chance of each deal, and its buckets and results: [deal, 2 * round + player].
        self.chances, self.bucket_table, self.result_table = hands.probability, bucket, result

    def check(self, betting: Betting) -> None:
        """The game's own betting, or other betting over as many rounds."""
        if betting.rounds != len(self.buckets):
            raise SolverError(
                f"{betting.rounds} rounds of betting on deals of {len(self.buckets)} rounds: "
                f"use betting of {self.game.name}"
            )

    def fingerprint(self) -> str:
        """The game's hash."""
        return self.game.fingerprint()

    @property
    def tables(self) -> ListedTables:
        """The alias table."""
        return ListedTables(*alias_table(self.chances))

    def dealt(self, real: Any) -> Dealt:
        """All deals, the same for every thread."""
        return Dealt.of(self.bucket_table, self.result_table.astype(real, copy=False))

    def buckets_of(self, game: Game) -> States:
        """One bucket for each orbit of states on each board."""
        if game.fingerprint() != self.fingerprint():
            raise SolverError(f"deals of {self.game.name} cannot be judged by {game.name}")
        return self._bucket_of

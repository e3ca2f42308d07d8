"""Who deals the cards of a sampled game, and which bucket each player is in.

:class:`HoldemDealer` deals real cards and looks their buckets up in an abstraction.
:class:`GameDealer` draws from the complete deals of a small game, one bucket for each private state
on each board, states that differ by a renaming of suits together: then nothing is abstracted, and
what is learnt can be judged exactly.
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
from equipoise.solve.sampling.cardwalk import HoldemDeals, ListedDeals, walk_holdem, walk_listed
from equipoise.solve.sampling.mccfr import MOST_DEALS, alias_table

#: Public cards of hold'em before each round.


class Dealer(ABC):
    """Deals for walks."""

    #: [round, player]
    buckets: NDArray[np.int64]

    @abstractmethod
    def check(self, betting: Betting) -> None:
        """Refuse betting that these cards are not dealt for."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that decides the buckets."""

    @abstractmethod
    def walk(self, *arguments: Any) -> None:
        """Call the kernel that deals this way; it is told nodes and rows, and then the rest."""

    @abstractmethod
    def buckets_of(self, game: Game) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Bucket of each player's private states on each board of `game`, which judges."""


class HoldemDealer(Dealer):
    """Fifty-two cards, two each, five on the board, buckets by look-up.

    `fingerprint` names the abstraction; without one, the tables are read for it, every hundredth
    row of the features and all of the rest.
    """

    def __init__(self, lookup: Lookup, fingerprint: str | None = None) -> None:
        self.lookup = lookup
        self._fingerprint = fingerprint
        values, rows = tables()
        self._deals = HoldemDeals(lookup, values, rows)
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

    def walk(self, *arguments: Any) -> None:
        """Deal and walk hold'em."""
        nodes, rows, *rest = arguments
        walk_holdem(nodes, rows, self._deals, *rest)

    def buckets_of(self, game: Game) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
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


class GameDealer(Dealer):
    """The complete deals of a small game.

    >>> from equipoise.games.catalogue import leduc
    >>> GameDealer(leduc()).buckets.tolist()
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
        result = np.zeros((len(hands.board), rounds), dtype=np.float32)
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
            result[lines, number] = joint.signed[b][pair] / joint.mass[b][pair]
        keep, other = alias_table(hands.probability)
        self._deals = ListedDeals(keep, other, bucket, result)

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

    def walk(self, *arguments: Any) -> None:
        """Draw and walk."""
        nodes, rows, *rest = arguments
        walk_listed(nodes, rows, self._deals, *rest)

    def buckets_of(self, game: Game) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """One bucket for each orbit of states on each board."""
        if game.fingerprint() != self.fingerprint():
            raise SolverError(f"deals of {self.game.name} cannot be judged by {game.name}")
        return self._bucket_of

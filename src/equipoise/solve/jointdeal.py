"""The exact joint distribution of everything that chance deals.

Sweeps never need it: they carry one player's reach at a time. The linear program and the sampling
solvers do, because they look at pairs of private states. On board `b`

    mass[b][i, j]     probability that the cards of one arrival at `b` come and the players hold i, j
    signed[b][i, j]   that times who wins: 1 player 0, -1 player 1, averaged over run-outs to come

A game with matrices stores both; with sorted hands they follow from range weights, card removal and
chance weights.

Boards that differ by a renaming of suits are kept once, so a board may be arrived at in several
ways, and hands that such a renaming exchanges are the same hand in all but name. An *orbit* is a
class of hands under the renamings that leave board and ranges as they are. A symmetric game has an
equilibrium that plays all hands of an orbit alike, so one set of numbers for each orbit is enough,
and on such strategies the arrivals at a board are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError, TooLargeError
from equipoise.games.boards import Board, compatible, signed_masses
from equipoise.games.game import Game

Table = NDArray[np.float64]


class Hands(NamedTuple):
    """Complete deals, from the first round to the last: one line each."""

    #: Probability of each.
    probability: NDArray[np.float64]
    #: Board in each round: [deal, round].
    board: NDArray[np.int32]
    #: Private state in each round: [deal, round, player].
    state: NDArray[np.int32]


class JointDeal:
    """Pairs of private states on every board of a game.

    >>> from equipoise.games.catalogue import kuhn
    >>> joint = JointDeal(kuhn())
    >>> int(joint.pairs[0]), joint.count_hands()
    (6, 6)
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        boards = game.deal.boards
        if game.deal.evaluator not in ("matrix", "sorted"):
            raise SolverError(
                f"{game.name} has no joint distribution of private states: use a sweeping solver, "
                "such as dcfr"
            )
        #: Pairs of private states that can occur on each board, at least as many.
        self.pairs = np.array(
            [
                np.count_nonzero(board.mass)
                if board.mass is not None
                else len(board.hands[0]) * len(board.hands[1])
                for board in boards
            ],
            dtype=np.int64,
        )
        #: Ways in which each board can come, suit-equivalent ones counted apart.
        self.ways = np.ones(len(boards), dtype=np.int64)
        for b, board in enumerate(boards):
            if b:
                self.ways[b] = self.ways[board.parent] * len(board.arrivals)

    # ------------------------------------------------------------------------------- tables

    @cached_property
    def mass(self) -> list[Table]:
        """Probability of each pair of states and one arrival at the board."""
        deal = self.game.deal
        tables: list[Table] = []
        for board in deal.boards:
            if board.mass is not None:
                tables.append(board.mass)
            elif not tables:
                pairs = deal.initial[0][:, None] * deal.initial[1][None, :]
                tables.append(compatible(*board.hands) * pairs / deal.total)
            else:
                rows, columns = board.arrivals[0]
                tables.append(tables[board.parent][np.ix_(rows, columns)] * board.weight)
        return tables

    @cached_property
    def signed(self) -> list[Table]:
        """Probability times who wins; before the last round, summed over the boards to come."""
        boards = self.game.deal.boards
        stored = [board.signed for board in boards if board.signed is not None]
        if len(stored) == len(boards):
            return stored
        return signed_masses(boards, self.mass, [board.strength for board in boards])

    @cached_property
    def orbits(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each board and player, the first hand of every hand's orbit."""
        return [(self._first_alike(b, 0), self._first_alike(b, 1)) for b in self.game.deal.boards]

    def _first_alike(self, board: Board, player: int) -> NDArray[np.int64]:
        hands, suits = board.hands[player].astype(np.int64), self.game.deal.suits
        first = np.arange(len(hands))
        if len(board.symmetries) < 2 or not len(hands):
            return first
        deck = int(hands.max()) + suits
        powers = deck ** np.arange(hands.shape[1])
        keys = np.sort(hands, axis=1) @ powers
        order = np.argsort(keys)
        for renaming in board.symmetries:
            moved = hands - hands % suits + np.array(renaming)[hands % suits]
            image = np.sort(moved, axis=1) @ powers
            first = np.minimum(first, order[np.searchsorted(keys[order], image)])
        return first

    # -------------------------------------------------------------------------------- hands

    def count_hands(self) -> int:
        """Complete deals that :meth:`hands` would list, at least as many."""
        last = self.game.betting.rounds - 1
        rounds = np.array([board.round for board in self.game.deal.boards])
        return int((self.pairs * self.ways)[rounds == last].sum())

    def hands(self, most: int) -> Hands:
        """Every complete deal with its probability; more than `most` are refused."""
        count, rounds = self.count_hands(), self.game.betting.rounds
        if count > most:
            raise TooLargeError(
                f"{self.game.name} has {count:,} complete deals to sample from, more than {most:,}:"
                " narrow the ranges, start on a later street, or use dcfr"
            )
        probability: list[NDArray[np.float64]] = []
        board: list[NDArray[np.int32]] = []
        state: list[NDArray[np.int32]] = []
        for b, below in enumerate(self.game.deal.boards):
            if below.round != rounds - 1:
                continue
            first, second = np.nonzero(self.mass[b])
            for path, states in self._histories(b, np.stack([first, second], axis=1)):
                probability.append(self.mass[b][first, second])
                board.append(np.tile(np.array(path, dtype=np.int32), (len(first), 1)))
                state.append(np.stack(states, axis=1).astype(np.int32))
        chances = np.concatenate(probability)
        if abs(chances.sum() - 1) > 1e-6:
            raise SolverError(
                f"the deals of {self.game.name} do not add up to probability 1 "
                f"({chances.sum():.6f}): use a sweeping solver, such as dcfr"
            )
        return Hands(chances, np.concatenate(board), np.concatenate(state))

    def _histories(
        self, b: int, pairs: NDArray[np.int64]
    ) -> Iterator[tuple[list[int], list[NDArray[np.int64]]]]:
        """All ways in which pairs of states on a board came about: boards and states by round."""
        board = self.game.deal.boards[b]
        if board.parent < 0:
            yield [b], [pairs]
            return
        for mine, theirs in board.arrivals:
            above = np.stack([mine[pairs[:, 0]], theirs[pairs[:, 1]]], axis=1)
            for path, states in self._histories(board.parent, above):
                yield [*path, b], [*states, pairs]

"""The public cards, and what each player privately holds under them.

A *board* is one set of public cards dealt so far; boards form a tree, round by round. Under a board
each player has a vector of private states (hands, or single cards). Three things tie it together:

* *arrival maps* say which state of the parent board a state of this board was: reach is gathered
  through them on the way down, values are added back through them on the way up. Boards that differ
  only by a renaming of suits are kept once, with one arrival map for each of them;
* `weight` is the chance factor that the opponent's reach is multiplied with when the board comes;
* an *evaluator* turns the opponent's reach into the masses `N` and `D` of
  :mod:`equipoise.games.betting`: either dense matrices (chance inside them, all weights 1) or hands
  sorted by strength with card removal (chance in the weights).

In vector form a hand that the dealt card blocks has simply left the vector, so the chance factor
divides by the cards unseen by *both* players.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

Hands = NDArray[np.int16]  # [hand, hole card], cards descending
Strength = Callable[[Hands, tuple[int, ...]], NDArray[np.int64]]


@dataclass
class Board:
    """One set of public cards and the private states under it."""

    #: Round whose betting happens on this board.
    round: int
    #: Number of the board it was dealt from, -1 for the first.
    parent: int
    #: Public cards in the order of their rounds, or the label of an abstract public state.
    cards: tuple[int, ...]
    #: Factor on the opponent's reach when this board is dealt.
    weight: float
    #: Private states of each player: hole cards, or empty where states are not cards.
    hands: tuple[Hands, Hands]
    #: Maps to the parent's states, one pair (player 0, player 1) for each suit-equivalent deal.
    arrivals: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    #: Suit renamings that leave this board and the game as they are.
    symmetries: list[tuple[int, ...]] = field(default_factory=list)
    #: Matrix evaluator: probability of each pair of states and this board, [state 0, state 1].
    mass: NDArray[np.float64] | None = None
    #: Matrix evaluator: that probability times who wins (1 player 0, -1 player 1, 0 tie).
    signed: NDArray[np.float64] | None = None
    #: Sorted evaluator: strength of each hand of each player; hands stand in this order.
    strength: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


@dataclass
class Deal:
    """The tree of boards of a game."""

    boards: list[Board]
    #: Reach of each private state at the start: ones with matrices, range weights when sorted.
    initial: tuple[NDArray[np.float64], NDArray[np.float64]]
    #: What root values are divided by: 1, or the mass of all pairs of hands that do not collide.
    total: float
    #: "matrix" or "sorted".
    evaluator: str
    #: Suits of the deck, for printing cards; 0 where states are not cards.
    suits: int = 0

    def children(self, board: int) -> list[int]:
        """Boards dealt from `board`."""
        return [b for b in range(board + 1, len(self.boards)) if self.boards[b].parent == board]

    def states(self, board: int, player: int) -> int:
        """Private states of a player under a board."""
        return len(self.boards[board].hands[player])


def all_hands(deck_size: int, hole_cards: int) -> Hands:
    """Every hand of a deck, cards descending.

    >>> len(all_hands(52, 2)), all_hands(4, 1).tolist()
    (1326, [[0], [1], [2], [3]])
    """
    hands = [tuple(reversed(c)) for c in combinations(range(deck_size), hole_cards)]
    hands.sort()
    return np.array(hands, dtype=np.int16).reshape(len(hands), hole_cards)


def compatible(first: Hands, second: Hands) -> NDArray[np.bool_]:
    """Which pairs of hands share no card: bool[first, second]."""
    clash = np.zeros((len(first), len(second)), dtype=bool)
    for i in range(first.shape[1]):
        for j in range(second.shape[1]):
            clash |= first[:, i, None] == second[None, :, j]
    return ~clash


def deal_cards(
    *,
    suits: int,
    ranks: int,
    hole_cards: int,
    board_cards: Sequence[int],
    strength: Strength,
    evaluator: str = "matrix",
    start: tuple[int, ...] = (),
    ranges: tuple[tuple[Hands, NDArray[np.float64]], tuple[Hands, NDArray[np.float64]]]
    | None = None,
    use_symmetry: bool = True,
) -> Deal:
    """Deal a deck of `suits * ranks` cards (card = `suits * rank + suit`) over a game's rounds.

    `board_cards[r]` public cards come before round `r`, on top of those in `start`. `strength`
    gives a number to every hand on a full board, higher wins. `ranges` are the hands and weights of
    each player, all hands alike by default. Suit-equivalent boards are merged where, and only where,
    the ranges and the cards in `start` allow it.
    """
    deck_size = suits * ranks
    if ranges is None:
        every = all_hands(deck_size, hole_cards)
        every = every[~np.isin(every, start).any(axis=1)]
        ranges = ((every, np.ones(len(every))), (every, np.ones(len(every))))
    builder = _Builder(suits, deck_size, hole_cards, tuple(board_cards), strength, evaluator)
    (hands0, weights0), (hands1, weights1) = ranges
    pairs = compatible(hands0, hands1) * weights0[:, None] * weights1[None, :]
    total = float(pairs.sum())
    root = Board(0, -1, tuple(start), 1.0, (hands0, hands1))
    identity = tuple(range(suits))
    root.symmetries = [identity]
    if use_symmetry:
        root.symmetries = [
            renaming
            for renaming in permutations(range(suits))
            if builder.keeps_board(renaming, start) and builder.keeps_ranges(renaming, ranges)
        ]
    builder.boards.append(root)
    if board_cards[0]:
        raise ValueError("cards before the first round belong in `start`")
    builder.deal_round(1)
    if evaluator == "matrix":
        builder.fill_matrices(pairs / total)
        ones = (np.ones(len(hands0)), np.ones(len(hands1)))
        return Deal(builder.boards, ones, 1.0, "matrix", suits)
    order0, order1 = builder.sort_last_round()
    if len(board_cards) == 1:
        weights0, weights1 = weights0[order0], weights1[order1]
    return Deal(builder.boards, (weights0, weights1), total, "sorted", suits)


def deal_once(mass: NDArray[np.float64], signed: NDArray[np.float64]) -> Deal:
    """One deal and no public cards: the chance of each pair of private states, and who wins.

    `mass[i, j]` is the probability that the players hold i and j, `signed` that times the share of
    showdowns that player 0 wins less what he loses.
    """
    hands = [np.arange(states, dtype=np.int16).reshape(states, 1) for states in mass.shape]
    board = Board(0, -1, (), 1.0, (hands[0], hands[1]), mass=mass, signed=signed)
    initial = (np.ones(mass.shape[0]), np.ones(mass.shape[1]))
    return Deal([board], initial, 1.0, "matrix")


class _Builder:
    """Grows the tree of boards round by round."""

    def __init__(
        self,
        suits: int,
        deck_size: int,
        hole_cards: int,
        board_cards: tuple[int, ...],
        strength: Strength,
        evaluator: str,
    ) -> None:
        self.suits, self.deck_size, self.hole_cards = suits, deck_size, hole_cards
        self.board_cards, self.strength, self.evaluator = board_cards, strength, evaluator
        self.boards: list[Board] = []

    def renamed(self, renaming: tuple[int, ...], cards: NDArray[np.int16]) -> NDArray[np.int16]:
        """Cards with their suits renamed."""
        table = np.array(
            [c - c % self.suits + renaming[c % self.suits] for c in range(self.deck_size)],
            dtype=np.int16,
        )
        return table[cards]

    def keeps_board(self, renaming: tuple[int, ...], cards: tuple[int, ...]) -> bool:
        """Whether a renaming of suits leaves a set of cards as it is."""
        moved = self.renamed(renaming, np.array(cards, dtype=np.int16))
        return set(moved.tolist()) == set(cards)

    def lookup(self, hands: Hands) -> NDArray[np.int64]:
        """Table from cards (descending) to the index of the hand in `hands`, -1 if absent."""
        table = np.full((self.deck_size,) * self.hole_cards, -1, dtype=np.int64)
        table[tuple(hands.T)] = np.arange(len(hands))
        return table

    def index(self, table: NDArray[np.int64], hands: NDArray[np.int16]) -> NDArray[np.int64]:
        """Index of hands given in any card order."""
        ordered = -np.sort(-hands, axis=1)
        found: NDArray[np.int64] = table[tuple(ordered.T)]
        return found

    def keeps_ranges(
        self,
        renaming: tuple[int, ...],
        ranges: tuple[tuple[Hands, NDArray[np.float64]], tuple[Hands, NDArray[np.float64]]],
    ) -> bool:
        """Whether a renaming of suits leaves both ranges as they are."""
        for hands, weights in ranges:
            moved = self.index(self.lookup(hands), self.renamed(renaming, hands))
            if (moved < 0).any() or not np.array_equal(weights[moved], weights):
                return False
        return True

    def deal_round(self, number: int) -> None:
        """Deal the public cards of round `number` onto every board of the round before."""
        if number == len(self.board_cards):
            return
        count = self.board_cards[number]
        parents = [b for b, board in enumerate(self.boards) if board.round == number - 1]
        for parent in parents:
            self._deal_onto(parent, number, count)
        self.deal_round(number + 1)

    def _deal_onto(self, parent: int, number: int, count: int) -> None:
        above = self.boards[parent]
        left = [c for c in range(self.deck_size) if c not in above.cards]
        unseen_by_both = len(left) - 2 * self.hole_cards
        weight = 1.0 if self.evaluator == "matrix" else 1.0 / comb(unseen_by_both, count)
        tables = [self.lookup(hands) for hands in above.hands]
        canonical: dict[tuple[int, ...], Board] = {}
        for dealt in combinations(left, count):
            # Among the renamings that keep the parent, the one that makes the deal smallest.
            best, chosen = dealt, above.symmetries[0]
            for renaming in above.symmetries[1:]:
                cards = self.renamed(renaming, np.array(dealt, dtype=np.int16))
                moved = tuple(sorted(int(c) for c in cards))
                if moved < best:
                    best, chosen = moved, renaming
            if best not in canonical:
                alive = [~np.isin(hands, best).any(axis=1) for hands in above.hands]
                board = Board(
                    number,
                    parent,
                    above.cards + best,
                    weight,
                    (above.hands[0][alive[0]], above.hands[1][alive[1]]),
                )
                board.symmetries = [s for s in above.symmetries if self.keeps_board(s, best)]
                canonical[best] = board
                self.boards.append(board)
            board = canonical[best]
            # `chosen` takes the real deal to the canonical one; a hand of the canonical board was,
            # in the real deal, the hand with suits renamed back.
            back = tuple(int(i) for i in np.argsort(chosen))
            board.arrivals.append(
                (
                    self.index(tables[0], self.renamed(back, board.hands[0])),
                    self.index(tables[1], self.renamed(back, board.hands[1])),
                )
            )

    def fill_matrices(self, pairs: NDArray[np.float64]) -> None:
        """Matrix evaluator: joint probabilities down the tree, results up from the last round."""
        last = len(self.board_cards) - 1
        for b, board in enumerate(self.boards):
            if b == 0:
                board.mass = pairs
            else:
                above = self.boards[board.parent]
                assert above.mass is not None
                count = self.board_cards[board.round]
                unseen = self.deck_size - len(above.cards) - 2 * self.hole_cards
                rows, columns = board.arrivals[0]
                board.mass = above.mass[np.ix_(rows, columns)] / comb(unseen, count)
        for board in reversed(self.boards):
            assert board.mass is not None
            if board.round == last:
                mine = self.strength(board.hands[0], board.cards)
                theirs = self.strength(board.hands[1], board.cards)
                board.signed = board.mass * np.sign(mine[:, None] - theirs[None, :])
            else:
                assert board.signed is not None
            if board.parent >= 0:
                above = self.boards[board.parent]
                if above.signed is None:
                    above.signed = np.zeros((len(above.hands[0]), len(above.hands[1])))
                for rows, columns in board.arrivals:
                    above.signed[np.ix_(rows, columns)] += board.signed

    def sort_last_round(self) -> list[NDArray[np.int64]]:
        """Sorted evaluator: put the hands of every full board in ascending order of strength.

        Returns the order given to the last board, for both players.
        """
        last = len(self.board_cards) - 1
        orders: list[NDArray[np.int64]] = []
        for board in self.boards:
            if board.round != last:
                continue
            strengths, orders = [], []  # of this board
            for hands in board.hands:
                value = self.strength(hands, board.cards)
                order = np.argsort(value, kind="stable")
                strengths.append(value[order])
                orders.append(order)
            board.hands = (board.hands[0][orders[0]], board.hands[1][orders[1]])
            board.strength = (strengths[0], strengths[1])
            board.arrivals = [(m0[orders[0]], m1[orders[1]]) for m0, m1 in board.arrivals]
        return orders

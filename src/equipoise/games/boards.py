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
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.games.margins import Strengths, signs
from equipoise.games.runouts import (
    Hands as Hands,
)
from equipoise.games.runouts import (
    Renaming,
    Runout,
    Weighted,
    inverse,
    renamed_hands,
    runouts,
    suit_symmetries,
)

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
    #: The cards really dealt onto the parent, for each of those.
    deals: list[tuple[int, ...]] = field(default_factory=list)
    #: Where states change by chance of their own, independently for each player, instead of by the
    #: cards dealt: probability of each state here given the parent's, [state, parent's state].
    transition: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    #: Suit renamings that leave this board and the game as they are.
    symmetries: list[Renaming] = field(default_factory=list)
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
    #: Boards past the end of a game that was cut: nobody bets there, but all-in calls are dealt out.
    beyond: list[Board] = field(default_factory=list)

    def until(self, rounds: int) -> Deal:
        """The boards of the first `rounds` rounds; the others are only dealt out."""
        kept = sum(board.round < rounds for board in self.boards)
        return replace(self, boards=self.boards[:kept], beyond=self.boards[kept:] + self.beyond)

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
    ranges: tuple[Weighted, Weighted] | None = None,
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
    if board_cards[0]:
        raise ValueError("cards before the first round belong in `start`")
    symmetries = [tuple(range(suits))]
    if use_symmetry:
        symmetries = suit_symmetries(suits, deck_size, start, ranges)
    tree = runouts(deck_size, start, board_cards, symmetries)
    builder = _Builder(deck_size, ranges, tree, strength)
    (hands0, weights0), (hands1, weights1) = ranges
    if evaluator == "matrix":
        boards = builder.boards(lambda unseen, count: 1.0)
        pairs = compatible(hands0, hands1) * weights0[:, None] * weights1[None, :]
        total = float(pairs.sum())
        _fill_matrices(boards, pairs / total, deck_size, strength)
        return Deal(boards, (np.ones(len(hands0)), np.ones(len(hands1))), 1.0, "matrix", suits)
    boards = builder.boards(lambda unseen, count: 1.0 / comb(unseen, count), sort=True)
    initial = (weights0[builder.ids[0][0]], weights1[builder.ids[0][1]])
    return Deal(boards, initial, pair_mass(*ranges), "sorted", suits)


def pair_mass(first: Weighted, second: Weighted) -> float:
    """Mass of all pairs of hands that share no card.

    For hands of two cards this is the product of the masses, less what shares each card, plus what
    shares both and was taken off twice.

    >>> hands = all_hands(52, 2)
    >>> pair_mass((hands, np.ones(1326)), (hands, np.ones(1326))) == 1326 * 1225
    True
    """
    (hands0, weights0), (hands1, weights1) = first, second
    together = float(weights0.sum() * weights1.sum())
    if hands0.shape[1] == 2:
        deck = 1 + int(max(hands0.max(), hands1.max()))
        held = []
        for hands, weights in (first, second):
            table = np.zeros((deck, deck))
            table[hands[:, 0], hands[:, 1]] = weights
            held.append(table + table.T)
        on_card = held[0].sum(axis=1) @ held[1].sum(axis=1)
        mass = together - float(on_card) + float((held[0] * held[1]).sum()) / 2
        if mass > 1e-6 * together:
            return mass
    # Little of much is lost in the difference.
    return float(weights0 @ compatible(hands0, hands1) @ weights1)


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
    """Puts the hands of both players under every board.

    Inside, a hand is its number in the range at the start, so that a renaming of suits, or a card
    that takes hands away, is one table for the whole tree.
    """

    def __init__(
        self,
        deck_size: int,
        ranges: tuple[Weighted, Weighted],
        tree: list[Runout],
        strength: Strength,
    ) -> None:
        self.deck_size, self.tree, self.strength = deck_size, tree, strength
        self.hands = [hands for hands, _ in ranges]
        #: Numbers of the hands of each board and player, in its order.
        self.ids: list[list[NDArray[np.int64]]] = []
        #: [player][renaming]: number of each hand after the renaming is undone.
        self.back: list[dict[Renaming, NDArray[np.int64]]] = [
            {s: renamed_hands(hands, inverse(s), deck_size) for s in tree[0].symmetries}
            for hands in self.hands
        ]
        #: [player][card]: which hands do not hold the card.
        self.free = [
            (hands[None, :, :] != np.arange(deck_size)[:, None, None]).all(axis=2)
            for hands in self.hands
        ]

    def boards(self, chance: Callable[[int, int], float], sort: bool = False) -> list[Board]:
        """Boards with hands and arrivals; with `sort`, hands of full boards weakest first.

        `chance` is the weight of a deal, from the cards unseen by both players and those dealt.
        """
        boards: list[Board] = []
        last = self.tree[-1].round
        parent, place = -1, [np.zeros(0, dtype=np.int64)] * 2
        for runout in self.tree:
            if runout.parent != parent:
                parent = runout.parent
                place = [self._places(parent, player) for player in (0, 1)]
            board = self._board(runout, chance, sort and runout.round == last)
            ids = self.ids[-1]
            for dealt, renaming in runout.deals:
                # A hand of this board was, in the real deal, the hand with suits renamed back.
                board.deals.append(dealt)
                board.arrivals.append(
                    (
                        place[0][self.back[0][renaming][ids[0]]],
                        place[1][self.back[1][renaming][ids[1]]],
                    )
                )
            boards.append(board)
        return boards

    def _places(self, board: int, player: int) -> NDArray[np.int64]:
        """Where each hand of the range stands under a board, -1 if it is not there."""
        ids = self.ids[board][player]
        place = np.full(len(self.hands[player]), -1, dtype=np.int64)
        place[ids] = np.arange(len(ids))
        return place

    def _board(self, runout: Runout, chance: Callable[[int, int], float], sort: bool) -> Board:
        dealt: tuple[int, ...] = ()
        weight = 1.0
        if runout.parent >= 0:
            known = self.tree[runout.parent].cards
            dealt = runout.cards[len(known) :]
            held = self.hands[0].shape[1] + self.hands[1].shape[1]
            weight = chance(self.deck_size - len(known) - held, len(dealt))
        all_ids, all_hands, all_values = [], [], []
        for player in (0, 1):
            if runout.parent < 0:
                ids = np.arange(len(self.hands[player]))
            else:
                ids = self.ids[runout.parent][player]
                for card in dealt:
                    ids = ids[self.free[player][card][ids]]
            hands = self.hands[player][ids]
            if sort:
                values = self.strength(hands, runout.cards)
                order = np.argsort(values, kind="stable")
                ids, hands = ids[order], hands[order]
                all_values.append(values[order])
            all_ids.append(ids)
            all_hands.append(hands)
        self.ids.append(all_ids)
        board = Board(
            runout.round, runout.parent, runout.cards, weight, (all_hands[0], all_hands[1])
        )
        board.symmetries = runout.symmetries
        if sort:
            board.strength = (all_values[0], all_values[1])
        return board


def _fill_matrices(
    boards: list[Board], pairs: NDArray[np.float64], deck_size: int, strength: Strength
) -> None:
    """Matrix evaluator: joint probabilities down the tree, results up from the last round."""
    last = boards[-1].round
    for board in boards:
        if board.parent < 0:
            board.mass = pairs
            continue
        above = boards[board.parent]
        assert above.mass is not None
        held = board.hands[0].shape[1] + board.hands[1].shape[1]
        unseen = deck_size - len(above.cards) - held
        rows, columns = board.arrivals[0]
        ways = comb(unseen, len(board.cards) - len(above.cards))
        board.mass = above.mass[np.ix_(rows, columns)] / ways
    masses = [board.mass for board in boards if board.mass is not None]
    strengths: list[Strengths | None] = [
        (strength(board.hands[0], board.cards), strength(board.hands[1], board.cards))
        if board.round == last
        else None
        for board in boards
    ]
    for board, signed in zip(boards, signed_masses(boards, masses, strengths), strict=True):
        board.signed = signed


def signed_masses(
    boards: Sequence[Board],
    masses: Sequence[NDArray[np.float64]],
    strengths: Sequence[Strengths | None],
) -> list[NDArray[np.float64]]:
    """Mass of each pair of states times who wins, averaged over the boards that can come.

    `masses` are those of one arrival at each board, `strengths` those of the hands on full boards.
    """
    signed = [np.zeros_like(mass) for mass in masses]
    for b in range(len(boards) - 1, -1, -1):
        strength = strengths[b]
        if strength is not None:
            signed[b] = masses[b] * signs(strength)
        if boards[b].parent >= 0:
            for maps in boards[b].arrivals:
                signed[boards[b].parent][np.ix_(*maps)] += signed[b]
    return signed

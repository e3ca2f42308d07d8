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
from functools import lru_cache
from itertools import accumulate, combinations, pairwise, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.errors import GameError
from equipoise.games.margins import Strengths, signs
from equipoise.games.rules import Rules
from equipoise.games.runouts import (
    Hands as Hands,
)
from equipoise.games.runouts import (
    Renaming,
    Runout,
    Strength,
    Weighted,
    inverse,
    renamed_hands,
    runouts,
    suit_symmetries,
)


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
class BoardTree:
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

    def until(self, rounds: int) -> BoardTree:
        """The boards of the first `rounds` rounds; the others are only dealt out."""
        kept = sum(board.round < rounds for board in self.boards)
        return replace(self, boards=self.boards[:kept], beyond=self.boards[kept:] + self.beyond)

    def below(self, board: int) -> tuple[BoardTree, list[int]]:
        """The boards from one of them on, and the number here that each of its boards has.

        Chances of private states stay those of the whole: with matrices they are inside them, with
        sorted hands reach begins at 1 for every hand.
        """
        numbers = [board]
        for b in range(board + 1, len(self.boards)):
            if self.boards[b].parent in numbers:
                numbers.append(b)
        first = self.boards[board].round
        kept = [
            replace(
                self.boards[b],
                round=self.boards[b].round - first,
                parent=numbers.index(self.boards[b].parent) if b != board else -1,
                weight=self.boards[b].weight if b != board else 1.0,
                arrivals=self.boards[b].arrivals if b != board else [],
                deals=self.boards[b].deals if b != board else [],
            )
            for b in numbers
        ]
        hands = self.boards[board].hands
        initial = (np.ones(len(hands[0])), np.ones(len(hands[1])))
        total = 1.0
        if self.evaluator == "sorted":
            total = float(compatible(*hands).sum())
        return replace(self, boards=kept, initial=initial, total=total, beyond=[]), numbers

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
) -> BoardTree:
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
        return BoardTree(boards, (np.ones(len(hands0)), np.ones(len(hands1))), 1.0, "matrix", suits)
    boards = builder.boards(lambda unseen, count: 1.0 / comb(unseen, count), sort=True)
    initial = (weights0[builder.ids[0][0]], weights1[builder.ids[0][1]])
    return BoardTree(boards, initial, pair_mass(*ranges), "sorted", suits)


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


def deal_once(mass: NDArray[np.float64], signed: NDArray[np.float64]) -> BoardTree:
    """One deal and no public cards: the chance of each pair of private states, and who wins.

    `mass[i, j]` is the probability that the players hold i and j, `signed` that times the share of
    showdowns that player 0 wins less what he loses.
    """
    hands = [np.arange(states, dtype=np.int16).reshape(states, 1) for states in mass.shape]
    board = Board(0, -1, (), 1.0, (hands[0], hands[1]), mass=mass, signed=signed)
    initial = (np.ones(mass.shape[0]), np.ones(mass.shape[1]))
    return BoardTree([board], initial, 1.0, "matrix")


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
        self.free = [np.ones((deck_size, len(hands)), dtype=bool) for hands in self.hands]
        for free, hands in zip(self.free, self.hands, strict=True):
            for cards in hands.T:
                free[cards, np.arange(len(hands))] = False

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


class BoardWalk:
    """Where the cards of a table stand among the boards of a game.

    Boards that differ by a renaming of suits are one board of the game, and in some games cards are
    only ranks. The boards are walked along the cards that came, with the renaming of suits under which
    they are the game's, and each hand becomes a private state there.

    >>> from equipoise.games.library.leduc import leduc
    >>> game = leduc()
    >>> walk = BoardWalk(game.name, game.betting.rules, game.deal)
    >>> number, states = walk.states((51,), player=0)
    >>> game.deal.boards[number].cards, states[[43, 46, 47, 50, 51]].tolist()
    ((2,), [0, 1, 1, 2, -1])
    """

    def __init__(self, name: str, rules: Rules, deal: BoardTree) -> None:
        self.name, self.rules, self.deal = name, rules, deal
        first = deal.boards[0]
        width = first.hands[0].shape[1]
        #: Suits as the game tells them apart; 1 where cards are only ranks.
        self.suits = deal.suits or 1
        by_rank = rules.hole_cards == 1 and deal.suits == 0
        cards = rules.ranks * self.suits
        whole = comb(cards, rules.hole_cards)
        if (
            width != rules.hole_cards
            or any(len(hands) != whole for hands in first.hands)
            or (not by_rank and deal.suits != rules.suits)
            or first.cards
        ):
            raise GameError(
                f"{name} is not dealt card by card from a whole deck: it cannot be played at "
                "a table"
            )
        self._seen = list(accumulate(rules.board_cards))
        self._children: dict[int, list[int]] = {}
        for number, board in enumerate(deal.boards):
            self._children.setdefault(board.parent, []).append(number)
        self._states = lru_cache(maxsize=4096)(self._walk)

    def card(self, card: int) -> int:
        """The game's number of a card of the table, -1 if it is not in the deck."""
        rules = self.rules
        rank, suit = (card >> 2) - 13 + rules.ranks, (card & 3) - 4 + rules.suits
        if rank < 0 or suit < 0:
            return -1
        return rank if self.suits == 1 else self.suits * rank + suit

    def states(self, board: tuple[int, ...], player: int) -> tuple[int, NDArray[np.int64]]:
        """Number of the board in the game, and the state of each hand there, -1 if it has none."""
        number, states = self._states(board)
        return number, states[player]

    def _walk(
        self, board: tuple[int, ...]
    ) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        boards = self.deal.boards
        held = boards[0].hands[0].shape[1]
        place = [
            {tuple(sorted(hand)): i for i, hand in enumerate(b.tolist())} for b in boards[0].hands
        ]
        every = sorted(combinations(range(DECK_SIZE), held), key=lambda cards: cards[::-1])
        read = [tuple(sorted(self.card(card) for card in hand)) for hand in every]
        states = [np.array([places.get(hand, -1) for hand in read]) for places in place]
        number, renaming = 0, tuple(range(self.suits))
        for start, end in pairwise(self._seen):
            if end > len(board):
                break
            if start == end:
                continue
            dealt = {self._renamed(self.card(card), renaming) for card in board[start:end]}
            number, arrival = self._arrived(number, dealt)
            child = boards[number]
            step = self._renaming(number, arrival)
            renaming = tuple(step[suit] for suit in renaming)
            for player in (0, 1):
                became = np.full(len(boards[child.parent].hands[player]) + 1, -1)
                became[child.arrivals[arrival][player]] = np.arange(len(child.hands[player]))
                states[player] = became[states[player]]
        blocked = np.array([not set(hand).isdisjoint(board) for hand in every])
        return number, (np.where(blocked, -1, states[0]), np.where(blocked, -1, states[1]))

    def _renamed(self, card: int, renaming: tuple[int, ...]) -> int:
        rank, suit = divmod(card, self.suits)
        return rank * self.suits + renaming[suit]

    def _arrived(self, parent: int, dealt: set[int]) -> tuple[int, int]:
        """The board that the cards lead to from `parent`, and by which of its arrivals."""
        for number in self._children[parent]:
            board = self.deal.boards[number]
            deals = board.deals or [board.cards[-len(dealt) :]]
            for arrival, cards in enumerate(deals):
                if set(cards) == dealt:
                    return number, arrival
        raise GameError(f"{self.name} deals no such board: look at its cards")

    def _renaming(self, number: int, arrival: int) -> tuple[int, ...]:
        """The renaming of suits that an arrival stands for."""
        boards = self.deal.boards
        child = boards[number]
        if not child.deals:
            return tuple(range(self.suits))
        new = set(child.cards[len(boards[child.parent].cards) :])
        before = boards[child.parent].hands[0][child.arrivals[arrival][0]]
        after = [set(hand) for hand in child.hands[0].tolist()]
        for renaming in permutations(range(self.suits)):
            if {self._renamed(card, renaming) for card in child.deals[arrival]} == new and all(
                {self._renamed(card, renaming) for card in hand} == now
                for hand, now in zip(before.tolist(), after, strict=True)
            ):
                return renaming
        raise AssertionError("an arrival is a renaming of suits")

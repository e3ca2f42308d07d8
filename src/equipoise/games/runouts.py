"""Boards up to a renaming of suits.

A renaming of suits is a *symmetry* of a game if it leaves the cards dealt at the start and both
ranges as they are. Boards that a symmetry of their parent takes to one another are played alike, so
one of them, the least, stands for all. Where the ranges or the board tell suits apart there is no
such renaming, and every board stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

Hands = NDArray[np.int16]  # [hand, hole card], cards descending
#: `renaming[suit]` is the suit's new number.
Renaming = tuple[int, ...]
#: A number for each hand on a full board, the higher the better.
Strength = Callable[[Hands, tuple[int, ...]], NDArray[np.int64]]
#: Hands of a player and their weights.
Weighted = tuple[Hands, NDArray[np.float64]]


@dataclass
class Runout:
    """Public cards that stand for all deals equal to them up to suits."""

    #: Round that is played on them.
    round: int
    #: Number of the runout they were dealt from, -1 for the first.
    parent: int
    #: All public cards.
    cards: tuple[int, ...]
    #: Renamings that leave them, and the game, as they are.
    symmetries: list[Renaming]
    #: The deals they stand for, each with the renaming that takes it here.
    deals: list[tuple[tuple[int, ...], Renaming]] = field(default_factory=list)


def inverse(renaming: Renaming) -> Renaming:
    """The renaming that undoes another.

    >>> inverse((1, 2, 0))
    (2, 0, 1)
    """
    return tuple(renaming.index(suit) for suit in range(len(renaming)))


def renamed_deck(renaming: Renaming, deck_size: int) -> tuple[int, ...]:
    """What becomes of each card of a deck.

    >>> renamed_deck((1, 0), 4)
    (1, 0, 3, 2)
    """
    suits = len(renaming)
    return tuple(card - card % suits + renaming[card % suits] for card in range(deck_size))


def renamed_hands(hands: Hands, renaming: Renaming, deck_size: int) -> NDArray[np.int64]:
    """Where in `hands` each hand stands after a renaming, -1 if it is not among them.

    >>> renamed_hands(np.array([[1, 0], [2, 0], [3, 1]], dtype=np.int16), (1, 0), 4)
    array([0, 2, 1])
    """
    place = np.full((deck_size,) * hands.shape[1], -1, dtype=np.int64)
    place[tuple(hands.T)] = np.arange(len(hands))
    moved = np.array(renamed_deck(renaming, deck_size), dtype=np.int16)[hands]
    found: NDArray[np.int64] = place[tuple(-np.sort(-moved, axis=1).T)]
    return found


def suit_symmetries(
    suits: int, deck_size: int, start: tuple[int, ...], ranges: Sequence[Weighted]
) -> list[Renaming]:
    """Renamings that leave the first board and both ranges as they are, the identity first."""
    return [
        renaming
        for renaming in permutations(range(suits))
        if _keeps_cards(renamed_deck(renaming, deck_size), start)
        and all(_keeps_range(renaming, deck_size, *weighted) for weighted in ranges)
    ]


def _keeps_cards(table: tuple[int, ...], cards: tuple[int, ...]) -> bool:
    return {table[card] for card in cards} == set(cards)


def _keeps_range(
    renaming: Renaming, deck_size: int, hands: Hands, weights: NDArray[np.float64]
) -> bool:
    moved = renamed_hands(hands, renaming, deck_size)
    return bool((moved >= 0).all()) and np.array_equal(weights[moved], weights)


def runouts(
    deck_size: int,
    start: tuple[int, ...],
    board_cards: Sequence[int],
    symmetries: list[Renaming],
) -> list[Runout]:
    """All boards of a game, round by round, those equal up to `symmetries` once.

    >>> everything = [(0, 1), (1, 0)]
    >>> [board.cards for board in runouts(4, (), (0, 1), everything)]
    [(), (0,), (2,)]
    """
    tables = {renaming: renamed_deck(renaming, deck_size) for renaming in symmetries}
    boards = [Runout(0, -1, start, symmetries)]
    first = 0
    for number, count in enumerate(board_cards[1:], start=1):
        last = len(boards)
        for parent in range(first, last):
            above = boards[parent]
            known: dict[tuple[int, ...], Runout] = {}
            left = (card for card in range(deck_size) if card not in above.cards)
            for dealt in combinations(left, count):
                # Of the renamings that keep the parent, the one that makes the deal least.
                best, chosen = dealt, above.symmetries[0]
                for renaming in above.symmetries[1:]:
                    moved = tuple(sorted([tables[renaming][card] for card in dealt]))
                    if moved < best:
                        best, chosen = moved, renaming
                board = known.get(best)
                if board is None:
                    kept = [s for s in above.symmetries if _keeps_cards(tables[s], best)]
                    board = known[best] = Runout(number, parent, above.cards + best, kept)
                    boards.append(board)
                board.deals.append((dealt, chosen))
        first = last
    return boards

"""Suit isomorphism: deals that differ only by renaming suits share one index.

A :class:`HandIndexer` numbers the classes of equivalent deals 0, 1, 2 … without gaps, so that an
array with one entry a class (an equity, a bucket) needs no hashing and wastes no room. One renaming
covers all rounds at once: hole cards and board keep their relation. :mod:`.suit_history` states the
mathematics.

Rounds decide what is remembered. `(2, 3, 1, 1)` keeps the order in which flop, turn and river came;
`(2, 5)` sees the board as a set, which merges deals that a player with perfect recall tells apart.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.card import DECK_SIZE, card_text, check_distinct
from equipoise.cards.suit_history import (
    ClassTables,
    deal_rows,
    index_rows,
    multiplicity_rows,
)
from equipoise.errors import CardError
from equipoise.kernel import over_chunks

#: Hold'em as it is dealt: hole cards, flop, turn, river.
DEALS = (2, 3, 1, 1)


@lru_cache(maxsize=32)
def _tables(rounds: tuple[int, ...]) -> ClassTables:
    return ClassTables(rounds)


class HandIndexer:
    """A perfect index of deals up to suit isomorphism, round by round.

    Cards of a deal stand in the order of the rounds; inside a round their order is free.

    >>> from equipoise.cards.card import cards_text, parse_cards
    >>> hole_cards = HandIndexer((2,))
    >>> hole_cards.size(0)
    169
    >>> hole_cards.index(parse_cards("AsKs")) == hole_cards.index(parse_cards("KdAd"))
    True
    >>> suited = hole_cards.index(parse_cards("AsKs"))
    >>> cards_text(hole_cards.unindex(0, suited)), hole_cards.multiplicity(0, suited)
    ('KsAs', 4)
    """

    def __init__(self, rounds: Sequence[int]) -> None:
        self.rounds = tuple(_whole(rounds))
        if not self.rounds or min(self.rounds) < 1 or sum(self.rounds) > DECK_SIZE:
            raise CardError(
                f"rounds {self.rounds}: each deals at least one card, all together at most 52"
            )
        self._round_of = {sum(self.rounds[: r + 1]): r for r in range(len(self.rounds))}

    def __repr__(self) -> str:
        return f"HandIndexer({self.rounds})"

    def size(self, round: int) -> int:
        """Number of classes of deals up to and including `round`, counted from 0."""
        return self._tables(round).size

    def index(self, cards: Sequence[int]) -> int:
        """Index of the class of a deal; the number of cards tells the round.

        >>> flops().index((0, 1, 2)) == flops().index((3, 2, 1))
        True
        """
        deal = _whole(cards)
        self._round_dealing(len(deal))
        _check_deal(deal)
        return int(self.index_many(np.array([deal], dtype=np.uint8), threads=1)[0])

    def unindex(self, round: int, index: int) -> tuple[int, ...]:
        """A deal of class `index`: always the same one, each round in ascending order.

        The earlier rounds of it need not be the deal that stands for their own class.
        """
        deal = self.unindex_many(round, self._one_index(round, index), threads=1)[0]
        return tuple(deal.tolist())

    def multiplicity(self, round: int, index: int) -> int:
        """Number of deals in class `index`, each round taken as a set of cards."""
        return int(self.multiplicity_many(round, self._one_index(round, index), threads=1)[0])

    def canonical(self, cards: Sequence[int]) -> tuple[int, ...]:
        """The deal that stands for the class of `cards`.

        >>> flops().canonical((51, 47, 2)) == flops().canonical((0, 46, 50))
        True
        """
        return self.unindex(self._round_dealing(len(cards)), self.index(cards))

    def index_many(self, cards: ArrayLike, threads: int | None = None) -> NDArray[np.int64]:
        """Index each row of `cards`: integers 0–51, shape (deals, cards dealt)."""
        deals = np.asarray(cards)
        if deals.ndim != 2 or deals.dtype.kind not in "ui":
            raise CardError(
                f"deals are a two-dimensional array of integers, not {deals.ndim}-dimensional "
                f"of {deals.dtype}"
            )
        tables = self._tables(self._round_dealing(deals.shape[1]))
        if deals.dtype != np.uint8:
            _raise_for_row(deals, np.flatnonzero(((deals < 0) | (deals >= DECK_SIZE)).any(axis=1)))
        flat = np.ascontiguousarray(deals, dtype=np.uint8).reshape(-1)
        out = np.empty(len(deals), dtype=np.int64)
        impossible: list[int] = []

        def work(start: int, stop: int) -> None:
            width = np.uint64(deals.shape[1])
            reached = index_rows(flat, width, start, stop, tables.indexing, out)
            if reached < stop:
                impossible.append(int(reached))

        over_chunks(work, len(deals), threads)
        _raise_for_row(deals, np.sort(impossible))
        return out

    def unindex_many(
        self, round: int, indices: ArrayLike, threads: int | None = None
    ) -> NDArray[np.uint8]:
        """A deal of each class: uint8[indices, cards dealt], rows as :meth:`unindex` gives them."""
        tables, wanted = self._tables(round), self._checked(round, indices)
        out = np.empty((len(wanted), int(tables.ends[-1])), dtype=np.uint8)

        def work(start: int, stop: int) -> None:
            deal_rows(wanted, start, stop, tables.dealing, out)

        over_chunks(work, len(wanted), threads)
        return out

    def multiplicity_many(
        self, round: int, indices: ArrayLike, threads: int | None = None
    ) -> NDArray[np.int64]:
        """Number of deals in each class.

        >>> int(river_boards().multiplicity_many(0, np.arange(134_459)).sum())
        2598960
        """
        tables, wanted = self._tables(round), self._checked(round, indices)
        out = np.empty(len(wanted), dtype=np.int64)

        def work(start: int, stop: int) -> None:
            multiplicity_rows(wanted, start, stop, tables.dealing, out)

        over_chunks(work, len(wanted), threads)
        return out

    def _tables(self, round: int) -> ClassTables:
        (round,) = _whole([round])
        if not 0 <= round < len(self.rounds):
            raise CardError(
                f"no round {round}: {self.rounds} has rounds 0 to {len(self.rounds) - 1}"
            )
        return _tables(self.rounds[: round + 1])

    def _round_dealing(self, cards: int) -> int:
        if cards not in self._round_of:
            counts = ", ".join(map(str, self._round_of))
            raise CardError(f"{cards} cards: rounds {self.rounds} end at {counts} cards")
        return self._round_of[cards]

    def _one_index(self, round: int, index: int) -> NDArray[np.int64]:
        (index,), size = _whole([index]), self.size(round)
        if not 0 <= index < size:
            raise CardError(f"index {index}: round {round} has indices 0 to {size - 1}")
        return np.array([index], dtype=np.int64)

    def _checked(self, round: int, indices: ArrayLike) -> NDArray[np.int64]:
        """The indices as int64[n], refused if one is no index of the round."""
        wanted, size = np.asarray(indices), self.size(round)
        if wanted.size == 0:
            wanted = wanted.astype(np.int64)
        if wanted.ndim != 1 or wanted.dtype.kind not in "ui":
            raise CardError(
                f"indices are a one-dimensional array of integers, not {wanted.ndim}-dimensional "
                f"of {wanted.dtype}"
            )
        wrong = np.flatnonzero((wanted < 0) | (wanted >= size))
        if len(wrong):
            row = int(wrong[0])
            raise CardError(
                f"row {row}: index {wanted[row]}: round {round} has indices 0 to {size - 1}"
            )
        return np.ascontiguousarray(wanted, dtype=np.int64)


def _whole(numbers: Iterable[int]) -> list[int]:
    """The numbers as integers; 51.0 is refused rather than rounded."""
    given = list(numbers)
    try:
        return [operator.index(number) for number in given]
    except TypeError:
        raise CardError(f"{given}: cards, rounds and indices are whole numbers") from None


def _check_deal(deal: list[int]) -> None:
    """Raise unless the cards exist and are distinct."""
    for card in deal:
        card_text(card)
    check_distinct(deal)


def _raise_for_row(deals: NDArray[np.integer], impossible: NDArray[np.integer]) -> None:
    """Raise for the first of the impossible rows, if there is one, saying what is wrong with it."""
    if len(impossible):
        row = int(impossible[0])
        try:
            _check_deal(deals[row].tolist())
        except CardError as error:
            raise CardError(f"row {row}: {error}") from None


@lru_cache(maxsize=1)
def deals() -> HandIndexer:
    """Hole cards, flop, turn and river in the order dealt, for games of perfect recall.

    >>> [deals().size(round) for round in range(4)]
    [169, 1286792, 55190538, 2428287420]
    """
    return HandIndexer(DEALS)


@lru_cache(maxsize=1)
def turn_hands() -> HandIndexer:
    """Hole cards, then the four board cards as a set.

    >>> turn_hands().size(1)
    13960050
    """
    return HandIndexer((2, 4))


@lru_cache(maxsize=1)
def river_hands() -> HandIndexer:
    """Hole cards, then the five board cards as a set.

    >>> river_hands().size(1)
    123156254
    """
    return HandIndexer((2, 5))


@lru_cache(maxsize=1)
def flops() -> HandIndexer:
    """Flops without hole cards.

    >>> flops().size(0)
    1755
    """
    return HandIndexer((3,))


@lru_cache(maxsize=1)
def turn_boards() -> HandIndexer:
    """Boards of four cards as a set.

    >>> turn_boards().size(0)
    16432
    """
    return HandIndexer((4,))


@lru_cache(maxsize=1)
def river_boards() -> HandIndexer:
    """Boards of five cards as a set.

    >>> river_boards().size(0)
    134459
    """
    return HandIndexer((5,))


@lru_cache(maxsize=1)
def dealt_boards() -> HandIndexer:
    """Flop, turn and river in the order dealt, without hole cards.

    >>> [dealt_boards().size(round) for round in range(3)]
    [1755, 63193, 2554656]
    """
    return HandIndexer((3, 1, 1))

"""Strength of five, six or seven cards, as one of the 7,462 classes of five-card hands.

A hand's value is the place of its best five cards among all classes, from 1 (7-5-4-3-2) to 7462
(a royal flush): higher wins, equal splits, and the numbers mean the same for any number of cards.

**Without a flush** only the multiset of ranks matters. Every card adds a *key* that depends on its
rank, and the keys are such that no two multisets of seven ranks, at most four of each, have the
same sum: the sum names the hand. The same then holds for five and six cards, since two equal sums
of fewer cards would stay equal after adding the same cards to both. Sums of different sizes may
meet, so a hand of six or five cards starts from a key in a region of its own. The 73,775 sums lie
scattered over 25 million numbers; *row displacement* packs them: cut the numbers into rows of
1,024, slide every row along one array to a place where its entries fall on free cells, and remember
the shift of each row. A look-up is then two small reads, and the array fits the second-level cache.

**With a flush** the suit's ranks decide: with five of seven cards in one suit there are at least
five distinct ranks, so no full house or four of a kind can beat it. A counter for each suit lives
in the lowest bits of the key and starts at 3, so that its fourth bit is set from five cards on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE, card_text, cards_text, check_distinct, parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.errors import CardError
from equipoise.kernel import kernel, over_chunks, popcount

CLASS_VALUES = 7462

#: Categories of hands by number, as :mod:`equipoise.cards.handnames` names them.
STRAIGHT, FLUSH, STRAIGHT_FLUSH = 4, 5, 8
#: Category of the rank counts of five cards that are neither straight nor flush.
_CATEGORY_OF_COUNTS = {
    (1, 1, 1, 1, 1): 0,
    (2, 1, 1, 1): 1,
    (2, 2, 1): 2,
    (3, 1, 1): 3,
    (3, 2): 6,
    (4, 1): 7,
}
_WHEEL = (12, 3, 2, 1, 0)

#: Keys of the ranks from deuce to ace: sums of seven, at most four alike, are all different.
RANK_KEYS = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)
#: Four aces and three kings sum to 7,825,759: a region of 2**23 holds the sums of one hand size.
_REGION_BITS = 23
_ROW_BITS = 10
#: A key's lowest 16 bits count suits, four bits each; the rank sum is above them.
_SUIT_BITS = 16
_RANK_SHIFT = np.uint64(_SUIT_BITS)
_ROW_SHIFT = np.uint64(_SUIT_BITS + _ROW_BITS)
_COLUMN_MASK = np.uint64((1 << _ROW_BITS) - 1)
_FLUSH_BITS = np.uint64(0x8888)
_SUIT_RANKS = np.uint64(0x1FFF)
#: Row after those of the three hand sizes: its columns are the sets of ranks in the flush's suit.
_FLUSH_ROW = np.uint64(3 << (_REGION_BITS - _ROW_BITS))
#: Suit counters of no cards yet, and where the region stands in a key.
_NO_SUITS = 0x3333
_REGION_SHIFT = _REGION_BITS + _SUIT_BITS


def start_key(size: int) -> int:
    """Key of no cards yet, for a hand that will have `size` cards: suit counters at 3, region."""
    return _NO_SUITS + ((7 - size) << _REGION_SHIFT)


def _card_codes() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Key and bit of each byte; bytes that are no card have no bit, which the kernels notice."""
    keys, bits = np.zeros(256, dtype=np.uint64), np.zeros(256, dtype=np.uint64)
    for card in range(DECK_SIZE):
        rank, suit = divmod(card, 4)
        keys[card] = (RANK_KEYS[rank] << _SUIT_BITS) + (1 << 4 * suit)
        bits[card] = 1 << (16 * suit + rank)
    return keys, bits


#: What each card adds to a hand's key and to its bits (16 bits a suit): uint64[256] each.
CARD_KEY, CARD_BIT = _card_codes()
#: The same for the two cards of each combination: uint64[1326] each.
COMBO_KEY: NDArray[np.uint64] = CARD_KEY[COMBO_CARDS].sum(axis=1, dtype=np.uint64)
COMBO_BIT: NDArray[np.uint64] = CARD_BIT[COMBO_CARDS].sum(axis=1, dtype=np.uint64)


class Tables(NamedTuple):
    """Values of all hands: `values[rows[row] + column]` for the row and column of :func:`place`."""

    values: NDArray[np.uint16]
    rows: NDArray[np.uint32]


class HandClass(NamedTuple):
    """One of the 7,462 classes: category, then the ranks that decide, most important first."""

    category: int
    ranks: tuple[int, ...]


def _classify(ranks: tuple[int, ...], suited: bool) -> HandClass:
    """Class of five ranks; sorting classes sorts hands."""
    counts = {rank: ranks.count(rank) for rank in ranks}
    order = tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))
    if len(order) == 5 and (order[0] - order[4] == 4 or order == _WHEEL):
        top = 3 if order == _WHEEL else order[0]
        return HandClass(STRAIGHT_FLUSH if suited else STRAIGHT, (top,))
    if suited:
        return HandClass(FLUSH, order)
    shape = tuple(sorted(counts.values(), reverse=True))
    return HandClass(_CATEGORY_OF_COUNTS[shape], order)


def _rank_multisets(size: int) -> NDArray[np.int64]:
    """Every multiset of `size` ranks with at most four of each: int64[n, size], rows ascending."""
    rows = np.array(list(combinations_with_replacement(range(13), size)), dtype=np.int64)
    legal: NDArray[np.int64] = rows[(rows[:, 4:] != rows[:, :-4]).all(axis=1)]
    return legal


@cache
def hand_classes() -> tuple[HandClass, ...]:
    """All classes from weakest to strongest; the class of value `v` is at `v - 1`.

    >>> len(hand_classes()), hand_classes()[-1]
    (7462, HandClass(category=8, ranks=(12,)))
    """
    plain = (_classify(tuple(ranks), False) for ranks in _rank_multisets(5).tolist())
    suited = (_classify(ranks, True) for ranks in combinations(range(13), 5))
    return tuple(sorted({*plain, *suited}))


@kernel
def _pack_rows(
    keys: NDArray[np.int64],
    values: NDArray[np.uint16],
    bounds: NDArray[np.int64],
    order: NDArray[np.int64],
    packed: NDArray[np.uint16],
    rows: NDArray[np.uint32],
) -> int:
    """Slide each row of sorted `keys`, in the order given, to free columns; the length used."""
    column_mask = (1 << _ROW_BITS) - 1
    used = 0
    shift, length = 0, 0
    for row in order:
        start, stop = bounds[row], bounds[row + 1]
        # Where a row found no room, the next of its length hardly will: go on from there.
        shift = shift - 1 if stop - start == length else -1
        length = stop - start
        free = False
        while not free:
            shift += 1
            free = True
            for i in range(start, stop):
                if packed[shift + (keys[i] & column_mask)]:
                    free = False
                    break
        rows[row] = shift
        for i in range(start, stop):
            cell = shift + (keys[i] & column_mask)
            packed[cell] = values[i]
            used = max(used, cell + 1)
    return used


#: The tables as shipped: what :func:`build_tables` makes, ready at once.
DATA_FILE = Path(__file__).parent / "data" / "evaluator.npz"


@cache
def tables() -> Tables:
    """The look-up tables, read from the package, or built anew if they are not there."""
    try:
        with np.load(DATA_FILE, allow_pickle=False) as stored:
            loaded = Tables(stored["values"], stored["rows"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return build_tables()
    return loaded if len(loaded.rows) == int(_FLUSH_ROW) + 1 else build_tables()


def build_tables() -> Tables:
    """Make the look-up tables from the rules of poker, in about half a second."""
    value_of = {hand_class: i + 1 for i, hand_class in enumerate(hand_classes())}

    flushes = np.zeros(1 << 13, dtype=np.uint16)
    for size in (5, 6, 7):
        for ranks in combinations(range(13), size):
            mask = sum(1 << rank for rank in ranks)
            flushes[mask] = (
                value_of[_classify(ranks, True)]
                if size == 5
                else max(flushes[mask - (1 << rank)] for rank in ranks)
            )

    rank_keys = np.array(RANK_KEYS, dtype=np.int64)
    multisets = _rank_multisets(5)
    keys = rank_keys[multisets].sum(axis=1)
    values = np.array([value_of[_classify(tuple(r), False)] for r in multisets.tolist()], np.uint16)
    by_size = {5: (keys, values)}
    for size in (6, 7):
        fewer_keys, fewer_values = by_size[size - 1]
        order = np.argsort(fewer_keys)
        multisets = _rank_multisets(size)
        keys = rank_keys[multisets].sum(axis=1)
        without_one = keys[:, None] - rank_keys[multisets]
        found = order[np.searchsorted(fewer_keys, without_one, sorter=order)]
        by_size[size] = (keys, fewer_values[found].max(axis=1))

    region = {size: (7 - size) << _REGION_BITS for size in by_size}
    keys = np.concatenate([by_size[size][0] + region[size] for size in by_size])
    values = np.concatenate([by_size[size][1] for size in by_size])
    sort = np.argsort(keys)
    keys, values = keys[sort], values[sort]
    row_count = int(keys[-1] >> _ROW_BITS) + 1
    bounds = np.searchsorted(keys >> _ROW_BITS, np.arange(row_count + 1)).astype(np.int64)
    lengths = np.diff(bounds)
    # Seven cards first: their part of the array stays as compact as if it were alone.
    region_of_row = np.arange(row_count) >> (_REGION_BITS - _ROW_BITS)
    order = np.lexsort((-lengths, region_of_row)).astype(np.int64)
    packed = np.zeros(4 * len(keys), dtype=np.uint16)
    rows = np.zeros(int(_FLUSH_ROW) + 1, dtype=np.uint32)
    used = _pack_rows(keys, values, bounds, order[lengths[order] > 0], packed, rows)
    rows[_FLUSH_ROW] = used
    return Tables(np.concatenate([packed[:used], flushes]), rows)


@kernel
def place(key: np.uint64, bits: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Row and column of a hand in the tables, from the sums of its cards' keys and bits.

    The key starts from :func:`start_key`. The hand's value is `values[rows[row] + column]`, which a
    kernel reads itself: handing arrays to a function in a hot loop would cost more than the rest.
    """
    suited = key & _FLUSH_BITS
    if suited:
        shift = np.uint64(0)
        if suited & np.uint64(0x0080):
            shift = np.uint64(16)
        elif suited & np.uint64(0x0800):
            shift = np.uint64(32)
        elif suited & np.uint64(0x8000):
            shift = np.uint64(48)
        return _FLUSH_ROW, (bits >> shift) & _SUIT_RANKS
    return key >> _ROW_SHIFT, (key >> _RANK_SHIFT) & _COLUMN_MASK


@kernel
def _evaluate_rows(
    cards: NDArray[np.uint8],
    columns: tuple[int, ...],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    out: NDArray[np.uint16],
) -> int:
    """Value of each row of cards, 0 where they are not distinct cards; how many such rows.

    The length of the tuple `columns` is known to the compiler, which unrolls the loop over cards.
    """
    size = np.uint64(len(columns))
    bad = 0
    for i in range(np.uint64(cards.shape[0])):
        key, bits = start, np.uint64(0)
        for j in range(len(columns)):
            card = cards[i, j]
            key += CARD_KEY[card]
            bits += CARD_BIT[card]
        # A sum of single bits has as many bits set as terms only if all the terms differ.
        if popcount(bits) != size:
            out[i] = 0
            bad += 1
            continue
        row, column = place(key, bits)
        out[i] = values[rows[row] + column]
    return bad


@kernel
def sum_board(board: NDArray[np.uint8]) -> tuple[np.uint64, np.uint64]:
    """Key and bits of a board, for hands that have two cards more."""
    missing = np.uint64(5) - np.uint64(board.shape[0])
    key, bits = np.uint64(_NO_SUITS) + (missing << np.uint64(_REGION_SHIFT)), np.uint64(0)
    for j in range(board.shape[0]):
        key += CARD_KEY[board[j]]
        bits += CARD_BIT[board[j]]
    return key, bits


@kernel
def fill_strengths(board: NDArray[np.uint8], tables: Tables, out: NDArray[np.uint16]) -> None:
    """Value of every combination with a board, 0 where they share a card: into `out`[1326]."""
    values, rows = tables.values, tables.rows
    key, bits = sum_board(board)
    for combo in range(np.uint64(COMBO_COUNT)):
        if COMBO_BIT[combo] & bits:
            out[combo] = 0
            continue
        row, column = place(key + COMBO_KEY[combo], bits + COMBO_BIT[combo])
        out[combo] = values[rows[row] + column]


@kernel
def sort_by_strength(
    strengths: NDArray[np.uint16], half_sorted: NDArray[np.uint16], order: NDArray[np.uint16]
) -> int:
    """Combinations with a strength above 0, weakest first, into `order`; how many there are.

    Values need 13 bits: one counting sort by the lower six, then one by the upper seven.
    """
    low_mask, high_shift = np.uint64(63), np.uint64(6)
    low, high = np.zeros(65, np.uint32), np.zeros(129, np.uint32)
    for combo in range(np.uint64(COMBO_COUNT)):
        value = np.uint64(strengths[combo])
        if value:
            low[(value & low_mask) + np.uint64(1)] += np.uint32(1)
            high[(value >> high_shift) + np.uint64(1)] += np.uint32(1)
    for i in range(64):
        low[i + 1] += low[i]
    for i in range(128):
        high[i + 1] += high[i]
    live = int(low[64])
    for combo in range(np.uint64(COMBO_COUNT)):
        value = np.uint64(strengths[combo])
        if value:
            digit = value & low_mask
            half_sorted[low[digit]] = combo
            low[digit] += np.uint32(1)
    for i in range(live):
        weaker = half_sorted[i]
        digit = np.uint64(strengths[weaker]) >> high_shift
        order[high[digit]] = weaker
        high[digit] += np.uint32(1)
    return live


@kernel
def room_for_hands() -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
    """Strengths, scratch and order of all combinations, for :func:`order_hands` to fill."""
    strengths = np.empty(COMBO_COUNT, np.uint16)
    return strengths, np.empty(COMBO_COUNT, np.uint16), np.empty(COMBO_COUNT, np.uint16)


@kernel
def order_hands(
    board: NDArray[np.uint8],
    tables: Tables,
    strengths: NDArray[np.uint16],
    half_sorted: NDArray[np.uint16],
    order: NDArray[np.uint16],
) -> int:
    """Strengths of all combinations on a board, and its live ones from the weakest; how many."""
    fill_strengths(board, tables, strengths)
    return sort_by_strength(strengths, half_sorted, order)


def evaluate(cards: str | Iterable[int]) -> int:
    """Value of five, six or seven cards, 1 to 7462; the higher hand wins, equal values split.

    >>> evaluate("As Ks Qs Js Ts"), evaluate("7c 5d 4h 3s 2c")
    (7462, 1)
    >>> evaluate("As Ad Kc Kh Ks 2c 3d") == evaluate("Ac Ah Kd Kh Ks")
    True
    """
    hand = parse_cards(cards) if isinstance(cards, str) else tuple(int(card) for card in cards)
    text = cards_text(hand)
    if len(hand) not in (5, 6, 7):
        raise CardError(f"{text!r}: {len(hand)} cards; a hand is valued with 5, 6 or 7")
    check_distinct(hand)
    return int(evaluate_many(np.array([hand], dtype=np.uint8), threads=1)[0])


def evaluate_many(cards: NDArray[np.uint8], threads: int | None = None) -> NDArray[np.uint16]:
    """Values of many hands, one a row of five, six or seven cards, on all cores.

    >>> evaluate_many(np.array([[51, 47, 43, 39, 35], [50, 49, 48, 51, 0]], dtype=np.uint8))
    array([7462, 7441], dtype=uint16)
    """
    cards = np.asarray(cards)
    if cards.ndim != 2 or cards.shape[1] not in (5, 6, 7):
        shape = " × ".join(str(n) for n in cards.shape)
        raise CardError(f"an array of {shape} cards; hands are rows of 5, 6 or 7 cards")
    if cards.dtype != np.uint8:
        if not np.issubdtype(cards.dtype, np.integer):
            raise CardError(f"cards of type {cards.dtype}; a card is a number from 0 to 51")
        if cards.size and not 0 <= cards.min() <= cards.max() < DECK_SIZE:
            row = int(np.argmax(((cards < 0) | (cards >= DECK_SIZE)).any(axis=1)))
            raise CardError(f"row {row}: a card is a number from 0 to 51")
    hands = np.ascontiguousarray(cards, dtype=np.uint8)
    count, size = hands.shape
    values, rows = tables()
    columns, start = tuple(range(size)), np.uint64(start_key(size))
    out = np.empty(count, dtype=np.uint16)

    bad: list[int] = []

    def work(first: int, last: int) -> None:
        part = hands[first:last]
        bad.append(_evaluate_rows(part, columns, start, values, rows, out[first:last]))

    # Starting threads costs as much as some fifty thousand hands.
    over_chunks(work, count, threads if count > 50_000 else 1)
    if any(bad):
        row = int(np.argmin(out))
        hand = [int(card) for card in hands[row]]
        if max(hand) >= DECK_SIZE:
            raise CardError(f"row {row}: {max(hand)}: a card is a number from 0 to 51")
        twice = next(card for card in hand if hand.count(card) > 1)
        raise CardError(f"row {row}: {cards_text(hand)!r}: {card_text(twice)} appears twice")
    return out


def board_code(board: Iterable[int], size: int) -> tuple[np.uint64, np.uint64]:
    """Key and bits of a board, for hands that will have `size` cards with it."""
    cards = list(board)
    key = start_key(size) + sum(int(CARD_KEY[card]) for card in cards)
    return np.uint64(key), np.uint64(sum(int(CARD_BIT[card]) for card in cards))


def strengths(board: str | Iterable[int]) -> NDArray[np.uint16]:
    """Value of each of the 1,326 combinations with a board of three to five cards, 0 if blocked.

    >>> values = strengths("As Ks Qs Js Ts")
    >>> int((values == 0).sum()), int(values[values > 0].min())
    (245, 7462)
    """
    cards = parse_cards(board) if isinstance(board, str) else tuple(int(card) for card in board)
    text = cards_text(cards)
    if len(cards) not in (3, 4, 5):
        raise CardError(f"{text!r}: {len(cards)} cards; a board here has 3, 4 or 5")
    check_distinct(cards)
    out = np.empty(COMBO_COUNT, dtype=np.uint16)
    fill_strengths(np.array(cards, dtype=np.uint8), tables(), out)
    return out

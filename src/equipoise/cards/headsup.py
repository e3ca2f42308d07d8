"""All-in equity before the flop, hand against hand: every two combinations, exactly.

Where :mod:`equipoise.cards.preflop` averages over the suits of two classes, this table keeps them:
for combinations x and y that share no card, the *margin* is the share of the 1,712,304 boards that x
wins, less the share that y wins. A renaming of suits changes no margin, so the file that is shipped
holds the rows of one combination of each class, and the others are found by renaming.

:func:`rebuild` counts them anew. Of the boards that renamings of suits make from one another one is
enough: with weight |orbit| / 24 and the pair renamed in all 24 ways it stands for all of them. On
one board a pair is decided by the sign of the difference of two strengths, which whole vectors of
hands take at once. A hand that the board blocks has strength 0 and seems to lose to every hand that
is dealt; the boards that block y but not x are as many for every pair, and are taken off at the end.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, COMBO_CARDS, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.evaluator import CARD_BIT, CARD_KEY, fill_strengths, start_key, tables
from equipoise.cards.isomorphism import river_boards
from equipoise.cards.matchup import suit_exchange
from equipoise.cards.preflop import BOARDS_PER_PAIR
from equipoise.errors import ArtefactError
from equipoise.files import written
from equipoise.kernel import kernel, over_chunks

#: Where the shipped counts are.
DATA_FILE = Path(__file__).parent / "data" / "headsup.npz"

#: Boards that are compared while their strengths stay near, and sums of whose weights fit 16 bits.
_TILE = 64
_RENAMINGS = tuple(permutations(range(4)))


@kernel
def _compare(
    boards: NDArray[np.uint8],
    weights: NDArray[np.int16],
    start: np.uint64,
    values: NDArray[np.uint16],
    rows: NDArray[np.uint32],
    net: NDArray[np.int32],
) -> None:
    """Add to `net`[x, y] the weight of the boards x wins less those it loses."""
    strengths = np.empty((_TILE, COMBO_COUNT), np.uint16)
    signed = np.empty((_TILE, COMBO_COUNT), np.int16)
    part = np.empty(COMBO_COUNT, np.int16)
    for first in range(0, boards.shape[0], _TILE):
        count = min(_TILE, boards.shape[0] - first)
        for n in range(count):
            key, bits = start, np.uint64(0)
            for j in range(5):
                key += CARD_KEY[boards[first + n, j]]
                bits += CARD_BIT[boards[first + n, j]]
            fill_strengths(key, bits, values, rows, strengths[n])
            for hand in range(COMBO_COUNT):
                signed[n, hand] = strengths[n, hand]
        for mine in range(COMBO_COUNT):
            part[:] = 0
            for n in range(count):
                strength = signed[n, mine]
                if strength:
                    weight = weights[first + n]
                    for other in range(COMBO_COUNT):
                        gap = np.int16(strength - signed[n, other])
                        part[other] += weight * max(min(gap, np.int16(1)), np.int16(-1))
            for other in range(COMBO_COUNT):
                net[mine, other] += part[other]


@cache
def _apart() -> NDArray[np.bool_]:
    """Which combinations share no card: bool[1326, 1326]."""
    holds = np.zeros((COMBO_COUNT, 52), dtype=np.int32)
    holds[np.arange(COMBO_COUNT)[:, None], COMBO_CARDS] = 1
    apart: NDArray[np.bool_] = holds @ holds.T == 0
    return apart


@cache
def _representatives() -> NDArray[np.int64]:
    """The first combination of each class: int64[169]."""
    _, firsts = np.unique(COMBO_CLASS, return_index=True)
    return firsts


def rebuild(threads: int | None = None) -> NDArray[np.int32]:
    """Count anew how many boards each class's first combination wins net: int32[169, 1326]."""
    indexer = river_boards()
    every = np.arange(indexer.size(0))
    boards = indexer.unindex_many(0, every)
    weights = indexer.multiplicity_many(0, every).astype(np.int16)
    values, rows = tables()
    counted: list[NDArray[np.int32]] = []

    def work(first: int, last: int) -> None:
        net = np.zeros((COMBO_COUNT, COMBO_COUNT), dtype=np.int32)
        part = slice(first, last)
        _compare(boards[part], weights[part], np.uint64(start_key(7)), values, rows, net)
        counted.append(net)

    over_chunks(work, len(boards), threads)
    net: NDArray[np.int64] = np.stack(counted).sum(axis=0, dtype=np.int64)
    firsts = _representatives()
    total = np.zeros((CLASS_COUNT, COMBO_COUNT), dtype=np.int64)
    for suits in _RENAMINGS:
        new = suit_exchange(suits)
        total += net[new[firsts][:, None], new[None, :]]
    # Boards on which x is dealt and y is blocked, and seems to lose.
    seeming = comb(50, 5) - BOARDS_PER_PAIR
    return np.where(_apart()[firsts], total // len(_RENAMINGS) - seeming, 0).astype(np.int32)


def save(net: NDArray[np.int32], path: Path = DATA_FILE) -> None:
    """Write what :func:`rebuild` counted."""
    with written(path) as file:
        np.savez_compressed(file, net=net)


def load(path: Path = DATA_FILE) -> NDArray[np.int32]:
    """Read what :func:`save` wrote."""
    advice = "restore it from the package, or make it anew with equipoise.cards.headsup.rebuild()"
    try:
        with np.load(path, allow_pickle=False) as file:
            net: NDArray[np.int32] = file["net"]
    except Exception as error:
        # What is said of a damaged file is up to NumPy, zipfile, zlib and the tokenizer of Python.
        raise ArtefactError(f"{path}: no table of matchups can be read there; {advice}") from error
    if net.shape != (CLASS_COUNT, COMBO_COUNT) or net.dtype != np.int32:
        raise ArtefactError(f"{path}: not a table of 169 × 1326 counts; {advice}")
    return net


@cache
def margins() -> NDArray[np.float64]:
    """Share of the boards that the row's hand wins from the column's, less what it loses.

    float64[1326, 1326], 0 where the two share a card.

    >>> from equipoise.cards.combos import parse_combo
    >>> aces, kings = parse_combo("AsAh"), parse_combo("KcKd")
    >>> round(float(margins()[aces, kings] + 1) / 2, 6)
    0.812555
    """
    net = load()
    firsts = _representatives()
    table = np.empty((COMBO_COUNT, COMBO_COUNT))
    for suits in _RENAMINGS:
        new = suit_exchange(suits)
        # Every combination is a renaming of its class's first, in several ways that agree.
        table[new[firsts][:, None], new[None, :]] = net
    table /= BOARDS_PER_PAIR
    table.setflags(write=False)
    return table

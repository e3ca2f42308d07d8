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
from equipoise.cards.evaluator import tables
from equipoise.cards.isomorphism import river_boards
from equipoise.cards.kernels import compare_boards
from equipoise.cards.matchup import suit_exchange
from equipoise.cards.preflop import BOARDS_PER_PAIR
from equipoise.errors import ArtefactError
from equipoise.files import written
from equipoise.kernel import over_chunks

#: Where the shipped counts are.
DATA_FILE = Path(__file__).parent / "data" / "headsup.npz"

_RENAMINGS = tuple(permutations(range(4)))


@cache
def apart() -> NDArray[np.bool_]:
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
    counted: list[NDArray[np.int32]] = []

    def work(first: int, last: int) -> None:
        net = np.zeros((COMBO_COUNT, COMBO_COUNT), dtype=np.int32)
        part = slice(first, last)
        compare_boards(boards[part], weights[part], tables(), net)
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
    return np.where(apart()[firsts], total // len(_RENAMINGS) - seeming, 0).astype(np.int32)


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

"""Real cards with small look-up tables."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import BOARD_CLASSES
from equipoise.abstraction.lookup import lookup
from equipoise.cards.combos import COMBO_CLASS
from equipoise.solve.sampling.deals import HoldemDeals


@pytest.fixture(scope="session")
def features():
    """Features of no meaning: any will do to compare two look-ups."""
    tables = [COMBO_CLASS.astype(np.uint16)]
    for size in (3, 4, 5):
        rows = np.arange(BOARD_CLASSES[size], dtype=np.uint16)[:, None]
        table = rows * np.uint16(13) + np.arange(1326, dtype=np.uint16) * np.uint16(7)
        table &= np.uint16(7)
        tables.append(table)
    return tables


@pytest.fixture(scope="session")
def deals(features):
    """Every hand before the flop; the flop remembers nothing, the turn the flop."""
    eight = np.arange(8, dtype=np.uint16)[None]
    remember = (np.arange(8)[:, None] * 4 + np.arange(8) // 2).astype(np.uint16)
    children = [np.arange(169, dtype=np.uint16)[None], eight, remember, eight // np.uint16(2)]
    return HoldemDeals(lookup(features, children))

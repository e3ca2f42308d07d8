"""Products of sparse vectors with tables in panels, against plain products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.solve.sweep import panels
from equipoise.solve.sweep.lanes import LANES
from equipoise.solve.sweep.matrices import Terminals, View
from equipoise.solve.sweep.panels import (
    PANEL,
    TOGETHER,
    Packed,
    multiply_packed,
    pack,
    panel_room,
    put_in_panels,
)
from equipoise.solve.sweep.rowindex import aligned


def product(reach, factors, table, add=None):
    """(reach · factor) · table for each vector, as a sweep does it; `add` is there already."""
    count, states = reach.shape
    width = table.shape[1]
    flat = aligned(panel_room(states, width), np.float32)
    put_in_panels(table, flat)
    step = -(-max(states, width) // LANES) * LANES
    field = aligned(2 * count * step, np.float32)
    for k in range(count):
        field[k * step : k * step + states] = reach[k]
    groups = -(-count // TOGETHER)
    numbers = aligned(groups * TOGETHER * states, np.float32)
    support, supported = np.zeros(groups * states, np.int32), np.zeros(groups, np.int64)
    tile = aligned(TOGETHER * PANEL + 1, np.float32)
    nodes = np.arange(count)
    given_factors = np.stack([np.zeros(count), factors]).astype(np.float32)
    terminals = Terminals(nodes, 0, count, given_factors)
    packed = Packed(numbers, support, supported)
    pack(field, nodes * step, terminals, 1, states, packed)
    target = count * step
    out = field[target:].reshape(count, step)
    if add is not None:
        out[:, :width] = add
    before = out[:, width:].copy()
    view = View(0, states, width)
    multiply_packed(flat, view, packed, count, field, target, step, add is not None, tile)
    # Nothing is written beside the sums.
    np.testing.assert_array_equal(out[:, width:], before)
    return out[:, :width].copy(), supported


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 11),
    states=st.integers(1, 130),
    blocks=st.integers(1, 14),
    share=st.sampled_from([0.0, 0.05, 0.4, 1.0]),
)
def test_against_a_plain_product(seed, count, states, blocks, share):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(states, blocks * LANES)).astype(np.float32)
    reach = (rng.random((count, states)) * (rng.random((count, states)) < share)).astype(np.float32)
    factors = rng.normal(size=count).astype(np.float32)
    slow = (reach.astype(np.float64) * factors[:, None]) @ table.astype(np.float64)
    found, _ = product(reach, factors, table)
    np.testing.assert_allclose(found, slow, atol=1e-4)
    there = rng.normal(size=slow.shape).astype(np.float32)
    found, _ = product(reach, factors, table, add=there)
    np.testing.assert_allclose(found, there + slow, atol=1e-4)


def test_only_states_that_somebody_reaches_are_listed():
    reach = np.zeros((6, 40), dtype=np.float32)
    reach[0, 3] = reach[2, 3] = reach[3, 39] = 1.0
    reach[5, 7] = 1e-30
    found, supported = product(reach, np.ones(6), np.eye(40, 48, dtype=np.float32))
    assert supported.tolist() == [2, 1]
    np.testing.assert_array_equal(found[:, :40], reach)


@pytest.mark.parametrize("name", ["_wide_tile", "_narrow_tile"])
def test_tiles_of_either_width(name):
    columns = {"_wide_tile": 6 * LANES, "_narrow_tile": LANES}[name]
    if name == "_wide_tile" and columns != PANEL:
        pytest.skip("this processor's panels are narrow")
    rng = np.random.default_rng(4)
    table, packed = (rng.random(n).astype(np.float32) for n in (9 * columns, 4 * 3))
    support = np.array([8, 0, 5], dtype=np.int32)
    tile = np.zeros(4 * columns + 1, dtype=np.float32)
    getattr(panels, name)(table, 0, packed, 0, support, 0, 3, tile, np.float32(0))
    slow = packed.reshape(3, 4).T @ table.reshape(9, columns)[support]
    np.testing.assert_allclose(tile[:-1].reshape(4, columns), slow, rtol=1e-6)

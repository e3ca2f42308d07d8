"""Sixteen lanes at a time agree with NumPy, in both precisions and for 16-bit storage."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from equipoise.kernel import prefetch
from equipoise.solve.sweep.lanes import (
    LANES,
    NOWHERE,
    across,
    gather,
    into_lanes,
    largest,
    load,
    out_of_lanes,
    splat,
    store,
    where_above,
)

# Compiled anew in every run: a cache would only watch this file, not the one under test.
PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def random(dtype: Any, size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size).astype(dtype)


@numba.njit
def arithmetic(x, y, number, out):
    for h in range(0, len(x), LANES):
        a, b = load(x, h), load(y, h)
        prefetch(out[0], h)
        store(out[0], h, a + b)
        store(out[1], h, a - b)
        store(out[2], h, a * b)
        store(out[3], h, a / b)
        store(out[4], h, largest(a, b))
        store(out[5], h, where_above(a, b, a * a, splat(number)))
        store(out[6], h, splat(number))
        out[7][h] = across(a)


@PRECISIONS
def test_arithmetic(dtype: Any) -> None:
    x, y, number = random(dtype, 48, 1), random(dtype, 48, 2), dtype(1.25)
    x[3] = y[3]
    x[7], y[9] = 0.0, -0.5
    out = tuple(np.zeros(48, dtype) for _ in range(8))
    arithmetic(x, y, number, out)
    expected = [x + y, x - y, x * y, x / y, np.maximum(x, y), np.where(x > y, x * x, number)]
    for found, right in zip(out, expected, strict=False):
        np.testing.assert_allclose(found, right, rtol=4 * np.finfo(dtype).eps)
    assert (out[6] == number).all()
    assert out[7][::LANES].tolist() == x.reshape(3, LANES).max(axis=1).tolist()


@numba.njit
def copied(source, source_at, target, target_at):
    store(target, target_at, load(source, source_at))


@PRECISIONS
@pytest.mark.parametrize(("source_at", "target_at"), [(0, 0), (5, 11), (16, 1)])
def test_load_and_store_anywhere(dtype: Any, source_at: int, target_at: int) -> None:
    source, target = random(dtype, 40), np.zeros(40, dtype)
    copied(source, source_at, target, target_at)
    expected = np.zeros(40, dtype)
    expected[target_at : target_at + LANES] = source[source_at : source_at + LANES]
    assert np.array_equal(target, expected)


@pytest.mark.parametrize("stored", [np.int16, np.uint16])
def test_whole_numbers_are_read_exactly(stored: Any) -> None:
    limits = np.iinfo(stored)
    drawn = np.random.default_rng(3).integers(limits.min, limits.max, 20, endpoint=True)
    source = drawn.astype(stored)
    source[2], source[3] = limits.min, limits.max
    target = np.zeros(20, np.float32)
    copied(source, 2, target, 0)
    assert np.array_equal(target[:LANES], source[2:18].astype(np.float32))
    assert not target[LANES:].any()


@pytest.mark.parametrize("stored", [np.int16, np.uint16])
def test_whole_numbers_are_stored_to_the_nearest(stored: Any) -> None:
    limits = np.iinfo(stored)
    source = np.random.default_rng(4).uniform(limits.min, limits.max, LANES).astype(np.float32)
    source[:6] = [0.49, 0.51, 1.5, 2.5, limits.min, limits.max]
    if stored == np.int16:
        source[6:10] = [-0.49, -0.51, -1.5, -2.5]
    target = np.zeros(20, stored)
    copied(source, 0, target, 3)
    assert np.array_equal(target[3:19], np.rint(source).astype(stored))
    assert not target[:3].any()
    assert not target[19:].any()


@numba.njit
def gathered(source, start, indices, at, target):
    store(target, 0, gather(source, start, indices, at))


@PRECISIONS
def test_gather(dtype: Any) -> None:
    source, target = random(dtype, 1000), np.zeros(LANES, dtype)
    indices = np.random.default_rng(5).integers(0, 900, 40).astype(np.uint16)
    indices[10:14] = indices[9]
    gathered(source, 100, indices, 7, target)
    assert np.array_equal(target, source[100 + indices[7:23].astype(int)])


@PRECISIONS
def test_gather_reads_nowhere_as_zero(dtype: Any) -> None:
    source, target = random(dtype, 70_000), np.ones(LANES, dtype)
    indices = np.full(LANES, NOWHERE, dtype=np.uint16)
    # The largest index that is somewhere is above what a signed 16-bit number holds.
    indices[[0, 5]] = NOWHERE - 1, 3
    gathered(source, 2, indices, 0, target)
    assert target[0] == source[2 + NOWHERE - 1]
    assert target[5] == source[5]
    assert not np.delete(target, [0, 5]).any()


@numba.njit
def turned(matrix, starts, lanes, back):
    for h in range(0, 32, LANES):
        into_lanes(matrix, starts, h, lanes)
    for h in range(0, 32, LANES):
        out_of_lanes(back, starts, h, lanes)


@PRECISIONS
def test_transposing_sixteen_rows(dtype: Any) -> None:
    rng = np.random.default_rng(6)
    matrix, back = random(dtype, LANES * 40), np.zeros(LANES * 40, dtype)
    starts = 40 * rng.permutation(LANES).astype(np.int64) + rng.integers(0, 8, LANES)
    lanes = np.zeros(32 * LANES, dtype)
    turned(matrix, starts, lanes, back)
    rows = np.array([matrix[s : s + 32] for s in starts])
    assert np.array_equal(lanes.reshape(32, LANES), rows.T)
    expected = np.zeros_like(back)
    for s in starts:
        expected[s : s + 32] = matrix[s : s + 32]
    assert np.array_equal(back, expected)

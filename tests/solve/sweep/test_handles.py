"""Tuples of arrays that kernels read through one address."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from equipoise.kernel import row_kernel
from equipoise.solve.sweep.handles import Handle

Inner = namedtuple("Inner", "rows factor")
Outer = namedtuple("Outer", "before table inner flags")


@row_kernel
def _weighed(outer, out):
    """`Σ over i, j of table[i, j] · rows[j] · factor` for each row, where the flag is up."""
    inner = outer.inner
    for i in range(outer.table.shape[0]):
        total = 0.0
        for j in range(outer.table.shape[1]):
            total += outer.table[i, j] * inner.rows[j] * inner.factor
        out[i] = total if outer.flags[i] == outer.before else 0.0


def test_members_are_read_through_the_address_as_from_the_tuple():
    rng = np.random.default_rng(3)
    outer = Outer(7, rng.random((3, 5)), Inner(rng.random(5), -2), np.array([7, 0, 7], np.int32))
    found = np.empty(3)
    _weighed(Handle(outer), found)
    wanted = outer.table @ outer.inner.rows * -2 * (outer.flags == 7)
    assert np.allclose(found, wanted)
    # The arrays are the caller's own: what he writes is seen through the same handle.
    handle = Handle(outer)
    outer.table[:] *= 3
    _weighed(handle, found)
    assert np.allclose(found, 3 * wanted)
    # A kernel that reads less is compiled for the same table with the rest left out.
    _weighed(handle.only(("before", "table", "inner", "flags")), found)
    assert np.allclose(found, 3 * wanted)


def test_equal_shapes_have_one_type_and_others_another():
    one, same = (Handle(Inner(np.zeros(n), 1)) for n in (3, 4))
    assert one.type is same.type
    assert one.type != Handle(Inner(np.zeros(3, np.float32), 1)).type
    assert "factor" not in one.only(("rows",)).type.members


def test_what_kernels_could_not_read_is_refused():
    with pytest.raises(ValueError, match="rows"):
        Handle(Inner(np.zeros((4, 4))[:, 1], 1))

"""Joint tables: what they must add up to, and that they are counted once and kept."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from equipoise import artefact
from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.abstraction.fullboards import random_boards
from equipoise.abstraction.lookup import lookup
from equipoise.abstraction.tables import joint as jointtables
from equipoise.abstraction.tables.joint import (
    JointTables,
    bucket_counts,
    bucket_parents,
    count_tables,
    joint_tables,
)
from equipoise.abstraction.tables.pairpoints import Points
from equipoise.errors import GameError
from equipoise.run import Event

TWO, THREE = EquityBuckets(2), EquityBuckets(3)


@pytest.fixture(scope="module")
def tables() -> JointTables:
    return count_tables(THREE.lookup(), boards=200, seed=3)


def test_masses_sum_to_one_and_results_to_nothing(tables: JointTables) -> None:
    assert [tables.states(street) for street in range(4)] == [3, 9, 27, 81]
    for mass, signed in zip(tables.mass, tables.signed, strict=True):
        assert mass.dtype == signed.dtype == np.float32
        assert mass.sum(dtype=np.float64) == pytest.approx(1, abs=1e-6)
        assert np.array_equal(mass, mass.T)
        assert np.array_equal(signed, -signed.T)
        assert (np.abs(signed) <= mass).all()


def test_streets_are_sums_of_children(tables: JointTables) -> None:
    for street in range(1, 4):
        parents = tables.parents[street]
        for below in (tables.mass, tables.signed):
            above = np.zeros(below[street - 1].shape)
            np.add.at(above, (parents[:, None], parents[None, :]), below[street])
            assert np.allclose(above, below[street - 1], atol=1e-7)


def test_hands_come_as_often_as_equities_say(tables: JointTables) -> None:
    # Quantiles are equally likely; a board's hands stand or fall together, hence the tolerance.
    assert tables.mass[0].sum(axis=1) == pytest.approx(THREE.masses(0), abs=0.01)
    latest = tables.mass[3].sum(axis=1).reshape(27, 3).sum(axis=0)
    assert latest == pytest.approx(THREE.masses(3), abs=0.05)
    # Better buckets win.
    ahead = tables.signed[0].sum(axis=1)
    assert ahead[0] < 0 < ahead[2]


def test_children_in_any_order() -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(100, size=(6, 6))
    parents = [np.array([1, 0, 1]), np.array([2, 0, 1, 0, 2, 2])]
    found = JointTables.from_points(points, parents, (0, 1, 1))
    for street, (below, above) in enumerate(pairwise(reversed(found.mass))):
        came = parents[1 - street]
        summed = np.array(
            [[below[np.ix_(came == i, came == j)].sum() for j in range(len(above))]
             for i in range(len(above))]
        )  # fmt: skip
        assert np.allclose(summed, above, atol=1e-6)


def test_seeds_are_independent_and_repeat() -> None:
    first, again, other = (count_tables(TWO.lookup(), 20, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.mass[3], again.mass[3])
    assert not np.array_equal(first.mass[3], other.mass[3])


def test_kept_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TWO.lookup()
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))
    monkeypatch.setattr(jointtables, "_BATCH", 8)
    monkeypatch.setattr(jointtables, "_KEEP_AFTER", 0.0)

    def stop(event: Event) -> None:
        if event.done == 24:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        joint_tables(TWO, 40, seed=6, progress=stop)
    assert [path.suffix for path in tmp_path.iterdir()] == [".unfinished"]
    told: list[tuple[int, int]] = []
    found = joint_tables(
        TWO, 40, seed=6, progress=lambda event: told.append((event.done, event.total))
    )
    # What was kept last is after two batches.
    assert told == [(24, 40), (32, 40), (40, 40)]
    plain = count_tables(TWO.lookup(), 40, seed=6)
    assert np.array_equal(found.mass[3], plain.mass[3])
    assert np.array_equal(found.signed[3], plain.signed[3])
    (path,) = tmp_path.iterdir()
    again = joint_tables(
        TWO, 40, seed=6, progress=lambda event: told.append((event.done, event.total))
    )
    assert len(told) == 3
    assert np.array_equal(again.signed[3], plain.signed[3])
    path.write_bytes(path.read_bytes()[:-5])
    joint_tables(TWO, 40, seed=6, progress=lambda event: told.append((event.done, event.total)))
    assert len(told) > 3, "a damaged file is counted again"
    manifest, arrays = artefact.read(path, "joint tables")
    points = arrays["points"]
    for nonsense in ({}, {"points": points[:1]}, {"points": points.astype(np.int16)}):
        artefact.write(path, "joint tables", manifest["configuration"], nonsense)
        told.clear()
        again = joint_tables(
            TWO, 40, seed=6, progress=lambda event: told.append((event.done, event.total))
        )
        assert len(told) == 5, "and so is one that makes no sense"
        assert np.array_equal(again.signed[3], plain.signed[3])


def test_all_boards_are_weighted(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = random_boards(30, seed=8)
    weights = np.arange(30) % 3 * 8 + 4
    monkeypatch.setattr(jointtables, "every_board", lambda: (boards, weights))
    found = count_tables(TWO.lookup(), None)
    points = Points(TWO.lookup(), 16)
    points.add(boards, weights)
    assert np.allclose(found.signed[3] * weights.sum() * 1081 * 990 * 2,
                       points.total().astype(np.float64) - points.total().T, rtol=1e-5)  # fmt: skip


def test_buckets_that_forget_are_refused() -> None:
    table = THREE.lookup()
    features, children = table[:4], list(table[4:8])
    assert bucket_counts(table) == (3, 9, 27, 81)
    assert bucket_parents(table)[1].tolist() == np.repeat(np.arange(9), 3).tolist()
    forgets = [*children[:2], np.arange(3, dtype=np.uint16)[None], children[3][:3]]
    with pytest.raises(GameError, match="turn forget"):
        bucket_parents(lookup(features, forgets))
    gap = [*children[:3], (children[3] + children[3] // 40).astype(np.uint16)]
    with pytest.raises(GameError, match="have gaps"):
        bucket_parents(lookup(features, gap))

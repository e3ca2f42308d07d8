"""The artefact: tables from definitions, totals against a walk over deals, and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.boardindex import RENAMED_CARD, RENAMED_COMBO, board_index, board_place
from equipoise.abstraction.definition import Definition, feature_table
from equipoise.abstraction.features.equities import (
    child_histograms,
    count_below,
    later_equities,
    live,
    moments,
    river_scores,
    weights,
)
from equipoise.abstraction.features.kernels import FULL_SCORE
from equipoise.abstraction.kmeans import nearest
from equipoise.abstraction.lookup import BLOCKED
from equipoise.abstraction.report import describe, draw
from equipoise.abstraction.totals import bucket_totals
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, blocked
from equipoise.cards.strength import rollout_equity
from equipoise.errors import ArtefactError, CardError, FileError, GameError

EQUITY = {"axes": ["equity"]}


def thirds() -> Definition:
    return Definition("cuts", EQUITY, {"borders0": np.array([0.4, 0.6])})


def child(rows: int, features: int, count: int) -> NDArray[np.uint16]:
    """Each parent's features cut into `count` equal runs."""
    runs = np.arange(features) * count // features
    return (runs + count * np.arange(rows)[:, None]).astype(np.uint16)


@pytest.fixture(scope="module")
def recalling() -> Abstraction:
    definitions = (Definition("class"), thirds(), thirds(), Definition("score"))
    children = (child(1, 169, 2), child(2, 3, 3), child(6, 3, 3), child(18, 1981, 2))
    return Abstraction("recalling", definitions, children, {"method": "test", "seed": 1})


@pytest.fixture(scope="module")
def forgetting() -> Abstraction:
    definitions = (Definition("class"), thirds(), thirds(), Definition("score"))
    children = (child(1, 169, 169), child(1, 3, 3), child(1, 3, 2), child(1, 1981, 5))
    return Abstraction("forgetting", definitions, children)


def test_sizes_and_recall(recalling: Abstraction, forgetting: Abstraction) -> None:
    assert recalling.counts == (2, 6, 18, 36)
    assert forgetting.counts == (169, 3, 2, 5)
    assert recalling.perfect_recall
    assert not forgetting.perfect_recall
    parents = recalling.parents(2)
    assert parents is not None
    assert parents.tolist() == [bucket // 3 for bucket in range(18)]
    assert forgetting.parents(2) is None


def test_cuts_by_equity(forgetting: Abstraction) -> None:
    rng = np.random.default_rng(3)
    for size in (3, 4):
        board = tuple(rng.permutation(52)[:size].tolist())
        row, renaming = board_place(board)
        features = feature_table(size - 2, forgetting.definitions)
        for combo in rng.choice(np.flatnonzero(~blocked(board)), 20).tolist():
            equity = rollout_equity(COMBO_CARDS[combo].tolist(), board)
            expected = int(equity >= 0.4) + int(equity >= 0.6)
            assert features[row, RENAMED_COMBO[renaming, combo]] == expected
        assert np.array_equal(forgetting.buckets(board) == BLOCKED, blocked(board))


def test_cuts_on_two_axes() -> None:
    first, second = np.array([0.3, 0.7], dtype=np.float32), np.array([[0.1], [0.2], [0.3]])
    arrays = {"borders0": first, "borders1": second}
    definition = Definition("cuts", {"axes": ["equity", "spread"]}, arrays)
    table = feature_table(1, [definition] * 4)
    mean, spread = moments(1).mean.astype(np.float64), moments(1).spread.astype(np.float64)
    cell = np.searchsorted(first, mean, side="right")
    expected = 2 * cell + (spread >= np.float32(second)[cell, 0])
    assert definition.features == 6
    assert np.array_equal(table, np.where(live(1), expected, BLOCKED))


def test_nearest_centroid_of_a_histogram() -> None:
    borders, centroids = [0.25, 0.5, 0.75], np.array([[0, 10, 40], [30, 40, 46]], dtype=np.float32)
    settings = {"of": "histograms", "borders": borders, "metric": "emd"}
    table = feature_table(1, [Definition("nearest", settings, {"centroids": centroids})] * 4)
    row = board_place((0, 5, 10))[0]
    free = live(1)[row]
    expected = nearest(count_below(1, later_equities(1), borders)[row][free], centroids, "emd")
    assert np.array_equal(table[row][free], expected)
    assert (table[row][~free] == BLOCKED).all()


def test_a_table_is_its_own_definition() -> None:
    given_table = np.where(live(1), 3, BLOCKED).astype(np.uint16)
    definition = Definition("table", {}, {"table": given_table})
    assert definition.features == 4
    assert np.array_equal(feature_table(1, [definition] * 4), given_table)
    assert child_histograms(0, given_table, 4)[0, 0].tolist() == [0, 0, 0, 19_600]


def test_totals_of_some_boards_by_a_walk_over_deals(recalling: Abstraction) -> None:
    turn = 7_000
    board = board_index(4).boards[turn].tolist()
    scores = river_scores()
    for street in (2, 3):
        count = recalling.counts[street]
        deals, equity = np.zeros(count, dtype=np.int64), np.zeros(count)
        for last in range(4):
            flop = board[:last] + board[last + 1 :]
            for river in range(52) if street == 3 else (None,):
                if river in board:
                    continue
                dealt = [*flop, board[last]] + ([] if river is None else [river])
                buckets = recalling.buckets(dealt)
                free = buckets != BLOCKED
                row, renaming = board_place(dealt)
                if street == 3:
                    value = scores[row, RENAMED_COMBO[renaming]] / FULL_SCORE
                else:
                    value = moments(2).mean[row, RENAMED_COMBO[renaming]].astype(np.float64)
                deals += np.bincount(buckets[free], minlength=count)
                equity += np.bincount(buckets[free], value[free], count)
        times = weights(2)[turn]
        found = bucket_totals(recalling.lookup(), street, slice(turn, turn + 1))
        assert found.deals.tolist() == (times * deals).tolist()
        assert np.allclose(found.equity, times * equity, rtol=1e-12)


@pytest.mark.parametrize("street", [0, 1, 2])
def test_masses_of_children_sum_to_their_parents(recalling: Abstraction, street: int) -> None:
    masses = recalling.masses(street)
    assert masses.sum() == pytest.approx(1.0, abs=1e-12)
    if street:
        parents = recalling.parents(street)
        assert parents is not None
        assert np.allclose(np.bincount(parents, masses), recalling.masses(street - 1), atol=1e-14)


def test_masses_of_buckets_that_forget(forgetting: Abstraction) -> None:
    for street in range(4):
        totals = forgetting.totals(street)
        assert totals.masses.sum() == pytest.approx(1.0, abs=1e-12)
        assert totals.equity.sum() / totals.deals.sum() == pytest.approx(0.5, abs=1e-8)
    assert forgetting.masses(0)[0] == pytest.approx(6 / 1326)
    means = forgetting.totals(3).means
    assert (np.diff(means) > 0).all()
    assert means[0] < 0.2 < means[1] < 0.4


@given(st.permutations(range(52)), st.integers(0, 23))
@settings(max_examples=30, deadline=None)
def test_suits_may_be_renamed(cards: list[int], renaming: int) -> None:
    definitions = (Definition("class"), thirds(), thirds(), Definition("score"))
    children = (child(1, 169, 2), child(2, 3, 3), child(6, 3, 3), child(18, 1981, 2))
    found = Abstraction("renamed", definitions, children)
    board = np.array(cards[:5])
    known, other = found.path(board), found.path(RENAMED_CARD[renaming][board])
    assert np.array_equal(other[:, RENAMED_COMBO[renaming]], known)


def test_summaries(forgetting: Abstraction, tmp_path: Path) -> None:
    rivers = describe(forgetting, 3, examples=2)
    assert [summary.bucket for summary in rivers] == list(range(5))
    assert sum(summary.mass for summary in rivers) == pytest.approx(1.0)
    for summary in rivers:
        assert len(summary.examples) == 2
        assert summary.parent is None
        assert summary.equity == pytest.approx(0.1 + 0.2 * summary.bucket, abs=0.05)
        for text in summary.examples:
            hand, board = text.split(" on ")
            assert 0.2 * summary.bucket - 1e-3 <= rollout_equity(hand, board)
            assert rollout_equity(hand, board) <= 0.2 * (summary.bucket + 1) + 1e-3
    assert describe(forgetting, 0)[1].examples == ("AKs",)
    picture = tmp_path / "buckets.png"
    draw(forgetting, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match="there is no folder"):
        draw(forgetting, tmp_path / "no" / "buckets.png")


def test_saved_and_loaded(recalling: Abstraction, tmp_path: Path) -> None:
    path = tmp_path / "an.abstraction"
    recalling.save(path)
    assert path.stat().st_size < 200_000
    again = Abstraction.load(path)
    assert again.fingerprint == recalling.fingerprint
    assert again.made_by == {"method": "test", "seed": 1}
    assert again.counts == recalling.counts
    board = (3, 17, 22, 40, 51)
    assert np.array_equal(again.path(board), recalling.path(board))


def test_damaged_and_foreign_files(recalling: Abstraction, tmp_path: Path) -> None:
    path = tmp_path / "an.abstraction"
    recalling.save(path)
    content = bytearray(path.read_bytes())
    path.write_bytes(content[:-100])
    with pytest.raises(ArtefactError):
        Abstraction.load(path)
    content[-50] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match="checksum"):
        Abstraction.load(path)
    artefact.write(path, "strategy", {}, {"x": np.zeros(3)})
    with pytest.raises(ArtefactError, match="strategy"):
        Abstraction.load(path)
    artefact.write(path, "card abstraction", {}, {"x": np.zeros(3)})
    with pytest.raises(ArtefactError, match="not a card abstraction of this version"):
        Abstraction.load(path)


def floats(*shape: int) -> NDArray[np.float32]:
    return np.full(shape, 0.5, dtype=np.float32)


def full(street: int) -> NDArray[np.uint16]:
    return np.where(live(street), 0, BLOCKED).astype(np.uint16)


CENTRES = {"centroids": floats(3, 2)}
HISTOGRAMS = {"of": "histograms", "borders": [0.3, 0.6]}
GOOD = [
    (0, Definition("table", {}, {"table": full(0)})),
    (1, Definition("table", {}, {"table": full(1)})),
    (1, Definition("nearest", HISTOGRAMS, CENTRES)),
    (1, Definition("outlook", {}, {"points": floats(3, 2), "centroids": floats(4, 2)})),
    (2, Definition("cuts", {"axes": ["spread"]}, {"borders0": floats(2)})),
    (3, Definition("nearest", {"of": "ochs", "clusters": [0, 1] * 84 + [0]}, CENTRES)),
]
BAD = [
    (0, Definition("score")),
    (1, Definition("table", {}, {"table": full(1).astype(np.int32)})),
    (1, Definition("table", {}, {"table": full(2)})),
    (1, Definition("table", {}, {"table": np.roll(full(1), 1)})),
    (1, Definition("cuts", {"axes": "equity"}, {f"borders{n}": floats(2) for n in range(6)})),
    (1, Definition("cuts", {"axes": [["equity"]]}, {"borders0": floats(2)})),
    (1, Definition("cuts", {"axes": ["luck"]}, {"borders0": floats(2)})),
    (1, Definition("cuts", {"axes": ["equity"]}, {"borders0": floats(2, 2)})),
    (1, Definition("cuts", {"axes": ["equity"]}, {"borders0": np.array([1, 2])})),
    (1, Definition("cuts", {"axes": ["equity"]}, {"borders0": floats(0)})),
    (1, Definition("cuts", {"axes": ["equity"] * 2}, {"borders1": floats(3, 1)})),
    (1, Definition("cuts", {"axes": ["equity"]}, {"borders0": floats(65_535)})),
    (3, Definition("cuts", {"axes": ["spread"]}, {"borders0": floats(2)})),
    (1, Definition("nearest", {}, CENTRES)),
    (1, Definition("nearest", {"of": "ochs", "clusters": [0] * 169}, CENTRES)),
    (1, Definition("nearest", {"of": ["histograms"]}, CENTRES)),
    (1, Definition("nearest", {**HISTOGRAMS, "metric": ["l2"]}, CENTRES)),
    (1, Definition("nearest", {**HISTOGRAMS, "borders": ["a", "b"]}, CENTRES)),
    (1, Definition("nearest", {**HISTOGRAMS, "borders": 7}, CENTRES)),
    (1, Definition("nearest", HISTOGRAMS, {"centroids": floats(3, 3)})),
    (1, Definition("nearest", HISTOGRAMS, {"centroids": floats(3)})),
    (
        1,
        Definition(
            "nearest", {**HISTOGRAMS, "borders": [0.5] * 256}, {"centroids": floats(3, 256)}
        ),
    ),
    (1, Definition("outlook", {}, {"centroids": floats(3, 2)})),
    (1, Definition("outlook", {}, {"points": floats(2, 2), "centroids": floats(3, 2)})),
    (1, Definition("outlook", {}, {"points": floats(3, 2), "centroids": floats(3, 3)})),
    (1, Definition("outlook", {}, {"points": np.zeros((3, 2)), "centroids": floats(3, 2)})),
    (3, Definition("nearest", {"of": "ochs", "clusters": [0, 2] * 84 + [0]}, CENTRES)),
    (3, Definition("nearest", {"of": "ochs", "clusters": None}, CENTRES)),
]


def of(street: int, definition: Definition, forgetting: Abstraction) -> Abstraction:
    definitions, children = list(forgetting.definitions), list(forgetting.children)
    definitions[street] = definition
    children[street] = np.zeros((1, definition.features), dtype=np.uint16)
    return Abstraction("of", tuple(definitions), tuple(children))


@pytest.mark.parametrize(("street", "definition"), GOOD)
def test_definitions_of_every_kind_are_loaded(
    forgetting: Abstraction, tmp_path: Path, street: int, definition: Definition
) -> None:
    made = of(street, definition, forgetting)
    made.save(tmp_path / "an.abstraction")
    assert Abstraction.load(tmp_path / "an.abstraction").fingerprint == made.fingerprint


@pytest.mark.parametrize(("street", "definition"), BAD)
def test_definitions_that_no_table_follows_from(
    forgetting: Abstraction, tmp_path: Path, street: int, definition: Definition
) -> None:
    path = tmp_path / "an.abstraction"
    of(street, definition, forgetting).save(path)
    with pytest.raises(ArtefactError, match="not a card abstraction of this version"):
        Abstraction.load(path)


@pytest.mark.parametrize("value", [None, 7, "four", [], {}, [None] * 4, [{}] * 9, {"a": [[]]}])
@pytest.mark.parametrize("key", ["definitions", "made_by", "name"])
def test_manifests_of_nonsense(
    recalling: Abstraction, tmp_path: Path, key: str, value: object
) -> None:
    path = tmp_path / "an.abstraction"
    recalling.save(path)
    manifest, arrays = artefact.read(path, "card abstraction")
    told = {**manifest["configuration"], key: value}
    artefact.write(path, "card abstraction", told, arrays, abstraction=recalling.fingerprint)
    if key == "name" or (key == "made_by" and value in ([], {}, {"a": [[]]})):
        assert Abstraction.load(path).counts == recalling.counts
    else:
        with pytest.raises(ArtefactError, match="not a card abstraction of this version"):
            Abstraction.load(path)


@pytest.mark.parametrize("change", ["missing", "floats", "flat", "deep", "empty"])
def test_child_tables_of_nonsense(recalling: Abstraction, tmp_path: Path, change: str) -> None:
    path = tmp_path / "an.abstraction"
    recalling.save(path)
    manifest, arrays = artefact.read(path, "card abstraction")
    name, table = "child/2", arrays.pop("child/2")
    if change != "missing":
        shapes = {"flat": (-1,), "deep": (1, *table.shape), "empty": (0, 0), "floats": table.shape}
        kept = table[:0, :0] if change == "empty" else table
        kind = np.float32 if change == "floats" else np.uint16
        arrays[name] = kept.astype(kind).reshape(shapes[change])
    told = manifest["configuration"]
    artefact.write(path, "card abstraction", told, arrays, abstraction=recalling.fingerprint)
    with pytest.raises(ArtefactError, match="not a card abstraction of this version"):
        Abstraction.load(path)


def test_other_buckets_have_another_fingerprint(recalling: Abstraction) -> None:
    children = (*recalling.children[:3], child(18, 1981, 3))
    other = Abstraction("recalling", recalling.definitions, children)
    assert other.fingerprint != recalling.fingerprint


def test_tables_that_do_not_fit(recalling: Abstraction) -> None:
    definitions, children = recalling.definitions, recalling.children
    with pytest.raises(GameError, match="4 streets"):
        Abstraction("bad", definitions[:3], children[:3])
    with pytest.raises(GameError, match="169 columns"):
        Abstraction("bad", definitions, (child(1, 13, 2), *children[1:]))
    with pytest.raises(GameError, match="2 buckets before"):
        Abstraction("bad", definitions, (children[0], child(3, 3, 3), *children[2:]))
    with pytest.raises(GameError, match="without gaps"):
        Abstraction("bad", definitions, (children[0] * np.uint16(2), *children[1:]))
    with pytest.raises(GameError, match="not for street 1"):
        feature_table(1, [Definition("score")] * 4)
    with pytest.raises(GameError, match="choose class"):
        Definition("guess")
    with pytest.raises(GameError, match="axis 'positive' on street 3"):
        feature_table(
            3, [Definition("cuts", {"axes": ["positive"]}, {"borders0": np.array([0.5])})] * 4
        )


def test_boards_that_make_no_sense(forgetting: Abstraction) -> None:
    with pytest.raises(CardError, match="0, 3, 4 or 5"):
        forgetting.buckets((1, 2))
    with pytest.raises(CardError, match="appears twice"):
        forgetting.buckets((1, 2, 2))
    assert np.array_equal(forgetting.buckets(), COMBO_CLASS)

"""Files of blueprints: what is damaged, swollen or nonsense is refused with a sentence."""

from __future__ import annotations

import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tinyblueprint import tiny

from equipoise import artefact
from equipoise.errors import ArtefactError, FileError
from equipoise.solve.training import blueprint as module
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.forms import FORMS, unpack

MENU = {"bets": "a", "raises": "a"}
Arrays = dict[str, NDArray[Any]]
Change = Callable[[dict[str, Any], Arrays], None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("EQUIPOISE_CACHE", str(folder))
    return folder


def packed(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(lzma.compress(data, preset=0), dtype=np.uint8)


def changed(folder: Path, made: Blueprint, change: Change) -> Path:
    """The file of a blueprint, signed again after a change."""
    path = folder / "file.blueprint"
    made.save(path)
    manifest, arrays = artefact.read(path, "blueprint")
    facts = {"facts": manifest["facts"], "configuration": manifest["configuration"]}
    change(facts, arrays)
    configuration = facts.pop("configuration")
    artefact.write(path, "blueprint", configuration, arrays, **facts)
    return path


def refused(folder: Path, change: Change, made: Blueprint | None = None) -> str:
    path = changed(folder, made or tiny(MENU), change)
    with pytest.raises(ArtefactError) as caught:
        Blueprint.load(path)
    assert str(caught.value).startswith(f"{path}: not a blueprint of this version (")
    return str(caught.value)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("kept", [1, 10**9])
def test_saved_and_loaded(tmp_path: Path, monkeypatch, form: str, kept: int) -> None:
    monkeypatch.setattr(module, "_WORTH_KEEPING", kept)
    made = tiny(MENU, form=form)
    made.save(tmp_path / "file")
    for _ in range(2):
        found = Blueprint.load(tmp_path / "file")
        assert np.array_equal(found.weights, made.weights)
        assert found.abstraction.fingerprint == made.abstraction.fingerprint


@pytest.mark.parametrize(
    ("form", "array"),
    [("full", "weights"), ("slim", "weights"), ("slim", "shares"), ("trim", "shares")],
)
def test_strategies_that_swell(tmp_path: Path, form: str, array: str) -> None:
    bomb = packed(bytes(64 << 20))

    def swell(manifest: dict[str, Any], arrays: Arrays) -> None:
        arrays[array] = bomb

    path = changed(tmp_path, tiny(MENU, form=form), swell)
    tracemalloc.start()
    with pytest.raises(ArtefactError, match="it unpacks to more than"):
        Blueprint.load(path)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


def test_buckets_that_swell(tmp_path: Path, monkeypatch, cache: Path) -> None:
    monkeypatch.setattr(module, "_MOST_BUCKETS", 1 << 20)
    bomb = packed(bytes(4 << 20))

    def swell(manifest: dict[str, Any], arrays: Arrays) -> None:
        arrays["abstraction"] = bomb

    assert "it unpacks to more than 1,048,576 bytes" in refused(tmp_path, swell)
    assert list(cache.iterdir()) == []


def test_streams_that_want_too_much_memory(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    data = lzma.compress(b"0", format=lzma.FORMAT_XZ, filters=filters)

    def swell(manifest: dict[str, Any], arrays: Arrays) -> None:
        arrays["weights"] = np.frombuffer(data, dtype=np.uint8)

    assert "Memory usage limit" in refused(tmp_path, swell)


@pytest.mark.parametrize("keep", [0, 11, 100, -7])
def test_packed_data_that_is_cut_short(tmp_path: Path, keep: int) -> None:
    def cut(manifest: dict[str, Any], arrays: Arrays) -> None:
        arrays["weights"] = arrays["weights"][:keep]

    told = refused(tmp_path, cut)
    assert "cut short" in told or "in place of" in told


def test_several_streams_are_read_as_one() -> None:
    data = bytes(range(256)) * 2000
    streams = [lzma.compress(data[at : at + 99_000]) for at in range(0, len(data), 99_000)]
    whole = np.frombuffer(b"".join(streams), dtype=np.uint8)
    assert b"".join(unpack(whole, len(data))) == data
    with pytest.raises(ArtefactError, match="more than"):
        list(unpack(whole, len(data) - 1))
    assert list(unpack(whole[:0], 5)) == []


@pytest.mark.parametrize("form", ["full", "pure"])
def test_strategies_that_are_not_probabilities(tmp_path: Path, form: str) -> None:
    made = tiny(MENU, form=form)

    def replaced(manifest: dict[str, Any], arrays: Arrays) -> None:
        arrays["weights"] = packed(bytes([77]) * made.weights.nbytes)

    assert "what it plays are not probabilities" in refused(tmp_path, replaced, made)


def test_one_column_that_is_wrong() -> None:
    for form in FORMS:
        made = tiny(MENU, form=form)
        wrong = made.weights.copy()
        assert made.layout.make_sense(wrong)
        wrong[len(wrong) // 2] += 100
        assert not made.layout.make_sense(wrong)


def _set(*keys: str, value: Any) -> Change:
    def change(manifest: dict[str, Any], arrays: Arrays) -> None:
        at: Any = manifest
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value

    return change


def _array(name: str, value: NDArray[Any] | None) -> Change:
    def change(manifest: dict[str, Any], arrays: Arrays) -> None:
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value

    return change


#: Some of it is no nonsense there.
FINE = [
    ("facts", {}),
    ("facts", {"a": {"b": []}}),
    ("facts", []),
    ("name", "x"),
    ("name", "0" * 16),
    ("rules", {}),
]
NONSENSE = [None, 7, -1, 1.5, "x", [], {}, [[]], "0" * 16, 10**400, {"a": {"b": []}}]


@pytest.mark.parametrize("value", NONSENSE, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    "keys",
    [
        ("facts",),
        ("configuration",),
        *(("configuration", key) for key in ("recipe", "form", "abstraction", "numbers")),
        *(("configuration", "recipe", key) for key in ("rules", "menu", "model", "limit", "name")),
        ("configuration", "recipe", "rules", "stack"),
        ("configuration", "recipe", "menu", "bets"),
    ],
    ids=lambda keys: keys[-1],
)
def test_manifests_of_nonsense(tmp_path: Path, keys: tuple[str, ...], value: Any) -> None:
    change = _set(*keys, value=value)
    if (keys[-1], value) in FINE:
        Blueprint.load(changed(tmp_path, tiny(MENU), change))
    else:
        assert len(refused(tmp_path, change)) < 700


@pytest.mark.parametrize("name", ["weights", "abstraction"])
@pytest.mark.parametrize(
    "value",
    [None, np.zeros(0, np.uint8), np.zeros((3, 3), np.float32), np.arange(99, dtype=np.int64)],
    ids=["none", "empty", "floats", "ints"],
)
def test_arrays_of_nonsense(tmp_path: Path, name: str, value: NDArray[Any] | None) -> None:
    refused(tmp_path, _array(name, value))


@pytest.mark.parametrize(
    "classes",
    [
        None,
        np.zeros(1754, np.int8),
        np.zeros((1755, 1), np.int8),
        np.full(1755, -1, np.int8),
        np.arange(1755, dtype=np.int16),
        np.full(1755, 2, np.int8),
        np.zeros(1755, np.float32),
        np.full(1755, np.nan, np.float32),
    ],
    ids=["none", "few", "shape", "negative", "many", "gaps", "floats", "nan"],
)
def test_classes_of_nonsense(tmp_path: Path, classes: NDArray[Any] | None) -> None:
    refused(tmp_path, _array("classes", classes), tiny(MENU, classes=3))


def test_a_cache_that_cannot_be_written_is_not_the_files_fault(
    tmp_path: Path, cache: Path, monkeypatch
) -> None:
    made = tiny(MENU)
    made.save(tmp_path / "file")
    monkeypatch.setattr(module, "_WORTH_KEEPING", 1)
    cache.mkdir()
    (cache / "tables").write_text("in the way")
    with pytest.raises(FileError, match="EQUIPOISE_CACHE"):
        Blueprint.load(tmp_path / "file")

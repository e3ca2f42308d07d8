"""Tables in the cache folder: made once, refused when damaged, never half there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise.abstraction.tablecache import cached_table, table_path
from equipoise.errors import ArtefactError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))
    return tmp_path


class Maker:
    """Makes a table and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, out: NDArray[Any]) -> None:
        self.calls += 1
        out[:] = np.arange(out.size).reshape(out.shape)


def ask(make: Maker, configuration: Any = None, rows: int = 3) -> NDArray[Any]:
    return cached_table("a test", configuration, (rows, 5000), np.uint16, make)


def test_made_once() -> None:
    make = Maker()
    first, again = ask(make), ask(make)
    assert make.calls == 1
    assert np.array_equal(first, np.arange(15_000).reshape(3, 5000))
    assert np.array_equal(first, again)
    assert type(again) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        again[0, 0] = 1


def test_other_configurations_are_other_tables() -> None:
    make = Maker()
    ask(make, {"borders": [1]})
    ask(make, {"borders": [2]})
    assert make.calls == 2
    assert len(list(table_path("a test", None).parent.iterdir())) == 2


@pytest.mark.parametrize("damage", ["truncated", "flipped", "foreign", "shape"])
def test_what_does_not_fit_is_made_again(damage: str) -> None:
    make = Maker()
    ask(make)
    path = table_path("a test", None)
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        path.write_bytes(content[:-1000])
    elif damage == "flipped":
        content[200] ^= 1
        path.write_bytes(content)
    elif damage == "foreign":
        path.write_text("not a table")
    found = ask(make, rows=4 if damage == "shape" else 3)
    assert make.calls == 2
    assert found[-1, -1] == found.size - 1


def test_a_maker_that_fails_leaves_nothing() -> None:
    def fail(out: NDArray[Any]) -> None:
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        cached_table("a test", None, (3, 5), np.uint8, fail)
    assert list(table_path("a test", None).parent.iterdir()) == []


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "tables").write_text("in the way")
    with pytest.raises(ArtefactError, match="EQUIPOISE_CACHE"):
        ask(Maker())

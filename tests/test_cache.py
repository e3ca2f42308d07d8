"""Tables in the cache folder: made once, refused when damaged, never half there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise import cache
from equipoise.cache import _clean, cache_folder, cached_table, table_path
from equipoise.errors import FileError


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


def ask(
    make: Callable[[NDArray[Any]], None], configuration: Any = None, rows: int = 3
) -> NDArray[Any]:
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


def test_of_two_that_need_it_at_once_one_makes_it() -> None:
    make, going = Maker(), Event()

    def slowly(out: NDArray[Any]) -> None:
        going.set()
        time.sleep(0.1)
        make(out)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, slowly)
        going.wait()
        assert np.array_equal(pool.submit(ask, slowly).result(), first.result())
    assert make.calls == 1
    assert len(list(table_path("a test", None).parent.iterdir())) == 1


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
    with pytest.raises(FileError, match="EQUIPOISE_CACHE"):
        ask(Maker())


def test_every_flip_is_noticed() -> None:
    make = Maker()
    ask(make)
    path = table_path("a test", None)
    whole = path.read_bytes()
    places = [*range(130), *range(130, len(whole), 997), *range(len(whole) - 32, len(whole))]
    for times, at in enumerate(places, 2):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        assert ask(make)[1, 1] == 5001
        assert make.calls == times
        assert path.read_bytes() == whole


class Hashing:
    """Counts how often a table is read through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self._seal = cache._seal
        monkeypatch.setattr(cache, "_seal", self)

    def __call__(self, table: NDArray[Any], configuration: Any) -> bytes:
        self.calls += 1
        return self._seal(table, configuration)


def another_process() -> None:
    cache._checked.clear()


def test_a_table_is_read_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    make, hashing = Maker(), Hashing(monkeypatch)
    ask(make)
    ask(make)
    assert hashing.calls == 2
    ask(make)
    # Its times may not yet tell it from one that was changed a moment after.
    assert hashing.calls == 3
    monkeypatch.setattr(cache, "_SETTLED", -1)
    ask(make)
    assert hashing.calls == 4
    ask(make)
    another_process()
    ask(make)
    assert (hashing.calls, make.calls) == (4, 1)


def test_a_change_after_it_was_read_through_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    monkeypatch.setattr(cache, "_SETTLED", -1)
    ask(make)
    ask(make)
    path = table_path("a test", None)
    before, damaged = path.stat(), bytearray(path.read_bytes())
    damaged[20_000] ^= 1
    # Clocks of file systems tick some hundred times a second.
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_bytes(damaged)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)
    ask(make)
    assert make.calls == 2


def test_what_says_that_a_table_was_checked_may_be_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, hashing = Maker(), Hashing(monkeypatch)
    monkeypatch.setattr(cache, "_SETTLED", -1)
    ask(make)
    ask(make)
    (told,) = (folder / "tables").glob("*.checked")
    for count, text in enumerate(("", "[" * 5000, "[1, 2]", "\xff", "9" * 5000), 3):
        told.write_text(text)
        another_process()
        ask(make)
        assert (hashing.calls, make.calls) == (count, 1)


FILL_FOR_EVER = """
import sys
import numpy as np
from equipoise.cache import cached_table
def fill(out):
    print("filling", flush=True)
    sys.stdin.read()
cached_table("a test", None, (3, 5000), np.uint16, fill)
"""


def test_a_killed_maker_is_cleaned_up_after_at_the_next_start(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FILL_FOR_EVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"filling\n"
    _clean.cache_clear()
    cache_folder()
    # The table, and whose turn it is to make it.
    assert len(list((folder / "tables").iterdir())) == 2
    process.kill()
    process.wait()
    _clean.cache_clear()
    cache_folder()
    assert list((folder / "tables").iterdir()) == []

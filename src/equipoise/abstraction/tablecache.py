"""Large tables in the cache folder: made once, mapped into memory afterwards.

A table is one .npy file followed by a seal of 32 bytes, a SHA-256 of its configuration, its shape
and a sample of its bytes. The name holds a fingerprint of the configuration, so that another
configuration is another file. It is written aside and renamed when complete: a killed run leaves no
table, and of two runs that make the same table at once either may win. What does not fit its seal
is made again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from equipoise.artefact import fingerprint
from equipoise.cachefolder import cache_folder, tell_making
from equipoise.errors import ArtefactError

#: Told of boards done, and of how many there are.
Progress = Callable[[int, int], None]

#: Changes when a table of the same configuration would have other contents.
_VERSION = 1
_SEAL_BYTES = 32
_SAMPLES, _SAMPLE_BYTES = 64, 4096


def table_path(name: str, configuration: Any) -> Path:
    """Where the table of a configuration is, or would be."""
    stem = "-".join(name.split())
    return cache_folder() / "tables" / f"{stem}-{fingerprint([_VERSION, configuration])}.npy"


def cached_table(
    name: str,
    configuration: Any,
    shape: tuple[int, ...],
    dtype: DTypeLike,
    fill: Callable[[NDArray[Any]], None],
) -> NDArray[Any]:
    """The table, read-only and mapped; if it is not there, `fill` is given the array to fill.

    `configuration` is JSON-like and decides the contents together with `name`.
    """
    path = table_path(name, configuration)
    found = _open(path, configuration, shape, np.dtype(dtype))
    if found is not None:
        return found
    tell_making(name)
    beside = ""
    try:
        path.parent.mkdir(exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        table = np.lib.format.open_memmap(beside, mode="w+", dtype=np.dtype(dtype), shape=shape)
        _reserve(beside)
        fill(table)
        table.flush()
        with open(beside, "ab") as file:
            file.write(_seal(table, configuration))
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except OSError as error:
        raise ArtefactError(
            f"cannot write {path}: {error.strerror}; free some room or set EQUIPOISE_CACHE"
        ) from None
    finally:
        if beside and os.path.exists(beside):
            os.unlink(beside)
    found = _open(path, configuration, shape, np.dtype(dtype))
    if found is None:
        raise ArtefactError(f"{path}: damaged while it was written: is the disk sound?")
    return found


def _reserve(path: str) -> None:
    """Take the room on disk now: a mapped page that finds none later would end the process."""
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.path.getsize(path) + _SEAL_BYTES)
            file.truncate(os.path.getsize(path) - _SEAL_BYTES)


def _open(
    path: Path, configuration: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> NDArray[Any] | None:
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
        with open(path, "rb") as file:
            file.seek(-_SEAL_BYTES, os.SEEK_END)
            seal = file.read()
    except (OSError, ValueError):
        return None
    if table.shape != shape or table.dtype != dtype or seal != _seal(table, configuration):
        return None
    plain: NDArray[Any] = table.view(np.ndarray)
    return plain


def _seal(table: NDArray[Any], configuration: Any) -> bytes:
    digest = hashlib.sha256(fingerprint([_VERSION, configuration]).encode())
    digest.update(f"{table.dtype}{table.shape}".encode())
    data = table.reshape(-1).view(np.uint8)
    for start in np.linspace(0, max(0, len(data) - _SAMPLE_BYTES), _SAMPLES).astype(np.int64):
        digest.update(data[start : start + _SAMPLE_BYTES].tobytes())
    return digest.digest()

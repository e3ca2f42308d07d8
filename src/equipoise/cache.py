"""Where computed tables and trained strategies are kept between runs.

They can be made again at any time, so the folder may be deleted; `equipoise cache` shows and empties
it. It is `~/.cache/equipoise`, or whatever the environment variable EQUIPOISE_CACHE says.

Large tables are made once, and mapped into memory afterwards. A table is one .npy file followed by a
seal of 32 bytes, a SHA-256 of its configuration, its shape and every byte of it. The name holds a
fingerprint of the configuration, so that another configuration is another file. It is written whole
or not at all (:mod:`equipoise.files`), and of two runs that need the same table at once one makes it
and the other waits. What does not fit its seal is made again.

Reading a table through takes as long as a disk needs for it, so that this is done once, not once a
process: beside the table a file `.checked` tells the size and the times of the one that was found
right, to the nanosecond and including the time of its last change that no program can set. A table
that was written to since is read through again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from equipoise.artefact import fingerprint
from equipoise.errors import ArtefactError, FileError
from equipoise.files import aside, in_turn, is_partial, sweep_leftovers, written

#: Folder within it of the large tables.
TABLES = "tables"
#: Ending of what tells that a table was found right, and by its time when it was used last.
CHECKED = ".checked"
#: Folder within it of trained strategies.
TRAINED = "blueprints"


#: Changes when a table of the same configuration would have other contents.
_VERSION = 2
_SEAL_BYTES = 32
#: Bytes that are hashed at a time, each part on a thread.
_PART_BYTES = 1 << 24
#: Age in nanoseconds from which on times tell: clocks of file systems may stand still for seconds.
_SETTLED = 3_000_000_000

_CURE = "free some room or set EQUIPOISE_CACHE"
#: What tells one state of a file from another.
_State = list[int]
_checked: dict[Path, _State] = {}


def cache_folder() -> Path:
    """The folder, made if it is not there."""
    given = os.environ.get("EQUIPOISE_CACHE")
    folder = Path(given) if given else Path.home() / ".cache" / "equipoise"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArtefactError(
            f"cannot make the folder {folder}: {error.strerror}; set EQUIPOISE_CACHE to another"
        ) from None
    _clean(folder)
    return folder


@cache
def _clean(folder: Path) -> None:
    """Once a process: what killed ones left there is removed."""
    for part in (folder, folder / TABLES):
        sweep_leftovers(part)


_listeners: list[Callable[[str], None]] = []


def tell_making(what: str) -> None:
    """Say that something not found in the folder is being made: to whoever asked to be told."""
    for listener in _listeners:
        listener(what)


def announce_making() -> None:
    """Ask for a line on stderr when something is made; the command line does."""
    if not _listeners:
        _listeners.append(
            lambda what: print(f"Making {what} (kept for later) ...", file=sys.stderr)
        )


# ------------------------------------------------------------------------------------ the tables


def table_path(name: str, configuration: Any) -> Path:
    """Where the table of a configuration is, or would be."""
    stem = "-".join(name.split())
    return cache_folder() / TABLES / f"{stem}-{fingerprint([_VERSION, configuration])}.npy"


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
    found = _kept_table(path, shape, np.dtype(dtype), configuration)
    if found is not None:
        return found
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make {path.parent}: {error.strerror}; {_CURE}") from None
    with in_turn(path):
        # Somebody may have made it meanwhile.
        found = _kept_table(path, shape, np.dtype(dtype), configuration)
        if found is not None:
            return found
        tell_making(name)
        _make(path, shape, np.dtype(dtype), configuration, fill)
    found = _mapped(path, shape, np.dtype(dtype))
    if found is None:
        raise FileError(f"{path}: damaged while it was written: is the disk sound?")
    return found


def _kept_table(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], configuration: Any
) -> NDArray[Any] | None:
    """The table, if it is there and right."""
    found = _mapped(path, shape, dtype)
    return found if found is not None and _is_right(path, found, configuration) else None


def _make(
    path: Path,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    configuration: Any,
    fill: Callable[[NDArray[Any]], None],
) -> None:
    """Fill a table beside its place, seal it and move it there."""
    try:
        with aside(path) as beside:
            table = np.lib.format.open_memmap(beside, mode="w+", dtype=dtype, shape=shape)
            _reserve(beside)
            fill(table)
            table.flush()
            with open(beside, "ab") as file:
                file.write(_seal(table, configuration))
    except FileError as error:
        told = str(error)
        raise FileError(told if _CURE in told else f"{told}; {_CURE}") from None


def _reserve(path: Path) -> None:
    """Take the room on disk now: a mapped page that finds none later would end the process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.path.getsize(path) + _SEAL_BYTES)
            file.truncate(os.path.getsize(path) - _SEAL_BYTES)


def _mapped(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """The table of a file, if it is one of that shape; whether it is right is another question."""
    # Compared, not parsed: nothing depends on what a damaged header says.
    header = io.BytesIO()
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    np.lib.format.write_array_header_1_0(header, {**description, "shape": shape})
    begins = header.getvalue()
    try:
        with path.open("rb") as file:
            if file.read(len(begins)) != begins:
                return None
        table = np.memmap(path, dtype, "r", len(begins), shape)
        if os.path.getsize(path) != len(begins) + table.nbytes + _SEAL_BYTES:
            return None
    except (OSError, ValueError):
        return None
    plain: NDArray[Any] = table.view(np.ndarray)
    return plain


# ------------------------------------------------------------------------------------ whether right


def _is_right(path: Path, table: NDArray[Any], configuration: Any) -> bool:
    """Whether a table fits its seal, known from before or found out by reading all of it."""
    told = path.with_name(path.name + CHECKED)
    try:
        state = _state(path)
        if state in (_checked.get(path), _read(told)):
            with suppress(OSError):
                # When it was last used.
                os.utime(told)
            return True
        with path.open("rb") as file:
            file.seek(-_SEAL_BYTES, os.SEEK_END)
            seal = file.read()
        if seal != _seal(table, configuration) or _state(path) != state:
            return False
    except OSError:
        return False
    if time.time_ns() - max(state[1:3]) > _SETTLED:
        _checked[path] = state
        with suppress(FileError), written(told, "w") as out:
            json.dump(state, out)
    return True


def _state(path: Path) -> _State:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes()[:1000])
    except (OSError, ValueError, RecursionError):
        return None


def _seal(table: NDArray[Any], configuration: Any) -> bytes:
    # Numba takes longer to load than the folder to be looked at.
    from equipoise.kernel import cores

    digest = hashlib.sha256(fingerprint([_VERSION, configuration]).encode())
    digest.update(f"{table.dtype}{table.shape}".encode())
    data = table.reshape(-1).view(np.uint8)
    parts = [data[first : first + _PART_BYTES] for first in range(0, len(data), _PART_BYTES)]
    with ThreadPoolExecutor(cores()) as pool:
        for part in pool.map(lambda part: hashlib.sha256(part).digest(), parts):
            digest.update(part)
    return digest.digest()


# ----------------------------------------------------------------------------------- what is in it

#: What is made here: a name and the fingerprint of what it was made from; hidden while it is made.
_MADE = re.compile(r"[a-z-]+-[0-9a-f]{16}\.(npy|safetensors|unfinished)")
_OLD_LEFTOVER = re.compile(rf"\.{_MADE.pattern}\.[a-z0-9_]{{8}}")


@dataclass(frozen=True)
class Kept:
    """Something in the cache folder."""

    #: Its name within the folder.
    name: str
    #: `table`, `artefact`, `left-over` of a killed process, or `trained`: a run or its strategies.
    kind: str
    path: Path
    size_bytes: int
    #: When it was last read or written, in seconds since 1970.
    used: float


def contents() -> list[Kept]:
    """What the folder holds, the largest first; files of other programs are not looked at."""
    folder = cache_folder()
    found = []
    for part in (folder, folder / TABLES):
        with suppress(OSError), os.scandir(part) as entries:
            for entry in entries:
                # What went away meanwhile is left out.
                with suppress(OSError):
                    found += _kept(folder, Path(entry.path))
    return sorted(found, key=lambda kept: (-kept.size_bytes, kept.name))


def _kept(folder: Path, path: Path) -> list[Kept]:
    inside = [path]
    if path.is_dir() and path.parent == folder and (path.suffix == ".run" or path.name == TRAINED):
        kind, inside = "trained", [one for one in path.rglob("*") if one.is_file()]
    elif is_partial(path.name) or _OLD_LEFTOVER.fullmatch(path.name):
        kind = "left-over"
    elif _MADE.fullmatch(path.name):
        kind = "table" if path.suffix == ".npy" else "artefact"
    else:
        return []
    states = [one.stat() for one in inside]
    used = [max(state.st_atime, state.st_mtime) for state in states]
    with suppress(OSError):
        used.append(path.with_name(path.name + CHECKED).stat().st_mtime)
    size = sum(state.st_size for state in states)
    return [Kept(str(path.relative_to(folder)), kind, path, size, max(used, default=0.0))]


def clear() -> list[Kept]:
    """Remove all that is made again when it is needed; the answer is what went.

    What was trained stays, for that may have taken hours, and so does what another process is
    writing at this moment.
    """
    gone = []
    # Left-overs are looked for anew.
    _clean.cache_clear()
    for kept in contents():
        if kept.kind == "trained" or is_partial(kept.path.name):
            continue
        try:
            kept.path.unlink(missing_ok=True)
            kept.path.with_name(kept.path.name + CHECKED).unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"cannot remove {kept.path}: {error.strerror}") from None
        gone.append(kept)
    return gone

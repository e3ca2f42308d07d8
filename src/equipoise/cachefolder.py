"""Where computed tables and trained strategies are kept between runs.

They can be made again at any time, so the folder may be deleted; `equipoise cache` shows and empties
it. It is `~/.cache/equipoise`, or whatever the environment variable EQUIPOISE_CACHE says.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from equipoise.errors import ArtefactError, FileError
from equipoise.files import is_partial, sweep_leftovers

#: Folder within it of the large tables.
TABLES = "tables"
#: Ending of what tells that a table was found right, and by its time when it was used last.
CHECKED = ".checked"
#: Folder within it of trained strategies.
TRAINED = "blueprints"


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

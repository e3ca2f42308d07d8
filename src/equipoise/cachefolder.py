"""Where computed tables and trained strategies are kept between runs.

They can be made again at any time, so the folder may be deleted. It is `~/.cache/equipoise`, or
whatever the environment variable EQUIPOISE_CACHE says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from equipoise.errors import ArtefactError
from equipoise.files import sweep_leftovers

#: Folder within it of the large tables.
TABLES = "tables"
#: Ending of what tells that a table was found right, and by its time when it was used last.
CHECKED = ".checked"


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

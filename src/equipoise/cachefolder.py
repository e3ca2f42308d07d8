"""Where computed tables and trained strategies are kept between runs.

They can be made again at any time, so the folder may be deleted. It is `~/.cache/equipoise`, or
whatever the environment variable EQUIPOISE_CACHE says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from equipoise.errors import ArtefactError


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
    return folder


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

"""Where what people make is kept: sessions at the table, own ranges, memories of agents that learn.

Nothing in it can be computed again, so `equipoise cache` never touches it. It is
`~/.local/share/equipoise`, or whatever the environment variable EQUIPOISE_DATA says.
"""

from __future__ import annotations

import os
from pathlib import Path

from equipoise.errors import FileError


def data_folder(part: str = "") -> Path:
    """The folder, or a folder within it, made if it is not there; only its owner may look inside.

    >>> import tempfile
    >>> os.environ["EQUIPOISE_DATA"] = tempfile.mkdtemp()
    >>> data_folder("memories").name
    'memories'
    >>> del os.environ["EQUIPOISE_DATA"]
    """
    given = os.environ.get("EQUIPOISE_DATA")
    folder = (Path(given) if given else Path.home() / ".local" / "share" / "equipoise") / part
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise FileError(
            f"cannot make the folder {folder}: {error.strerror}; set EQUIPOISE_DATA to another"
        ) from None
    return folder

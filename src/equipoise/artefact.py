"""Files that outlive a process: raw arrays with a manifest, written whole or not at all.

An artefact is one safetensors file. Its header holds the manifest as JSON: what kind of thing it
is, the format version, the configuration it was made with, and a SHA-256 of all of that and of every
byte of the arrays. A truncated, edited or foreign file is refused with a sentence, and nothing in it
is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import ArtefactError

FORMAT = 1
Arrays = Mapping[str, NDArray[Any]]


def fingerprint(value: Any) -> str:
    """A short hash of a JSON-like value, the same for equal values.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _checksum(manifest: Mapping[str, Any], arrays: Arrays) -> str:
    told = {key: value for key, value in manifest.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}:{array.dtype}:{array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def write(path: str | Path, kind: str, configuration: Any, arrays: Arrays, **facts: Any) -> None:
    """Write an artefact beside its place, then move it there in one step."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    path = Path(path)
    told = {
        "equipoise": kind,
        "format": FORMAT,
        "configuration": configuration,
        "fingerprint": fingerprint(configuration),
        **facts,
    }
    # Through JSON and back: the checksum is of what a reader will find.
    manifest = json.loads(json.dumps(told))
    manifest["checksum"] = _checksum(manifest, arrays)
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise ArtefactError(f"cannot write {path}: {error.strerror}") from None
    os.close(handle)
    try:
        save_file(contiguous, beside, metadata={"manifest": json.dumps(manifest)})
        # A temporary file is its owner's alone; the artefact is a file like any other.
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except (OSError, SafetensorError) as error:
        why = getattr(error, "strerror", None) or error
        raise ArtefactError(f"cannot write {path}: {why}") from None
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read an artefact of the given kind: its manifest and its arrays."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise ArtefactError(f"{path}: no such file")
    try:
        with safe_open(str(path), framework="numpy") as opened:
            manifest = json.loads((opened.metadata() or {}).get("manifest", "null"))
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ArtefactError(f"{path}: damaged, or not an Equipoise file ({error})") from None
    if not isinstance(manifest, dict) or "equipoise" not in manifest:
        raise ArtefactError(f"{path}: not an Equipoise file")
    if manifest["equipoise"] != kind:
        raise ArtefactError(f"{path}: holds a {manifest['equipoise']}, not a {kind}")
    if manifest.get("format") != FORMAT:
        raise ArtefactError(
            f"{path}: written in format {manifest.get('format')}, this version reads {FORMAT}"
        )
    if manifest.get("checksum") != _checksum(manifest, arrays):
        raise ArtefactError(f"{path}: damaged (the checksum does not match): make it again")
    return manifest, arrays

"""Files that outlive a process: raw arrays with a manifest, written whole or not at all.

An artefact is one safetensors file. Its header holds the manifest as JSON: what kind of thing it
is, the format version, the configuration it was made with, and a SHA-256 of all of that and of every
byte of the arrays. A truncated, edited or foreign file is refused with a sentence, and nothing in it
is ever executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import ArtefactError, EquipoiseError, FileError
from equipoise.files import written

FORMAT = 1
Arrays = Mapping[str, NDArray[Any]]

#: Types of arrays and what the format calls them, from narrow to wide.
_TYPES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "uint16": "U16",
    "float16": "F16",
    "int32": "I32",
    "uint32": "U32",
    "float32": "F32",
    "complex64": "C64",
    "float64": "F64",
    "int64": "I64",
    "uint64": "U64",
}
#: What reading something else than was written may raise.
_NONSENSE = (
    ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, MemoryError,
    RecursionError, LZMAError,
)  # fmt: skip


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
    """Write an artefact, whole or not at all."""
    with written(path) as file:
        for part in _signed(kind, configuration, arrays, facts):
            file.write(part)


def to_bytes(kind: str, configuration: Any, arrays: Arrays, **facts: Any) -> bytes:
    """What :func:`write` would write."""
    return b"".join(_signed(kind, configuration, arrays, facts))


def _signed(
    kind: str, configuration: Any, arrays: Arrays, facts: Mapping[str, Any]
) -> Iterator[bytes | memoryview]:
    """An artefact piece by piece, with its manifest and checksum."""
    told = {
        "equipoise": kind,
        "format": FORMAT,
        "configuration": configuration,
        "fingerprint": fingerprint(configuration),
        **facts,
    }
    # Through JSON and back, and little-endian: the checksum is of what a reader will find.
    manifest = json.loads(json.dumps(told))
    plain = {
        name: np.asarray(array, array.dtype.newbyteorder("<"), order="C")
        for name, array in arrays.items()
    }
    manifest["checksum"] = _checksum(manifest, plain)
    yield from _parts(plain, {"manifest": json.dumps(manifest)})


def _parts(arrays: Arrays, metadata: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    """What a safetensors file consists of, piece by piece: its length, its header, the arrays.

    The library that reads such files would write its own temporary beside ours, and leave it there
    when the disk is full. The order of the arrays is the one it has, widest types first.
    """
    order = list(_TYPES)
    for name, array in arrays.items():
        if str(array.dtype) not in _TYPES:
            raise ArtefactError(f"array {name!r} of type {array.dtype}: no file can hold it")
    names = sorted(arrays, key=lambda name: (-order.index(str(arrays[name].dtype)), name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": _TYPES[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little")
    yield text
    for name in names:
        yield np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data


def read(
    path: str | Path, kind: str, *, mapped: bool = False
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read an artefact of the given kind: its manifest and its arrays.

    With `mapped` the arrays stay on the disk and what is used of them is read then: files of many
    gigabytes open at once. Their bytes are then *not* compared with the checksum, only their sizes with
    that of the file; who looks at them is to bear with numbers that are none.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    try:
        if not path.is_file():
            raise ArtefactError(f"{path}: no such file")
        with safe_open(str(path), framework="numpy") as opened:
            manifest = json.loads((opened.metadata() or {}).get("manifest", "null"))
            names = opened.keys()
            arrays = _mapped(path) if mapped else {name: opened.get_tensor(name) for name in names}
    except ArtefactError:
        raise
    except (SafetensorError, OSError, *_NONSENSE) as error:
        raise ArtefactError(f"{path}: damaged, or not an Equipoise file ({error})") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("equipoise"), str):
        raise ArtefactError(f"{path}: not an Equipoise file")
    if manifest["equipoise"] != kind:
        raise ArtefactError(f"{path}: holds a {manifest['equipoise'][:40]}, not a {kind}")
    if manifest.get("format") != FORMAT:
        raise ArtefactError(
            f"{path}: written in format {manifest.get('format')!s:.40}, this version reads {FORMAT}"
        )
    if not mapped and manifest.get("checksum") != _checksum(manifest, arrays):
        raise ArtefactError(f"{path}: damaged (the checksum does not match): make it again")
    if "configuration" not in manifest:
        raise ArtefactError(f"{path}: not a {kind} of this version (it has no configuration)")
    return manifest, arrays


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file that the library has opened, and so found its header to be sound."""
    types = {told: np.dtype(name) for name, told in _TYPES.items()}
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    arrays: dict[str, NDArray[Any]] = {}
    for name, told in header.items():
        kind, shape = types[told["dtype"]], tuple(told["shape"])
        start, end = told["data_offsets"]
        if start == end:
            arrays[name] = np.zeros(shape, dtype=kind)
        else:
            table = np.memmap(path, kind, "r", 8 + size + start, shape)
            arrays[name] = table.view(np.ndarray)
    return arrays


@contextmanager
def understanding(path: str | Path, kind: str) -> Iterator[None]:
    """Read what is in an artefact: whatever turns out to be nonsense there is one sentence.

    A checksum only says that nobody changed a file by accident. Things missing, of another type or
    of another size are told as a file of another version; errors that name the file pass.
    """
    try:
        yield
    except FileError:
        # Of a place where something was to be written: nothing is wrong with this file.
        raise
    except _NONSENSE as error:
        if isinstance(error, EquipoiseError) and str(path) in str(error):
            raise
        told = (
            str(error) if isinstance(error, EquipoiseError) else f"{type(error).__name__} {error}"
        )
        raise ArtefactError(f"{path}: not a {kind} of this version ({told[:300]})") from None

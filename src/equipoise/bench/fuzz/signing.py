"""Artefacts signed again: something in them is changed, and their checksum is right all the same.

A setting of the manifest is replaced, dropped, doubled or exchanged, text in it spoiled as any other;
an array is gone, renamed, cut, of another shape or type, has an odd number in it, or is packed and
unpacks to something else: to an artefact signed again within this one, or to a bomb.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.bench.fuzz import samples as sample
from equipoise.bench.fuzz.mutations import NUMBERS, SCRAPS, Stock, spoil
from equipoise.errors import ArtefactError

#: What the writer of artefacts says itself, or is told by these names.
_OWN = ("equipoise", "format", "configuration", "fingerprint", "checksum", "path", "kind", "arrays")
#: Settings of some artefact that mean much to it.
_WORDS = (
    "*",
    "1%,2%,3%,4%,5%,6%,7%,8%,9%,a",
    "random",
    "As7d2c",
    "limit",
    "joint",
    "float16",
    "all",
)
#: Bytes that a small packed array unpacks to: more than any input may take.
_BOMB_BYTES = 2 << 30


def signed_again(rng: Random, data: bytes, kind: str, tokens: Sequence[bytes]) -> bytes:
    """The artefact with other settings or arrays, and a checksum of those."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "signed"
        path.write_bytes(data)
        manifest, arrays = artefact.read(path, kind)
        told: Any = {key: value for key, value in manifest.items() if key not in _OWN}
        told["configuration"] = manifest["configuration"]
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if rng.random() < 0.5:
                told = _other_settings(rng, told, tokens)
            else:
                _other_array(rng, arrays, tokens)
        configuration = told.pop("configuration", None) if isinstance(told, dict) else told
        facts = told if isinstance(told, dict) else {}
        facts = {key: value for key, value in facts.items() if key not in _OWN}
        path.unlink()
        artefact.write(path, kind, configuration, arrays, **facts)
        return path.read_bytes()


def _other_settings(rng: Random, told: Any, tokens: Sequence[bytes]) -> Any:
    """A JSON value in which something is replaced, dropped, added or exchanged."""
    if not isinstance(told, dict | list):
        return _odd_value(rng)
    told = json.loads(json.dumps(told))
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(told)
    if not places:
        return _odd_value(rng)
    holder, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice((key, "")) + "x"] = holder[key]
    elif kind == 2:
        other, place = rng.choice(places)
        holder[key] = json.loads(json.dumps(other[place]))
    elif kind == 3 and isinstance(holder[key], str):
        text = spoil(rng, holder[key].encode(), Stock(_spots(), tokens))
        holder[key] = text.decode("utf-8", "replace")
    else:
        holder[key] = _odd_value(rng)
    return told


def _odd_value(rng: Random) -> Any:
    kind = rng.randrange(10)
    if kind == 0:
        return rng.choice((None, True, False, [], {}, "", [[]], {"a": {}}, [None]))
    if kind == 1:
        return rng.choice(NUMBERS).decode()
    if kind == 2:
        return rng.choice((*_WORDS, rng.choice(SCRAPS).decode("utf-8", "replace")))
    if kind == 3:
        deep: Any = 0
        for _ in range(rng.choice((10, 150))):
            deep = [deep]
        return deep
    if kind == 4:
        return rng.choice((float("nan"), float("inf"), -float("inf"), 1e308, -0.0, 1e-320, 0.5))
    power = rng.choice((0, 1, 2, 7, 8, 15, 16, 31, 32, 62, 63, 64, 200))
    return rng.choice((-1, 1)) * 2**power + rng.choice((-1, 0, 1))


def _other_array(rng: Random, arrays: dict[str, NDArray[Any]], tokens: Sequence[bytes]) -> None:
    """One array becomes another: gone, renamed, of another shape, type or content."""
    if not arrays:
        arrays["x"] = np.zeros(3)
        return
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    kind = rng.randrange(9)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name + "x"] = arrays.pop(name)
    elif kind == 2:
        arrays[name] = arrays[rng.choice(sorted(arrays))]
    elif kind == 3:
        shapes: tuple[Any, ...] = (array.reshape(-1), array[None], array[..., None], array.T)
        arrays[name] = np.ascontiguousarray(rng.choice(shapes))
    elif kind == 4:
        cut = rng.choice((0, 1, max(0, array.size - 1)))
        arrays[name] = array.reshape(-1)[:cut]
    elif kind == 5:
        other = np.dtype(
            rng.choice(("u1", "i1", "u2", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "?"))
        )
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(other)
    elif kind == 6 and array.dtype == np.uint8 and array.ndim == 1:
        arrays[name] = _packed(rng, array, tokens)
    elif kind == 7:
        arrays[name] = np.array(rng.choice((0, 1, 99)), dtype=array.dtype)
    else:
        changed = array.copy().reshape(-1)
        if changed.size:
            info: Any = np.finfo if changed.dtype.kind == "f" else np.iinfo
            odd: list[Any] = [0, 1]
            if changed.dtype.kind in "fiu":
                odd += [info(changed.dtype).max, info(changed.dtype).min]
            if changed.dtype.kind == "f":
                odd += [np.nan, np.inf]
            changed[rng.randrange(changed.size)] = rng.choice(odd)
        arrays[name] = changed.reshape(array.shape)


def _packed(rng: Random, array: NDArray[np.uint8], tokens: Sequence[bytes]) -> NDArray[np.uint8]:
    """Something else that is packed as the array is, if it is: a bomb among them."""
    kind = rng.randrange(4)
    if kind == 0:
        part = _packed_zeros()
        return np.frombuffer(part * (_BOMB_BYTES // (16 << 20)), dtype=np.uint8)
    try:
        # Not all of it: it may be a bomb already.
        inside = lzma.LZMADecompressor().decompress(array.tobytes(), max_length=1 << 20)
    except lzma.LZMAError:
        inside = b""
    if kind == 1 and inside[8:9] == b"{":
        # What was cut before cannot be signed.
        with suppress(ArtefactError):
            inside = signed_again(rng, inside, "card abstraction", tokens)
    elif kind == 2:
        inside = inside[: len(inside) // 2]
    else:
        inside = spoil(rng, inside, Stock((inside,), tokens))
    return np.frombuffer(lzma.compress(inside, preset=0), dtype=np.uint8)


@cache
def _spots() -> tuple[bytes, ...]:
    return tuple(text.encode() for text in sample.SPOTS)


@cache
def _packed_zeros() -> bytes:
    return lzma.compress(bytes(16 << 20), preset=0)

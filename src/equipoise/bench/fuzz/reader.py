"""What a reader is to the fuzzer: a name, samples that it accepts, and a call that reads bytes.

A reader turns text or bytes from outside into objects. Whatever it is given, it has two ways out: it
returns, and what it read is *accepted*, or it raises an :class:`~equipoise.errors.EquipoiseError`, and
the input is *refused*. Some read by the command line's way, from text; most from a file, which is
written into a folder of the worker's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from equipoise.bench.fuzz.mutations import Stock, spoil
from equipoise.errors import EquipoiseError

#: Makes an input of the samples; :func:`spoil` unless a format needs more.
Spoiler = Callable[[Random, bytes, Stock], bytes]


@dataclass(frozen=True)
class Reader:
    """One reader of the package."""

    name: str
    #: How many of all inputs it gets, relative to the others.
    weight: float
    #: Inputs that it accepts; the same ones at every call.
    samples: Callable[[], list[bytes]]
    #: Reads bytes, in a folder that is its own.
    read: Callable[[bytes, Path], object]
    spoil: Spoiler = spoil


def from_text(name: str, weight: float, read: Callable[[str], object], *samples: str) -> Reader:
    """A reader of text; bytes that are no text arrive as they do from a shell."""
    return Reader(
        name,
        weight,
        lambda: [sample.encode() for sample in samples],
        lambda data, folder: read(data.decode("utf-8", "surrogateescape")),
    )


def from_file(
    name: str, weight: float, file: str, read: Callable[[Path], object], *samples: str | bytes
) -> Reader:
    """A reader of a file of the given name."""

    def read_bytes(data: bytes, folder: Path) -> object:
        path = folder / file
        path.write_bytes(data)
        return read(path)

    texts = [sample.encode() if isinstance(sample, str) else sample for sample in samples]
    return Reader(name, weight, lambda: texts, read_bytes)


def same(again: Any, first: Any, what: str) -> None:
    """What was accepted must be read from its own text as the same thing."""
    if again != first:
        raise AssertionError(f"{what} is read otherwise than it was written")


def refuse(sentence: str) -> None:
    """For readers that say by their answer, and not by an error, that they did not accept."""
    raise EquipoiseError(sentence)

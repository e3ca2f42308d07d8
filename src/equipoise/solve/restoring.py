"""What comes back from a file, taken only if a solver may have written it.

A checksum says that a file is as somebody left it, not that it makes sense: numbers of the wrong
kind, arrays of another size and values that are not finite are refused here, before anything is
computed with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import ArtefactError
from equipoise.settings import brief

Arrays = Mapping[str, NDArray[Any]]


def whole(told: object, what: str, least: int = 0, most: int = 2**62) -> int:
    """A whole number within bounds."""
    if isinstance(told, bool) or not isinstance(told, int) or not least <= told <= most:
        raise ArtefactError(f"{what} is {brief(told)}: make the file again")
    return told


def number(told: object, what: str, least: float = -1e300, most: float = 1e300) -> float:
    """A number within bounds, which are finite."""
    if isinstance(told, bool) or not isinstance(told, int | float) or not least <= told <= most:
        raise ArtefactError(f"{what} is {brief(told)}: make the file again")
    return float(told)


def truth(told: object, what: str) -> bool:
    """True or false."""
    if not isinstance(told, bool):
        raise ArtefactError(f"{what} is {brief(told)}: make the file again")
    return told


def table(told: object, what: str) -> dict[str, Any]:
    """A table of settings."""
    if not isinstance(told, dict):
        raise ArtefactError(f"{what} is {brief(told)}: make the file again")
    return told


def array(
    arrays: Arrays,
    name: str,
    shape: tuple[int, ...],
    *kinds: np.dtype[Any] | type,
    finite: bool = True,
) -> NDArray[Any]:
    """An array of this shape and one of these types, all of its numbers finite, if that is asked."""
    found = arrays.get(name)
    if found is None:
        raise ArtefactError(f"{name} is missing: make the file again")
    if found.shape != shape or found.dtype not in kinds:
        raise ArtefactError(f"{name} is of another size or type: make the file again")
    if finite and found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ArtefactError(f"{name} holds what is not a number: make the file again")
    return found


def restore(arrays: Arrays, targets: Arrays) -> None:
    """Copy what a file holds into the arrays of a solver, once all of it has been checked."""
    found = {
        name: array(arrays, name, target.shape, target.dtype) for name, target in targets.items()
    }
    for name, target in targets.items():
        np.copyto(target, found[name])


def check_finite(told: object, what: str) -> None:
    """Refuse a number that is not finite, however deep it stands in lists and tables."""
    parts = [told]
    while parts:
        part = parts.pop()
        if isinstance(part, float) and not math.isfinite(part):
            raise ArtefactError(f"{what} holds {part}: make the file again")
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, list):
            parts += part

"""Chances in whole parts, written so that they pack well.

Most hands play one action. So what is played is told decision by decision and action by action, as one
*kind* for each column that still has something to give: none of it, all that is left, or a part. Of the last
action nothing need be said, and a hand of one action takes one kind for each action up to it. The parts
themselves stand apart, their high bytes before their low ones: three streams of very different bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import ArtefactError

#: Kinds: nothing of what is left, all of it, or a part.
NONE, REST, PART = 0, 1, 2

Bytes = NDArray[np.uint8]
#: What is played at a decision: [action, column].
Block = NDArray[Any]


def write_symbols(blocks: Iterable[Block], parts: int) -> tuple[bytes, bytes]:
    """Kinds of blocks in whole parts, and the parts of those that are neither none nor all.

    >>> write_symbols([np.array([[255, 0, 0], [0, 100, 0], [0, 155, 255]], np.uint8)], 255)
    (b'\\x01\\x00\\x00\\x02\\x00', b'd')
    """
    kinds, shares = [np.empty(0, np.uint8)], [np.empty(0, np.uint16)]
    for block in blocks:
        left = np.full(block.shape[1], parts, dtype=np.int64)
        for played in block[:-1]:
            still = left > 0
            here = played[still]
            some = (here > 0) & (here < left[still])
            kinds.append(np.where(here == 0, NONE, np.where(some, PART, REST)).astype(np.uint8))
            shares.append(here[some].astype(np.uint16))
            left -= played
    return np.concatenate(kinds).tobytes(), _planes(np.concatenate(shares), parts)


def _planes(shares: NDArray[np.uint16], parts: int) -> bytes:
    low = (shares & 255).astype(np.uint8).tobytes()
    return (shares >> 8).astype(np.uint8).tobytes() + low if parts > 255 else low


def read_symbols(kinds: bytes, shares: bytes, blocks: Iterator[Block], parts: int) -> None:
    """Fill blocks with what :func:`write_symbols` wrote, all of it and nothing else."""
    told = np.frombuffer(kinds, dtype=np.uint8)
    values = _values(shares, parts)
    at = used = 0
    for block in blocks:
        left = np.full(block.shape[1], parts, dtype=np.int64)
        for played in block[:-1]:
            still = np.flatnonzero(left)
            here = _taken(told, at, len(still))
            some = still[here == PART]
            given = _taken(values, used, len(some))
            at, used = at + len(still), used + len(some)
            all_left = still[here == REST]
            played[:] = 0
            played[some] = given
            played[all_left] = left[all_left]
            # Somebody takes part of what is left, never more and never all or nothing.
            if (here > PART).any() or (given >= left[some]).any() or not given.all():
                raise ArtefactError("what it plays are not probabilities")
            left[some] -= given
            left[all_left] = 0
        block[-1] = left
    if at != len(told) or used != len(values):
        surplus = len(told) - at + len(values) - used
        raise ArtefactError(f"{surplus:,} numbers more than its game has")


def _taken(stream: NDArray[Any], at: int, count: int) -> NDArray[Any]:
    """The next numbers of a stream, all that are asked for."""
    if at + count > len(stream):
        raise ArtefactError("what it holds is cut short")
    return stream[at : at + count]


def _values(shares: bytes, parts: int) -> NDArray[np.int64]:
    planes = np.frombuffer(shares, dtype=np.uint8).astype(np.int64)
    if parts <= 255:
        return planes
    if len(planes) % 2:
        raise ArtefactError("what it holds is cut short")
    high, low = planes.reshape(2, -1)
    return high * 256 + low

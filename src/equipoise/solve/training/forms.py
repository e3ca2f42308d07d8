"""The forms in which a trained strategy is kept: how its numbers are written, packed and read.

For every decision of a betting tree there is a block [action, column] in one flat array, blocks in the
order of the nodes. There are seven forms:

    fine     probabilities in 65,535ths, two bytes each
    trim     the same, of what comes up (:mod:`.slim`): a tenth of that in a file
    lean     in 4,095ths, of what comes up
    full     in 255ths, one byte
    slim     the same, of what comes up
    coarse   in 15ths, one byte that packs well
    pure     only the likeliest action, as its number, one byte a column; ties are broken at random

A block is read whole (:meth:`BlueprintRows.table`) or one column of it, in a microsecond or two
(:meth:`BlueprintRows.mix`). Both give the same probabilities, in double precision.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting
from equipoise.kernel import cores
from equipoise.settings import choose
from equipoise.solve.training.symbols import read_symbols, write_symbols

#: Parts in which each form counts probabilities; 0 is the number of an action.
FORMS = {
    "fine": 65_535,
    "trim": 65_535,
    "lean": 4_095,
    "full": 255,
    "slim": 255,
    "coarse": 15,
    "pure": 0,
}
#: Forms without what never comes up, written as symbols.
SLIM = ("trim", "lean", "slim")
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 4}]
#: The same for streams of single bytes, one as likely as the other at any place.
_BYTES = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "pb": 0}]
#: Bytes that are packed and unpacked at a time, and that unpacking may need.
_PIECE, _MOST_MEMORY = 1 << 16, 1 << 27

Bytes = NDArray[np.uint8]
Parts = NDArray[np.uint8 | np.uint16]
Floats = NDArray[np.float64]


def part_type(form: str) -> type[np.uint8 | np.uint16]:
    """What the numbers of a form are kept in."""
    return np.uint16 if FORMS[form] > 255 else np.uint8


def quantised(probabilities: NDArray[Any], parts: int) -> Parts:
    """Probabilities [action, column] in whole parts that sum to `parts` in every column.

    >>> quantised(np.array([[0.5, 0.0], [0.3, 1.0], [0.2, 0.0]]), 15).T.tolist()
    [[8, 4, 3], [0, 15, 0]]
    """
    scaled = np.asarray(probabilities, dtype=np.float64) * parts
    whole = np.floor(scaled + 1e-9)
    missing = parts - whole.sum(axis=0)
    # The largest remainders are rounded up.
    place = np.argsort(np.argsort(whole - scaled, axis=0, kind="stable"), axis=0, kind="stable")
    found: Parts = (whole + (place < missing)).astype(np.uint16 if parts > 255 else np.uint8)
    return found


def likeliest(probabilities: NDArray[Any], rng: np.random.Generator) -> Bytes:
    """Number of the likeliest action in each column, ties at random: uint8[column]."""
    best = probabilities >= probabilities.max(axis=0) - 1e-9
    found: Bytes = np.argmax(best * (1 + rng.random(best.shape)), axis=0).astype(np.uint8)
    return found


@dataclass(frozen=True, eq=False)
class BlueprintRows:
    """Where the block of each decision stands, and what its numbers mean."""

    form: str
    #: First number of a decision's block; -1 at other nodes.
    offset: NDArray[np.int64]
    #: Columns of a decision's block, and its actions; 0 at other nodes.
    columns: NDArray[np.int64]
    actions: NDArray[np.int64]
    #: Numbers in all.
    size: int

    @classmethod
    def of(cls, betting: Betting, columns: Sequence[int], form: str) -> BlueprintRows:
        """The rows of a betting tree with so many columns on each street."""
        pure = not FORMS[choose(form, FORMS, "form")]
        nodes = np.flatnonzero(betting.kind < 2)
        street = np.searchsorted(betting.start, nodes, side="right") - 1
        widths = np.array(columns)[street]
        wide, actions, offset = (np.zeros(len(betting.kind), np.int64) for _ in range(3))
        wide[nodes], actions[nodes] = widths, betting.count[nodes]
        sizes = widths * (1 if pure else betting.count[nodes])
        offset[:] = -1
        offset[nodes] = np.cumsum(sizes) - sizes
        return cls(form, offset, wide, actions, int(sizes.sum()))

    @property
    def parts(self) -> int:
        """Parts in which probabilities are counted; 0 where a column is the number of an action."""
        return FORMS[self.form]

    @property
    def nodes(self) -> list[int]:
        """The decisions."""
        found: list[int] = np.flatnonzero(self.offset >= 0).tolist()
        return found

    def encode(self, tables: Callable[[int], NDArray[Any]], seed: int) -> Parts:
        """The numbers for what `tables` says is played at each decision: [action, column]."""
        rng = np.random.default_rng(seed)
        numbers = np.empty(self.size, dtype=part_type(self.form))
        for node in self.nodes:
            table = tables(node)
            block = quantised(table, self.parts) if self.parts else likeliest(table, rng)
            start = int(self.offset[node])
            numbers[start : start + block.size] = block.reshape(-1)
        return numbers

    def blocks(self, numbers: Parts) -> Iterator[Parts]:
        """The block of each decision, [action, column]; of a form that counts in parts."""
        for node in self.nodes:
            start, columns, actions = self._block(node)
            yield numbers[start : start + actions * columns].reshape(actions, columns)

    def packed(self, numbers: Parts) -> dict[str, Bytes]:
        """The numbers as a file keeps them, by the names of its arrays."""
        if self.form not in SLIM:
            return {"weights": pack(numbers.tobytes())}
        kinds, shares = write_symbols(self.blocks(numbers), self.parts)
        return {"weights": pack(kinds, _BYTES), "shares": pack(shares, _BYTES)}

    def table(self, numbers: Parts, node: int) -> Floats:
        """What is played at a decision: float64[action, column]."""
        start, columns, actions = self._block(node)
        if not self.parts:
            chosen = numbers[start : start + columns]
            pure: Floats = (chosen[None] == np.arange(actions)[:, None]).astype(np.float64)
            return pure
        block = numbers[start : start + actions * columns].reshape(actions, columns)
        shares: Floats = block / float(self.parts)
        return shares

    def mix(self, numbers: Parts, node: int, column: int) -> list[float]:
        """What is played with one column of a decision: a probability for each action."""
        start, columns, actions = self._block(node)
        if not 0 <= column < columns:
            raise SolverError(f"node {node} with column {column}: no such decision")
        if not self.parts:
            chosen = int(numbers[start + column])
            return [float(action == chosen) for action in range(actions)]
        whole = self.parts
        found: list[int] = numbers[start + column : start + actions * columns : columns].tolist()
        return [part / whole for part in found]

    def make_sense(self, numbers: Parts) -> bool:
        """Whether every number is what its form says: a share of a whole, or a legal action."""
        if not self.parts:
            nodes = self.nodes
            legal = np.repeat(self.actions[nodes].astype(np.uint8), self.columns[nodes])
            return bool((numbers < legal).all())
        for block in self.blocks(numbers):
            missing = block.sum(axis=0, dtype=np.int64) - self.parts
            # Rounding may miss the whole by one for each action.
            if np.abs(missing).max() > len(block):
                return False
        return True

    def _block(self, node: int) -> tuple[int, int, int]:
        """First number of a block, its columns and its actions."""
        start = int(self.offset[node])
        if start < 0:
            raise SolverError(f"node {node}: no decision")
        return start, int(self.columns[node]), int(self.actions[node])


def pack(data: bytes, filters: list[dict[str, int]] = _FILTERS) -> Bytes:
    """Packed (LZMA) in as many streams as there are cores; read as one."""
    size = max(1, -(-len(data) // cores()))
    parts = [data[first : first + size] for first in range(0, len(data), size)]
    with ThreadPoolExecutor(max(1, len(parts))) as pool:
        packed = pool.map(
            lambda part: lzma.compress(part, format=lzma.FORMAT_XZ, filters=filters), parts
        )
        return np.frombuffer(b"".join(packed), dtype=np.uint8)


def unpack(packed: Bytes, most: int) -> Iterator[bytes]:
    """What was packed, piece by piece, and never more than `most` bytes, whatever a file says."""
    data, at, left = packed.reshape(-1).view(np.uint8).data, 0, most
    while at < len(data):
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, _MOST_MEMORY)
        given: bytes | memoryview = b""
        while not stream.eof:
            if stream.needs_input:
                given = data[at : at + _PIECE]
                at += len(given)
                if not given:
                    raise ArtefactError("what it holds is cut short")
            part = stream.decompress(given, min(left + 1, _PIECE))
            given = b""
            if len(part) > left:
                raise ArtefactError(f"it unpacks to more than {most:,} bytes")
            left -= len(part)
            yield part
        at -= len(stream.unused_data)


def fill_unpacked(packed: Mapping[str, Bytes], rows: BlueprintRows, out: Parts) -> None:
    """Unpack the numbers of a strategy, all of them and nothing else."""
    if rows.form in SLIM:
        # At the most a kind, and a part in one byte or two, for each number.
        kinds = b"".join(unpack(packed["weights"], rows.size))
        shares = b"".join(unpack(packed["shares"], out.nbytes))
        read_symbols(kinds, shares, rows.blocks(out), rows.parts)
        return
    room, at = out.view(np.uint8), 0
    for part in unpack(packed["weights"], len(room)):
        room[at : at + len(part)] = np.frombuffer(part, dtype=np.uint8)
        at += len(part)
    if at != len(room):
        raise ArtefactError(f"{at:,} bytes in place of {len(room):,}")
    if not rows.make_sense(out):
        raise ArtefactError("what it plays are not probabilities")

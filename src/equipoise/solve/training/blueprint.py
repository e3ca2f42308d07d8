"""A blueprint: a trained strategy as a file to play from, whatever solver made it.

For every decision of the betting tree it holds what is played in each bucket: a block
[action, column] in one flat array, blocks in the order of the nodes. A column is a bucket, or where
players know the class of the board (class · buckets + bucket). There are four forms:

    fine     probabilities in 65,535ths, two bytes each
    full     in 255ths, one byte
    coarse   in 15ths, one byte that packs well
    pure     only the likeliest action, as its number, one byte a column; ties are broken at random

The array and the card abstraction are packed (LZMA) into one artefact, with the recipe, the time it
took and the exploitability reached. A large array is unpacked once, into the cache folder, and
mapped from there.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.tables.transitions import class_of_boards, street_of
from equipoise.cache import cache_folder, cached_table
from equipoise.errors import ArtefactError, SolverError
from equipoise.files import aside
from equipoise.games.betting import Betting, measure
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.settings import choose
from equipoise.solve.sampling.rows import CardStrategy
from equipoise.solve.strategies.strategy import Strategy
from equipoise.solve.sweep.tableau import Tableau
from equipoise.solve.training.recipe import Recipe

_KIND = "blueprint"
#: Parts in which each form counts probabilities; 0 is the number of an action.
FORMS = {"fine": 65_535, "full": 255, "coarse": 15, "pure": 0}
#: Numbers from which on the unpacked array is kept in the cache folder.
_WORTH_KEEPING = 4_000_000
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 4}]
#: Bytes that are packed and unpacked at a time, and that unpacking may need.
_PIECE, _MOST_MEMORY = 1 << 16, 1 << 27
#: Bytes of the largest card abstraction that is unpacked.
_MOST_BUCKETS = 1 << 28

Bytes = NDArray[np.uint8]
Parts = NDArray[np.uint8 | np.uint16]
Floats = NDArray[np.float32]
#: What is played at a decision: [action, column].
Rows = Callable[[int], NDArray[Any]]


def known_classes(classes: NDArray[np.int8] | None, street: int) -> int:
    """How many public classes of boards players tell apart on a street.

    >>> known_classes(np.arange(1755, dtype=np.int16) % 11, 2), known_classes(None, 2)
    (11, 1)
    """
    return 1 if classes is None or street < street_of(classes) else int(classes.max()) + 1


def part_type(form: str) -> type[np.uint8 | np.uint16]:
    """What the numbers of a form are kept in."""
    return np.uint16 if form == "fine" else np.uint8


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
class Layout:
    """Where the block of each decision stands."""

    #: First number of a decision's block; -1 at other nodes.
    offset: NDArray[np.int64]
    #: Columns of a decision's block, and its actions; 0 at other nodes.
    columns: NDArray[np.int64]
    actions: NDArray[np.int64]
    #: Numbers in all.
    size: int

    @classmethod
    def of(
        cls,
        betting: Betting,
        buckets: tuple[int, ...],
        classes: NDArray[np.int8] | None,
        pure: bool,
    ) -> Layout:
        """The layout over buckets of each street, in the classes of boards."""
        nodes = np.flatnonzero(betting.kind < 2)
        street = np.searchsorted(betting.start, nodes, side="right") - 1
        widths = np.array([n * known_classes(classes, s) for s, n in enumerate(buckets)])
        columns, actions, offset = (np.zeros(len(betting.kind), np.int64) for _ in range(3))
        columns[nodes], actions[nodes] = widths[street], betting.count[nodes]
        sizes = widths[street] * (1 if pure else betting.count[nodes])
        offset[:] = -1
        offset[nodes] = np.cumsum(sizes) - sizes
        return cls(offset, columns, actions, int(sizes.sum()))


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What both players do at each decision in each bucket."""

    recipe: Recipe
    abstraction: Abstraction
    form: str
    weights: Parts
    #: Public class of each canonical board of one street, if players know it.
    classes: NDArray[np.int8] | None = None
    #: How it was trained: seconds, iterations, exploitability_bb, judged_bb.
    facts: Mapping[str, Any] = field(default_factory=dict)
    #: The betting tree where it is at hand: building it again would take seconds.
    tree: InitVar[Betting | None] = None

    def __post_init__(self, tree: Betting | None) -> None:
        choose(self.form, FORMS, "form")
        if tree is not None:
            self.__dict__["betting"] = tree
        if len(self.weights) != self.layout.size:
            raise ArtefactError(
                f"{self.recipe.name}: the strategy has {len(self.weights):,} numbers where its game "
                f"needs {self.layout.size:,}: train it again"
            )

    @property
    def name(self) -> str:
        """The recipe's name."""
        return self.recipe.name

    @cached_property
    def betting(self) -> Betting:
        """The betting tree."""
        return Betting.build(self.recipe.rules, self.recipe.menu)

    @cached_property
    def layout(self) -> Layout:
        """Where the numbers stand."""
        pure = self.form == "pure"
        return Layout.of(self.betting, self.abstraction.counts, self.classes, pure)

    # -------------------------------------------------------------------------------- answers

    def board_class(self, board: NDArray[Any] | tuple[int, ...]) -> int:
        """Public class of a board, 0 while it is not known or if there are none."""
        if self.classes is None or len(board) < street_of(self.classes) + 2:
            return 0
        return int(class_of_boards(np.array([tuple(board)], dtype=np.uint8), self.classes)[0])

    def column(self, node: int, bucket: int, board_class: int = 0) -> int:
        """Column of a bucket at a decision."""
        return bucket + board_class * self.abstraction.counts[self.betting.round_of(node)]

    def probabilities(self, node: int, bucket: int, board_class: int = 0) -> Floats:
        """What is played with one bucket at a decision: float32[actions]."""
        layout, column = self.layout, self.column(node, bucket, board_class)
        start, columns = int(layout.offset[node]), int(layout.columns[node])
        if start < 0 or not 0 <= column < columns:
            raise SolverError(f"node {node} with bucket {bucket}: no such decision")
        actions = int(layout.actions[node])
        if self.form == "pure":
            found = np.zeros(actions, dtype=np.float32)
            found[self.weights[start + column]] = 1.0
            return found
        parts = self.weights[start + column : start + actions * columns : columns]
        shares: Floats = (parts / np.float32(FORMS[self.form])).astype(np.float32)
        return shares

    def rows(self, node: int) -> Floats:
        """What is played at a decision: float32[actions, columns]."""
        layout = self.layout
        start, columns = int(layout.offset[node]), int(layout.columns[node])
        if start < 0:
            raise SolverError(f"node {node}: no decision")
        actions = int(layout.actions[node])
        if self.form == "pure":
            chosen = self.weights[start : start + columns]
            pure: Floats = (chosen[None] == np.arange(actions)[:, None]).astype(np.float32)
            return pure
        block = self.weights[start : start + actions * columns].reshape(actions, columns)
        return (block / np.float32(FORMS[self.form])).astype(np.float32)

    def exploitability_bb(self, game: Game, threads: int | None = None) -> float:
        """Exploitability of what is played in `game`, one of the same buckets and betting."""
        tableau = Tableau(game, "float32", threads)
        rows = tableau.rows()
        for b, node in tableau.index.decisions():
            block = tableau.index.block(rows, b, node)
            label = game.deal.boards[b].cards
            first = int(label[0]) * block.shape[1] if self.classes is not None and label else 0
            block[:] = self.rows(node)[:, first : first + block.shape[1]]
        return tableau.exploitability(rows) / self.recipe.rules.big_blind

    # ----------------------------------------------------------------------------- other forms

    def in_form(self, form: str, seed: int = 0) -> Blueprint:
        """The same strategy in another form, which can only be a coarser one."""
        if form == self.form:
            return self
        order = list(FORMS)
        if order.index(choose(form, FORMS, "form")) < order.index(self.form):
            raise SolverError(f"a {self.form} strategy cannot be made {form}: train it again")
        return _packed(
            self.recipe, self.abstraction, self.betting, self.rows, form, self.classes,
            dict(self.facts), seed,
        )  # fmt: skip

    # ----------------------------------------------------------------------------------- files

    def save(self, path: str | Path) -> int:
        """Write the artefact; the answer is its size in bytes."""
        arrays: dict[str, NDArray[Any]] = {
            "weights": _compressed(self.weights.tobytes()),
            "abstraction": _compressed(self.abstraction.to_bytes()),
        }
        if self.classes is not None:
            arrays["classes"] = self.classes
        configuration = {
            "recipe": self.recipe.to_dict(),
            "form": self.form,
            "abstraction": self.abstraction.fingerprint,
            "numbers": len(self.weights),
        }
        artefact.write(path, _KIND, configuration, arrays, facts=dict(self.facts))
        return Path(path).stat().st_size

    @classmethod
    def load(cls, path: str | Path) -> Blueprint:
        """Read an artefact; a damaged or foreign file is refused."""
        manifest, arrays = artefact.read(path, _KIND)
        with artefact.understanding(path, _KIND):
            told = manifest["configuration"]
            form = choose(told["form"], FORMS, "form")
            recipe, size = Recipe.from_dict(told["recipe"]), told["numbers"]
            abstraction = _unpacked_abstraction(arrays["abstraction"], told["abstraction"])
            classes = _known(arrays.get("classes"), recipe.model.classed)
            needed = _numbers(recipe, abstraction, classes, form)
            if size != needed:
                raise ArtefactError(f"{size!s:.40} numbers where its game needs {needed:,}")
            betting = Betting.build(recipe.rules, recipe.menu)
            layout = Layout.of(betting, abstraction.counts, classes, pure=form == "pure")
            weights = _unpacked_weights(arrays["weights"], layout, form, manifest["checksum"])
            facts = dict(manifest["facts"])
            return cls(recipe, abstraction, form, weights, classes, facts, betting)


def _compressed(data: bytes) -> Bytes:
    """Packed in as many streams as there are cores; read as one."""
    size = -(-len(data) // cores())
    parts = [data[first : first + size] for first in range(0, len(data), size)]
    with ThreadPoolExecutor(len(parts)) as pool:
        packed = pool.map(
            lambda part: lzma.compress(part, format=lzma.FORMAT_XZ, filters=_FILTERS), parts
        )
        return np.frombuffer(b"".join(packed), dtype=np.uint8)


def _unpacked(packed: Bytes, most: int) -> Iterator[bytes]:
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


def _numbers(
    recipe: Recipe, abstraction: Abstraction, classes: NDArray[np.int8] | None, form: str
) -> int:
    """Numbers of a strategy, counted without building its betting tree."""
    size = measure(recipe.rules, recipe.menu)
    blocks = size.decisions if form == "pure" else tuple(map(sum, size.rows))
    return sum(
        block * buckets * known_classes(classes, street)
        for street, (block, buckets) in enumerate(zip(blocks, abstraction.counts, strict=True))
    )


def _known(classes: NDArray[Any] | None, street: int) -> NDArray[np.int8] | None:
    """Classes of the boards of a street, as a file gives them; street 0 has none."""
    if classes is None and not street:
        return None
    if classes is None or street_of(classes) != street:
        raise ArtefactError("classes of other boards")
    count = int(classes.max()) + 1
    if classes.dtype.kind not in "iu" or not np.array_equal(np.unique(classes), np.arange(count)):
        raise ArtefactError("classes of boards that are not numbered 0, 1, 2 …")
    return classes


def _make_sense(weights: Parts, layout: Layout, form: str) -> bool:
    """Whether every number is what its form says: a share of a whole, or a legal action."""
    nodes, parts = np.flatnonzero(layout.offset >= 0), FORMS[form]
    if not parts:
        legal = np.repeat(layout.actions[nodes].astype(np.uint8), layout.columns[nodes])
        return bool((weights < legal).all())
    for node in nodes.tolist():
        start, actions = int(layout.offset[node]), int(layout.actions[node])
        block = weights[start : start + actions * int(layout.columns[node])]
        missing = block.reshape(actions, -1).sum(axis=0, dtype=np.int64) - parts
        # Rounding may miss the whole by one for each action.
        if np.abs(missing).max() > actions:
            return False
    return True


def _unpacked_weights(packed: Bytes, layout: Layout, form: str, checksum: str) -> Parts:
    size, kept_in = layout.size, part_type(form)

    def fill(out: Parts) -> None:
        room, at = out.view(np.uint8), 0
        for part in _unpacked(packed, len(room)):
            room[at : at + len(part)] = np.frombuffer(part, dtype=np.uint8)
            at += len(part)
        if at != len(room):
            raise ArtefactError(f"{at:,} bytes in place of {len(room):,}")
        if not _make_sense(out, layout, form):
            raise ArtefactError("what it plays are not probabilities")

    if size >= _WORTH_KEEPING:
        return cached_table("blueprint", {"checksum": checksum}, (size,), kept_in, fill)
    weights = np.empty(size, dtype=kept_in)
    fill(weights)
    return weights


def _unpacked_abstraction(packed: Bytes, fingerprint: str) -> Abstraction:
    if not re.fullmatch("[0-9a-f]{16}", fingerprint):
        raise ArtefactError("its buckets have no fingerprint")
    path = cache_folder() / f"buckets-of-{fingerprint}.safetensors"
    with suppress(ArtefactError):
        found = Abstraction.load(path)
        if found.fingerprint == fingerprint:
            return found
    with aside(path) as beside:
        with beside.open("wb") as file:
            file.writelines(_unpacked(packed, _MOST_BUCKETS))
        found = Abstraction.load(beside)
        if found.fingerprint != fingerprint:
            raise ArtefactError("its buckets are not those it was trained with")
    return found


def _packed(
    recipe: Recipe,
    abstraction: Abstraction,
    betting: Betting,
    rows: Rows,
    form: str,
    classes: NDArray[np.int8] | None,
    facts: dict[str, Any],
    seed: int,
) -> Blueprint:
    """A blueprint of what `rows` says of every decision: [action, column]."""
    parts, rng = FORMS[choose(form, FORMS, "form")], np.random.default_rng(seed)
    layout = Layout.of(betting, abstraction.counts, classes, pure=not parts)
    weights = np.empty(layout.size, dtype=part_type(form))
    for node in np.flatnonzero(layout.offset >= 0).tolist():
        table = rows(node)
        block = quantised(table, parts) if parts else likeliest(table, rng)
        start = int(layout.offset[node])
        weights[start : start + block.size] = block.reshape(-1)
    return Blueprint(recipe, abstraction, form, weights, classes, facts, betting)


def make_blueprint(
    recipe: Recipe,
    abstraction: Abstraction,
    strategy: Strategy | CardStrategy,
    form: str = "full",
    classes: NDArray[np.int8] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Blueprint:
    """A trained strategy as a blueprint."""
    betting, rows = _rows_of(strategy)
    return _packed(
        recipe, abstraction, betting, rows, form, classes, dict(facts or {}), recipe.seed
    )


def _rows_of(strategy: Strategy | CardStrategy) -> tuple[Betting, Rows]:
    """The betting, and what is played at each decision: [action, column]."""
    if isinstance(strategy, CardStrategy):
        return strategy.layout.betting, strategy.at
    game = strategy.game
    of_street = [
        [b for b, board in enumerate(game.deal.boards) if board.round == street]
        for street in range(game.betting.rounds)
    ]

    def rows(node: int) -> NDArray[Any]:
        here = of_street[game.betting.round_of(node)]
        return np.concatenate([strategy.at(node, b) for b in here], axis=1)

    return game.betting, rows

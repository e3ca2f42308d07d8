"""From a recipe to a game that a solver can run on: buckets, tables, betting, and a judge.

Everything large is made once and kept in the cache folder. What it will take is told before any of it
is made, and refused if it does not fit.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.abstraction import methods
from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.publicclasses import board_classes
from equipoise.abstraction.tables.bucketgame import bucket_game, independent_game
from equipoise.abstraction.tables.joint import JointTables, joint_tables
from equipoise.abstraction.tables.transitions import transitions
from equipoise.errors import RecipeError, TooLargeError
from equipoise.games.betting import Betting, measure
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.run import Event, Listener, about
from equipoise.solve.registry import TRAINERS
from equipoise.solve.sampling.deals import HoldemDeals
from equipoise.solve.sampling.mccfr import CardGame
from equipoise.solve.sampling.publicstack import HANDS
from equipoise.solve.solvers.solver import Solvable, Solver
from equipoise.solve.training.recipe import Recipe
from equipoise.workers import available_bytes

#: Public classes of flops in Fell Omen 2's model, of boards of four cards and of five.
_PUBLIC_CLASSES = (1, 11, 11, 6)
#: Added to the seed of the training boards for the boards that judge.
_JUDGE_SEED = 1_000_000
#: Floating-point operations a second of one thread in products of large matrices, and numbers a
#: second in everything else; rough, until the run has measured itself.
_FLOPS, _NUMBERS = 1.0e11, 1.2e9
#: Numbers a second of one thread in walks with all hands, buckets at random places in memory.
_HAND_NUMBERS = 3.6e8
#: River buckets that a board has, about; moving them to and fro takes eight times a sweep's time.
_ON_A_BOARD = 180
#: Share of the memory that is free which a run may take.
_SHARE = 0.9


class _Shape(NamedTuple):
    """The size of a game of buckets, street by street."""

    #: Betting nodes that are no decision.
    ends: Sequence[int]
    rows: Sequence[int]
    buckets: Sequence[int]
    #: Boards in public classes.
    classes: Sequence[int]


def _game_seconds(shape: _Shape) -> float:
    """A sweep: at the ends two products of a vector with a table, and every number once."""
    work = sum(4 * e * b * b * m for e, _, b, m in zip(*shape, strict=True))
    numbers = sum(r * b * m for _, r, b, m in zip(*shape, strict=True))
    return work / _FLOPS + numbers / _NUMBERS


def _board_seconds(shape: _Shape) -> float:
    """A sweep over the buckets of a board, which are moved to and fro."""
    here = [min(count, _ON_A_BOARD) for count in shape.buckets]
    work = sum(4 * e * b * b for e, b in zip(shape.ends, here, strict=True))
    moved = 8 * sum(r * b for r, b in zip(shape.rows, here, strict=True))
    return work / _FLOPS + moved / _NUMBERS


def _deal_seconds(shape: _Shape) -> float:
    """Two walks, whatever the size."""
    return 40e-6


def _hands_seconds(shape: _Shape) -> float:
    """Two walks with all hands that a board leaves: each takes up every row and every end."""
    return 2 * HANDS * (sum(shape.rows) + sum(shape.ends)) / _HAND_NUMBERS


#: Seconds of an iteration on one thread, by what it looks at.
_SECONDS = {
    "game": _game_seconds,
    "board": _board_seconds,
    "hands": _hands_seconds,
    "deal": _deal_seconds,
}


@dataclass(frozen=True)
class TrainingEstimate:
    """What a run needs, before it starts."""

    #: Betting nodes, and rows (decision, action) of both players on all streets.
    nodes: int
    rows: int
    #: Buckets of each street, and public classes of boards.
    buckets: tuple[int, ...]
    classes: int
    #: Information sets and actions of both players together.
    sequences: int
    memory_bytes: int
    #: In the run's folder.
    disk_bytes: int
    #: A guess for this machine; for sampling solvers that of one sample.
    iteration_seconds: float

    @classmethod
    def of(cls, recipe: Recipe, threads: int = 1) -> TrainingEstimate:
        """Count without building anything.

        >>> estimate = TrainingEstimate.of(Recipe.shipped("tartanian5-m"))
        >>> estimate.nodes, estimate.buckets
        (15949, (8, 96, 384, 1536))
        """
        size = measure(recipe.rules, recipe.menu)
        buckets = methods.bucket_counts(recipe.abstraction)
        classed = recipe.model.classed
        classes = _PUBLIC_CLASSES[classed]
        many = [classes if classed and street >= classed else 1 for street in range(len(buckets))]
        rows = [sum(pair) for pair in size.rows]
        sequences = sum(r * b * m for r, b, m in zip(rows, buckets, many, strict=True))
        squares = sum(b * b * m for b, m in zip(buckets, many, strict=True))
        ends = [n - d for n, d in zip(size.nodes, size.decisions, strict=True)]
        trainer = TRAINERS[recipe.solver]
        seconds = _SECONDS[trainer.scope](_Shape(ends, rows, buckets, many)) / threads
        seconds *= trainer.deals_of(recipe.solver_settings)
        # Regrets and plan, or what stands for them, and the best plan so far.
        kept = trainer.numbers_kept
        # Tables in single precision, once as counted and once as laid out; and those of the judge.
        tables = 2 * (not recipe.model.dealt) + 2 * (recipe.model.judge != 0)
        memory = 4 * kept * sequences + 8 * tables * squares + 64 * sum(size.nodes) * 16
        return cls(
            nodes=size.total,
            rows=sum(rows),
            buckets=buckets,
            classes=classes,
            sequences=sequences,
            memory_bytes=memory + 600_000_000,
            disk_bytes=4 * kept * sequences + sequences,
            iteration_seconds=seconds,
        )

    def check(self, folder: Path) -> None:
        """Refuse what does not fit into memory or onto the disk."""
        room = int(_SHARE * available_bytes())
        if self.memory_bytes > room:
            raise TooLargeError(
                f"the run needs {gigabytes(self.memory_bytes)} of memory and {gigabytes(room)} are "
                "free: use fewer buckets or bet sizes"
            )
        parent = folder
        while not parent.exists() and parent != parent.parent:
            parent = parent.parent
        free = shutil.disk_usage(parent).free
        # A checkpoint is written beside the one it replaces.
        if 2 * self.disk_bytes > free:
            raise TooLargeError(
                f"the run writes {gigabytes(2 * self.disk_bytes)} into {folder} and "
                f"{gigabytes(free)} are free: make room, or choose another folder with --out"
            )

    def __str__(self) -> str:
        classes = f", {self.classes} public classes of boards" if self.classes > 1 else ""
        seconds = self.iteration_seconds
        unit = f"{seconds:.2g} s" if seconds > 0.1 else f"{1000 * seconds:.2g} ms"
        return (
            f"{self.nodes:,} betting nodes, {'-'.join(map(str, self.buckets))} buckets{classes}, "
            f"{self.sequences:,} sequences; about {gigabytes(self.memory_bytes)} of memory, "
            f"{gigabytes(self.disk_bytes)} on disk, {unit} an iteration"
        )


def gigabytes(size: float) -> str:
    """A size for people."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _game_elsewhere(told: dict[str, Any]) -> CardGame:
    """The game of a recipe, made in another process; nobody judges there."""
    return TrainingModel(Recipe.from_dict(told)).unjudged


def _nobody(event: Event) -> None:
    """Progress that nobody asked for."""


class TrainingModel:
    """Buckets, games and solvers of a recipe; each made when first asked for."""

    def __init__(
        self,
        recipe: Recipe,
        threads: int | None = None,
        progress: Listener | None = None,
        abstraction: Abstraction | None = None,
        workers: int | None = None,
        address: str | None = None,
    ) -> None:
        """`abstraction` are the buckets where they are at hand already.

        With `workers` the solver's work is divided among processes of a Ray cluster, that at `address`
        or one started for it.
        """
        divided = workers is not None or address is not None
        if divided and "workers" not in TRAINERS[recipe.solver].beside:
            raise RecipeError(
                f"solver.name = {recipe.solver!r} is not divided among workers: use a recipe whose "
                'solver is "sharded", such as claudico'
            )
        self._workers = workers or 1
        self._address = (address or "local") if divided else None
        self.recipe = recipe
        if abstraction is not None:
            self.__dict__["abstraction"] = abstraction
        self.threads = threads or cores()
        self._progress = progress or _nobody

    def _hear(self, what: str) -> Listener:
        return about(what, self._progress)

    @cached_property
    def abstraction(self) -> Abstraction:
        """The buckets."""
        made = methods.make_abstraction(
            self.recipe.abstraction,
            self._progress,
            self._hear("features"),
        )
        made.lookup(self._hear("features"))
        return made

    def _tables(self, boards: int | None, seed: int, what: str) -> JointTables:
        return joint_tables(self.abstraction, boards, seed, self._hear(what))

    @cached_property
    def classes(self) -> np.ndarray[Any, np.dtype[np.int8]] | None:
        """Public class of each canonical board of the classed street, if there is one."""
        model = self.recipe.model
        if not model.classed:
            return None
        # Written in a few digits, chances sum to nearly 1.
        reraise, call = (
            np.array(given) / sum(given) if given else None for given in (model.reraise, model.call)
        )
        return board_classes(model.classed + 2, reraise, call).of_board

    @cached_property
    def betting(self) -> Betting:
        """The betting tree."""
        return Betting.build(self.recipe.rules, self.recipe.menu)

    @cached_property
    def game(self) -> Game | None:
        """The game that is solved; none if it is played on real cards."""
        recipe, model = self.recipe, self.recipe.model
        if model.dealt:
            return None
        if model.kind == "joint":
            tables = self._tables(model.boards, model.seed, "joint tables")
            return bucket_game(recipe.rules, tables, recipe.menu)
        chances = transitions(
            self.abstraction,
            model.boards,
            model.seed,
            self.classes,
            model.results_by_class,
            self._hear("transitions"),
        )
        return independent_game(recipe.rules, chances, recipe.menu)

    @cached_property
    def judge(self) -> Game | None:
        """The game over boards that training does not see, if the recipe wants one."""
        model = self.recipe.model
        if model.judge == 0:
            return None
        if model.judge is None and model.boards is None and self.game is not None:
            return self.game
        tables = self._tables(model.judge, model.seed + _JUDGE_SEED, "tables that judge")
        return bucket_game(self.recipe.rules, tables, self.recipe.menu)

    # ------------------------------------------------------------------------------- solvers

    @cached_property
    def solved(self) -> Solvable:
        """What the solver solves: the game of buckets, or betting over real cards."""
        if self.game is not None:
            return self.game
        return replace(self.unjudged, judge=self.judge)

    @property
    def _source(self) -> Callable[[], CardGame]:
        return partial(_game_elsewhere, self.recipe.to_dict())

    @property
    def unjudged(self) -> CardGame:
        """Betting over real cards, without the tables that judge."""
        deals = HoldemDeals(self.abstraction.lookup(), self.abstraction.fingerprint)
        return CardGame(self.recipe.name, self.betting, deals, None, self._source)

    def _beside(self, kind: type[Solver]) -> dict[str, Any]:
        """What a solver is made with besides its settings."""
        makers: dict[str, Callable[[], Any]] = {
            "lookup": self.abstraction.lookup,
            "workers": lambda: self._workers,
            "address": lambda: self._address,
        }
        return {name: makers[name]() for name in kind.beside}

    def solver(self) -> Solver:
        """A new solver, at iteration 0."""
        recipe = self.recipe
        kind: Any = TRAINERS[recipe.solver]
        given = dict(recipe.solver_settings)
        if kind.samples:
            given["seed"] = recipe.seed
        made: Solver = kind(
            self.solved, threads=self.threads, **kind.arguments(given), **self._beside(kind)
        )
        return made

    def load_solver(self, path: Path) -> Solver:
        """A solver as it was when its checkpoint was written."""
        kind = TRAINERS[self.recipe.solver]
        return kind.load(path, self.solved, threads=self.threads, **self._beside(kind))

"""A blueprint: a trained strategy as a file to play from, whatever solver made it.

For every decision of the betting tree it holds what is played in each *column*: a bucket, or where
players know the class of the board class · buckets + bucket. How that is written says :mod:`.forms`.

The numbers and the card abstraction are packed into one artefact, with the recipe, the time it took and
the exploitability reached. A large array is unpacked once, into the cache folder, and mapped from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.lookup import BLOCKED
from equipoise.abstraction.tables.transitions import class_of_boards, classed_street
from equipoise.cache import cache_folder, cached_table
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import ArtefactError, GameError, SolverError
from equipoise.files import aside
from equipoise.games.betting import Betting, measure
from equipoise.games.game import Game
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action
from equipoise.settings import choose
from equipoise.solve.strategies.strategy import BestResponse, Strategy
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.rowindex import RowIndex
from equipoise.solve.training.forms import (
    FORMS,
    SLIM,
    BlueprintRows,
    Bytes,
    Floats,
    Parts,
    fill_unpacked,
    pack,
    part_type,
    unpack,
)
from equipoise.solve.training.recipe import Recipe
from equipoise.solve.training.slim import Slimmed

_KIND = "blueprint"
#: Numbers from which on the unpacked array is kept in the cache folder.
_WORTH_KEEPING = 4_000_000
#: Bytes of the largest card abstraction that is unpacked.
_MOST_BUCKETS = 1 << 28

Classes = NDArray[np.int8]


def known_classes(classes: Classes | None, street: int) -> int:
    """How many public classes of boards players tell apart on a street.

    >>> known_classes(np.arange(1755, dtype=np.int16) % 11, 2), known_classes(None, 2)
    (11, 1)
    """
    return 1 if classes is None or street < classed_street(classes) else int(classes.max()) + 1


def columns_of(buckets: Sequence[int], classes: Classes | None) -> list[int]:
    """Columns of each street over its buckets, in the classes of boards."""
    return [count * known_classes(classes, street) for street, count in enumerate(buckets)]


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What both players do at each decision in each bucket."""

    recipe: Recipe
    abstraction: Abstraction
    form: str
    weights: Parts
    #: Public class of each canonical board of one street, if players know it.
    classes: Classes | None = None
    #: How it was trained: seconds, iterations, exploitability_bb, judged_bb.
    facts: Mapping[str, Any] = field(default_factory=dict)
    #: The betting tree where it is at hand: building it again would take seconds.
    tree: InitVar[Betting | None] = None

    def __post_init__(self, tree: Betting | None) -> None:
        choose(self.form, FORMS, "form")
        # Slices of a mapped file take longer than those of plain arrays.
        object.__setattr__(self, "weights", np.asarray(self.weights))
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
    def layout(self) -> BlueprintRows:
        """Where the numbers stand."""
        columns = columns_of(self.abstraction.counts, self.classes)
        return BlueprintRows.of(self.betting, columns, self.form)

    @cached_property
    def nodes(self) -> dict[tuple[tuple[Action, ...], ...], int]:
        """Decisions by the betting that leads to them."""
        states = self.betting.states
        return {states[node].history: node for node in self.layout.nodes}

    def actions(self, node: int) -> tuple[Action, ...]:
        """The actions of a decision, in the order of its rows."""
        found = (self.betting.actions[child] for child in self.betting.children(node))
        return tuple(action for action in found if action is not None)

    # -------------------------------------------------------------------------------- answers

    def board_class(self, board: NDArray[Any] | tuple[int, ...]) -> int:
        """Public class of a board, 0 while it is not known or if there are none."""
        if self.classes is None or len(board) < classed_street(self.classes) + 2:
            return 0
        return int(class_of_boards(np.array([tuple(board)], dtype=np.uint8), self.classes)[0])

    def columns(self, board: tuple[int, ...]) -> tuple[NDArray[np.int64], ...]:
        """Column of every combination on each street that a board reaches; -1 if it is blocked."""
        path = self.abstraction.path(board).astype(np.int64)
        found = []
        for street, buckets in enumerate(path):
            first = self.board_class(board[: BOARD_SIZES[street]]) * self.abstraction.counts[street]
            found.append(np.where(buckets == BLOCKED, -1, buckets + first))
        return tuple(found)

    def mix(self, node: int, column: int) -> list[float]:
        """What is played with one column of a decision: a probability for each action."""
        return self.layout.mix(self.weights, node, column)

    def probabilities(self, node: int, bucket: int, board_class: int = 0) -> Floats:
        """What is played with one bucket at a decision: float64[actions]."""
        count = self.abstraction.counts[self.betting.round_of(node)]
        if not 0 <= bucket < count:
            raise SolverError(f"node {node} with bucket {bucket}: no such decision")
        return np.array(self.mix(node, bucket + board_class * count))

    def rows(self, node: int, board: int | None = None) -> Floats:
        """What is played at a decision: float64[action, column].

        `board` is a public class of boards; None is all of them.
        """
        table = self.layout.table(self.weights, node)
        if board is None:
            return table
        count = self.abstraction.counts[self.betting.round_of(node)]
        return table[:, board * count : (board + 1) * count]

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays after betting that the tree has."""
        node = self.nodes.get(public.state.history)
        if node is None:
            raise GameError(
                f"{self.name} has no betting {public.state.betting_text()!r}: let the agent "
                "`blueprint` play it, who translates bets"
            )
        columns = self.columns(public.board)[-1]
        chances = self.rows(node)[:, np.maximum(columns, 0)].T
        return Policy(self.actions(node), chances.astype(np.float32))

    def in_game(self, game: Game) -> TabularStrategy:
        """The strategy as one of `game`, which is of the same buckets and betting."""
        index = RowIndex(game)
        rows = np.zeros(index.size, dtype=np.float32)
        for b, node in index.decisions():
            block, label = index.block(rows, b, node), game.deal.boards[b].cards
            known = int(label[0]) if self.classes is not None and label else 0
            block[:] = self.rows(node)[:, known * block.shape[1] : (known + 1) * block.shape[1]]
        return TabularStrategy(game, rows, index)

    @cached_property
    def in_own_game(self) -> TabularStrategy:
        """The strategy in the game it was trained on, or judged on: its tables are made anew."""
        from equipoise.solve.training.model import TrainingModel

        model = TrainingModel(self.recipe, abstraction=self.abstraction)
        game = model.game or model.judge
        if game is None:
            raise SolverError(
                f"{self.name} was trained on real cards and has no tables to best-respond in: "
                "measure it by `equipoise lbr`"
            )
        return self.in_game(game)

    def exploitability(self) -> float:
        """Mean of what both players gain by best-responding, in chips, in the game of its buckets."""
        return self.in_own_game.exploitability()

    def best_response(self, player: int) -> BestResponse[TabularStrategy]:
        """What wins most for `player` against it in the game of its buckets."""
        return self.in_own_game.best_response(player)

    # ----------------------------------------------------------------------------- other forms

    def in_form(self, form: str, seed: int = 0) -> Blueprint:
        """The same strategy in another form, which can only be a coarser one."""
        if form == self.form:
            return self
        order = list(FORMS)
        if order.index(choose(form, FORMS, "form")) < order.index(self.form):
            raise SolverError(f"a {self.form} strategy cannot be made {form}: train it again")
        return _encoded(self.recipe, self.abstraction, self, form, self.classes, self.facts, seed)

    # ----------------------------------------------------------------------------------- files

    def save(self, path: str | Path) -> int:
        """Write the artefact; the answer is its size in bytes."""
        arrays: dict[str, NDArray[Any]] = {
            **self.layout.packed(self.weights),
            "abstraction": pack(self.abstraction.to_bytes()),
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
            layout = BlueprintRows.of(betting, columns_of(abstraction.counts, classes), form)
            weights = _unpacked_weights(arrays, layout, manifest["checksum"])
            facts = dict(manifest["facts"])
            return cls(recipe, abstraction, form, weights, classes, facts, betting)


def _numbers(recipe: Recipe, abstraction: Abstraction, classes: Classes | None, form: str) -> int:
    """Numbers of a strategy, counted without building its betting tree."""
    size = measure(recipe.rules, recipe.menu)
    blocks = size.decisions if form == "pure" else tuple(map(sum, size.rows))
    columns = columns_of(abstraction.counts, classes)
    return sum(block * wide for block, wide in zip(blocks, columns, strict=True))


def _known(classes: NDArray[Any] | None, street: int) -> Classes | None:
    """Classes of the boards of a street, as a file gives them; street 0 has none."""
    if classes is None and not street:
        return None
    if classes is None or classed_street(classes) != street:
        raise ArtefactError("classes of other boards")
    count = int(classes.max()) + 1
    if classes.dtype.kind not in "iu" or not np.array_equal(np.unique(classes), np.arange(count)):
        raise ArtefactError("classes of boards that are not numbered 0, 1, 2 …")
    return classes


def _unpacked_weights(packed: Mapping[str, Bytes], layout: BlueprintRows, checksum: str) -> Parts:
    size, kept_in = layout.size, part_type(layout.form)

    def fill(out: Parts) -> None:
        fill_unpacked(packed, layout, out)

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
            file.writelines(unpack(packed, _MOST_BUCKETS))
        found = Abstraction.load(beside)
        if found.fingerprint != fingerprint:
            raise ArtefactError("its buckets are not those it was trained with")
    return found


def _encoded(
    recipe: Recipe,
    abstraction: Abstraction,
    strategy: Strategy,
    form: str,
    classes: Classes | None,
    facts: Mapping[str, Any],
    seed: int,
) -> Blueprint:
    betting = strategy.betting
    tables: Callable[[int], NDArray[Any]] = strategy.rows
    columns = columns_of(abstraction.counts, classes)
    layout = BlueprintRows.of(betting, columns, form)
    if form in SLIM:
        parents = [abstraction.parents(street) for street in range(len(columns))]
        tables = Slimmed(betting, columns, parents, strategy.rows, layout.parts).rows
    weights = layout.encode(tables, seed)
    return Blueprint(recipe, abstraction, form, weights, classes, dict(facts), betting)


def make_blueprint(
    recipe: Recipe,
    abstraction: Abstraction,
    strategy: Strategy,
    form: str = "full",
    classes: Classes | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Blueprint:
    """A trained strategy as a blueprint."""
    return _encoded(recipe, abstraction, strategy, form, classes, facts or {}, recipe.seed)

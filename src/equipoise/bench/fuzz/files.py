"""The readers of artefacts and tables, spoiled in two ways.

Raw damage must be refused by the checksum. So that what lies behind it is reached as well, most inputs
are artefacts *signed again* (:mod:`.signing`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.definition import Definition
from equipoise.abstraction.flopclusters import FLOPS
from equipoise.agents.adaptive import memory as memories
from equipoise.agents.adaptive.memory import Memory
from equipoise.agents.adaptive.model import PlayerModel, shipped
from equipoise.agents.adaptive.opponent import Opponent
from equipoise.agents.adaptive.situation import situation
from equipoise.bench.fuzz import samples as sample
from equipoise.bench.fuzz.mutations import Stock, spoil
from equipoise.bench.fuzz.reader import Reader, refuse
from equipoise.bench.fuzz.signing import signed_again
from equipoise.cache import cached_table, table_path
from equipoise.cards import headsup, preflop
from equipoise.cards.threeway import table as threeway
from equipoise.games.betting import Betting
from equipoise.games.catalogue import kuhn
from equipoise.games.game import Game
from equipoise.games.rules import NOLIMIT_HOLDEM, State
from equipoise.solve.registry import SOLVERS
from equipoise.solve.sampling.mccfr import CardGame, CardSampling
from equipoise.solve.spots.solution import Solution
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.forms import FORMS, BlueprintRows, part_type
from equipoise.solve.training.recipe import Recipe

_SOLVERS = ("dcfr", "cfr+", "egt", "external", "fp")
#: Situations that a model of players is asked about: facing a bet before the flop, and none after it.
_SPOKEN = tuple(
    (State.from_betting_text(NOLIMIT_HOLDEM, betting), board)
    for betting, board in (("r300", ()), ("r300c/", (32, 29, 18)), ("r300c/r20000", (32, 29, 18)))
)
_TABLE = np.arange(600, dtype=np.uint16).reshape(20, 30)


def file_readers() -> list[Reader]:
    """All of them."""
    readers = [
        _artefact("abstraction", 2, "card abstraction", _abstractions, Abstraction.load),
        _artefact("blueprint", 1, "blueprint", _blueprints, Blueprint.load),
        _artefact("solution", 1, "solution", _solutions, Solution.load),
        _artefact("solution looked at", 1, "solution", _solutions, _looked),
        _artefact(
            "strategy", 1, "strategy", _strategies, lambda path: TabularStrategy.load(path, _kuhn())
        ),
        _artefact("sampled checkpoint", 0.5, "card solver", _sampled, _load_sampled),
        _artefact("player model", 0.5, "player model", _models, _modelled),
        _artefact("adaptive memory", 1, "adaptive memory", _memories, _remembered),
        Reader("cached table", 2, _tables, _cached_table),
        Reader(
            "preflop table",
            0.3,
            lambda: [preflop.DATA_FILE.read_bytes()],
            partial(_shipped, preflop.load),
        ),
        Reader(
            "matchup table",
            0.1,
            lambda: [headsup.DATA_FILE.read_bytes()],
            partial(_shipped, headsup.load),
        ),
        Reader(
            "three-way table",
            0.02,
            lambda: [threeway.DATA_FILE.read_bytes()],
            partial(_shipped, threeway.load),
        ),
    ]
    for name in _SOLVERS:
        make, load = partial(_checkpoints, name), partial(_load_checkpoint, name)
        readers.append(_artefact(f"checkpoint {name}", 0.5, "solver", make, load))
    return readers


def _artefact(
    name: str,
    weight: float,
    kind: str,
    samples: Callable[[], list[bytes]],
    load: Callable[[Path], object],
) -> Reader:
    def read(data: bytes, folder: Path) -> object:
        path = folder / "fuzzed.artefact"
        path.write_bytes(data)
        return load(path)

    def spoil_it(rng: Random, data: bytes, stock: Stock) -> bytes:
        return (
            spoil(rng, data, stock)
            if rng.random() < 0.3
            else signed_again(rng, data, kind, stock.tokens)
        )

    return Reader(name, weight, samples, read, spoil_it)


# ---------------------------------------------------------------------------------- samples


def _saved(*things: Callable[[Path], object]) -> list[bytes]:
    """The files that these write."""
    found = []
    with TemporaryDirectory() as folder:
        for number, save in enumerate(things):
            path = Path(folder) / f"sample{number}"
            save(path)
            found.append(path.read_bytes())
    return found


@cache
def _halves() -> Abstraction:
    """All 169 classes before the flop; after it, better or worse than even."""
    cuts = Definition("cuts", {"axes": ["equity"]}, {"borders0": np.array([0.5])})
    two = np.array([[0, 1]], dtype=np.uint16)
    river = (np.arange(1981) >= 990).astype(np.uint16)[None]
    classes = np.arange(169, dtype=np.uint16)[None]
    definitions = (Definition("class"), cuts, cuts, Definition("score"))
    return Abstraction("halves", definitions, (classes, two, two, river), {"method": "equity"})


def _abstractions() -> list[bytes]:
    eye = np.eye(4, dtype=np.float32)
    table = Definition("table", {}, {"table": (np.arange(1326) % 3).astype(np.uint16)})
    outlook = Definition("outlook", {}, {"points": eye, "centroids": eye})
    borders = {"of": "histograms", "borders": [0.25, 0.5, 0.75, 1.0]}
    nearest = Definition("nearest", borders, {"centroids": eye})
    score, whole = Definition("score"), np.zeros((1, 1981), dtype=np.uint16)
    three, four = (np.arange(n, dtype=np.uint16)[None] for n in (3, 4))
    tied = np.arange(12, dtype=np.uint16).reshape(3, 4)
    one = Abstraction("one", (table, outlook, nearest, score), (three, tied, four, whole))
    cut = {"borders0": np.array([0.5]), "borders1": np.array([[0.2], [0.7]])}
    cuts = Definition("cuts", {"axes": ["strength", "positive"]}, cut)
    other = Abstraction("other", (table, cuts, cuts, score), (three, tied, four, whole))
    flops = (np.arange(FLOPS) % 2).astype(np.uint16)
    merge = np.arange(8, dtype=np.uint16).reshape(2, 4)
    under: dict[str, NDArray[Any]] = {"centroids": eye, "clusters": flops, "merge": merge}
    clustered = Definition("clustered", borders, under)
    eight, rows = np.arange(8, dtype=np.uint16)[None], np.arange(4, dtype=np.uint16)
    public = (three, eight, np.repeat([rows, rows + 4], 4, axis=0).astype(np.uint16), whole)
    under_flops = Abstraction("under flops", (table, clustered, nearest, score), public)
    return _saved(_halves().save, one.save, other.save, under_flops.save)


def _blueprints() -> list[bytes]:
    told = {
        "name": "tiny",
        "rules": {"game": "nolimit", "stack": 400},
        "menu": {"bets": "a", "raises": "a"},
        "abstraction": {"method": "equity", "count": 2, "remembers": False},
        "model": {"kind": "cards"},
        "solver": {"name": "cards"},
        "limit": {"iterations": 1},
    }
    recipe = Recipe.from_dict(told)
    betting = Betting.build(recipe.rules, recipe.menu)
    made = []
    for form, parts in FORMS.items():
        layout = BlueprintRows.of(betting, _halves().counts, form)
        weights = np.zeros(layout.size, dtype=part_type(form))
        for first, columns in zip(layout.offset, layout.columns, strict=True):
            # The first action always, whose number in pure strategies is 0.
            weights[first : first + columns] = parts
        made.append(Blueprint(recipe, _halves(), form, weights, None, {"seconds": 1.5}))
    return _saved(*(blueprint.save for blueprint in made))


def _models() -> list[bytes]:
    """The models that ship: with the document's φ, and with all that is known of a hand."""
    return _saved(
        *(partial(shipped(features).save, told={"hands": 1}) for features in ("seed", "full"))
    )


def _modelled(path: Path) -> None:
    """A model that is accepted says what every hand does, in numbers."""
    _answers(Opponent(PlayerModel.load(path)))


def _memories() -> list[bytes]:
    memory = Memory(hands=3)
    memory.surprise(0, True, 0, (0.2, 0.5, 0.3))
    found = situation(_SPOKEN[0][0])
    memory.count(found, 1, np.full(11, 1 / 11))
    memory.count_size(found, 2, np.ones(3) / 3)
    return _saved(
        lambda path: memories.save(path, {"Ann": memory, "Bob": Memory()}),
        lambda path: memories.save(path, {}),
    )


def _remembered(path: Path) -> None:
    """A memory that is accepted can be played with."""
    for memory in memories.load(path).values():
        _answers(Opponent(shipped("seed"), memory=memory))


def _answers(player: Opponent) -> None:
    for state, board in _SPOKEN:
        found = situation(state)
        for chances in (player.chances(found, board), player.size_chances(found, board)):
            if not np.allclose(chances.sum(axis=1), 1):
                raise AssertionError("a player whose chances do not sum to 1")


def _looked(path: Path) -> None:
    """Open a solution without reading it through, and show where it begins."""
    root = Solution.look(path).at()
    root.to_dict()
    root.action_figures()


def _solutions() -> list[bytes]:
    solution = sample.solved()
    turn = sample.solved_turn()
    return _saved(
        solution.save,
        lambda path: solution.save(path, answer_only=True),
        lambda path: turn.save(path, through="turn"),
    )


@cache
def _kuhn() -> Game:
    return kuhn()


def _strategies() -> list[bytes]:
    solver = SOLVERS["cfr+"](_kuhn())
    solver.advance(5)
    return _saved(solver.average_strategy().save)


def _checkpoints(name: str) -> list[bytes]:
    solver = SOLVERS[name](_kuhn())
    solver.advance(3)
    return _saved(solver.save)


def _load_checkpoint(name: str, path: Path) -> object:
    return SOLVERS[name].load(path, _kuhn())


@cache
def _cards() -> CardGame:
    return CardGame.of(_kuhn())


def _sampled() -> list[bytes]:
    solver = CardSampling(_cards(), threads=1)
    solver.advance(10)
    return _saved(solver.save)


def _load_sampled(path: Path) -> object:
    return CardSampling.load(path, _cards())


# ---------------------------------------------------------------------------------- tables


def _fill(out: NDArray[Any]) -> None:
    out[:] = _TABLE


def _table() -> NDArray[Any]:
    return cached_table("fuzzed", {"for": "fuzz"}, _TABLE.shape, _TABLE.dtype, _fill)


def _tables() -> list[bytes]:
    _table()
    return [table_path("fuzzed", {"for": "fuzz"}).read_bytes()]


def _cached_table(data: bytes, folder: Path) -> None:
    """A table that does not fit its seal is made again, whatever is wrong with it."""
    path = table_path("fuzzed", {"for": "fuzz"})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if not np.array_equal(_table(), _TABLE):
        raise AssertionError("a damaged table is taken for a sound one")
    if path.read_bytes() != data:
        refuse("made again")


def _shipped(load: Callable[[Path], object], data: bytes, folder: Path) -> None:
    path = folder / "shipped"
    path.write_bytes(data)
    load(path)

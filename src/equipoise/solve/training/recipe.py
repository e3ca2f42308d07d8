"""Recipes: all that decides a trained strategy, in one TOML file.

name = "tartanian5"          what the run, its folder and its blueprint are called
seed = 0                     of every random choice

[rules]      game = "nolimit", stack = 20000, small = 50, big = 100; "limit", "one-bet"; or "my.game"
[menu]       bet sizes, as :class:`equipoise.games.menu.BetMenu` reads them
[abstraction]  method and its settings (:mod:`equipoise.abstraction.methods`)
[model]      kind = "joint": both players' buckets from one table over `boards` random boards, or
             "all"; judged besides on a table of `judge` other boards, 0 for none
             kind = "independent": each player's buckets move by chances of their own; `boards`
             decide results, `classes = "flop"` adds the 11 public classes of flops, "turn"
             and "river" those of boards of four cards and of five
             kind = "cards": real cards, dealt at random; `judge` boards if buckets remember
[solver]     name, and its schedule: dcfr, cfr+, egt, fp …, board-sampling or cards
[limit]      minutes, iterations, target_bb: the run ends at the first that is met
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise import artefact
from equipoise.abstraction import methods
from equipoise.cards.streets import BOARD_CARDS, STREETS
from equipoise.errors import EquipoiseError, RecipeError
from equipoise.games.menu import BetMenu
from equipoise.games.notation import gamefile
from equipoise.games.rules import Rules, limit, nolimit, one_bet_limit
from equipoise.run import Limit
from equipoise.settings import (
    SEED,
    Kind,
    Within,
    check,
    choose,
    parse_toml,
    read_toml,
    shown,
    toml_text,
)

if TYPE_CHECKING:
    from equipoise.solve.solvers.solver import Solver

_TABLES = ("rules", "menu", "abstraction", "model", "solver", "limit")
#: Chips, and bets of a round, that rules may speak of.
_CHIPS, _CAP = Within("whole", 1, 1_000_000_000), Within("whole", 1, 10)
_RULES: dict[str, Kind] = {
    "game": "text",
    "stack": _CHIPS,
    "small": _CHIPS,
    "big": _CHIPS,
    "cap": _CAP,
}
#: Chances of hole cards, in any unit.
_CHANCES = Within("numbers", 0, 1_000_000)
_MODEL: dict[str, Kind] = {
    "kind": "text",
    "boards": "boards",
    "seed": SEED,
    "judge": "boards",
    "classes": "text",
    "results_by_class": "truth",
    "reraise": _CHANCES,
    "call": _CHANCES,
}
_LIMIT: dict[str, Kind] = {
    "minutes": "number",
    "iterations": "whole",
    "target_bb": "number",
    "checkpoint_minutes": "number",
}
#: More minutes than a run can take, two years, and more iterations.
_MOST = {"minutes": 1e6, "iterations": 1e15, "target_bb": 1e6, "checkpoint_minutes": 1e6}
#: What ends a run.
_ENDS = {"minutes", "iterations", "target_bb"}
#: Minutes between two checkpoints at the most, unless a recipe says otherwise.
_CHECKPOINT_MINUTES = 3.0
#: Random boards that tables are counted on: beyond this "all" is less work.
_MOST_BOARDS = 100_000_000
#: Characters of a name.
_MOST_NAME = 100
MODELS = ("joint", "independent", "cards")
#: Streets whose boards may be in public classes.
CLASSED = ("none", *STREETS[1:])


@dataclass(frozen=True)
class Model:
    """How the buckets of both players hang together."""

    kind: str = "joint"
    #: Boards that tables are counted on; None is all there are.
    boards: int | None = 200_000
    seed: int = 1
    #: Boards of the table that a strategy is judged on besides; None is all, 0 no such table.
    judge: int | None = 0
    #: Street from which on players of independent buckets know the public class of the board.
    classes: str = "none"
    #: Results counted for each class apart.
    results_by_class: bool = True
    #: Chances of the 169 classes of hole cards after a re-raise and after a call before the flop, by
    #: which boards are classed (:mod:`.refinement`); none is the best tenth and the rest.
    reraise: tuple[float, ...] = ()
    call: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        choose(self.kind, MODELS, "model.kind")
        if self.boards is not None and not 1 <= self.boards <= _MOST_BOARDS:
            raise RecipeError(
                f"model.boards = {self.boards}: give at least 1 and at most {_MOST_BOARDS:,}, or "
                '"all"'
            )
        if self.judge is not None and not 0 <= self.judge <= _MOST_BOARDS:
            raise RecipeError(
                f'model.judge = {self.judge}: give 0 for none, at most {_MOST_BOARDS:,}, or "all"'
            )
        if self.seed < 0:
            raise RecipeError(f"model.seed = {self.seed}: give 0 or more")
        choose(self.classes, CLASSED, "model.classes")
        if self.classed and self.kind != "independent":
            raise RecipeError('model.classes: classes of boards go with model.kind = "independent"')
        for name in ("reraise", "call"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            if getattr(self, name) and (len(getattr(self, name)) != 169 or not self.classed):
                raise RecipeError(
                    f"model.{name}: give 169 chances, one for each class of hole cards, with "
                    'model.classes = "flop"'
                )
            if getattr(self, name) and not sum(getattr(self, name)) > 0:
                raise RecipeError(f"model.{name}: all its chances are 0, give some more than that")
        if self.kind == "independent" and self.judge != 0:
            raise RecipeError("model.judge: independent buckets are judged on their own chances")

    @property
    def dealt(self) -> bool:
        """Whether real cards are dealt; else there are tables of how buckets hang together."""
        return self.kind == "cards"

    @property
    def classed(self) -> int:
        """Street whose boards are in public classes: 1 is the flop, 0 none."""
        return CLASSED.index(self.classes)


@dataclass(frozen=True)
class Recipe:
    """A strategy to train.

    >>> recipe = Recipe.shipped("tartanian5")
    >>> methods.bucket_counts(recipe.abstraction), recipe.rules.stacks
    ((8, 96, 384, 1536), (20000, 20000))
    >>> Recipe.from_toml(recipe.to_toml()) == recipe
    True
    """

    name: str
    rules_settings: Mapping[str, Any]
    abstraction: Mapping[str, Any]
    model: Model
    solver: str
    solver_settings: Mapping[str, Any]
    #: Minutes, iterations and target_bb, those that are given, and checkpoint_minutes.
    limit_settings: Mapping[str, Any]
    menu_settings: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_name()
        check({"seed": self.seed}, {"seed": SEED})
        methods.checked(self.abstraction)
        self._check_solver()
        self._check_limit()
        if not self.rules.limit and not self.menu_settings:
            raise RecipeError("menu: no-limit needs bet sizes, such as bets = '50%,100%,a'")
        _ = self.menu

    def _check_name(self) -> None:
        name = self.name
        odd = any(c in name for c in "/\\") or name.startswith(".") or not name.isprintable()
        if odd or name.strip() != name or not 0 < len(name) <= _MOST_NAME:
            raise RecipeError(
                f"name = {shown(name)}: a name is also a folder's, of at most {_MOST_NAME} "
                "characters, without / in it"
            )

    def _check_limit(self) -> None:
        if not self.limit_settings.keys() & _ENDS:
            raise RecipeError("limit: give minutes, iterations or target_bb")
        for name, value in self.limit_settings.items():
            most = _MOST[name]
            if not 0 < value <= most:
                raise RecipeError(
                    f"limit.{name} = {shown(value)}: give more than 0, and at most {most:,.0f}"
                )

    @property
    def limit(self) -> Limit:
        """When a run ends; the exploitability to reach is that on the tables that judge."""
        told = self.limit_settings
        minutes = told.get("minutes")
        return Limit(
            iterations=told.get("iterations"),
            seconds=None if minutes is None else 60 * minutes,
            exploitability_bb=told.get("target_bb"),
        )

    @property
    def checkpoint_seconds(self) -> float:
        """Seconds between two saves at the most."""
        return 60 * float(self.limit_settings["checkpoint_minutes"])

    def _check_solver(self) -> None:
        trainers = _trainers()
        known = trainers[choose(self.solver, trainers, "solver.name")].kinds()
        check(self.solver_settings, known, "solver")
        given = {"alternating": True, "predictive": self.solver == "pcfr+", **self.solver_settings}
        packed = given.get("compressed") or given.get("storage") == "16-bit"
        if packed and (given["predictive"] or not given["alternating"]):
            raise RecipeError(
                "solver.compressed: 16-bit storage goes with alternating updates and no "
                "prediction, leave it out"
            )
        if packed and given.get("precision") == "float64":
            raise RecipeError("solver.compressed: 16-bit storage has no float64, leave one out")
        self._check_model()

    def _check_model(self) -> None:
        """Refuse buckets, ways in which they hang together and solvers that do not go together."""
        trainer, recalls = _trainers()[self.solver], methods.remembers(self.abstraction)
        kind, dealt = self.model.kind, self.model.dealt
        if dealt != trainer.on_cards:
            raise RecipeError(
                f"solver.name = {self.solver!r} with model.kind = {kind!r}: real cards go with the "
                'solver "cards", tables with the others'
            )
        if kind == "joint" and not recalls:
            raise RecipeError(
                f"abstraction.method = {self.abstraction['method']!r} forgets past buckets, which "
                'joint tables need: use model.kind = "independent" or "cards"'
            )
        if kind == "independent" and recalls:
            raise RecipeError(
                f"abstraction.method = {self.abstraction['method']!r} remembers past buckets: use "
                'model.kind = "joint"'
            )
        if dealt and self.model.judge != 0 and not recalls:
            raise RecipeError("model.judge: buckets that forget cannot be judged, leave it out")
        if trainer.needs_recall and not recalls:
            raise RecipeError(
                f"solver.name = {self.solver!r}: it needs buckets that remember, and model.kind = "
                '"joint"; use "cfr+"'
            )

    @cached_property
    def rules(self) -> Rules:
        """The rules of the game."""
        told = dict(self.rules_settings)
        game = told.pop("game", "nolimit")
        if game == "nolimit":
            if "cap" in told:
                raise RecipeError("rules.cap: no-limit has no cap on raises, leave it out")
            found = nolimit(**told)
        elif game == "limit":
            if "stack" in told:
                raise RecipeError("rules.stack: limit is played without stacks, leave it out")
            found = limit(**told)
        elif game == "one-bet":
            for key in ("stack", "cap"):
                if key in told:
                    raise RecipeError(
                        f"rules.{key}: one-bet limit has no stacks and a cap of its own, leave it out"
                    )
            found = one_bet_limit(**told)
        elif game.endswith(".game"):
            if told:
                raise RecipeError(f"rules.{next(iter(told))}: {game} says it already, leave it out")
            found = gamefile.load(game)
        else:
            choose(game, ("nolimit", "limit", "one-bet"), "rules.game")
        big, small = found.blinds
        if small > big and not game.endswith(".game"):
            raise RecipeError(f"rules.small = {small}: give at most the big blind, {big}")
        if min(found.stacks) <= max(big, small):
            raise RecipeError(
                f"rules.stack = {min(found.stacks)}: give more than the big blind, "
                f"{max(big, small)}"
            )
        if found.board_cards != BOARD_CARDS or (found.suits, found.ranks) != (4, 13):
            raise RecipeError(f"rules.game = {game!r}: training is for hold'em of four rounds")
        return found

    @cached_property
    def menu(self) -> BetMenu:
        """The bet sizes; in limit every legal action unless told otherwise."""
        return BetMenu.from_dict(self.menu_settings) if self.menu_settings else BetMenu.full()

    @property
    def fingerprint(self) -> str:
        """A hash of what decides the strategy: all but name, words and limits."""
        told = self.to_dict()
        return artefact.fingerprint(
            {key: value for key, value in told.items() if key not in ("name", "about", "limit")}
        )

    # ------------------------------------------------------------------------------- as TOML

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Recipe:
        """Read nested settings."""
        kinds: dict[str, Kind] = {"name": "text", "about": "text", "seed": SEED}
        check(told, kinds | dict.fromkeys(_TABLES, "table"))
        for needed in ("name", "rules", "abstraction", "model", "solver", "limit"):
            if needed not in told:
                raise RecipeError(f"{needed}: a recipe needs it; see `equipoise train --list`")
        solver = dict(told["solver"])
        name = solver.pop("name", None)
        if not isinstance(name, str):
            raise RecipeError(f"solver.name: choose from {', '.join(_trainers())}")
        model = check(told["model"], _MODEL, "model")
        for key in ("boards", "judge"):
            if model.get(key) == "all":
                model[key] = None
        return cls(
            name=told["name"],
            about=told.get("about", ""),
            seed=told.get("seed", 0),
            rules_settings=check(told["rules"], _RULES, "rules"),
            menu_settings=dict(told.get("menu", {})),
            abstraction=dict(told["abstraction"]),
            model=Model(**model),
            solver=name,
            solver_settings=solver,
            limit_settings={
                "checkpoint_minutes": _CHECKPOINT_MINUTES,
                **check(told["limit"], _LIMIT, "limit"),
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """The settings that :meth:`from_dict` reads."""
        model = {one.name: getattr(self.model, one.name) for one in fields(self.model)}
        for key in ("reraise", "call"):
            ranges = model.pop(key)
            if ranges:
                model[key] = list(ranges)
        model = {key: "all" if value is None else value for key, value in model.items()}
        limit = self.limit_settings
        told: dict[str, Any] = {"name": self.name}
        if self.about:
            told["about"] = self.about
        told |= {"seed": self.seed, "rules": dict(self.rules_settings)}
        if self.menu_settings:
            told["menu"] = dict(self.menu_settings)
        return told | {
            "abstraction": dict(self.abstraction),
            "model": model,
            "solver": {"name": self.solver, **self.solver_settings},
            "limit": {key: limit[key] for key in _LIMIT if key in limit},
        }

    @classmethod
    def from_toml(cls, text: str) -> Recipe:
        """Read TOML."""
        return cls.from_dict(parse_toml(text))

    def to_toml(self) -> str:
        """The recipe as TOML."""
        return toml_text(self.to_dict())

    @classmethod
    def load(cls, source: str | Path) -> Recipe:
        """A recipe that ships, by name, or one in a file."""
        path = Path(source)
        if path.suffix != ".toml":
            return cls.shipped(str(source))
        told = read_toml(path)
        try:
            return cls.from_dict(told)
        except EquipoiseError as error:
            raise RecipeError(f"{path}: {error}") from None

    @classmethod
    def shipped(cls, name: str) -> Recipe:
        """One of the recipes of the package.

        >>> Recipe.shipped("tartanian55")
        Traceback (most recent call last):
            ...
        equipoise.errors.RecipeError: recipe = 'tartanian55': did you mean 'tartanian5'?
        """
        choose(name, names(), "recipe")
        text = (files("equipoise.solve.training") / "recipes" / f"{name}.toml").read_text("utf-8")
        return cls.from_toml(text)

    def limited(
        self,
        minutes: float | None = None,
        iterations: int | None = None,
        target_bb: float | None = None,
    ) -> Recipe:
        """The recipe with other limits, those given in place of all its own."""
        if (minutes, iterations, target_bb) == (None, None, None):
            return self
        given = {"minutes": minutes, "iterations": iterations, "target_bb": target_bb}
        kept = {key: self.limit_settings[key] for key in self.limit_settings.keys() - _ENDS}
        ends = {key: value for key, value in given.items() if value is not None}
        return replace(self, limit_settings=ends | kept)

    def solved_by(self, solver: str, model: Model | None = None, **settings: Any) -> Recipe:
        """The recipe with another solver, at its own schedule but for `settings`.

        >>> Recipe.shipped("quick").solved_by("cfr+", gamma=2.0).solver_settings
        {'gamma': 2.0}
        """
        return replace(self, solver=solver, solver_settings=settings, model=model or self.model)

    def seeded(self, seed: int) -> Recipe:
        """The recipe with another seed."""
        return replace(self, seed=seed)


def _trainers() -> Mapping[str, type[Solver]]:
    """Solvers that train, by name: loading them takes a moment."""
    from equipoise.solve.registry import TRAINERS

    return TRAINERS


def names() -> list[str]:
    """Names of the recipes that ship."""
    folder = files("equipoise.solve.training") / "recipes"
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )

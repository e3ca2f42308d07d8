"""What all solvers share: one verb set, and checkpoints.

solver.step()                      one iteration
solver.run(Limit(iterations=100))  until a limit is met; events go to a listener
solver.average_strategy()          a copy of the answer so far
solver.exploitability()            chips a hand, mean of both players' gains
solver.save(path), Solver.load(path, game)

Most solve a game by sweeping over it (:mod:`.tableausolver`); those that sample need not have a game
whose best responses can be computed, and then :attr:`Solver.judge` is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self

from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.game import Game
from equipoise.run import Event, Figures, Limit, Listener, Loop, Saves, Stop
from equipoise.settings import Kind, brief, kinds_of
from equipoise.solve import restoring
from equipoise.solve.strategies.strategy import Strategy


class Solvable(Protocol):
    """What a solver solves: a game, or betting over cards that somebody deals."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def betting(self) -> Betting:
        """The betting tree."""

    @property
    def unit_chips(self) -> float:
        """The big blind, or what stands for it."""

    def fingerprint(self) -> str:
        """A hash of everything that decides the solution."""


class Solver(ABC):
    """An iterative equilibrium solver."""

    #: Name on the command line.
    name: ClassVar[str]
    #: What it solves, in words.
    solves: ClassVar[str] = "game"
    #: Kind of its checkpoints.
    file_kind: ClassVar[str] = "solver"
    #: Whether it plays on real cards that are dealt, not over a game that can be swept.
    on_cards: ClassVar[bool] = False
    #: Whether it draws at random, and so takes a seed.
    samples: ClassVar[bool] = False
    #: What one iteration looks at.
    scope: ClassVar[Literal["game", "board", "hands", "deal"]] = "game"
    #: Whether players must remember what they knew.
    needs_recall: ClassVar[bool] = False
    #: Numbers kept for each action at each information set, those of the best plan so far included.
    numbers_kept: ClassVar[int] = 3
    #: Keywords that it is made with besides its settings, and that no file holds.
    beside: ClassVar[tuple[str, ...]] = ()

    #: Whether kernels are loaded.
    _prepared = False

    def __init__(self, game: Solvable) -> None:
        self.game = game
        #: Iterations done.
        self.iteration = 0

    @property
    def abreast(self) -> int:
        """Iterations that go on side by side, on threads of their own."""
        return 1

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """Settings that decide the answer, as files and commands may give them, with their kinds.

        They are the keyword arguments of the class; threads are the machine's and the seed the run's.
        """
        found = kinds_of(cls)
        return {key: kind for key, kind in found.items() if key not in ("threads", "seed")}

    @classmethod
    def deals_of(cls, settings: Mapping[str, Any]) -> int:
        """Deals of one iteration, of a solver that looks at deals."""
        return 1

    def report(self) -> dict[str, Any]:
        """What a divided run tells of its workers; others tell nothing."""
        return {}

    def close(self) -> None:
        """Let go of workers elsewhere; most solvers have none."""
        return

    @abstractmethod
    def advance(self, count: int) -> None:
        """Do `count` iterations."""

    def step(self) -> None:
        """Do one iteration."""
        self.advance(1)

    @abstractmethod
    def prepare(self) -> None:
        """Load the kernels of a run, or compile them: clocks that start after this run true.

        The answer does not change.
        """

    def make_ready(self) -> None:
        """Prepare, if that has not been done."""
        if not self._prepared:
            self.prepare()
            self._prepared = True

    # ----------------------------------------------------------------------------- the answer

    @property
    def plan(self) -> NDArray[Any] | None:
        """Realisation plan of both players' average strategy; none where no game has one."""
        return None

    @abstractmethod
    def average_strategy(self) -> Strategy:
        """A copy of the average strategy of both players."""

    def strategy_of(self, plan: NDArray[Any]) -> Strategy:
        """The strategy of what :attr:`plan` was at some time."""
        raise SolverError(f"{self.name} has no plan: take average_strategy()")

    @property
    @abstractmethod
    def judge(self) -> Game | None:
        """The game whose best responses measure the exploitability; none where nothing can."""

    @abstractmethod
    def exploitability(self) -> float:
        """Mean of both players' best-response gains against the average strategy, in chips."""

    @abstractmethod
    def measure_in(self, game: Game) -> Callable[[], float]:
        """How exploitability is measured, again and again, in `game`: over other boards, say."""

    @abstractmethod
    def value(self) -> float:
        """Expected chips of player 0 when both play the average strategy."""

    def run(
        self,
        limit: Limit,
        listener: Listener | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 120.0,
        stop: Stop | None = None,
    ) -> Event:
        """Iterate until `limit` or `stop`; returns the last event, whose exploitability is measured.

        It is None where nothing can measure it. With `checkpoint`, the solver is saved there about
        every `checkpoint_seconds`, less often where that takes long, and at the end, also when the run
        is interrupted. The clock starts when the kernels are loaded.
        """
        if limit.exploitability_pct_pot is not None or limit.exploitability_bb is not None:
            pot = self.game.betting.states[0].pot
            limit = limit.in_chips(pot=pot, big_blind=self.game.unit_chips)
        if limit.exploitability_chips is not None and self.judge is None:
            raise SolverError(
                f"nothing measures the exploitability of {self.game.name}: limit iterations or seconds"
            )
        saves = None
        if checkpoint is not None:
            saves = Saves(lambda: self.save(checkpoint), checkpoint_seconds)
        loop = Loop(self, limit, self._look, saves=saves)
        last = loop.run(listener, stop)
        if loop.interrupted:
            raise KeyboardInterrupt
        return last

    def _look(self) -> Figures:
        return (None if self.judge is None else self.exploitability()), None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.game.name}: {self.iteration:,} iterations>"

    # ------------------------------------------------------------------------- checkpoints

    @classmethod
    def arguments(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor for settings as files and recipes name them."""
        return dict(settings)

    def settings(self) -> dict[str, Any]:
        """What the solver was made with, beyond the game: stored in its files."""
        return {}

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a resumed run needs, by name."""

    def restore_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`arrays` gave: it is copied into these very arrays."""
        restoring.restore(arrays, self.arrays())

    def scalars(self) -> dict[str, Any]:
        """Numbers that a resumed run needs besides the iteration."""
        return {}

    def restore_scalars(self, scalars: dict[str, Any]) -> None:
        """Take back what :meth:`scalars` gave; the base class gave nothing."""
        if scalars:
            raise ArtefactError(f"{self.name} does not know {brief(list(scalars))}")

    def configuration(self) -> dict[str, Any]:
        """What a checkpoint says of the solver and its game."""
        return {
            "game": self.game.name,
            "game_fingerprint": self.game.fingerprint(),
            "solver": self.name,
            "settings": self.settings(),
        }

    @classmethod
    def made_with(cls, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor, from the configuration in a checkpoint."""
        settings = restoring.table(configuration["settings"], "settings")
        restoring.check_finite(settings, "settings")
        return cls.arguments(settings)

    @classmethod
    def understood(cls, manifest: dict[str, Any]) -> dict[str, Any]:
        """A checkpoint's manifest as this version writes it: what older ones left out is filled in."""
        return manifest

    def save(self, path: str | Path) -> None:
        """Write a checkpoint; a killed run loses nothing that was saved."""
        facts = {"iteration": self.iteration, "scalars": self.scalars()}
        artefact.write(path, self.file_kind, self.configuration(), self.arrays(), **facts)

    @classmethod
    def load(
        cls, path: str | Path, game: Solvable, *, threads: int | None = 1, **more: Any
    ) -> Self:
        """Read a checkpoint of this solver and game; another's is refused.

        `more` is what the solver is made with besides and a file does not hold, such as buckets.
        """
        manifest, arrays = artefact.read(path, cls.file_kind)
        with artefact.understanding(path, "checkpoint"):
            manifest = cls.understood(manifest)
            configuration = restoring.table(manifest["configuration"], "configuration")
            if configuration["solver"] != cls.name:
                raise ArtefactError(
                    f"{path}: a checkpoint of {brief(configuration['solver'])}, not {cls.name}"
                )
            if configuration["game_fingerprint"] != game.fingerprint():
                raise ArtefactError(
                    f"{path}: a checkpoint of another {cls.solves} ({brief(configuration['game'])})"
                )
            scalars = restoring.table(manifest["scalars"], "scalars")
            restoring.check_finite(scalars, "scalars")
            made: Any = cls
            solver: Self = made(game, threads=threads, **cls.made_with(configuration), **more)
            solver.restore_arrays(arrays)
            solver.iteration = restoring.whole(manifest["iteration"], "iteration")
            solver.restore_scalars(scalars)
        return solver

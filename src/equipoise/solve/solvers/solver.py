"""What all solvers share: one verb set, and checkpoints.

solver.step()                      one iteration
solver.run(Limit(iterations=100))  until a limit is met; events go to a listener
solver.average_strategy()          a copy of the answer so far
solver.exploitability()            chips a hand, mean of both players' gains
solver.save(path), Solver.load(path, game)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError
from equipoise.games.game import Game
from equipoise.run import Event, Limit, Listener, Loop, Saves, Stop
from equipoise.settings import Kind, brief, kinds_of
from equipoise.solve import restoring
from equipoise.solve.strategies.bestresponse import exploitability_of, response_value, value_of
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Precision, Tableau


class Solver(ABC):
    """An iterative equilibrium solver over a game."""

    #: Name on the command line.
    name: ClassVar[str]

    def __init__(
        self, game: Game, *, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
        self.game = game
        self.tableau = Tableau(game, precision, threads)
        #: Iterations done.
        self.iteration = 0
        #: Realisation plan of both players' average strategy.
        self.plan: NDArray[Any] = self.tableau.rows()

    #: Whether kernels are loaded.
    _prepared = False

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """Settings that decide the answer, as files and commands may give them, with their kinds.

        They are the keyword arguments of the class; threads are the machine's and the seed the run's.
        """
        found = kinds_of(cls)
        return {key: kind for key, kind in found.items() if key not in ("threads", "seed")}

    @abstractmethod
    def advance(self, count: int) -> None:
        """Do `count` iterations."""

    def step(self) -> None:
        """Do one iteration."""
        self.advance(1)

    def prepare(self) -> None:
        """Load the kernels of a run, or compile them: clocks that start after this run true.

        The answer does not change. A sweep without iterations is enough on one thread; on several
        the tableau hands out one iteration at a time, so that a best response has to do.
        """
        tableau = self.tableau
        stored = self.plan.dtype if self.plan.dtype.kind == "i" else tableau.dtype
        rows = self.plan if self.plan.dtype == stored else tableau.rows(stored)
        nothing = tableau.parameters().reshape(1, -1)[:0]
        tableau.iterate(rowrules.REGRET, nothing, rows=rows, plan=rows)
        if tableau.threads > 1:
            response_value(tableau, 0, rows)

    def average_strategy(self) -> TabularStrategy:
        """A copy of the average strategy of both players."""
        return TabularStrategy(self.game, self.plan, self.tableau.index)

    def exploitability(self) -> float:
        """Mean of both players' best-response gains against the average strategy, in chips."""
        return exploitability_of(self.tableau, self.plan)

    def value(self) -> float:
        """Expected chips of player 0 when both play the average strategy."""
        return value_of(self.tableau, self.plan) + self.game.value_offset_chips

    def make_ready(self) -> None:
        """Prepare, if that has not been done."""
        if not self._prepared:
            self.prepare()
            self._prepared = True

    def run(
        self,
        limit: Limit,
        listener: Listener | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 120.0,
        stop: Stop | None = None,
    ) -> Event:
        """Iterate until `limit` or `stop`; returns the last event, whose exploitability is measured.

        With `checkpoint`, the solver is saved there about every `checkpoint_seconds`, less often where
        that takes long, and at the end, also when the run is interrupted. The clock starts when the
        kernels are loaded.
        """
        if limit.exploitability_pct_pot is not None or limit.exploitability_bb is not None:
            pot = self.game.betting.states[0].pot
            limit = limit.in_chips(pot=pot, big_blind=self.game.unit_chips)
        saves = None
        if checkpoint is not None:
            saves = Saves(lambda: self.save(checkpoint), checkpoint_seconds)
        loop = Loop(self, limit, lambda: (self.exploitability(), None), saves=saves)
        last = loop.run(listener, stop)
        if loop.interrupted:
            raise KeyboardInterrupt
        return last

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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a resumed run needs, by name; loading copies into these very arrays."""
        return {"plan": self.plan}

    def scalars(self) -> dict[str, Any]:
        """Numbers that a resumed run needs besides the iteration."""
        return {}

    def restore_scalars(self, scalars: dict[str, Any]) -> None:
        """Take back what :meth:`scalars` gave; the base class gave nothing."""
        if scalars:
            raise ArtefactError(f"{self.name} does not know {brief(list(scalars))}")

    def save(self, path: str | Path) -> None:
        """Write a checkpoint; a killed run loses nothing that was saved."""
        configuration = {
            "game": self.game.name,
            "game_fingerprint": self.game.fingerprint(),
            "solver": self.name,
            "precision": str(self.tableau.dtype),
            "settings": self.settings(),
        }
        facts = {"iteration": self.iteration, "scalars": self.scalars()}
        artefact.write(path, "solver", configuration, self.arrays(), **facts)

    @classmethod
    def load(cls, path: str | Path, game: Game, *, threads: int | None = 1, **more: Any) -> Self:
        """Read a checkpoint of this solver and game; another's is refused.

        `more` is what the solver is made with besides and a file does not hold, such as buckets.
        """
        manifest, arrays = artefact.read(path, "solver")
        with artefact.understanding(path, "checkpoint"):
            configuration = restoring.table(manifest["configuration"], "configuration")
            if configuration["solver"] != cls.name:
                raise ArtefactError(
                    f"{path}: a checkpoint of {brief(configuration['solver'])}, not {cls.name}"
                )
            if configuration["game_fingerprint"] != game.fingerprint():
                raise ArtefactError(
                    f"{path}: a checkpoint of another game ({brief(configuration['game'])})"
                )
            settings = restoring.table(configuration["settings"], "settings")
            scalars = restoring.table(manifest["scalars"], "scalars")
            for told, what in ((settings, "settings"), (scalars, "scalars")):
                restoring.check_finite(told, what)
            precision = configuration["precision"]
            if precision not in ("float32", "float64"):
                raise ArtefactError(f"precision is {brief(precision)}: make the file again")
            solver = cls(
                game, precision=precision, threads=threads, **cls.arguments(settings), **more
            )
            restoring.restore(arrays, solver.arrays())
            solver.iteration = restoring.whole(manifest["iteration"], "iteration")
            solver.restore_scalars(scalars)
        return solver

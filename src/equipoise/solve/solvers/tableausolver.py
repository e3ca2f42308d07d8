"""Solvers over a tableau: a game that can be swept, and the realisation plan found so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from equipoise.errors import ArtefactError
from equipoise.games.game import Game
from equipoise.settings import brief
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.strategies.bestresponse import exploitability_of, value_of
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Precision, Tableau


def load_sweeps(tableau: Tableau, plan: NDArray[Any]) -> None:
    """Load the kernels of sweeps over a plan, which stays as it is: a sweep without iterations is enough."""
    stored = plan.dtype if plan.dtype.kind == "i" else tableau.dtype
    rows = plan if plan.dtype == stored else tableau.rows(stored)
    nothing = tableau.parameters().reshape(1, -1)[:0]
    tableau.iterate(rowrules.REGRET, nothing, rows=rows, plan=rows)


class TableauSolver(Solver):
    """An iterative equilibrium solver of a game whose best responses can be computed."""

    game: Game

    def __init__(
        self, game: Game, *, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
        super().__init__(game)
        self.tableau = Tableau(game, precision, threads)
        self._plan: NDArray[Any] = self.tableau.rows()

    @property
    def plan(self) -> NDArray[Any]:
        """Realisation plan of both players' average strategy."""
        return self._plan

    @property
    def judge(self) -> Game:
        """The game itself."""
        return self.game

    def prepare(self) -> None:
        """Load the kernels of a run, or compile them: clocks that start after this run true."""
        load_sweeps(self.tableau, self.plan)

    def average_strategy(self) -> TabularStrategy:
        """A copy of the average strategy of both players."""
        return self.strategy_of(self.plan)

    def strategy_of(self, plan: NDArray[Any]) -> TabularStrategy:
        """The strategy of what :attr:`plan` was at some time."""
        return TabularStrategy(self.game, plan, self.tableau.index)

    def exploitability(self) -> float:
        """Mean of both players' best-response gains against the average strategy, in chips."""
        return exploitability_of(self.tableau, self.plan)

    def measure_in(self, game: Game) -> Callable[[], float]:
        """How exploitability is measured, again and again, in `game`: over other boards, say."""
        if game is self.game:
            return self.exploitability
        tableau = Tableau(game, self.tableau.dtype.name, self.tableau.threads)
        return lambda: exploitability_of(tableau, self.plan)

    def value(self) -> float:
        """Expected chips of player 0 when both play the average strategy."""
        return value_of(self.tableau, self.plan) + self.game.value_offset_chips

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The plan."""
        return {"plan": self.plan}

    def configuration(self) -> dict[str, Any]:
        """What a checkpoint says of the solver and its game."""
        return super().configuration() | {"precision": str(self.tableau.dtype)}

    @classmethod
    def made_with(cls, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor, from the configuration in a checkpoint."""
        precision = configuration["precision"]
        if precision not in ("float32", "float64"):
            raise ArtefactError(f"precision is {brief(precision)}: make the file again")
        return super().made_with(configuration) | {"precision": precision}

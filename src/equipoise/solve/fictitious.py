"""Fictitious play, literally (Brown, 1951): best-respond to the other's average, and average.

In extensive form the average is of *realisation plans*, the products of a player's own
probabilities down to an action: plan_n = (n − 1)/n · plan + 1/n · best response. Averaging behaviour
probabilities node by node is a different, wrong, thing. Both players respond to the averages of the
iteration before.
"""

from __future__ import annotations

from typing import ClassVar

from equipoise.games.game import Game
from equipoise.solve import sweep
from equipoise.solve.solver import Solver
from equipoise.solve.tableau import Precision


class FictitiousPlay(Solver):
    """Literal fictitious play over realisation plans."""

    name: ClassVar[str] = "fp"

    def __init__(
        self, game: Game, *, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
        super().__init__(game, precision=precision, threads=threads)
        self._response = self.tableau.rows()

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        tableau = self.tableau
        for _ in range(count):
            n = self.iteration + 1
            par = tableau.parameters(keep=(n - 1) / n, gain=1 / n)
            for player in (0, 1):
                tableau.sweep(player, sweep.BEST, facing=self.plan, out=self._response)
            for player in (0, 1):
                tableau.mix(player, self._response, self.plan, par)
            self.iteration = n

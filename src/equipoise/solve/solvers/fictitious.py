"""Fictitious play, literally (Brown, 1951): best-respond to the other's average, and average.

In extensive form the average is of *realisation plans*, the products of a player's own
probabilities down to an action: plan_n = (n − 1)/n · plan + 1/n · best response. Averaging behaviour
probabilities node by node is a different, wrong, thing. Both players respond to the averages of the
iteration before, or in turn.

What the players start with counts as `start` responses: beliefs before the first hand are weighed
like observations (Fudenberg and Levine, 1998). Without it the first response is the whole average,
later ones only meet lines that some early response happened to play, and what the early ones did
wrong there costs C/n for ever: on INOT's game C is 738 small bets without a start and 85 with a
uniform one that counts ten times.

The *pseudo-fictitious* play of Dudziak (2006) responds in one branch of the tree at a time and holds
all others constant. Here a branch is what follows one way to end the first round, or the first round
itself while later rounds play the average. A branch's n-th response counts 1/(n + 1) in it, the
uniform strategy being the first.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL
from equipoise.settings import Within
from equipoise.solve.solvers.tableausolver import TableauSolver
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Precision


class FictitiousPlay(TableauSolver):
    """Literal fictitious play over realisation plans."""

    name: ClassVar[str] = "fp"

    def __init__(
        self,
        game: Game,
        *,
        alternating: bool = False,
        start: Annotated[float, Within("number", 0, 1_000_000)] = 1.0,
        precision: Precision | None = None,
        threads: int | None = 1,
    ) -> None:
        if not 0 <= start < np.inf:
            raise SolverError(f"the start counts as 0 or more responses, not {start:g}")
        super().__init__(game, precision=precision, threads=threads)
        #: Player 1 responds to player 0's newest average, as in Brown's own description.
        self.alternating = alternating
        #: Responses that the uniform strategy counts for.
        self.start = start
        # Rows of zeros are played uniformly.
        self._response = self.tableau.rows()
        if start:
            self._play(self._response)

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        tableau = self.tableau
        for _ in range(count):
            gain = 1 / (self.start + self.iteration + 1)
            par = tableau.parameters(keep=1 - gain, gain=gain)
            for player in (0, 1):
                tableau.sweep(player, rowrules.BEST, facing=self.plan, out=self._response)
                if self.alternating:
                    tableau.mix(player, self._response, self.plan, par)
            for player in () if self.alternating else (0, 1):
                tableau.mix(player, self._response, self.plan, par)
            self.iteration += 1

    def settings(self) -> dict[str, Any]:
        """Order of updates, and the weight of the start."""
        return {"alternating": self.alternating, "start": self.start}

    def _play(self, rows: NDArray[np.floating]) -> None:
        """Let `rows` be all that was ever played."""
        whole = self.tableau.parameters(keep=0.0, gain=1.0)
        for player in (0, 1):
            self.tableau.mix(player, rows, self.plan, whole)


class BranchFictitiousPlay(FictitiousPlay):
    """Fictitious play that responds in one branch at a time; an iteration is one branch.

    >>> from equipoise.games.catalogue import leduc
    >>> solver = BranchFictitiousPlay(leduc())
    >>> solver.branches
    6
    """

    name: ClassVar[str] = "branch-fp"

    def __init__(
        self, game: Game, *, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
        super().__init__(game, precision=precision, threads=threads)
        self._branch = self._branches()
        #: Branches, the first round being one.
        self.branches = int(self._branch.max()) + 1
        self._found = self.tableau.rows()

    def advance(self, count: int) -> None:
        """Respond in `count` branches, one after another."""
        tableau = self.tableau
        for _ in range(count):
            branch, turn = self.iteration % self.branches, self.iteration // self.branches + 1
            inside = self._branch == branch
            self._response[:] = self.plan
            for player in (0, 1):
                if branch:
                    tableau.sweep(player, rowrules.BEST, facing=self.plan, out=self._found)
                else:
                    self._respond_first(player)
            np.copyto(self._response, self._found, where=inside)
            par = tableau.parameters(keep=turn / (turn + 1), gain=1 / (turn + 1))
            before = self.plan.copy()
            for player in (0, 1):
                tableau.mix(player, self._response, self.plan, par)
            if branch:
                # Elsewhere the plan would only be rounded.
                np.copyto(self.plan, before, where=~inside)
            else:
                self._carry_on(before)
            self.iteration += 1

    def settings(self) -> dict[str, Any]:
        """There is one order of updates."""
        return {}

    def _respond_first(self, player: int) -> None:
        """Best-respond in the first round, while later rounds play the average."""
        betting, index = self.game.betting, self.tableau.index
        values = self.tableau.values(player, 0, self.plan)
        first, last = betting.spans()[0]
        for node in range(last - 1, first - 1, -1):
            if betting.kind[node] > 1:
                continue
            below = np.array([values[child] for child in betting.children(node)])
            if betting.kind[node] == player:
                values[node] = below.max(axis=0)
                block = index.block(self._found, 0, node)
                block[:] = np.arange(len(below))[:, None] == below.argmax(axis=0)
            else:
                values[node] = below.sum(axis=0)

    def _carry_on(self, before: NDArray[np.floating]) -> None:
        """After the first round has changed, later rounds play as before from new reaches."""
        first = self.plan.copy()
        self._play(np.where(self._branch == 0, self.plan, before))
        np.copyto(self.plan, first, where=self._branch == 0)

    def _branches(self) -> NDArray[np.int16]:
        """Branch of every row: 0 is the first round, k what follows its k-th ending."""
        betting, index = self.game.betting, self.tableau.index
        of_node = np.zeros(len(betting.kind), dtype=np.int16)
        endings = betting.of_kind(0, DEAL)
        of_node[betting.next_root[endings]] = 1 + np.arange(len(endings))
        for node in range(int(betting.start[1]) + len(endings), len(of_node)):
            of_node[node] = of_node[betting.before[node]]
        rows = np.full(index.size, -1, dtype=np.int16)
        for board, node in index.decisions():
            index.block(rows, board, node)[:] = of_node[node]
        return rows

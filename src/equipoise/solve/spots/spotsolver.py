"""The solver of postflop spots: CFR with the discounting that needs fewest iterations there.

Discounted CFR (Brown and Sandholm 2019) with γ = 4 and exponents that grow over the first seventy-five
iterations, α from 1 to 1.25 and β from 0 to ½: at first the past is soon forgotten and losing actions are
forgiven, later they stay lost. No hand's best gain counts for more than 0.6 of its positive regrets
(:mod:`equipoise.solve.solvers.cfr`), which nearly halves the iterations where fifty pots are behind, and is
hardly ever met where few are. The first forty iterations, which the average would hardly remember, are
averaged only at powers of two.
"""

from __future__ import annotations

from typing import Any, ClassVar

from equipoise.errors import SolverError
from equipoise.solve.solvers.cfr import CFR, Discounting
from equipoise.solve.sweep.gamearrays import Lock

#: Age that a solve falls back to when the game changes: old enough to keep what it learnt, young
#: enough to forget what no longer holds.
_AGE_AFTER_CHANGE = 20


class SpotSolver(CFR):
    """CFR over exact hands, for spots of :mod:`equipoise.games.spot`.

    >>> from equipoise.games.spot import Spot
    >>> spot = Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    >>> solver = SpotSolver(spot.game())
    >>> solver.advance(200)
    >>> solver.exploitability() < 0.2
    True
    """

    name: ClassVar[str] = "spot"
    default: ClassVar[Discounting] = Discounting(
        alpha=1.25, alpha_ramp=75, beta=0.5, beta_ramp=75, gamma=4.0, warm_up=40, step=0.6
    )

    #: Iterations that the discounting no longer counts, for the game has changed since.
    _forgotten = 0

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        self.iteration -= self._forgotten
        try:
            super().advance(count)
        finally:
            self.iteration += self._forgotten

    def lock(self, locks: dict[tuple[int, int], Lock]) -> None:
        """Fix the strategy at (board, node) decisions, in place of what was fixed before.

        Regrets and average are kept, with the weight of a young solve: what was learnt where the
        locks change nothing still helps, the rest is soon forgotten.
        """
        if self.storage == "16-bit":
            raise SolverError("locks need 32-bit storage: leave 16-bit out")
        self.tableau.lock(locks)
        age = self.iteration - self._forgotten
        if age > _AGE_AFTER_CHANGE:
            self._plan *= _AGE_AFTER_CHANGE / age
            self._forgotten = self.iteration - _AGE_AFTER_CHANGE

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays that hold the solve: regrets, average strategy and their units."""
        return sum(array.nbytes for array in self.arrays().values())

    def scalars(self) -> dict[str, Any]:
        """Iterations that the discounting no longer counts."""
        return {"forgotten": self._forgotten}

    def restore_scalars(self, scalars: dict[str, Any]) -> None:
        """Take back what :meth:`scalars` gave."""
        self._forgotten = int(scalars["forgotten"])

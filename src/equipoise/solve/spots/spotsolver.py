"""The solver of postflop spots: CFR with the discounting that needs fewest iterations there.

Discounted CFR (Brown and Sandholm 2019) with α = 1.25 and γ = 4, whose β grows from 0 to ½ over the
first ninety-five iterations: at first losing actions are forgiven soon, later they stay lost. The first
forty iterations, which the average would hardly remember, are averaged only at powers of two.

Exploitability is ½ Σ(BR_i − u_i) in chips. Without rake the values u_i of any profile sum to zero, so
that two best responses are all it takes; with rake the profile's own values are needed too.
"""

from __future__ import annotations

from typing import Any, ClassVar

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.solve.solvers.cfr import CFR, Discounting, Storage
from equipoise.solve.sweep.gamearrays import Lock
from equipoise.solve.sweep.tableau import Precision

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
        alpha=1.25, beta=0.5, beta_ramp=95, gamma=4.0, warm_up=40
    )

    def __init__(
        self,
        game: Game,
        *,
        discounting: Discounting | dict[str, Any] | None = None,
        alternating: bool = True,
        storage: Storage = "32-bit",
        precision: Precision | None = None,
        threads: int | None = 1,
    ) -> None:
        super().__init__(
            game,
            discounting=discounting,
            alternating=alternating,
            storage=storage,
            precision=precision,
            threads=threads,
        )
        #: Iterations that the discounting no longer counts, for the game has changed since.
        self._forgotten = 0

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        self.iteration -= self._forgotten
        try:
            super().advance(count)
        finally:
            self.iteration += self._forgotten

    def exploitability(self) -> float:
        """Mean of both players' best-response gains against the average strategy, in chips."""
        if not self.game.betting.zero_sum:
            return super().exploitability()
        return sum(self.tableau.best_response(player, self.plan) for player in (0, 1)) / 2

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
            self.plan *= _AGE_AFTER_CHANGE / age
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

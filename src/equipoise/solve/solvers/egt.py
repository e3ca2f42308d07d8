"""The excessive gap technique (Nesterov, 2005) for sequential games (Hoda, Gilpin, Peña, Sandholm, 2010).

Player 0 maximises u(x, y) = x·Ay over realisation plans x, player 1 minimises it. Smooth each best
response by a regulariser d ≥ 0 that is zero at the uniform strategy:

    φ₀(y) = max_x  x·Ay − μ₀ d₀(x),      φ₁(x) = max_y −x·Ay − μ₁ d₁(y).

If the *excessive gap* −(φ₀(y) + φ₁(x)) is not negative, then the true gap, the sum of both
best-response gains, is at most μ₀D₀ + μ₁D₁ with D the largest value of d. A step shrinks one μ by
1 − τ and keeps the gap from going negative; in terms of player 0's,

    x̂ = (1 − τ)x + τ·SBR₀(y; μ₀)          ŷ = SBR₁(x̂; μ₁)
    y' = (1 − τ)y + τŷ                     x' = (1 − τ)x + τ·SBR₀(y'; (1 − τ)μ₀)

where SBR is the maximiser above: a softmax (entropy) or a projection (Euclidean) at every
information set, computed by the same sweep as everything else. The regulariser is *dilated*: each
information set's own term is weighted by the plan that leads to it and by the probability of the
private state. The usual form x_τ = SBR(Ay + τ/(1 − τ)·Aŷ; μ₀) is SBR₀(y'; (1 − τ)μ₀), since y' mixes
the two gradients already.

Adaptive steps shorten τ until the gap stays non-negative and shrink the larger μ; theoretical steps
use τ = 2/(k + 3), players in turn. They keep the gap if the first μ is large enough for the norm of
A, which is not known: where the gap would be lost both μ are doubled, which only widens it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL
from equipoise.solve import restoring
from equipoise.solve.solvers.tableausolver import TableauSolver
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Precision

_TOLERANCE = 1e-10
_LEAST_SMOOTHING = 1e-12


class ExcessiveGap(TableauSolver):
    """EGT; its answer is the current pair of plans itself, not an average over iterations."""

    name: ClassVar[str] = "egt"
    needs_recall = True
    numbers_kept = 5

    def __init__(
        self,
        game: Game,
        *,
        prox: Literal["entropy", "euclidean"] = "entropy",
        steps: Literal["adaptive", "theoretical"] = "adaptive",
        precision: Precision | None = None,
        threads: int | None = 1,
    ) -> None:
        if not game.perfect_recall:
            raise SolverError(f"egt needs perfect recall, which {game.name} has not: use cfr+")
        if game.betting.is_cut:
            raise SolverError(f"{game.name} is cut: solve it whole, or use dcfr with given values")
        if prox not in ("entropy", "euclidean"):
            raise SolverError(f"prox {prox!r}: choose entropy or euclidean")
        if steps not in ("adaptive", "theoretical"):
            raise SolverError(f"steps {steps!r}: choose adaptive or theoretical")
        super().__init__(game, precision=precision, threads=threads)
        self.prox, self.steps = prox, steps
        self._rule = rowrules.ENTROPY if prox == "entropy" else rowrules.EUCLIDEAN
        self._response = self.tableau.rows()
        #: Both players' smoothed best responses to the present plans, and the smoothing they are for.
        self._here = self.tableau.rows()
        self._here_smoothing: list[float] | None = None
        self._trial = self.tableau.rows()
        self._weights, self._owner = self._prior_weights()
        #: Smoothing of each player.
        self.smoothing = [0.0, 0.0]
        self._step_size = 0.5

    def advance(self, count: int) -> None:
        """Do `count` steps."""
        if self.smoothing == [0.0, 0.0]:
            self._start()
        for _ in range(count):
            self._step()
            self.iteration += 1

    def gap(self) -> float:
        """The excessive gap, which the method keeps at least 0."""
        return -sum(self._respond(player, self.plan, self.smoothing[player]) for player in (0, 1))

    # ------------------------------------------------------------------------------ the method

    def _respond(self, player: int, facing: NDArray[Any], smoothing: float) -> float:
        """φ of the player against `facing`; his smoothed best response goes to `_response`."""
        values = self.tableau.sweep(
            player,
            self._rule,
            facing=facing,
            out=self._response,
            weights=self._weights,
            par=self.tableau.parameters(smoothing=smoothing),
        )
        return self.tableau.root_value(player, values)

    def _start(self) -> None:
        """Double the smoothing until the gap is there."""
        smoothing = 1e-3 * max(1.0, float(np.abs(self.game.betting.even).max()))
        for _ in range(60):
            self.smoothing = [smoothing, smoothing]
            whole = self.tableau.parameters(keep=0.0, gain=1.0)
            self.plan[:] = 0.0
            self._respond(1, self.plan, smoothing)
            self.tableau.mix(1, self._response, self.plan, whole)
            self._respond(0, self.plan, smoothing)
            self.tableau.mix(0, self._response, self.plan, whole)
            if self.gap() >= -_TOLERANCE:
                return
            smoothing *= 2
        raise SolverError("egt found no starting point: the payoffs are not finite")

    def _step(self) -> None:
        if self.steps == "theoretical":
            while self._shrink(self.iteration % 2, 2 / (self.iteration + 3)) < -_TOLERANCE:
                self.smoothing = [2 * mu for mu in self.smoothing]
            self._accept()
            return
        first, second = self.smoothing
        player = 0 if first > second else 1
        if max(first, second) <= _LEAST_SMOOTHING:
            return
        tau = self._step_size
        while True:
            if self._shrink(player, tau) >= -_TOLERANCE:
                self._accept()
                # A step that held makes room for a slightly bolder one: trials that fail cost most.
                self._step_size = min(0.5, tau * 1.1)
                return
            tau *= 0.7
            if tau < 1e-9:
                # Rounding has the last word: this is as far as the precision goes.
                self._step_size = 1e-6
                return

    def _shrink(self, player: int, tau: float) -> float:
        """Try a step of size τ for `player` into `_trial`; returns the excessive gap there."""
        tableau, trial, other = self.tableau, self._trial, 1 - player
        partly = tableau.parameters(keep=1 - tau, gain=tau)
        self._shrunk = list(self.smoothing)
        self._shrunk[player] *= 1 - tau
        if self._here_smoothing != self.smoothing:
            self.gap()
            self._settle()
        trial[:] = self.plan
        tableau.mix(player, self._here, trial, partly)
        self._respond(other, trial, self.smoothing[other])
        tableau.mix(other, self._response, trial, partly)
        value = self._respond(player, trial, self._shrunk[player])
        np.copyto(trial, self.plan, where=self._owner == player)
        tableau.mix(player, self._response, trial, partly)
        value += self._respond(other, trial, self.smoothing[other])
        return -value

    def _accept(self) -> None:
        self.plan[:] = self._trial
        self.smoothing = self._shrunk
        # The test of the gap has left both players' responses to the new plans.
        self._settle()

    def _settle(self) -> None:
        self._here[:] = self._response
        self._here_smoothing = list(self.smoothing)

    # ------------------------------------------------------------------------------ regulariser

    def _prior_weights(self) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Prior probability of each private state, at the start of a board's rows; owner of rows."""
        weights = self.tableau.rows()
        owner = np.full(len(weights), -1, dtype=np.int8)
        index, betting = self.tableau.index, self.game.betting
        for b, board in enumerate(self.game.deal.boards):
            for player in (0, 1):
                rows = int(betting.rows[board.round, player])
                if not rows:
                    continue
                start, width = int(index.base[b, player]), int(index.width[b, player])
                owner[start : start + rows * width] = player
                prior = self._prior(b, player)
                weights[start : start + len(prior)] = prior
        return weights, owner

    def _prior(self, b: int, player: int) -> NDArray[np.float64]:
        """Probability of the board and each state of a player."""
        deal = self.game.deal
        board = deal.boards[b]
        if board.mass is None:
            raise SolverError("egt needs the matrix evaluator: build the game with it")
        marginal: NDArray[np.float64] = board.mass.sum(axis=1 - player)
        return marginal

    def diameter(self, player: int) -> float:
        """Largest value of the player's regulariser."""
        betting, deal, index = self.game.betting, self.game.deal, self.tableau.index
        below = [
            np.zeros((len(betting.kind), int(index.states[b, player])))
            for b in range(len(deal.boards))
        ]
        for b in range(len(deal.boards) - 1, -1, -1):
            board, table = deal.boards[b], below[b]
            prior = self._prior(b, player)
            first, last = betting.spans()[board.round]
            for node in range(last - 1, first - 1, -1):
                kind, children = int(betting.kind[node]), list(betting.children(node))
                if kind > 1:
                    continue
                if kind != player:
                    table[node] = table[children].sum(axis=0)
                else:
                    n = len(children)
                    term = np.log(n) if self.prox == "entropy" else (1 - 1 / n) / 2
                    table[node] = prior * term + table[children].max(axis=0)
            if board.parent >= 0:
                leaves = betting.of_kind(board.round - 1, DEAL)
                for arrival in board.arrivals:
                    for leaf, root in zip(leaves, betting.next_root[leaves], strict=True):
                        below[board.parent][leaf, arrival[player]] += table[root]
        return float(below[0][0].sum())

    # ------------------------------------------------------------------------------ checkpoints

    def settings(self) -> dict[str, Any]:
        """Regulariser and kind of steps."""
        return {"prox": self.prox, "steps": self.steps}

    def scalars(self) -> dict[str, Any]:
        """Smoothing and step size."""
        return {"smoothing": self.smoothing, "step_size": self._step_size}

    def restore_scalars(self, scalars: dict[str, Any]) -> None:
        """Take back smoothing and step size."""
        first, second = scalars["smoothing"]
        self.smoothing = [restoring.number(mu, "smoothing", 0.0) for mu in (first, second)]
        self._step_size = restoring.number(scalars["step_size"], "step_size", 0.0, 1.0)

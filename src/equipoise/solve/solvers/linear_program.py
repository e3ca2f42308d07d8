"""Equilibrium by linear programming over sequences.

Koller, Megiddo and von Stengel (1994): under perfect recall a strategy is a *realisation plan*, a
number x(s) >= 0 for every sequence s of own (information set, action) choices, with x(empty) = 1 and,
at every information set I, the plan of its actions adding up to that of the sequence leading there:

    E x = e        for player 0,        F y = f        for player 1.

With A[s, s'] the expected chips of player 0 when chance lets s and s' meet, the game is worth
max_x min_y x'Ay. Replacing the inner minimum by its dual gives one linear program,

    maximise  f'q    subject to    E x = e,    F'q <= A'x,    x >= 0,

where q(I) is the value of player 1's information sets to player 0. Its solution x is player 0's
plan and the multipliers of the inequalities are player 1's. HiGHS solves it to the last digits: this
is the referee of the iterative solvers on small games.

Hands that a renaming of suits exchanges share their variables (:mod:`equipoise.solve.jointdeal`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError, TooLargeError
from equipoise.games.game import Game
from equipoise.games.nodes import FOLD, SHOWDOWN
from equipoise.run import Event, Limit, Listener, Stop
from equipoise.solve.jointdeal import JointDeal
from equipoise.solve.solvers.tableausolver import TableauSolver
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.rowindex import RowIndex, aligned
from equipoise.solve.sweep.tableau import Precision

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Payoff entries that are tried unless told otherwise: a minute or so. Time grows faster than size.
MOST_ENTRIES = 500_000
#: What plans of hands of one orbit may differ by.
_ALIKE = 1e-9


class SequenceForm:
    """A game as matrices over sequences: A, and E and F as `constraints`."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.joint = JointDeal(game)
        betting, boards = game.betting, game.deal.boards
        #: [board][player]: class of each state whose members share variables.
        self.classes: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        #: [board, player]: number of classes.
        self.widths = np.zeros((len(boards), 2), dtype=np.int64)
        for b, orbits in enumerate(self.joint.orbits):
            numbered = [np.unique(orbit, return_inverse=True)[1] for orbit in orbits]
            self.classes.append((numbered[0].reshape(-1), numbered[1].reshape(-1)))
            self.widths[b] = [len(np.unique(orbit)) for orbit in orbits]
        rounds = np.array([board.round for board in boards])
        ends = np.cumsum(self.widths * betting.rows[rounds], axis=0)
        #: [board, player]: first sequence; sequence 0 is the empty one.
        self.first = 1 + ends - self.widths * betting.rows[rounds]
        #: Sequences of each player.
        self.counts = [1 + int(n) for n in ends[-1]]
        self._known: dict[tuple[int, int, int], NDArray[np.int64]] = {}

    def entries(self) -> int:
        """Entries of the payoff matrix before equal places are added up, at least as many."""
        betting = self.game.betting
        terminals = [len(betting.of_kind(r, FOLD, SHOWDOWN)) for r in range(betting.rounds)]
        rounds = np.array([board.round for board in self.game.deal.boards])
        return int((self.joint.pairs * np.array(terminals)[rounds]).sum())

    def sequences(self, b: int, node: int, player: int) -> NDArray[np.int64]:
        """The player's last sequence before a node, for each of his states on the board."""
        key = (b, node, player)
        if key not in self._known:
            self._known[key] = self._find(*key)
        return self._known[key]

    def _find(self, b: int, node: int, player: int) -> NDArray[np.int64]:
        betting, board = self.game.betting, self.game.deal.boards[b]
        above = int(betting.parent[node])
        if above < 0:
            if b == 0:
                return np.zeros(len(board.hands[player]), dtype=np.int64)
            # All arrivals come from hands of one orbit, so the first speaks for the others.
            return self.sequences(board.parent, int(betting.before[node]), player)[
                board.arrivals[0][player]
            ]
        if int(betting.kind[above]) != player:
            return self.sequences(b, above, player)
        row = int(betting.row[above]) + node - int(betting.first[above])
        start = int(self.first[b, player]) + row * int(self.widths[b, player])
        return start + self.classes[b][player]

    def constraints(self, player: int) -> csr_array:
        """E or F: a line for the empty sequence, then one for every information set."""
        from scipy.sparse import csr_array

        betting = self.game.betting
        lines, columns, signs = [np.zeros(1, int)], [np.zeros(1, int)], [np.ones(1)]
        count = 1
        for b, board in enumerate(self.game.deal.boards):
            firsts = np.unique(self.classes[b][player], return_index=True)[1]
            for node in betting.of_kind(board.round, player).tolist():
                where = count + np.arange(len(firsts))
                lines.append(where)
                columns.append(self.sequences(b, node, player)[firsts])
                signs.append(np.full(len(firsts), -1.0))
                for child in betting.children(node):
                    lines.append(where)
                    columns.append(self.sequences(b, child, player)[firsts])
                    signs.append(np.ones(len(firsts)))
                count += len(firsts)
        places = (np.concatenate(lines), np.concatenate(columns))
        return csr_array((np.concatenate(signs), places), shape=(count, self.counts[player]))

    def payoffs(self) -> csr_array:
        """A: expected chips of player 0 for every pair of sequences."""
        from scipy.sparse import csr_array

        betting, joint = self.game.betting, self.joint
        mine, theirs, chips = [], [], []
        for b, board in enumerate(self.game.deal.boards):
            first, second = np.nonzero(joint.mass[b])
            mass = joint.mass[b][first, second] * joint.ways[b]
            signed = joint.signed[b][first, second] * joint.ways[b]
            for node in betting.of_kind(board.round, FOLD, SHOWDOWN).tolist():
                mine.append(self.sequences(b, node, 0)[first])
                theirs.append(self.sequences(b, node, 1)[second])
                chips.append(mass * betting.even[node, 0] + signed * betting.swing[node])
        places = (np.concatenate(mine), np.concatenate(theirs))
        return csr_array((np.concatenate(chips), places), shape=(self.counts[0], self.counts[1]))

    def plan(self, player: int, strategy: TabularStrategy) -> NDArray[np.float64]:
        """A player's strategy as a realisation plan; hands of one orbit must be played alike."""
        betting, plan = self.game.betting, np.zeros(self.counts[player])
        plan[0] = 1.0
        for b, node in strategy.index.decisions():
            if int(betting.kind[node]) != player:
                continue
            rows, before = strategy.rows(node, b), self.sequences(b, node, player)
            for row, child in zip(rows, betting.children(node), strict=True):
                here, reach = self.sequences(b, child, player), row * plan[before]
                plan[here] = reach
                if np.abs(plan[here] - reach).max() > _ALIKE:
                    raise SolverError(
                        f"{self.game.name}: hands that differ in suits alone must be played alike "
                        "there, for the linear program takes them together"
                    )
        return plan

    def store(
        self, player: int, plan: NDArray[np.float64], rows: NDArray[Any], index: RowIndex
    ) -> None:
        """Write a player's realisation plan into rows of the game."""
        betting = self.game.betting
        for b, node in index.decisions():
            if int(betting.kind[node]) == player:
                block = index.block(rows, b, node)
                for a, child in enumerate(betting.children(node)):
                    block[a] = np.maximum(plan[self.sequences(b, child, player)], 0.0)


def sequence_form(game: Game, most_entries: int = MOST_ENTRIES) -> SequenceForm:
    """The matrices of a game, unless a linear program cannot solve it or would take too long."""
    if not game.perfect_recall:
        raise SolverError(
            f"{game.name} lacks perfect recall, which the linear program needs: use dcfr"
        )
    if game.betting.is_cut:
        raise SolverError(f"{game.name} is cut: solve it whole, or use dcfr with given values")
    if np.abs(game.betting.even.sum(axis=1)).max() > 1e-9:
        raise SolverError("a raked game is not zero-sum: drop the rake, or use dcfr")
    form = SequenceForm(game)
    entries = form.entries()
    if entries > most_entries:
        raise TooLargeError(
            f"the linear program of {game.name} would have {entries:,} payoff entries, more "
            f"than {most_entries:,}: use dcfr, or a smaller game"
        )
    return form


def load_highs() -> None:
    """Load HiGHS by the smallest of programs."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    linprog([1.0], A_ub=csr_array([[1.0]]), b_ub=[1.0], bounds=[(0, None)], method="highs")


def optimal_plans(
    form: SequenceForm, *, tremble: float = 0.0, unit_chips: float = 1.0, interior: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both players' equilibrium plans.

    With a `tremble` every action is played at least so often where its information set is reached,
    x(sa) >= tremble · x(s): of the equilibria of a game, which may be many, those are left that answer
    mistakes well. Written G x >= 0 and H y >= 0, the program becomes

        maximise  f'q    subject to    E x = e,    G x >= 0,    F'q + H'r <= A'x,    x, r >= 0.

    Payoffs are counted in units of `unit_chips`; `interior` asks for HiGHS' interior-point method,
    which is the faster one on large programs.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array

    payoffs, mine, theirs = form.payoffs() / unit_chips, form.constraints(0), form.constraints(1)
    sequences, sets = mine.shape[1], theirs.shape[0]
    totals = np.zeros(mine.shape[0])
    totals[0] = 1.0
    if tremble:
        own, his = _least_play(mine, tremble), _least_play(theirs, tremble)
        more = his.shape[0]
        above = block_array([[-payoffs.T, theirs.T, his.T], [-own, None, None]], format="csr")
        equal = block_array([[mine, csr_array((mine.shape[0], sets + more))]], format="csr")
    else:
        more = 0
        above = block_array([[-payoffs.T, theirs.T]], format="csr")
        equal = block_array([[mine, csr_array((mine.shape[0], sets))]], format="csr")
    cost = np.zeros(sequences + sets + more)
    cost[sequences] = -1.0
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[sequences : sequences + sets, 0] = -np.inf
    found = linprog(
        cost,
        A_ub=above,
        b_ub=np.zeros(above.shape[0]),
        A_eq=equal,
        b_eq=totals,
        bounds=bounds,
        method="highs-ipm" if interior else "highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not found.success:
        raise SolverError(f"HiGHS gave up ({found.message}): use dcfr")
    return found.x[:sequences], -found.ineqlin.marginals[: payoffs.shape[1]]


def _least_play(constraints: csr_array, tremble: float) -> csr_array:
    """G: a line x(sa) - tremble · x(s) for every action of every information set."""
    from scipy.sparse import csr_array

    entries = constraints.tocoo()
    lines, columns, signs = entries.row, entries.col, entries.data
    # The first line says that the empty sequence is certain; in the others -1 stands at its own s.
    led = np.zeros(constraints.shape[0], dtype=np.int64)
    before = signs < 0
    led[lines[before]] = columns[before]
    after = (signs > 0) & (lines > 0)
    count = int(after.sum())
    rows = np.concatenate([np.arange(count), np.arange(count)])
    places = np.concatenate([columns[after], led[lines[after]]])
    weights = np.concatenate([np.ones(count), np.full(count, -tremble)])
    return csr_array((weights, (rows, places)), shape=(count, constraints.shape[1]))


class LinearProgram(TableauSolver):
    """The exact equilibrium of a small game, in one iteration.

    >>> from equipoise.games.catalogue import kuhn
    >>> solver = LinearProgram(kuhn())
    >>> solver.step()
    >>> round(solver.value(), 9), solver.exploitability() < 1e-9
    (-0.055555556, True)
    """

    name: ClassVar[str] = "lp"

    def __init__(
        self,
        game: Game,
        *,
        most_entries: int = MOST_ENTRIES,
        precision: Precision | None = None,
        threads: int | None = 1,
    ) -> None:
        self._form = sequence_form(game, most_entries)
        self.most_entries = most_entries
        super().__init__(game, precision=precision, threads=threads)
        #: Both players' optimal plans, in double precision whatever the sweeps use.
        self._plan = aligned(self.tableau.index.size, np.float64)

    def prepare(self) -> None:
        """Load the kernels of sweeps, and HiGHS."""
        super().prepare()
        load_highs()

    def advance(self, count: int) -> None:
        """Solve the program; there is nothing to do a second time."""
        if count < 1 or self.iteration:
            return
        for player, plan in enumerate(optimal_plans(self._form)):
            self._form.store(player, plan, self.plan, self.tableau.index)
        self.iteration = 1

    def run(
        self,
        limit: Limit,
        listener: Listener | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 120.0,
        stop: Stop | None = None,
    ) -> Event:
        """Solve the program: one iteration meets every limit that it can meet."""
        return super().run(Limit(iterations=1), listener, checkpoint, checkpoint_seconds, stop)

    def settings(self) -> dict[str, Any]:
        """The size that was allowed."""
        return {"most_entries": self.most_entries}

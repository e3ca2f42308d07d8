"""The answer to a spot: what both players do everywhere, what that is worth, and what is locked.

It stands below all that reads it: positions walk it, files hold it, exports list it. What makes it,
:class:`equipoise.solve.spots.solution.Solution`, adds the verbs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.range import Range
from equipoise.games.betting import Betting
from equipoise.games.game import Game
from equipoise.games.spot import Spot
from equipoise.solve.solvers.cfr import Storage
from equipoise.solve.spots.equities import Showdowns
from equipoise.solve.spots.laststreet import LastStreet
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.sweep.gamearrays import Lock
from equipoise.solve.sweep.rowindex import RowIndex, probabilities
from equipoise.solve.sweep.tableau import Tableau

#: Boards whose values are kept at hand.
_BOARDS_KEPT = 64

Values = Mapping[int, NDArray[np.float64]]


class RiverProgram(NamedTuple):
    """How a river was solved by linear program (:mod:`.bucketedriver`)."""

    #: Buckets a side that were asked for; None is all hands.
    buckets: int | None
    bucketing: str | None
    #: Least chance of every action.
    tremble: float
    #: Buckets of each player that have hands, or hands that suits tell apart.
    used: tuple[int, ...]
    #: What the program itself is worth to the player out of position, in chips.
    ev_oop_chips: float

    def to_dict(self) -> dict[str, Any]:
        """For the figures of the solution."""
        return {
            "solver": "lp",
            "buckets": self.buckets,
            "bucketing": self.bucketing,
            "tremble": self.tremble,
            "states_oop": self.used[0],
            "states_ip": self.used[1],
            "program_ev_oop_chips": self.ev_oop_chips,
        }


class Answer(ABC):
    """Plan, values and locks of a spot, as far as it has been solved."""

    def __init__(
        self,
        spot: Spot,
        game: Game,
        plan: NDArray[Any],
        *,
        solver: SpotSolver | None = None,
        kept_streets: int | None = None,
        kept_values: Sequence[tuple[Values, Values]] = (),
        use_symmetry: bool = True,
    ) -> None:
        self.spot, self.game = spot, game
        #: What had been played on the street when the spot began.
        self.before: tuple[str, ...] = spot.played
        #: Average strategy of both players, as a realisation plan or as probabilities.
        self.plan = plan
        #: What goes on solving; None for a file that keeps only the answer.
        self.solver = solver
        #: Suit-equivalent boards are one.
        self.use_symmetry = use_symmetry
        #: Streets whose strategy is here: all of them, unless the file was cut.
        self.kept_streets = kept_streets or spot.rounds
        self.index = solver.tableau.index if solver else RowIndex(game)
        self.showdowns = Showdowns(game)
        #: Iterations done.
        self.iterations = 0
        #: Seconds in iterations and checks, compilation and building not counted.
        self.seconds = 0.0
        #: The linear program that solved it, if one did.
        self.program: RiverProgram | None = None
        #: Exploitability in chips a hand, as last measured; of the restricted game if locked.
        self.exploitability_chips = float("nan")
        #: What the last run was asked for.
        self.target_pct_pot: float | None = None
        parents = [board.parent for board in game.deal.boards]
        self._first_child = np.searchsorted(parents, np.arange(len(parents) + 1))
        self._locks: dict[tuple[int, int], Lock] = {}
        self._tableau: Tableau | None = solver.tableau if solver else None
        self._kept_values = kept_values
        self._values: dict[tuple[int, int], Values] = {}

    @property
    def pot(self) -> int:
        """Chips in the middle where the spot begins, both players' bets included."""
        return self.spot.origin.pot

    @property
    def exploitability_pct_pot(self) -> float:
        """Exploitability as a percentage of the pot where the spot begins."""
        return 100 * self.exploitability_chips / self.pot

    @property
    def reached(self) -> bool:
        """Whether the exploitability asked for has been reached."""
        target = self.target_pct_pot
        return target is not None and self.exploitability_pct_pot <= target

    @property
    def nodes(self) -> int:
        """Decisions over all boards."""
        return self.index.decision_count

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays that hold the solve."""
        return self.solver.memory_bytes if self.solver else self.plan.nbytes

    @property
    def threads(self) -> int:
        """Threads that solve."""
        return self._tableau.threads if self._tableau else 1

    @property
    def storage(self) -> Storage:
        """Whether numbers are kept in 16 bits or in 32."""
        return "16-bit" if self.plan.dtype == np.int16 else "32-bit"

    # ------------------------------------------------------------------------------- its numbers

    def holds(self, number: int) -> bool:
        """Whether the strategy of a round is here."""
        return number < self.kept_streets

    def boards_after(self, board: int) -> range:
        """Numbers of the boards dealt from a board."""
        return range(int(self._first_child[board]), int(self._first_child[board + 1]))

    @property
    def betting(self) -> Betting:
        """The betting tree."""
        return self.game.betting

    def rows(self, node: int, board: int | None = None) -> NDArray[np.float64]:
        """Probabilities at a decision, [action, state]; uniform where nothing was learnt.

        Of all boards of the node's street, next to each other, unless one is given.
        """
        if board is None:
            number = self.betting.round_of(node)
            boards = [b for b, one in enumerate(self.game.deal.boards) if one.round == number]
            return np.concatenate([self.rows(node, b) for b in boards], axis=1)
        play = probabilities(self.index.block(self.plan, board, node))
        if (board, node) in self._locks:
            mask, given = self._locks[board, node]
            play = np.where(mask, given, play)
        return play

    def value_rows(self, player: int, board: int) -> Values:
        """Counterfactual values of a player's states at every node of a board."""
        if board < len(self._kept_values):
            return self._kept_values[board][player]
        if (player, board) not in self._values:
            while len(self._values) >= 2 * _BOARDS_KEPT:
                self._values.pop(next(iter(self._values)))
            last = self.game.deal.boards[board].strength is not None
            if last and self._tableau is None:
                self._values[player, board] = LastStreet(self, player, board)
            else:
                self._values[player, board] = self.tableau.values(player, board, self.plan)
        return self._values[player, board]

    @property
    def tableau(self) -> Tableau:
        """The game laid out for sweeps; built when first asked for."""
        if self._tableau is None:
            self._tableau = Tableau(self.game)
            self._tableau.lock(self._locks)
        return self._tableau

    def forget(self) -> None:
        """Drop the values at hand: the strategy has changed."""
        self._values.clear()

    @abstractmethod
    def solved_on(
        self, node: int, board: tuple[int, ...], ranges: tuple[Range, Range], line: tuple[str, ...]
    ) -> Answer:
        """The answer to a street that is not here, after a DEAL node, from the ranges that get there."""

    # ------------------------------------------------------------------------------------- locks

    @property
    def locks(self) -> Mapping[tuple[int, int], Lock]:
        """What is fixed at each locked (board, node): which states, and what they play."""
        return dict(self._locks)

    @property
    def lock_note(self) -> str:
        """A line on the locks for every table, empty if there are none."""
        count = len(self._locks)
        if not count:
            return ""
        return (
            f"\n{count} locked decision{'s' * (count > 1)}: exploitability "
            f"{self.exploitability_pct_pot:.3f} % of pot, of the restricted game"
        )

    def restore_locks(self, found: Mapping[tuple[int, int], Lock]) -> None:
        """Take the locks of a file as they are: its solve has already obeyed them."""
        self._locks = dict(found)
        if self._tableau is not None:
            self._tableau.lock(self._locks)

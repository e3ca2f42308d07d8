"""A solved spot: walk it, lock it, solve it further, save it and open it again.

    solution = solve_spot(Spot.load("spot.toml"), target_pct_pot=0.3)
    solution.at("check", "bet 50", "Kh").strategy()
    solution.save("spot.solution")

A file holds the text of its spot, the regrets and the average strategy, so that an opened solve goes
on where it stopped. Cut at a street it holds the average strategy and the values up to there; the
streets after it are solved again, from the ranges that get there, when somebody walks on.

A *lock* fixes what a player does at a decision, with all hands or with some. Solves and best
responses obey it, so the exploitability of a locked solution is that of the restricted game.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.card import card_text
from equipoise.cards.range import Range
from equipoise.errors import FileError, IllegalActionError, SolverError
from equipoise.games.game import Game
from equipoise.games.runouts import renamed_hands
from equipoise.games.spot import Spot
from equipoise.solve.solvers.solver import Event, Limit, Listener
from equipoise.solve.spots import locks
from equipoise.solve.spots.equities import Showdowns
from equipoise.solve.spots.position import Position
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.sweep.gamearrays import Lock
from equipoise.solve.sweep.rowindex import RowIndex
from equipoise.solve.sweep.tableau import Tableau

#: Boards whose values are kept at hand.
_BOARDS_KEPT = 64
#: Iterations between looks at the exploitability.
_CHECK_EVERY = 10
#: A solve takes at least this many times as long as the saving of its checkpoints.
_SHARE_OF_SAVING = 20

Values = Mapping[int, NDArray[np.float64]]


def solve_spot(
    spot: Spot,
    target_pct_pot: float | None = 0.3,
    seconds: float | None = None,
    iterations: int | None = None,
    threads: int | None = 1,
    compressed: bool = False,
    listener: Listener | None = None,
    use_symmetry: bool = True,
) -> Solution:
    """Solve a spot until its exploitability is at most a percentage of the pot, or a limit is met.

    >>> spot = Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    >>> solution = solve_spot(spot, target_pct_pot=0.1)
    >>> root = solution.at()
    >>> root.actions, solution.reached
    (('check', 'bet 50', 'allin 200'), True)
    >>> round(root.mean_ev("oop") + root.mean_ev("ip"), 3)
    100.0
    """
    solution = Solution.unsolved(spot, threads, compressed, use_symmetry)
    solution.resolve(target_pct_pot, seconds, iterations, listener)
    return solution


class Solution:
    """The answer to a spot, as far as it has been solved."""

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
        self._solved_on: dict[tuple[int, tuple[int, ...]], Solution] = {}

    @classmethod
    def unsolved(
        cls,
        spot: Spot,
        threads: int | None = 1,
        compressed: bool = False,
        use_symmetry: bool = True,
    ) -> Solution:
        """A solution at iteration 0; what does not fit into memory is refused."""
        spot.check_fits(compressed=compressed)
        game = spot.game(use_symmetry)
        solver = SpotSolver(game, compressed=compressed, threads=threads)
        return cls(spot, game, solver.plan, solver=solver, use_symmetry=use_symmetry)

    # ------------------------------------------------------------------------------ solving

    def resolve(
        self,
        target_pct_pot: float | None = 0.3,
        seconds: float | None = None,
        iterations: int | None = None,
        listener: Listener | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 120.0,
    ) -> Event:
        """Solve on from where it stands, until the target or one of the limits is met.

        `iterations` counts those already done; `seconds` are of this run. With `checkpoint`, the
        solution is saved there about every `checkpoint_seconds`, less often where that takes long:
        a killed solve goes on from there. A checkpoint that cannot be written is left out.
        """
        if self.solver is None:
            raise SolverError("this file keeps only the answer: save whole to solve further")
        chips = None if target_pct_pot is None else target_pct_pot * self.spot.pot / 100
        limit = Limit(iterations, seconds, chips, _CHECK_EVERY)
        self.target_pct_pot = target_pct_pot
        spent = self.seconds
        saved, interval = time.monotonic(), checkpoint_seconds

        def keep() -> None:
            nonlocal saved, interval
            began = time.monotonic()
            if checkpoint is None or began - saved < interval:
                return
            with suppress(FileError):
                self.save(checkpoint)
            saved = time.monotonic()
            interval = max(checkpoint_seconds, _SHARE_OF_SAVING * (saved - began))

        def hear(event: Event) -> None:
            self.iterations, self.seconds = event.iteration, spent + event.seconds
            if event.exploitability_chips is not None:
                self.exploitability_chips = event.exploitability_chips
            keep()
            if listener is not None:
                listener(event)

        self._forget()
        try:
            return self.solver.run(limit, hear)
        except KeyboardInterrupt:
            self.exploitability_chips = self.solver.exploitability()
            raise

    def _forget(self) -> None:
        self._values.clear()
        self._solved_on.clear()

    @property
    def exploitability_pct_pot(self) -> float:
        """Exploitability as a percentage of the starting pot."""
        return 100 * self.exploitability_chips / self.spot.pot

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
    def compressed(self) -> bool:
        """Whether numbers are kept in 16 bits."""
        return self.plan.dtype == np.int16

    def to_dict(self) -> dict[str, Any]:
        """Size, cost and quality of the solve, and what the spot is worth to both players."""
        root = self.at()
        figures = {
            "spot": self.game.name,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "exploitability_pct_pot": self.exploitability_pct_pot,
            "exploitability_chips": self.exploitability_chips,
            "ev_oop_chips": root.mean_ev("oop"),
            "ev_ip_chips": root.mean_ev("ip"),
            "equity_oop": root.mean_equity("oop"),
            "nodes": self.nodes,
            "memory_mb": self.memory_bytes / 1e6,
            "threads": self.threads,
            "reached": self.reached,
        }
        if self._locks:
            figures["exploitability_of"] = "restricted game"
            figures["locked_decisions"] = len(self._locks)
        return figures

    # ------------------------------------------------------------------------------ walking

    def at(self, *steps: str) -> Position:
        """The position after actions and cards, such as `at("check", "bet 50", "call", "Kh")`.

        Several steps may stand in one text, with commas between them. A size may be left out where
        there is only one: `bet`, `raise`, `allin`.
        """
        initial = self.game.deal.initial
        position = Position(self, 0, 0, (0, 1, 2, 3), (initial[0], initial[1]), ())
        for step in steps:
            for word in step.split(","):
                position = position.step(word.strip())
        return position

    def holds(self, number: int) -> bool:
        """Whether the strategy of a round is here."""
        return number < self.kept_streets

    def boards_after(self, board: int) -> range:
        """Numbers of the boards dealt from a board."""
        return range(int(self._first_child[board]), int(self._first_child[board + 1]))

    def strategy_rows(self, board: int, node: int) -> NDArray[np.float64]:
        """Probabilities at a decision, [action, state]; uniform where nothing was learnt."""
        block = np.maximum(self.index.block(self.plan, board, node).astype(np.float64), 0.0)
        total = block.sum(axis=0)
        play = np.where(total > 0, block / np.where(total > 0, total, 1.0), 1.0 / len(block))
        if (board, node) in self._locks:
            mask, given = self._locks[board, node]
            play = np.where(mask, given, play)
        return play

    def value_rows(self, player: int, board: int) -> Values:
        """Counterfactual values of a player's states at every node of a board."""
        if self._kept_values:
            return self._kept_values[board][player]
        if (player, board) not in self._values:
            while len(self._values) >= 2 * _BOARDS_KEPT:
                self._values.pop(next(iter(self._values)))
            self._values[player, board] = self.tableau.values(player, board, self.plan)
        return self._values[player, board]

    @property
    def tableau(self) -> Tableau:
        """The game laid out for sweeps; built when first asked for."""
        if self._tableau is None:
            self._tableau = Tableau(self.game)
            self._tableau.lock(self._locks)
        return self._tableau

    def solved_on(self, position: Position, card: int) -> Position:
        """The position after a card whose street is not here: solved from the ranges that get there."""
        board = (*position.board, card)
        key = (position.node, board)
        ranges = [position.range(player).without((card,)) for player in (0, 1)]
        if not all(ranges):
            raise IllegalActionError(
                f"'{', '.join((*position.line, card_text(card)))}': no hand gets there, so there is "
                "nothing to solve"
            )
        # The largest weight becomes 1: ranges of lines hardly taken keep their precision.
        scale = [float(hands.weights.max()) for hands in ranges]
        if key not in self._solved_on:
            spot = self._spot_after(position, board, ranges, scale)
            target = self.target_pct_pot or max(self.exploitability_pct_pot, 0.05)
            self._solved_on[key] = solve_spot(spot, target, threads=self.threads)
        solution = self._solved_on[key]
        initial = solution.game.deal.initial
        start = Position(
            solution,
            0,
            0,
            (0, 1, 2, 3),
            (initial[0], initial[1]),
            (*position.line, card_text(card)),
            scale=(scale[0], scale[1]),
        )
        while len(start.actions) == 1:
            start = start.step(start.actions[0])
        return start

    def _spot_after(
        self,
        position: Position,
        board: tuple[int, ...],
        ranges: list[Range],
        scale: list[float],
    ) -> Spot:
        state, menu = position.state, self.spot.menu
        streets = [list(menu.street(number)) for number in range(state.round, self.spot.rounds)]
        caller = state.caller
        if caller is not None and streets[0][caller].donks is not None:
            own = streets[0][caller]
            streets[0][caller] = replace(own, bets=own.donks or ())
        hands = [
            Range(np.minimum(part.weights / np.float32(most), np.float32(1)))
            for part, most in zip(ranges, scale, strict=True)
        ]
        return Spot(
            board,
            hands[0],
            hands[1],
            pot=state.pot,
            stack=self.spot.stack - state.committed[0],
            menu=replace(menu, streets=tuple((own[0], own[1]) for own in streets)),
            rake=self.spot.rake,
            min_bet=self.spot.min_bet,
            name=f"{self.game.name}: {', '.join((*position.line, card_text(board[-1])))}",
        )

    # ------------------------------------------------------------------------------ locking

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

    def lock(
        self,
        position: Position,
        strategy: ArrayLike | Mapping[str, float],
        hands: str | Range | Sequence[int] | None = None,
    ) -> None:
        """Fix what the player to act does at a position; :meth:`resolve` then solves around it.

        `strategy` is a probability for each action (a sequence, or a mapping from action to
        probability with the rest at 0), or one column for each hand of `position.hands(player)`.
        `hands` limits the lock to some hands; others locked there before stay locked. Boards that
        are equal up to suits are locked together.
        """
        if position.solution is not self:
            raise SolverError("this position belongs to another solution: take it from this one")
        solver = self._solver_for_locks()
        who = position.decider()
        board, node = position.board_number, position.node
        combos = position.hands(who)
        given = locks.columns(strategy, position.actions, len(combos))
        mask = locks.chosen(hands, combos)
        # From hands in order of their numbers to the order of the board.
        states = position.states(who)
        fixed = np.zeros(len(combos), dtype=bool)
        play = np.zeros_like(given)
        if (board, node) in self._locks:
            mask_before, play_before = self._locks[board, node]
            fixed, play = mask_before.copy(), play_before.copy()
        fixed[states[mask]] = True
        play[:, states[mask]] = given[:, mask]
        here = self.game.deal.boards[board]
        for symmetry in here.symmetries:
            moved = renamed_hands(here.hands[who], symmetry, 52)
            if not (
                np.array_equal(fixed[moved], fixed) and np.allclose(play[:, moved], play, atol=1e-9)
            ):
                raise SolverError(
                    "this lock tells suits apart that the solve treats alike: lock the hands of "
                    "those suits too, or solve with use_symmetry=False"
                )
        every = {**self._locks, (board, node): (fixed, play)}
        solver.lock(every)
        self._locks = every
        self._changed()

    def unlock(self, position: Position | None = None) -> None:
        """Free a position, or all of them."""
        solver = self._solver_for_locks()
        kept = dict(self._locks)
        if position is None:
            kept.clear()
        elif kept.pop((position.board_number, position.node), None) is None:
            raise SolverError(f"nothing is locked at {position.title}")
        solver.lock(kept)
        self._locks = kept
        self._changed()

    def _solver_for_locks(self) -> SpotSolver:
        if self.solver is None:
            raise SolverError("this file keeps only the answer: save whole to lock and solve")
        return self.solver

    def _changed(self) -> None:
        assert self.solver is not None
        self._forget()
        self.exploitability_chips = self.solver.exploitability()

    def restore_locks(self, found: Mapping[tuple[int, int], Lock]) -> None:
        """Take the locks of a file as they are: its solve has already obeyed them."""
        self._locks = dict(found)
        if self._tableau is not None:
            self._tableau.lock(self._locks)

    # ------------------------------------------------------------------------------ files

    def save(self, path: str | Path, through: str | None = None, compress: bool = False) -> None:
        """Write the solve whole, or only the answer up to a street.

        With `compress`, only the answer is written, in 16 bits: it can be walked, not solved on.
        """
        from equipoise.solve.spots.solutionfile import write

        write(self, path, through, compress)

    @classmethod
    def load(cls, path: str | Path, threads: int | None = 1) -> Solution:
        """Read a file that :meth:`save` wrote; anything else is refused."""
        from equipoise.solve.spots.solutionfile import read

        return read(path, threads)

    def export(self, path: str | Path, through: str | None = None) -> int:
        """Write every decision up to a street as .csv, .parquet or .json; returns the lines written."""
        from equipoise.solve.spots.export import export

        return export(self, path, through)

    def __repr__(self) -> str:
        return (
            f"<Solution of {self.game.name}: {self.iterations} iterations, exploitability "
            f"{self.exploitability_pct_pot:.3f} % of pot>"
        )

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

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.range import Range
from equipoise.errors import FileError, SolverError
from equipoise.games.policy import Policy, PublicState
from equipoise.games.runouts import renamed_hands
from equipoise.games.spot import Spot
from equipoise.run import Event, Limit, Listener, LooksForTarget, Loop, Saves, Stop
from equipoise.solve.solvers.cfr import Storage
from equipoise.solve.spots import export, locks, solutionfile
from equipoise.solve.spots.answer import Answer
from equipoise.solve.spots.fitting import check_fits
from equipoise.solve.spots.position import Position, seat
from equipoise.solve.spots.show import ShownPosition
from equipoise.solve.spots.spotpolicy import spot_policy
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.strategies.bestresponse import exploitability_of, response_rows
from equipoise.solve.strategies.strategy import BestResponse
from equipoise.solve.strategies.tabular import TabularStrategy

if TYPE_CHECKING:
    from polars import DataFrame

#: Iterations between looks at the exploitability, where there is no target.
_CHECK_EVERY = 10


def solve_spot(
    spot: Spot,
    target_pct_pot: float | None = 0.3,
    seconds: float | None = None,
    iterations: int | None = None,
    threads: int | None = 1,
    storage: Storage = "32-bit",
    listener: Listener | None = None,
    use_symmetry: bool = True,
    stop: Stop | None = None,
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
    solution = Solution.unsolved(spot, threads, storage, use_symmetry)
    solution.solve_on(target_pct_pot, seconds, iterations, listener, stop=stop)
    return solution


class Solution(Answer):
    """The answer to a spot, and all that can be done with it."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._solved_on: dict[tuple[int, tuple[int, ...]], Solution] = {}

    @classmethod
    def unsolved(
        cls,
        spot: Spot,
        threads: int | None = 1,
        storage: Storage = "32-bit",
        use_symmetry: bool = True,
    ) -> Solution:
        """A solution at iteration 0; what does not fit into memory is refused."""
        check_fits(spot, compressed=storage == "16-bit")
        game = spot.game(use_symmetry)
        solver = SpotSolver(game, storage=storage, threads=threads)
        return cls(spot, game, solver.plan, solver=solver, use_symmetry=use_symmetry)

    # ------------------------------------------------------------------------------ solving

    def solve_on(
        self,
        target_pct_pot: float | None = 0.3,
        seconds: float | None = None,
        iterations: int | None = None,
        listener: Listener | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_seconds: float = 120.0,
        stop: Stop | None = None,
    ) -> Event:
        """Solve on from where it stands, until the target or one of the limits is met, or `stop`.

        `iterations` counts those already done; `seconds` are of this run. With `checkpoint`, the
        solution is saved there about every `checkpoint_seconds`, less often where that takes long:
        a killed solve goes on from there. A checkpoint that cannot be written is left out.
        """
        if self.solver is None:
            raise SolverError(
                "only the answer is here: load a file that was saved whole to solve on"
            )
        limit = Limit(
            iterations, seconds, check_every=_CHECK_EVERY, exploitability_pct_pot=target_pct_pot
        ).in_chips(pot=self.pot, big_blind=self.game.unit_chips)
        target = limit.exploitability_chips
        self.target_pct_pot = target_pct_pot
        solver, spent = self.solver, self.seconds

        def record(event: Event) -> None:
            self.iterations, self.seconds = event.done, spent + event.seconds
            assert event.exploitability_chips is not None
            self.exploitability_chips = event.exploitability_chips

        def keep() -> None:
            assert checkpoint is not None
            with suppress(FileError):
                self.save(checkpoint)
            # What was saved follows from the strategy of now, which the next iteration changes.
            self.forget()

        saves = None if checkpoint is None else Saves(keep, checkpoint_seconds, at_end=False)
        self.forget()
        loop = Loop(
            solver,
            limit,
            lambda: (solver.exploitability(), None),
            record=record,
            looks=LooksForTarget(target) if target else None,
            saves=saves,
        )
        last = loop.run(listener, stop)
        if loop.interrupted:
            raise KeyboardInterrupt
        return last

    def forget(self) -> None:
        """Drop what followed from the strategy, which has changed."""
        super().forget()
        self._solved_on.clear()

    def to_dict(self) -> dict[str, Any]:
        """Size, cost and quality of the solve, and what the spot is worth to both players."""
        root = self.at()
        unit, counted = self.spot.unit, self.spot.chips_per_unit
        worth = [root.mean_ev(name) for name in ("oop", "ip")]
        gained = self.exploitability_chips / self.spot.parts
        figures = {
            "spot": self.game.name,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "exploitability_pct_pot": self.exploitability_pct_pot,
            "exploitability_chips": gained * counted,
            "ev_oop_chips": worth[0] * counted,
            "ev_ip_chips": worth[1] * counted,
            "equity_oop": root.mean_equity("oop"),
            "nodes": self.nodes,
            "memory_mb": self.memory_bytes / 1e6,
            "threads": self.threads,
            "reached": self.reached,
        }
        if self.program is not None:
            figures |= self.program.to_dict()
        if unit == "bb":
            figures |= {"unit": unit, "chips_per_bb": counted, "exploitability_bb": gained}
            figures |= {"ev_oop_bb": worth[0], "ev_ip_bb": worth[1]}
        if self._locks:
            figures["exploitability_of"] = "restricted game"
            figures["locked_decisions"] = len(self._locks)
        return figures

    # ------------------------------------------------------------------------------ walking

    def at(self, *steps: str) -> ShownPosition:
        """The position after actions and cards, such as `at("check", "bet 50", "call", "Kh")`.

        They go on from where the spot begins: what its `line` says is not named again. Several
        steps may stand in one text, with commas between them or with the dashes of titles. A size
        may be left out where there is only one: `bet`, `raise`, `allin`.
        """
        position = ShownPosition.first(self)
        for step in steps:
            for word in step.replace("–", ",").split(","):
                position = position.step(word.strip())
        return position

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays in a situation at a table of the spot's own rules."""
        return spot_policy(self.at(), public)

    def exploitability(self) -> float:
        """Mean of what both players gain by best-responding, in chips, measured now.

        Of the restricted game if decisions are locked.
        """
        self._check_whole()
        return exploitability_of(self.tableau, self.plan)

    def best_response(self, player: int | str) -> BestResponse[TabularStrategy]:
        """What wins most for a player against the other's strategy; locks hold for both."""
        self._check_whole()
        who = seat(player)
        value, rows = response_rows(self.tableau, who, self.plan, self._locks)
        owned = (1 - 2 * who) * self.game.value_offset_chips
        return BestResponse(value + owned, TabularStrategy(self.game, rows, self.index))

    def _check_whole(self) -> None:
        if self.kept_streets < self.spot.rounds:
            raise SolverError(
                "this file was cut before its last street: save it whole to best-respond to it"
            )

    def solved_on(
        self, node: int, board: tuple[int, ...], ranges: tuple[Range, Range], line: tuple[str, ...]
    ) -> Solution:
        """The street after a card, solved from the ranges that get there unless it has been."""
        key = (node, board)
        if key not in self._solved_on:
            spot = self._spot_after(node, board, ranges, line)
            target = self.target_pct_pot or max(self.exploitability_pct_pot, 0.05)
            self._solved_on[key] = solve_spot(spot, target, threads=self.threads)
            self._solved_on[key].before = self.before
        return self._solved_on[key]

    def _spot_after(
        self, node: int, board: tuple[int, ...], ranges: tuple[Range, Range], line: tuple[str, ...]
    ) -> Spot:
        state, menu = self.game.betting.states[node], self.spot.menu
        streets = [list(menu.street(number)) for number in range(state.round, self.spot.rounds)]
        caller = state.caller
        if caller is not None and streets[0][caller].donks is not None:
            own = streets[0][caller]
            streets[0][caller] = replace(own, bets=own.donks or ())
        return Spot(
            board,
            *ranges,
            pot=state.pot,
            stack=self.spot.stack - state.committed[0],
            menu=replace(menu, streets=tuple((own[0], own[1]) for own in streets)),
            rake=self.spot.rake,
            min_bet=self.spot.min_bet,
            name=f"{self.game.name}: {', '.join(line)}",
            unit=self.spot.unit,
            parts=self.spot.parts,
        )

    # ------------------------------------------------------------------------------ locking

    def lock(
        self,
        position: Position,
        strategy: ArrayLike | Mapping[str, float],
        hands: str | Range | Sequence[int] | None = None,
    ) -> None:
        """Fix what the player to act does at a position; :meth:`solve_on` then solves around it.

        `strategy` is a probability for each action (a sequence, or a mapping from action to
        probability with the rest at 0), or one column for each hand of `position.hands(player)`.
        `hands` limits the lock to some hands; others locked there before stay locked. Boards that
        are equal up to suits are locked together.
        """
        if position.answer is not self:
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
            raise SolverError("only the answer is here: load a file that was saved whole to lock")
        return self.solver

    def _changed(self) -> None:
        assert self.solver is not None
        self.forget()
        self.exploitability_chips = self.solver.exploitability()

    # ------------------------------------------------------------------------------ files

    def save(self, path: str | Path, through: str | None = None, answer_only: bool = False) -> None:
        """Write the solve whole, or only the answer up to a street.

        With `answer_only`, the answer alone is written, in 16 bits: it can be walked, not solved on.
        """
        solutionfile.write(self, path, through, answer_only)

    @classmethod
    def load(cls, path: str | Path, threads: int | None = 1) -> Solution:
        """Read a file that :meth:`save` wrote; anything else is refused."""
        return solutionfile.read(path, threads, cls)

    @classmethod
    def look(cls, path: str | Path) -> Solution:
        """Open a file at once, however large, to walk it; it cannot be solved on or locked."""
        return solutionfile.look(path, cls)

    def export(self, path: str | Path, through: str | None = None) -> int:
        """Write every decision up to a street as .csv, .parquet or .json; returns the lines written."""
        return export.export(self, path, self.to_dict(), through)

    def to_polars(self, through: str | None = None) -> DataFrame:
        """Every decision up to a street, one row a hand: the table that :meth:`export` writes."""
        return export.frame(self, through)

    def to_numpy(self, through: str | None = None) -> NDArray[np.void]:
        """The same as NumPy records; what is not known is NaN."""
        found: NDArray[np.void] = self.to_polars(through).to_numpy(structured=True)
        return found

    def _repr_html_(self) -> str:
        return self.at()._repr_html_()

    def __repr__(self) -> str:
        return (
            f"<Solution of {self.game.name}: {self.iterations} iterations, exploitability "
            f"{self.exploitability_pct_pot:.3f} % of pot>"
        )

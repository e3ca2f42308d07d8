"""A game laid out for the sweep: its arrays, workspaces and threads.

Solvers ask it for rows (vectors that
hold a number for every information set and action) and for sweeps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError, TooLargeError
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.solve.sweep import layout as laid
from equipoise.solve.sweep.blas import on_one_thread
from equipoise.solve.sweep.crew import GIVEN_UP, meeting_board, rest_address
from equipoise.solve.sweep.evaluators import steps_for
from equipoise.solve.sweep.gamearrays import GameArrays, Given, Lock
from equipoise.solve.sweep.handles import Handle
from equipoise.solve.sweep.layout import UP_NOT, UP_ROOT, UP_TOP
from equipoise.solve.sweep.rowindex import RowIndex, aligned
from equipoise.solve.sweep.rowrules import VALUE
from equipoise.solve.sweep.sweep import run

Rows = NDArray[Any]
Precision = Literal["float32", "float64"]

#: Private states up to which a game is solved in double precision unless told otherwise.
_DOUBLE_UP_TO = 2_000_000
#: Private states from which on BLAS multiplies faster than a loop.
_STATES_FOR_PRODUCTS = 48
#: Duties that the boards below the path fall into, at most: so many threads can share them. They are
#: the same for any number of threads, and so is the answer, to the last bit.
_DUTIES = 24
#: Places of the parameters that a sweep may be given.
_PARAMETERS = {
    "keep": laid.KEEP,
    "gain": laid.GAIN,
    "positive": laid.POSITIVE,
    "negative": laid.NEGATIVE,
    "floor": laid.FLOOR,
    "step": laid.STEP,
    "smoothing": laid.SMOOTHING,
}


def _alike(known: Any, held: Any) -> bool:
    """Whether two tuples hold the same arrays; those without room are alike if their type is."""
    if known is held:
        return True
    if type(known) is not type(held) or not all(isinstance(part, np.ndarray) for part in held):
        return False
    return all(
        old is new or (old.size == 0 == new.size and old.dtype == new.dtype)
        for old, new in zip(known, held, strict=True)
    )


class Tableau:
    """Arrays of one game, and sweeps over them."""

    def __init__(
        self, game: Game, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
        if precision not in (None, *get_args(Precision)):
            raise SolverError(f"precision = {precision!r}: choose float32 or float64")
        self.game = game
        betting, deal = game.betting, game.deal
        self.index = RowIndex(game)
        self.states, self.width = self.index.states, self.index.width
        if precision is None:
            small = deal.evaluator == "matrix" and self.index.size <= _DOUBLE_UP_TO
            precision = "float64" if small else "float32"
        if deal.evaluator == "sorted":
            precision = "float32"
        self.dtype: Any = np.dtype(precision)
        #: Whether terminals are evaluated by products of large matrices.
        self.products = deal.evaluator == "matrix" and (
            int(self.states.max()) >= _STATES_FOR_PRODUCTS
            or any(board.transition is not None for board in deal.boards)
        )
        if self.products:
            on_one_thread()
        self._arrays = arrays = GameArrays(game, self.index, self.dtype, self.products)
        self.boards, self.lines, self.layout = arrays.boards, arrays.lines, arrays.layout
        rounds = betting.rounds
        self._parts = (rounds - 1, len(self.lines.fold_start) - 1)
        #: Boards that every thread goes down itself, as long as only one comes after another; what
        #: comes below is shared out, by boards, or by parts of the betting if it is one board again.
        self._path = self._only_boards()
        first, last = (int(self.boards.first_child[self._path[-1] + k]) for k in (0, 1))
        by_parts = last - first == 1 and self._parts[1] - self._parts[0] > 1
        duties = min(_DUTIES, max(1, last - first))
        shared = self._parts[1] - self._parts[0] if by_parts else duties
        self.threads = max(1, min(threads or cores(), shared))
        if by_parts and self.threads > 1:
            duties = self.threads
            cuts = np.linspace(*self._parts, duties + 1).astype(np.int64)
            told = [(first, last, *parts) for parts in pairwise(cuts)]
        else:
            cuts = np.linspace(first, last, duties + 1).astype(np.int64)
            told = [(*boards, *self._parts) for boards in pairwise(cuts)]
        self._duties = np.array(told, dtype=np.int64)
        self._owned = np.linspace(0, duties, self.threads + 1).astype(np.int64)
        self._slots = duties if self.threads > 1 else int(duties > 1)
        self._sums = np.zeros(0, dtype=self.dtype)
        self._board = meeting_board(self.threads)
        #: One run at a time: members of two crews would wait for each other.
        self._running = threading.Lock()
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self.work = [arrays.workspace() for _ in range(self.threads)]
        self.nothing = np.zeros(0, dtype=self.dtype)
        self._handles: dict[str | int, Handle] = {}
        #: Parameters of a sweep that changes nothing but regrets.
        self._neutral = np.zeros(laid.PARAMETERS, dtype=self.dtype)
        self._neutral[[laid.KEEP, laid.GAIN, laid.POSITIVE, laid.NEGATIVE, laid.ONE]] = 1
        self._neutral[laid.FLOOR] = np.finfo(self.dtype).min
        self._neutral[laid.TINY] = 1e-30 if self.dtype == np.float32 else 1e-290

    def _only_boards(self) -> NDArray[np.int64]:
        """The first board and those after it that are the only ones on their street."""
        path, children = [0], self.boards.first_child
        while len(path) < self.game.betting.rounds - 1:
            first, last = (int(children[path[-1] + k]) for k in (0, 1))
            if last - first != 1:
                break
            path.append(first)
        return np.array(path, dtype=np.int64)

    # ------------------------------------------------------------------------------ sweeps

    def rows(self, dtype: Any = None) -> Rows:
        """A number for every information set and action, all zero."""
        return aligned(self.index.size, self.dtype if dtype is None else dtype)

    def units(self) -> Rows:
        """What one unit of 16-bit rows is worth, for every decision: all zero."""
        return np.zeros(self.index.decision_count, dtype=self.dtype)

    def parameters(self, **values: float) -> NDArray[Any]:
        """Parameters of one sweep; what is not given is neutral.

        `keep`, `gain`: the plan becomes `keep * plan + gain * (reach * strategy)`. `positive`,
        `negative`, `floor`: discounts and least value of regrets. `step`: most that a state's best
        gain may be of its positive regrets, 0 for no limit. `smoothing`: of the prox rules.
        """
        par = self._neutral.copy()
        for name, value in values.items():
            par[_PARAMETERS[name]] = value
        return par

    def sweep(
        self,
        player: int,
        rule: int,
        *,
        facing: Rows,
        rows: Rows | None = None,
        out: Rows | None = None,
        plan: Rows | None = None,
        weights: Rows | None = None,
        par: NDArray[Any] | None = None,
        upward: bool = True,
    ) -> NDArray[Any]:
        """One sweep for `player`; returns the value of each of his states at the root.

        The opponent plays the strategy in `facing`; his realisation plan is mixed into `plan` if
        that is given. `rows` and `out` are mine, and what they are is up to the rule.
        """
        numbers = self.numbers(
            facing=facing,
            rows=facing if rows is None else rows,
            out=out,
            plan=plan,
            weights=weights,
        )
        schedule = (self.parameters() if par is None else par).reshape(1, -1)
        self.run(numbers, schedule, rule, player, player, upward)
        return self.root_values(player).astype(np.float64)

    def numbers(
        self,
        *,
        facing: Rows,
        rows: Rows,
        plan: Rows | None = None,
        out: Rows | None = None,
        weights: Rows | None = None,
        before: Rows | None = None,
        plan_unit: Rows | None = None,
        rows_unit: Rows | None = None,
    ) -> laid.Numbers:
        """The rows of a sweep; those left out have no room."""
        nothing, kept = self.nothing, facing[:0]
        return laid.Numbers(
            facing=facing,
            plan=kept if plan is None else plan,
            rows=rows,
            out=nothing if out is None else out,
            weights=nothing if weights is None else weights,
            before=kept if before is None else before,
            plan_unit=nothing if plan_unit is None else plan_unit,
            rows_unit=nothing if rows_unit is None else rows_unit,
        )

    def mix(self, player: int, strategy: Rows, plan: Rows, par: NDArray[Any]) -> None:
        """Mix the realisation plan of a player's strategy into his part of `plan`."""
        self.sweep(1 - player, VALUE, facing=strategy, plan=plan, par=par, upward=False)

    def iterate(
        self,
        rule: int,
        schedule: NDArray[Any],
        *,
        rows: Rows,
        plan: Rows,
        out: Rows | None = None,
        before: Rows | None = None,
        plan_unit: Rows | None = None,
        rows_unit: Rows | None = None,
    ) -> None:
        """Iterations of both players with the parameters in `schedule`, one row each.

        Updates alternate; with room in `before` they are simultaneous. 16-bit rows come with what
        one unit of each decision is worth.
        """
        numbers = self.numbers(
            facing=rows if before is None else before,
            rows=rows,
            plan=plan,
            out=out,
            before=before,
            plan_unit=plan_unit,
            rows_unit=rows_unit,
        )
        self.run(numbers, schedule, rule, 0, 1, True)

    def run(
        self,
        numbers: laid.Numbers,
        schedule: NDArray[Any],
        rule: int,
        first_player: int,
        last_player: int,
        upward: bool,
        layout: laid.SweepLayout | None = None,
        work: list[laid.Workspace] | None = None,
    ) -> None:
        """Sweeps over the whole game, on all threads; by another layout of the same betting if given.

        Such a layout comes with workspaces of its own.
        """
        shares = self.shares(layout)
        crew = [self.by_address(numbers, k, layout, work) for k in range(self.threads)]
        players, mixing = (first_player, last_player), len(numbers.plan) > 0
        up = UP_ROOT if upward else UP_NOT

        def call(member: int) -> None:
            frame, rows, room, steps, copied = crew[member]
            run(
                frame,
                rows,
                room,
                steps,
                copied,
                schedule,
                rule,
                players,
                shares[member],
                mixing,
                up,
            )

        self.together(call)

    def together(self, call: Callable[[int], None]) -> None:
        """Let every member of the crew call compiled code that meets the others'; the first is here.

        Where that cannot go on, the others are told not to wait for it.
        """
        if self._pool is None:
            call(0)
            return
        with self._running:
            others = []
            try:
                others = [self._pool.submit(call, member) for member in range(1, self.threads)]
                call(0)
            except BaseException:
                self._board[GIVEN_UP] = 1
                wait(others)
                self._board[:] = 0
                raise
            for other in others:
                other.result()

    def by_address(
        self,
        numbers: laid.Numbers,
        thread: int = 0,
        layout: laid.SweepLayout | None = None,
        work: list[laid.Workspace] | None = None,
    ) -> tuple[Any, ...]:
        """What :func:`~.sweep.run` is told first: the game, rows, a thread's room, and the steps.

        Good as long as `numbers` are.
        """
        game = self._handle("layout", layout or self.layout)
        # Iterations and looks take turns: each finds its own table as it left it.
        rows = self._handle("mixed" if len(numbers.plan) else "read", numbers)
        room = self._handle(thread, (work or self.work)[thread])
        copied = numbers.before.view(np.uint8), numbers.rows.view(np.uint8)
        steps = steps_for(game, rows, room)
        return game.only(laid.FRAME), rows.address, room, steps, copied

    def _handle(self, name: str | int, held: Any) -> Handle:
        """A handle on a tuple, made anew when it holds other arrays than last time."""
        found = self._handles.get(name)
        if found is None or not _alike(found.held, held):
            found = self._handles[name] = Handle(held)
        return found

    def shares(self, layout: laid.SweepLayout | None = None) -> list[laid.Share]:
        """What each member of the crew does of a sweep, for kernels that call :func:`~.sweep.run`."""
        sums, rest = self._room_for_sums(layout or self.layout), rest_address()
        return [
            laid.Share(
                self._path,
                self._parts[0],
                self._duties,
                self._owned,
                member,
                sums,
                self._board,
                rest,
            )
            for member in range(self.threads)
        ]

    def _room_for_sums(self, layout: laid.SweepLayout) -> NDArray[Any]:
        """Room for the values of the last path board's DEAL nodes, once for every slot."""
        lines, number = layout.lines, int(self.boards.round[self._path[-1]])
        leaves = int(lines.leaf_start[number + 1] - lines.leaf_start[number])
        size = self._slots * leaves * int(lines.stride[number])
        if len(self._sums) < size:
            self._sums = aligned(size, self.dtype)
        return self._sums[:size]

    def values(
        self, player: int, board: int, strategy: Rows, rows: Rows | None = None
    ) -> dict[int, NDArray[np.float64]]:
        """Counterfactual values of a player at every betting node of a board, both playing on.

        The opponent plays `strategy`, and so does the player, unless `rows` are given for him.
        """
        path, b = [board], board
        while self.boards.parent[b] >= 0:
            b = int(self.boards.parent[b])
            path.insert(0, b)
        first, last = (int(self.boards.first_child[board + k]) for k in (0, 1))
        numbers = self.numbers(facing=strategy, rows=strategy if rows is None else rows)
        schedule = self.parameters().reshape(1, -1)
        states, field, lines = int(self.states[board, player]), self.work[0].field, self.lines
        number = int(self.boards.round[board])
        shares = [self._parts]
        if number == len(lines.stride) - 1:
            shares = [(part, part + 1) for part in range(*self._parts)]
        found: dict[int, NDArray[np.float64]] = {}
        for share in shares:
            below = np.array([(first, last, *share)], dtype=np.int64)
            whole = laid.Share(
                np.array(path, dtype=np.int64), share[0], below, np.array([0, 1]), 0, self.nothing,
                meeting_board(1), 0,
            )  # fmt: skip
            frame, rows_at, room, steps, copied = self.by_address(numbers)
            run(
                frame, rows_at, room, steps, copied, schedule, VALUE, (player, player), whole, False,
                UP_TOP,
            )  # fmt: skip
            part = share[0] if len(shares) > 1 else number
            for members, starts in (
                (lines.decisions, lines.decision_start),
                (lines.leaves, lines.leaf_start),
                (lines.folds, lines.fold_start),
                (lines.showdowns, lines.showdown_start),
            ):
                for node in members[starts[part] : starts[part + 1]].tolist():
                    found[node] = field[int(lines.home[node]) :][:states].astype(np.float64)
        return dict(sorted(found.items()))

    def reach(self, player: int) -> NDArray[Any]:
        """Reach of a player's states at the start: a view, which may be written between sweeps.

        It begins as the game's; figures such as :meth:`root_value` go on counting by the game's.
        """
        initial = (self.layout.initial0, self.layout.initial1)[player]
        found: NDArray[Any] = initial[: int(self.states[0, player])]
        return found

    def root_values(self, player: int) -> NDArray[Any]:
        """What the last sweep for `player` that came up to the root is worth there: a view."""
        root = int(self.lines.home[0])
        found: NDArray[Any] = self.work[0].field[root : root + int(self.states[0, player])]
        return found

    def lock(self, locks: Mapping[tuple[int, int], Lock]) -> None:
        """Fix the strategy at (board, node) decisions; replaces earlier locks, none frees all."""
        self.layout = self.layout._replace(locks=self._arrays.locks(locks))

    def give(self, values: Mapping[tuple[int, int], Given]) -> None:
        """Say what (board, GIVEN node) are worth to both players' states, in chips.

        Replaces what was given before; nodes left out are worth nothing.
        """
        self.layout = self.layout._replace(given=self._arrays.given(values))

    # ------------------------------------------------------------------------------ figures

    def root_value(self, player: int, values: NDArray[Any]) -> float:
        """Expected chips of a player from the values of his states at the root."""
        return float(self.game.deal.initial[player] @ values) / self.game.deal.total

    def check_memory(self, sets: int, limit_bytes: float) -> None:
        """Refuse before allocating `sets` sets of rows that would not fit."""
        needed = sets * self.index.size * self.dtype.itemsize
        if needed > limit_bytes:
            raise TooLargeError(
                f"the solver needs {needed / 1e9:.1f} GB for {self.index.size:,} numbers, more "
                f"than the {limit_bytes / 1e9:.1f} GB allowed: drop a bet size or a street"
            )

"""A game laid out for the sweep: its arrays, workspaces and threads.

Solvers ask it for rows (vectors that
hold a number for every information set and action) and for sweeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import TooLargeError
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.solve import sweep as kernels
from equipoise.solve.blas import on_one_thread
from equipoise.solve.gamearrays import GameArrays, Lock
from equipoise.solve.rowindex import RowIndex, aligned

Rows = NDArray[Any]
Precision = Literal["float32", "float64"]

#: Private states up to which a game is solved in double precision unless told otherwise.
_DOUBLE_UP_TO = 2_000_000
#: Private states from which on BLAS multiplies faster than a loop.
_STATES_FOR_PRODUCTS = 48


class Tableau:
    """Arrays of one game, and sweeps over them."""

    def __init__(
        self, game: Game, precision: Precision | None = None, threads: int | None = 1
    ) -> None:
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
        self._zero_sum = not betting.even.sum(axis=1).any()
        self._arrays = arrays = GameArrays(game, self.index, self.dtype, self.products)
        self.boards, self.lines, self.layout = arrays.boards, arrays.lines, arrays.layout
        rounds = betting.rounds
        self._parts = (rounds - 1, len(self.lines.fold_start) - 1)
        #: Boards that every thread goes down itself, as long as only one comes after another; what
        #: comes below is shared out, by boards, or by parts of the betting if it is one board again.
        self._path = self._only_boards()
        first, last = (int(self.boards.first_child[self._path[-1] + k]) for k in (0, 1))
        by_parts = last - first == 1 and self._parts[1] - self._parts[0] > 1
        shared = self._parts[1] - self._parts[0] if by_parts else last - first
        self.threads = max(1, min(threads or cores(), shared or 1))
        self.work = [arrays.workspace() for _ in range(self.threads)]
        self.nothing = np.zeros(0, dtype=self.dtype)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        # A share: boards first to last dealt from the path, parts first to last of the last round.
        if by_parts:
            cuts = np.linspace(*self._parts, self.threads + 1).astype(np.int64)
            self._shares = [(first, last, int(a), int(b)) for a, b in pairwise(cuts)]
        else:
            cuts = np.linspace(first, last, self.threads + 1).astype(np.int64)
            self._shares = [(int(a), int(b), *self._parts) for a, b in pairwise(cuts)]

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
        `negative`, `floor`: discounts and least value of regrets. `smoothing`: of the prox rules.
        """
        par = np.zeros(kernels.PARAMETERS, dtype=self.dtype)
        limits = np.finfo(self.dtype)
        par[kernels.KEEP] = values.pop("keep", 1.0)
        par[kernels.GAIN] = values.pop("gain", 1.0)
        par[kernels.POSITIVE] = values.pop("positive", 1.0)
        par[kernels.NEGATIVE] = values.pop("negative", 1.0)
        par[kernels.FLOOR] = values.pop("floor", float(limits.min))
        par[kernels.SMOOTHING] = values.pop("smoothing", 0.0)
        par[kernels.TINY] = 1e-30 if self.dtype == np.float32 else 1e-290
        par[kernels.ONE] = 1.0
        assert not values, f"unknown parameters {list(values)}"
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
        root, states = int(self.lines.home[0]), int(self.states[0, player])
        value: NDArray[Any] = self.work[0].field[root : root + states]
        return value.astype(np.float64)

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
    ) -> kernels.Numbers:
        """The rows of a sweep; those left out have no room."""
        nothing, kept = self.nothing, facing[:0]
        return kernels.Numbers(
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
        self.sweep(1 - player, kernels.VALUE, facing=strategy, plan=plan, par=par, upward=False)

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
            facing=rows,
            rows=rows,
            plan=plan,
            out=out,
            before=before,
            plan_unit=plan_unit,
            rows_unit=rows_unit,
        )
        if self.threads == 1:
            self.run(numbers, schedule, rule, 0, 1, True)
            return
        for t in range(len(schedule)):
            if before is not None:
                before[:] = rows
                numbers = numbers._replace(facing=before, before=before[:0])
            for player in (0, 1):
                self.run(numbers, schedule[t : t + 1], rule, player, player, True)

    def run(
        self,
        numbers: kernels.Numbers,
        schedule: NDArray[Any],
        rule: int,
        first_player: int,
        last_player: int,
        upward: bool,
        layout: kernels.Layout | None = None,
        work: list[kernels.Workspace] | None = None,
    ) -> None:
        """Sweeps over the whole game, on all threads; by another layout of the same betting if given.

        Such a layout comes with workspaces of its own.
        """
        layout, work = layout or self.layout, work or self.work

        def call(thread: int, averaging: int, downward: int, up: int) -> None:
            kernels.run(
                layout, numbers, work[thread], schedule, rule, first_player, last_player,
                self._path, *self._shares[thread], averaging, downward, up,
            )  # fmt: skip

        averaging = 2 if len(numbers.plan) else 0
        if self._pool is None:
            call(0, averaging, 1, 3 if upward else 0)
            return
        waiting = [
            self._pool.submit(call, thread, min(averaging, 2 if thread == 0 else 1), 1, int(upward))
            for thread in range(self.threads)
        ]
        for done in waiting:
            done.result()
        if upward:
            self._gather_leaves(first_player, layout, work)
            call(0, 0, 0, 3)

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
            kernels.run(
                self.layout, numbers, self.work[0], schedule, kernels.VALUE, player, player,
                np.array(path, dtype=np.int64), first, last, *share, 0, 1, 2,
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

    def lock(self, locks: Mapping[tuple[int, int], Lock]) -> None:
        """Fix the strategy at (board, node) decisions; replaces earlier locks, none frees all."""
        self.layout = self.layout._replace(locks=self._arrays.locks(locks))

    def _gather_leaves(
        self, player: int, layout: kernels.Layout, work: list[kernels.Workspace]
    ) -> None:
        """Add up, over threads, the values of the DEAL nodes of the last board on the path."""
        lines, top = layout.lines, int(self._path[-1])
        number, width = int(self.boards.round[top]), int(layout.boards.width[top, player])
        # The values of a round's DEAL nodes stand together.
        leaves = lines.leaves[lines.leaf_start[number] : lines.leaf_start[number + 1]]
        first = int(lines.home[leaves[0]])
        last = int(lines.home[leaves[-1]]) + width
        for other in work[1:]:
            work[0].field[first:last] += other.field[first:last]

    # ------------------------------------------------------------------------------ figures

    def root_value(self, player: int, values: NDArray[Any]) -> float:
        """Expected chips of a player from the values of his states at the root."""
        return float(self.game.deal.initial[player] @ values) / self.game.deal.total

    def value(self, plan: Rows) -> float:
        """Expected chips of player 0 when both play the strategies in `plan`."""
        return self.root_value(0, self.sweep(0, kernels.VALUE, facing=plan))

    def best_response(self, player: int, plan: Rows, out: Rows | None = None) -> float:
        """Expected chips of `player` when he best-responds to the other's strategy in `plan`."""
        return self.root_value(player, self.sweep(player, kernels.BEST, facing=plan, out=out))

    def exploitability(self, plan: Rows) -> float:
        """Half the sum of what each player gains by best-responding, in chips."""
        gains = 0.0
        # Where nothing is raked the two values sum to zero, and large products are not made twice.
        played = not (self.products and self._zero_sum)
        for player in (0, 1):
            if played:
                gains -= self.root_value(player, self.sweep(player, kernels.VALUE, facing=plan))
            gains += self.best_response(player, plan)
        return gains / 2

    def check_memory(self, sets: int, limit_bytes: float) -> None:
        """Refuse before allocating `sets` sets of rows that would not fit."""
        needed = sets * self.index.size * self.dtype.itemsize
        if needed > limit_bytes:
            raise TooLargeError(
                f"the solver needs {needed / 1e9:.1f} GB for {self.index.size:,} numbers, more "
                f"than the {limit_bytes / 1e9:.1f} GB allowed: drop a bet size or a street"
            )

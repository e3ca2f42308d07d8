"""A game laid out for the sweep: flat arrays, workspaces and threads.

This is the only place where games become kernels' arrays. Solvers ask it for rows (vectors that
hold a number for every information set and action) and for sweeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, zip_longest
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import TooLargeError
from equipoise.games.betting import DEAL, FOLD, SHOWDOWN, Betting
from equipoise.games.deal import Board, Deal
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.solve import runouts
from equipoise.solve import sweep as kernels
from equipoise.solve.blas import gemm_address, on_one_thread
from equipoise.solve.lanes import LANES, NOWHERE
from equipoise.solve.rowindex import RowIndex, aligned

Rows = NDArray[Any]
#: Which states are locked (bool[state]) and what they play (float[action, state]).
Lock = tuple[NDArray[np.bool_], NDArray[np.float64]]
Precision = Literal["float32", "float64"]

#: Private states up to which a game is solved in double precision unless told otherwise.
_DOUBLE_UP_TO = 2_000_000
#: Private states from which on BLAS multiplies faster than a loop.
_STATES_FOR_PRODUCTS = 48
#: Terminals that are multiplied at once.
_TERMINALS_A_PART = 512


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
        self.boards = self._lay_boards(deal)
        self.lines = self._lay_lines(betting)
        self.layout = kernels.Layout(
            lines=self.lines,
            boards=self.boards,
            tables=self._lay_tables(deal),
            locks=self._lay_locks({}),
            initial0=self._padded_vector(deal.initial[0], int(self.width[0, 0])),
            initial1=self._padded_vector(deal.initial[1], int(self.width[0, 1])),
            gemm=gemm_address(self.dtype) if self.products else 0,
        )
        rounds = betting.rounds
        self._parts = (rounds - 1, len(self.lines.fold_start) - 1)
        top_boards = int(self.boards.first_child[1]) - 1
        #: Boards that every thread goes down itself; what comes below is shared out, by boards, or
        #: by parts of the last round's betting if one board comes after another.
        self._path = np.zeros(1, dtype=np.int64)
        by_parts = len(deal.boards) == rounds and self._parts[1] - self._parts[0] > 1
        if by_parts:
            self._path = np.arange(rounds - 1)
            top_boards = self._parts[1] - self._parts[0]
        self.threads = max(1, min(threads or cores(), top_boards or 1))
        self.work = [self._workspace() for _ in range(self.threads)]
        self.nothing = np.zeros(0, dtype=self.dtype)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        # A share: boards first to last dealt from the path, parts first to last of the last round.
        if by_parts:
            cuts = np.linspace(*self._parts, self.threads + 1).astype(np.int64)
            self._shares = [(rounds - 1, rounds, int(a), int(b)) for a, b in pairwise(cuts)]
        else:
            cuts = np.linspace(1, top_boards + 1, self.threads + 1).astype(np.int64)
            self._shares = [(int(a), int(b), *self._parts) for a, b in pairwise(cuts)]

    # ------------------------------------------------------------------------------ layout

    def _padded_vector(self, values: NDArray[Any], width: int) -> NDArray[Any]:
        vector = aligned(width, self.dtype)
        vector[: len(values)] = values
        return vector

    def _lay_boards(self, deal: Deal) -> kernels.Boards:
        boards = deal.boards
        parents = np.array([board.parent for board in boards], dtype=np.int64)
        first_child = np.searchsorted(parents, np.arange(len(boards) + 1)).astype(np.int64)
        map_start = np.zeros((len(boards), 2), dtype=np.int64)
        first_arrival, back_start = [0], []
        maps: list[NDArray[np.uint16]] = []
        back: list[NDArray[np.uint16]] = []
        filled = back_filled = 0
        for b, board in enumerate(boards):
            for player in (0, 1) if board.arrivals else ():
                down = np.full(int(self.width[b, player]), NOWHERE, dtype=np.uint16)
                down[: self.states[b, player]] = board.arrivals[0][player]
                map_start[b, player] = filled
                filled += len(down)
                maps.append(down)
            for arrival in board.arrivals:
                ups = [
                    _ways_back(arrival[player], int(self.width[board.parent, player]))
                    for player in (0, 1)
                ]
                for pair in zip_longest(*ups):
                    starts = []
                    for player, up in enumerate(pair):
                        if up is None:
                            up = np.full_like(ups[player][0], NOWHERE)
                        starts.append(back_filled)
                        back_filled += len(up)
                        back.append(up)
                    back_start.append(starts)
            first_arrival.append(len(back_start))

        def joined(parts: list[NDArray[np.uint16]]) -> NDArray[np.uint16]:
            return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint16)

        down_start, up_start, transitions = self._lay_transitions(deal)
        return kernels.Boards(
            round=np.array([board.round for board in boards], dtype=np.int64),
            parent=parents,
            first_child=first_child,
            weight=np.array([board.weight for board in boards], dtype=self.dtype),
            states=self.states,
            width=self.width,
            base=self.index.base,
            decision=self.index.decision,
            map_start=map_start,
            maps=joined(maps),
            first_arrival=np.array(first_arrival, dtype=np.int64),
            back_start=np.array(back_start, dtype=np.int64).reshape(-1, 2),
            back=joined(back),
            down_start=down_start,
            up_start=up_start,
            transitions=transitions,
        )

    def _lay_transitions(
        self, deal: Deal
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Starts of the matrices that carry reach down, and values up; and all of them."""
        starts = np.full((2, len(deal.boards), 2), -1, dtype=np.int64)
        blocks: list[NDArray[Any]] = []
        filled = 0
        for b, board in enumerate(deal.boards):
            for player in (0, 1) if board.transition is not None else ():
                assert board.transition is not None
                matrix = board.transition[player]
                for way, (entries, width) in enumerate(
                    (
                        (board.weight * matrix.T, int(self.width[b, player])),
                        (matrix, int(self.width[board.parent, player])),
                    )
                ):
                    block = np.zeros((len(entries), width), dtype=self.dtype)
                    block[:, : entries.shape[1]] = entries
                    starts[way, b, player] = filled
                    filled += block.size
                    blocks.append(block.reshape(-1))
        every = np.concatenate(blocks) if blocks else np.zeros(0, dtype=self.dtype)
        return starts[0], starts[1], every

    def _lay_lines(self, betting: Betting) -> kernels.Lines:
        parts = self._divide(betting)
        place = np.zeros(len(betting.kind) + 1, dtype=np.int64)
        home = np.zeros(len(betting.kind), dtype=np.int64)
        strides = np.zeros(betting.rounds, dtype=np.int64)
        lists: dict[str, list[NDArray[np.int64]]] = {}
        filled = widest = batch = 0
        for number, (a, _) in enumerate(betting.spans()):
            on_round = self.boards.round == number
            stride = int(self.width[on_round].max())
            strides[number] = stride
            most = 0
            for roots, nodes in (part for part in parts if part[0][0] == number):
                kinds = betting.kind[nodes]
                groups = {
                    "folds": nodes[kinds == FOLD],
                    "showdowns": nodes[kinds == SHOWDOWN],
                    "leaves": nodes[kinds == DEAL],
                    "decisions": nodes[kinds < 2],
                    "roots": np.arange(roots[1], roots[2]) + a,
                }
                for name, members in groups.items():
                    lists.setdefault(name, []).append(members)
                # What is multiplied in one product stands together: folds, showdowns, roots.
                inner = np.setdiff1d(groups["decisions"], groups["roots"])
                stands = np.concatenate(
                    [
                        np.setdiff1d(groups[name], groups["roots"])
                        for name in ("folds", "showdowns", "leaves")
                    ]
                )
                row = np.concatenate([stands, groups["roots"], inner])
                place[row] = filled + stride * np.arange(len(row))
                home[row] = place[row]
                leaves = groups["leaves"]
                home[leaves] = filled + stride * (len(row) + np.arange(len(leaves)))
                most = max(most, stride * (len(row) + len(leaves)))
                batch = max(batch, stride * max(map(len, groups.values())))
            filled += most
            widest = max(widest, stride)
        # One spare vector at the end, for the unused lanes of a batch of terminals.
        place[-1] = filled
        self._buffer, self._widest, self._batch = filled + widest, widest, batch

        def joined(name: str) -> NDArray[np.int64]:
            return np.concatenate(lists[name]).astype(np.int64)

        def starts(name: str) -> NDArray[np.int64]:
            return np.cumsum([0] + [len(members) for members in lists[name]]).astype(np.int64)

        return kernels.Lines(
            kind=betting.kind,
            first=betting.first,
            count=betting.count,
            row=betting.row,
            place=place,
            home=home,
            even=np.ascontiguousarray(betting.even.T).astype(self.dtype),
            swing=np.array([betting.swing, betting.swing]).astype(self.dtype),
            start=betting.start,
            rows=betting.rows,
            order=betting.order,
            root_start=starts("roots"),
            decisions=joined("decisions"),
            decision_start=starts("decisions"),
            leaves=joined("leaves"),
            leaf_start=starts("leaves"),
            folds=joined("folds"),
            fold_start=starts("folds"),
            showdowns=joined("showdowns"),
            showdown_start=starts("showdowns"),
            stride=strides,
        )

    def _divide(self, betting: Betting) -> list[tuple[tuple[int, int, int], NDArray[np.int64]]]:
        """Parts of all rounds: (round, first root, last root) and their nodes, ascending.

        Only games of large products have several parts, so that what is multiplied stays in cache.
        """
        parts: list[tuple[tuple[int, int, int], NDArray[np.int64]]] = []
        for number, (a, b) in enumerate(betting.spans()):
            root_of = np.arange(b - a)
            parent = betting.parent[a:b] - a
            for node in np.flatnonzero(betting.parent[a:b] >= 0):
                root_of[node] = root_of[parent[node]]
            roots = int((betting.parent[a:b] < 0).sum())
            ends = [roots]
            if self.products and number == betting.rounds - 1:
                ended = np.isin(betting.kind[a:b], (FOLD, SHOWDOWN))
                terminals = np.cumsum(np.bincount(root_of[ended], minlength=roots))
                wanted = np.arange(_TERMINALS_A_PART, terminals[-1], _TERMINALS_A_PART)
                ends = np.unique([*np.searchsorted(terminals, wanted) + 1, roots]).tolist()
            for first, last in pairwise([0, *ends]):
                nodes = a + np.flatnonzero((root_of >= first) & (root_of < last))
                parts.append(((number, first, last), nodes))
        return parts

    def _lay_tables(self, deal: Deal) -> Any:
        if deal.evaluator == "sorted":
            return runouts.lay_sorted(self.game, self.boards)
        start = np.zeros((len(deal.boards), 2), dtype=np.int64)
        filled = 0
        for b, board in enumerate(deal.boards):
            for player in (0, 1):
                # Seats that see the same tables share them.
                if player and _same_for_both(board):
                    start[b, player] = start[b, 0]
                    continue
                start[b, player] = filled
                filled += int(self.states[b, 1 - player] * self.width[b, player])
        mass, signed = aligned(filled, self.dtype), aligned(filled, self.dtype)
        for b, board in enumerate(deal.boards):
            assert board.mass is not None
            assert board.signed is not None
            for player, chance, result in (
                (0, board.mass.T, board.signed.T),
                (1, board.mass, -board.signed),
            ):
                if player and start[b, 0] == start[b, 1]:
                    continue
                his, mine = chance.shape
                at, stride = int(start[b, player]), int(self.width[b, player])
                for table, entries in ((mass, chance), (signed, result)):
                    table[at : at + his * stride].reshape(his, stride)[:, :mine] = entries
        kind = kernels.Products if self.products else kernels.Matrices
        return kind(mass, signed, start)

    def _workspace(self) -> kernels.Workspace:
        rounds = self.game.betting.rounds
        batch = max(self._widest * LANES + LANES, self._batch if self.products else 0)
        return kernels.Workspace(
            field=aligned(self._buffer, self.dtype),
            slot=np.zeros(len(self.lines.place), dtype=np.int64),
            lanes_in=aligned(batch, self.dtype),
            lanes_out=aligned(batch, self.dtype),
            on_card=aligned(kernels.CARDS * LANES, self.dtype),
            source=np.zeros(LANES, dtype=np.int64),
            target=np.zeros(LANES, dtype=np.int64),
            even=aligned(LANES, self.dtype),
            swing=aligned(LANES, self.dtype),
            sizes=np.zeros(6, dtype=np.int32),
            cursor=np.zeros(rounds + 1, dtype=np.int64),
            current=np.zeros(rounds + 1, dtype=np.int64),
        )

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
        self.layout = self.layout._replace(locks=self._lay_locks(locks))

    def _lay_locks(self, locks: Mapping[tuple[int, int], Lock]) -> kernels.Locks:
        betting = self.game.betting
        start = np.full(len(self.states), -1, dtype=np.int64)
        parts: dict[int, NDArray[np.int64]] = {}
        rows: list[NDArray[Any]] = []
        filled = 0
        for (board, node), (mask, given) in locks.items():
            player, actions = int(betting.kind[node]), int(betting.count[node])
            width, states = int(self.width[board, player]), int(self.states[board, player])
            first, last = betting.spans()[self.game.deal.boards[board].round]
            if board not in parts:
                start[board] = sum(len(part) for part in parts.values())
                parts[board] = np.full(last - first, -1, dtype=np.int64)
            block = np.zeros((actions + 1, width), dtype=self.dtype)
            block[0, :states] = mask
            block[1:, :states] = given
            parts[board][node - first] = filled
            rows.append(block.reshape(-1))
            filled += block.size
        return kernels.Locks(
            start=start,
            at=np.concatenate(list(parts.values())) if parts else np.zeros(0, dtype=np.int64),
            rows=np.concatenate(rows) if rows else np.zeros(0, dtype=self.dtype),
        )

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


def _same_for_both(board: Board) -> bool:
    """Whether both players see the same tables: the same states, and what one wins the other loses."""
    mass, signed = board.mass, board.signed
    assert mass is not None
    assert signed is not None
    if len(mass) != mass.shape[1]:
        return False
    return np.array_equal(mass, mass.T) and np.array_equal(signed, -signed.T)


def _ways_back(arrival: NDArray[np.int64], width: int) -> list[NDArray[np.uint16]]:
    """Maps from a parent's states to the states they became, as many as one of them became.

    A hand stays one hand when a card comes; a bucket may split into several.
    """
    up = np.full(width, NOWHERE, dtype=np.uint16)
    up[arrival] = np.arange(len(arrival))
    if np.count_nonzero(up != NOWHERE) == len(arrival):
        return [up]
    order = np.argsort(arrival, kind="stable")
    first = np.searchsorted(arrival[order], arrival[order])
    turn = np.arange(len(arrival)) - first
    ways = []
    for number in range(int(turn.max()) + 1):
        up = np.full(width, NOWHERE, dtype=np.uint16)
        chosen = order[turn == number]
        up[arrival[chosen]] = chosen
        ways.append(up)
    return ways

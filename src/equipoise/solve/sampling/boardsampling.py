"""Board-sampled CFR on bucketed games: public chance sampling with products of the buckets at hand.

A full board holds only one to three hundred of the river's thousands of bucket sequences. So each
iteration draws one board, counts who beats whom among *all* pairs of hands on it, bucket by bucket,
and runs one ordinary iteration of CFR (the sweep, unchanged) on the game that has just these
buckets. What it learns goes back to where those buckets' numbers are kept. Over boards the sampled
values are right on average (public chance sampling: Johanson, Bard, Lanctot, Gibson, Bowling,
AAMAS 2012), and an iteration costs a hundredth of a full one. Iteration t counts t times in regrets
and averages (linear CFR).

Numbers are kept by bucket, all rows of a bucket together, so that an iteration touches whole runs of
memory; they are turned row by row for the sweep, sixteen buckets at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.fullboards import random_boards
from equipoise.abstraction.lookup import Lookup
from equipoise.abstraction.tables.joint import bucket_parents
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.evaluator import tables
from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.solve.sampling.boardkernels import add_rows, fetch_rows, put_rows, river_points
from equipoise.solve.solvers.tableausolver import TableauSolver
from equipoise.solve.sweep.lanes import LANES, NOWHERE
from equipoise.solve.sweep.layout import Boards, Numbers
from equipoise.solve.sweep.matrices import Panels
from equipoise.solve.sweep.panels import TOGETHER, panel_room, put_in_panels
from equipoise.solve.sweep.rowindex import aligned
from equipoise.solve.sweep.rowrules import REGRET
from equipoise.solve.sweep.tableau import Tableau

#: Boards drawn at a time.
_BATCH = 1024


class _Sample(NamedTuple):
    """The game of the buckets on one board."""

    #: Buckets on each street, ascending.
    known: list[NDArray[np.int64]]
    #: Which of the street before each came from.
    parents: list[NDArray[np.int64]]
    #: Both players' chances and results on each street.
    mass: list[NDArray[np.float32]]
    signed: list[NDArray[np.float32]]


class BoardSampling(TableauSolver):
    """Linear CFR over random boards; `lookup` are the buckets that `game` was made of."""

    name: ClassVar[str] = "board-sampling"
    samples = True
    scope = "board"
    needs_recall = True
    numbers_kept = 4
    beside = ("lookup",)

    def __init__(
        self,
        game: Game,
        *,
        lookup: Lookup,
        seed: int = 0,
        precision: Literal["float32"] = "float32",
        threads: int | None = 1,
    ) -> None:
        if precision != "float32":
            raise SolverError("board sampling keeps single precision: leave float64 out")
        super().__init__(game, precision="float32", threads=threads)
        if not self.tableau.products:
            raise SolverError("board sampling is for bucketed games: use cfr+ for small ones")
        self.lookup, self.seed = lookup, seed
        self._parents = bucket_parents(lookup)
        states = [len(board.hands[0]) for board in game.deal.boards]
        if len(states) != 4 or states[1:] != [len(above) for above in self._parents]:
            raise SolverError(f"{game.name} was not made of these buckets: give its own")
        rows = game.betting.rows
        # Two more runs for the lanes past the last bucket: one that is read, one that is written.
        shapes = [
            [(n + 2, -(-int(r) // LANES) * LANES) for r in rows[k]] for k, n in enumerate(states)
        ]
        self._regrets = [[aligned(n * r, np.float32) for n, r in street] for street in shapes]
        self._sums = [[aligned(n * r, np.float32) for n, r in street] for street in shapes]
        self._steps = [[r for _, r in street] for street in shapes]
        self._layout = _SampleLayout(self.tableau)
        self._boards = np.zeros((0, 5), dtype=np.uint8)
        self._drawn = -1
        self._fresh = True
        self._pool = ThreadPoolExecutor(2)

    def prepare(self) -> None:
        """Load the kernels of sweeps and of boards: rows are fetched and put back as they are."""
        super().prepare()
        view, nothing = self._layout, self.tableau.parameters().reshape(1, -1)[:0]
        view.lay(self._sample(self._board(self.iteration)), 1.0)
        numbers = self.tableau.numbers(facing=view.regrets, rows=view.regrets, plan=view.plan)
        for player in (0, 1):
            self._move(fetch_rows, self._regrets, view.regrets, player, 0)
            view.run(numbers, nothing, player)
            self._keep(player)

    def advance(self, count: int) -> None:
        """Do `count` iterations, a board each."""
        for _ in range(count):
            self._iterate(self._sample(self._board(self.iteration)), self.iteration + 1)
            self.iteration += 1
        self._fresh = False

    def _board(self, number: int) -> NDArray[np.uint8]:
        if number // _BATCH != self._drawn:
            self._drawn = number // _BATCH
            self._boards = random_boards(_BATCH, seed=self.seed * 1_000_003 + self._drawn)
        board: NDArray[np.uint8] = self._boards[number % _BATCH]
        return board

    def _sample(self, board: NDArray[np.uint8]) -> _Sample:
        found, points = np.empty(COMBO_COUNT, np.int64), self._layout.points
        size = river_points(self.lookup, board, tables(), found, points)
        every = points[: size * size].reshape(size, size).astype(np.float32)
        known: list[NDArray[np.int64]] = [found[:size].copy()]
        parents: list[NDArray[np.int64]] = []
        streets: list[NDArray[Any]] = [every]
        for above in reversed(self._parents):
            names, place = np.unique(above[known[0]], return_inverse=True)
            into = np.zeros((len(names), len(place)), dtype=np.float32)
            into[place, np.arange(len(place))] = 1
            parents.insert(0, place)
            known.insert(0, names)
            streets.insert(0, into @ streets[0] @ into.T)
        twice = 2 * every.sum(dtype=np.float64)
        mass = [((p + p.T) / twice).astype(np.float32) for p in streets]
        signed = [((p - p.T) / twice).astype(np.float32) for p in streets]
        return _Sample(known, [np.zeros(len(known[0]), np.int64), *parents], mass, signed)

    def _iterate(self, sample: _Sample, weight: float) -> None:
        view = self._layout
        view.lay(sample, weight)
        plain = self.tableau.parameters()
        list(
            self._pool.map(
                lambda p: self._move(fetch_rows, self._regrets, view.regrets, p, 0), (0, 1)
            )
        )
        numbers = self.tableau.numbers(facing=view.regrets, rows=view.regrets, plan=view.plan)
        for player in (0, 1):
            view.run(numbers, plain.reshape(1, -1), player)
        list(self._pool.map(self._keep, (0, 1)))

    def _keep(self, player: int) -> None:
        self._move(put_rows, self._regrets, self._layout.regrets, player, 1)
        self._move(add_rows, self._sums, self._layout.plan, player, 1)

    def _move(self, how: Any, kept: Any, sample: NDArray[Any], player: int, spare: int) -> None:
        view = self._layout
        for street, known in enumerate(view.known):
            step, rows = self._steps[street][player], int(self.game.betting.rows[street, player])
            width = int(view.width[street])
            starts = np.full(width, (len(kept[street][player]) // step - 2 + spare) * step)
            starts[: len(known)] = known * step
            how(
                kept[street][player], starts.reshape(-1, LANES), width // LANES, rows,
                int(view.base[street, player]), width, sample, view.lanes[player],
            )  # fmt: skip

    # ------------------------------------------------------------------------------ the answer

    @property
    def plan(self) -> NDArray[Any]:
        """Realisation plan of both players' average strategy, from the averages kept by bucket."""
        if not self._fresh:
            self._turn_plan()
            self._fresh = True
        return self._plan

    def _turn_plan(self) -> None:
        index, rows = self.tableau.index, self.game.betting.rows
        for street, board in enumerate(self.game.deal.boards):
            for player in (0, 1):
                n, r = len(board.hands[player]), int(rows[street, player])
                width, base = int(index.width[street, player]), int(index.base[street, player])
                sums = self._sums[street][player].reshape(-1, self._steps[street][player])
                target = self._plan[base : base + r * width].reshape(r, width)
                target[:, :n] = sums[:n, :r].T
                target[:, :n] *= 1.0 / max(1.0, float(target.max()))

    def settings(self) -> dict[str, Any]:
        """Seed of the boards."""
        return {"seed": self.seed}

    def restore_scalars(self, scalars: dict[str, Any]) -> None:
        """Nothing but that the plan is yet to be turned."""
        super().restore_scalars(scalars)
        self._fresh = False

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Regrets and averages by street and player."""
        return {
            f"{name}.{street}.{player}": kept[street][player]
            for name, kept in (("regrets", self._regrets), ("averages", self._sums))
            for street in range(4)
            for player in (0, 1)
        }


class _SampleLayout:
    """The layout of a game with other private states under the same betting, laid anew each time."""

    def __init__(self, tableau: Tableau) -> None:
        self.tableau = tableau
        lines, rounds = tableau.lines, len(tableau.lines.stride)
        starts = [int(lines.start[k]) for k in range(rounds)] + [len(lines.home)]
        #: Number of a node's place, and of its value's, among those of its round.
        self._places, self._homes, self._counts = [], [], []
        filled = 0
        for k in range(rounds):
            a, b = starts[k], starts[k + 1]
            stride = int(lines.stride[k])
            place, home = (
                (lines.place[a:b] - filled) // stride,
                (lines.home[a:b] - filled) // stride,
            )
            self._places.append(place)
            self._homes.append(home)
            self._counts.append(int(max(place.max(), home.max())) + 1)
            filled += stride * self._counts[-1]
        self._most = max(
            int(np.diff(start).max())
            for start in (lines.fold_start, lines.showdown_start, lines.root_start)
        )
        self.rows = tableau.game.betting.rows
        self.points = np.empty(COMBO_COUNT * COMBO_COUNT, np.int32)
        self.known: Sequence[NDArray[np.int64]] = ()
        self.width = np.zeros(rounds, np.int64)
        self.base = np.zeros((rounds, 2), np.int64)
        self.regrets = self.plan = aligned(0, np.float32)
        steps = -(-int(self.rows.max()) // LANES) * LANES
        self.lanes = [aligned(LANES * (steps + LANES), np.float32) for _ in (0, 1)]
        self._work = list(tableau.work)

    def lay(self, sample: _Sample, weight: float) -> None:
        """Lay out a sample's game; both players start with reach `weight`."""
        tableau, lines = self.tableau, self.tableau.lines
        self.known = sample.known
        states = np.array([len(known) for known in sample.known], dtype=np.int64)
        self.width = width = -(-states // LANES) * LANES
        needed = (self.rows * width[:, None]).reshape(-1)
        self.base = (np.cumsum(needed) - needed).reshape(-1, 2).astype(np.int64)
        size = int(needed.sum())
        if len(self.regrets) < size:
            self.regrets, self.plan = (aligned(2 * size, np.float32) for _ in range(2))
        offsets = np.concatenate([[0], np.cumsum(width * self._counts)])
        pairs = list(zip(self._places, self._homes, strict=True))
        place = np.concatenate(
            [offsets[k] + width[k] * p for k, (p, _) in enumerate(pairs)] + [offsets[-1:]]
        )
        home = np.concatenate([offsets[k] + width[k] * h for k, (_, h) in enumerate(pairs)])
        boards = self._boards(sample, states, width)
        ones = aligned(int(width[0]), np.float32)
        ones[: states[0]] = weight
        rooms = [panel_room(n, n) for n in states.tolist()]
        table_start = np.concatenate([[0], np.cumsum(rooms)])
        mass, signed = (aligned(int(table_start[-1]), np.float32) for _ in range(2))
        for k, first in enumerate(table_start[:-1]):
            put_in_panels(sample.mass[k], mass[first:])
            put_in_panels(-sample.signed[k], signed[first:])
        start = np.repeat(table_start[:-1, None], 2, axis=1)
        self.layout = tableau.layout._replace(
            lines=lines._replace(place=place, home=home, stride=width),
            boards=boards,
            tables=Panels(mass, signed, start),
            initial0=ones,
            initial1=ones,
        )
        widest = int(width.max())
        # A last group of vectors is filled up.
        self._grow(int(offsets[-1]) + widest, (self._most + TOGETHER) * widest)

    def _boards(
        self, sample: _Sample, states: NDArray[np.int64], width: NDArray[np.int64]
    ) -> Boards:
        maps: list[NDArray[np.uint16]] = []
        back: list[NDArray[np.uint16]] = []
        map_start, first_arrival = [0], [0, 0]
        for k in range(1, len(states)):
            down = np.full(width[k], NOWHERE, dtype=np.uint16)
            down[: states[k]] = sample.parents[k]
            map_start.append(int(width[1:k].sum()))
            maps.append(down)
            # Children of one parent come one after another, so the n-th goes back in the n-th map.
            order = np.argsort(sample.parents[k], kind="stable")
            above = sample.parents[k][order]
            turn = np.arange(states[k]) - np.searchsorted(above, above)
            ups = np.full((int(turn.max()) + 1, width[k - 1]), NOWHERE, dtype=np.uint16)
            ups[turn, above] = order
            back.extend(ups)
            first_arrival.append(first_arrival[-1] + len(ups))
        lengths = np.array([0, *(len(up) for up in back)]).cumsum()[:-1]
        return self.tableau.boards._replace(
            states=np.repeat(states[:, None], 2, axis=1),
            width=np.repeat(width[:, None], 2, axis=1),
            base=self.base,
            map_start=np.repeat(np.array(map_start)[:, None], 2, axis=1),
            maps=np.concatenate(maps),
            first_arrival=np.array(first_arrival),
            back_start=np.repeat(lengths[:, None], 2, axis=1),
            back=np.concatenate(back),
        )

    def _grow(self, field: int, batch: int) -> None:
        """Workspaces large enough for this sample."""
        for k, work in enumerate(self._work):
            if len(work.field) < field:
                work = work._replace(field=aligned(2 * field, np.float32))
            if TOGETHER * len(work.support) < batch:
                work = work._replace(
                    lanes_in=aligned(2 * batch, np.float32),
                    lanes_out=aligned(2 * batch, np.float32),
                    support=np.zeros(2 * batch // TOGETHER, dtype=np.int32),
                    supported=np.zeros(2 * batch // TOGETHER, dtype=np.int64),
                )
            self._work[k] = work

    def run(self, numbers: Numbers, schedule: NDArray[Any], player: int) -> None:
        """One sweep of a player over the sample, on the tableau's threads."""
        self.tableau.run(numbers, schedule, REGRET, player, player, True, self.layout, self._work)

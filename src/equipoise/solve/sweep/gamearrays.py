"""Flat arrays of a game, as the sweep's kernels read them.

Boards with the maps or matrices that carry states from one to the next; the betting of every round
with a place for each node's vector; tables of chances and results at the terminals; locked
decisions; and the workspace of a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.boards import Board
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL, FOLD, GIVEN, SHOWDOWN
from equipoise.solve.sweep.blas import gemm_address
from equipoise.solve.sweep.lanes import LANES, NOWHERE
from equipoise.solve.sweep.layout import (
    CARDS,
    PARAMETERS,
    BettingArrays,
    Boards,
    GivenValues,
    Locks,
    SweepLayout,
    Workspace,
)
from equipoise.solve.sweep.matrices import Matrices, Panels
from equipoise.solve.sweep.panels import PANEL, TOGETHER, panel_room, put_in_panels
from equipoise.solve.sweep.rowindex import RowIndex, aligned
from equipoise.solve.sweep.sortedhands import lay_sorted

#: Which states are locked (bool[state]) and what they play (float[action, state]).
Lock = tuple[NDArray[np.bool_], NDArray[np.float64]]
#: Chips that a cut line of betting is worth to each state of player 0, and of player 1.
Given = tuple[NDArray[np.float64], NDArray[np.float64]]

#: Terminals that are multiplied, or evaluated, one after another before values go up.
_TERMINALS_A_PART = 512


class GameArrays:
    """Arrays of one game; `products` says whether terminals are evaluated by large products."""

    def __init__(self, game: Game, index: RowIndex, dtype: Any, products: bool) -> None:
        self.game, self.index, self.dtype, self.products = game, index, dtype, products
        self.states, self.width = index.states, index.width
        deal = game.deal
        #: Whether joint tables stand in panels: all of single precision do.
        self.panels = deal.evaluator == "matrix" and dtype == np.float32
        self.boards = self._lay_boards()
        self.lines = self._lay_lines()
        self.layout = SweepLayout(
            lines=self.lines,
            boards=self.boards,
            tables=self._lay_tables(),
            locks=self.locks({}),
            given=self.given({}),
            initial0=self._padded(deal.initial[0], int(self.width[0, 0])),
            initial1=self._padded(deal.initial[1], int(self.width[0, 1])),
            gemm=gemm_address(dtype) if products else 0,
        )

    def workspace(self) -> Workspace:
        """Room for one thread."""
        rounds = self.game.betting.rounds
        listed = self._batch if self.products or self.panels else 0
        batch = max(self._widest * LANES + LANES, listed)
        # A last group of vectors is filled up.
        batch += TOGETHER * self._widest
        return Workspace(
            field=aligned(self._buffer, self.dtype),
            slot=np.zeros(len(self.lines.place), dtype=np.int64),
            lanes_in=aligned(batch, self.dtype),
            lanes_out=aligned(batch, self.dtype),
            on_card=aligned(CARDS * LANES, self.dtype),
            ties=aligned(CARDS * LANES, self.dtype),
            source=np.zeros(LANES, dtype=np.int64),
            target=np.zeros(LANES, dtype=np.int64),
            even=aligned(LANES, self.dtype),
            swing=aligned(LANES, self.dtype),
            fold_target=np.zeros(LANES, dtype=np.int64),
            fold_even=aligned(LANES, self.dtype),
            sizes=np.zeros(6, dtype=np.int32),
            support=np.zeros(batch // TOGETHER + 1 if self.panels else 0, dtype=np.int32),
            supported=np.zeros(batch // TOGETHER + 1 if self.panels else 0, dtype=np.int64),
            # One more number, which is zero.
            tile=aligned(TOGETHER * PANEL + 1, self.dtype),
            par=aligned(PARAMETERS, self.dtype),
            cursor=np.zeros(rounds + 1, dtype=np.int64),
            current=np.zeros(rounds + 1, dtype=np.int64),
        )

    def locks(self, locks: Mapping[tuple[int, int], Lock]) -> Locks:
        """Strategies that are fixed at (board, node) decisions."""
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
        return Locks(
            start=start,
            at=np.concatenate(list(parts.values())) if parts else np.zeros(0, dtype=np.int64),
            rows=np.concatenate(rows) if rows else np.zeros(0, dtype=self.dtype),
        )

    def given(self, values: Mapping[tuple[int, int], Given]) -> GivenValues:
        """What (board, GIVEN node) are worth to each state; nothing where nothing is said."""
        betting, boards = self.game.betting, self.game.deal.boards
        nodes = [len(betting.of_kind(number, GIVEN)) for number in range(betting.rounds)]
        room = self.width * np.array([nodes[board.round] for board in boards])[:, None]
        ends = np.cumsum(room.reshape(-1))
        start = (ends - room.reshape(-1)).reshape(-1, 2).astype(np.int64)
        laid = aligned(int(ends[-1]), self.dtype)
        for (board, node), worth in values.items():
            if betting.kind[node] != GIVEN or betting.round_of(node) != boards[board].round:
                raise GameError(f"node {node} of board {board} is not one whose values are given")
            for player in (0, 1):
                width, states = int(self.width[board, player]), int(self.states[board, player])
                at = int(start[board, player]) + int(betting.row[node]) * width
                laid[at : at + states] = worth[player]
        return GivenValues(start, laid)

    def _padded(self, values: NDArray[Any], width: int) -> NDArray[Any]:
        vector = aligned(width, self.dtype)
        vector[: len(values)] = values
        return vector

    def _lay_boards(self) -> Boards:
        boards = self.game.deal.boards
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

        down_start, up_start, transitions = self._lay_transitions()
        return Boards(
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

    def _lay_transitions(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Starts of the matrices that carry reach down, and values up; and all of them."""
        boards = self.game.deal.boards
        starts = np.full((2, len(boards), 2), -1, dtype=np.int64)
        blocks: list[NDArray[Any]] = []
        filled = 0
        for b, board in enumerate(boards):
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

    def _lay_lines(self) -> BettingArrays:
        betting = self.game.betting
        parts = self._divide()
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
            for roots, nodes, by_root in (part for part in parts if part[0][0] == number):
                kinds = betting.kind[nodes]
                groups = {
                    "folds": by_root[np.isin(betting.kind[by_root], (FOLD, GIVEN))],
                    "showdowns": by_root[betting.kind[by_root] == SHOWDOWN],
                    "leaves": nodes[kinds == DEAL],
                    "decisions": nodes[kinds < 2],
                    "givens": nodes[kinds == GIVEN],
                    "roots": np.arange(roots[1], roots[2]) + a,
                }
                for name, members in groups.items():
                    lists.setdefault(name, []).append(members)
                # What is multiplied in one product stands together: folds, showdowns, roots.
                inner = np.setdiff1d(groups["decisions"], groups["roots"])
                stands = np.concatenate(
                    [
                        groups[name][~np.isin(groups[name], groups["roots"])]
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
        # What a workspace must hold: all vectors, the widest one, the widest list of terminals.
        self._buffer, self._widest, self._batch = filled + widest, widest, batch

        def joined(name: str) -> NDArray[np.int64]:
            return np.concatenate(lists[name]).astype(np.int64)

        def starts(name: str) -> NDArray[np.int64]:
            return np.cumsum([0] + [len(members) for members in lists[name]]).astype(np.int64)

        return BettingArrays(
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
            givens=joined("givens"),
            given_start=starts("givens"),
            stride=strides,
        )

    def _divide(
        self,
    ) -> list[tuple[tuple[int, int, int], NDArray[np.int64], NDArray[np.int64]]]:
        """Parts of all rounds: (round, first root, last root), their nodes, and those root by root.

        Terminals of one root are reached by the same hands, more or less.
        Games of large products and of exact hands may have several parts on the last round, so that what
        is evaluated at once stays in cache.
        """
        betting = self.game.betting
        in_parts = self.products or self.game.deal.evaluator == "sorted"
        parts = []
        for number, (a, b) in enumerate(betting.spans()):
            root_of = np.arange(b - a)
            parent = betting.parent[a:b] - a
            for node in np.flatnonzero(betting.parent[a:b] >= 0):
                root_of[node] = root_of[parent[node]]
            roots = int((betting.parent[a:b] < 0).sum())
            ends = [roots]
            if in_parts and roots and number == betting.rounds - 1:
                ended = np.isin(betting.kind[a:b], (FOLD, SHOWDOWN, GIVEN))
                terminals = np.cumsum(np.bincount(root_of[ended], minlength=roots))
                wanted = np.arange(_TERMINALS_A_PART, terminals[-1], _TERMINALS_A_PART)
                ends = np.unique([*np.searchsorted(terminals, wanted) + 1, roots]).tolist()
            for first, last in pairwise([0, *ends]):
                nodes = a + np.flatnonzero((root_of >= first) & (root_of < last))
                by_root = nodes[np.argsort(root_of[nodes - a], kind="stable")]
                parts.append(((number, first, last), nodes, by_root))
        return parts

    def _lay_tables(self) -> Any:
        deal = self.game.deal
        if deal.evaluator == "sorted":
            return lay_sorted(self.game, self.boards, self.lines)
        start = np.zeros((len(deal.boards), 2), dtype=np.int64)
        filled = 0
        for b, board in enumerate(deal.boards):
            for player in (0, 1):
                # Seats that see the same tables share them.
                if player and _same_for_both(board):
                    start[b, player] = start[b, 0]
                    continue
                start[b, player] = filled
                his, width = int(self.states[b, 1 - player]), int(self.width[b, player])
                filled += panel_room(his, width) if self.panels else his * width
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
                    if self.panels:
                        put_in_panels(entries, table[at:])
                    else:
                        table[at : at + his * stride].reshape(his, stride)[:, :mine] = entries
        return (Panels if self.panels else Matrices)(mass, signed, start)


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

"""Flops, solved with exact hands to the end of the street: the opponent chooses how the hand goes on.

The whole of a flop with real cards does not fit into seconds. So its betting is solved with all 1,176
hands of both, the true pot and the real bet in the tree, and is cut where the turn would come. What a
line is worth there depends on both hands: :class:`.rollouts.LeafMatrices`. I go on by the trunk, and he,
hand by hand, as the trunk or as the trunk biased towards folding, calling or raising
(:mod:`.depthlimit`). All-ins are paid by their exact equity.

Gadgets hold as on later streets. On the turn the hand is solved again, from the ranges of this solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.boardmargins import BoardMargins
from equipoise.cards.card import RANKS, cards_text
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.cards.matchup import compatible_weight
from equipoise.errors import GameError, SolverError
from equipoise.games.boards import Board, BoardTree
from equipoise.games.game import CardText, Game
from equipoise.games.nodes import GIVEN
from equipoise.games.rules import State
from equipoise.kernel import cores
from equipoise.run import Limit, Loop, Stop
from equipoise.search.depthlimit import LeafChoices, with_choices
from equipoise.search.gadgets import UNSAFE, Floats, Gadget, SubgameSolver
from equipoise.search.menus import check_menu
from equipoise.search.rollouts import WAYS, LeafMatrices, pairs_apart
from equipoise.search.solved import How, Solved
from equipoise.search.subgame import Subgame, free_combos, hand_combos
from equipoise.search.trunk import PolicySource
from equipoise.solve.sweep import rowrules

#: Iterations of a flop unless told otherwise: it has a dozen decisions.
FLOP_ITERATIONS = 80
_TEXT = CardText(RANKS, suits=4)


@lru_cache(maxsize=2)
def _all_in_margins(flop: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of hands that share no card, and how the first stands against the second when all is dealt."""
    combos = free_combos(flop)
    known, apart = BoardMargins(flop), pairs_apart(combos).astype(np.float64)
    against = np.stack([known.against_hand(int(hand))[combos] for hand in combos], axis=1)
    return apart, np.where(apart > 0, against, 0.0)


def flop_game(subgame: Subgame, me: int, ways: int = len(WAYS)) -> Game:
    """The betting of a flop over all hands, cut at its end, where the opponent of `me` has a choice."""
    state, flop = subgame.state, subgame.board
    betting = with_choices(subgame.betting.until(1), 1 - me, ways)
    hands = COMBO_CARDS[free_combos(flop)].astype(np.int16)
    apart, margins = _all_in_margins(flop)
    board = Board(0, -1, flop, 1.0, (hands, hands), mass=apart, signed=margins)
    ones = np.ones(len(hands))
    return Game(
        name=f"flop {cards_text(flop)} after {state.betting_text()}",
        betting=betting,
        deal=BoardTree([board], (ones, ones), float(apart.sum()), "matrix"),
        unit_chips=float(state.rules.big_blind),
        state_name=_TEXT.state,
        board_name=_TEXT.board,
    )


def flop_leaves(subgame: Subgame) -> list[State]:
    """Where the turn would come, in the order of the tree."""
    cut = subgame.betting.until(1)
    return [cut.states[node] for node in cut.of_kind(0, GIVEN).tolist()]


class FlopSolver(LeafChoices, SubgameSolver):
    """CFR of a flop that is cut at its end."""

    name: ClassVar[str] = "flop"

    def __init__(
        self,
        game: Game,
        leaves: LeafMatrices,
        *,
        ranges: tuple[ArrayLike, ArrayLike],
        gadget: Gadget = UNSAFE,
        me: int = 0,
    ) -> None:
        super().__init__(game, ranges=ranges, gadget=gadget, me=me, precision="float32")
        betting = game.betting
        chosen = sorted({int(n) for n in betting.parent[betting.of_kind(0, GIVEN)]})
        if len(chosen) != len(leaves.given):
            raise SolverError(
                f"{len(leaves.given)} leaves are valued, {len(chosen)} are in the tree: value all"
            )
        self.matrices = {(0, leaf): leaves.given[k] for k, leaf in enumerate(chosen)}
        self._hands = hand_combos(game.deal.boards[0])[0]

    def meets(self, player: int, board: int, reach: Floats) -> Floats:
        """By the cards that hands hold: quicker than by pairs."""
        spread = np.zeros(COMBO_COUNT)
        spread[self._hands] = reach
        return np.maximum(compatible_weight(spread)[self._hands], 0.0)

    def advance(self, count: int) -> None:
        """Do `count` iterations; leaves are valued anew before every sweep."""
        order = (0, 1) if self.gadget.kind == "unsafe" else (self.me, self.he)
        schedule, fading = self.schedules(count)
        for t in range(count):
            for player in order:
                self.value_leaves(player, self.regrets)
                row = schedule[t : t + 1]
                self.tableau.run(self._numbers, row, rowrules.REGRET, player, player, True)
            if self.gadget.kind != "unsafe":
                self.learn(fading[t])
        self.count_iterations(fading)

    def _best(self, player: int) -> Floats:
        self.value_leaves(player, self.plan)
        return super()._best(player)

    def _unsafe_gap(self) -> float:
        # What leaves are given is zero-sum, though no sweep can know it.
        gains = sum(float(self.ranges[p] @ self._best(p)) for p in (0, 1))
        return gains / 2 / float(self.ranges[self.he] @ self.mass)


class SolvedFlop(Solved):
    """The answer to a flop; at its leaves it knows the ranges with which the turn begins."""

    solver: FlopSolver

    @cached_property
    def _nodes(self) -> dict[tuple[object, ...], int]:
        betting = self.game.betting
        chosen = set(betting.of_kind(0, GIVEN).tolist())
        return {s.history: n for n, s in enumerate(betting.states) if n not in chosen}

    def _board(self, board: tuple[int, ...] | None) -> tuple[int, tuple[NDArray[np.int64], ...]]:
        own = self.subgame.board
        if board is not None and tuple(board[: len(own)]) != own:
            raise GameError(
                f"the board {cards_text(tuple(board))} does not come after {cards_text(own)}: give cards "
                "that go on from there"
            )
        return 0, self._combos

    def reach(
        self, player: int, state: State, board: tuple[int, ...] | None = None
    ) -> NDArray[np.float64]:
        """Reach of every hand of a player at a place, those that later cards block 0."""
        found = super().reach(player, state, board)
        free = np.zeros(COMBO_COUNT, dtype=bool)
        free[free_combos(board or self.subgame.board)] = True
        return np.where(free, found, 0.0)

    def _swept(self, player: int, number: int, how: How) -> dict[int, NDArray[np.float64]]:
        self.solver.face_ranges()
        self.solver.value_leaves(player, self.solver.plan)
        return super()._swept(player, number, how)

    @property
    def decisions(self) -> int:
        """Decisions of betting in its tree; how he goes on is not counted."""
        betting = self.game.betting
        return int((betting.kind < 2).sum()) - len(self.solver.matrices)

    @property
    def ends_of_street(self) -> list[State]:
        """States in which the turn comes."""
        return [self.game.betting.states[leaf] for _, leaf in self.solver.matrices]


def solve_flop(
    subgame: Subgame,
    source: PolicySource,
    me: int = 0,
    gadget: Gadget = UNSAFE,
    *,
    hand: int = 0,
    runouts: Sequence[tuple[int, int]] | None = None,
    iterations: int | None = None,
    budget: float = 1.0,
    seconds: float | None = None,
    threads: int | None = 1,
    stop: Stop | None = None,
) -> SolvedFlop:
    """Solve a flop to its end for player `me`; from the turn on `source` is played.

    As :func:`.solved.solve_subgame` it may be cut short by `seconds` and `stop`.
    """
    check_menu(subgame.menu, subgame.state)
    began = perf_counter()
    end = None if seconds is None else began + seconds
    game = flop_game(subgame, me)
    leaves = LeafMatrices(
        source,
        flop_leaves(subgame),
        subgame.board,
        me,
        hand,
        runouts=runouts,
        threads=threads or cores(),
        end=end,
        stop=stop,
    )
    combos = leaves.combos
    here = gadget
    if gadget.alternatives is not None:
        here = Gadget(gadget.kind, np.asarray(gadget.alternatives)[combos], gadget.tie)
    ranges = (subgame.ranges[0][combos], subgame.ranges[1][combos])
    solver = FlopSolver(game, leaves, ranges=ranges, gadget=here, me=me)
    count = max(1, round(budget * FLOP_ITERATIONS)) if iterations is None else iterations
    left = None if seconds is None else max(seconds - (perf_counter() - began), 0.001)
    loop = Loop(solver, Limit(iterations=count, seconds=left), lambda: (None, None))
    loop.run(stop=stop)
    if loop.interrupted:
        raise KeyboardInterrupt
    return SolvedFlop(subgame, solver, perf_counter() - began, stopped=solver.iteration < count)

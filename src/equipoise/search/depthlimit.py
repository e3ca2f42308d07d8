"""Depth limit: a game solved up to the end of a street, the opponent choosing how it goes on.

What a line is worth when it is cut depends on how both play on. With one fixed continuation the solve
would learn to exploit it: it bets into whom it believes to know. So where a line is cut the opponent
*chooses* among several continuations (Brown, Sandholm and Amos 2018): the blueprint, and the blueprint
biased towards folding, calling or raising; I play on by the blueprint. Who is good against all of them
is hardly exploited by what lies between.

At each leaf with states s of mine and t of his, continuation k is a matrix M_k(s, t), chips × chance
when I play on by the blueprint and he by the k-th strategy. Reaches change from iteration to iteration,
and so do the values: before every sweep they are given anew as M_k times the reach that arrives, divided
by what the sweep multiplies with.

That is exact for games whose leaves can be listed with all their pairs of states: the referee's. On flops of
hold'em the matrices come from run-outs that are drawn (:mod:`.rollouts`, :mod:`.flop`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.betting import Betting
from equipoise.games.boards import compatible
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL, GIVEN
from equipoise.games.rules import Kind
from equipoise.search.rollouts import BIAS, bent
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.gamearrays import Given
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Tableau

Floats = NDArray[np.float64]


def biased(strategy: TabularStrategy, towards: Kind, factor: float = BIAS) -> TabularStrategy:
    """The strategy with all actions of a kind `factor` times as likely, beside the others.

    >>> from equipoise.games.library.kuhn import kuhn
    >>> bold = biased(TabularStrategy.uniform(kuhn()), Kind.RAISE)
    >>> round(bold["J", ""]["bet 1"], 3)
    0.909
    """
    betting, numbers = strategy.betting, np.array(strategy.numbers, dtype=np.float64)
    for b, node in strategy.index.decisions():
        actions = [betting.actions[child] for child in betting.children(node)]
        strategy.index.block(numbers, b, node)[:] = bent(
            strategy.rows(node, b), actions, towards, factor
        )
    return TabularStrategy(strategy.game, numbers, strategy.index)


def continuations(blueprint: TabularStrategy) -> list[TabularStrategy]:
    """The blueprint, and the blueprint biased towards folding, calling and raising."""
    return [blueprint, *(biased(blueprint, kind) for kind in Kind)]


def with_choices(betting: Betting, player: int, count: int) -> Betting:
    """The tree in which `player` chooses among `count` continuations where its lines are cut."""
    last = betting.rounds - 1
    leaves = betting.of_kind(last, GIVEN)
    end, more = len(betting.kind), len(leaves) * count
    kind, first, counts, row = (
        np.concatenate([part, np.zeros(more, dtype=part.dtype)])
        for part in (betting.kind, betting.first, betting.count, betting.row)
    )
    rows, start = betting.rows.copy(), betting.start.copy()
    kind[leaves], counts[leaves] = player, count
    first[leaves] = end + count * np.arange(len(leaves))
    row[leaves] = rows[last, player] + count * np.arange(len(leaves))
    rows[last, player] += more
    kind[end:], row[end:] = GIVEN, np.arange(more)
    start[-1] += more
    even = np.concatenate([betting.even, np.ones((more, 2))])
    even[leaves] = 0.0
    states = tuple(betting.states[leaf] for leaf in leaves.tolist() for _ in range(count))
    return replace(
        betting,
        kind=kind,
        first=first,
        count=counts,
        row=row,
        parent=np.concatenate([betting.parent, np.repeat(leaves, count).astype(np.int32)]),
        even=even,
        swing=np.concatenate([betting.swing, np.zeros(more)]),
        start=start,
        rows=rows,
        states=betting.states + states,
        actions=betting.actions + (None,) * more,
    )


class Continuations:
    """What leaves are worth to both, pair by pair of states, for each way in which he goes on."""

    def __init__(
        self,
        game: Game,
        rounds: int,
        me: int,
        mine: TabularStrategy,
        his: Sequence[TabularStrategy],
    ) -> None:
        if not his:
            raise SolverError("a depth limit needs a continuation: give the blueprint at least")
        for strategy in (mine, *his):
            if strategy.game.fingerprint() != game.fingerprint():
                raise SolverError(
                    "continuations are strategies of the game that is cut: give those"
                )
        self.game, self.rounds, self.me, self.count = game, rounds, me, len(his)
        #: [board, leaf][k]: chips × chance for me, [state of mine, state of his].
        self.matrices: dict[tuple[int, int], list[Floats]] = {}
        betting, boards = game.betting, game.deal.boards
        leaves = betting.of_kind(rounds - 1, DEAL).tolist()
        for b, board in enumerate(boards):
            if board.round != rounds - 1:
                continue
            shape = [len(board.hands[p]) for p in (me, 1 - me)]
            for leaf in leaves:
                self.matrices[b, leaf] = [np.zeros(shape) for _ in his]
            for child in game.deal.children(b):
                for leaf in leaves:
                    self._add(b, leaf, child, mine, his)

    def _add(
        self, b: int, leaf: int, child: int, mine: TabularStrategy, his: Sequence[TabularStrategy]
    ) -> None:
        """Add what comes after a leaf on one board: a sweep for every state of his."""
        game, me = self.game, self.me
        root, board = int(game.betting.next_root[leaf]), game.deal.boards[child]
        part = game.below(root, child)
        tableau = Tableau(part, "float64")
        _, nodes = game.betting.below(root)
        _, numbers = game.deal.below(child)
        for k, strategy in enumerate(his):
            rows = tableau.rows()
            for own, node in tableau.index.decisions():
                who = mine if int(part.betting.kind[node]) == me else strategy
                played = who.rows(int(nodes[node]), numbers[own])
                tableau.index.block(rows, own, node)[:] = played
            reach = tableau.reach(1 - me)
            for state in range(len(reach)):
                reach[:] = 0.0
                reach[state] = board.weight
                worth = tableau.sweep(me, rowrules.VALUE, facing=rows)
                for maps in board.arrivals:
                    self.matrices[b, leaf][k][maps[me], maps[1 - me][state]] += worth


class LeafChoices:
    """What solvers of cut games share: leaves are valued anew before every sweep.

    A class that mixes it in has a `tableau` of a game whose opponent chooses at its leaves
    (:func:`with_choices`), and `matrices`: by (board, leaf) what each choice is worth to player `me`, in
    chips × chance, [state of mine, state of his].
    """

    tableau: Tableau
    me: int
    matrices: Mapping[tuple[int, int], Sequence[NDArray[Any]]]

    def value_leaves(self, player: int, rows: NDArray[Any]) -> None:
        """Give what leaves are worth to a player against the reach with which the other arrives."""
        other, me = 1 - player, self.me
        reaches = self._reaches(other, rows)
        given: dict[tuple[int, int], Given] = {}
        for (b, leaf), matrices in self.matrices.items():
            met: Floats | None = None
            for k, child in enumerate(self.tableau.game.betting.children(leaf)):
                reach = reaches[b][child]
                # Only his reach differs from choice to choice.
                met = self.meets(player, b, reach) if met is None or player == me else met
                matrix = matrices[k]
                sent = reach.astype(matrix.dtype)
                worth = matrix @ sent if player == me else -(matrix.T @ sent)
                value = np.where(met > 0, worth / np.where(met > 0, met, 1.0), 0.0)
                nothing = np.zeros(len(reach))
                given[b, child] = (value, nothing) if player == 0 else (nothing, value)
        self.tableau.give(given)

    @cached_property
    def _fits(self) -> dict[int, Floats]:
        """Of each last board: what its states can meet of the other's, [state of 0, state of 1]."""
        found = {}
        for b in {b for b, _ in self.matrices}:
            board = self.tableau.game.deal.boards[b]
            pairs = compatible(*board.hands) if board.mass is None else board.mass
            found[b] = pairs.astype(np.float64)
        return found

    def meets(self, player: int, board: int, reach: Floats) -> Floats:
        """Of the other's reach on a board, with chance: how much each state of a player can meet."""
        fits = self._fits[board]
        found: Floats = (fits if player == 0 else fits.T) @ reach
        return found

    def _reaches(self, player: int, rows: NDArray[Any]) -> dict[int, dict[int, Floats]]:
        """A player's reach at every node of every board, as a sweep carries it down."""
        game, index = self.tableau.game, self.tableau.index
        betting, found = game.betting, dict[int, dict[int, Floats]]()
        for b, board in enumerate(game.deal.boards):
            here: dict[int, Floats] = {}
            first, last = betting.spans()[board.round]
            for node in range(first, last):
                above = int(betting.before[node])
                if above < 0:
                    here[node] = self.tableau.reach(player).astype(np.float64)
                elif int(betting.parent[node]) < 0:
                    arriving = found[board.parent][above]
                    here[node] = arriving[board.arrivals[0][player]] * board.weight
                elif int(betting.kind[above]) == player:
                    play = probabilities(index.block(rows, b, above))
                    here[node] = here[above] * play[node - int(betting.first[above])]
                else:
                    here[node] = here[above]
            found[b] = here
        return found


class DepthLimitedSolver(LeafChoices, DCFR):
    """CFR of the first rounds of a game; player `me` faces an opponent who chooses how it goes on.

    >>> from equipoise.games.library.leduc import leduc
    >>> game = leduc()
    >>> blueprint = TabularStrategy.uniform(game)
    >>> solver = DepthLimitedSolver(game, 1, 0, blueprint, continuations(blueprint))
    >>> solver.advance(10)
    >>> solver.combined(blueprint).rows(0, 0).shape
    (2, 3)
    """

    name: ClassVar[str] = "depth-limited"

    def __init__(
        self,
        game: Game,
        rounds: int,
        me: int,
        mine: TabularStrategy,
        his: Sequence[TabularStrategy],
    ) -> None:
        self.whole, self.me = game, me
        self.leaves = Continuations(game, rounds, me, mine, his)
        self.matrices = self.leaves.matrices
        cut = game.until(rounds)
        chosen = with_choices(cut.betting, 1 - me, len(his))
        super().__init__(replace(cut, betting=chosen), precision="float64")
        self._numbers = self.tableau.numbers(facing=self.regrets, rows=self.regrets, plan=self.plan)

    def advance(self, count: int) -> None:
        """Do `count` iterations; leaves are valued anew before every sweep."""
        for _ in range(count):
            told = self.discounting.parameters(self.iteration + 1)
            schedule = self.tableau.parameters(**told).reshape(1, -1)
            for player in (0, 1):
                self.value_leaves(player, self.regrets)
                self.tableau.run(self._numbers, schedule, rowrules.REGRET, player, player, True)
            self.iteration += 1

    def exploitability(self) -> float:
        """Mean of what both gain by best-responding in the game with its choices, in chips."""
        gains = 0.0
        for player in (0, 1):
            self.value_leaves(player, self.plan)
            for rule, sign in ((rowrules.BEST, 1), (rowrules.VALUE, -1)):
                values = self.tableau.sweep(player, rule, facing=self.plan)
                gains += sign * self.tableau.root_value(player, values)
        return gains / 2

    def combined(self, blueprint: TabularStrategy) -> TabularStrategy:
        """The whole game's strategy: what was solved before the cut, the blueprint after it."""
        numbers = np.array(blueprint.numbers, dtype=np.float64)
        for b, node in self.tableau.index.decisions():
            if node < int(self.whole.betting.start[self.leaves.rounds]) and not self._chooses(node):
                block = self.tableau.index.block(self.plan, b, node)
                blueprint.index.block(numbers, b, node)[:] = probabilities(block)
        return TabularStrategy(self.whole, numbers, blueprint.index)

    def _chooses(self, node: int) -> bool:
        return int(self.whole.betting.kind[node]) == DEAL

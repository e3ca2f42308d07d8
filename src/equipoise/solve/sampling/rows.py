"""Where the numbers of a sampled solver stand, and the average strategy made from them.

Everything is flat: the decisions one after another, inside a decision the buckets, inside a bucket
the regret of each action and then its share of the average strategy. In single precision, sums take
some ten million visits to one bucket before an addition is lost in rounding.

The decisions of the first round come first, the *trunk*; then, for each way in which the second
round can begin, all decisions below it, on any later street. Such a *subtree* is one stretch of
numbers, and a walk that has entered it touches no other but the trunk's: subtrees can be given to
different threads, or machines, that meet only in the trunk.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.betting import Betting, TreeSize
from equipoise.games.policy import Policy, PublicState
from equipoise.solve.sampling.walk import fill_averages, node_type
from equipoise.solve.strategies.strategy import BestResponse
from equipoise.solve.sweep.rowindex import RowIndex, aligned

#: Bits in which a walk notes what it skips.
MOST_ACTIONS = 63
#: Which of the numbers of an action: its regret, or its share of the average strategy.
REGRET, AVERAGE = 0, 1
#: Bucket of each private state of both players, on each board of a game.
States = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
_UNJUDGED = (
    "a sampled strategy has no game of its own to best-respond in: give its solver a judge and take "
    "judged_strategy()"
)


class Subtree(NamedTuple):
    """All decisions after one way of playing the first round."""

    #: The DEAL node that ends the first round.
    node: int
    #: Its numbers are `first` to `last - 1`.
    first: int
    last: int


def table_bytes(size: TreeSize, buckets: NDArray[np.int64]) -> int:
    """Memory of all regrets and averages, and size of a checkpoint, before the tree is built.

    >>> from equipoise.games.betting import measure
    >>> from equipoise.games.menu import BetMenu
    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> buckets = np.repeat([[169], [1000], [1000], [1000]], 2, axis=1)
    >>> table_bytes(measure(LIMIT_HOLDEM, BetMenu.full()), buckets)
    132524392
    """
    entries = int((np.array(size.rows, dtype=np.int64) * buckets[: len(size.rows)]).sum())
    return 2 * entries * np.dtype(np.float32).itemsize


class SampledRows:
    """The layout of a betting tree over buckets: `buckets`[round, player] of them.

    `real` is the precision of the numbers.

    >>> from equipoise.games.menu import BetMenu
    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> buckets = np.full((4, 2), 10)
    >>> layout = SampledRows(Betting.build(LIMIT_HOLDEM, BetMenu.full()), buckets)
    >>> len(layout.decisions), len(layout.subtrees), layout.subtrees[-1].last == layout.size
    (6378, 7, True)
    """

    def __init__(
        self, betting: Betting, buckets: NDArray[np.int64], real: Any = np.float32
    ) -> None:
        if buckets.shape != (betting.rounds, 2) or buckets.min() < 1:
            raise SolverError(
                f"buckets of {buckets.shape} rounds and players for {betting.rounds} rounds of "
                "betting: give both players at least one bucket in each round"
            )
        if betting.count.max() > MOST_ACTIONS:
            raise SolverError(
                f"a decision has {betting.count.max()} actions: sampling takes at most "
                f"{MOST_ACTIONS}, use fewer bet sizes"
            )
        self.betting, self.buckets, self.real = betting, buckets, real
        #: First number of each decision; -1 at other nodes.
        self.base = np.full(len(betting.kind), -1, dtype=np.int64)
        #: Betting nodes in the order in which their numbers stand.
        self.decisions: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.subtrees: tuple[Subtree, ...] = ()
        #: Numbers in all: regrets and averages.
        self.size = 0
        #: Decisions on the longest line of play.
        self.depth = 0
        #: The tree as walks read it.
        self.nodes = self._lay_nodes()

    def _lay_nodes(self) -> NDArray[np.void]:
        betting = self.betting
        follows = betting.past_deals
        kind, first, count = (
            array[follows].tolist() for array in (betting.kind, betting.first, betting.count)
        )
        street = np.searchsorted(betting.start, follows, side="right") - 1
        streets, roots = street.tolist(), follows.tolist()
        # Where each betting node stands among the nodes of a walk, and the other way about.
        places, order = {0: 0}, [0]
        decisions: list[int] = []
        subtrees: list[Subtree] = []
        waiting: list[tuple[int, int]] = []
        second = int(betting.start[1])

        def lay(top: int, depth: int, trunk: bool) -> None:
            """Place what is below a node; in the trunk the entries to later rounds wait."""
            stack = [(top, depth)]
            while stack:
                node, depth = stack.pop()
                if kind[node] > 1:
                    continue
                if trunk and roots[node] >= second:
                    waiting.append((node, depth))
                    continue
                self.depth = max(self.depth, depth + 1)
                decision, player = roots[node], kind[node]
                self.base[decision] = self.size
                decisions.append(decision)
                self.size += 2 * count[node] * int(self.buckets[streets[node], player])
                children = range(first[node], first[node] + count[node])
                for child in children:
                    places[child] = len(order)
                    order.append(child)
                stack.extend((child, depth + 1) for child in reversed(children))

        lay(0, 0, True)
        for node, depth in waiting:
            before = self.size
            lay(node, depth, False)
            subtrees.append(Subtree(node, before, self.size))
        self.decisions, self.subtrees = np.array(decisions, dtype=np.int64), tuple(subtrees)
        nodes = aligned(len(order), node_type(self.real))
        same = follows[order]
        nodes["kind"], nodes["actions"] = betting.kind[same], betting.count[same]
        nodes["street"] = street[order]
        nodes["even0"], nodes["even1"] = betting.even[same].T
        nodes["swing"] = betting.swing[same]
        decided = betting.kind[same] < 2
        nodes["base"][decided] = self.base[same[decided]]
        nodes["first"][decided] = [places[child] for child in betting.first[same[decided]].tolist()]
        return nodes

    def width(self, node: int) -> int:
        """Buckets at a decision."""
        if self.base[node] < 0:
            raise SolverError(f"node {node} is no decision")
        return int(self.buckets[self.betting.round_of(node), int(self.betting.kind[node])])

    def block(self, rows: NDArray[Any], node: int) -> NDArray[Any]:
        """View of the numbers of a decision: [bucket, regret or average, action]."""
        start, width, actions = (
            int(self.base[node]),
            self.width(node),
            int(self.betting.count[node]),
        )
        return rows[start : start + 2 * width * actions].reshape(width, 2, actions)

    def by_state(
        self, rows: NDArray[Any], which: int, states: States, index: RowIndex
    ) -> NDArray[Any]:
        """The regrets or the averages as the rows of a game, alike for all states of a bucket."""
        found = np.zeros(index.size, dtype=self.real)
        for b, node in index.decisions():
            mine = states[b][int(self.betting.kind[node])]
            index.block(found, b, node)[:] = self.block(rows, node)[mine, which].T
        return found

    def by_bucket(
        self, found: NDArray[Any], which: int, states: States, index: RowIndex, rows: NDArray[Any]
    ) -> None:
        """The way back of :meth:`by_state`: states of a bucket have the same numbers."""
        for b, node in index.decisions():
            mine = states[b][int(self.betting.kind[node])]
            self.block(rows, node)[mine, which] = index.block(found, b, node).T

    def average(self, rows: NDArray[Any]) -> SampledStrategy:
        """The average strategy of both players."""
        betting, nodes = self.betting, self.decisions
        rounds = np.searchsorted(betting.start, nodes, side="right") - 1
        widths = self.buckets[rounds, betting.kind[nodes]]
        probabilities = np.zeros(self.size // 2, dtype=np.float32)
        fill_averages(
            self.base[nodes].astype(np.uint64),
            betting.count[nodes].astype(np.uint64),
            widths.astype(np.uint64),
            rows,
            probabilities,
        )
        return SampledStrategy(self, probabilities)


class SampledStrategy:
    """What both players do at each decision in each bucket.

    `probabilities` are blocks [action, bucket], one for each of `layout.decisions` in order; what
    was never played is uniform. Buckets alone do not say which hands are in them, nor how often they
    meet: policies and best responses are those of the blueprint or of the game that is made of it.
    """

    def __init__(self, layout: SampledRows, probabilities: NDArray[np.float32]) -> None:
        if probabilities.shape != (layout.size // 2,):
            raise SolverError("these probabilities belong to another betting tree or abstraction")
        self.layout, self.probabilities = layout, probabilities

    @property
    def betting(self) -> Betting:
        """The betting tree."""
        return self.layout.betting

    def rows(self, node: int, board: int | None = None) -> NDArray[np.float32]:
        """Probabilities at a decision: [action, bucket], the same on every board."""
        layout = self.layout
        start, width = int(layout.base[node]) // 2, layout.width(node)
        actions = int(layout.betting.count[node])
        return self.probabilities[start : start + actions * width].reshape(actions, width)

    def policy(self, public: PublicState) -> Policy:
        """Refused: which hands a bucket holds is not known here."""
        raise SolverError(
            "a sampled strategy knows buckets, not hands: make a blueprint of it to play it"
        )

    def exploitability(self) -> float:
        """Refused: how often buckets meet is not known here."""
        raise SolverError(_UNJUDGED)

    def best_response(self, player: int) -> BestResponse[SampledStrategy]:
        """Refused: how often buckets meet is not known here."""
        raise SolverError(_UNJUDGED)

"""Monte Carlo counterfactual regret minimisation: walk a sample of the game instead of all of it.

Lanctot, Waugh, Zinkevich and Bowling (2009). One iteration walks once for each player `p`. A walk
first draws a complete deal from the exact joint distribution, one random number through an alias
table (Walker 1977), and adds to the regrets of `p` an unbiased estimate of what CFR would add:

    chance     every action of both; regrets weighted by the opponent's reach
    external   every action of `p`; the opponent's actions are drawn from his strategy
    outcome    one line of play; `p` explores (a uniform action with probability `exploration`), and
               the result is divided by the probability q with which his own actions were drawn

The opponent and chance being drawn as they play, their probabilities cancel, except where the
opponent's reach was walked rather than drawn. The average strategy is kept at the opponent's
decisions, where walks arrive with exactly his own reach: plain in external sampling, times his reach
in chance sampling, divided by q in outcome sampling (stochastically weighted averaging).

Several threads walk one shared table without locks, each with its own stream of random numbers. A
lost addition now and then is one more source of noise; on one thread a run is reproducible to the
last bit, across checkpoints too.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.solve.jointdeal import JointDeal
from equipoise.solve.sampling.walk import Deals, Lines, Stack, chance, external, outcome
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.sweep.rowindex import RowIndex, aligned
from equipoise.solve.sweep.tableau import Precision

#: Complete deals that are listed unless told otherwise.
MOST_DEALS = 2_000_000
#: Streams of random numbers kept in a checkpoint, and so the most threads.
STREAMS = 64


def alias_table(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """Columns of equal width that hold at most two outcomes each: Walker's alias method.

    >>> keep, other = alias_table(np.array([0.75, 0.25]))
    >>> keep.tolist(), other.tolist()
    ([1.0, 0.5], [0, 0])
    """
    count = len(chances)
    keep = chances * (count / chances.sum())
    other = np.arange(count)
    small, large = np.flatnonzero(keep < 1).tolist(), np.flatnonzero(keep >= 1).tolist()
    while small and large:
        low, high = small.pop(), large[-1]
        other[low] = high
        keep[high] -= 1 - keep[low]
        if keep[high] < 1:
            small.append(large.pop())
    # What is left differs from 1 by rounding only.
    keep[small + large] = 1.0
    return keep, other.astype(np.uint64)


class MonteCarloCFR(Solver):
    """CFR on samples of the game, by the `scheme` external, outcome or chance.

    `linear` weighs iteration t by t; `clipped` forgets negative regrets, as CFR+ does.

    >>> from equipoise.games.catalogue import kuhn
    >>> solver = MonteCarloCFR(kuhn(), seed=1)
    >>> solver.advance(20_000)
    >>> solver.exploitability() < 0.02
    True
    """

    name: ClassVar[str] = "mccfr"
    default_scheme: ClassVar[str] = "external"
    schemes: ClassVar[tuple[str, ...]] = ("external", "outcome", "chance")

    def __init__(
        self,
        game: Game,
        *,
        scheme: str | None = None,
        seed: int = 0,
        linear: bool = False,
        clipped: bool = False,
        exploration: float = 0.6,
        most_deals: int = MOST_DEALS,
        precision: Precision | None = None,
        threads: int | None = 1,
    ) -> None:
        self.scheme = scheme or self.default_scheme
        if self.scheme not in self.schemes:
            raise SolverError(
                f"no sampling scheme {scheme!r}: use one of {', '.join(self.schemes)}"
            )
        if game.betting.is_cut:
            raise SolverError(f"{game.name} is cut: solve it whole, or use dcfr with given values")
        if not 0 < exploration <= 1:
            raise SolverError(f"exploration = {exploration}: give more than 0 and at most 1")
        if seed < 0:
            raise SolverError(f"seed = {seed}: give 0 or more")
        self.walkers = cores() if threads is None else threads
        if not 1 <= self.walkers <= STREAMS:
            raise SolverError(f"threads = {threads}: give 1 to {STREAMS}")
        self.seed, self.linear, self.clipped = seed, linear, clipped
        self.exploration, self.most_deals = exploration, most_deals
        joint = JointDeal(game)
        self._orbits = joint.orbits
        self._deals = _lay_deals(joint, RowIndex(game), most_deals)
        self._lines = _lay_lines(game)
        super().__init__(game, precision=precision, threads=threads)
        self.plan = aligned(self.tableau.index.size, np.float64)
        #: What strategies come from by regret matching.
        self.regrets = aligned(self.tableau.index.size, np.float64)
        #: State of each thread's random numbers.
        self.streams = np.random.SeedSequence(seed).generate_state(STREAMS, np.uint64)
        depth, actions = _deepest(self._lines), int(game.betting.count.max())
        self._stacks = [_stack(depth, actions) for _ in range(self.walkers)]

    def prepare(self) -> None:
        """Load the kernels of sweeps and walks."""
        super().prepare()
        self._walk(0, self.regrets, self.plan, self.linear, self.clipped)

    def advance(self, count: int) -> None:
        """Do `count` iterations, a walk for each player each."""
        self._walk(count, self.regrets, self.plan, self.linear, self.clipped)
        self.iteration += count
        self._share_within_orbits()

    def estimate(self, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What `count` iterations of weight 1 would add to regrets and plan, learning nothing.

        Divided by `count` these are unbiased estimates of the counterfactual regrets of the current
        strategies and of their realisation plans times the probability of each private state. Only
        the random numbers move on.
        """
        gains, plan = np.zeros_like(self.regrets), np.zeros_like(self.plan)
        self._walk(count, gains, plan, False, False)
        return gains, plan

    def _walk(
        self,
        count: int,
        gains: NDArray[np.float64],
        plan: NDArray[np.float64],
        linear: bool,
        clipped: bool,
    ) -> None:
        floor = 0.0 if clipped else float(np.finfo(np.float64).min)

        def work(walker: int) -> None:
            share = len(range(walker, count, self.walkers))
            arguments = (
                self._lines, self._deals, self.regrets, gains, plan,
                self.streams[walker : walker + 1], self.iteration + 1 + walker, self.walkers,
                share, linear, floor,
            )  # fmt: skip
            stack = self._stacks[walker]
            if self.scheme == "external":
                external(*arguments, stack)
            elif self.scheme == "outcome":
                outcome(*arguments, self.exploration, stack)
            else:
                chance(*arguments, stack)

        if self.walkers == 1:
            work(0)
            return
        with ThreadPoolExecutor(self.walkers) as pool:
            for done in [pool.submit(work, walker) for walker in range(self.walkers)]:
                done.result()

    def _share_within_orbits(self) -> None:
        """Give every hand what was learnt for the first hand of its orbit."""
        index, betting = self.tableau.index, self.game.betting
        for b, board in enumerate(self.game.deal.boards):
            if len(board.symmetries) < 2:
                continue
            for node in betting.of_kind(board.round, 0, 1).tolist():
                first = self._orbits[b][int(betting.kind[node])]
                for rows in (self.regrets, self.plan):
                    block = index.block(rows, b, node)
                    block[:] = block[:, first]

    def settings(self) -> dict[str, Any]:
        """Scheme, seed and weights."""
        return {
            "scheme": self.scheme,
            "seed": self.seed,
            "linear": self.linear,
            "clipped": self.clipped,
            "exploration": self.exploration,
            "most_deals": self.most_deals,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Plan, regrets and the state of the random numbers."""
        return {"plan": self.plan, "regrets": self.regrets, "streams": self.streams}


class ExternalSampling(MonteCarloCFR):
    """All my actions, one of the opponent's: the best of the three on poker."""

    name = "external"
    default_scheme = "external"


class OutcomeSampling(MonteCarloCFR):
    """One line of play a walk: the cheapest and the noisiest."""

    name = "outcome"
    default_scheme = "outcome"


class ChanceSampling(MonteCarloCFR):
    """One deal a walk, all actions of both players."""

    name = "chance"
    default_scheme = "chance"


def _lay_lines(game: Game) -> Lines:
    betting = game.betting
    same = betting.past_deals
    seat = 2 * (np.searchsorted(betting.start, same, side="right") - 1)
    return Lines(
        kind=betting.kind[same].astype(np.uint64),
        first=betting.first[same].astype(np.uint64),
        count=betting.count[same].astype(np.uint64),
        row=betting.row[same].astype(np.uint64),
        seat=seat.astype(np.uint64),
        even=np.ascontiguousarray(betting.even[same].T),
        swing=np.array([betting.swing[same], -betting.swing[same]]),
    )


def _deepest(lines: Lines) -> int:
    """Decisions on the longest line of play."""
    depth = np.zeros(len(lines.kind), dtype=np.int64)
    for node in np.flatnonzero(lines.kind < 2).tolist():
        first, count = int(lines.first[node]), int(lines.count[node])
        below = depth[first : first + count]
        np.maximum(below, depth[node] + 1, out=below)
    return int(depth.max())


def _lay_deals(joint: JointDeal, index: RowIndex, most: int) -> Deals:
    hands = joint.hands(most)
    rounds = hands.board.shape[1]
    start = np.zeros((len(hands.board), 2 * rounds), dtype=np.uint64)
    width, result = np.zeros_like(start), np.zeros(start.shape)
    for b in range(len(joint.orbits)):
        number = joint.game.deal.boards[b].round
        lines = np.flatnonzero(hands.board[:, number] == b)
        states = hands.state[lines, number]
        for player in (0, 1):
            first = joint.orbits[b][player][states[:, player]]
            start[lines, 2 * number + player] = index.base[b, player] + first
            width[lines, 2 * number + player] = index.width[b, player]
        pair = (states[:, 0], states[:, 1])
        result[lines, 2 * number] = joint.signed[b][pair] / joint.mass[b][pair]
    keep, other = alias_table(hands.probability)
    return Deals(keep, other, start, width, result)


def _stack(depth: int, actions: int) -> Stack:
    return Stack(
        node=np.zeros(depth, dtype=np.uint64),
        action=np.zeros(depth, dtype=np.uint64),
        at=np.zeros(depth, dtype=np.uint64),
        width=np.zeros(depth, dtype=np.uint64),
        reach=np.zeros(depth),
        strategy=np.zeros((depth, actions)),
        value=np.zeros((depth, actions)),
    )

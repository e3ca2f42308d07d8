"""Threads that walk a sampled game and keep what they learn in one table.

They share the table without locks, each with its own stream of random numbers. An addition lost in a
race is one more source of noise. With one thread a run repeats bit for bit, across checkpoints too;
with several it does not.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.betting import Betting
from equipoise.kernel import cores
from equipoise.solve.sampling.deals import DealSource, HoldemDeals
from equipoise.solve.sampling.publicrounds import public_stack
from equipoise.solve.sampling.publicwalk import public
from equipoise.solve.sampling.rows import SampledRows
from equipoise.solve.sampling.walk import SamplingRule, WalkStack, chance, external, outcome
from equipoise.solve.sweep.rowindex import aligned

#: Streams of random numbers kept in a checkpoint, and so the most threads.
STREAMS = 64
#: The kernel of each way to sample.
SCHEMES = {"external": external, "outcome": outcome, "chance": chance, "public": public}
#: Chips that stand for no floor and no threshold.
NEVER_CHIPS = float(np.finfo(np.float32).max) / 2**40


def sampling_rule(**told: Any) -> SamplingRule:
    """The rule of plain sampling, no weights, no floor and nothing skipped, but for `told`."""
    plain = SamplingRule(
        linear=False,
        floor_chips=NEVER_CHIPS,
        exploration=1.0,
        tremble=0.0,
        informed=0.0,
        rare=0.0,
        pruning=None,
    )
    return plain._replace(**told)


class Sampler:
    """Regrets and averages of every decision and bucket, and the walks that add to them."""

    def __init__(
        self,
        betting: Betting,
        deals: DealSource,
        rule: SamplingRule,
        *,
        scheme: str = "external",
        seed: int = 0,
        threads: int | None = 1,
        real: Any = np.float32,
    ) -> None:
        if scheme not in SCHEMES:
            raise SolverError(f"no sampling scheme {scheme!r}: use one of {', '.join(SCHEMES)}")
        if seed < 0:
            raise SolverError(f"seed = {seed}: give 0 or more")
        self.walkers = cores() if threads is None else threads
        if not 1 <= self.walkers <= STREAMS:
            raise SolverError(f"threads = {threads}: give 1 to {STREAMS}")
        deals.check(betting)
        if scheme == "public" and not isinstance(deals, HoldemDeals):
            raise SolverError("public chance sampling deals hold'em: use chance for listed deals")
        self.scheme, self.rule = scheme, rule
        self.layout = SampledRows(betting, deals.buckets[: betting.rounds], real)
        #: Regrets and averages of every decision and bucket.
        self.rows: NDArray[Any] = aligned(self.layout.size, real)
        #: State of each thread's random numbers.
        self.streams = np.random.SeedSequence(seed).generate_state(STREAMS, np.uint64)
        self._tables = deals.tables
        most = int(betting.count.max())
        rooms = [deals.dealt(real) for _ in range(self.walkers)]
        self._stacks: list[Any] = (
            [public_stack(self.layout.nodes, room, betting.rounds, most) for room in rooms]
            if scheme == "public"
            else [WalkStack.of(room, self.layout.depth, most) for room in rooms]
        )

    def walk(self, done: int, count: int) -> None:
        """Do `count` iterations after the first `done`, a walk for each player each."""
        self._walk(done, count, self.rows, self.rule)

    def estimate(self, count: int) -> NDArray[Any]:
        """What `count` plain iterations would add to the rows, learning nothing.

        Divided by `count` these are unbiased estimates of the counterfactual regrets of the current
        strategies, and of their realisation plans times the probability of each bucket. Only the
        random numbers move on.
        """
        gains = np.zeros_like(self.rows)
        plain = sampling_rule(
            exploration=self.rule.exploration,
            tremble=self.rule.tremble,
            informed=self.rule.informed,
            rare=self.rule.rare,
        )
        self._walk(0, count, gains, plain)
        return gains

    def _walk(self, done: int, count: int, gains: NDArray[Any], rule: SamplingRule) -> None:
        def work(walker: int) -> None:
            share = len(range(walker, count, self.walkers))
            SCHEMES[self.scheme](
                self.layout.nodes, self.rows, gains, self._tables, rule,
                self.streams[walker : walker + 1], done + 1 + walker, self.walkers, share,
                self._stacks[walker],
            )  # fmt: skip

        if self.walkers == 1:
            work(0)
            return
        with ThreadPoolExecutor(self.walkers) as pool:
            for finished in [pool.submit(work, walker) for walker in range(self.walkers)]:
                finished.result()

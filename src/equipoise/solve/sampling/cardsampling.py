"""Monte Carlo CFR on real cards: external sampling with buckets, linear weights and pruning.

Lanctot, Waugh, Zinkevich and Bowling (2009), with what Brown and Sandholm (2019) add for large
games. One iteration deals and walks once for each player (:mod:`.cardwalk`); iteration t counts t
times. In units of the current weight, regrets are kept above a floor, so that an action that was bad
for long can come back soon, and nineteen of twenty walks skip actions close to the floor.

Both limits are multiples of the most chips that a hand can win or lose. A decision visited n times
where an action loses m of these maxima a visit has a regret of -n·m/2; it is skipped from `prune` on.

Skipping costs nothing in the regrets that are kept, since the skipped action was not played. The
average strategy of the other player is updated less often below it, which shifts weight between
iterations but not between his actions.

Threads share one table without locks, each with its own stream of random numbers. An addition lost
in a race is one more source of noise. With one thread a run repeats bit for bit, across checkpoints
too; with several it does not.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.game import Game
from equipoise.kernel import cores
from equipoise.settings import Within
from equipoise.solve import restoring
from equipoise.solve.sampling.cardwalk import Rule, Stack
from equipoise.solve.sampling.deals import Dealer, GameDealer
from equipoise.solve.sampling.mccfr import STREAMS
from equipoise.solve.sampling.rows import CardRows, CardStrategy
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.strategies.bestresponse import exploitability_of, value_of
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.rowindex import aligned

_KIND = "card solver"
#: Regrets stop at this multiple of the regret from which on actions are skipped.
_FLOOR = 1.05
#: Stands for no floor and no threshold.
_NEVER = float(np.finfo(np.float32).max) / 2**40


@dataclass(frozen=True, eq=False)
class CardGame:
    """What a sampled solver solves: betting, somebody who deals, and perhaps a judge."""

    name: str
    betting: Betting
    dealer: Dealer
    #: A game of the same betting whose exact best responses measure exploitability: the very game,
    #: or the bucket game of the same abstraction.
    judge: Game | None = None

    def __post_init__(self) -> None:
        self.dealer.check(self.betting)
        if self.judge is not None and not np.array_equal(
            self.judge.betting.kind, self.betting.kind
        ):
            raise SolverError(f"{self.judge.name} has other betting than {self.name}")

    @classmethod
    def of(cls, game: Game) -> CardGame:
        """A small game with all its deals listed, its own judge."""
        return cls(game.name, game.betting, GameDealer(game), game)

    def fingerprint(self) -> str:
        """A hash of everything that decides the solution."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        betting = self.betting
        digest = hashlib.sha256(self.dealer.fingerprint().encode())
        for array in (betting.kind, betting.first, betting.even, betting.swing):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]


class CardSampling(Solver):
    """External sampling on dealt cards.

    `linear` weighs iteration t by t. `prune` is the regret from which on an action is skipped in
    `prune_share` of the walks after `prune_after` iterations, in units of the most chips a hand can
    win; None never skips and has no floor.

    >>> from equipoise.games.catalogue import leduc
    >>> solver = CardSampling(CardGame.of(leduc()), seed=1)
    >>> solver.advance(200_000)
    >>> solver.exploitability() < 0.03
    True
    """

    name: ClassVar[str] = "cards"

    def __init__(
        self,
        game: CardGame,
        *,
        seed: int = 0,
        linear: bool = True,
        prune: Annotated[float | None, Within("number", 0.001, 1_000_000)] = 100.0,
        prune_share: Annotated[float, Within("number", 0, 0.9999)] = 0.95,
        prune_after: Annotated[int, Within("whole", 0, 10**15)] = 1_000_000,
        threads: int | None = 1,
    ) -> None:
        if seed < 0:
            raise SolverError(f"seed = {seed}: give 0 or more")
        if prune is not None and not prune > 0:
            raise SolverError(f"prune = {prune}: give more than 0, or None never to skip")
        if not 0 <= prune_share < 1:
            raise SolverError(f"prune_share = {prune_share}: give 0 to less than 1")
        if prune_after < 0:
            raise SolverError(f"prune_after = {prune_after}: give 0 or more")
        self.walkers = cores() if threads is None else threads
        if not 1 <= self.walkers <= STREAMS:
            raise SolverError(f"threads = {threads}: give 1 to {STREAMS}")
        self.cards = game
        self.seed, self.linear = seed, linear
        self.prune, self.prune_share, self.prune_after = prune, prune_share, prune_after
        self.iteration = 0
        self.layout = CardRows(game.betting, game.dealer.buckets[: game.betting.rounds])
        #: Regrets and averages of every decision and bucket.
        self.rows: NDArray[np.float32] = aligned(self.layout.size, np.float32)
        #: State of each thread's random numbers.
        self.streams = np.random.SeedSequence(seed).generate_state(STREAMS, np.uint64)
        stake = float(max(np.abs(game.betting.even).max(), game.betting.swing.max()))
        limit = _NEVER if prune is None else prune * stake
        self._rule = Rule(
            linear=linear,
            floor_chips=_FLOOR * limit,
            prune_chips=limit,
            prune_share=0.0 if prune is None else prune_share,
            prune_after=prune_after,
            last_street=game.betting.rounds - 1,
        )
        self._stacks = [_stack(self.layout) for _ in range(self.walkers)]
        if game.judge is not None:
            self._states = game.dealer.buckets_of(game.judge)
            super().__init__(game.judge, threads=threads)

    def prepare(self) -> None:
        """Load the kernels of walks, and those of sweeps where a game judges."""
        self.advance(0)
        if self.cards.judge is not None:
            super().prepare()

    def advance(self, count: int) -> None:
        """Do `count` iterations, a deal and a walk for each player each."""

        def work(walker: int) -> None:
            share = len(range(walker, count, self.walkers))
            self.cards.dealer.walk(
                self.layout.nodes, self.rows, self._rule, self.streams[walker : walker + 1],
                self.iteration + 1 + walker, self.walkers, share, self._stacks[walker],
            )  # fmt: skip

        if self.walkers == 1:
            work(0)
        else:
            with ThreadPoolExecutor(self.walkers) as pool:
                for done in [pool.submit(work, walker) for walker in range(self.walkers)]:
                    done.result()
        self.iteration += count

    # ------------------------------------------------------------------------------- answers

    def card_strategy(self) -> CardStrategy:
        """The average strategy of both players, by decision and bucket."""
        return self.layout.average(self.rows)

    def average_strategy(self) -> TabularStrategy:
        """The average strategy as one of the game that judges."""
        if self.cards.judge is None:
            raise SolverError(f"{self.cards.name} is played on real cards: take card_strategy()")
        return TabularStrategy(self.game, self._judged_rows(), self.tableau.index)

    def exploitability(self) -> float:
        """Mean of both players' best-response gains, in chips; not a number without a judge."""
        if self.cards.judge is None:
            return float("nan")
        return exploitability_of(self.tableau, self._judged_rows())

    def value(self) -> float:
        """Expected chips of player 0 when both play the average strategy, as the judge deals."""
        if self.cards.judge is None:
            raise SolverError(f"{self.cards.name} has no judge: give its bucket game as one")
        return value_of(self.tableau, self._judged_rows()) + self.game.value_offset_chips

    def _judged_rows(self) -> NDArray[Any]:
        strategy, index = self.card_strategy(), self.tableau.index
        rows = self.tableau.rows()
        for b, node in index.decisions():
            states = self._states[b][int(self.game.betting.kind[node])]
            index.block(rows, b, node)[:] = strategy.rows(node)[:, states]
        return rows

    # --------------------------------------------------------------------------- checkpoints

    def settings(self) -> dict[str, Any]:
        """Seed, weights and pruning."""
        return {
            "seed": self.seed,
            "linear": self.linear,
            "prune": self.prune,
            "prune_share": self.prune_share,
            "prune_after": self.prune_after,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Regrets and averages, and the state of the random numbers."""
        return {"rows": self.rows, "streams": self.streams}

    def save(self, path: str | Path) -> None:
        """Write a checkpoint; a killed run loses nothing that was saved."""
        configuration = {
            "game": self.cards.name,
            "game_fingerprint": self.cards.fingerprint(),
            "solver": self.name,
            "settings": self.settings(),
        }
        artefact.write(path, _KIND, configuration, self.arrays(), iteration=self.iteration)

    @classmethod
    def load(  # type: ignore[override]
        cls, path: str | Path, game: CardGame, *, threads: int | None = 1
    ) -> Self:
        """Read a checkpoint of this game; another's is refused."""
        manifest, arrays = artefact.read(path, _KIND)
        with artefact.understanding(path, "checkpoint"):
            configuration = manifest["configuration"]
            if configuration["game_fingerprint"] != game.fingerprint():
                raise ArtefactError(
                    f"{path}: a checkpoint of another game or abstraction ({configuration['game']})"
                )
            solver = cls(game, threads=threads, **configuration["settings"])
            restoring.restore(arrays, solver.arrays())
            solver.iteration = restoring.whole(manifest["iteration"], "iteration")
        return solver


def _stack(layout: CardRows) -> Stack:
    # Hold'em is dealt to the river whatever is bet.
    rounds, depth = max(4, layout.betting.rounds), layout.depth
    return Stack(
        bucket=np.zeros(2 * rounds, dtype=np.uint64),
        result=np.zeros(rounds, dtype=np.float32),
        deck=np.arange(52, dtype=np.uint8),
        swaps=np.zeros(9, dtype=np.uint64),
        board=np.zeros(5, dtype=np.uint8),
        path=np.zeros(4, dtype=np.int64),
        node=np.zeros(depth, dtype=np.uint64),
        at=np.zeros(depth, dtype=np.uint64),
        action=np.zeros(depth, dtype=np.uint64),
        skipped=np.zeros(depth, dtype=np.uint64),
        value=np.zeros(depth * int(layout.betting.count.max()), dtype=np.float32),
    )

"""Monte Carlo counterfactual regret minimisation: walk a sample of the game instead of all of it.

One iteration walks once for each player. A walk first draws a complete deal from the exact joint
distribution and adds to the regrets of its player an unbiased estimate of what CFR would add; how
external, outcome and chance sampling do that says :mod:`.walk`.

:class:`MonteCarloCFR` draws from the listed deals of a small game, which judges it. Large games are
played on real cards with buckets (:class:`CardSampling`), by external sampling with what Brown and
Sandholm (2019) add: iteration t counts t times, and in units of the current weight regrets are kept
above a floor, so that an action that was bad for long can come back soon, and nineteen of twenty walks
skip actions close to the floor.

Both limits are multiples of the most chips that a hand can win or lose. A decision visited n times
where an action loses m of these maxima a visit has a regret of -n·m/2; it is skipped from `prune` on.
Skipping costs nothing in the regrets that are kept, since the skipped action was not played. The
average strategy of the other player is updated less often below it, which shifts weight between
iterations but not between his actions.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.betting import Betting
from equipoise.games.game import Game
from equipoise.settings import Within
from equipoise.solve import restoring
from equipoise.solve.sampling.deals import MOST_DEALS, DealSource, ListedDeals
from equipoise.solve.sampling.rows import AVERAGE, REGRET, SampledRows, SampledStrategy
from equipoise.solve.sampling.sampler import NEVER_CHIPS, Sampler, sampling_rule
from equipoise.solve.sampling.walk import Pruning, SamplingRule
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.solvers.tableausolver import TableauSolver, load_sweeps
from equipoise.solve.strategies.bestresponse import exploitability_of, value_of
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Precision, Tableau

#: Regrets stop at this multiple of the regret from which on actions are skipped.
_FLOOR = 1.05
#: A strategy that is begun with counts as so many iterations unless told otherwise.
BEGUN = 12_000
#: Iterations of it in which it is only looked at, for how much chance makes of them.
_LOOKS = 200
#: Its share in the average, of what so many iterations would have there: it is to be left behind.
_STAYS = 0.25


class MonteCarloCFR(TableauSolver):
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
    samples = True
    scope = "deal"

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
        if game.betting.is_cut:
            raise SolverError(f"{game.name} is cut: solve it whole, or use dcfr with given values")
        if not 0 < exploration <= 1:
            raise SolverError(f"exploration = {exploration}: give more than 0 and at most 1")
        self.seed, self.linear, self.clipped = seed, linear, clipped
        self.exploration, self.most_deals = exploration, most_deals
        deals = ListedDeals(game, most_deals)
        self._states = deals.buckets_of(game)
        #: Regrets and averages, one for all hands that differ by the names of suits.
        self.sampler = Sampler(
            game.betting,
            deals,
            sampling_rule(
                linear=linear,
                floor_chips=0.0 if clipped else NEVER_CHIPS,
                exploration=exploration,
            ),
            scheme=scheme or self.default_scheme,
            seed=seed,
            threads=threads,
            real=np.float64,
        )
        super().__init__(game, precision=precision, threads=threads)
        self._plan = np.zeros(self.tableau.index.size)
        #: Iteration of the plan as it stands.
        self._turned = 0

    def prepare(self) -> None:
        """Load the kernels of sweeps and walks."""
        super().prepare()
        self.sampler.walk(self.iteration, 0)

    def advance(self, count: int) -> None:
        """Do `count` iterations, a walk for each player each."""
        self.sampler.walk(self.iteration, count)
        self.iteration += count

    @property
    def plan(self) -> NDArray[Any]:
        """Realisation plan of both players' average strategy, times chances of hands."""
        if self._turned != self.iteration:
            self._turned = self.iteration
            self._plan[:] = self._by_state(AVERAGE)
        return self._plan

    @property
    def regrets(self) -> NDArray[np.float64]:
        """What strategies come from by regret matching; a copy."""
        return self._by_state(REGRET)

    def _by_state(self, which: int) -> NDArray[np.float64]:
        sampler = self.sampler
        return sampler.layout.by_state(sampler.rows, which, self._states, self.tableau.index)

    def settings(self) -> dict[str, Any]:
        """Scheme, seed and weights."""
        return {
            "scheme": self.sampler.scheme,
            "seed": self.seed,
            "linear": self.linear,
            "clipped": self.clipped,
            "exploration": self.exploration,
            "most_deals": self.most_deals,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Plan and regrets by hand, and the state of the random numbers."""
        return {"plan": self.plan, "regrets": self.regrets, "streams": self.sampler.streams}

    def restore_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`arrays` gave."""
        found = self.arrays()
        restoring.restore(arrays, found)
        sampler = self.sampler
        for which, name in ((REGRET, "regrets"), (AVERAGE, "plan")):
            sampler.layout.by_bucket(
                found[name], which, self._states, self.tableau.index, sampler.rows
            )


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


# --------------------------------------------------------------------------------- real cards


@dataclass(frozen=True, eq=False)
class CardGame:
    """Betting over cards that somebody deals, and perhaps a judge."""

    name: str
    betting: Betting
    deals: DealSource
    #: A game of the same betting whose exact best responses measure exploitability: the very game,
    #: or the bucket game of the same abstraction.
    judge: Game | None = None
    #: Makes the same game in a process elsewhere; without it the game itself is sent there.
    source: Callable[[], CardGame] | None = None

    def __post_init__(self) -> None:
        self.deals.check(self.betting)
        if self.judge is not None and not np.array_equal(
            self.judge.betting.kind, self.betting.kind
        ):
            raise SolverError(f"{self.judge.name} has other betting than {self.name}")

    @classmethod
    def of(cls, game: Game) -> CardGame:
        """A small game with all its deals listed, its own judge."""
        return cls(game.name, game.betting, ListedDeals(game), game)

    @property
    def unit_chips(self) -> float:
        """The big blind."""
        return float(self.betting.rules.big_blind)

    def fingerprint(self) -> str:
        """A hash of everything that decides the solution."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        betting = self.betting
        digest = hashlib.sha256(self.deals.fingerprint().encode())
        for array in (betting.kind, betting.first, betting.even, betting.swing):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]


def card_rule(
    betting: Betting, *, linear: bool, prune: float | None, prune_share: float, prune_after: int
) -> SamplingRule:
    """Weights, floor and pruning of sampling on cards, in units of the most a hand can win."""
    if prune is not None and not prune > 0:
        raise SolverError(f"prune = {prune}: give more than 0, or None never to skip")
    if not 0 <= prune_share < 1:
        raise SolverError(f"prune_share = {prune_share}: give 0 to less than 1")
    if prune_after < 0:
        raise SolverError(f"prune_after = {prune_after}: give 0 or more")
    stake = float(max(np.abs(betting.even).max(), betting.swing.max()))
    limit = NEVER_CHIPS if prune is None else prune * stake
    pruning = Pruning(
        chips=limit,
        share=0.0 if prune is None else prune_share,
        after=prune_after,
        last_street=betting.rounds - 1,
    )
    return sampling_rule(linear=linear, floor_chips=_FLOOR * limit, pruning=pruning)


class CardsSolver(Solver):
    """What solvers on dealt cards share: buckets, and a game that may judge them."""

    solves = "game or abstraction"
    on_cards = True
    samples = True
    scope: ClassVar[Literal["game", "board", "hands", "deal"]] = "deal"
    numbers_kept = 2

    game: CardGame

    def __init__(self, game: CardGame, *, threads: int | None = 1) -> None:
        super().__init__(game)
        self._tableau = None if game.judge is None else Tableau(game.judge, None, threads)
        self._threads = threads

    def prepare(self) -> None:
        """Load the kernels of sweeps, where a game judges."""
        if self._tableau is not None:
            load_sweeps(self._tableau, self._tableau.rows())

    @property
    @abstractmethod
    def layout(self) -> SampledRows:
        """Where the numbers of the whole game stand."""

    @abstractmethod
    def gathered(self) -> NDArray[Any]:
        """Regrets and averages of the whole game."""

    # ------------------------------------------------------------------------------- answers

    def average_strategy(self) -> SampledStrategy:
        """The average strategy of both players, by decision and bucket."""
        return self.layout.average(self.gathered())

    @property
    def judge(self) -> Game | None:
        """The game that was given to judge."""
        return self.game.judge

    def judged_strategy(self) -> TabularStrategy:
        """The average strategy as one of the game that judges."""
        tableau = self._judging()
        return TabularStrategy(tableau.game, self._plan_in(tableau), tableau.index)

    def exploitability(self) -> float:
        """Mean of both players' best-response gains in the game that judges, in chips."""
        tableau = self._judging()
        return exploitability_of(tableau, self._plan_in(tableau))

    def measure_in(self, game: Game) -> Callable[[], float]:
        """How exploitability is measured, again and again, in `game`: over other boards, say."""
        if game is self.judge:
            return self.exploitability
        tableau = Tableau(game, None, self._threads)
        return lambda: exploitability_of(tableau, self._plan_in(tableau))

    def value(self) -> float:
        """Expected chips of player 0 when both play the average strategy, as the judge deals."""
        tableau = self._judging()
        return value_of(tableau, self._plan_in(tableau)) + tableau.game.value_offset_chips

    def _judging(self) -> Tableau:
        if self._tableau is None:
            raise SolverError(f"{self.game.name} has no judge: give its bucket game as one")
        return self._tableau

    def _plan_in(self, tableau: Tableau) -> NDArray[Any]:
        """The average strategy as a plan of a game of the same betting and buckets."""
        states = self.game.deals.buckets_of(tableau.game)
        return self.layout.by_state(self.gathered(), AVERAGE, states, tableau.index)


class CardSampling(CardsSolver):
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
    file_kind = "card solver"

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
        super().__init__(game, threads=threads)
        self.seed, self.linear = seed, linear
        self.prune, self.prune_share, self.prune_after = prune, prune_share, prune_after
        rule = card_rule(
            game.betting,
            linear=linear,
            prune=prune,
            prune_share=prune_share,
            prune_after=prune_after,
        )
        #: Regrets and averages of every decision and bucket.
        self.sampler = Sampler(game.betting, game.deals, rule, seed=seed, threads=threads)

    def prepare(self) -> None:
        """Load the kernels of walks, and those of sweeps where a game judges."""
        self.advance(0)
        super().prepare()

    @property
    def abreast(self) -> int:
        """An iteration for each thread that walks."""
        return self.sampler.walkers

    def advance(self, count: int) -> None:
        """Do `count` iterations, a deal and a walk for each player each."""
        self.sampler.walk(self.iteration, count)
        self.iteration += count

    @property
    def layout(self) -> SampledRows:
        """Where the numbers of the whole game stand."""
        return self.sampler.layout

    def gathered(self) -> NDArray[Any]:
        """Regrets and averages of the whole game: the very table that walks add to."""
        return self.sampler.rows

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
        return {"rows": self.sampler.rows, "streams": self.sampler.streams}

    @classmethod
    def understood(cls, manifest: dict[str, Any]) -> dict[str, Any]:
        """Checkpoints of older versions do not say that there are no more numbers."""
        return {"scalars": {}, **manifest}


class PublicSampling(CardSampling):
    """Public chance sampling on hold'em: a board an iteration and player, all hands at once.

    An iteration costs as much as some ten thousand of external sampling, and counts as one for each
    of the 1,081 hands that a board leaves, with the noise of the opponent's cards and actions taken
    out: worth it where decisions are many and seldom visited, as on the last streets of no-limit.
    `tremble` is the share of his actions that each player takes the other to draw evenly; `informed` the
    share of last streets that he plays as one who sees cards, not buckets. Lines on which he arrives with
    less than a share `rare` of his hands are walked by chance.
    """

    name: ClassVar[str] = "public"
    scope = "hands"

    def __init__(
        self,
        game: CardGame,
        *,
        seed: int = 0,
        linear: bool = True,
        floor: Annotated[float | None, Within("number", 0.001, 1_000_000)] = 100.0,
        tremble: Annotated[float, Within("number", 0, 0.5)] = 0.0,
        informed: Annotated[float, Within("number", 0, 1)] = 0.0,
        rare: Annotated[float, Within("number", 0, 1)] = 0.0,
        threads: int | None = 1,
    ) -> None:
        CardsSolver.__init__(self, game, threads=threads)
        self.seed, self.linear, self.floor = seed, linear, floor
        self.tremble, self.informed, self.rare = tremble, informed, rare
        rule = card_rule(game.betting, linear=linear, prune=floor, prune_share=0.0, prune_after=0)
        rule = rule._replace(tremble=tremble, informed=informed, rare=rare)
        self.sampler = Sampler(
            game.betting, game.deals, rule, scheme="public", seed=seed, threads=threads
        )

    def settings(self) -> dict[str, Any]:
        """Seed, weights, floor, tremble and what the opponent knows."""
        told = {"seed": self.seed, "linear": self.linear, "floor": self.floor}
        return {**told, "tremble": self.tremble, "informed": self.informed, "rare": self.rare}

    def begin_with(self, strategy: Callable[[int], NDArray[Any]], iterations: int = BEGUN) -> None:
        """Go on from a strategy, [action, bucket] by decision, as if it came of so many iterations.

        Regrets in proportion to the strategy σ give σ back by regret matching; how large they are says
        how fast it is left (Brown and Sandholm, "Strategy-Based Warm Starting for Regret Minimization in
        Games", AAAI 2016). Here they are as large as chance alone makes them in T iterations of weights
        1 to T, s √(T³ / 3), where s is what one iteration adds, seen in some plain iterations of σ against
        itself: what is wrong with σ for certain is left as soon, and what chance says of it later, the larger
        T is. What σ never plays stands as far below zero, where the noise of the first iterations would have
        it played again. Averages begin with a quarter of what T iterations of σ would have added, T² / 2
        times what one does.
        """
        rows, layout = self.sampler.rows, self.layout
        for node in layout.decisions.tolist():
            layout.block(rows, node)[:, REGRET] = strategy(node).T
        added = self.sampler.estimate(_LOOKS)
        for node in layout.decisions.tolist():
            block, seen = layout.block(rows, node), layout.block(added, node)
            played = block[:, REGRET].copy()
            chance = np.abs(seen[:, REGRET]).sum(1, keepdims=True) / np.sqrt(_LOOKS)
            # What was never looked at is kept by a hair.
            signed = np.where(played > 0, played, -1.0)
            block[:, REGRET] = signed * np.maximum(chance, 1e-9) * np.sqrt(iterations**3 / 3)
            one = seen[:, AVERAGE] / _LOOKS + 1e-9 * played
            block[:, AVERAGE] = one * (_STAYS * iterations**2 / 2)
        self.iteration = iterations

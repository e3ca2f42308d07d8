"""Counterfactual regret minimisation and its family.

After Zinkevich et al. (2007), at every information set regret matching plays each action in
proportion to its positive regret; the average strategy, weighted by own reach, tends to equilibrium.
The members of the family differ only in how old regrets and old strategies are discounted before
iteration t adds its own (u = t − 1):

    member               regrets > 0             regrets < 0             floor   average
    CFR                  1                       1                       −       1
    CFR+                 1                       1                       0       u/t
    linear CFR           u/t                     u/t                     −       u/t
    DCFR(α, β, γ)        u^α/(u^α + 1)           u^β/(u^β + 1)           −       (u/t)^γ
    PCFR+                1                       1                       0       (u/t)²

CFR+ is Tammelin (2014), linear and discounted CFR Brown and Sandholm (2019), predictive CFR+ Farina,
Kroer and Sandholm (2021): it acts on its regrets plus the last gain, as if that came again. Multiplying
the average by (u/t)^γ before adding is weighting iteration t by t^γ, with numbers that stay bounded.

Where many pots are behind, one iteration can show a hand a gain beside which all the regret that it has
is nothing. Then it changes its mind at once, the opponent's hands answer in the same way, and lines that
were settled long ago come undone within a few iterations: an exploitability of 0.3 % of the pot was seen
to become 12 %. A bounded *step* stops that. With T the sum of a hand's positive regrets at a decision and
g its best gain, all its gains there count min(1, s T / g) times. The bound s widens with the square root
of t: in the long run nothing is cut.

Updates alternate (player 1 faces what player 0 has just learnt) unless `alternating` is False.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.settings import Kind, Within, check_keys, kinds_of
from equipoise.solve.solvers.tableausolver import TableauSolver
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Precision

#: How many bits a number of the solve is kept in.
Storage = Literal["32-bit", "16-bit"]
#: Steps are free for so many iterations, in which hands gather regret; their bound widens after more.
_FREE_STEPS, _NARROW_STEPS = 16, 100


@dataclass(frozen=True)
class Discounting:
    """How the past fades: exponents of the iteration number, None for no discount."""

    #: Of positive regrets: u^α/(u^α + 1); the string "linear" is u/t.
    alpha: Annotated[float | str | None, Within("number", 0, 10)] = None
    #: Of negative regrets.
    beta: Annotated[float | str | None, Within("number", -10, 10)] = None
    #: β grows from 0 to its value over this many iterations; 0 is at once.
    beta_ramp: Annotated[int, Within("whole", 0, 1_000_000)] = 0
    #: Of the average strategy: (u/t)^γ.
    gamma: Annotated[float, Within("number", 0, 100)] = 0.0
    #: Before this iteration only those whose number is a power of two are averaged: what comes later
    #: outweighs them by far, averaging costs time, and a few are enough for every line to be played.
    warm_up: Annotated[int, Within("whole", 0, 1_000_000)] = 0
    #: Negative regrets are forgotten.
    clipped: bool = False
    #: Act on regrets plus the last gain.
    predictive: bool = False
    #: α grows from 1 to its value over this many iterations; 0 is at once.
    alpha_ramp: Annotated[int, Within("whole", 0, 1_000_000)] = 0
    #: A hand's best gain counts for no more than this many times its positive regrets; 0 is no bound.
    step: Annotated[float, Within("number", 0, 1000)] = 0.0

    def __post_init__(self) -> None:
        if self.step and self.predictive:
            raise SolverError("a bounded step goes without prediction: leave one of them out")
        for label in ("alpha", "gamma", "step"):
            exponent = getattr(self, label)
            if isinstance(exponent, int | float) and exponent < 0:
                raise SolverError(f"{label} = {exponent}: choose 0 or more")
        for label in ("alpha", "beta", "gamma"):
            # Files write whole numbers without a point, and only an exponent that is a float can grow.
            if isinstance(getattr(self, label), int):
                object.__setattr__(self, label, float(getattr(self, label)))

    def parameters(self, t: int) -> dict[str, float]:
        """Parameters of the sweep for iteration t = 1, 2, ..."""
        u = t - 1
        alpha, beta = self.alpha, self.beta
        if self.alpha_ramp and isinstance(alpha, float):
            alpha = 1.0 + (alpha - 1.0) * min(1.0, u / self.alpha_ramp)
        if self.beta_ramp and isinstance(beta, float):
            beta *= min(1.0, u / self.beta_ramp)
        values = {
            "positive": _discount(alpha, u),
            "negative": _discount(beta, u),
            "keep": (u / t) ** self.gamma if self.gamma else 1.0,
        }
        if self.clipped:
            values["floor"] = 0.0
        if self.step and t > _FREE_STEPS:
            values["step"] = self.step * max(1.0, t / _NARROW_STEPS) ** 0.5
        if 1 < t <= self.warm_up:
            averaged_last = 1 << (u.bit_length() - 1)
            values["keep"] = (averaged_last / t) ** self.gamma
            if t < self.warm_up and t & u:
                values["gain"] = 0.0
        return values


def _discount(exponent: float | str | None, u: int) -> float:
    if exponent is None:
        return 1.0
    if exponent == "linear":
        return u / (u + 1)
    if u == 0:
        return 0.0
    power: float = float(u) ** float(exponent)
    return power / (power + 1)


class CFR(TableauSolver):
    """Vector-form CFR over the whole game; see the module for the family.

    How the past fades is the member's own schedule but for what `schedule` says, by the names of
    :class:`Discounting`; or all of it is `discounting`.

    >>> from equipoise.games.catalogue import kuhn
    >>> solver = CFR(kuhn())
    >>> solver.advance(1000)
    >>> abs(solver.value() + 1 / 18) < 0.001
    True
    """

    name: ClassVar[str] = "cfr"
    default: ClassVar[Discounting] = Discounting()

    def __init__(
        self,
        game: Game,
        *,
        discounting: Discounting | dict[str, Any] | None = None,
        alternating: bool = True,
        storage: Storage = "32-bit",
        precision: Precision | None = None,
        threads: int | None = 1,
        **schedule: Any,
    ) -> None:
        if storage not in ("32-bit", "16-bit"):
            raise SolverError(f"storage = {storage!r}: choose '32-bit' or '16-bit'")
        compressed = storage == "16-bit"
        if compressed and precision == "float64":
            raise SolverError("16-bit storage goes with single precision: leave float64 out")
        check_keys(schedule, Discounting.__dataclass_fields__, error=SolverError)
        super().__init__(game, precision="float32" if compressed else precision, threads=threads)
        if isinstance(discounting, dict):
            discounting = Discounting(**discounting)
        self.discounting = replace(discounting or self.default, **schedule)
        self.alternating = alternating
        #: What rows are kept in; 16-bit integers with a unit for each decision are half the memory.
        self.storage: Storage = storage
        if compressed and (self.discounting.predictive or not alternating):
            raise SolverError("16-bit storage goes with alternating updates and no prediction")
        tableau, stored = self.tableau, np.int16 if compressed else None
        self._plan = tableau.rows(stored)
        #: What strategies come from: regrets, plus the last gain if predictive.
        self.regrets = tableau.rows(stored)
        self._clipped = tableau.rows() if self.discounting.predictive else None
        self._before = None if alternating else tableau.rows()
        self._units = [tableau.units() if compressed else None for _ in range(2)]

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """Order and storage of updates, and the schedule; older files say `compressed` for storage."""
        return super().kinds() | kinds_of(Discounting) | {"compressed": "truth"}

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        schedule = np.array(
            [
                self.tableau.parameters(**self.discounting.parameters(self.iteration + 1 + k))
                for k in range(count)
            ]
        ).reshape(count, -1)
        rule = rowrules.PREDICTIVE if self.discounting.predictive else rowrules.REGRET
        self.tableau.iterate(
            rule,
            schedule,
            rows=self.regrets,
            plan=self.plan,
            out=self._clipped,
            before=self._before,
            plan_unit=self._units[0],
            rows_unit=self._units[1],
        )
        self.iteration += count

    @classmethod
    def arguments(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor; files say `compressed` for storage in 16 bits."""
        told = dict(settings)
        if "compressed" in told:
            told["storage"] = "16-bit" if told.pop("compressed") else "32-bit"
        return told

    def settings(self) -> dict[str, Any]:
        """Discounting and order of updates."""
        return {
            "discounting": asdict(self.discounting),
            "alternating": self.alternating,
            "compressed": self.storage == "16-bit",
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Plan and regrets."""
        arrays = {"plan": self.plan, "regrets": self.regrets}
        if self._clipped is not None:
            arrays["clipped"] = self._clipped
        for name, units in zip(("plan_unit", "regrets_unit"), self._units, strict=True):
            if units is not None:
                arrays[name] = units
        return arrays


class CFRPlus(CFR):
    """CFR+: negative regrets are forgotten at once, strategies weighted by t."""

    name = "cfr+"
    default = Discounting(gamma=1.0, clipped=True)


class LinearCFR(CFR):
    """Linear CFR: iteration t counts t times."""

    name = "linear"
    default = Discounting(alpha="linear", beta="linear", gamma=1.0)


class DCFR(CFR):
    """Discounted CFR with α = 1.5, β = 0, γ = 2 unless told otherwise."""

    name = "dcfr"
    default = Discounting(alpha=1.5, beta=0.0, gamma=2.0)


class PCFRPlus(CFR):
    """Predictive CFR+, strategies weighted by t²."""

    name = "pcfr+"
    default = Discounting(gamma=2.0, clipped=True, predictive=True)

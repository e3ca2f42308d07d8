"""φ(x): what of a situation and a hand the model's scores are linear in.

`Features` says which facts enter and how they are combined; a `Scale`, taken from the decisions that a
model is fitted to, says in which units. With standardised public facts u, private facts z and a basis
Z = [z, squares and products of z, hinges max(0, equity − knot), ranks] of the private ones,

    φ = [1, u, squares and products of u]  +  Z  +  u ⊗ Z (or u ⊗ z)

so that for all hands at once the scores are U·A + Z·(B₀ + Σ uᵢ Bᵢ): one small product a decision.

`seed` is the document's φ, round, pot, to call and own winning probability with squares and products,
one model for all streets. `odds`, `context` and `full` put odds and ln pot in place of chips, add who
raised, seat and player, and then what equity alone does not say of a hand. `payoff` adds to `full` what
the document hopes for: the expected payoff of a call, and of a raise of the pot that is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.situation import PRIVATE, PUBLIC
from equipoise.cards.streets import STREET_COUNT

Floats = NDArray[np.float64]

#: Quantiles of equity at which hinges stand.
KNOTS = (0.1, 0.25, 0.4, 0.6, 0.75, 0.9)
#: Running residuals of a player (:mod:`.memory`), in tenths.
RESIDUALS = 6
#: Payoffs that enter φ: of a call, and of a raise that is called.
PAYOFFS = 2
#: Terms of residuals: each alone, with odds, with raises and with equity.
RESIDUAL_TERMS = 4 * RESIDUALS
#: Two ranks, gap, suited, paired, and squares of the ranks.
_RANK_TERMS = 7
_CONSTANT = 1e-6


@dataclass(frozen=True)
class Features:
    """What enters φ."""

    name: str
    public: tuple[str, ...]
    private: tuple[str, ...]
    #: One model for each street, and for each group of players.
    by_street: bool = True
    by_group: bool = False
    hinges: bool = False
    #: The two ranks, their squares, gap, suited and paired, before the flop.
    ranks: bool = False
    #: Products of public facts with all of Z, not with z alone.
    dense: bool = False
    payoffs: bool = False

    def cell(self, street: int, facing: bool, group: int) -> tuple[int, bool, int]:
        """Which of the models a decision belongs to."""
        return street if self.by_street else 0, facing, group if self.by_group else 0

    def streets(self) -> tuple[int, ...]:
        """Streets that have models of their own."""
        return tuple(range(STREET_COUNT)) if self.by_street else (0,)


_CONTEXT = ("odds", "ln_pot", "raises", "seat")
_LINE = (*_CONTEXT, "mine_last", "his_last", "raises_in_hand")
_HAND = ("equity", "now", "spread", "last")
FEATURES = {
    one.name: one
    for one in (
        Features("seed", ("street", "pot_bb", "to_call_bb"), ("equity",), by_street=False),
        Features("odds", ("odds", "ln_pot"), ("equity",)),
        Features("context", (*_CONTEXT, "group"), ("equity",)),
        Features("full", _LINE, _HAND, by_group=True, hinges=True, ranks=True, dense=True),
        Features("payoff", _LINE, _HAND, by_group=True, hinges=True, ranks=True, dense=True, payoffs=True),
        # No cards at all: what residuals are measured from.
        Features("cardless", _LINE, (), by_group=True),
        # Of raises, of which there are fewer: classes of size, and ln size.
        Features("classes", _LINE, _HAND, by_group=True),
        Features("lengths", _LINE, _HAND, by_group=True, hinges=True, ranks=True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """φ in the units of the decisions that a model is fitted to."""

    features: Features
    #: Before the flop, or the document's one model for all streets.
    preflop: bool
    #: Mean and deviation of u and of z, 0 where a fact never changes; knots of the hinges.
    public_mean: Floats
    public_unit: Floats
    private_mean: Floats
    private_unit: Floats
    knots: Floats

    @classmethod
    def of(cls, features: Features, street: int, public: Floats, private: Floats) -> Scale:
        """From decisions of one cell."""
        u, z = _chosen_public(features, public), _chosen_private(features, private)
        knots = np.quantile(private[:, 0], KNOTS) if features.hinges else np.zeros(0)
        return cls(
            features, street == 0, *_standard(u), *_standard(z), np.asarray(knots, dtype=np.float64)
        )

    def public(self, facts: Floats) -> Floats:
        """u of rows of public facts (:func:`extended`)."""
        chosen = _chosen_public(self.features, facts)
        found: Floats = (chosen - self.public_mean) * self.public_unit
        return found[:, self.public_unit > 0]

    def wide(self, u: Floats) -> Floats:
        """[1, u, squares and products]."""
        return np.concatenate([np.ones((len(u), 1)), u, products(u)], axis=1)

    def basis(self, private: Floats) -> Floats:
        """Z of rows of private facts."""
        chosen = _chosen_private(self.features, private)
        z = ((chosen - self.private_mean) * self.private_unit)[:, self.private_unit > 0]
        parts = [z, products(z)]
        if self.features.hinges:
            parts.append(np.maximum(0, private[:, :1] - self.knots) * 5)
        if self.features.ranks and self.preflop:
            ranks = private[:, 4:9]
            parts += [ranks - 0.4, ranks[:, :2] ** 2 - 0.3]
        return np.concatenate(parts, axis=1)

    def crossed(self, basis: Floats) -> Floats:
        """The part of Z that is multiplied with public facts."""
        if self.features.dense:
            return basis
        found: Floats = basis[:, : int((self.private_unit > 0).sum())]
        return found

    @property
    def width(self) -> int:
        """Columns of φ."""
        features = self.features
        u, z = (int((unit > 0).sum()) for unit in (self.public_unit, self.private_unit))
        basis = z + z * (z + 1) // 2 + len(self.knots)
        if features.ranks and self.preflop:
            basis += _RANK_TERMS
        crossed = basis if features.dense else z
        return 1 + u + u * (u + 1) // 2 + basis + u * crossed + PAYOFFS * features.payoffs

    def design(self, facts: Floats, private: Floats) -> Floats:
        """φ of decisions, one row each."""
        u, basis = self.public(facts), self.basis(private)
        parts = [self.wide(u), basis]
        crossed = self.crossed(basis)
        parts += [u[:, [k]] * crossed for k in range(u.shape[1])]
        if self.features.payoffs:
            parts.append(payoffs(facts, private))
        return np.concatenate(parts, axis=1)


def extended(facts: Floats, street: NDArray[np.int64], group: NDArray[np.int64]) -> Floats:
    """Public facts with street and group behind them."""
    return np.concatenate([facts, street[:, None], group[:, None]], axis=1)


def payoffs(facts: Floats, private: Floats) -> Floats:
    """Expected payoff of a call and of a raise of the pot that is called, in big blinds, damped.

    p·pot − (1 − p)·to call for a call, and (2p − 1)·(pot + to call) more for the raise; x/(1 + |x|).
    """
    p, pot, price = private[:, 0], facts[:, 7], facts[:, 8]
    called = p * pot - (1 - p) * price
    raised = called + (2 * p - 1) * (pot + price)
    found = np.stack([called, raised], axis=1)
    return np.asarray(found / (1 + np.abs(found)))


def residual_terms(residuals: Floats, facts: Floats, equity: Floats) -> Floats:
    """How a player's running residuals enter φ: alone, with equity, with odds and with raises."""
    r = residuals * 10
    lean = (equity[:, None] - 0.5) * 5
    odds, raises = (facts[:, [0]] - 0.3) * 10 * (facts[:, [0]] > 0), facts[:, [2]] - 1
    return np.concatenate([r, r * odds, r * raises, r * lean], axis=1)


def residual_scores(residuals: Floats, facts: Floats, equity: Floats, theta: Floats) -> Floats:
    """The part of :func:`residual_terms` in the scores of many hands in one situation."""
    ends = residual_terms(np.tile(residuals, (2, 1)), np.tile(facts, (2, 1)), np.array([0.0, 1.0]))
    worst, best = ends @ theta
    # Linear in equity: from a hand that never wins to one that always does.
    found: Floats = worst + equity[:, None] * (best - worst)
    return found


@cache
def _pairs(width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    i, j = np.triu_indices(width)
    return i, j


def products(x: Floats) -> Floats:
    """Squares and products of columns."""
    i, j = _pairs(x.shape[1])
    found: Floats = x[:, i] * x[:, j]
    return found


def _standard(x: Floats) -> tuple[Floats, Floats]:
    mean, spread = x.mean(axis=0), x.std(axis=0)
    return mean, np.where(spread > _CONSTANT, 1 / np.maximum(spread, _CONSTANT), 0.0)


def _chosen_public(features: Features, facts: Floats) -> Floats:
    names = (*PUBLIC, "street", "group")
    return facts[:, [names.index(name) for name in features.public]]


def _chosen_private(features: Features, private: Floats) -> Floats:
    return private[:, [PRIVATE.index(name) for name in features.private]]

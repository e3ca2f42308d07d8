"""Does a trained strategy play poker? Checks that a player would make, each with a diagnosis.

A strategy can have a low exploitability in its abstraction and still be broken outside it: buckets
numbered wrongly, a seat turned round, a game with the wrong blinds, a run stopped too early. What
holds in every sound strategy is checked here, at decisions that really come up:

- probabilities sum to 1, and aces are not folded before the flop;
- hands that raise first in are stronger than hands that limp, and those stronger than folded ones;
- hands fold the less the stronger they are, and the best river hands call;
- stronger hands put more in on the river.

How often a hand limps, raises and folds first in is told besides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_COUNT, COMBO_CLASS, class_text, parse_combo
from equipoise.cards.streets import STREETS
from equipoise.games.nodes import DEAL
from equipoise.games.rules import Kind
from equipoise.solve.training.blueprint import Blueprint, known_classes

#: Fold frequency of aces, and of hands that cannot lose, from which on something is wrong.
_MOST_FOLDED = 0.01
#: Own reach from which on a line is one that really comes up.
_LEAST_REACH = 0.01
#: Rank correlation that is taken for order.
_LEAST_ORDER = 0.2
#: Points at which two figures are compared in order.
_QUANTILES = 2000
#: Equity of river hands that must call.
_SURE = 0.985

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """One check."""

    check: str
    passed: bool
    #: The figures that decided it.
    told: str
    #: What may be the cause, where it failed.
    diagnosis: str = ""

    def __str__(self) -> str:
        mark = "ok    " if self.passed else "BREACH"
        cure = f"\n       {self.diagnosis}" if self.diagnosis and not self.passed else ""
        return f"{mark} {self.check}: {self.told}{cure}"


@dataclass(frozen=True)
class SanityReport:
    """All checks of a strategy."""

    name: str
    findings: tuple[Finding, ...]
    #: How often the first player to act folds, limps and raises: shares of all his hands.
    first_in: dict[str, float] = field(default_factory=dict)

    @property
    def breaches(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(found for found in self.findings if not found.passed)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "first_in": self.first_in,
            "findings": [
                {
                    "check": found.check,
                    "passed": found.passed,
                    "told": found.told,
                    "diagnosis": "" if found.passed else found.diagnosis,
                }
                for found in self.findings
            ],
        }

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in self.first_in.items())
        lines = [f"{self.name}: first in {shares}", *map(str, self.findings)]
        return "\n".join(lines) + "\n"


def rank_correlation(values: Floats, others: Floats, mass: Floats) -> float:
    """Spearman's correlation of two figures, each value counted `mass` times.

    >>> round(rank_correlation(np.array([1., 2, 3]), np.array([10., 20, 90]), np.ones(3)), 6)
    1.0
    """

    def ranks(given: Floats) -> Floats:
        _, place = np.unique(given, return_inverse=True)
        weight = np.bincount(place, mass)
        middle = np.cumsum(weight) - weight / 2
        found: Floats = middle[place]
        return found

    one, two = ranks(values), ranks(others)
    one, two = one - np.average(one, weights=mass), two - np.average(two, weights=mass)
    spread = np.sqrt((mass * one**2).sum() * (mass * two**2).sum())
    return float((mass * one * two).sum() / spread) if spread > 0 else 0.0


def best_order(values: Floats, others: Floats, mass: Floats) -> float:
    """The strongest correlation that these figures could have, perfectly ordered: ties allow no more.

    A share p of hands that fold, all others never, comes to √(3p(1 − p)) and not to 1.

    >>> fold, equity = np.repeat([1.0, 0.0], [9, 91]), np.arange(100.0)
    >>> round(best_order(fold, equity, np.ones(100)), 3), round((3 * 0.09 * 0.91) ** 0.5, 3)
    (0.496, 0.496)
    """
    points = (np.arange(_QUANTILES) + 0.5) / _QUANTILES

    def quantiles(given: Floats) -> Floats:
        order = np.argsort(given)
        share = np.cumsum(mass[order]) / mass.sum()
        found: Floats = given[order][np.minimum(np.searchsorted(share, points), len(given) - 1)]
        return found

    return rank_correlation(quantiles(values), quantiles(others), np.ones(_QUANTILES))


def sanity(blueprint: Blueprint) -> SanityReport:
    """Check a blueprint."""
    checker = _Checker(blueprint)
    findings = [checker.sums(), checker.aces(), *checker.first_in_order()]
    for street in range(4):
        findings.extend(checker.folds_in_order(street))
    findings.extend(checker.best_hands_call())
    findings.extend(checker.strong_hands_bet())
    return SanityReport(blueprint.name, tuple(findings), checker.first_in_shares())


class _Checker:
    """What the checks share: equities, masses, reaches and typical lines."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint, self.betting = blueprint, blueprint.betting
        self.abstraction = blueprint.abstraction
        #: Bucket of each class of hole cards.
        preflop = self.abstraction.buckets()
        first = [int(np.flatnonzero(one == COMBO_CLASS)[0]) for one in range(CLASS_COUNT)]
        self.bucket_of_class = preflop[first].astype(np.int64)
        totals = [self.abstraction.totals(street) for street in range(4)]
        self.mass, self.equity = [t.masses for t in totals], [t.means for t in totals]
        self.followed = self._frequencies()

    def _kinds(self, node: int) -> list[Kind]:
        found = []
        for child in self.betting.children(node):
            action = self.betting.actions[child]
            assert action is not None
            found.append(action.kind)
        return found

    def _columns(self, street: int) -> tuple[Floats, Floats]:
        """Mass and equity of every column of a street."""
        times = known_classes(self.blueprint.classes, street)
        return np.tile(self.mass[street], times) / times, np.tile(self.equity[street], times)

    def _frequencies(self) -> Floats:
        """How often play comes to each node, roughly: the hands' ranges are not followed."""
        betting = self.betting
        found = np.zeros(len(betting.kind))
        found[0] = 1.0
        for street, (first, last) in enumerate(betting.spans()):
            if street:
                leaves = betting.of_kind(street - 1, DEAL)
                found[betting.next_root[leaves]] = found[leaves]
            mass, _ = self._columns(street)
            for node in range(first, last):
                if betting.kind[node] < 2 and found[node] > 1e-6:
                    share = self.blueprint.rows(node) @ mass
                    children = np.array(list(betting.children(node)))
                    found[children] = found[node] * share
        return found

    def _weights(self, node: int) -> Floats:
        """How often each column comes to a decision by its own play; at least by its cards.

        Where buckets forget what they were, their past play is not known, and cards alone count.
        """
        street, player = self.betting.round_of(node), int(self.betting.kind[node])
        mass, _ = self._columns(street)
        if not self.abstraction.perfect_recall or self.blueprint.classes is not None:
            return mass
        reach, place = np.ones(len(mass)), np.arange(len(mass))
        while True:
            above = int(self.betting.parent[node])
            if above < 0:
                if not street:
                    break
                parents = self.abstraction.parents(street)
                assert parents is not None
                place = parents[place]
                street -= 1
                node = int(self.betting.before[node])
                continue
            if self.betting.kind[above] == player:
                action = node - int(self.betting.first[above])
                reach *= self.blueprint.rows(above)[action][place]
            node = above
        weights: Floats = mass * reach
        return weights if weights.sum() > 0 else mass

    def _line(self, node: int) -> str:
        return self.betting.states[node].betting_text() or "first in"

    def _likeliest(self, street: int, facing_bet: bool) -> int | None:
        """The decision of a street, with or without a bet to call, that comes up most."""
        first, last = self.betting.spans()[street]
        nodes = np.arange(first, last)
        nodes = nodes[self.betting.kind[first:last] < 2]
        facing = np.array([Kind.FOLD in self._kinds(node) for node in nodes.tolist()])
        chosen = nodes[facing == facing_bet]
        if not len(chosen):
            return None
        return int(chosen[np.argmax(self.followed[chosen])])

    # --------------------------------------------------------------------------------- checks

    def sums(self) -> Finding:
        """Probabilities sum to 1, masses too."""
        worst = max(
            float(np.abs(self.blueprint.rows(node).sum(axis=0) - 1).max())
            for node in np.flatnonzero(self.betting.kind < 2).tolist()
        )
        off = max(abs(float(mass.sum()) - 1) for mass in self.mass)
        return Finding(
            "probabilities and masses sum to 1",
            worst < 1e-5 and off < 1e-9,
            f"off by {worst:.1e} and {off:.1e} at most",
            "the file was not written by this version, or the abstraction has changed: train again",
        )

    def aces(self) -> Finding:
        """Aces are never folded before the flop, in lines that aces come to."""
        bucket = int(self.abstraction.buckets()[parse_combo("As Ah")])
        #: How likely aces in each seat come to a node, as far as their own play decides.
        reach = {0: (1.0, 1.0)}
        worst, where = 0.0, ""
        for node in range(*self.betting.spans()[0]):
            player = int(self.betting.kind[node])
            if player > 1:
                continue
            played, kinds = self.blueprint.probabilities(node, bucket), self._kinds(node)
            if reach[node][player] > _LEAST_REACH and Kind.FOLD in kinds:
                folded = float(played[kinds.index(Kind.FOLD)])
                if folded > worst:
                    worst, where = folded, f" after {self._line(node)}"
            for child, share in zip(self.betting.children(node), played.tolist(), strict=True):
                first, second = reach[node]
                reach[child] = (first, second * share) if player else (first * share, second)
        return Finding(
            "aces are never folded before the flop",
            worst <= _MOST_FOLDED,
            f"folded {worst:.2%} at most{where}",
            self._aces_diagnosis(bucket),
        )

    def _aces_diagnosis(self, bucket: int) -> str:
        with_them = [
            class_text(one)
            for one in range(CLASS_COUNT)
            if self.bucket_of_class[one] == bucket and class_text(one) != "AA"
        ]
        if len(with_them) > 8:
            return (
                f"aces share their bucket with {len(with_them)} classes such as {with_them[-1]}: "
                "allow more buckets before the flop"
            )
        return "trained too briefly for lines that come up seldom: train longer"

    def first_in_shares(self) -> dict[str, float]:
        """Shares of hands that the first to act folds, limps with and raises."""
        played = self.blueprint.rows(0) @ self.mass[0]
        names = {Kind.FOLD: "fold", Kind.CALL: "limp", Kind.RAISE: "raise"}
        shares = dict.fromkeys(names.values(), 0.0)
        for kind, share in zip(self._kinds(0), played.tolist(), strict=True):
            shares[names[kind]] += share
        return shares

    def first_in_order(self) -> list[Finding]:
        """Raised hands are stronger than limped ones, and those than folded ones."""
        kinds, rows = self._kinds(0), self.blueprint.rows(0).astype(np.float64)
        mean: dict[Kind, float] = {}
        for kind in set(kinds):
            often = rows[[k == kind for k in kinds]].sum(axis=0) * self.mass[0]
            if often.sum() > 1e-3:
                mean[kind] = float((often * self.equity[0]).sum() / often.sum())
        findings = []
        pairs = (
            (Kind.RAISE, Kind.CALL, "raising hands are stronger than limping ones"),
            (Kind.RAISE, Kind.FOLD, "raising hands are stronger than folded ones"),
            (Kind.CALL, Kind.FOLD, "limping hands are stronger than folded ones"),
        )
        for above, below, check in pairs:
            if above in mean and below in mean:
                findings.append(
                    Finding(
                        check,
                        mean[above] > mean[below],
                        f"mean equity {mean[above]:.3f} against {mean[below]:.3f}",
                        "seats or buckets are turned round, or it was trained too briefly; with few "
                        "buckets before the flop a slow-played best bucket alone can do this",
                    )
                )
        return findings

    def folds_in_order(self, street: int) -> list[Finding]:
        """Hands fold the less the stronger they are, in the line that comes up most."""
        node = self._likeliest(street, facing_bet=True)
        if node is None or (street == 0 and node == 0 and self.first_in_shares()["fold"] < 0.01):
            return []
        kinds = self._kinds(node)
        folds = self.blueprint.rows(node)[kinds.index(Kind.FOLD)].astype(np.float64)
        mass, equity = self._weights(node), self._columns(street)[1]
        if float(folds @ mass) < 0.01 * mass.sum():
            return []
        order, most = rank_correlation(equity, folds, mass), best_order(equity, folds, mass)
        return [
            Finding(
                f"{STREETS[street]}: stronger hands fold less",
                order <= -_LEAST_ORDER,
                f"rank correlation of folding and equity {order:+z.2f}, of {-most:+z.2f} that ties "
                f"allow, after {self._line(node)}",
                "buckets of one street may be numbered as those of another, or the line is trained "
                "too briefly: look at the buckets with `equipoise abstraction show`",
            )
        ]

    def best_hands_call(self) -> list[Finding]:
        """River hands that hardly ever lose do not fold."""
        node = self._likeliest(3, facing_bet=True)
        if node is None:
            return []
        mass, equity = self._weights(node), self._columns(3)[1]
        sure = (equity >= _SURE) & (mass > 0)
        if not sure.any():
            return []
        folds = self.blueprint.rows(node)[self._kinds(node).index(Kind.FOLD)]
        folded = float(np.average(folds[sure], weights=mass[sure]))
        return [
            Finding(
                "river: hands that hardly ever lose call",
                folded <= 5 * _MOST_FOLDED,
                f"folded {folded:.2%} after {self._line(node)}",
                "hands that never come to this line are played at random: harmless if they are few, "
                "otherwise train longer",
            )
        ]

    def strong_hands_bet(self) -> list[Finding]:
        """The stronger half of river hands bets more than the middle does."""
        node = self._likeliest(3, facing_bet=False)
        if node is None:
            return []
        kinds = self._kinds(node)
        bets = self.blueprint.rows(node)[[k == Kind.RAISE for k in kinds]].sum(axis=0)
        mass, equity = self._weights(node), self._columns(3)[1]
        order = np.argsort(equity, kind="stable")
        below = np.cumsum(mass[order]) / mass.sum()
        top, middle = order[below > 0.85], order[(below > 0.35) & (below <= 0.7)]
        if not mass[top].sum() or not mass[middle].sum():
            return []
        strong = float(np.average(bets[top], weights=mass[top]))
        medium = float(np.average(bets[middle], weights=mass[middle]))
        return [
            Finding(
                "river: strong hands bet more than middling ones",
                strong >= medium,
                f"{strong:.1%} against {medium:.1%} after {self._line(node)}",
                "values of showdowns may be turned round, or the line is trained too briefly",
            )
        ]

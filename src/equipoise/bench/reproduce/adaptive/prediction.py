"""Predicting real players, by the protocol of docs/adaptive.md: every model of the adaptive agent, held out.

The hands of a log in order: models are fitted to a stretch of them and measured on another, by default the
first five sixths and the rest, in nats a decision, ln P of the action taken. Sizes of raises are measured as
densities of ln(raise / pot after the call) and as ten classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import SIZE_CLASSES, Decisions
from equipoise.agents.adaptive.features import FEATURES, extended
from equipoise.agents.adaptive.fitting import (
    fit_actions,
    fit_lengths,
    fit_sizes,
    grouped,
    length_logs,
)
from equipoise.agents.adaptive.memory import running_residuals
from equipoise.agents.adaptive.model import PARTS, ActionModel, cell_rows, shipped
from equipoise.agents.adaptive.sizes import class_chances
from equipoise.agents.adaptive.softmax import log_probabilities
from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError
from equipoise.run import Event, Listener

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: A stretch of a log: its first and its last hand, numbered from 1.
Stretch = tuple[int, int]

#: Share of the hands that models are fitted to, if nobody says which.
FITTED = 5 / 6


def stretches(hands: int, fit: Stretch | None, test: Stretch | None) -> tuple[Stretch, Stretch]:
    """Which hands of a log are fitted to, and which are held out.

    >>> stretches(30_000, None, None)
    ((1, 25000), (25001, 30000))
    """
    if (fit is None) != (test is None):
        raise EquipoiseError("--fit and --test: give both, or neither")
    if fit is None or test is None:
        last = round(FITTED * hands)
        fit, test = (1, last), (last + 1, hands)
    for name, (first, last) in (("--fit", fit), ("--test", test)):
        if not 1 <= first <= last <= hands:
            raise EquipoiseError(f"{name} {first}-{last}: the log holds hands 1 to {hands:,}")
    if fit[0] <= test[1] and test[0] <= fit[1]:
        raise EquipoiseError("--fit and --test share hands: hold out others than are fitted to")
    return fit, test


class Study:
    """One log, of which a stretch is fitted to and another held out."""

    def __init__(
        self,
        decisions: Decisions,
        fit: Stretch | None = None,
        test: Stretch | None = None,
        progress: Listener | None = None,
    ) -> None:
        decisions = decisions.where(decisions.known)
        if not len(decisions):
            raise EquipoiseError("no decision with known cards: give a log that shows hole cards")
        self.stretches = stretches(int(decisions.hand.max()) + 1, fit, test)
        number = decisions.hand + 1
        self.early, late = ((number >= a) & (number <= b) for a, b in self.stretches)
        if not self.early.any() or not late.any():
            raise EquipoiseError("too few hands: give some hundred")
        self.decisions, self.late, self.progress = decisions, late, progress
        self.fitted, self.held = decisions.where(self.early), decisions.where(late)
        # Who is a group of his own follows from the hands that are fitted to.
        self.groups, _ = grouped(self.fitted)
        own = {name: number for number, name in enumerate(self.groups) if number}
        self.group = np.array([own.get(name, 0) for name in decisions.players])[decisions.player]
        self.fit_group, self.held_group = self.group[self.early], self.group[late]
        self.kept: dict[str, Floats] = {}

    def row(self, name: str, logs: Floats) -> dict[str, Any]:
        """Means over the held-out decisions, by street and by actor."""
        held, taken = self.held, logs
        if logs.ndim == 2:
            taken = logs[np.arange(len(held)), held.kind]
        found: dict[str, Any] = {"model": name, "all": float(taken.mean())}
        for number, street in enumerate(STREETS):
            part = taken[held.street == number]
            found[street] = float(part.mean()) if len(part) else None
        for label, which in (("own_groups", self.held_group > 0), ("field", self.held_group == 0)):
            found[label] = float(taken[which].mean()) if which.any() else None
        return found

    def models(self, quick: bool, seed: int) -> list[dict[str, Any]]:
        """Every model of actions."""
        held, rows = self.held, []
        rows.append(self.row("street × facing", self._counted(self._key(False))))
        rows.append(self.row("buckets", self._counted(self._key(True))))
        plans = [("document's φ, maximum likelihood", "seed", "newton")]
        if not quick:
            plans += [
                ("document's φ, literal ∂P", "seed", "literal"),
                ("document's φ, ∂ln P", "seed", "ascent"),
            ]
        plans += [
            ("odds, ln pot, equity", "odds", "newton"),
            ("and who raised, seat, player", "context", "newton"),
            ("full", "full", "newton"),
        ]
        if not quick:
            plans.append(("full and payoffs", "payoff", "newton"))
        for number, (name, features, estimator) in enumerate(plans):
            model = fit_actions(
                self.fitted, self.fit_group, FEATURES[features], None, estimator, seed
            )
            self.kept[name] = model.logs(held, self.held_group)
            rows.append(self.row(name, self.kept[name]))
            if self.progress is not None:
                self.progress(Event(number + 1, len(plans) + 1))
        cardless = fit_actions(self.fitted, self.fit_group, FEATURES["cardless"])
        rows.append(self.row("without cards", cardless.logs(held, self.held_group)))
        self.kept["adaptive"] = self._adaptive(cardless)
        rows.append(self.row("full, and the player's residuals", self.kept["adaptive"]))
        rows.append(self.row("the model that ships, nothing fitted", self._shipped()))
        if not quick and (logs := boosted(self, seed)) is not None:
            rows.append(self.row("boosted trees (scikit-learn)", logs))
        return rows

    def _shipped(self) -> Floats:
        """The model that ships, with residuals of its own."""
        model = shipped()
        group = model.groups_of(self.decisions)
        expected = np.exp(model.cardless.logs(self.decisions, group))
        residuals = running_residuals(self.decisions, expected)
        return model.actions.logs(self.held, group[self.late], residuals[self.late])

    def _adaptive(self, cardless: ActionModel) -> Floats:
        expected = np.exp(cardless.logs(self.decisions, self.group))
        residuals = running_residuals(self.decisions, expected)
        model = fit_actions(self.fitted, self.fit_group, FEATURES["full"], residuals[self.early])
        return model.logs(self.held, self.held_group, residuals[self.late])

    def _key(self, cards: bool) -> Rows:
        """Number of the bucket of every decision: street × facing, and fifths of equity × odds."""
        d = self.decisions
        key = 2 * d.street + d.facing
        if not cards:
            return key
        fifth = np.zeros(len(d), dtype=np.int64)
        for street in range(4):
            here = d.street == street
            if (here & self.early).any():
                cuts = np.quantile(d.private[here & self.early, 0], (0.2, 0.4, 0.6, 0.8))
                fifth[here] = np.searchsorted(cuts, d.private[here, 0], side="right")
        price = np.where(d.facing, np.searchsorted((0.2, 0.3), d.facts[:, 0], side="right"), 0)
        return np.asarray((key * 5 + fifth) * 3 + price)

    def _counted(self, key: Rows) -> Floats:
        """ln P by counts with one added for each legal class."""
        d = self.decisions
        counts = np.zeros((int(key.max()) + 1, 3))
        np.add.at(counts, (key[self.early], d.kind[self.early]), 1)
        legal = np.stack([d.facing, np.ones(len(d), dtype=bool), d.can_raise], axis=1)
        chances = np.where(legal, counts[key] + 1, 0)
        chances /= chances.sum(axis=1, keepdims=True)
        return np.log(np.maximum(chances[self.late], 1e-300))

    def raises(self) -> dict[str, Any]:
        """Sizes as densities and as classes."""
        early, late = self.fitted.kind == 2, self.held.kind == 2
        fitted, held = self.fitted.where(early), self.held.where(late)
        own, others = self.fit_group[early], self.held_group[late]
        lengths = fit_lengths(fitted, own)
        density = length_logs(held, others, lengths, PARTS["lognormal"])
        sizes = fit_sizes(fitted, own)
        classes, integrated, cut = (np.empty(len(held)) for _ in range(3))
        facts = extended(held.facts, held.street, others)
        for key, rows in cell_rows(PARTS["sizes"], held, others):
            cell, taken = sizes[key], held.size_class[rows]
            design = cell.scale.design(facts[rows], held.private[rows])
            open_ = np.ones((len(rows), SIZE_CLASSES), dtype=bool)
            classes[rows] = log_probabilities(design, cell.theta, open_)[
                np.arange(len(rows)), taken
            ]
            sigma, _, _, all_in = lengths[key].shape
            mean = lengths[key].mean(facts[rows], held.private[rows])
            for row, mu, which in zip(rows.tolist(), mean.tolist(), taken.tolist(), strict=True):
                integrated[row] = np.log(max(class_chances(mu, sigma)[which], 1e-12))
                cut[row] = np.log(max(class_chances(mu, sigma, all_in)[which], 1e-12))
        counts = np.bincount(fitted.size_class, minlength=SIZE_CLASSES) + 1.0
        return {
            "raises": len(held),
            "raise_density": float(density.mean()),
            "raise_classes": float(classes.mean()),
            "raise_classes_constant": float(np.log(counts / counts.sum())[held.size_class].mean()),
            "raise_classes_by_log_normal": float(integrated.mean()),
            "raise_classes_by_log_normal_and_atom": float(cut.mean()),
        }

    def calibration(self) -> dict[str, list[dict[str, float]]]:
        """Chance of a fold that is told, by tenths, and how often it came."""
        facing, found = self.held.facing, {}
        for name in ("full", "adaptive"):
            told = np.exp(self.kept[name][facing, 0])
            came = self.held.kind[facing] == 0
            part = np.minimum((told * 10).astype(int), 9)
            found[name] = [
                {"told": float(told[part == k].mean()), "came": float(came[part == k].mean()),
                 "decisions": int((part == k).sum())}
                for k in range(10) if (part == k).any()
            ]  # fmt: skip
        return found


#: Rounds of boosting, leaves of a tree, and what each tree counts for.
_ROUNDS, _LEAVES, _RATE = 300, 31, 0.06


def boosted(study: Study, seed: int) -> Floats | None:
    """ln P by boosted trees over the same facts, one model facing a bet and one where there is none.

    They are a peer that others fit, not ours: without scikit-learn there is no such row.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        return None
    fitted, held = study.fitted, study.held
    told = [
        np.concatenate([part.facts, part.private, part.street[:, None], group[:, None]], axis=1)
        for part, group in ((fitted, study.fit_group), (held, study.held_group))
    ]
    found = np.full((len(held), 3), -np.inf)
    for facing in (True, False):
        early, late = fitted.facing == facing, held.facing == facing
        trees = HistGradientBoostingClassifier(
            learning_rate=_RATE, max_iter=_ROUNDS, max_leaf_nodes=_LEAVES, min_samples_leaf=50,
            l2_regularization=1.0, early_stopping=False, random_state=seed,
        )  # fmt: skip
        trees.fit(told[0][early], fitted.kind[early])
        chances = np.zeros((int(late.sum()), 3))
        chances[:, trees.classes_] = trees.predict_proba(told[1][late])
        chances[~held.can_raise[late], 2] = 0
        chances /= chances.sum(axis=1, keepdims=True)
        found[late] = np.log(np.maximum(chances, 1e-300))
    return found

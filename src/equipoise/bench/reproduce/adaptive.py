"""Predicting real players, by the protocol of docs/adaptive.md: every model of the adaptive agent, held out.

The hands of a log in order: models are fitted to the first five sixths and measured on the rest, in nats a
decision, ln P of the action taken. Sizes of raises are measured as densities of ln(raise / pot after the
call) and as ten classes. The document's failure is shown with its φ and its payoff, and with the right ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import SIZE_CLASSES, Decisions
from equipoise.agents.adaptive.expectimax import payoff
from equipoise.agents.adaptive.features import FEATURES, extended
from equipoise.agents.adaptive.fitting import (
    fit_actions,
    fit_lengths,
    fit_sizes,
    grouped,
    length_logs,
)
from equipoise.agents.adaptive.memory import running_residuals
from equipoise.agents.adaptive.model import PARTS, ActionModel, cell_rows
from equipoise.agents.adaptive.situation import hands_on, situation
from equipoise.agents.adaptive.sizes import class_chances
from equipoise.agents.adaptive.softmax import log_probabilities
from equipoise.arena.histories.played import read_decisions
from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError
from equipoise.games.rules import NOLIMIT_HOLDEM, State, raise_to
from equipoise.run import Event, Listener

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Share of the hands that models are fitted to.
FITTED = 5 / 6
#: Points of the curves by winning probability, and the width of their kernel.
POINTS, WIDTH = 41, 0.03


def run(
    seed: int = 0,
    quick: bool = False,
    progress: Listener | None = None,
    log: list[Path] | None = None,
) -> dict[str, Any]:
    """All models on a log; with `quick` without the document's slow estimators."""
    if not log:
        raise EquipoiseError("reproduce adaptive: give --log FILE, a log with all hole cards known")
    decisions = read_decisions(log)
    decisions = decisions.where(decisions.known)
    if not len(decisions):
        raise EquipoiseError("no decision with known cards: give a log that shows hole cards")
    _, group = grouped(decisions)
    early = decisions.hand < round(FITTED * (int(decisions.hand.max()) + 1))
    if not early.any() or early.all():
        raise EquipoiseError("too few hands: give some hundred")
    study = _Study(decisions, group, early, progress)
    models = study.models(quick, seed)
    return {
        "experiment": "adaptive",
        "fitted_decisions": int(early.sum()),
        "held_out_decisions": int((~early).sum()),
        "models": models,
        **study.raises(),
        "calibration": study.calibration(),
        "first_bets": study.first_bets(),
        "failure": study.failure(),
    }


class _Study:
    """One log, cut in two."""

    def __init__(
        self, decisions: Decisions, group: Rows, early: NDArray[np.bool_], progress: Listener | None
    ) -> None:
        self.decisions, self.group, self.early, self.progress = decisions, group, early, progress
        self.fitted, self.held = decisions.where(early), decisions.where(~early)
        self.fit_group, self.held_group = group[early], group[~early]
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
        rows.append(self.row("street × facing", self._counted([self._key(False)])))
        rows.append(self.row("buckets", self._counted([self._key(True)])))
        plans = [("seed's φ, maximum likelihood", "seed", "newton")]
        if not quick:
            plans += [
                ("seed's φ, literal ∂P", "seed", "literal"),
                ("seed's φ, ∂ln P", "seed", "ascent"),
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
        return rows

    def _adaptive(self, cardless: ActionModel) -> Floats:
        expected = np.exp(cardless.logs(self.decisions, self.group))
        residuals = running_residuals(self.decisions, expected)
        model = fit_actions(self.fitted, self.fit_group, FEATURES["full"], residuals[self.early])
        return model.logs(self.held, self.held_group, residuals[~self.early])

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

    def _counted(self, keys: list[Rows]) -> Floats:
        """ln P by counts with one added for each legal class."""
        (key,) = keys
        d = self.decisions
        counts = np.zeros((int(key.max()) + 1, 3))
        np.add.at(counts, (key[self.early], d.kind[self.early]), 1)
        legal = np.stack([d.facing, np.ones(len(d), dtype=bool), d.can_raise], axis=1)
        chances = np.where(legal, counts[key] + 1, 0)
        chances /= chances.sum(axis=1, keepdims=True)
        return np.log(np.maximum(chances[~self.early], 1e-300))

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

    def first_bets(self) -> dict[str, dict[str, list[float]]]:
        """Figures 1 and 2 of the document: fold, call, raise and size by winning probability."""
        d = self.decisions
        first = (d.street == 0) & d.facing & (d.facts[:, 2] == 0)
        found = {}
        for label, which in (("own_groups", self.group > 0), ("field", self.group == 0)):
            rows = first & which
            if not rows.any():
                continue
            p = d.private[rows, 0]
            grid = np.linspace(p.min(), p.max(), POINTS)
            weight = np.exp(-0.5 * ((grid[:, None] - p) / WIDTH) ** 2)
            curves: dict[str, list[float]] = {"win": grid.tolist()}
            for kind, name in enumerate(("fold", "call", "raise")):
                chosen = d.kind[rows] == kind
                curves[name] = (weight @ chosen / weight.sum(axis=1)).tolist()
            raised = d.kind[rows] == 2
            size = np.exp(np.where(raised, d.log_size[rows], 0.0)) * 200 + 100
            mass = weight @ raised
            curves["raise_to"] = (weight @ (size * raised) / np.maximum(mass, 1e-9)).tolist()
            curves["sizes"] = (
                np.sort(size[raised]).round().tolist()[:: max(1, int(raised.sum()) // 2000)]
            )
            found[label] = curves
        return found

    def failure(self) -> dict[str, Any]:
        """The raise that each payoff thinks best with a hand that wins a little more than half."""
        before = self.fitted.street == 0
        hands, start = hands_on(()), State.start(NOLIMIT_HOLDEM)
        equity = 0.55
        seed = fit_actions(self.fitted.where(before), self.fit_group[before], FEATURES["seed"])
        full = fit_actions(self.fitted, self.fit_group, FEATURES["full"])
        told: dict[str, Any] = {"win": equity}
        for name, model, literal in (
            ("seed_literal", seed, True), ("seed_right", seed, False), ("full_right", full, False),
        ):  # fmt: skip
            values, folds = {}, {}
            for amount in (*range(200, 4001, 100), *range(5000, 20001, 1000)):
                chances = model.chances(situation(start.apply(raise_to(amount))), 0, hands, {})
                fold = float(chances[:, 0].mean())
                win = equity
                if not literal:
                    # Who calls is stronger: shift by how much better callers are than all hands.
                    stay = 1 - chances[:, 0]
                    win = equity - float(stay @ hands[:, 0] / max(stay.sum(), 1e-9)) + 0.5
                values[amount] = payoff(200, amount - 100, fold, win, literal=literal)
                folds[amount] = fold
            best = max(values, key=lambda amount: values[amount])
            told[name] = {"raise_to": best, "fold_at_3000": folds[3000], "fold_at_20000": folds[20000],
                          "value_chips": values[best]}  # fmt: skip
        return told

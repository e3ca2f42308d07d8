"""The document's failure: a bot that raises recklessly with every hand that wins more than half.

Its raise is the one of greatest payoff (:func:`equipoise.agents.adaptive.expectimax.payoff`) when it bets
first and a call makes the pot 200. Two slips make it: the payoff counts the own raise as won, and φ, fitted
before the flop to small pots, tells nothing of large ones. Here the best raise of each of the 169 hands is
found three times: by the document's φ and its literal payoff; by its φ and the right payoff, with the winning
chance given a call; by the full φ and the right payoff.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import Decisions
from equipoise.agents.adaptive.expectimax import payoff
from equipoise.agents.adaptive.features import FEATURES
from equipoise.agents.adaptive.fitting import fit_actions
from equipoise.agents.adaptive.model import FIELD, ActionModel
from equipoise.agents.adaptive.situation import hands_on, situation
from equipoise.cards.combos import COMBO_CARDS, blocked, class_of, class_text
from equipoise.games.checkdown import CheckDown
from equipoise.games.rules import NOLIMIT_HOLDEM, State, raise_to

Floats = NDArray[np.float64]

#: Raises that are tried.
AMOUNTS = (*range(200, 4001, 100), *range(5000, 20001, 1000))
#: φ and payoff.
WAYS = {
    "seed_literal": ("seed", True),
    "seed_right": ("seed", False),
    "full_right": ("full", False),
}
#: The pot once the first bet is called, and what that call makes of a stake.
POT, CALLED = 200, 100
#: A raise from which on it is called reckless: the document's own figure.
RECKLESS = 3000


def fitted_models(fitted: Decisions, group: NDArray[np.int64]) -> dict[str, ActionModel]:
    """The document's φ, fitted as it was before the flop only, and the full one."""
    before = fitted.street == 0
    return {
        "seed": fit_actions(fitted.where(before), group[before], FEATURES["seed"]),
        "full": fit_actions(fitted, group, FEATURES["full"]),
    }


def failure(models: Mapping[str, ActionModel]) -> dict[str, Any]:
    """Best raises of all hands that would rather raise than call, and folds that each φ expects."""
    folds = {name: _folds(model) for name, model in models.items()}
    hands = [_Hand(number) for number in _classes()]
    told: dict[str, Any] = {"amounts": list(AMOUNTS)}
    for way, (name, literal) in WAYS.items():
        raises = [hand.best(folds[name], literal) for hand in hands]
        good = [to for hand, to in zip(hands, raises, strict=True) if hand.win > 0.5 and to]
        told[way] = {
            "hands": [{"hand": hand.name, "win": hand.win, "raise_to": to}
                      for hand, to in zip(hands, raises, strict=True)],
            "good_hands_that_raise": len(good),
            "median_raise_to": float(np.median(good)) if good else 0.0,
            "reckless_share": sum(to >= RECKLESS for to in good) / max(1, len(good)),
            "fold_at_3000": float(folds[name][AMOUNTS.index(RECKLESS)].mean()),
            "fold_at_20000": float(folds[name][-1].mean()),
            "folds": folds[name].mean(axis=1).tolist(),
        }  # fmt: skip
    return told


def _folds(model: ActionModel) -> Floats:
    """Chance of a fold of every hand of one of the field to each raise: [raise, hand]."""
    start, hands = State.start(NOLIMIT_HOLDEM), hands_on(())
    return np.stack([
        model.chances(situation(start.apply(raise_to(to))), FIELD, hands, {})[:, 0] for to in AMOUNTS
    ])  # fmt: skip


def _classes() -> list[int]:
    """One hand of each of the 169 classes."""
    classes = [class_of(int(first), int(second)) for first, second in COMBO_CARDS]
    return [int(number) for number in np.unique(classes, return_index=True)[1]]


class _Hand:
    """A hand before the flop against any other."""

    def __init__(self, number: int) -> None:
        first, second = COMBO_CARDS[number].tolist()
        self.name = class_text(class_of(first, second))
        apart = ~blocked((first, second))
        self._p = apart / apart.sum()
        self._win = (1 - CheckDown(NOLIMIT_HOLDEM).against_hand(number, ()).margin) / 2
        self.win = float(self._p @ self._win)

    def best(self, folds: Floats, literal: bool) -> int:
        """The raise of greatest payoff; 0 if a call is better than any."""
        values = []
        for to, fold in zip(AMOUNTS, folds, strict=True):
            stays = self._p * (1 - fold)
            win = self.win if literal else float(stays @ self._win / max(stays.sum(), 1e-12))
            told = float(self._p @ fold)
            values.append(payoff(POT, to - CALLED, told, win, literal=literal))
        best = int(np.argmax(values))
        return AMOUNTS[best] if values[best] > self.win * POT else 0

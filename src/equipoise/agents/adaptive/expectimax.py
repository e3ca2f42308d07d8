"""The decision: expectimax over the betting of this street, at most d raises of the opponent deep.

Values are chips of the whole hand. With ω(y) how likely the opponent holds y and has come so far, and m(y)
the agent's wins less losses against y over all run-outs,

    somebody folded    ± what the folder put in
    the street is over  Σ ω m · (what the smaller stack put in), as if both checked down from here
    the agent acts      the best of fold, call and raises
    the opponent acts   Σ_a V(ω · P(a | y), after a): a mixture over hands, never the softmax at their mean

so that who calls a raise is as strong as those who call are. After d raises of his the rest is renormalised.
Sizes are tried on a grid of pots and the best is refined by golden section. Replies of the agent to a raise
of his are fold, call and all-in.

The document's payoff of a raise by r, with f the chance of a fold, p its own winning chance and P the pot
after a call, is f·P + (1 − f)·[p (P + 2r) − (1 − p) r]: it counts the agent's own raise as won, and
takes the chance before the call. Right is p (P + r) in the bracket, with p given the call; the two differ by
(1 − f)·p·r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.beliefs import Beliefs
from equipoise.agents.adaptive.decisions import ALL_IN, SIZE_BORDERS
from equipoise.agents.adaptive.opponent import Opponent
from equipoise.agents.adaptive.situation import situation
from equipoise.cards.combos import COMBO_COUNT
from equipoise.games.rules import CALL, FOLD, Action, State, raise_to

Floats = NDArray[np.float64]

#: Raises that are tried, in pots after the call.
GRID = (0.33, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0)
#: Steps of golden section between the neighbours of the best size of the grid.
GOLDEN_STEPS = 2
_GOLDEN = (5**0.5 - 1) / 2
#: A raise of the opponent in each class, in pots.
_TYPICAL = (0.25, 0.35, 0.5, 0.66, 0.75, 1.0, 1.5, 2.0, 3.0)
#: Classes less likely than this are not looked at.
_RARE = 0.1

assert len(_TYPICAL) == len(SIZE_BORDERS) + 1


def payoff(pot: float, by: float, fold: float, win: float, *, literal: bool = False) -> float:
    """Payoff of a raise `by` over a call that makes the pot `pot`, net of what the call put in.

    `win` is the chance to win given a call; literally, as in the document, it is the chance before it.

    >>> payoff(200, 300, 0.3, 0.55, literal=True), payoff(200, 300, 0.3, 0.55)
    (273.5, 158.0)
    """
    called = win * (pot + (2 * by if literal else by)) - (1 - win) * by
    return round(fold * pot + (1 - fold) * called, 9)


def golden_section(
    function: Callable[[float], float], low: float, high: float, steps: int
) -> float:
    """Where a function with one peak between `low` and `high` is greatest.

    >>> round(golden_section(lambda x: -(x - 2) ** 2, 0, 5, 30), 4)
    2.0
    """
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
    return left if at_left > at_right else right


@dataclass(frozen=True)
class Choice:
    """An action and what it is thought to be worth, in chips of the whole hand."""

    action: Action
    value: float


class Expectimax:
    """Values of the agent's actions in one state of a hand."""

    def __init__(
        self,
        beliefs: Beliefs,
        opponent: Opponent,
        position: int,
        depth: int = 1,
        payoffs: Literal["right", "literal"] = "right",
    ) -> None:
        self._beliefs, self._opponent = beliefs, opponent
        self._me, self._depth = position, depth
        self._literal = payoffs == "literal"
        # Hands that hardly ever are held cost as much as others: they are left out.
        p = beliefs.p
        self._rows = np.flatnonzero(p > 1e-7)
        self._weights = p[self._rows]
        self._margin = 2 * beliefs.win_given_pair[self._rows] - 1

    def best(self, state: State) -> Choice:
        """The action of greatest value; of equal ones the cheaper."""
        found = self.choices(state)
        return max(found, key=lambda one: one.value)

    def choices(self, state: State) -> list[Choice]:
        """Fold, call, and raises of the grid, the best of them refined."""
        legal, weights = state.legal(), self._weights
        found = []
        if legal.fold:
            found.append(Choice(FOLD, self._after(state, FOLD, weights, self._depth)))
        found.append(Choice(CALL, self._after(state, CALL, weights, self._depth)))
        if not legal.raise_min:
            return found
        amounts = sorted(
            {legal.raise_min, *(_sized(state, share) for share in GRID), legal.raise_max}
        )
        tried = {amount: self._raise(state, amount) for amount in amounts}
        best = max(amounts, key=lambda amount: tried[amount])
        place = amounts.index(best)
        low, high = amounts[max(place - 1, 0)], amounts[min(place + 1, len(amounts) - 1)]
        if high - low > 2:

            def value(length: float) -> float:
                amount = min(max(round(exp(length)), low), high)
                if amount not in tried:
                    tried[amount] = self._raise(state, amount)
                return tried[amount]

            golden_section(value, log(low), log(high), GOLDEN_STEPS)
        found += [Choice(raise_to(amount), tried[amount]) for amount in sorted(tried)]
        return found

    def _raise(self, state: State, amount: int) -> float:
        if self._literal:
            return self._literal_raise(state, amount)
        return self._after(state, raise_to(amount), self._weights, self._depth)

    def _literal_raise(self, state: State, amount: int) -> float:
        """The document's payoff heuristic, from the same starting point as the other values."""
        after = state.apply(raise_to(amount))
        fold = float(self._weights @ self._beliefs.responses(after)[self._rows, 0])
        win = float(self._weights @ (1 + self._margin) / 2)
        called = max(state.committed)
        return payoff(2 * called, amount - called, fold, win, literal=True) - called

    def _after(self, state: State, action: Action, weights: Floats, depth: int) -> float:
        """Value once the agent or the opponent has acted; `weights` are of those who come so far."""
        after = state.apply(action)
        if after.folded is not None:
            lost = -min(after.committed) if after.folded == self._me else min(after.committed)
            return float(weights.sum()) * (lost + self._half_dead(after, after.folded))
        if after.to_act is None or after.round > state.round:
            stake = min(after.committed) + after.rules.dead / 2
            return float(weights @ self._margin) * stake
        if after.to_act == self._me:
            return self._reply(after, weights, depth)
        return self._answers(after, weights, depth)

    def _half_dead(self, state: State, folded: int) -> float:
        half = state.rules.dead / 2
        return -half if folded == self._me else half

    def _reply(self, state: State, weights: Floats, depth: int) -> float:
        """The agent's best reply within the tree: fold, call, all-in."""
        legal = state.legal()
        value = self._after(state, CALL, weights, depth)
        if legal.fold:
            value = max(value, self._after(state, FOLD, weights, depth))
        if legal.raise_min and depth > 0:
            value = max(value, self._after(state, raise_to(legal.raise_max), weights, depth))
        return value

    def _answers(self, state: State, weights: Floats, depth: int) -> float:
        """What the opponent may do, hand by hand."""
        chances = self._beliefs.responses(state)[self._rows]
        legal = state.legal()
        if depth == 0 or not legal.raise_min:
            chances[:, 2] = 0
            chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1e-12)
        value = self._after(state, CALL, weights * chances[:, 1], depth)
        if legal.fold:
            value += self._after(state, FOLD, weights * chances[:, 0], depth)
        raisers = weights * chances[:, 2]
        mass = float(raisers.sum())
        if mass > 1e-9 * float(weights.sum()):
            for amount, share in self._sizes(state, raisers / mass):
                value += self._after(state, raise_to(amount), raisers * share, depth - 1)
        return value

    def _sizes(self, state: State, raisers: Floats) -> list[tuple[int, float]]:
        """A few amounts that the opponent may raise to, and how likely each is."""
        found = situation(state)
        weights = np.zeros(COMBO_COUNT)
        weights[self._rows] = raisers
        chances = self._opponent.size_mix(found, self._beliefs.board, weights)
        chances[chances < min(_RARE, chances.max())] = 0
        chances /= chances.sum()
        most = state.legal().raise_max
        amounts: dict[int, float] = {}
        for number in np.flatnonzero(chances).tolist():
            amount = most if number == ALL_IN else _sized(state, _TYPICAL[number])
            amounts[amount] = amounts.get(amount, 0.0) + float(chances[number])
        return list(amounts.items())


def _sized(state: State, share: float) -> int:
    """A raise of a share of the pot after a call, within what is legal."""
    legal, called = state.legal(), max(state.committed)
    pot = 2 * called + state.rules.dead
    return min(max(called + round(share * pot), legal.raise_min), legal.raise_max)

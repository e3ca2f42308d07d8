"""Jam or fold at short stacks, as the game that has nothing else is solved.

With few big blinds there is no room for a raise that leaves chips behind: the small blind goes all-in or
folds, and the big blind calls or folds. That game is solved to the end
(:mod:`equipoise.solve.study.shortstacks`), for the table's own stack. Whoever limps or raises less against it
has left it: there its answers end.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import COMBO_CLASS
from equipoise.games.policy import Policy
from equipoise.games.rules import CALL, FOLD, Action, Kind, Rules, State, raise_to
from equipoise.solve.study.shortstacks import jam_charts

#: Big blinds below which hands are jammed or folded.
SHORT = 20


def is_short(rules: Rules) -> bool:
    """Whether stacks are so short that nothing but all-in and fold is played.

    >>> from equipoise.games.rules import nolimit
    >>> is_short(nolimit(1999)), is_short(nolimit(2000))
    (True, False)
    """
    return min(rules.stacks) < SHORT * rules.big_blind


def jam_policy(state: State) -> Policy | None:
    """What every hand plays in jam or fold; None where the betting has left that game."""
    stack = min(state.rules.stacks)
    line = state.history[0]
    if state.round or stack <= state.rules.big_blind:
        return None
    solved = jam_charts(Fraction(stack, state.rules.big_blind))
    if not line:
        return _mixed(FOLD, raise_to(state.legal().raise_max), solved.jam)
    if len(line) == 1 and line[0].kind == Kind.RAISE and line[0].amount >= stack:
        return _mixed(FOLD, CALL, solved.call)
    return None


def _mixed(no: Action, yes: Action, chart: NDArray[np.float64]) -> Policy:
    chance = chart.reshape(-1)[COMBO_CLASS].astype(np.float32)
    return Policy((no, yes), np.stack([1 - chance, chance], axis=1))

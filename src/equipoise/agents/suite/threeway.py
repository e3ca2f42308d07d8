"""Fold, call or raise: what the first family of agents chooses between.

Their strategies give each of the three a probability, whatever the rules allow just now. A fold
with nothing to call is a check, and a raise that is not allowed is a call; the agents are for limit
games, where a raise has one size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.games.policy import Policy
from equipoise.games.rules import CALL, FOLD, Action, Kind, State, raise_to

#: Probabilities of fold, call and raise.
Mix = Sequence[float]


class Move(NamedTuple):
    """One action of a hand, and what its player faced."""

    round: int
    player: int
    kind: Kind
    #: A fold was allowed: there was a bet, or a blind, to call.
    could_fold: bool
    #: A raise was allowed.
    could_raise: bool
    #: The opponent's last action in this round was a bet or a raise.
    facing_bet: bool


def moves(state: State) -> Iterator[Move]:
    """The actions of a hand in order.

    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> played = list(moves(State.from_betting_text(LIMIT_HOLDEM, "cr")))
    >>> [(move.player, move.kind.name, move.could_fold, move.facing_bet) for move in played]
    [(1, 'CALL', True, False), (0, 'RAISE', False, False)]
    """
    at = State.start(state.rules)
    for part in state.history:
        bet = False
        for action in part:
            legal = at.legal()
            assert at.to_act is not None
            yield Move(at.round, at.to_act, action.kind, legal.fold, legal.raise_min > 0, bet)
            bet = action.kind == Kind.RAISE
            at = at.apply(action)


def choose(random: Random, state: State, mix: Mix) -> Action:
    """Draw an action."""
    draw = random.random() * (mix[0] + mix[1] + mix[2])
    legal = state.legal()
    if draw < mix[0]:
        return FOLD if legal.fold else CALL
    if draw >= mix[0] + mix[1] and legal.raise_min:
        return raise_to(legal.raise_min)
    return CALL


def three_way_policy(state: State, mixes: NDArray[np.floating]) -> Policy:
    """The policy of fold, call and raise probabilities for every hand: [1326, 3].

    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> mixes = np.tile([0.5, 0.3, 0.2], (1326, 1))
    >>> after_limp = State.from_betting_text(LIMIT_HOLDEM, "c")
    >>> three_way_policy(after_limp, mixes).probabilities[0].round(2)
    array([0.8, 0.2], dtype=float32)
    """
    legal = state.legal()
    call, actions, columns = mixes[:, 1], [], []
    if legal.fold:
        actions.append(FOLD)
        columns.append(mixes[:, 0])
    else:
        call = call + mixes[:, 0]
    if legal.raise_min:
        raised = mixes[:, 2]
    else:
        call = call + mixes[:, 2]
    actions.append(CALL)
    columns.append(call)
    if legal.raise_min:
        actions.append(raise_to(legal.raise_min))
        columns.append(raised)
    table = np.stack(columns, axis=1)
    return Policy(tuple(actions), (table / table.sum(axis=1, keepdims=True)).astype(np.float32))

"""What everybody sees when somebody is to act, and what every hand would play there."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.games.rules import Action, State


class PublicState(NamedTuple):
    """What everybody sees when somebody is to act."""

    state: State
    board: tuple[int, ...]
    #: Number of the hand in the match, from 0.
    hand: int


class Policy(NamedTuple):
    """A mixed strategy for every hand that could be held."""

    actions: tuple[Action, ...]
    #: [hand, action], hands numbered as in :mod:`equipoise.cards.combos`; rows of hands that a public
    #: card blocks are not read.
    probabilities: NDArray[np.float32]


def same_for_all(state: State, mix: dict[Action, float]) -> Policy:
    """The policy that plays `mix` with every hand: one row for each set of private cards.

    >>> from equipoise.games.rules import CALL, NOLIMIT_HOLDEM
    >>> same_for_all(State.start(NOLIMIT_HOLDEM), {CALL: 1.0}).probabilities.shape
    (1326, 1)
    """
    row = np.fromiter(mix.values(), dtype=np.float32)
    hands = comb(DECK_SIZE, state.rules.hole_cards)
    return Policy(tuple(mix), np.broadcast_to(row, (hands, len(row))))

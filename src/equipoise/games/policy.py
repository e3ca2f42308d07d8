"""What everybody sees when somebody is to act, and what every hand would play there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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

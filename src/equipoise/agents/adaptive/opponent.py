"""One opponent: the model of players, and what was learnt of him, for every hand at once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import size_class
from equipoise.agents.adaptive.memory import Memory, rank_classes
from equipoise.agents.adaptive.model import Cell, PlayerModel
from equipoise.agents.adaptive.situation import Situation, hands_on, situation
from equipoise.agents.temper import ranks
from equipoise.games.rules import Action, Kind, State

Floats = NDArray[np.float64]

#: Ranks at which thirds of strength part, for sizes.
_STRONG = (0.5, 0.85)


class Seen(NamedTuple):
    """An action of the opponent, and what it was taken in."""

    found: Situation
    board: tuple[int, ...]
    kind: int
    #: Class of size of a raise, else -1.
    size: int


class Opponent:
    """How likely each hand of one player is to do what.

    >>> from equipoise.agents.adaptive.model import shipped
    >>> from equipoise.cards.combos import parse_combo
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> player = Opponent(shipped(), "somebody")
    >>> chances = player.chances(situation(State.start(NOLIMIT_HOLDEM)), ())
    >>> aces, trash = chances[parse_combo("AsAh")], chances[parse_combo("7h2c")]
    >>> bool(aces[0] < 0.05 < trash[0]), bool(aces[2] > trash[2])
    (True, True)
    """

    def __init__(self, model: PlayerModel, name: str = "", memory: Memory | None = None) -> None:
        self.model, self.group = model, model.group_of(name)
        #: What was learnt; None is a player of whom nothing will be learnt.
        self.memory = memory
        self._board: tuple[int, ...] | None = None
        self._basis: dict[Cell, Floats] = {}
        self._size_basis: dict[Cell, Floats] = {}

    @property
    def needs_winning_chances(self) -> bool:
        """Whether φ takes what the player believes of his winning, not the equity v any hand."""
        return self.model.actions.features.name == "seed"

    def chances(
        self, found: Situation, board: tuple[int, ...], winning: Floats | None = None
    ) -> Floats:
        """P of fold, call and raise of every hand: float64[1326, 3].

        `winning` are the winning chances that each hand believes to have, for a model that asks.
        """
        hands = self._hands(board)
        basis = self._basis
        if winning is not None and self.needs_winning_chances:
            hands, basis = hands.copy(), {}
            hands[:, 0] = winning
        learnt = self.memory.residuals if self.memory is not None else None
        model = self.model.actions.chances(found, self.group, hands, basis, learnt)
        if self.memory is None:
            return model
        return self.memory.blend(found, model, _rank_classes(board))

    def size_chances(self, found: Situation, board: tuple[int, ...]) -> Floats:
        """P of each class of size of every hand that raises: float64[1326, 10]."""
        hands = self._hands(board)
        model = self.model.size_chances(found, self.group, hands, self._size_basis)
        if self.memory is None:
            return model
        return self.memory.blend_sizes(found, model, strengths_of(board))

    def size_mix(self, found: Situation, board: tuple[int, ...], raisers: Floats) -> Floats:
        """P of each class of size when hands raise with weights `raisers`, taken by thirds of strength."""
        third = strengths_of(board)
        mass = _sums(third, raisers, len(_STRONG) + 1)
        mix = np.zeros((len(mass), len(raisers)))
        mix[third, np.arange(len(raisers))] = raisers
        mix /= np.maximum(mass, 1e-300)[:, None]
        every = self.model.size_chances(
            found, self.group, self._hands(board), self._size_basis, mix
        )
        if self.memory is not None:
            every = self.memory.blend_sizes(found, every, np.arange(len(mass)))
        return np.asarray(mass @ every / mass.sum())

    def likelihood(
        self, state: State, action: Action, board: tuple[int, ...], winning: Floats | None = None
    ) -> Floats:
        """P of an action that was taken, the class of its size included, of every hand."""
        found = situation(state)
        chances = self.chances(found, board, winning)[:, int(action.kind)]
        if action.kind == Kind.RAISE:
            chances = chances * self.size_chances(found, board)[:, size_class(state, action)]
        return chances

    def seen(self, state: State, action: Action, board: tuple[int, ...]) -> Seen:
        """An action, to be learnt from when the hand is over; residuals learn from it at once."""
        found = situation(state)
        size = size_class(state, action) if action.kind == Kind.RAISE else -1
        if self.memory is not None:
            facts = self._hands(board)[:1]
            expected = self.model.cardless.chances(found, self.group, facts, {})[0]
            self.memory.surprise(
                found.street, found.facing, int(action.kind), tuple(expected.tolist())
            )
        return Seen(found, board, int(action.kind), size)

    def learn(self, actions: list[Seen], held: Floats) -> None:
        """Learn from the actions of a hand that is over: `held` says how likely each hand was held."""
        if self.memory is None:
            return
        self.memory.hands += 1
        total = held.sum()
        if not total > 0:
            return
        weight = held / total
        for one in actions:
            share = _sums(_rank_classes(one.board), weight, len(self.memory.coarse[0, 0]))
            self.memory.count(one.found, one.kind, share)
            if one.size >= 0:
                strength = _sums(strengths_of(one.board), weight, len(_STRONG) + 1)
                self.memory.count_size(one.found, one.size, strength)

    def _hands(self, board: tuple[int, ...]) -> Floats:
        if board != self._board:
            self._board, self._basis, self._size_basis = board, {}, {}
        return hands_on(board)


def _sums(classes: NDArray[np.int64], weights: Floats, count: int) -> Floats:
    """Weight of each class."""
    return np.bincount(classes, weights, count).astype(np.float64)


@lru_cache(maxsize=16)
def _rank_classes(board: tuple[int, ...]) -> NDArray[np.int64]:
    return rank_classes(ranks(board))


@lru_cache(maxsize=16)
def strengths_of(board: tuple[int, ...]) -> NDArray[np.int64]:
    """The third of strength of every hand."""
    return np.searchsorted(_STRONG, ranks(board), side="right")

"""Decisions of hands that were played, as columns: what a model of players is fitted to.

A hand comes as its final betting, the hole cards of each position where they are known, the board and
the names of the players, whatever file it was read from. Every fold, check, call, bet and raise is one
decision; a free fold, which people sometimes play, is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.situation import PRIVATE, Situation, hand_on, situation
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import EquipoiseError
from equipoise.games.rules import Action, Kind, Rules, State

Floats = NDArray[np.float64]

#: Borders of the first nine classes of raises, in pots after the call; the tenth class is all-in.
SIZE_BORDERS = (0.29, 0.42, 0.6, 0.7, 0.87, 1.25, 1.75, 2.5)
SIZE_CLASSES = len(SIZE_BORDERS) + 2
ALL_IN = SIZE_CLASSES - 1


class PlayedHand(NamedTuple):
    """A hand that was played, as far as it is known."""

    state: State
    holes: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    board: tuple[int, ...]
    players: tuple[str, str]


def raise_size(state: State, action: Action) -> float:
    """What a raise adds to a call, in pots after the call.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM, raise_to
    >>> raise_size(State.start(NOLIMIT_HOLDEM), raise_to(300))
    1.0
    """
    player = state.to_act
    assert player is not None
    return (action.amount - state.committed[1 - player]) / (state.pot + state.to_call)


def size_class(state: State, action: Action) -> int:
    """The class of a raise: by :data:`SIZE_BORDERS`, or :data:`ALL_IN`."""
    assert state.to_act is not None
    if action.amount >= state.rules.stacks[state.to_act]:
        return ALL_IN
    return int(np.searchsorted(SIZE_BORDERS, raise_size(state, action), side="right"))


def check_game(rules: Rules) -> None:
    """Refuse a game that the model knows nothing of."""
    if (
        rules.limit
        or (rules.suits, rules.ranks, rules.hole_cards) != (4, 13, 2)
        or rules.rounds != 4
    ):
        raise EquipoiseError(
            f"{rules.name}: the model is of no-limit hold'em: give hands of that game"
        )


@dataclass(frozen=True)
class Decisions:
    """Decisions in the order they were taken, one row each."""

    #: Number of the hand, from 0, and of the player, an index into :attr:`players`.
    hand: NDArray[np.int64]
    player: NDArray[np.int64]
    street: NDArray[np.int64]
    facing: NDArray[np.bool_]
    can_raise: NDArray[np.bool_]
    #: Fold 0, check or call 1, bet or raise 2.
    kind: NDArray[np.int64]
    #: Public and private parts (:mod:`.situation`); private parts of unknown cards are NaN.
    facts: Floats
    private: Floats
    #: Of raises: ln of the size in pots after the call, and its class; NaN and -1 otherwise.
    log_size: Floats
    size_class: NDArray[np.int64]
    players: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.hand)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Where the cards are known."""
        return ~np.isnan(self.private[:, 0])

    def where(self, rows: NDArray[np.bool_]) -> Decisions:
        """Some of the rows."""
        parts = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return Decisions(**parts, players=self.players)

    @classmethod
    def of(cls, hands: Iterable[PlayedHand]) -> Decisions:
        """The decisions of hands, in order."""
        rows: list[tuple[object, ...]] = []
        facts: list[tuple[float, ...]] = []
        private: list[Floats] = []
        numbers: dict[str, int] = {}
        unknown = np.full(len(PRIVATE), np.nan)
        for number, hand in enumerate(hands):
            check_game(hand.state.rules)
            parts: dict[tuple[int, int], Floats] = {}
            for state, action in steps(hand.state):
                assert state.to_act is not None
                found: Situation = situation(state)
                if action.kind == Kind.FOLD and not found.facing:
                    break
                player, hole = state.to_act, hand.holes[state.to_act]
                size = raise_size(state, action) if action.kind == Kind.RAISE else 0.0
                rows.append((
                    number, numbers.setdefault(hand.players[player], len(numbers)), found.street,
                    found.facing, found.can_raise, int(action.kind), log(size) if size > 0 else np.nan,
                    size_class(state, action) if size > 0 else -1,
                ))  # fmt: skip
                facts.append(found.facts)
                seat = (player, found.street)
                if seat not in parts:
                    board = hand.board[: BOARD_SIZES[found.street]]
                    parts[seat] = unknown if hole is None else hand_on(hole, board)
                private.append(parts[seat])
        if not rows:
            raise EquipoiseError(
                "no decision to learn from: give logs of no-limit hands that were played"
            )
        columns: list[NDArray[Any]] = [np.array(column) for column in zip(*rows, strict=True)]
        told = dict(zip(_TAKEN, columns, strict=True))
        both = np.array(facts), np.array(private)
        return cls(**told, facts=both[0], private=both[1], players=tuple(numbers))


_TAKEN = (
    "hand",
    "player",
    "street",
    "facing",
    "can_raise",
    "kind",
    "log_size",
    "size_class",
)
_COLUMNS = (*_TAKEN, "facts", "private")


def steps(state: State) -> Iterable[tuple[State, Action]]:
    """Every action of a hand with the state in which it was taken.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> [str(a) for _, a in steps(State.from_betting_text(NOLIMIT_HOLDEM, "cr300f"))]
    ['c', 'r300', 'f']
    """
    at = State.start(state.rules)
    for part in state.history:
        for action in part:
            yield at, action
            at = at.replay(action)

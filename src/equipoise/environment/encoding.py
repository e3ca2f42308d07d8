"""What a player sees, as a vector of numbers.

In order, for a game with a deck of D cards, R rounds and H places a round for actions:

    D              his own cards: 1 for each that he holds, lowest card first
    D              the public cards
    R              the round, as a 1 in its place
    1              where he sits: 0 or 1, as in the rules (in hold'em 1 is the button)
    6              chips: his in the hand, the opponent's, to call, the pot's half, the least and the
                   most that he may raise to; 0 for the last three where it is not his turn
    R × H × 3      the actions of each round in order: 1 if a check or call, 1 if a bet or raise, and
                   the raise-to total

All chips are shares of the most that a player can put in, so every number lies between 0 and 1. Limit
games have a place for every action; no-limit games have eight a round, and what comes after the eighth
is written over it (the chips above still say where the betting stands). Nothing here depends on what
the opponent holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.games.dealing import deck_of
from equipoise.games.hand import Hand
from equipoise.games.rules import UNLIMITED, Action, Kind, Rules, State

Vector = NDArray[np.float32]

#: Places for the actions of a round where the rules do not bound them.
_PLACES = 8
_CHIPS, _TOLD = 6, 3


class Encoding:
    """The vectors of both players, kept up to date through a hand."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._deck = {card: place for place, card in enumerate(deck_of(rules))}
        caps = [cap for cap in rules.max_raises if cap is not None]
        # Before the last raise is answered both may have checked once.
        self._places = max(caps) + 2 if len(caps) == rules.rounds else _PLACES
        self._board = len(self._deck)
        self._round = self._board + len(self._deck)
        self._seat = self._round + rules.rounds
        self._money = self._seat + 1
        self._past = self._money + _CHIPS
        #: Length of a vector.
        self.size = self._past + rules.rounds * self._places * _TOLD
        self._share = 1 / most_chips(rules)
        self._blank = np.zeros(self.size, dtype=np.float32)
        self.vectors: tuple[Vector, Vector] = (self._blank.copy(), self._blank.copy())

    def begin(self, hand: Hand) -> None:
        """A hand is dealt."""
        for seat, vector in enumerate(self.vectors):
            vector[:] = self._blank
            for card in hand.deal.holes[seat]:
                vector[self._deck[card]] = 1
            vector[self._seat] = seat
            vector[self._round] = 1
        self._see(hand)
        self._count(hand.state)

    def played(self, hand: Hand, before: State, action: Action) -> None:
        """An action was played in `before`."""
        state, kind = hand.state, action.kind
        place = min(len(before.history[-1]), self._places - 1)
        start = self._past + (before.round * self._places + place) * _TOLD
        told = (kind == Kind.CALL, kind == Kind.RAISE, action.amount * self._share)
        for vector in self.vectors:
            vector[start : start + _TOLD] = told
        if state.round != before.round or state.rounds_to_deal:
            for vector in self.vectors:
                vector[self._round + before.round] = 0
                vector[self._round + state.round] = 1
            self._see(hand)
        self._count(state)

    def _see(self, hand: Hand) -> None:
        for card in hand.board:
            place = self._board + self._deck[card]
            for vector in self.vectors:
                vector[place] = 1

    def _count(self, state: State) -> None:
        share, start = self._share, self._money
        first, second = state.committed[0] * share, state.committed[1] * share
        player, half = state.to_act, state.pot * share / 2
        plain = ((first, second, 0.0, half, 0.0, 0.0), (second, first, 0.0, half, 0.0, 0.0))
        for seat, vector in enumerate(self.vectors):
            told = plain[seat]
            if seat == player:
                legal = state.legal()
                told = (*told[:2], state.to_call * share, half,
                        legal.raise_min * share, legal.raise_max * share)  # fmt: skip
            vector[start : start + _CHIPS] = told


def most_chips(rules: Rules) -> int:
    """The most that a player can put into a hand.

    >>> from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM
    >>> most_chips(LIMIT_HOLDEM), most_chips(NOLIMIT_HOLDEM)
    (240, 20000)
    """
    if min(rules.stacks) < UNLIMITED:
        return max(rules.stacks)
    raises = zip(rules.raise_sizes, rules.max_raises, strict=True)
    return max(rules.blinds) + sum(size * (cap or 0) for size, cap in raises)

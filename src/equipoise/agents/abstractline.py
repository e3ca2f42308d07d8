"""Where a real hand stands on a blueprint's betting tree, for one of its players.

The opponent's bets are translated and the player's own are recognised
(:mod:`equipoise.abstraction.bets.offtree`). A bet that could be taken for two sizes is taken for one of
them by a draw that depends on the match seed, the number of the hand and the betting so far, and on
nothing else: whoever asks about a situation, in whatever order, is told the same.

Own bets are carried to the table by their size in pots, so that a wrong idea of the pot is not made
worse, or, *back onto the tree*, by their total in chips, so that after a call both pots are the same.
Several abstract sizes may come to one real bet, where stacks are short: it stands for the largest.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

from equipoise.abstraction.bets.offtree import AbstractTree
from equipoise.abstraction.bets.translation import Mapping
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.rules import Action, Kind, State

History = tuple[tuple[Action, ...], ...]


class Step(NamedTuple):
    """An action of the opponent, as it is understood."""

    #: Decision of the tree, and the child that the action is taken for.
    node: int
    child: int
    round: int


class Standing(NamedTuple):
    """Where a hand stands."""

    #: Node of the tree; one at which nobody decides if the abstract hand is ahead of the real one.
    place: int
    #: What the opponent has done so far.
    opponent: tuple[Step, ...]


def draw(seed: int, hand: int, betting: str) -> float:
    """A number from [0, 1) for one bet of one hand of one match.

    >>> draw(1, 0, "r250") == draw(1, 0, "r250") != draw(1, 1, "r250")
    True
    """
    digest = blake2b(f"{seed} {hand} {betting}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


class AbstractLine:
    """The hands of a match on the abstract tree of one of its players."""

    def __init__(self, betting: Betting, mapping: Mapping, back_onto_tree: bool = False) -> None:
        self.betting = betting
        self.tree = AbstractTree(betting, mapping)
        self.back_onto_tree = back_onto_tree
        self._start = State.start(betting.rules)
        if betting.origin != self._start:
            raise GameError("a real hand is followed from its start: use a tree that begins there")
        self._known: dict[tuple[int, History], Standing] = {}
        self._about = (-1, -1)

    def stand(self, state: State, seed: int, hand: int) -> Standing:
        """Where the player to act stands."""
        if self._about != (seed, hand):
            self._about = (seed, hand)
            self._known.clear()
        me = state.to_act
        assert me is not None
        standing, now = Standing(0, ()), self._start
        for part in state.history:
            for action in part:
                after = now.apply(action)
                key = (me, after.history)
                found = self._known.get(key)
                if found is None:
                    found = self._known[key] = self._step(standing, now, action, me)
                standing, now = found, after
        return standing._replace(place=self.tree.caught_up(standing.place, state.round))

    def off_tree(self, place: int, state: State) -> bool:
        """Whether the real chips are not those that the tree has at a place."""
        return self.betting.states[place].committed != state.committed

    def carried(self, place: int, child: int, state: State) -> Action:
        """The real action for the abstract one from `place` to `child`: always a legal one."""
        action = self.betting.actions[child]
        if self.back_onto_tree and action is not None and action.kind == Kind.RAISE:
            return state.nearest(action)
        return self.tree.carried(place, child, state)

    def _step(self, standing: Standing, state: State, action: Action, me: int) -> Standing:
        place, theirs = self.tree.caught_up(standing.place, state.round), standing.opponent
        if not self.tree.turn(place, state):
            return Standing(place, theirs)
        child = self._same(place, state, action)
        if child is None and state.to_act == me:
            child = self._own(place, state, action)
        if child is None:
            child = self._taken_for(place, state, action)
        if state.to_act != me:
            theirs = (*theirs, Step(place, child, state.round))
        return Standing(child, theirs)

    def _same(self, place: int, state: State, action: Action) -> int | None:
        """The child of the very same action where both pots are the same."""
        if self.off_tree(place, state):
            return None
        for child in self.betting.children(place):
            if self.betting.actions[child] == action:
                return child
        return None

    def _own(self, place: int, state: State, action: Action) -> int | None:
        """The largest abstract action that is carried to one of the player's own."""
        for child in reversed(self.betting.children(place)):
            if self.carried(place, child, state) == action:
                return child
        return None

    def _taken_for(self, place: int, state: State, action: Action) -> int:
        options = self.tree.taken_for(place, state, action)
        if len(options) > 1:
            uniform = draw(*self._about, f"{state.betting_text()}{action}")
            if uniform >= options[0][1]:
                return options[1][0]
        return options[0][0]

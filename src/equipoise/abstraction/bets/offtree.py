"""Following a real hand on an abstract betting tree.

Who knows only the lines of an abstract tree plays a real hand so: each bet of the opponent is taken
for one of the abstract tree (:mod:`equipoise.abstraction.bets.translation`), his own action is chosen
there, and carried back to the real hand by its size in pots. The real pot and the abstract one are
kept apart and may drift apart.

Conventions. A size is (raise to - call to) / (pot after the call), a check or call is size 0. An
all-in is taken for an all-in, and abstract all-ins stand at the size the real one has. A bet taken
for a call may end the abstract round, or the abstract hand, while there is still something to call
in the real one: it is called. From where the abstract hand is over, everything is checked and called.
"""

from __future__ import annotations

from fractions import Fraction

from equipoise.abstraction.bets.translation import Mapping
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.nodes import DEAL
from equipoise.games.rules import CALL, Action, Kind, State, raise_to


def size_in_pots(state: State, action: Action) -> Fraction:
    """Size of a bet or raise in pots, the pot being what it is after a call; a call is 0.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> str(size_in_pots(State.start(NOLIMIT_HOLDEM), raise_to(250)))
    '3/4'
    """
    if action.kind != Kind.RAISE:
        return Fraction(0)
    called, pot = _after_call(state)
    return Fraction(action.amount - called, pot)


class AbstractTree:
    """The lines of an abstract betting tree, and where a real hand stands on them.

    A place is a node of the tree. It may be a node at which nobody decides: the abstract round or
    hand is then over before the real one.
    """

    def __init__(self, betting: Betting, mapping: Mapping) -> None:
        if betting.rules.limit:
            raise GameError("limit bets have one size and need no translation: use no-limit rules")
        self.betting = betting
        self.mapping = mapping

    def turn(self, place: int, state: State) -> bool:
        """Whether the player whose turn it is in `state` has a decision at `place`."""
        return int(self.betting.kind[place]) == state.to_act and self._round(place) == state.round

    def taken_for(self, place: int, state: State, action: Action) -> tuple[tuple[int, float], ...]:
        """Where the opponent's `action` in the real `state` leads, and with what probability."""
        if not self.turn(place, state):
            return ((place, 1.0),)
        options = self._options(place)
        called = options.pop(CALL)
        if action.kind == Kind.FOLD:
            return ((place, 1.0),)
        if action.kind == Kind.CALL:
            return ((called, 1.0),)
        most = state.legal().raise_max
        now = self.betting.states[place]
        call_to, pot = _after_call(state)
        everything = now.legal().raise_max
        sizes: dict[Fraction, int] = {Fraction(0): called}
        for option, node in options.items():
            if option.kind != Kind.RAISE:
                continue
            chips = Fraction(most - call_to)
            if option.amount < everything:
                chips = min(chips, size_in_pots(now, option) * pot)
            # A size that the real stacks make an all-in is one with the all-in above it.
            sizes[chips] = node
        ordered = sorted(sizes)
        if action.amount >= most:
            return ((sizes[ordered[-1]], 1.0),)
        bet = action.amount - call_to
        return tuple(
            (sizes[ordered[number]], chance)
            for number, chance in self.mapping.weights(bet, ordered, pot)
        )

    def carried(self, place: int, child: int, state: State) -> Action:
        """The real action that stands for the abstract one which leads from `place` to `child`."""
        action = self.betting.actions[child]
        assert action is not None
        if action.kind != Kind.RAISE:
            return state.nearest(action)
        now, legal = self.betting.states[place], state.legal()
        if action.amount >= now.legal().raise_max:
            return state.nearest(raise_to(legal.raise_max))
        called, pot = _after_call(state)
        chips = size_in_pots(now, action) * pot
        return state.nearest(raise_to(called + int(chips + Fraction(1, 2))))

    def caught_up(self, place: int, betting_round: int) -> int:
        """The place from which a real round goes on; bets still open in the abstract are called.

        An abstract bet stays open where the real one could not be made, the last raise of the real
        round having been taken for a call.
        """
        while self._round(place) < betting_round:
            if int(self.betting.kind[place]) == DEAL:
                place = int(self.betting.next_root[place])
            elif int(self.betting.kind[place]) in (0, 1):
                place = self._options(place)[CALL]
            else:
                break
        return place

    def _round(self, place: int) -> int:
        """Round of the hand, whichever round the tree begins with."""
        return self.betting.origin.round + self.betting.round_of(place)

    def _options(self, place: int) -> dict[Action, int]:
        found = {}
        for child in self.betting.children(place):
            action = self.betting.actions[child]
            assert action is not None
            found[action] = child
        return found


def _after_call(state: State) -> tuple[int, int]:
    """What a player has in the hand after calling, and the pot then."""
    player = state.to_act
    assert player is not None
    return state.committed[player] + state.to_call, state.pot + state.to_call

"""Where a real hand stands on an abstract betting tree.

Who knows only the lines of an abstract tree plays a real hand so: each bet of the opponent is taken
for one of the abstract tree (:mod:`equipoise.abstraction.bets.translation`), his own action is chosen
there, and carried back to the real hand by its size in pots. The real pot and the abstract one are
kept apart and may drift apart.

Conventions. A size is (raise to - call to) / (pot after the call), a check or call is size 0. An
all-in is taken for an all-in, and abstract all-ins stand at the size the real one has. A bet taken
for a call may end the abstract round, or the abstract hand, while there is still something to call
in the real one: it is called. From where the abstract hand is over, everything is checked and called.

:class:`AbstractTree` says what one action leads to, with what probability. :class:`AbstractLine` follows
the hands of a match for one of its players: bets of the opponent are translated and his own recognised.
A bet that could be taken for two sizes is taken for one of them by a draw that depends on the match
seed, the number of the hand and the betting so far, and on nothing else: however often and in
whatever order a hand is asked about, the player stands where he stood. The draws of different bets are
independent, and they are his secret: to all others he may stand wherever :meth:`AbstractLine.after`
leads.

Own bets are carried to the table by their size in pots, so that a wrong idea of the pot is not made
worse, or, *back onto the tree*, by their total in chips, so that after a call both pots are the same.
Several abstract sizes may come to one real bet, where stacks are short: it stands for the largest.

A table may have other stacks and blinds than the tree. Nothing is then on the tree in chips: all bets are
understood and made by their size in pots, and all-in is all-in, whatever it comes to.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b
from typing import NamedTuple

from equipoise.abstraction.bets.translation import Mapping
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.nodes import DEAL
from equipoise.games.rules import CALL, Action, Kind, Rules, State, raise_to

History = tuple[tuple[Action, ...], ...]


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


class Step(NamedTuple):
    """An action of the opponent, as it is understood."""

    #: Decision of the tree, and the child that the action is taken for; a fold off the tree leads nowhere.
    node: int
    child: int
    round: int


class LinePlace(NamedTuple):
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

    def __init__(
        self,
        betting: Betting,
        mapping: Mapping,
        back_onto_tree: bool = False,
        rules: Rules | None = None,
    ) -> None:
        self.betting = betting
        self.tree = AbstractTree(betting, mapping)
        self.back_onto_tree = back_onto_tree
        #: Where the hands of the table begin.
        self.start = State.start(rules or betting.rules)
        #: Whether the table's chips are other ones than the tree's.
        self.foreign = rules is not None and not same_game(rules, betting.rules)
        if betting.origin != State.start(betting.rules):
            raise GameError("a real hand is followed from its start: use a tree that begins there")
        if self.foreign and back_onto_tree:
            raise GameError(
                "back_onto_tree counts bets in the tree's chips: play with the stacks of the tree, or "
                "without it"
            )
        self._known: dict[tuple[int, History], LinePlace] = {}
        self._about = (-1, -1)

    def stand(self, state: State, seed: int, hand: int) -> LinePlace:
        """Where the player to act stands."""
        me = state.to_act
        assert me is not None
        standing = self.followed(state, me, seed, hand)
        return standing._replace(place=self.tree.caught_up(standing.place, state.round))

    def followed(self, state: State, me: int, seed: int, hand: int) -> LinePlace:
        """Where the line of the player `me` has come to, after all that was played in `state`."""
        if self._about != (seed, hand):
            self._about = (seed, hand)
            self._known.clear()
        standing, now = LinePlace(0, ()), self.start
        for part in state.history:
            for action in part:
                after = now.apply(action)
                key = (me, after.history)
                found = self._known.get(key)
                if found is None:
                    found = self._known[key] = self._drawn(standing, now, action, me)
                standing, now = found, after
        return standing

    def off_tree(self, place: int, state: State) -> bool:
        """Whether the real chips are not those that the tree has at a place."""
        return self.foreign or self.betting.states[place].committed != state.committed

    def carried(self, place: int, child: int, state: State) -> Action:
        """The real action for the abstract one from `place` to `child`: always a legal one."""
        if self.back_onto_tree or not self.off_tree(place, state):
            action = self.betting.actions[child]
            assert action is not None
            return state.nearest(action)
        return self.tree.carried(place, child, state)

    def after(
        self, standing: LinePlace, state: State, action: Action, me: int
    ) -> tuple[tuple[LinePlace, float], ...]:
        """Where an action leads the player `me`, and with what probability: one place, or two."""
        place, theirs = self.tree.caught_up(standing.place, state.round), standing.opponent
        if not self.tree.turn(place, state):
            return ((LinePlace(place, theirs), 1.0),)
        child = self._same(place, state, action)
        if child is None and state.to_act == me:
            child = self._own(place, state, action)
        options = (
            ((child, 1.0),) if child is not None else self.tree.taken_for(place, state, action)
        )
        if state.to_act == me:
            return tuple((LinePlace(child, theirs), chance) for child, chance in options)
        return tuple(
            (LinePlace(child, (*theirs, Step(place, child, state.round))), chance)
            for child, chance in options
        )

    def _drawn(self, standing: LinePlace, state: State, action: Action, me: int) -> LinePlace:
        first, *second = self.after(standing, state, action, me)
        if second and draw(*self._about, f"{state.betting_text()}{action}") >= first[1]:
            return second[0][0]
        return first[0]

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


def same_game(rules: Rules, other: Rules) -> bool:
    """Whether two games are one but for their name."""
    return replace(rules, name="") == replace(other, name="")


def same_but_for_chips(rules: Rules, other: Rules) -> bool:
    """Whether two games differ by stacks and the unit of chips alone; stacks are even, blinds in proportion.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM, nolimit
    >>> same_but_for_chips(nolimit(90, 1, 2), NOLIMIT_HOLDEM), same_but_for_chips(
    ...     nolimit(90, 1, 3), NOLIMIT_HOLDEM
    ... )
    (True, False)
    """
    alike = replace(rules, stacks=other.stacks, blinds=other.blinds)
    first, second = rules.blinds
    return (
        same_game(alike, other)
        and rules.stacks[0] == rules.stacks[1]
        and first * other.blinds[1] == second * other.blinds[0]
    )


def _after_call(state: State) -> tuple[int, int]:
    """What a player has in the hand after calling, and the pot then."""
    player = state.to_act
    assert player is not None
    return state.committed[player] + state.to_call, state.pot + state.to_call

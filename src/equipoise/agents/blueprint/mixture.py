"""What others see of an agent that plays a blueprint: the mixture over its private draws.

A bet that the tree lacks is taken for one of two sizes by a draw that nobody else sees, so several
lines of the tree may be the one that the agent follows. Let T(l) be the probability that the draws lead
along line l, and p(l | h) how likely the hand h was to play all that the agent has played, had it
followed l. By Bayes' rule the hand h plays here

    P(a | h)  =  Σ_l T(l) p(l | h) P_l(a | h)  /  Σ_l T(l) p(l | h)

with P_l what it plays on line l, post-processing and guard included, each abstract action carried to
the real one that it becomes on that line. The same mixture in games that are small enough to be
written down is :mod:`equipoise.solve.strategies.extension`. It depends on the betting and on the board, and
neither on the match's seed nor on the number of the hand.

Lines on which the abstract hand is over are one: all that is left is checked and called. Lines on which
no hand can have played what was played are dropped. A hand that has come by none of those left never
plays so; asked all the same, it follows them as likely as the draws do, and so do all hands after an
action that no line has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.bets.line import AbstractLine, LinePlace
from equipoise.agents.blueprint.book import Book
from equipoise.agents.blueprint.guard import Guard
from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import GameError
from equipoise.games.nodes import DEAL, SHOWDOWN
from equipoise.games.policy import Policy
from equipoise.games.rules import CALL, FOLD, Action, State

Chances = NDArray[np.float64]
Cards = tuple[int, ...]
#: What every hand plays: the probability of an action, hand by hand.
Mix = dict[Action, Chances]

#: Bettings on boards whose lines, and whose policies, are kept.
_KEPT_LINES = 512
_KEPT_POLICIES = 512
#: Bettings whose translation is kept: it is the same on every board.
_KEPT_BETTINGS = 8192


class Line(NamedTuple):
    """A line of the tree that the agent may follow."""

    standing: LinePlace
    #: T: how likely the draws lead along it.
    drawn: float
    #: T · p, hand by hand; one number where all hands have the same.
    weight: float | Chances


class Mixture:
    """The policy of a blueprint agent, as others may know it."""

    def __init__(self, book: Book, line: AbstractLine | None, guard: Guard) -> None:
        self.book, self.line, self.guard = book, line, guard
        # At a table with other chips nothing is on the tree as it is.
        foreign = line is not None and line.foreign
        self._nodes = {} if foreign else book.blueprint.nodes
        self._start = State.start(book.betting.rules) if line is None else line.start
        #: Stands for every place at which the abstract hand is over.
        self._over = LinePlace(int((book.betting.kind == SHOWDOWN).argmax()), ())
        self._lines: dict[tuple[object, ...], tuple[Line, ...]] = {}
        self._policies: dict[tuple[object, ...], Policy] = {}
        self._actions: dict[tuple[object, ...], tuple[Action, ...]] = {}
        self._steps: dict[tuple[object, ...], tuple[tuple[LinePlace, float], ...]] = {}

    def policy(self, state: State, board: Cards) -> Policy:
        """What every hand plays here."""
        key = (state.history, board)
        found = self._policies.get(key)
        if found is None:
            found = self._mixed(self.lines(state, board), state, board)
            if len(self._policies) >= _KEPT_POLICIES:
                self._policies.clear()
            self._policies[key] = found
        return found

    def lines(self, state: State, board: Cards) -> tuple[Line, ...]:
        """The lines that the player to act may follow."""
        node = self._nodes.get(state.history)
        if node is not None:
            return (Line(LinePlace(node, ()), 1.0, 1.0),)
        self.translating(state)
        me, now = state.to_act, self._start
        assert me is not None
        found: tuple[Line, ...] = (Line(LinePlace(0, ()), 1.0, 1.0),)
        dealt = 0
        for cards, part in zip(state.rules.board_cards, state.history, strict=False):
            dealt += cards
            seen = board[:dealt]
            for action in part:
                after = now.apply(action)
                key = (me, after.history, seen)
                known = self._lines.get(key)
                if known is None:
                    known = self._after(found, now, seen, action, me)
                    if len(self._lines) >= _KEPT_LINES:
                        self._lines.clear()
                    self._lines[key] = known
                found, now = known, after
        return tuple(self._caught_up(line, state) for line in found)

    def played(self, standing: LinePlace, state: State, board: Cards) -> Mix:
        """What every hand plays on one line."""
        place, line = standing.place, self.line
        if line is not None and not line.tree.turn(place, state):
            return {CALL: np.ones(COMBO_COUNT)}
        columns = self.book.columns(board)[-1]
        chances = self.book.table(place)[:, np.maximum(columns, 0)]
        actions = self.book.actions(place)
        if line is not None and state.history not in self._nodes:
            actions = self._carried(line, place, state)
        found: Mix = {}
        for action, row in zip(actions, chances, strict=True):
            found[action] = found[action] + row if action in found else row
        if FOLD in found and self.guarded(place, state) and found[FOLD].any():
            priced = self.guard.has_price(state, board, standing.opponent)
            found[CALL] = found[CALL] + np.where(priced, found[FOLD], 0.0)
            found[FOLD] = np.where(priced, 0.0, found[FOLD])
        return found

    def translating(self, state: State) -> AbstractLine:
        """How betting that the tree lacks is understood; where all bets have one size it is refused."""
        if self.line is None:
            raise GameError(
                f"{self.book.blueprint.name} has no betting {state.betting_text()!r}: play it by "
                "the rules it was trained for"
            )
        return self.line

    def guarded(self, place: int, state: State) -> bool:
        """Whether the guard looks at folds here."""
        off_tree = self.line is not None and self.line.off_tree(place, state)
        return off_tree and self.guard.watches(state)

    # ------------------------------------------------------------------------------------ parts

    def _mixed(self, lines: tuple[Line, ...], state: State, board: Cards) -> Policy:
        mixes = [self.played(line.standing, state, board) for line in lines]
        mixed = mixes[0]
        if len(lines) > 1:
            mixed = {action: np.zeros(COMBO_COUNT) for action in sorted(set().union(*mixes))}
            comes = sum(line.weight for line in lines) > np.float64(0)
            for line, mix in zip(lines, mixes, strict=True):
                weight = np.where(comes, line.weight, line.drawn)
                for action, chances in mix.items():
                    mixed[action] += weight * chances
        table = np.array(list(mixed.values()))
        table /= table.sum(axis=0)
        return Policy(tuple(mixed), table.T.astype(np.float32))

    def _after(
        self, lines: tuple[Line, ...], state: State, board: Cards, action: Action, me: int
    ) -> tuple[Line, ...]:
        """The lines after an action; where they meet they are one."""
        assert self.line is not None
        # What hands play on the only line there is tells no line from another.
        if state.to_act == me and len(lines) > 1:
            lines = self._weighed(lines, state, board, action)
        found: dict[LinePlace, Line] = {}
        for line in lines:
            for standing, chance in self._next(line.standing, state, action, me):
                drawn, weight = line.drawn * chance, line.weight * chance
                key = self._one(standing)
                if key in found:
                    drawn, weight = drawn + found[key].drawn, weight + found[key].weight
                found[key] = Line(key, drawn, weight)
        return tuple(found.values())

    def _carried(self, line: AbstractLine, place: int, state: State) -> tuple[Action, ...]:
        """The real actions of a decision, kept for the next hand that is bet so."""
        key = (place, state.history)
        found = self._actions.get(key)
        if found is None:
            children = self.book.betting.children(place)
            found = tuple(line.carried(place, child, state) for child in children)
            if len(self._actions) >= _KEPT_BETTINGS:
                self._actions.clear()
            self._actions[key] = found
        return found

    def _next(
        self, standing: LinePlace, state: State, action: Action, me: int
    ) -> tuple[tuple[LinePlace, float], ...]:
        """Where a line goes on after an action, kept for the next hand that is bet so."""
        assert self.line is not None
        key = (standing, state.history, action, me)
        found = self._steps.get(key)
        if found is None:
            found = tuple(self.line.after(standing, state, action, me))
            if len(self._steps) >= _KEPT_BETTINGS:
                self._steps.clear()
            self._steps[key] = found
        return found

    def _weighed(
        self, lines: tuple[Line, ...], state: State, board: Cards, action: Action
    ) -> tuple[Line, ...]:
        """The lines that are left after an own action, with how likely each hand plays it there."""
        free = self.book.columns(board)[-1] >= 0
        left = []
        for line in lines:
            line = self._caught_up(line, state)
            chances = self.played(line.standing, state, board).get(action)
            if chances is None:
                continue
            weight = np.where(free, line.weight * chances, 0.0)
            if weight.any():
                left.append(line._replace(weight=weight))
        return tuple(left) or tuple(line._replace(weight=line.drawn) for line in lines)

    def _caught_up(self, line: Line, state: State) -> Line:
        assert self.line is not None
        standing = line.standing
        place = self.line.tree.caught_up(standing.place, state.round)
        if place == standing.place:
            return line
        return line._replace(standing=standing._replace(place=place))

    def _one(self, standing: LinePlace) -> LinePlace:
        """The same place for all lines on which the abstract hand is over."""
        kind = int(self.book.betting.kind[standing.place])
        return standing if kind in (0, 1, DEAL) else self._over

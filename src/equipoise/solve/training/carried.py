"""A strategy carried to a tree of other bet sizes: what a run with a new menu begins with.

Each decision of the new tree stands somewhere on the old one: bets of either player are taken for the old
size that the deterministic pseudo-harmonic mapping says (:mod:`equipoise.abstraction.bets.line`). What is
played there is carried back: an old bet between two new ones is divided among them by the randomised
mapping, so that hands are mixed alike in both; below the least it is the least. Where the old tree's
round or hand is over already, hands check and call. Both trees must have the same rules and buckets.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.bets.line import AbstractTree, size_in_pots
from equipoise.abstraction.bets.translation import MAPPINGS
from equipoise.games.betting import Betting
from equipoise.games.rules import CALL, Kind
from equipoise.solve.strategies.strategy import Plan


class CarriedStrategy:
    """What a strategy comes to on another betting tree of the same rules.

    >>> from equipoise.games.library.kuhn import kuhn_nolimit
    >>> from equipoise.solve.solvers.cfr import DCFR
    >>> solver = DCFR(kuhn_nolimit(5, "a"))
    >>> solver.advance(100)
    >>> carried = CarriedStrategy(solver.average_strategy(), kuhn_nolimit(5, "100%,a").betting)
    >>> [chances.round(2).tolist() for chances in carried.rows(0)]  # check, a pot, all-in
    [[1.0, 1.0, 0.81], [0.0, 0.0, 0.0], [0.0, 0.0, 0.19]]
    """

    def __init__(self, strategy: Plan, betting: Betting) -> None:
        self._strategy, self.betting = strategy, betting
        self._tree = AbstractTree(strategy.betting, MAPPINGS["pseudo-harmonic-deterministic"])
        #: Where each node stands on the old tree.
        self.places = self._placed()

    def _placed(self) -> list[int]:
        betting, tree = self.betting, self._tree
        places = [0] * len(betting.kind)
        # Parents stand before their children, rounds before those that follow.
        for node in range(len(betting.kind)):
            kind, state = int(betting.kind[node]), betting.states[node]
            if kind in (0, 1):
                places[node] = tree.caught_up(places[node], state.round)
            for child in betting.children(node) if kind in (0, 1) else ():
                action = betting.actions[child]
                assert action is not None
                places[child] = tree.taken_for(places[node], state, action)[0][0]
                root = int(betting.next_root[child])
                if root >= 0:
                    places[root] = places[child]
        return places

    def rows(self, node: int) -> NDArray[np.float64]:
        """What is played at a decision: float64[action, bucket]."""
        state, place = self.betting.states[node], self.places[node]
        actions = [self.betting.actions[child] for child in self.betting.children(node)]
        if not self._tree.turn(place, state):
            # As wide as the buckets of the street: those of any old decision there.
            wide = self._strategy.rows(self._some_decision(node)).shape[1]
            found = np.zeros((len(actions), wide))
            found[actions.index(CALL)] = 1.0
            return found
        old = self._strategy.betting
        before, played = old.states[place], self._strategy.rows(place)
        sizes: dict[Fraction, int] = {}
        for number, action in enumerate(actions):
            assert action is not None
            if action.kind == Kind.RAISE:
                sizes[size_in_pots(state, action)] = number
        found = np.zeros((len(actions), played.shape[1]))
        ordered = sorted(sizes)
        for row, child in enumerate(old.children(place)):
            action = old.actions[child]
            assert action is not None
            if action.kind != Kind.RAISE or not ordered:
                found[actions.index(action if action in actions else CALL)] += played[row]
                continue
            size = size_in_pots(before, action)
            if action.amount >= before.legal().raise_max:
                size = ordered[-1]
            for which, share in MAPPINGS["pseudo-harmonic"].weights(size, ordered):
                found[sizes[ordered[which]]] += share * played[row]
        return found

    def _some_decision(self, node: int) -> int:
        old, street = self._strategy.betting, self.betting.round_of(node)
        first, last = old.spans()[street]
        return next(n for n in range(first, last) if int(old.kind[n]) in (0, 1))

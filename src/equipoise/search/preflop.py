"""Large pots before the flop: the real raise, both ranges, exact equities.

Once a raise leaves at most one pot behind, what is left is to fold, to call or to go all-in, and sizes
that a blueprint knows may be far from what was bet. Then the decision is solved at its real size: showdowns
after an all-in are paid by the equity of every two hands over all 1,712,304 boards, and so is a call that
leaves chips behind, as if both then checked to the end; with less than a pot behind, little is left out.

The solve begins *before* the raise, where he may also fold or call. To begin after it is to believe that
he raises what the blueprint raises: against such a range 97 hands of a hundred fold to an all-in over a
re-raise, and whoever goes all-in with any two cards wins the pot.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> state = State.from_betting_text(NOLIMIT_HOLDEM, "r300r1000r3000r9900r20000")
    >>> solved = solve_preflop(state, (np.ones(1326), np.ones(1326)), iterations=60)
    >>> from equipoise.cards.combos import parse_combo
    >>> round(float(solved.policy().probabilities[parse_combo("As4s"), 0]), 2)    # folds
    0.0
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from equipoise.cards.combos import COMBO_COUNT, combo_text
from equipoise.cards.headsup import apart, margins
from equipoise.cards.matchup import compatible_weight
from equipoise.cards.range import Range
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, BoardTree
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy
from equipoise.games.rules import Action, State
from equipoise.run import Limit, Loop, Stop
from equipoise.search.gadgets import UNSAFE, Gadget, SubgameSolver
from equipoise.search.menus import LineMenu
from equipoise.search.subgame import Weights, read_range
from equipoise.solve.sweep.rowindex import probabilities

#: Iterations unless told otherwise: the tree has a handful of decisions.
PREFLOP_ITERATIONS = 200


def pots_behind(state: State) -> float:
    """Chips that the shorter stack has left after a call, in pots as they are then."""
    called = max(state.committed)
    behind = min(state.rules.stacks) - called
    return behind / (state.rules.dead + 2 * called)


def is_large(state: State) -> bool:
    """Whether a decision before the flop is one that is solved at its real size.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> line = "r300r1000r3000r9900"
    >>> [is_large(State.from_betting_text(NOLIMIT_HOLDEM, line[:n])) for n in (9, 14, 19)]
    [False, False, True]
    """
    return (
        not state.is_over
        and state.round == 0
        and state.raises > 0
        and not state.rules.limit
        and pots_behind(state) <= 1.0
    )


class SolvedPreflop:
    """The answer to a large pot before the flop, asked about `state`."""

    def __init__(self, state: State, solver: SubgameSolver, seconds: float) -> None:
        self.state, self.solver, self.seconds = state, solver, seconds

    @property
    def game(self) -> Game:
        """The game that was solved."""
        return self.solver.game

    @cached_property
    def _nodes(self) -> dict[tuple[object, ...], int]:
        betting = self.game.betting
        return {betting.states[n].history: n for n in betting.of_kind(0, 0, 1).tolist()}

    def knows(self, state: State) -> bool:
        """Whether somebody decides there in its tree."""
        return state.history in self._nodes

    def policy(self, state: State | None = None) -> Policy:
        """What every hand of the player to act plays."""
        node = self._at(state)
        betting = self.game.betting
        play = self._play(node)
        actions = tuple(a for c in betting.children(node) if (a := betting.actions[c]) is not None)
        return Policy(actions, play.T.astype(np.float32))

    def ranges(self, state: State | None = None) -> tuple[Weights, Weights]:
        """With which both players come there, as solved."""
        node = self._at(state)
        return self._reach(0, node), self._reach(1, node)

    def values(self, player: int, state: State | None = None) -> Weights:
        """What every hand of a player is worth there, in chips."""
        node, solver = self._at(state), self.solver
        solver.face_ranges()
        swept = solver.tableau.values(player, 0, solver.plan)[node]
        mass = compatible_weight(self._reach(1 - player, node))
        found: Weights = np.where(mass > 0, swept / np.where(mass > 0, mass, 1.0), 0.0)
        return found

    def _at(self, state: State | None) -> int:
        asked = state or self.state
        node = self._nodes.get(asked.history)
        if node is None:
            raise GameError(
                f"'{asked.betting_text()}' is not in the tree that was solved: solve it with this bet "
                "in it"
            )
        return node

    def _play(self, node: int) -> Weights:
        """What is played at a decision: [action, hand]."""
        return probabilities(self.solver.tableau.index.block(self.solver.plan, 0, node))

    def _reach(self, player: int, node: int) -> Weights:
        betting = self.game.betting
        reach = np.array(self.solver.ranges[player], dtype=np.float64)
        while (above := int(betting.before[node])) >= 0:
            if int(betting.kind[above]) == player:
                reach = reach * self._play(above)[node - int(betting.first[above])]
            node = above
        return reach


def preflop_game(state: State, raised: Action | None = None) -> Game:
    """Fold, call or all-in before the flop from a state on, over all hands; equities are exact.

    Whoever is to act may also do what he really `raised`.
    """
    if state.is_over or state.round:
        raise GameError(
            f"'{state.betting_text()}': a large pot before the flop is solved where somebody acts there"
        )
    menu = BetMenu.parse("a", "a")
    if raised is not None and raised not in menu.actions(state):
        menu, _ = LineMenu.along(menu, state, [raised])
    betting = Betting.build(state.rules, menu, keep_first=True, start=state)
    if betting.rounds > 1:
        betting = betting.until(1, checked_down=True)
    hands = np.arange(COMBO_COUNT, dtype=np.int16).reshape(-1, 1)
    board = Board(0, -1, (), 1.0, (hands, hands), mass=apart().astype(np.float64), signed=margins())
    ones = np.ones(COMBO_COUNT)
    total = float(apart().sum())
    return Game(
        name=f"before the flop after {state.betting_text()}",
        betting=betting,
        deal=BoardTree([board], (ones, ones), total, "matrix"),
        unit_chips=float(state.rules.big_blind),
        state_name=lambda board, player, combo: combo_text(combo),
        board_name=lambda board: "",
    )


def solve_preflop(
    state: State,
    ranges: tuple[ArrayLike | Range, ArrayLike | Range],
    me: int = 0,
    gadget: Gadget = UNSAFE,
    *,
    raised: Action | None = None,
    iterations: int = PREFLOP_ITERATIONS,
    seconds: float | None = None,
    stop: Stop | None = None,
) -> SolvedPreflop:
    """Solve a large pot before the flop from both ranges: a decision, or the answer to what was `raised`."""
    weights = (read_range(ranges[0], (), 0), read_range(ranges[1], (), 1))
    solver = SubgameSolver(
        preflop_game(state, raised), ranges=weights, gadget=gadget, me=me, precision="float32"
    )
    loop = Loop(solver, Limit(iterations=iterations, seconds=seconds), lambda: (None, None))
    last = loop.run(stop=stop)
    if loop.interrupted:
        raise KeyboardInterrupt
    return SolvedPreflop(state.apply(raised) if raised else state, solver, last.seconds)

"""A solved subgame: what every hand plays anywhere in it, and what it is worth there.

Places are named by real betting and real cards. Reaches are carried on from the ranges with which the
subgame began, so a solve that begins at one of its places takes ranges and values as they stand here.

Values are chips on average from the start of the hand, given the hand and that both get there: what a
sweep counts, chips × reach met × chance of the cards, divided by the last two. A hand that meets nothing
of the other's reach is worth 0 here, for it cannot be held.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE, cards_text
from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.matchup import compatible_weight
from equipoise.errors import GameError, SolverError
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL
from equipoise.games.policy import Policy
from equipoise.games.rules import Action, State
from equipoise.games.runouts import renamed_hands
from equipoise.run import Limit, Loop, Stop
from equipoise.search.gadgets import UNSAFE, Gadget, SubgameSolver
from equipoise.search.gifts import line_gifts
from equipoise.search.menus import check_menu
from equipoise.search.subgame import Subgame, Weights, hand_combos, iterations_for
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.rowindex import probabilities

#: Both players play the average strategy, or the one who is asked for responds best to the other's.
How = Literal["played", "best"]

#: Alternatives of hands that differ by their suits alone are the same up to this share of the pot.
_UNEVEN = 1e-3
#: Share of the largest mass below which a hand meets nothing.
_NOTHING = 1e-5


class Solved:
    """The answer to a subgame."""

    def __init__(
        self, subgame: Subgame, solver: SubgameSolver, seconds: float, stopped: bool = False
    ) -> None:
        self.subgame, self.solver = subgame, solver
        #: Seconds of iterations.
        self.seconds = seconds
        #: Whether a clock, or somebody, cut it short.
        self.stopped = stopped
        #: Exploitability of the gadget's game, or of the subgame from both ranges, in chips a hand.
        self._gap: float | None = None
        self._combos = hand_combos(solver.game.deal.boards[0])
        self._values: dict[tuple[int, int, How], dict[int, NDArray[np.float64]]] = {}
        self._best: dict[int, NDArray[Any]] = {}

    def __repr__(self) -> str:
        return f"<Solved {self.subgame!r}: {self.iterations} iterations, {self.seconds:.2f} s>"

    @property
    def game(self) -> Game:
        """The game that was solved."""
        return self.solver.game

    @property
    def me(self) -> int:
        """Who re-solved."""
        return self.solver.me

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.solver.iteration

    @property
    def exploitability_pct_pot(self) -> float:
        """How far from solved it is, in percent of the pot where it begins."""
        if self._gap is None:
            self._gap = self.solver.exploitability()
        return 100 * self._gap / self.subgame.pot

    # -------------------------------------------------------------------------------------- places

    @cached_property
    def _nodes(self) -> dict[tuple[object, ...], int]:
        """Nodes by the betting that leads to them; where a street begins, its first node."""
        betting = self.game.betting
        found: dict[tuple[object, ...], int] = {}
        for node, state in enumerate(betting.states):
            root = int(betting.next_root[node])
            found[state.history] = node if root < 0 else root
        return found

    def knows(self, state: State) -> bool:
        """Whether the tree has this betting, or goes on by itself there."""
        return state.history in self._nodes or self._passes(state)

    def _passes(self, state: State) -> bool:
        """Whether the tree, which leaves out turns without a choice, passes by this betting."""
        if state.is_over or len(self.subgame.menu.actions(state)) != 1:
            return False
        after = state.apply(self.subgame.menu.actions(state)[0])
        return after.history in self._nodes or self._passes(after)

    def node(self, state: State) -> int:
        """Number of the node of some betting; refused if the tree does not have it."""
        node = self._nodes.get(state.history)
        if node is None:
            raise GameError(
                f"'{state.betting_text()}' is not in the tree that was solved after "
                f"'{self.subgame.state.betting_text()}': solve it again with this bet in it"
            )
        return node

    def _board(self, board: tuple[int, ...] | None) -> tuple[int, tuple[NDArray[np.int64], ...]]:
        """Number of the game's board for real cards, and which real hand each of its states is."""
        own = self.subgame.board
        if board is None or tuple(board) == own:
            return 0, self._combos
        dealt = tuple(board[len(own) :])
        if tuple(board[: len(own)]) == own:
            for b, known in enumerate(self.game.deal.boards):
                for cards, maps in zip(known.deals, known.arrivals, strict=True):
                    if known.parent == 0 and cards == dealt:
                        return b, tuple(self._combos[p][maps[p]] for p in (0, 1))
        raise GameError(
            f"the board {cards_text(tuple(board))} does not come after {cards_text(own)}: give cards "
            "that go on from there"
        )

    def _at(self, state: State, board: tuple[int, ...] | None) -> tuple[int, int]:
        """Node and board of a place, checked against each other."""
        node, (number, _) = self.node(state), self._board(board)
        street = self.game.betting.round_of(node)
        if self.game.deal.boards[number].round != street:
            raise GameError(
                f"'{state.betting_text()}' is not played on the board "
                f"{cards_text(tuple(board or self.subgame.board))}: give the cards of its street"
            )
        return node, number

    # ------------------------------------------------------------------------------------- answers

    def policy(self, state: State, board: tuple[int, ...] | None = None) -> Policy:
        """What every hand of the player to act plays; the board is the subgame's unless given."""
        if state.is_over:
            raise GameError("the hand is over: a policy is for a player who is to act")
        if state.history not in self._nodes and self._passes(state):
            only = self.subgame.menu.actions(state)
            return Policy(only, np.ones((COMBO_COUNT, 1), dtype=np.float32))
        node, number = self._at(state, board)
        betting, player = self.game.betting, int(self.game.betting.kind[node])
        if player > 1:
            return Policy(self.subgame.menu.actions(state), np.ones((COMBO_COUNT, 1), np.float32))
        combos = self._board(board)[1][player]
        actions = [betting.actions[child] for child in betting.children(node)]
        rows = np.full((COMBO_COUNT, len(actions)), 1.0 / len(actions), dtype=np.float32)
        rows[combos] = self._play(number, node).T
        return Policy(tuple(action for action in actions if action is not None), rows)

    def reach(self, player: int, state: State, board: tuple[int, ...] | None = None) -> Weights:
        """Reach of every hand of a player at a place: his range there, hand by hand."""
        node, number = self._at(state, board)
        combos = self._board(board)[1][player]
        found = np.zeros(COMBO_COUNT)
        found[combos] = self._reach(player, node, number, combos)
        return found

    def values(
        self,
        player: int,
        state: State,
        board: tuple[int, ...] | None = None,
        how: How = "played",
    ) -> Weights:
        """What every hand of a player is worth at a place, in chips from the start of the hand."""
        node, number = self._at(state, board)
        _, combos = self._board(board)
        swept = self._swept(player, number, how)[node]
        met = np.zeros(COMBO_COUNT)
        met[combos[1 - player]] = self._reach(1 - player, node, number, combos[1 - player])
        mass = compatible_weight(met)[combos[player]]
        held = mass > _NOTHING * mass.max()
        chance = self.game.deal.boards[number].weight
        found = np.zeros(COMBO_COUNT)
        worth = swept / np.where(held, mass, 1.0) / chance
        found[combos[player]] = np.where(held, worth, 0.0)
        return found

    def action_values(
        self, state: State, board: tuple[int, ...] | None = None
    ) -> tuple[tuple[Action, ...], Weights]:
        """What every hand of the player to act has by each action, played on as solved afterwards.

        The actions, and chips from the start of the hand: float64[action, hand].
        """
        node, number = self._at(state, board)
        betting, player = self.game.betting, int(self.game.betting.kind[node])
        if player > 1:
            raise GameError(f"'{state.betting_text()}': nobody has a choice there")
        _, combos = self._board(board)
        swept = self._swept(player, number, "played")
        met = np.zeros(COMBO_COUNT)
        met[combos[1 - player]] = self._reach(1 - player, node, number, combos[1 - player])
        mass = compatible_weight(met)[combos[player]]
        held = mass > _NOTHING * mass.max()
        children = betting.children(node)
        found = np.zeros((len(children), COMBO_COUNT))
        for row, child in zip(found, children, strict=True):
            worth = swept[child] / np.where(held, mass, 1.0) / self.game.deal.boards[number].weight
            row[combos[player]] = np.where(held, worth, 0.0)
        actions = [betting.actions[child] for child in children]
        return tuple(action for action in actions if action is not None), found

    def gifts(self, player: int, state: State) -> Weights:
        """Chips that every hand of a player forwent on its line to a place of the first street.

        A place where the next street begins is the end of the line that leads there.
        """
        betting, node = self.game.betting, self.node(state)
        while betting.round_of(node):
            node = int(betting.before[node])
        self.solver.face_ranges()
        found = np.zeros(COMBO_COUNT)
        lost = line_gifts(self.solver.tableau, self.solver.plan, player, node)
        found[self._combos[player]] = lost
        return found

    def _swept(self, player: int, number: int, how: How) -> dict[int, NDArray[np.float64]]:
        """Counterfactual values at every node of a board."""
        key = (player, number, how)
        if key not in self._values:
            tableau, plan = self.solver.tableau, self.solver.plan
            self.solver.face_ranges()
            rows = None
            if how == "best":
                if player not in self._best:
                    rows = tableau.rows()
                    tableau.sweep(player, rowrules.BEST, facing=plan, out=rows)
                    self._best[player] = rows
                rows = self._best[player]
            self._values[key] = tableau.values(player, number, plan, rows)
        return self._values[key]

    def _play(self, number: int, node: int) -> NDArray[np.float64]:
        """What is played at a decision: [action, state]."""
        return probabilities(self.solver.tableau.index.block(self.solver.plan, number, node))

    def _reach(
        self, player: int, node: int, number: int, combos: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Reach of a player's states on a board, whose real hands are `combos`."""
        betting = self.game.betting
        start = np.zeros(COMBO_COUNT)
        start[self._combos[player]] = self.solver.ranges[player]
        reach = start[combos]
        while (above := int(betting.before[node])) >= 0:
            if int(betting.kind[above]) == player:
                on_board = number if betting.round_of(above) else 0
                spread = np.zeros((int(betting.count[above]), COMBO_COUNT))
                where = combos if on_board else self._combos[player]
                spread[:, where] = self._play(on_board, above)
                reach = reach * spread[node - int(betting.first[above])][combos]
            node = above
        return reach

    # --------------------------------------------------------------------------------------- tables

    @property
    def decisions(self) -> int:
        """Decisions of betting in its tree, cards not counted."""
        return int((self.game.betting.kind < 2).sum())

    @property
    def ends_of_street(self) -> list[State]:
        """States in which its first street is over and another card comes."""
        betting = self.game.betting
        return [betting.states[node] for node in betting.of_kind(0, DEAL).tolist()]


def solve_subgame(
    subgame: Subgame,
    me: int = 0,
    gadget: Gadget = UNSAFE,
    *,
    iterations: int | None = None,
    budget: float = 1.0,
    seconds: float | None = None,
    threads: int | None = 1,
    stop: Stop | None = None,
) -> Solved:
    """Solve a subgame for player `me`; alternatives of the gadget are 1,326 chips, one for each hand.

    The number of iterations follows from the size of the tree times `budget`, unless it is given; `seconds`
    and `stop` only cut a solve short.
    """
    worth = None if gadget.alternatives is None else np.asarray(gadget.alternatives)
    if worth is not None and worth.shape != (COMBO_COUNT,):
        raise SolverError(
            f"{worth.size} alternatives: give one for each of {COMBO_COUNT} hands, any number where "
            "the board blocks one"
        )
    check_menu(subgame.menu, subgame.state)
    game = subgame.game()
    combos = hand_combos(game.deal.boards[0])
    here = gadget
    if worth is not None:
        even = _evened(game, 1 - me, worth[combos[1 - me]], _UNEVEN * subgame.pot)
        if even is None:
            game = subgame.game(use_symmetry=False)
            combos = hand_combos(game.deal.boards[0])
            even = worth[combos[1 - me]]
        here = Gadget(gadget.kind, even, gadget.tie)
    ranges = (subgame.ranges[0][combos[0]], subgame.ranges[1][combos[1]])
    solver = SubgameSolver(game, ranges=ranges, gadget=here, me=me, threads=threads)
    if subgame.kept:
        solver.lock(subgame.locks(game, combos))
    count = max(1, round(budget * iterations_for(game))) if iterations is None else iterations
    loop = Loop(solver, Limit(iterations=count, seconds=seconds), lambda: (None, None))
    last = loop.run(stop=stop)
    if loop.interrupted:
        raise KeyboardInterrupt
    return Solved(subgame, solver, last.seconds, stopped=solver.iteration < count)


def _evened(game: Game, player: int, worth: Weights, most: float) -> Weights | None:
    """Alternatives made the same under the renamings of suits that a game takes for one.

    None if hands that a renaming exchanges differ by more than `most`: run-outs are then not merged.
    """
    board = game.deal.boards[0]
    total = np.zeros(len(worth))
    for renaming in board.symmetries:
        moved = worth[renamed_hands(board.hands[player], renaming, DECK_SIZE)]
        if np.abs(moved - worth).max() > most:
            return None
        total += moved
    return total / len(board.symmetries)

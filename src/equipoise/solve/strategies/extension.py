"""A strategy of an abstract betting tree as a behaviour strategy of the real game.

A player who translates bets by chance holds one of several abstract lines, which only he knows. Let
T(h, a) be the probability that the real betting h is taken for the abstract line a, over the draws
of the translation, and p(a | s) the probability that his own actions let him go along a with private
state s. What an observer sees at h is the mixture

    P(action | h, s)  =  sum_a T(h, a) p(a | s) P(action | a, s)  /  sum_a T(h, a) p(a | s)

which, with perfect recall, is the same strategy (Kuhn 1953). So exploitability in the real game is
exact: the opponent best-responds to the mixture, knowing the abstraction and the mapping but not
the draws.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.bets.line import AbstractTree
from equipoise.abstraction.bets.translation import Mapping
from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.games.nodes import DEAL
from equipoise.games.rules import CALL, Action, Kind
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.rowindex import RowIndex


def extended(strategy: TabularStrategy, game: Game, mapping: Mapping) -> TabularStrategy:
    """`strategy`, of a game with fewer bets, played in `game` with bets translated by `mapping`.

    Rows of player 0 are his when he is the one who translates, and so for player 1. Information
    sets that the player himself never lets happen stay empty.

    >>> from equipoise.abstraction.bets.translation import MAPPINGS
    >>> from equipoise.games.catalogue import kuhn_nolimit
    >>> coarse = TabularStrategy.uniform(kuhn_nolimit(stack=9, menu="100%,a"))
    >>> fine = extended(coarse, kuhn_nolimit(stack=9), MAPPINGS["pseudo-harmonic"])
    >>> [round(float(p), 3) for p in fine.rows(0)[:, 0] if p > 0]
    [0.333, 0.333, 0.333]
    """
    _check(strategy.game, game)
    index = RowIndex(game)
    rows = np.zeros(index.size)
    for player in (0, 1):
        _fill(strategy, game, mapping, player, index, rows)
    return TabularStrategy(game, rows, index)


def _check(abstract: Game, game: Game) -> None:
    here, there = (part.deal.boards for part in (abstract, game))
    same = len(here) == len(there) and all(
        a.round == b.round and all(map(np.array_equal, a.hands, b.hands))
        for a, b in zip(here, there, strict=True)
    )
    if not same or abstract.betting.rules.stacks != game.betting.rules.stacks:
        raise SolverError(
            f"{abstract.name} and {game.name} differ in more than bet sizes: give both the same "
            "cards and stacks"
        )


def _fill(
    strategy: TabularStrategy,
    game: Game,
    mapping: Mapping,
    player: int,
    index: RowIndex,
    rows: NDArray[Any],
) -> None:
    betting = game.betting
    tree = AbstractTree(strategy.game.betting, mapping)
    reach = _Reach(strategy, player)
    boards_of = [
        [b for b, board in enumerate(game.deal.boards) if board.round == number]
        for number in range(betting.rounds)
    ]
    #: Abstract places of a real node, and T.
    places: dict[int, dict[int, float]] = {0: {0: 1.0}}
    for number in range(betting.rounds):
        first, last = betting.spans()[number]
        if number:
            for leaf in betting.of_kind(number - 1, DEAL).tolist():
                arrived: dict[int, float] = defaultdict(float)
                for place, chance in places.pop(leaf, {}).items():
                    arrived[tree.caught_up(place, betting.origin.round + number)] += chance
                places[int(betting.next_root[leaf])] = arrived
        for node in range(first, last):
            if int(betting.kind[node]) not in (0, 1):
                continue
            state, held = betting.states[node], places.pop(node, {})
            options = {betting.actions[child]: child for child in betting.children(node)}
            reached: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
            for place, chance in held.items():
                if state.to_act != player:
                    for action, child in options.items():
                        assert action is not None
                        for there, part in tree.taken_for(place, state, action):
                            reached[child][there] += chance * part
                    continue
                turn = tree.turn(place, state)
                ways = list(tree.betting.children(place)) if turn else [place]
                for number_of_way, way in enumerate(ways):
                    action = tree.carried(place, way, state) if turn else CALL
                    child = _child(game, options, action)
                    reached[child][way] += chance
                    for b in boards_of[number]:
                        row = index.block(rows, b, node)[child - int(betting.first[node])]
                        played = strategy.rows(place, b)[number_of_way] if turn else 1.0
                        row += chance * reach(b, place) * played
            places.update(reached)


def _child(game: Game, options: dict[Action | None, int], action: Action) -> int:
    if action not in options:
        told = f"raise to {action.amount}" if action.kind == Kind.RAISE else str(action)
        raise SolverError(f"{game.name} has no {told} where the abstract strategy plays it: add it")
    return options[action]


class _Reach:
    """p: how likely a player's own actions lead to an abstract node, for each of his states."""

    def __init__(self, strategy: TabularStrategy, player: int) -> None:
        self.strategy = strategy
        self.player = player
        self._known: dict[tuple[int, int], NDArray[np.float64]] = {}

    def __call__(self, b: int, node: int) -> NDArray[np.float64]:
        key = (b, node)
        if key not in self._known:
            self._known[key] = self._find(b, node)
        return self._known[key]

    def _find(self, b: int, node: int) -> NDArray[np.float64]:
        game = self.strategy.game
        betting, board = game.betting, game.deal.boards[b]
        if betting.round_of(node) < board.round:
            return self(board.parent, node)[board.arrivals[0][self.player]]
        above = int(betting.parent[node])
        if above < 0:
            if board.parent < 0:
                return np.ones(game.deal.states(b, self.player))
            return self(board.parent, int(betting.before[node]))[board.arrivals[0][self.player]]
        reach = self(b, above)
        if int(betting.kind[above]) != self.player:
            return reach
        chance: NDArray[np.float64] = self.strategy.rows(above, b)[node - int(betting.first[above])]
        return reach * chance

"""Bucketed games of a small deck, against playing out every deal and every line of betting.

The referee deals real cards; a player of buckets plays and answers by what his buckets tell him.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from enumerator import Cards, Play, Referee

from equipoise.abstraction.tables.bucketgame import bucket_game, independent_game
from equipoise.abstraction.tables.joint import JointTables
from equipoise.abstraction.tables.transitions import Transitions
from equipoise.games.game import Game
from equipoise.games.library.smalldeck import SmallDeck
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules, State
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.strategies.bestresponse import exploitability_of, response_value, value_of
from equipoise.solve.sweep.tableau import Tableau

DECK = SmallDeck(ranks=4, suits=2, hole_cards=2, board_cards=(0, 1), blinds=(2, 1), stack=6)
LIMIT = SmallDeck(
    ranks=4, suits=2, hole_cards=2, board_cards=(0, 1), blinds=(2, 1), limit=True, max_raises=2
)
FLOP_STATES = 9
PARENTS = np.repeat(np.arange(3), 3)


def strength(hole: Cards, board: Cards) -> object:
    ranks = [card // 2 for card in hole + board]
    return sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)


def bucket(hole: Cards, board: Cards) -> int:
    """Three buckets of hole cards; then whether the board pairs a card, and if not, a high board."""
    first = (hole[0] // 2 + hole[1] // 2) // 2 if hole[0] // 2 != hole[1] // 2 else 2
    if not board:
        return min(first, 2)
    hit = board[0] // 2 in (hole[0] // 2, hole[1] // 2)
    return 3 * min(first, 2) + (2 if hit else int(board[0] // 2 >= 2))


def referee(rules: Rules, menu: BetMenu) -> Referee:
    return Referee(rules, menu, strength)


def counted(rules: Rules, menu: BetMenu) -> JointTables:
    """Tables by dealing everything."""
    judge = referee(rules, menu)
    points = np.zeros((FLOP_STATES, FLOP_STATES))
    for mine, theirs, _ in judge._deals:
        for board, _ in judge.boards(1, (), mine, theirs):
            win, tie, _ = judge.showdown(mine, theirs, board, 1)
            points[bucket(mine, board), bucket(theirs, board)] += 2 * win + tie
    return JointTables.from_points(points, [PARENTS], (0, 1))


def random_rows(tableau: Tableau, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = tableau.rows()
    for board, node in tableau.index.decisions():
        block = tableau.index.block(rows, board, node)
        block[:] = rng.dirichlet(np.ones(len(block)), size=block.shape[1]).T
    return rows


def by_text(tableau: Tableau, rows: np.ndarray) -> dict[tuple[int, str], np.ndarray]:
    """Mixtures [action, state] by board and betting."""
    states = tableau.game.betting.states
    return {
        (board, states[node].betting_text()): tableau.index.block(rows, board, node)
        for board, node in tableau.index.decisions()
    }


def bucketed_response(
    judge: Referee, player: int, play: Play, sees: Callable[[Cards, Cards], int]
) -> float:
    """Most that `player` wins if he knows the buckets he was in, and the betting, but no cards."""

    def groups(worlds: list[tuple[tuple[Cards, Cards], Cards, float]]):
        found = defaultdict(list)
        for world in worlds:
            found[sees(world[0][player], world[1])].append(world)
        return found.values()

    def respond(state: State, dealt: int, worlds: list) -> float:
        if state.is_over:
            return sum(
                w * judge.payoffs(state, *holes, board)[player] for holes, board, w in worlds
            )
        if state.round > dealt:
            after = [
                (holes, longer, weight * chance)
                for holes, board, weight in worlds
                for longer, chance in judge.boards(dealt + 1, board, *holes)
            ]
            return sum(respond(state, dealt + 1, group) for group in groups(after))
        actions = judge.menu.actions(state)
        if state.to_act == player or len(actions) == 1:
            return max(respond(state.apply(action), dealt, worlds) for action in actions)
        text, other = state.betting_text(), 1 - player
        total = 0.0
        for i, action in enumerate(actions):
            weighed = [
                (holes, board, weight * play(other, holes[other], board, text)[i])
                for holes, board, weight in worlds
            ]
            total += respond(state.apply(action), dealt, weighed)
        return total

    start = [((mine, theirs), (), weight) for mine, theirs, weight in judge._deals]
    return sum(respond(State.start(judge.rules), 0, group) for group in groups(start))


def judged(game: Game, rows: np.ndarray, tableau: Tableau) -> tuple[float, list[float]]:
    """Value to player 0 and best responses, by dealing cards."""
    judge = referee(game.betting.rules, game.betting.menu)
    mixtures = by_text(tableau, rows)

    def play(player: int, hole: Cards, board: Cards, text: str) -> np.ndarray:
        return mixtures[len(board), text][:, bucket(hole, board)]

    best = [bucketed_response(judge, player, play, bucket) for player in (0, 1)]
    return judge.values(play)[0], best


@pytest.mark.parametrize(("deck", "menu"), [(LIMIT, None), (DECK, "100%,a")])
def test_tables_of_all_deals(deck: SmallDeck, menu: str | None) -> None:
    bets = BetMenu.of(menu)
    game = bucket_game(deck.rules(), counted(deck.rules(), bets), bets)
    tableau = Tableau(game, precision="float64")
    for rows in (random_rows(tableau, 1), _solved(game)):
        value, best = judged(game, rows, tableau)
        assert value_of(tableau, rows) == pytest.approx(value, abs=1e-6)
        found = [response_value(tableau, player, rows) for player in (0, 1)]
        assert found == pytest.approx(best, abs=1e-6)
        assert exploitability_of(tableau, rows) == pytest.approx(sum(best) / 2, abs=1e-6)


def _solved(game: Game) -> np.ndarray:
    solver = CFRPlus(game, precision="float64")
    solver.advance(200)
    assert solver.exploitability() < 0.01
    strategy = solver.average_strategy()
    rows = solver.tableau.rows()
    for board, node in solver.tableau.index.decisions():
        solver.tableau.index.block(rows, board, node)[:] = strategy.rows(node, board)
    return rows


# ------------------------------------------------------------------------- independent buckets


@dataclass(frozen=True)
class ChanceReferee:
    """Plays out an independent game bucket by bucket, without matrices of expected results."""

    rules: Rules
    menu: BetMenu
    model: Transitions

    def response(self, player: int, play, best: bool) -> float:
        """Value to `player` who answers the other's mixtures, or plays his own if not `best`."""
        prior = self.model.prior
        start = State.start(self.rules)
        return sum(
            p * self._value(start, 0, 0, i, prior, player, play, best) for i, p in enumerate(prior)
        )

    def _value(self, state, dealt, board_class, mine, his, player, play, best) -> float:
        last = dealt + 1 == self.rules.rounds
        if state.is_over and (state.folded is not None or last):
            half = min(state.committed)
            if state.folded is not None:
                return half * his.sum() * (-1 if state.folded == player else 1)
            return half * (self.model.results[board_class][mine] @ his)
        if state.is_over or state.round > dealt:
            told = dealt + 1 == self.model.classed
            total = 0.0
            for c in range(self.model.classes) if told else [board_class]:
                step = self.model.steps[c][dealt]
                chance = self.model.chances[c] if told else 1.0
                for now in range(len(step)):
                    after = self._value(state, dealt + 1, c, now, step @ his, player, play, best)
                    total += chance * step[now, mine] * after
            return total
        actions, text = self.menu.actions(state), state.betting_text()
        if len(actions) == 1:
            return self._value(
                state.apply(actions[0]), dealt, board_class, mine, his, player, play, best
            )
        mixture = play(dealt, board_class, text)
        values = []
        for i, action in enumerate(actions):
            reach = his if state.to_act == player else his * mixture[i]
            values.append(
                self._value(
                    state.apply(action), dealt, board_class, mine, reach, player, play, best
                )
            )
        if state.to_act != player:
            return sum(values)
        return max(values) if best else float(mixture[:, mine] @ values)


def model(rounds: int, classes: int, seed: int, classed: int = 1) -> Transitions:
    rng = np.random.default_rng(seed)
    sizes = (3, 5, 4)[:rounds]
    steps, results = [], []
    for _ in range(classes):
        known = tuple(rng.dirichlet(np.ones(b), size=a).T for a, b in pairwise(sizes))
        steps.append(steps[0][: classed - 1] + known[classed - 1 :] if steps else known)
        result = rng.uniform(-1, 1, (sizes[-1], sizes[-1]))
        results.append((result - result.T) / 2)
    return Transitions(
        rng.dirichlet(np.ones(3)),
        rng.dirichlet(np.ones(classes)),
        tuple(steps),
        tuple(results),
        (0, 1, 1)[:rounds],
        classed,
    )


@pytest.mark.parametrize(("classes", "classed"), [(1, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize(
    ("rounds", "deck", "menu"), [(2, DECK, "100%,a"), (2, LIMIT, None), (3, DECK, "a")]
)
def test_independent_buckets(
    rounds: int, deck: SmallDeck, menu: str | None, classes: int, classed: int
) -> None:
    if classed >= rounds:
        pytest.skip("no boards of that street")
    rules = replace(deck, board_cards=(0, 1, 1)[:rounds]).rules()
    bets, chances = BetMenu.of(menu), model(rounds, classes, seed=classes, classed=classed)
    game = independent_game(rules, chances, bets)
    # Two threads share out the boards of the classed street.
    tableau = Tableau(game, precision="float64", threads=2)
    assert tableau.threads == min(2, classes)
    rows = random_rows(tableau, 2)
    mixtures = by_text(tableau, rows)

    def play(dealt: int, board_class: int, text: str) -> np.ndarray:
        if dealt < classed:
            return mixtures[dealt, text]
        return mixtures[classed + (dealt - classed) * classes + board_class, text]

    judge = ChanceReferee(rules, bets, chances)
    assert value_of(tableau, rows) == pytest.approx(judge.response(0, play, best=False), abs=1e-9)
    best = [judge.response(player, play, best=True) for player in (0, 1)]
    found = [response_value(tableau, player, rows) for player in (0, 1)]
    assert found == pytest.approx(best, abs=1e-9)
    assert exploitability_of(tableau, rows) == pytest.approx(sum(best) / 2, abs=1e-9)
    assert sum(best) > 0.01

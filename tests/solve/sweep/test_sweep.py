"""The compiled sweep agrees with its slow twin: reach, terminals, deals, row rules, averages."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from twin import Twin

from equipoise.games.betting import Betting, Rake
from equipoise.games.boards import deal_cards
from equipoise.games.catalogue import holdem_small, kuhn_nolimit, leduc, leduc_nolimit
from equipoise.games.dealing import hand_strength
from equipoise.games.game import CardText, Game
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules
from equipoise.games.spot import Spot
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Tableau

RAKE = Rake(0.1, 0.7)
#: All-in is possible on every street, and boards that differ by suits are merged.
STREETS: dict[str, Any] = {
    "hole_cards": 2,
    "board_cards": (0, 1, 1),
    "blinds": (2, 1),
    "stack": 6,
    "menu": "100%,a",
}


def ranges_on(start: tuple[int, ...], sizes: tuple[int, int], rng: np.random.Generator) -> Any:
    """Random hands with random weights for each player, some hands held by both."""
    every = [pair[::-1] for pair in combinations(range(52), 2) if not set(pair) & set(start)]
    laid = []
    for size in sizes:
        chosen = np.sort(rng.choice(len(every), size, replace=False))
        laid.append((np.array([every[i] for i in chosen], dtype=np.int16), rng.random(size)))
    return tuple(laid)


def postflop(board: tuple[int, ...], board_cards: tuple[int, ...], rake: Rake) -> Game:
    """A spot with 52 cards: a pot of 20, stacks of 50, ranges of 211 and 230 hands."""
    rules = Rules(
        name="spot",
        limit=False,
        blinds=(0, 0),
        first=(0,) * len(board_cards),
        stacks=(50, 50),
        board_cards=board_cards,
        dead=20,
    )
    deal = deal_cards(
        suits=4,
        ranks=13,
        hole_cards=2,
        board_cards=board_cards,
        strength=hand_strength(4, 13),
        evaluator="sorted",
        start=board,
        ranges=ranges_on(board, (211, 230), np.random.default_rng(8)),
    )
    betting = Betting.build(rules, BetMenu.parse("50%,a"), rake)
    text = CardText.of_deck(13, 4)
    return Game("spot", betting, deal, 1.0, text.state, text.board)


@cache
def built(name: str) -> tuple[Game, Twin]:
    """A game and its twin."""
    if name == "leduc":
        return leduc(), Twin(leduc())
    if name == "leduc with suits":
        game = leduc(suits=True)
        return game, Twin(game, hand_strength(2, 3))
    if name in ("river", "raked river"):
        game = postflop((3, 17, 22, 41, 50), (0,), RAKE if "raked" in name else Rake())
        return game, Twin(game, hand_strength(4, 13))
    evaluator, suits, *raked = name.split()
    game = holdem_small(
        ranks=3,
        suits=int(suits[0]),
        evaluator=evaluator,
        rake=RAKE if raked else Rake(),
        **STREETS,
    )
    return game, Twin(game, hand_strength(int(suits[0]), 3))


MATRIX = ["leduc", "leduc with suits", "matrix 2suits", "matrix 3suits", "matrix 2suits raked"]
SORTED = ["sorted 2suits", "sorted 3suits", "sorted 2suits raked", "river", "raked river"]


def tolerance(game: Game, tableau: Tableau) -> float:
    """1e-12 chips in double precision, 1e-5 of the opponent's mass times the pot in single."""
    if tableau.dtype == np.float64:
        return 1e-12
    chips = max(np.abs(game.betting.even).max(), game.betting.swing.max())
    return 1e-5 * max(start.sum() for start in game.deal.initial) * float(chips)


def random_rows(tableau: Tableau, rng: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    """Random signed rows, the same for hands that a renaming of suits exchanges."""
    game, index = tableau.game, tableau.index
    rows = tableau.rows()
    for b, node in index.decisions():
        board, player = game.deal.boards[b], int(game.betting.kind[node])
        block = index.block(rows, b, node)
        drawn = rng.normal(size=block.shape)
        # Some hands never take some actions, some have nothing to go by.
        drawn[rng.random(block.shape) < 0.1] = 0.0
        drawn[:, rng.random(block.shape[1]) < 0.05] = -1.0
        hands = [tuple(hand) for hand in board.hands[player].tolist()]
        number = {hand: i for i, hand in enumerate(hands)}
        for i, hand in enumerate(hands):
            images = {i}
            for renaming in board.symmetries:
                suits = len(renaming)
                moved = (c - c % suits + renaming[c % suits] for c in hand)
                images.add(number[tuple(sorted(moved, reverse=True))])
            block[:, i] = scale * drawn[:, min(images)]
    return rows


class Bout:
    """One sweep by the kernel and by the twin, from the same random rows."""

    def __init__(self, name: str, player: int, rule: int, **how: Any) -> None:
        threads, precision = how.pop("threads", 1), how.pop("precision", None)
        self.game, self.twin = built(name)
        self.tableau = Tableau(self.game, precision, threads)
        self.player, self.rule = player, rule
        self.tolerance = tolerance(self.game, self.tableau)
        rng = np.random.default_rng([player, rule, len(name)])
        scale = 1.0 if self.tableau.dtype == np.float64 else 1e4 * self.tolerance
        sets = {
            key: random_rows(self.tableau, rng, scale)
            for key in ("facing", "rows", "out", "plan", "weights")
        }
        np.abs(sets["weights"], out=sets["weights"])
        self.slow = {key: rows.astype(np.float64) for key, rows in sets.items()}
        self.before = {key: rows.copy() for key, rows in sets.items()}
        par = self.tableau.parameters(**how)
        self.fast_value = self.tableau.sweep(player, rule, par=par, **sets)
        self.fast = sets
        self.slow_value = self.twin.sweep(player, rule, **self.slow, **how)

    def agree(self, *keys: str) -> None:
        """Root values and the sets of rows in `keys` are the same, all others untouched."""
        near = {"rtol": 0, "atol": self.tolerance}
        np.testing.assert_allclose(self.fast_value, self.slow_value, **near)
        assert np.abs(self.slow_value).max() > 100 * self.tolerance
        for key in self.fast:
            if key in keys:
                for b, node in self.tableau.index.decisions():
                    fast = self.tableau.index.block(self.fast[key], b, node)
                    slow = self.twin.index.block(self.slow[key], b, node)
                    np.testing.assert_allclose(fast, slow, err_msg=f"{key} {b} {node}", **near)
                assert not np.array_equal(self.fast[key], self.before[key])
            else:
                assert np.array_equal(self.fast[key], self.before[key]), key


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", MATRIX + SORTED)
def test_value_and_plan(name: str, player: int) -> None:
    """Down: reach and the mixing of the plan. Up: all terminals, all deals, the value."""
    bout = Bout(name, player, rowrules.VALUE, keep=0.7, gain=0.3)
    bout.agree("plan")


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "matrix 3suits", "sorted 3suits", "river"])
def test_regret_with_discounts_and_floor(name: str, player: int) -> None:
    Bout(name, player, rowrules.REGRET, positive=0.9, negative=0.4).agree("plan", "rows")
    Bout(name, player, rowrules.REGRET, floor=0.0).agree("plan", "rows")


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "matrix 3suits", "sorted 3suits", "river"])
def test_regret_in_bounded_steps(name: str, player: int) -> None:
    bounded = Bout(name, player, rowrules.REGRET, positive=0.9, negative=0.4, step=0.02)
    bounded.agree("plan", "rows")
    free = Bout(name, player, rowrules.REGRET, positive=0.9, negative=0.4)
    assert not np.allclose(bounded.fast["rows"], free.fast["rows"], atol=free.tolerance)


def test_steps_are_bounded_alike_where_rows_are_packed_and_where_hands_are_locked() -> None:
    bout = Bout("river", 0, rowrules.REGRET, positive=0.9, negative=0.4, step=0.02)
    tableau, learnt = bout.tableau, bout.slow["rows"]
    index, par = tableau.index, tableau.parameters(positive=0.9, negative=0.4, step=0.02)
    mine = [n for _, n in index.decisions() if int(bout.game.betting.kind[n]) == 0]
    packed, units = tableau.rows(np.int16), tableau.units()
    for k, node in enumerate(mine):
        block = index.block(bout.before["rows"], 0, node)
        units[k] = np.abs(block).max() / 32767
        index.block(packed, 0, node)[:] = np.rint(block / units[k])
    numbers = tableau.numbers(facing=packed, rows=packed, rows_unit=units)
    slow = {"facing": np.zeros(len(packed)), "rows": np.zeros(len(packed))}
    for rows in slow.values():
        for k, node in enumerate(mine):
            index.block(rows, 0, node)[:] = index.block(packed, 0, node) * units[k]
    tableau.run(numbers, par.reshape(1, -1), rowrules.REGRET, 0, 0, True)
    bout.twin.sweep(0, rowrules.REGRET, **slow, positive=0.9, negative=0.4, step=0.02)
    for k, node in enumerate(mine):
        found = index.block(packed, 0, node) * units[k]
        np.testing.assert_allclose(
            found, index.block(slow["rows"], 0, node), atol=units[k] + bout.tolerance
        )
    locks = {}
    for node in mine:
        actions, states = index.block(learnt, 0, node).shape
        locked = np.arange(states) % 2 == 0
        locks[0, node] = (locked, np.full((actions, states), 1 / actions))
    # Below the last decisions of a line no hand of mine is locked yet: their values are as before.
    last = [n for n in mine if not {int(c) for c in _below(bout.game, n)} & set(mine)]
    tableau.lock(locks)
    rows = bout.before["rows"].copy()
    tableau.sweep(0, rowrules.REGRET, facing=bout.fast["facing"], rows=rows, par=par)
    for node in last:
        found, old = index.block(rows, 0, node), index.block(bout.before["rows"], 0, node)
        assert np.array_equal(found[:, ::2], old[:, ::2])
        expected = index.block(learnt, 0, node)[:, 1::2]
        np.testing.assert_allclose(found[:, 1::2], expected, rtol=0, atol=bout.tolerance)


def _below(game: Game, node: int) -> list[int]:
    """All nodes below one."""
    children = list(game.betting.children(node))
    return children + [n for child in children for n in _below(game, child)]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "matrix 2suits", "sorted 2suits", "river"])
def test_predictive_with_discounts_and_floor(name: str, player: int) -> None:
    Bout(name, player, rowrules.PREDICTIVE, floor=0.0).agree("plan", "rows", "out")
    Bout(name, player, rowrules.PREDICTIVE, positive=0.9, negative=0.4).agree("plan", "rows", "out")


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "matrix 3suits", "sorted 3suits", "raked river"])
def test_best_response_and_its_choice(name: str, player: int) -> None:
    bout = Bout(name, player, rowrules.BEST)
    np.testing.assert_allclose(bout.fast_value, bout.slow_value, rtol=0, atol=bout.tolerance)
    for b, node in bout.tableau.index.decisions():
        if int(bout.game.betting.kind[node]) != player:
            continue
        chosen = bout.tableau.index.block(bout.fast["out"], b, node)
        assert np.array_equal(np.sort(chosen, axis=0)[:-1], np.zeros_like(chosen[1:]))
        assert np.array_equal(chosen.sum(axis=0), np.ones(chosen.shape[1]))
        children = bout.twin.children[b, node]
        lost = children.max(axis=0) - (chosen * children).sum(axis=0)
        assert np.abs(lost).max() <= bout.tolerance


def test_first_of_equal_actions_is_chosen() -> None:
    """Nobody reaches: everything is worth exactly 0."""
    game = leduc()
    game.deal.initial = (np.zeros(3), np.zeros(3))
    tableau = Tableau(game)
    out = tableau.rows()
    assert not tableau.sweep(0, rowrules.BEST, facing=tableau.rows(), out=out).any()
    for b, node in tableau.index.decisions():
        if int(tableau.game.betting.kind[node]) == 0:
            chosen = tableau.index.block(out, b, node)
            assert (chosen[0] == 1).all()
            assert not chosen[1:].any()


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "matrix 3suits", "sorted 2suits"])
def test_gradient(name: str, player: int) -> None:
    Bout(name, player, rowrules.GRADIENT).agree("plan", "out")


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("rule", [rowrules.ENTROPY, rowrules.EUCLIDEAN])
@pytest.mark.parametrize("name", ["leduc", "matrix 2suits"])
def test_smoothed_best_responses(name: str, rule: int, player: int) -> None:
    for smoothing in (0.01, 1.0):
        bout = Bout(name, player, rule, smoothing=smoothing)
        # Values are divided by the smoothing, some of it close to 0.
        bout.tolerance = 1e-9
        bout.agree("plan", "out")


@pytest.mark.parametrize(
    ("rule", "distance"),
    [
        (rowrules.ENTROPY, lambda x: np.log(len(x)) + (x * np.log(np.maximum(x, 1e-300))).sum()),
        (rowrules.EUCLIDEAN, lambda x: ((x - 1 / len(x)) ** 2).sum() / 2),
    ],
    ids=["entropy", "euclidean"],
)
def test_smoothed_answers_are_optimal(rule: int, distance: Any) -> None:
    """SLSQP finds no better mixture of an information set's actions, and none far away as good."""
    game = kuhn_nolimit(stack=6)
    tableau, twin = Tableau(game), Twin(game)
    rng = np.random.default_rng(4)
    facing, out, weights = (random_rows(tableau, rng) for _ in range(3))
    np.abs(weights, out=weights)
    par = tableau.parameters(smoothing=0.4)
    tableau.sweep(0, rule, facing=facing, out=out, weights=weights, par=par)
    twin.sweep(0, rule, facing=facing, out=np.zeros_like(out), weights=weights, smoothing=0.4)
    decisions = [node for b, node in tableau.index.decisions() if int(game.betting.kind[node]) == 0]
    cut = 0
    for node in decisions:
        answers = tableau.index.block(out, 0, node)
        for h in range(answers.shape[1]):
            values = twin.children[0, node][:, h]
            scale = 0.4 * float(weights[int(tableau.index.base[0, 0]) + h])
            if scale == 0:
                continue

            def loss(x: np.ndarray, values=values, scale=scale) -> float:
                return float(-(values @ x) + scale * distance(x))

            count = len(values)
            found = minimize(
                loss,
                np.full(count, 1 / count),
                bounds=[(0, 1)] * count,
                constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            )
            assert answers[:, h].sum() == pytest.approx(1, abs=1e-12)
            assert answers[:, h].min() >= 0
            assert loss(answers[:, h]) <= found.fun + 1e-9
            np.testing.assert_allclose(answers[:, h], found.x, rtol=0, atol=2e-4)
            cut += int((answers[:, h] == 0).any())
    assert cut > 3 or rule == rowrules.ENTROPY


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("rule", [rowrules.REGRET, rowrules.PREDICTIVE])
def test_iterations(rule: int, simultaneous: bool) -> None:
    """Three iterations of both players in one call; player 1 answers old rows or new ones."""
    game = leduc_nolimit(stack=5)
    tableau, twin = Tableau(game), Twin(game)
    steps = [
        {"keep": t / (t + 1), "positive": 0.8, "negative": 0.5, "floor": -3.0} for t in (0, 1, 2)
    ]
    schedule = np.array([tableau.parameters(**step) for step in steps])
    rows, plan, out = (tableau.rows() for _ in range(3))
    # From zero, ties would be decided by rounding, in which the twin may differ.
    rng = np.random.default_rng(5)
    rows[:], out[:] = rng.standard_normal((2, len(rows)))
    slow_rows, slow_plan, slow_out = rows.copy(), plan.copy(), out.copy()
    tableau.iterate(
        rule,
        schedule,
        rows=rows,
        plan=plan,
        out=out,
        before=tableau.rows() if simultaneous else None,
    )
    for step in steps:
        facing = slow_rows.copy() if simultaneous else slow_rows
        for player in (0, 1):
            twin.sweep(
                player, rule, facing=facing, rows=slow_rows, out=slow_out, plan=slow_plan, **step
            )
    for fast, slow in ((rows, slow_rows), (plan, slow_plan), (out, slow_out)):
        for b, node in tableau.index.decisions():
            fast_block = tableau.index.block(fast, b, node)
            slow_block = tableau.index.block(slow, b, node)
            np.testing.assert_allclose(fast_block, slow_block, rtol=0, atol=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_mixing_goes_down_and_not_up(player: int) -> None:
    game, twin = built("matrix 3suits")
    tableau = Tableau(game)
    rng = np.random.default_rng(6)
    strategy, plan = random_rows(tableau, rng), random_rows(tableau, rng)
    kept, slow = strategy.copy(), plan.copy()
    tableau.mix(player, strategy, plan, tableau.parameters(keep=0.25, gain=0.75))
    twin.sweep(
        1 - player, rowrules.VALUE, facing=strategy, rows=strategy, plan=slow, keep=0.25, gain=0.75
    )
    for b, node in tableau.index.decisions():
        fast_block, slow_block = (tableau.index.block(rows, b, node) for rows in (plan, slow))
        np.testing.assert_allclose(fast_block, slow_block, rtol=0, atol=1e-12)
    assert np.array_equal(strategy, kept)


@pytest.mark.parametrize("rule", [rowrules.VALUE, rowrules.REGRET])
@pytest.mark.parametrize("name", ["leduc", "matrix 3suits", "sorted 3suits"])
def test_threads_share_the_boards(name: str, rule: int) -> None:
    for player in (0, 1):
        bout = Bout(name, player, rule, threads=2, keep=0.5)
        bout.agree("plan", *(["rows"] if rule == rowrules.REGRET else []))


@pytest.mark.parametrize("player", [0, 1])
def test_matrices_in_single_precision(player: int) -> None:
    game = built("matrix 3suits")[0]
    bout = Bout("matrix 3suits", player, rowrules.REGRET, precision="float32")
    assert bout.tableau.dtype == np.float32
    bout.tolerance = 1e-5 * float(game.betting.swing.max())
    bout.agree("plan", "rows")


def test_a_merged_board_counts_once_for_every_deal() -> None:
    """Three suits: far fewer boards than deals, and the arrivals make up the difference."""
    game = built("sorted 3suits")[0]
    second = [board for board in game.deal.boards if board.round == 1]
    assert len(second) == 3
    assert sum(len(board.arrivals) for board in second) == 9


@pytest.mark.parametrize("name", ["leduc with suits", "sorted 3suits", "turn"])
def test_any_number_of_threads_gives_the_same_answer_bit_for_bit(name: str) -> None:
    """Duties are the same boards whatever the threads, and their sums are added in order."""
    game = postflop((3, 17, 22, 41), (0, 1), RAKE) if name == "turn" else built(name)[0]
    answers = []
    for threads in (1, 2, 3):
        solver = DCFR(game, threads=threads)
        assert solver.tableau.threads == threads
        solver.advance(25)
        answers.append((solver.plan, solver.regrets, solver.exploitability()))
    for other in answers[1:]:
        for found, expected in zip(other, answers[0], strict=True):
            assert np.array_equal(found, expected)


def test_leftovers_share_a_batch_where_that_saves_one() -> None:
    """Six showdowns, five answers and five folds are one batch, not three."""
    spot = Spot("Td9d6hQc2s", "AA,KQs,J9s", "KK,QJs,98s", pot=100, stack=300, menu="50%,a")
    start = Tableau(spot.game()).layout.tables.terminal_start
    for player in (0, 1):
        assert np.diff(start[player, 0]).tolist() == [0, 16, 0]


def test_betting_in_parts_gives_the_same_answer_bit_for_bit(monkeypatch: Any) -> None:
    """What is evaluated at once is a matter of caches: no sum depends on it."""
    game = postflop((3, 17, 22, 41), (0, 1), RAKE)
    whole = DCFR(game)
    monkeypatch.setattr("equipoise.solve.sweep.gamearrays._TERMINALS_A_PART", 4)
    cut = DCFR(game)
    parts = [len(solver.tableau.lines.fold_start) for solver in (whole, cut)]
    assert parts[1] > parts[0]
    for solver in (whole, cut):
        solver.advance(12)
    assert np.array_equal(whole.plan, cut.plan)
    assert np.array_equal(whole.regrets, cut.regrets)
    for board in (0, 5):
        values = [solver.tableau.values(1, board, solver.plan) for solver in (whole, cut)]
        assert values[0].keys() == values[1].keys()
        assert all(np.array_equal(values[0][node], values[1][node]) for node in values[0])

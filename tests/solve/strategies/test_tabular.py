"""Strategies: printed, sliced, purified, thresholded, compared, saved; and how far they can be beaten."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from equipoise.errors import ArtefactError, SolverError
from equipoise.games.catalogue import holdem_small, kuhn, leduc
from equipoise.games.game import Game
from equipoise.games.spot import Spot
from equipoise.solve.solvers.cfr import CFRPlus
from equipoise.solve.strategies.bestresponse import (
    best_response,
    exploitability_of,
    response_value,
    value_of,
)
from equipoise.solve.strategies.postprocessing import PostProcessing, processed
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau

KUHN, LEDUC = kuhn(), leduc()


def random_strategy(game: Game, seed: int) -> TabularStrategy:
    rng = np.random.default_rng(seed)
    strategy = TabularStrategy.uniform(game)
    rows = np.zeros(strategy.index.size)
    for b, node in strategy.index.decisions():
        block = strategy.index.block(rows, b, node)
        block[:] = rng.dirichlet(np.full(len(block), 0.5), block.shape[1]).T
    return TabularStrategy(game, rows)


@pytest.fixture(scope="module")
def solved() -> TabularStrategy:
    solver = CFRPlus(KUHN)
    solver.advance(2000)
    return solver.average_strategy()


@pytest.mark.parametrize(("game", "chips"), [(KUHN, 0.458333), (LEDUC, 2.373611)])
def test_exploitability_of_uniform_play(game: Game, chips: float) -> None:
    rows = TabularStrategy.uniform(game).numbers
    assert exploitability_of(Tableau(game), rows) == pytest.approx(chips, abs=1e-6)


@pytest.mark.parametrize(("game", "value"), [(KUHN, -1 / 18), (LEDUC, -0.0856064241)])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_best_response_wins_at_least_the_value(game: Game, value: float, seed: int) -> None:
    rows, tableau = random_strategy(game, seed).numbers, Tableau(game)
    best = [response_value(tableau, player, rows) for player in (0, 1)]
    assert best[0] >= value - 1e-9
    assert best[1] >= -value - 1e-9
    assert best[0] >= value_of(tableau, rows) - 1e-12
    assert exploitability_of(tableau, rows) == pytest.approx(sum(best) / 2, abs=1e-12)


def test_a_best_response_is_worth_what_it_says() -> None:
    """Playing the choice against the same opponent earns the value of the best response."""
    tableau, strategy = Tableau(LEDUC), random_strategy(LEDUC, 7)
    owner = np.zeros(strategy.index.size, dtype=int)
    for b, node in strategy.index.decisions():
        strategy.index.block(owner, b, node)[:] = LEDUC.betting.kind[node]
    for player in (0, 1):
        out = tableau.rows()
        best = response_value(tableau, player, strategy.numbers, out)
        played = value_of(tableau, np.where(owner == player, out, strategy.numbers))
        assert played * (1 - 2 * player) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("game", [KUHN, LEDUC])
def test_a_strategy_judges_itself(game: Game) -> None:
    strategy = random_strategy(game, 11)
    best = [best_response(strategy, player) for player in (0, 1)]
    assert strategy.exploitability() == pytest.approx((best[0].value + best[1].value) / 2)
    for player, found in enumerate(best):
        assert found.value == pytest.approx((1 - 2 * player) * found.strategy.value())
        # The other player plays on as he did, and there is nothing more to win against him.
        assert best_response(found.strategy, player).value == pytest.approx(found.value)
        for b, node in strategy.index.decisions():
            played = found.strategy.rows(node, b)
            if game.betting.kind[node] == player:
                assert set(np.unique(played)) <= {0.0, 1.0}
            else:
                np.testing.assert_allclose(played, strategy.rows(node, b))
    with pytest.raises(SolverError, match="player = 2"):
        best_response(strategy, 2)


def test_values_of_a_spot_count_its_pot() -> None:
    spot = Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    strategy = TabularStrategy.uniform(spot.game())
    gains = [best_response(strategy, player).value for player in (0, 1)]
    assert gains[0] - strategy.value() >= 0
    assert gains[1] + strategy.value() >= 0
    assert sum(gains) / 2 == pytest.approx(strategy.exploitability(), abs=1e-4)


def test_dictionaries() -> None:
    for game in (KUHN, LEDUC):
        strategy = random_strategy(game, 12)
        told = strategy.to_dict()
        assert len(told) == sum(game.information_sets())
        again = TabularStrategy.from_dict(game, told)
        assert again.distance(strategy) < 1e-12
    assert told["K", ""] == strategy["K", ""]
    assert sum(strategy["K", "cc/r", "Q"].values()) == pytest.approx(1)
    assert strategy["K", "cc/r", "Q"] == told["K", "cc/r", "Q"]
    one = TabularStrategy.from_dict(KUHN, {("K", "cr"): {"call": 1}, ("J", "r"): (0.25, 0.75)})
    assert one["K", "cr"] == {"fold": 0.0, "call": 1.0}
    assert one["J", "r"] == {"fold": 0.25, "call": 0.75}
    assert one["Q", "cr"] == {"fold": 0.5, "call": 0.5}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("K", "rr"), r"no decision after 'rr' before any public card: did you mean 'r'"),
        (("K", "cr", "Q"), "no decision after 'cr' on 'Q'"),
        (("A", "cr"), "player 0 never holds 'A' there: choose from J, Q, K"),
        ("K", 'as in strategy\\["K", "cr"\\]'),
        (("K", 3), "name a private state"),
    ],
)
def test_information_sets_that_are_not_there(key, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        TabularStrategy.uniform(KUHN)[key]


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        ({"fold": 0.5, "call": 0.6}, "sum to 1"),
        ({"fold": 1.5, "call": -0.5}, "sum to 1"),
        ({"raise": 1.0}, "choose from fold, call"),
        ([1.0], "1 probabilities at 'K', 'cr': give one for each of fold, call"),
        ([float("nan"), 1.0], "sum to 1"),
    ],
)
def test_what_is_no_mixture(mix, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        TabularStrategy.from_dict(KUHN, {("K", "cr"): mix})


def test_rows_of_all_boards_stand_side_by_side() -> None:
    strategy, node = random_strategy(LEDUC, 13), int(LEDUC.betting.start[1])
    boards = [b for b, board in enumerate(LEDUC.deal.boards) if board.round == 1]
    side_by_side = np.concatenate([strategy.rows(node, b) for b in boards], axis=1)
    np.testing.assert_array_equal(strategy.rows(node), side_by_side)


def test_entries_cover_every_information_set() -> None:
    entries = list(random_strategy(LEDUC, 1))
    for player in (0, 1):
        mine = [e for e in entries if e.player == player]
        assert len(mine) == LEDUC.information_sets()[player]
        assert len({(e.board, e.betting, e.state) for e in mine}) == len(mine)
    for entry in entries:
        assert len(entry.actions) == len(entry.probabilities)
        assert sum(entry.probabilities) == pytest.approx(1)


def test_entries_read_like_poker(solved: TabularStrategy) -> None:
    by_place = {(e.state, e.betting): e for e in solved}
    king = by_place["K", "r"]
    assert (king.player, king.board, king.actions) == (1, "", ("fold", "call"))
    assert king.probabilities == pytest.approx((0, 1), abs=1e-3)
    jack = by_place["J", "c"]
    assert jack.actions == ("check", "bet 1")
    assert jack.probabilities == pytest.approx((2 / 3, 1 / 3), abs=0.01)
    bluff, value = (by_place[card, ""].probabilities[1] for card in "JK")
    assert value == pytest.approx(3 * bluff, abs=0.02)
    call = by_place["Q", "cr"].probabilities[1]
    assert call == pytest.approx(bluff + 1 / 3, abs=0.02)


def test_slices_are_probabilities_and_agree_with_entries() -> None:
    game = leduc(suits=True)
    strategy = random_strategy(game, 2)
    flat = [p for e in strategy for p in e.probabilities]
    sliced = [
        p for b, node in strategy.index.decisions() for p in strategy.rows(node, b).T.reshape(-1)
    ]
    assert flat == pytest.approx(sliced)
    assert strategy.rows(0).shape == (2, 6)
    assert strategy.rows(int(game.betting.start[1]), board=3).shape == (2, 5)


def test_where_nothing_is_known_play_is_uniform() -> None:
    rows = np.zeros(TabularStrategy.uniform(KUHN).index.size)
    strategy = TabularStrategy(KUHN, rows)
    strategy.index.block(strategy.numbers, 0, 0)[:, 1] = [-2.0, 3.0]
    assert strategy.rows(0).tolist() == [[0.5, 0.0, 0.5], [0.5, 1.0, 0.5]]
    assert strategy.reached(0).tolist() == [False, True, False]


def test_a_strategy_is_a_copy() -> None:
    solver = CFRPlus(KUHN)
    solver.advance(10)
    strategy = solver.average_strategy()
    before = strategy.rows(0).copy()
    solver.advance(10)
    assert np.array_equal(strategy.rows(0), before)
    assert not np.array_equal(solver.average_strategy().rows(0), before)


def test_rows_of_another_game_are_refused() -> None:
    with pytest.raises(SolverError, match="another game"):
        TabularStrategy(KUHN, np.zeros(5))
    with pytest.raises(SolverError, match="cannot be compared"):
        TabularStrategy.uniform(KUHN).distance(TabularStrategy.uniform(LEDUC))


def printed(strategy: TabularStrategy, **how) -> str:
    shown = StringIO()
    Console(width=120, file=shown).print(strategy.table(**how))
    return shown.getvalue()


def test_table(solved: TabularStrategy) -> None:
    whole = printed(solved)
    assert "kuhn: average strategy" in whole
    assert whole.count("fold") == 6
    assert whole.count("bet 1") == 6
    assert "not shown" not in whole
    assert len(printed(solved, player=1).splitlines()) < len(whole.splitlines())
    assert "fold 0.0%  call 100.0%" in whole
    short = printed(random_strategy(LEDUC, 3), player=0, most=10)
    assert "134 more information sets not shown" in short


def test_processed_is_post_processing_at_every_decision() -> None:
    strategy = random_strategy(LEDUC, 4)
    pure = processed(strategy, PostProcessing.parse("purify"))
    cut = processed(strategy, PostProcessing.parse("raw/threshold 0.3"))
    for b, node in strategy.index.decisions():
        before = strategy.rows(node, b)
        assert np.array_equal(pure.rows(node, b), before == before.max(axis=0))
        if LEDUC.deal.boards[b].round == 0:
            np.testing.assert_allclose(cut.rows(node, b), before)
        else:
            kept = np.where((before >= 0.3) | (before == before.max(axis=0)), before, 0.0)
            np.testing.assert_allclose(cut.rows(node, b), kept / kept.sum(axis=0))


def test_distance() -> None:
    first, second = random_strategy(LEDUC, 5), random_strategy(LEDUC, 6)
    assert first.distance(first) == 0
    assert first.distance(second) == second.distance(first) > 0.5
    nudged = TabularStrategy(KUHN, TabularStrategy.uniform(KUHN).numbers)
    nudged.index.block(nudged.numbers, 0, 0)[:, 2] = [0.2, 0.8]
    assert nudged.distance(TabularStrategy.uniform(KUHN)) == pytest.approx(0.3)
    scaled = TabularStrategy(LEDUC, 7 * first.numbers)
    assert first.distance(scaled) < 1e-12


def test_round_trip(tmp_path: Path) -> None:
    path, strategy = tmp_path / "leduc", random_strategy(LEDUC, 8)
    strategy.save(path)
    again = TabularStrategy.load(path, leduc())
    assert np.array_equal(again.numbers, strategy.numbers)
    assert again.distance(strategy) == 0


def test_files_of_other_games_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    random_strategy(LEDUC, 8).save(path)
    for other in (KUHN, leduc(suits=True), leduc(max_raises=1)):
        with pytest.raises(ArtefactError, match="a strategy of leduc, not of"):
            TabularStrategy.load(path, other)
    # The same size, other payoffs.
    deeper, shallower = (holdem_small("tiny", stack=s, menu="a") for s in (6, 5))
    TabularStrategy.uniform(deeper).save(path)
    assert (
        TabularStrategy.uniform(shallower).index.size == TabularStrategy.uniform(deeper).index.size
    )
    with pytest.raises(ArtefactError, match="a strategy of"):
        TabularStrategy.load(path, shallower)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    strategy = random_strategy(KUHN, 9)
    strategy.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    with pytest.raises(ArtefactError, match="damaged"):
        TabularStrategy.load(path, KUHN)
    for at in (len(whole) - 300, len(whole) - 1, whole.index(b"fingerprint") + 20):
        damaged = bytearray(whole)
        damaged[at] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(ArtefactError, match="damaged"):
            TabularStrategy.load(path, KUHN)
    solver = CFRPlus(KUHN)
    solver.save(path)
    with pytest.raises(ArtefactError, match="holds a solver, not a strategy"):
        TabularStrategy.load(path, KUHN)

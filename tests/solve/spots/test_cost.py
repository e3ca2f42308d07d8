"""What a spot costs: counted before it is built, and refused with the size to drop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from equipoise.errors import TooLargeError
from equipoise.games.spot import Spot
from equipoise.solve.spots import cost as cost_of
from equipoise.solve.spots.cost import check_fits, spot_cost
from equipoise.solve.sweep.tableau import Tableau

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "spots").glob("*.toml"))


def example(name: str) -> Spot:
    return Spot.load(next(path for path in EXAMPLES if path.stem == name))


COSTED = [path.stem for path in EXAMPLES if path.stem != "flop_basic"]


@pytest.mark.parametrize("name", COSTED)
@pytest.mark.parametrize("use_symmetry", [True, False])
def test_the_cost_is_what_is_allocated(name, use_symmetry):
    if name.startswith("flop") and not use_symmetry:
        pytest.skip("one flop layout is enough")
    spot = example(name)
    cost, game = spot_cost(spot, use_symmetry), spot.game(use_symmetry)
    tableau = Tableau(game)
    assert cost.numbers == tableau.index.size
    assert cost.total_decisions == tableau.index.decision_count
    assert cost.allin_bytes == tableau.layout.tables.runouts.nbytes
    assert cost.nodes == tuple(b - a for a, b in game.betting.spans())


def test_memory_counts_two_sets_of_rows():
    cost = spot_cost(example("turn_medium"))
    tables = cost.allin_bytes + cost.board_bytes
    assert cost.memory_bytes() == 8 * cost.numbers + tables
    assert cost.memory_bytes(compressed=True) == 4 * cost.numbers + 8 * 4432 + tables
    assert cost.memory_mb == cost.memory_bytes() / 1e6
    assert 16 < cost.compressed_memory_mb < 18
    assert "turn: 1 board, 16 decisions on each\nriver: 48 boards" in str(cost)
    assert "4,432 decisions in all, 32 MB (17 MB in 16 bits)" in str(cost)


def test_what_does_not_fit_is_told_what_to_cut():
    spot = example("flop_basic")
    cost = check_fits(spot, 10**9)
    assert cost == spot_cost(spot)
    needed, packed = cost.memory_bytes(), cost.memory_bytes(compressed=True)
    with pytest.raises(TooLargeError) as caught:
        check_fits(spot, needed - 1)
    assert str(caught.value).startswith("the spot needs 653 MB and 653 MB may be used: ")
    assert "store 16-bit numbers (341 MB), or drop the river's 60% bet of ip" in str(caught.value)
    assert check_fits(spot, packed, compressed=True) == cost
    with pytest.raises(TooLargeError, match="drop the river's 60% bet of ip and store 16-bit"):
        check_fits(spot, packed - 1)
    with pytest.raises(TooLargeError, match=r"used: drop the river's 60% bet of ip \(") as caught:
        check_fits(spot, packed - 1, compressed=True)
    assert "16-bit" not in str(caught.value)
    with pytest.raises(TooLargeError, match="then drop more sizes, lower max_raises or narrow"):
        check_fits(spot, 10**6)


def test_the_size_named_saves_most():
    spot = example("turn_donk")
    menus = dict(spot.menu.without_each_size(2))
    saved = {
        name: spot_cost(replace(spot, menu=menu)).memory_bytes() for name, menu in menus.items()
    }
    best = min(saved, key=saved.get).replace("player 0", "oop").replace("player 1", "ip")
    with pytest.raises(TooLargeError) as caught:
        check_fits(spot, spot_cost(spot).memory_bytes(True) - 1)
    assert f"drop {best} and" in str(caught.value)


def test_the_limit_is_the_memory_there_is(monkeypatch):
    monkeypatch.setattr(cost_of, "available_bytes", lambda: 10**6)
    with pytest.raises(TooLargeError, match=r"0\.8 MB may be used"):
        check_fits(example("turn_medium"))
    assert check_fits(example("river_small")).boards == (1,)


def test_board_tables_are_of_the_size_estimated():
    spot = example("turn_medium")
    game = spot.game()
    tableau = Tableau(game)
    tables = tableau.layout.tables
    arrays = [tables.card1, tables.card2, tables.same, tables.group_end, tables.weaker_end]
    arrays += [tables.tied_end, tableau.boards.maps, tableau.boards.back]
    for board in game.deal.boards:
        arrays += [*board.hands, *(board.strength or ()), *(m for a in board.arrivals for m in a)]
    real = sum(array.nbytes for array in arrays)
    assert real / 2 < spot_cost(spot).board_bytes < 2 * real


def test_what_does_not_fit_counts_from_the_line():
    turn = example("turn_medium")
    late = replace(turn, line="bet 50, raise 120")
    assert spot_cost(late).numbers < spot_cost(turn).numbers
    with pytest.raises(TooLargeError, match="drop the"):
        check_fits(late, spot_cost(late).memory_bytes(True) - 1)

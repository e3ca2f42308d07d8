"""What a spot costs, counted before it is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.games.spot import Spot
from equipoise.solve.spots.cost import spot_cost
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


def test_board_tables_are_of_the_size_estimated():
    spot = example("turn_medium")
    game = spot.game()
    tableau = Tableau(game)
    tables = tableau.layout.tables
    arrays = [tables.card1, tables.card2, tables.same, tables.tie1, tables.tie2, tables.group_end]
    arrays += [tables.weaker_end, tables.tied_end, tables.bundle_card, tables.fours_end]
    arrays += [tables.fours, tableau.boards.maps, tableau.boards.back]
    for board in game.deal.boards:
        arrays += [*board.hands, *(board.strength or ()), *(m for a in board.arrivals for m in a)]
    real = sum(array.nbytes for array in arrays)
    assert real / 2 < spot_cost(spot).board_bytes < 2 * real

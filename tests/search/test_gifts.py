"""Gifts on a line, against the sequence form."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.bench.reproduce.subgames.leduc import blueprints, second_rounds, sequence_leduc
from equipoise.games.library.leduc import leduc
from equipoise.search.gifts import line_gifts
from equipoise.solve.sweep.tableau import Tableau


@pytest.mark.parametrize("name", ["noisy", "uniform", "J=Q"])
@pytest.mark.parametrize("seat", [0, 1])
def test_gifts_of_leduc(name: str, seat: int) -> None:
    game, play = leduc(), blueprints()[name]
    tableau, listed = Tableau(game), sequence_leduc()
    rows = tableau.rows()
    for b, node in tableau.index.decisions():
        player, history = int(game.betting.kind[node]), game.betting.states[node].betting_text()
        block = tableau.index.block(rows, b, node)
        for card in range(3):
            known = play[player].get((card, b - 1 if b else None, history))
            block[:, card] = 1.0 / len(block) if known is None else known
    leaves = {
        game.betting.states[node].betting_text(): node for node in range(int(game.betting.start[1]))
    }
    checked = 0
    for one in second_rounds(listed, play, seat):
        found = line_gifts(tableau, rows, 1 - seat, leaves[one.start])
        for card, mass in one.mass.items():
            if mass > 1e-9:
                assert found[card] == pytest.approx(one.gifts[card] / mass, abs=1e-6)
                checked += 1
    assert checked > 10
    assert np.isfinite(found).all()

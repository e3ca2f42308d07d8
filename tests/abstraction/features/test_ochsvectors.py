"""Equity against clusters of hands: against all pairs on random boards."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.abstraction.boardindex import RENAMED_CARD, RENAMED_COMBO, board_index
from equipoise.abstraction.features.equities import score_rivers
from equipoise.abstraction.features.kernels import FULL_SCORE, FULL_STEPS, NO_STEPS
from equipoise.abstraction.features.ochs import river_vectors
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, blocked, parse_combo
from equipoise.cards.evaluator import strengths
from equipoise.errors import GameError

EIGHT = (np.arange(169) * 8 // 169).tolist()


def test_against_all_pairs() -> None:
    rng = np.random.default_rng(4)
    boards = np.array([rng.permutation(52)[:5] for _ in range(3)], dtype=np.uint8)
    cluster = np.array(EIGHT)[COMBO_CLASS]
    for board, found in zip(boards.tolist(), river_vectors(boards, EIGHT), strict=True):
        assert np.array_equal(found[:, 0] == NO_STEPS, blocked(tuple(board)))
        value = strengths(tuple(board)).astype(np.int64)
        for combo in rng.choice(np.flatnonzero(~blocked(tuple(board))), 40).tolist():
            free = ~blocked((*board, *COMBO_CARDS[combo].tolist()))
            share = (value < value[combo]) + 0.5 * (value == value[combo])
            for c in range(8):
                equity = share[free & (cluster == c)].mean()
                assert abs(found[combo, c] / FULL_STEPS - equity) <= 0.5 / FULL_STEPS + 1e-6


def test_one_cluster_is_river_equity() -> None:
    boards = board_index(5).boards[::20_000]
    found = river_vectors(boards, [0] * 169)[:, :, 0]
    scores = score_rivers(boards)
    live = scores <= FULL_SCORE
    assert np.array_equal(found != NO_STEPS, live)
    assert np.abs(found[live] / FULL_STEPS - scores[live] / FULL_SCORE).max() <= 0.51 / FULL_STEPS


def test_a_cluster_that_no_one_can_hold_says_a_half() -> None:
    aces_apart = [0] + [1] * 168
    board = np.array([parse_cards("As Ah Kd 7c 2h")], dtype=np.uint8)
    found = river_vectors(board, aces_apart)[0]
    assert found[parse_combo("AcQd"), 0] == FULL_STEPS // 2
    assert found[parse_combo("QcQd"), 0] == 0


def test_the_same_under_renamings() -> None:
    board = np.array([parse_cards("Js 9s 9d 4h 2s")], dtype=np.uint8)
    known = river_vectors(board, EIGHT)[0]
    for renaming in (5, 17):
        other = river_vectors(RENAMED_CARD[renaming][board], EIGHT)[0]
        assert np.array_equal(other[RENAMED_COMBO[renaming]], known)


@pytest.mark.parametrize("clusters", [[0] * 168, [1] * 169, list(range(17)) + [0] * 152])
def test_clusters_that_make_no_sense(clusters: list[int]) -> None:
    with pytest.raises(GameError, match="cluster"):
        river_vectors(board_index(5).boards[:1], clusters)

"""Hand against hand before the flop: the shipped table agrees with counting, in every suit."""

import numpy as np
import pytest

from equipoise.cards import headsup
from equipoise.cards.combos import CLASS_COUNT, COMBO_CARDS, COMBO_CLASS
from equipoise.cards.equity import equity
from equipoise.cards.evaluator import evaluate, tables
from equipoise.cards.kernels import compare_boards
from equipoise.cards.preflop import table
from equipoise.errors import ArtefactError


def cards(combo):
    return tuple(COMBO_CARDS[combo].tolist())


@pytest.mark.parametrize("seed", range(8))
def test_a_matchup_is_counted_right(seed):
    random = np.random.default_rng(seed)
    first, second = random.integers(0, 1326, 2)
    while set(cards(first)) & set(cards(second)):
        second = random.integers(0, 1326)
    exact = equity([cards(first), cards(second)]).equity[0]
    assert (1 + headsup.margins()[first, second]) / 2 == pytest.approx(exact, abs=1e-12)


def test_what_one_wins_the_other_loses():
    margins = headsup.margins()
    assert (margins == -margins.T).all()
    shared = (COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))
    assert not margins[shared].any()


def test_the_mean_over_suits_is_the_table_of_classes():
    sums = np.zeros((CLASS_COUNT, CLASS_COUNT))
    np.add.at(sums, (COMBO_CLASS[:, None], COMBO_CLASS[None, :]), headsup.margins())
    pairs = table().pairs
    assert np.abs(sums / pairs - (2 * table().matrix() - 1)).max() < 1e-12


def test_boards_are_compared_hand_by_hand():
    random = np.random.default_rng(3)
    boards = np.array([random.permutation(52)[:5] for _ in range(70)], dtype=np.uint8)
    weights = random.integers(1, 25, len(boards)).astype(np.int16)
    net = np.zeros((1326, 1326), dtype=np.int32)
    compare_boards(boards, weights, tables(), net)
    for first, second in random.integers(0, 1326, (40, 2)):
        expected = 0
        for board, weight in zip(boards.tolist(), weights.tolist(), strict=True):
            if set(board) & set(cards(first)):
                continue
            mine = evaluate((*board, *cards(first)))
            blocked = set(board) & set(cards(second))
            theirs = 0 if blocked else evaluate((*board, *cards(second)))
            expected += weight * ((mine > theirs) - (mine < theirs))
        assert net[first, second] == expected


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "headsup.npz"
    with pytest.raises(ArtefactError, match="rebuild"):
        headsup.load(path)
    path.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(ArtefactError, match="rebuild"):
        headsup.load(path)
    # A packing that nobody knows, and packed bytes that unpack to nothing.
    whole = headsup.DATA_FILE.read_bytes()
    entry = whole.rindex(b"PK\x01\x02")
    for place, byte in (
        (entry + 10, 99),
        (entry + 8, 1),
        (len(whole) // 2, whole[len(whole) // 2] ^ 8),
    ):
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        with pytest.raises(ArtefactError, match="rebuild"):
            headsup.load(path)
    headsup.save(np.zeros((3, 3), dtype=np.int32), path)
    with pytest.raises(ArtefactError, match="169 × 1326"):
        headsup.load(path)

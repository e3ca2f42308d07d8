"""The preflop table against published equities, its symmetries and direct enumeration."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise.cards import preflop
from equipoise.cards.combos import CLASS_SIZE, COMBO_CARDS, COMBO_CLASS, class_text
from equipoise.cards.evaluator import evaluate_many, strengths, tables
from equipoise.cards.kernels import count_wins
from equipoise.cards.preflop import BOARDS_PER_PAIR, PreflopTable, against_random, load, table
from equipoise.errors import ArtefactError, CardError

CLASS = {class_text(hand_class): hand_class for hand_class in range(169)}


def combo_tables() -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    masks = (np.int64(1) << COMBO_CARDS.astype(np.int64)).sum(axis=1)
    return masks, (masks[:, None] & masks[None, :]) == 0


def direct_counts(combo_a: int, combo_b: int) -> tuple[int, int]:
    """Wins and ties of one hand against another over all boards."""
    used = {*map(int, COMBO_CARDS[combo_a]), *map(int, COMBO_CARDS[combo_b])}
    left = [card for card in range(52) if card not in used]
    flat = (card for board in combinations(left, 5) for card in board)
    boards = np.fromiter(flat, np.uint8, 5 * BOARDS_PER_PAIR).reshape(-1, 5)
    values = []
    for combo in (combo_a, combo_b):
        hole = np.broadcast_to(COMBO_CARDS[combo], (len(boards), 2))
        values.append(evaluate_many(np.hstack([boards, hole])))
    return int((values[0] > values[1]).sum()), int((values[0] == values[1]).sum())


@pytest.mark.parametrize(("hands", "equity"), [(("AA", "KK"), 0.819461), (("AKs", "QQ"), 0.460485)])
def test_known_matchups(hands: tuple[str, str], equity: float) -> None:
    assert table().equity(CLASS[hands[0]], CLASS[hands[1]]) == pytest.approx(equity, abs=5e-7)


@pytest.mark.parametrize(
    ("hand", "equity"),
    [("AA", 0.85204), ("22", 0.50334), ("32o", 0.32303), ("QJs", 0.60259), ("55", 0.60325)],
)
def test_known_equities_against_a_random_hand(hand: str, equity: float) -> None:
    assert against_random()[CLASS[hand]] == pytest.approx(equity, abs=5e-6)


def test_two_sides_share_every_pot() -> None:
    matrix = table().matrix()
    assert np.allclose(matrix + matrix.T, 1, rtol=0, atol=1e-15)
    assert (table().ties == table().ties.T).all()
    total = table().wins + table().wins.T + table().ties
    assert (total == table().pairs * BOARDS_PER_PAIR).all()


def test_pairs_are_those_that_share_no_card() -> None:
    assert (table().pairs.sum(axis=1) == CLASS_SIZE * 1225).all()
    _, apart = combo_tables()
    slow = np.zeros((169, 169), dtype=np.int64)
    np.add.at(slow, (COMBO_CLASS[:, None], COMBO_CLASS[None, :]), apart)
    assert (table().pairs == slow).all()


@pytest.mark.parametrize(("first", "second"), [("AA", "AKs"), ("88", "88"), ("T9s", "T9s")])
def test_class_pairs_by_direct_enumeration(first: str, second: str) -> None:
    """Every pair of combinations, one enumeration for all pairs that are equal up to suits."""
    _, apart = combo_tables()
    found: dict[tuple[tuple[int, ...], ...], tuple[int, int]] = {}
    wins = ties = 0
    for a in np.flatnonzero(CLASS[first] == COMBO_CLASS):
        for b in np.flatnonzero((CLASS[second] == COMBO_CLASS) & apart[a]):
            suits: dict[int, int] = {}
            shape = tuple(
                tuple(4 * (card // 4) + suits.setdefault(card % 4, len(suits)) for card in hand)
                for hand in (COMBO_CARDS[a].tolist(), COMBO_CARDS[b].tolist())
            )
            if shape not in found:
                found[shape] = direct_counts(int(a), int(b))
            wins += found[shape][0]
            ties += found[shape][1]
    assert table().wins[CLASS[first], CLASS[second]] == wins
    assert table().ties[CLASS[first], CLASS[second]] == ties


def test_counting_kernel_agrees_with_pairs_on_a_few_boards() -> None:
    boards = np.array([[0, 5, 17, 30, 51], [48, 44, 40, 36, 32], [0, 1, 2, 3, 50]], dtype=np.uint8)
    weights = np.array([1, 4, 12], dtype=np.int32)
    counted = np.zeros(169 * 169, dtype=np.int32)
    count_wins(boards, weights, tables(), counted)
    _, apart = combo_tables()
    slow = np.zeros((169, 169), dtype=np.int64)
    for board, weight in zip(boards, weights, strict=True):
        value = strengths(board.tolist())
        beats = (value[:, None] > value[None, :]) & (value > 0)[None, :] & apart
        np.add.at(slow, (COMBO_CLASS[:, None], COMBO_CLASS[None, :]), beats * int(weight))
    assert (counted.reshape(169, 169) == slow).all()


@pytest.mark.slow
def test_rebuilding_gives_the_shipped_table() -> None:
    seen = []
    rebuilt = preflop.rebuild(lambda told: seen.append((told.done, told.total)))
    assert (rebuilt.wins == table().wins).all()
    assert seen[-1] == (134_459, 134_459)


def test_files_survive_a_round_trip_and_damage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tables" / "table.npy"
    path.parent.mkdir()
    table().save(path)
    assert (load(path).wins == table().wins).all()
    assert [file.name for file in path.parent.iterdir()] == ["table.npy"]
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ArtefactError, match="rebuild"):
        load(path)
    with pytest.raises(ArtefactError, match="no preflop table"):
        load(tmp_path / "missing.npy")
    # NumPy reads the header as Python, and has other errors for what is none.
    for damage in (b"{#'descr'", b"{'descr'((", b"\x00'descr'", b"{'descr': 1,"):
        table().save(path)
        path.write_bytes(path.read_bytes().replace(b"{'descr'", damage, 1))
        with pytest.raises(ArtefactError, match="rebuild"):
            load(path)
    np.save(path, np.zeros((3, 3), dtype=np.int32))
    with pytest.raises(ArtefactError, match="169 × 169"):
        load(path)
    PreflopTable(table().wins * 2).save(path)
    with pytest.raises(ArtefactError, match="no deal"):
        load(path)


def test_unknown_classes_are_refused() -> None:
    with pytest.raises(CardError, match="0 to 168"):
        table().equity(0, 169)

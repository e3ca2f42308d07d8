"""Buckets inside kernels: against a walk through the tables in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import BOARD_CLASSES, RENAMED_CARD, board_index
from equipoise.abstraction.lookup import BLOCKED, Lookup, board_buckets, bucket_path, lookup
from equipoise.cards.combos import COMBO_CARDS, COMBO_CLASS, blocked, combo_index
from equipoise.errors import GameError

FEATURES = (169, 11, 13, 17)
deals = st.lists(st.integers(0, 51), min_size=7, max_size=7, unique=True)


def symmetric_table(size: int, features: int) -> NDArray[np.uint16]:
    """Features that depend on the hand's ranks and on how often the board has the hand's suits."""
    boards = board_index(size).boards
    suits = (boards[:, :, None] % 4 == np.arange(4)).sum(axis=1)
    patterns, pattern = np.unique(suits, axis=0, return_inverse=True)
    codes = (1 + patterns[:, COMBO_CARDS % 4]) * (1 + COMBO_CARDS // 4).astype(np.int64) ** 2
    table: NDArray[np.uint16] = (codes.sum(axis=2) % features).astype(np.uint16)[pattern]
    holding = np.array([np.flatnonzero(blocked((card,))) for card in range(52)])
    for cards in boards.T:
        table[np.arange(len(boards))[:, None], holding[cards]] = BLOCKED
    return table


@pytest.fixture(scope="module")
def features() -> list[NDArray[np.uint16]]:
    first = COMBO_CLASS.astype(np.uint16)
    return [first, *(symmetric_table(k, n) for k, n in zip((3, 4, 5), FEATURES[1:], strict=True))]


def children(remembers: tuple[bool, ...]) -> list[NDArray[np.uint16]]:
    rng = np.random.default_rng(3)
    found, before = [], 1
    for street, features in enumerate(FEATURES):
        rows = before if remembers[street] else 1
        count = 5 * rows
        table = 5 * np.arange(rows)[:, None] + rng.integers(5, size=(rows, features))
        # Every number occurs, so that the next street knows how many there are.
        table[:, :5] = 5 * np.arange(rows)[:, None] + np.arange(5)
        found.append(table.astype(np.uint16))
        before = count
    return found


def slow_path(
    features: list[NDArray[np.uint16]],
    child: list[NDArray[np.uint16]],
    board: list[int],
    hand: tuple[int, int],
) -> list[int]:
    """Buckets by trying all renamings for one that leads to a canonical board."""
    bucket = int(child[0][0, features[0][combo_index(*hand)]])
    path = [bucket]
    for street, size in ((1, 3), (2, 4), (3, 5)):
        seen = {}
        for renaming in RENAMED_CARD:
            image = sorted(int(renaming[card]) for card in board[:size])
            seen[tuple(image[::-1])] = renaming
        least = min(seen)
        index = np.flatnonzero((board_index(size).boards == least[::-1]).all(axis=1))[0]
        combo = combo_index(*(int(seen[least][card]) for card in hand))
        row = bucket if len(child[street]) > 1 else 0
        bucket = int(child[street][row, features[street][index, combo]])
        path.append(bucket)
    return path


def path_of(table: Lookup, board: list[int], combo: int) -> list[int]:
    out = np.full(4, -1, dtype=np.int64)
    bucket_path(table, np.array(board, dtype=np.uint8), combo, out)
    return out.tolist()


@pytest.mark.parametrize(
    "remembers", [(False,) * 4, (False, True, True, True), (False, True, False, True)]
)
def test_against_a_plain_walk(
    features: list[NDArray[np.uint16]], remembers: tuple[bool, ...]
) -> None:
    child = children(remembers)
    table = lookup(features, child)
    rng = np.random.default_rng(0)
    for _ in range(10):
        cards = rng.permutation(52)[:7].tolist()
        hand = (cards[5], cards[6])
        expected = slow_path(features, child, cards[:5], hand)
        combo = combo_index(*hand)
        assert path_of(table, cards[:5], combo) == expected
        for shown in (0, 3, 4):
            assert (
                path_of(table, cards[:shown], combo)[: max(1, shown - 1)]
                == (expected[: max(1, shown - 1)])
            )


def test_rows_that_are_alike_are_kept_once(features: list[NDArray[np.uint16]]) -> None:
    """What is remembered of the flop is one of two clusters: as many rows, whatever buckets there are."""
    child = children((False, False, False, False))
    clusters = np.arange(5) % 2
    child[2] = np.array([child[2][0], child[2][0][::-1]])[clusters]
    child[3] = np.array([child[3][0], child[3][0][::-1]])[clusters]
    table = lookup(features, child)
    assert len(table.turn_once) == len(table.river_once) == 2
    assert np.array_equal(table.turn_once[table.turn_row], child[2])
    rng = np.random.default_rng(5)
    out = np.zeros((4, 1326), dtype=np.uint16)
    for _ in range(5):
        cards = rng.permutation(52)[:7].tolist()
        combo = combo_index(cards[5], cards[6])
        expected = slow_path(features, child, cards[:5], (cards[5], cards[6]))
        assert path_of(table, cards[:5], combo) == expected
        board_buckets(table, np.array(cards[:5], dtype=np.uint8), out)
        assert out[:, combo].tolist() == expected


def test_same_under_renamings(features: list[NDArray[np.uint16]]) -> None:
    table = lookup(features, children((False, True, True, True)))

    @given(deals, st.integers(0, 23), st.permutations(range(3)))
    @settings(max_examples=50)
    def check(cards: list[int], renaming: int, order: list[int]) -> None:
        other = [int(card) for card in RENAMED_CARD[renaming][cards]]
        other[:3] = [other[i] for i in order]
        first = path_of(table, cards[:5], combo_index(cards[5], cards[6]))
        assert path_of(table, other[:5], combo_index(other[5], other[6])) == first

    check()


def test_all_hands_of_a_board(features: list[NDArray[np.uint16]]) -> None:
    table = lookup(features, children((False, True, False, True)))
    rng = np.random.default_rng(1)
    for _ in range(3):
        board = rng.permutation(52)[:5].tolist()
        out = np.zeros((4, 1326), dtype=np.uint16)
        board_buckets(table, np.array(board, dtype=np.uint8), out)
        for street, size in enumerate((0, 3, 4, 5)):
            gone = blocked(tuple(board[:size]))
            assert np.array_equal(out[street] == BLOCKED, gone)
        for combo in np.flatnonzero(~blocked(tuple(board)))[::37].tolist():
            assert out[:, combo].tolist() == path_of(table, board, combo)


def test_streets_not_reached_are_left_alone(features: list[NDArray[np.uint16]]) -> None:
    table = lookup(features, children((False,) * 4))
    out = np.full((4, 1326), 7_777, dtype=np.uint16)
    board_buckets(table, np.array([0, 5, 10], dtype=np.uint8), out)
    assert (out[2:] == 7_777).all()
    assert (out[:2] != 7_777).all()


def test_tables_that_do_not_fit(features: list[NDArray[np.uint16]]) -> None:
    child = children((False, True, True, True))
    with pytest.raises(GameError, match="four streets"):
        lookup(features[:3], child[:3])
    with pytest.raises(GameError, match="features of street 1"):
        lookup([features[0], features[2], features[2], features[3]], child)
    with pytest.raises(GameError, match="child table of street 2"):
        lookup(features, [child[0], child[1], child[2][:-1], child[3]])


def test_tables_are_not_copied(features: list[NDArray[np.uint16]]) -> None:
    table = lookup(features, children((False,) * 4))
    assert np.shares_memory(table.river_feature, features[3])
    assert not table.river_feature.flags.writeable
    assert len(table.river_feature) == BOARD_CLASSES[5]

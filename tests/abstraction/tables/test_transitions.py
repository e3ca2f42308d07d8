"""Chances of buckets from street to street, against counting deals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from equipoise import artefact
from equipoise.abstraction.boardindex import board_index, board_place
from equipoise.abstraction.buckets.equity import NO_BUCKET, EquityBuckets
from equipoise.abstraction.fullboards import every_board
from equipoise.abstraction.lookup import Lookup, lookup
from equipoise.abstraction.publicclasses import board_classes
from equipoise.abstraction.tables import transitions as module
from equipoise.abstraction.tables.bucketgame import independent_game
from equipoise.abstraction.tables.transitions import Transitions, count_transitions, transitions
from equipoise.errors import GameError
from equipoise.games.rules import limit

FOUR = EquityBuckets(4)


class Forgetful:
    """Equity buckets of which only the latest is known."""

    fingerprint = "four that forget"

    def lookup(self) -> Lookup:
        table = FOUR.lookup()
        return lookup(table[:4], [child[:1] % 4 for child in table[4:8]])


@pytest.fixture(scope="module")
def classes() -> NDArray[np.int8]:
    """Flops of one suit, of two, of three."""
    suits = np.sort(board_index(3).boards % 4, axis=1)
    return (np.diff(suits, axis=1) != 0).sum(axis=1).astype(np.int8)


def take_some(monkeypatch: pytest.MonkeyPatch, *steps: int) -> None:
    """Have only every so many boards of flop, turn and river, to save time."""

    def some(streets: int = 3) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        boards, weights = every_board(streets)
        return boards[:: steps[streets - 1]], weights[:: steps[streets - 1]]

    monkeypatch.setattr(module, "every_board", some)


@pytest.fixture
def few_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """All flops, a twentieth of all turns and a five-hundredth of all rivers."""
    take_some(monkeypatch, 1, 20, 500)


def slow_steps(street: int, wanted: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Chances of a street, board by board and hand by hand."""
    boards, weights = module.every_board(street)
    counts = np.zeros((4, 4))
    for board, weight in zip(boards.tolist(), weights.tolist(), strict=True):
        if wanted is not None and not wanted[board_place(board[:3])[0]]:
            continue
        before, now = FOUR.buckets(board[: street + 1 if street > 1 else 0]), FOUR.buckets(board)
        live = now != NO_BUCKET
        np.add.at(counts, (now[live], before[live]), weight)
    return counts / counts.sum(axis=0)


def test_against_counting(classes: NDArray[np.int8], monkeypatch: pytest.MonkeyPatch) -> None:
    take_some(monkeypatch, 10, 400, 16_000)
    found = count_transitions(Forgetful().lookup(), boards=50)
    split = count_transitions(Forgetful().lookup(), boards=50, classes=classes)
    assert found.prior == pytest.approx(FOUR.masses(0), abs=1e-12)
    for street in (1, 2, 3):
        assert np.allclose(found.steps[0][street - 1], slow_steps(street, None))
        assert np.allclose(split.steps[1][street - 1], slow_steps(street, classes == 1))
    assert split.chances == pytest.approx([0.051765, 0.550588, 0.397647], abs=1e-6)


@pytest.mark.usefixtures("few_boards")
def test_what_chances_add_up_to(classes: NDArray[np.int8]) -> None:
    found = count_transitions(Forgetful().lookup(), boards=300, classes=classes)
    assert found.classes == 3
    assert found.chances.sum() == pytest.approx(1)
    for c in range(3):
        for step in found.steps[c]:
            assert (step >= 0).all()
            assert step.sum(axis=0) == pytest.approx(np.ones(4))
        result = found.results[c]
        assert np.array_equal(result, -result.T)
        assert np.abs(result).max() <= 1
        # A better quantile of equity wins more often than not.
        assert (result[np.tril_indices(4, -1)] > 0).all()
    # All flops are counted, so classes together give what equities say.
    flop = sum(p * found.marginals(1, c) for c, p in enumerate(found.chances))
    assert flop == pytest.approx(FOUR.masses(1), abs=0.01)
    before = found.expected(0)
    assert np.allclose(before, -before.T)
    assert (before[np.tril_indices(4, -1)] > 0).all()


@pytest.mark.usefixtures("few_boards")
def test_results_common_to_all_classes(classes: NDArray[np.int8]) -> None:
    alone = count_transitions(Forgetful().lookup(), boards=60)
    common = count_transitions(
        Forgetful().lookup(), boards=60, classes=classes, results_by_class=False
    )
    assert len(common.results) == 3
    for result in common.results:
        assert np.array_equal(result, alone.results[0])


def test_classes_of_later_boards_are_told_later(monkeypatch: pytest.MonkeyPatch) -> None:
    take_some(monkeypatch, 10, 400, 16_000)
    turns = board_classes(4).of_board
    alone = count_transitions(Forgetful().lookup(), boards=50)
    found = count_transitions(Forgetful().lookup(), boards=50, classes=turns)
    assert (found.classed, found.classes) == (2, 11)
    for c in range(11):
        assert np.array_equal(found.steps[c][0], alone.steps[0][0])
    assert not np.allclose(found.steps[0][1], found.steps[10][1])
    # The chances of the turn, given the flop's bucket, are those of all classes together: nearly,
    # for a class is taken to be as likely with every bucket.
    together = sum(p * found.steps[c][1] for c, p in enumerate(found.chances))
    assert together == pytest.approx(alone.steps[0][1], abs=0.05)
    game = independent_game(limit(), found)
    assert [board.round for board in game.deal.boards].count(2) == 11
    assert sum(board.weight for board in game.deal.boards if board.round == 2) == pytest.approx(1)


def test_a_game_is_the_same_however_many_threads_multiply() -> None:
    """Its fingerprint is in checkpoints: products may not be rounded by BLAS's choice of threads."""
    rng, sizes = np.random.default_rng(2), (169, 150, 100, 75)
    steps = tuple(rng.dirichlet(np.ones(b), size=a).T for a, b in pairwise(sizes))
    edge = rng.uniform(-1, 1, (75, 75))
    found = Transitions(rng.dirichlet(np.ones(169)), np.ones(1), (steps,), ((edge - edge.T) / 2,))
    told = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            told.append(independent_game(limit(), found).fingerprint())
    assert told[0] == told[1]


def test_columns_that_never_come() -> None:
    counts = np.array([[[3, 0, 0], [1, 0, 0]], [[0, 5, 0], [2, 5, 0]]])
    chances = module._chances(counts)
    assert chances[0].T.tolist() == [[0.75, 0.25], [0.5, 0.5], [0.5, 0.5]]
    assert chances[1].T.tolist() == [[0.0, 1.0], [0.5, 0.5], [0.5, 0.5]]


def test_pairs_never_met() -> None:
    points, common = np.array([[2.0, 0], [0, 4]]), np.array([[2.0, 1], [3, 4]])
    assert module._results(points, common).tolist() == [[0, -0.5], [0.5, 0]]
    assert module._results(points, points).tolist() == [[0, 0], [0, 0]]


def test_values_go_up_by_both_players_chances() -> None:
    step = np.array([[0.5, 0.0], [0.5, 1.0]])
    results = np.array([[0.0, -1.0], [1.0, 0.0]])
    model = Transitions(np.array([0.5, 0.5]), np.ones(1), ((step,),), (results,), (0, 1))
    # State 0 becomes either, state 1 stays the better one: it wins when 0 does not rise.
    assert model.expected(0)[1, 0] == 0.5
    assert model.marginals(1).tolist() == [0.25, 0.75]


@pytest.mark.usefixtures("few_boards")
def test_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, classes: NDArray[np.int8]) -> None:
    buckets = Forgetful()
    FOUR.lookup()
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))
    told: list[int] = []
    made = transitions(buckets, 40, classes=classes, progress=lambda *_: told.append(1))
    assert told
    told.clear()
    read = transitions(buckets, 40, classes=classes, progress=lambda *_: told.append(1))
    assert not told
    assert read.chances.tolist() == made.chances.tolist()
    for c in range(3):
        assert np.array_equal(read.results[c], made.results[c])
        assert all(map(np.array_equal, read.steps[c], made.steps[c]))
    (path,) = tmp_path.iterdir()
    manifest, arrays = artefact.read(path, "transitions")
    for name in ("prior", "steps2", "results"):
        nonsense = {**arrays, name: arrays[name][:1]}
        artefact.write(path, "transitions", manifest["configuration"], nonsense)
        told.clear()
        read = transitions(buckets, 40, classes=classes, progress=lambda *_: told.append(1))
        assert told, "what makes no sense is counted again"
        assert np.array_equal(read.results[0], made.results[0])


def test_classes_that_do_not_fit() -> None:
    with pytest.raises(GameError, match="without gaps"):
        count_transitions(Forgetful().lookup(), 10, classes=np.full(1755, 1, np.int8))
    with pytest.raises(GameError, match="1,755 flops, the 16,432"):
        count_transitions(Forgetful().lookup(), 10, classes=np.zeros(5, np.int8))

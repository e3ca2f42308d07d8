"""Strategies over buckets: trained, kept, read back, and looked up with cards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.buckets.equity import EquityBuckets
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import combo_index
from equipoise.errors import IllegalActionError, SolverError
from equipoise.games.rules import LIMIT_HOLDEM, ONE_BET_HOLDEM, State
from equipoise.solve import bucketstrategy
from equipoise.solve.bucketstrategy import BucketStrategy, Training, bucket_strategy, train

SMALL = Training(ONE_BET_HOLDEM, EquityBuckets(3), boards=60, iterations=60)


@pytest.fixture(scope="module")
def strategy() -> BucketStrategy:
    return train(SMALL)


def test_it_is_near_an_equilibrium_of_its_game(strategy: BucketStrategy) -> None:
    assert 0 < strategy.exploitability_mbb < 40


def test_strong_hands_do_not_fold_and_weak_ones_do(strategy: BucketStrategy) -> None:
    raised = State.from_betting_text(ONE_BET_HOLDEM, "cc/cc/cc/r")
    actions, chances = strategy.policy(raised, parse_cards("Ks 7d 2c 9h 3s"))
    fold = [str(action) for action in actions].index("f")
    assert chances[combo_index(*parse_cards("KdKc")), fold] < 0.05
    assert chances[combo_index(*parse_cards("5d4d")), fold] > 0.2


def test_one_hand_plays_as_the_policy_of_all_hands_says(strategy: BucketStrategy) -> None:
    rng = np.random.default_rng(2)
    for text, size in (
        ("", 0),
        ("cr", 0),
        ("cc/", 3),
        ("crc/rr", 3),
        ("cc/cc/c", 4),
        ("cc/cc/cc/r", 5),
    ):
        state = State.from_betting_text(ONE_BET_HOLDEM, text)
        for _ in range(20):
            cards = tuple(int(card) for card in rng.permutation(52)[: 2 + size])
            hole, board = cards[:2], cards[2:]
            actions, row = strategy.play(state, strategy.sequence(hole, board))
            every, table = strategy.policy(state, board)
            assert actions == every
            assert all(state.can(action) for action in actions)
            assert table[combo_index(*hole)] == pytest.approx(row, abs=1e-3)
            assert table.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_a_sequence_never_met_plays_as_its_nearest(strategy: BucketStrategy) -> None:
    missing = sorted(set(range(81)) - set(strategy.sequences[3].tolist()))
    assert missing
    places = strategy._places[3]
    assert np.array_equal(
        strategy.sequences[3][places[strategy.sequences[3]]], strategy.sequences[3]
    )
    for sequence in missing:
        # The latest bucket weighs more than all differences of one before it.
        near = int(strategy.sequences[3][places[sequence]])
        assert abs(near % 3 - sequence % 3) <= 1


def test_it_is_trained_once_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: BucketStrategy
) -> None:
    # The equities are read before the folder changes: making them takes long.
    EquityBuckets(3).buckets(())
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))
    monkeypatch.setattr(bucketstrategy, "_loaded", {})
    told: list[str] = []
    made = bucket_strategy(SMALL, lambda what, done, total: told.append(what))
    assert {"boards", "iterations"} == set(told)
    monkeypatch.setattr(bucketstrategy, "_loaded", {})
    told.clear()
    read = bucket_strategy(SMALL, lambda what, done, total: told.append(what))
    assert not told
    assert np.array_equal(read.probabilities, made.probabilities)
    assert np.array_equal(read.probabilities, strategy.probabilities)
    (path,) = tmp_path.glob("buckets-*")
    path.write_bytes(path.read_bytes()[:-10])
    monkeypatch.setattr(bucketstrategy, "_loaded", {})
    bucket_strategy(SMALL, lambda what, done, total: told.append(what))
    assert told, "a damaged file is made again"


def test_betting_of_other_rules_is_refused(strategy: BucketStrategy) -> None:
    capped = State.from_betting_text(LIMIT_HOLDEM, "crrr")
    with pytest.raises(IllegalActionError, match="no decision of one-bet"):
        strategy.play(capped, 0)
    with pytest.raises(SolverError, match="iterations = 0: choose from 1"):
        Training(ONE_BET_HOLDEM, EquityBuckets(3), boards=1, iterations=0)

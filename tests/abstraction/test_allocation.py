"""Allocation of children: the integer programme, the dynamic programme and plain enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.abstraction.integer_program import METHODS, allocate
from equipoise.errors import GameError


def loss(probabilities: np.ndarray, errors: np.ndarray, children: np.ndarray) -> float:
    return float((probabilities * errors[np.arange(len(errors)), children - 1]).sum())


def best_by_enumeration(probabilities: np.ndarray, errors: np.ndarray, total: int) -> float:
    choices = product(range(1, errors.shape[1] + 1), repeat=len(errors))
    fitting = [np.array(choice) for choice in choices if sum(choice) <= total]
    return min(loss(probabilities, errors, choice) for choice in fitting)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 12), st.integers(0, 10**6))
def test_both_methods_find_the_least_loss(parents: int, most: int, more: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    errors = rng.random((parents, most)).round(2)
    probabilities = rng.dirichlet(np.ones(parents))
    total = parents + more
    least = best_by_enumeration(probabilities, errors, total)
    for method in METHODS:
        children = allocate(probabilities, errors, total, method)
        assert children.sum() <= total
        assert loss(probabilities, errors, children) == pytest.approx(least, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_the_methods_agree_on_a_round_and_beat_equal_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents, most, each = 40, 12, 4
    errors = rng.exponential(size=(parents, 1)) / np.arange(1, most + 1) ** rng.uniform(
        1, 3, (parents, 1)
    )
    probabilities = rng.dirichlet(np.ones(parents))
    equal = loss(probabilities, errors, np.full(parents, each))
    losses = [
        loss(probabilities, errors, allocate(probabilities, errors, parents * each, method))
        for method in METHODS
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-7)
    assert losses[0] < 0.95 * equal


@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_on_offer_is_not_taken(method: str) -> None:
    errors = np.array([[4.0, np.inf, np.inf], [9.0, 5.0, 1.0], [np.inf, 3.0, 0.0]])
    children = allocate([0.0, 0.5, 0.5], errors, 6, method)
    assert children.tolist() == [1, 3, 2]


def test_the_dynamic_programme_wastes_nothing() -> None:
    errors = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    assert allocate([0.5, 0.5], errors, 8, "dynamic").tolist() == [2, 1]


def test_bad_input_is_refused() -> None:
    with pytest.raises(GameError, match="at least 2"):
        allocate([0.5, 0.5], [[1.0], [1.0]], 1)
    with pytest.raises(GameError, match="highs or dynamic"):
        allocate([1.0], [[1.0]], 1, "greedy")
    with pytest.raises(GameError, match="one row of errors"):
        allocate([1.0], [[1.0], [1.0]], 2)
    with pytest.raises(GameError, match="not be negative"):
        allocate([1.0], [[-1.0]], 2)
    with pytest.raises(GameError, match="finite"):
        allocate([1.0], [[np.inf]], 2)

"""Intervals, by hand and by their promise."""

import math

import numpy as np
import pytest

from equipoise.arena.match import play_match
from equipoise.arena.statistics import estimate, pair_means, paired_difference
from equipoise.errors import EquipoiseError


def test_an_interval_by_hand():
    found = estimate([2.0, 4.0, 4.0, 6.0])
    assert found.mean == 4
    assert found.deviation == pytest.approx(math.sqrt(8 / 3))
    assert found.standard_error == pytest.approx(math.sqrt(2 / 3))
    # Student's quantile with three degrees of freedom is 3.182446.
    assert found.half_width == pytest.approx(3.182446 * math.sqrt(2 / 3), rel=1e-6)
    assert found.interval == (found.mean - found.half_width, found.mean + found.half_width)


def test_estimates_merge():
    values = np.random.default_rng(3).normal(5, 2, 40)
    parts = [estimate(part) for part in (values[:0], values[:1], values[1:20], values[20:])]
    found = parts[0]
    for part in parts[1:]:
        found = found.merged(part).merged(parts[0])
    assert found.mean == pytest.approx(values.mean())
    assert found.deviation == pytest.approx(values.std(ddof=1))
    assert found.count == 40


def test_one_sample_has_no_error_and_none_has_no_mean():
    assert estimate([3.0]).mean == 3
    assert math.isnan(estimate([3.0]).half_width)
    assert math.isnan(estimate([]).mean)
    assert math.isnan(estimate([]).half_width)


@pytest.mark.parametrize("size", [5, 100])
def test_the_interval_covers_the_truth_95_times_in_100(size):
    random = np.random.default_rng(1)
    trials = 4000
    low_high = [estimate(random.normal(7, 3, size)).interval for _ in range(trials)]
    covered = sum(low < 7 < high for low, high in low_high) / trials
    # Four standard errors of a frequency of 0.95.
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / trials)


def test_a_match_reports_the_figures_of_its_pairs():
    result = play_match("random", "call", hands=400, seed=9)
    pairs = 10 * result.payoffs.reshape(-1, 2).mean(axis=1)
    assert result.pairs == len(pairs) == 200
    assert result.mbb_per_hand == pytest.approx(pairs.mean())
    error = pairs.std(ddof=1) / math.sqrt(200)
    assert result.estimate.standard_error == pytest.approx(error)
    assert result.ci95_mbb == pytest.approx(1.971957 * error, rel=1e-6)
    assert result.std_mbb == pytest.approx(error * math.sqrt(400))


def test_intervals_of_matches_cover_the_true_rate():
    # Two random players are equal: the truth is 0.
    matches = [play_match("random", "random", hands=100, seed=seed) for seed in range(150)]
    covered = sum(abs(match.mbb_per_hand) < match.ci95_mbb for match in matches)
    assert 150 * 0.95 - covered < 4 * math.sqrt(150 * 0.95 * 0.05)


def test_paired_differences_cancel_what_is_shared():
    random = np.random.default_rng(2)
    luck = random.normal(0, 100, 500)
    first, second = luck + random.normal(1, 1, 500), luck + random.normal(0, 1, 500)
    found = paired_difference(first, second)
    assert found.interval[0] > 0
    assert found.half_width < 0.02 * estimate(first).half_width


def test_what_is_no_list_of_samples_is_refused():
    with pytest.raises(EquipoiseError, match="pairs"):
        pair_means([1, 2, 3])
    with pytest.raises(EquipoiseError, match="same deals"):
        paired_difference([1, 2], [1])
    with pytest.raises(EquipoiseError, match="list of numbers"):
        estimate([[1, 2], [3, 4]])

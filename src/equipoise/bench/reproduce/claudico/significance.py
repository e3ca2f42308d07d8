"""The match of 2015: which standard errors make its sentence on significance true.

The humans won 732,713 chips over 80,000 hands with a big blind of 100: significant at 90 %, not at 95 %.
With z = win rate / standard error that is a range of standard errors, another one for each kind of test.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any

CHIPS, HANDS, BIG_BLIND = 732_713, 80_000, 100


def win_rate(chips: float, hands: int, big_blind: float) -> float:
    """Big blinds a hundred hands.

    >>> round(win_rate(732_713, 80_000, 100), 4)
    9.1589
    """
    return 100 * chips / hands / big_blind


def standard_errors(rate: float, sides: int) -> tuple[float, float]:
    """Smallest and largest standard error with which a rate is significant at 90 % and not at 95 %."""
    at = [NormalDist().inv_cdf(1 - (1 - level) / sides) for level in (0.95, 0.90)]
    return rate / at[0], rate / at[1]


def significance() -> dict[str, Any]:
    """The match, with both tests, and the standard deviations that go with the errors."""
    rate = win_rate(CHIPS, HANDS, BIG_BLIND)
    told: dict[str, Any] = {"bb_per_100": rate, "hands": HANDS, "chips": CHIPS}
    for name, sides in (("two_sided", 2), ("one_sided", 1)):
        low, high = standard_errors(rate, sides)
        told[name] = {
            "standard_error_above_bb_per_100": low,
            "standard_error_up_to_bb_per_100": high,
            # Errors in big blinds a hundred hands are those of a mean of pairs, or of hands.
            "deviation_of_a_pairs_mean_bb": [e / 100 * sqrt(HANDS / 2) for e in (low, high)],
            "deviation_of_a_pairs_sum_bb": [e / 100 * sqrt(2 * HANDS) for e in (low, high)],
            "deviation_of_a_hand_bb": [e / 100 * sqrt(HANDS) for e in (low, high)],
        }
    return told

"""How far a measured win rate can be believed.

Samples are independent: in a duplicate match a *pair* of hands is one, because its two hands share
their cards. The interval is Student's: mean ± t · s / √n with n − 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from equipoise.errors import EquipoiseError


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of independent samples, and its error."""

    #: Mean of the samples.
    mean: float
    #: Standard deviation of one sample; NaN with fewer than two.
    deviation: float
    #: How many samples.
    count: int

    @property
    def standard_error(self) -> float:
        """Standard deviation of the mean."""
        return self.deviation / sqrt(self.count) if self.count else nan

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval: the figure after ±.

        >>> round(estimate([1, 2, 3, 4]).half_width, 4)
        2.0543
        """
        if self.count < 2:
            return nan
        return t_quantile(self.count - 1) * self.standard_error

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.mean - self.half_width, self.mean + self.half_width

    def merged(self, other: Estimate) -> Estimate:
        """The estimate from the samples of both.

        >>> estimate([1, 2]).merged(estimate([3, 4, 5])) == estimate([1, 2, 3, 4, 5])
        True
        """
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        gap = other.mean - self.mean
        squares = gap * gap * self.count * other.count / count
        for part in (self, other):
            if part.count > 1:
                squares += part.deviation**2 * (part.count - 1)
        mean = self.mean + gap * other.count / count
        return Estimate(mean, sqrt(squares / (count - 1)), count)


def t_quantile(freedom: int, level: float = 0.95) -> float:
    """How many standard errors an interval of this level reaches to either side.

    >>> round(t_quantile(1), 3), round(t_quantile(10**6), 3)
    (12.706, 1.96)
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2))


def rate_text(mean: float, half_width: float, decimals: int = 0) -> str:
    """A win rate and its error as tables show them; from one sample there is no error.

    >>> rate_text(-749.9, 3), rate_text(-0.01, nan, 1)
    ('-750 ± 3', '+0.0')
    """
    # Adding 0 makes -0 of it 0.
    told = f"{round(mean, decimals) + 0.0:+,.{decimals}f}"
    return told if half_width != half_width else f"{told} ± {half_width:,.{decimals}f}"


def estimate(samples: ArrayLike) -> Estimate:
    """Mean and deviation of independent samples.

    >>> estimate([1, 2, 3, 4]).mean
    2.5
    """
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1:
        raise EquipoiseError("samples are a list of numbers, one for each independent trial")
    if not len(values):
        return Estimate(nan, nan, 0)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else nan
    return Estimate(float(values.mean()), deviation, len(values))


def pair_means(payoffs: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """One sample a duplicate pair: the mean of its two hands.

    >>> pair_means([3, -1, 0, 2]).tolist()
    [1.0, 1.0]
    """
    values = np.asarray(payoffs, dtype=np.float64)
    if values.ndim != 1 or len(values) % 2:
        raise EquipoiseError(f"{values.size} hands are no whole number of pairs: drop the last")
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = values.reshape(-1, 2).mean(axis=1)
    return means


def paired_difference(first: ArrayLike, second: ArrayLike) -> Estimate:
    """How much more the first scores than the second on the same deals, sample by sample.

    >>> paired_difference([5, 7, 9], [4, 6, 8]).half_width
    0.0
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise EquipoiseError(f"{a.size} samples against {b.size}: both must play the same deals")
    return estimate(a - b)

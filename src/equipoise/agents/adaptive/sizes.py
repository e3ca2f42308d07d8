"""How much is raised: the document's log-normal, cut to what is legal, and classes of size.

ln R ~ N(μ, σ²) has, in the variable ln r, the density N(ln r; μ, σ²), and in r that divided by r. A raise is
at least the minimum and short of the stack, so that the density is divided by its mass in between; all-in is
an atom with a probability of its own, no point of the density.

Real raises are ¼, ⅓, ½, ¾, 1, 2 pots and little else: one log-normal is the wrong shape, and integrated over
ten classes of size it predicts worse than their plain frequencies. Classes play.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, inf, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import SIZE_BORDERS

Floats = NDArray[np.float64]


def log_density(
    size: float,
    mean: float,
    sigma: float,
    least: float = 0.0,
    most: float = inf,
    *,
    in_logarithm: bool = True,
) -> float:
    """ln density of a raise short of all-in: in ln r, or in r itself.

    >>> round(log_density(300, log(300), 0.45), 4)
    -0.1204
    >>> round(log_density(300, log(300), 0.45, in_logarithm=False), 4)
    -5.8242
    >>> round(log_density(300, log(300), 0.45, least=200, in_logarithm=False), 4)
    -5.6211
    """
    if not least <= size < most:
        return -inf
    inside = below(most, mean, sigma) - below(least, mean, sigma)
    found = -0.5 * log(2 * pi * sigma**2) - 0.5 * ((log(size) - mean) / sigma) ** 2 - log(inside)
    return found if in_logarithm else found - log(size)


def below(size: float, mean: float, sigma: float) -> float:
    """P of a smaller raise.

    >>> below(300, log(300), 0.45)
    0.5
    """
    if size <= 0:
        return 0.0
    return 1.0 if size == inf else 0.5 * (1 + erf((log(size) - mean) / (sigma * sqrt(2))))


def class_chances(
    mean: float, sigma: float, all_in: float | None = None, borders: Sequence[float] = SIZE_BORDERS
) -> Floats:
    """P of each class of size by a log-normal in pots, the last an atom if `all_in` is given.

    Without an atom the last class, all-in, has what lies above ten pots.

    >>> class_chances(0.0, 0.5, all_in=0.1).round(3)[-2:]
    array([0.03, 0.1 ])
    """
    edges = [0.0, *borders, inf if all_in is not None else 10.0]
    up_to = np.array([below(edge, mean, sigma) for edge in edges])
    parts = np.diff(up_to)
    if all_in is None:
        return np.append(parts, 1 - up_to[-1])
    return np.append(parts * (1 - all_in), all_in)

"""What a lock says: which hands of a decision it is for, and what they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.combos import COMBO_COUNT
from equipoise.cards.range import Range
from equipoise.errors import SolverError
from equipoise.solve.spots.position import NEVER


def columns(
    strategy: ArrayLike | Mapping[str, float], actions: tuple[str, ...], hands: int
) -> NDArray[np.float64]:
    """A locked strategy as [action, hand], checked."""
    if isinstance(strategy, Mapping):
        unknown = [name for name in strategy if name not in actions]
        if unknown:
            raise SolverError(f"no action {unknown[0]!r} there: choose from {', '.join(actions)}")
        strategy = [strategy.get(name, 0.0) for name in actions]
    try:
        given = np.asarray(strategy, dtype=np.float64)
    except (TypeError, ValueError):
        raise SolverError("a lock is a probability for each action") from None
    if given.ndim == 1:
        given = np.repeat(given[:, None], hands, axis=1)
    if given.shape != (len(actions), hands):
        raise SolverError(
            f"a lock has {len(actions)} probabilities ({', '.join(actions)}), for all hands or for "
            f"each of {hands}; this one is of shape {given.shape}"
        )
    given = np.where(np.isnan(given).all(axis=0), 1.0 / len(actions), given)
    if not ((given >= 0).all() and np.allclose(given.sum(axis=0), 1.0, atol=1e-6)):
        raise SolverError("probabilities of a lock are at least 0 and sum to 1 for each hand")
    scaled: NDArray[np.float64] = given / given.sum(axis=0)
    return scaled


def chosen(
    hands: str | Range | Sequence[int] | None, combos: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which of `combos` a lock is for."""
    if hands is None:
        return np.ones(len(combos), dtype=bool)
    if isinstance(hands, str):
        hands = Range.parse(hands)
    if isinstance(hands, Range):
        named: NDArray[np.bool_] = hands.weights > NEVER
    else:
        named = np.zeros(COMBO_COUNT, dtype=bool)
        named[np.asarray(hands, dtype=np.int64)] = True
    mask: NDArray[np.bool_] = named[combos]
    if not mask.any():
        raise SolverError("none of these hands can be held there: name hands of the range")
    return mask

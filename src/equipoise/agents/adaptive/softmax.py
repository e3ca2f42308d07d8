"""Choices by softmax: P(i | x) ∝ exp(x·θ_i) over the choices that are open, θ of the last one 0.

Three ways to learn θ:

- :func:`fit` maximises the log-likelihood less a ridge, by Newton's method with step halving;
- :func:`ascend` with ``literal=False`` takes one gradient step of the log-likelihood for each observation,
  x (1[i] − P_i), in the order given;
- with ``literal=True`` the step is of the probability itself, ∂P/∂θ = P(a) · x (1[i] − P_i), as in E. Green,
  "An Adaptive Intelligence For Heads-Up No-Limit Texas Hold'em" (2013). It climbs Σ P, whose optimum is
  the likeliest choice with certainty: on choices made 70 and 30 times in a hundred the log-likelihood of
  that is −∞.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: What stands for −∞ among the logits.
_NEVER = -1e30
#: Gain of the objective at which Newton's method stops.
_ENOUGH = 1e-3
_MOST_STEPS = 25


def log_probabilities(design: Floats, theta: Floats, open_: NDArray[np.bool_]) -> Floats:
    """ln P of each choice, one row for each row of the design; closed ones have next to none.

    >>> log_probabilities(np.ones((1, 1)), np.zeros((1, 2)), np.array([[True, True, False]])).round(3)[0, :2]
    array([-0.693, -0.693])
    """
    logits = np.zeros((len(design), theta.shape[1] + 1))
    logits[:, :-1] = design @ theta
    logits = np.where(open_, logits, _NEVER)
    logits -= logits.max(axis=1, keepdims=True)
    found: Floats = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return found


def shares(scores: Floats, open_: NDArray[np.bool_]) -> Floats:
    """P from scores, over the choices that are open."""
    if not open_.all():
        scores = np.where(open_, scores, _NEVER)
    top = scores[:, 0].copy()
    for column in range(1, scores.shape[1]):
        np.maximum(top, scores[:, column], out=top)
    raw = np.exp(scores - top[:, None])
    found: Floats = raw / (raw @ np.ones(raw.shape[1]))[:, None]
    return found


def fit(
    design: Floats, chosen: NDArray[np.int64], open_: NDArray[np.bool_], ridge: float
) -> Floats:
    """θ of greatest ln-likelihood less ½ ridge |θ|²; the first column, the constant, is not shrunk."""
    count, width = design.shape
    choices = open_.shape[1]
    rows = np.arange(count)
    shrink = np.full(width, ridge)
    shrink[0] = 1e-6
    theta = np.zeros((width, choices - 1))

    def objective(theta: Floats) -> tuple[Floats, float]:
        logs = log_probabilities(design, theta, open_)
        loss = 0.5 * float((shrink[:, None] * theta * theta).sum())
        return logs, float(logs[rows, chosen].sum()) - loss

    logs, value = objective(theta)
    taken = np.zeros((count, choices))
    taken[rows, chosen] = 1
    for _ in range(_MOST_STEPS):
        chances = np.exp(logs)
        slope = design.T @ (taken - chances)[:, :-1] - shrink[:, None] * theta
        bend = _curvature(design, chances)
        bend[np.diag_indices(len(bend))] += np.tile(shrink, choices - 1)
        step = np.linalg.solve(bend, slope.T.ravel()).reshape(choices - 1, width).T
        length = 1.0
        while True:
            logs, reached = objective(theta + length * step)
            if reached >= value or length < 1e-6:
                break
            length /= 2
        theta = theta + length * step
        gained, value = reached - value, reached
        if gained < _ENOUGH:
            break
    return theta


def _curvature(design: Floats, chances: Floats) -> Floats:
    """Minus the Hessian of the ln-likelihood: blocks Σ P_i (1[i = j] − P_j) x xᵀ."""
    width, free = design.shape[1], chances.shape[1] - 1
    bend = np.empty((free, width, free, width))
    for i in range(free):
        for j in range(i, free):
            weight = chances[:, i] * ((i == j) - chances[:, j])
            bend[i, :, j] = bend[j, :, i] = (design * weight[:, None]).T @ design
    return bend.reshape(free * width, free * width)


def gradient(row: Floats, chances: Floats, chosen: int, *, literal: bool) -> Floats:
    """∂P/∂θ of a choice, or ∂ln P/∂θ: [x, choice], the last choice left out.

    >>> gradient(np.ones(1), np.array([0.2, 0.5, 0.3]), 2, literal=True).round(3).tolist()
    [[-0.06, -0.15]]
    """
    lean = -chances.copy()
    lean[chosen] += 1
    if literal:
        lean *= chances[chosen]
    found: Floats = np.outer(row, lean[:-1])
    return found


def ascend(
    design: Floats,
    chosen: NDArray[np.int64],
    open_: NDArray[np.bool_],
    order: NDArray[np.int64],
    *,
    rate: float = 0.001,
    literal: bool = False,
    theta: Floats | None = None,
) -> Floats:
    """θ after one step for each observation of `order`: the estimator of the document with beliefs given."""
    found = np.zeros((design.shape[1], open_.shape[1] - 1)) if theta is None else theta.copy()
    for row in order.tolist():
        x = design[row]
        logits = np.append(x @ found, 0.0)
        logits[~open_[row]] = _NEVER
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        found += rate * gradient(x, chances, int(chosen[row]), literal=literal)
    return found

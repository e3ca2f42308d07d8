"""How many children each bucket gets, so that a round's total is spent where it matters.

A round has room for K buckets. Clustering the hands of parent i into k children leaves an error
c(i, k), and the parent is met with probability p(i). Gilpin, Sandholm and Sørensen (AAAI 2007)
choose the numbers of children by the integer programme

    minimise  Σ p(i) c(i, k) x(i, k)   with   Σ_k x(i, k) = 1 for each i,   Σ k x(i, k) ≤ K,

x(i, k) in {0, 1}: a knapsack with one choice from each parent. It is solved here by HiGHS, and by a
dynamic programme over parents and buckets spent, which is exact and takes parents · K · Kmax steps.
Errors may be infinite: such a number of children is not on offer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import GameError, SolverError
from equipoise.kernel import exact_kernel

METHODS = ("highs", "dynamic")


def allocate(
    probabilities: ArrayLike, errors: ArrayLike, total: int, method: str = "highs"
) -> NDArray[np.int64]:
    """Children of each parent: int64[parents], all together at most `total`.

    `errors[i, k - 1]` is the error of parent i with k children. Of equally good choices the dynamic
    programme takes one with the fewest children in all.

    >>> errors = [[9, 1, 0], [3, 1, 0]]
    >>> allocate([0.5, 0.5], errors, 4), allocate([0.1, 0.9], errors, 4, "dynamic")
    (array([2, 2]), array([1, 3]))
    """
    shares, costs = np.asarray(probabilities, float), np.asarray(errors, float)
    if costs.ndim != 2 or shares.shape != costs.shape[:1] or not costs.size:
        raise GameError(
            f"{shares.size} probabilities for errors of shape {costs.shape}: give one row of errors "
            "for each parent"
        )
    if np.isnan(costs).any() or not np.isfinite(shares).all() or min(shares.min(), costs.min()) < 0:
        raise GameError("probabilities and errors of an allocation may not be negative")
    if np.isinf(costs).all(axis=1).any():
        raise GameError("a parent with no possible number of children: give it a finite error")
    least = int((np.isinf(costs).argmin(axis=1) + 1).sum())
    if total < least:
        raise GameError(f"{total} buckets for {len(costs)} parents: allow at least {least}")
    if method not in METHODS:
        raise GameError(f"method = {method!r}: choose {' or '.join(METHODS)}")
    # A parent that is never met costs nothing, but what is not on offer stays so.
    losses = np.where(
        np.isinf(costs), np.inf, shares[:, None] * np.where(np.isinf(costs), 0, costs)
    )
    return _by_highs(losses, total) if method == "highs" else _by_table(losses, total)


def _by_highs(losses: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    parents, most = losses.shape
    parent, child = np.nonzero(np.isfinite(losses))
    columns = np.arange(len(parent))
    one_each = csr_array((np.ones(len(parent)), (parent, columns)), shape=(parents, len(parent)))
    spent = csr_array((child + 1.0)[None, :])
    scale = losses[parent, child].max() or 1.0
    found = milp(
        losses[parent, child] / scale,
        integrality=np.ones(len(parent)),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(spent, 0, total)],
        options={"mip_rel_gap": 1e-9},
    )
    if found.x is None:
        raise SolverError(f"HiGHS found no allocation ({found.message}); try method = 'dynamic'")
    chosen = np.full((parents, most), -1.0)
    chosen[parent, child] = found.x
    children: NDArray[np.int64] = chosen.argmax(axis=1) + 1
    return children


@exact_kernel
def _spend(losses: NDArray[np.float64], total: int, choices: NDArray[np.int32]) -> int:
    """Fill `choices`[parent, spent] from the first parent on; the best total to have spent."""
    parents, most = losses.shape
    best, after = np.full(total + 1, np.inf), np.empty(total + 1)
    best[0] = 0.0
    for i in range(parents):
        after[:] = np.inf
        for spent in range(1, min(total, (i + 1) * most) + 1):
            for k in range(1, min(most, spent) + 1):
                loss = best[spent - k] + losses[i, k - 1]
                if loss < after[spent]:
                    after[spent] = loss
                    choices[i, spent] = k
        best[:] = after
    at = total
    for spent in range(total, -1, -1):
        if best[spent] <= best[at]:
            at = spent
    return at


def _by_table(losses: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    parents = len(losses)
    room = min(total, losses.size)
    choices = np.zeros((parents, room + 1), dtype=np.int32)
    spent = _spend(losses, room, choices)
    children = np.empty(parents, dtype=np.int64)
    for i in range(parents - 1, -1, -1):
        children[i] = choices[i, spent]
        spent -= int(children[i])
    return children

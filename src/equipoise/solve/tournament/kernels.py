"""Sums over two of three classes: the compiled part of :mod:`.jamfold3`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.kernel import kernel


@kernel
def contract(
    tensor: NDArray[np.float32],
    axis: int,
    first: NDArray[np.int64],
    first_weight: NDArray[np.float64],
    second: NDArray[np.int64],
    second_weight: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Set `out`[i] to the weighted sum of `tensor` over the places listed on the two other axes.

    The other axes come in their order; places left out weigh nothing.
    """
    out[:] = 0.0
    if axis == 2:
        for j in range(len(first)):
            for k in range(len(second)):
                weight = first_weight[j] * second_weight[k]
                row = tensor[first[j], second[k]]
                for i in range(len(out)):
                    out[i] += weight * row[i]
        return
    for j in range(len(first)):
        for i in range(len(out)):
            if axis == 0:
                row = tensor[i, first[j]]
            else:
                row = tensor[first[j], i]
            total = 0.0
            for k in range(len(second)):
                total += second_weight[k] * row[second[k]]
            out[i] += first_weight[j] * total

"""One measured figure, and how to time it on a noisy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Fastest of several runs: noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def figure(
    name: str,
    value: float,
    unit: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    target: str | None = None,
) -> dict[str, Any]:
    """A figure for the report; with a bound it says whether it was reached.

    >>> figure("speed", 12.0, "M/s", at_least=10)["reached"]
    True
    """
    told: dict[str, Any] = {"name": name, "value": value, "unit": unit}
    if at_least is not None:
        told |= {"target": target or f"≥ {at_least:g} {unit}", "reached": value >= at_least}
    elif at_most is not None:
        told |= {"target": target or f"≤ {at_most:g} {unit}", "reached": value <= at_most}
    return told

"""Compiled kernels: one decorator, one notice, one way to use all cores.

Numba compiles a kernel the first time it meets a set of argument types and keeps the result in a
cache on disk. The rules that make compiled Python as fast as C++ here: flat arrays, unsigned
indices in hot loops, no helper that takes arrays inside a scalar loop, kernels that call each other
in one file (the cache watches only a function's own file), and no allocation inside a loop.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba
from numba.core import event as numba_event

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` without the GIL, cached on disk, float arithmetic free to reassociate."""
    compiled: F = numba.njit(nogil=True, cache=True, fastmath=True, error_model="numpy")(function)
    return compiled


def exact_kernel(function: F) -> F:
    """Compile `function` like :func:`kernel` but with IEEE arithmetic (NaN, infinity, order kept)."""
    compiled: F = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return compiled


def row_kernel(function: F) -> F:
    """Compile `function` like :func:`kernel` but without reference counts.

    For kernels that pass arrays to small helpers inside a hot loop: they may not allocate. Every
    operation is rounded by itself, in the order written. With sums free to be reordered or fused, a
    helper's own copy and the one inside its caller may round differently, and which of the two runs
    depends on whether this process compiled them or read them from the cache: a resumed run would
    not be the same run.
    """
    compiled: F = numba.njit(
        nogil=True,
        cache=True,
        fastmath={"nnan", "ninf", "nsz"},
        error_model="numpy",
        _nrt=False,
    )(function)
    return compiled


class _CompileNotice(numba_event.Listener):  # type: ignore[misc]
    """Says once, on stderr, that kernels are being compiled, so a first run does not look hung."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Print the line at the first compilation of the process."""
        if not self.said:
            self.said = True
            print("Compiling kernels for this machine (first use only) ...", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing to do: the work that follows has its own progress."""


def announce_compilation() -> None:
    """Ask for the one-line notice; the command line does, library code never prints."""
    numba_event.register("numba:compile", _CompileNotice())


def cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_chunks(work: Callable[[int, int], None], count: int, threads: int | None = None) -> None:
    """Call `work(start, stop)` on slices that cover `range(count)`, one thread a slice.

    `work` must be a kernel (or release the GIL itself) and write to disjoint places.
    """
    workers = max(1, min(threads or cores(), count))
    if workers == 1:
        work(0, count)
        return
    bounds = [count * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, bounds[i], bounds[i + 1]) for i in range(workers)]:
            done.result()

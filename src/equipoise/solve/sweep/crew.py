"""Threads that sweep a game together without leaving compiled code.

A sweep of a small turn takes a tenth of a millisecond, which is less than it takes to wake a thread. So
the threads of a run, its *crew*, are woken once for all its iterations and meet inside them. What they
share is one array of whole numbers, the *board* they meet at: who has come, how often all have met, and
how many of each member's duties are taken. A member does his own duties, then what others have not begun.
Which of them did a duty leaves no trace in its result.

Whoever waits watches the number of meetings, for that is the quickest way to notice; after some tenths
of a millisecond he sleeps between two looks, so that a core which others want is not kept for nothing.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from equipoise.kernel import inlined_kernel

#: Numbers of a cache line: those that different members write stand in different lines.
LINE = 8
#: Places on the board: members who wait, meetings so far, whether the run was given up.
ARRIVED, MEETINGS, GIVEN_UP = 0, LINE, 2 * LINE
#: Place of the first member's duties; the next member's follow a line later.
TAKEN = 3 * LINE
#: Looks at the board before a member sleeps between them, and for how many microseconds.
_LOOKS, _REST = 100_000, 20


def meeting_board(members: int) -> NDArray[np.int64]:
    """A board for so many threads, at which nobody has met yet."""
    return np.zeros(TAKEN + LINE * members, dtype=np.int64)


@cache
def rest_address() -> int:
    """Address of the system's sleep for some microseconds; 0 where it has none."""
    try:
        return ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value or 0
    except (AttributeError, OSError, TypeError):  # Windows: there a member goes on looking
        return 0


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


@intrinsic  # type: ignore[untyped-decorator]
def take(typing: Any, board: Any, at: Any) -> Any:
    """Add 1 to a number that all threads share; what it was before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, board, args[0], args[1])
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(board, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def look(typing: Any, board: Any, at: Any) -> Any:
    """A number that all threads share, as it is now."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, board, args[0], args[1])
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(board, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def write(typing: Any, board: Any, at: Any, number: Any) -> Any:
    """Write a number that all threads share."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, board, args[0], args[1])
        builder.store_atomic(args[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.none(board, types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _sleep(typing: Any, address: Any, microseconds: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.IntType(32)
        kind = ir.FunctionType(number, [number])
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(function, [builder.trunc(args[1], number)])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


@inlined_kernel
def meet(board: Any, members: int, rest: int) -> bool:
    """Wait until all members of the crew are here; False if the run was given up meanwhile."""
    if members == 1:
        return True
    met = look(board, MEETINGS)
    if take(board, ARRIVED) == members - 1:
        write(board, ARRIVED, 0)
        take(board, MEETINGS)
        return True
    looks = 0
    while look(board, MEETINGS) == met:
        if look(board, GIVEN_UP) != 0:
            return False
        looks += 1
        if looks > _LOOKS and rest != 0:
            _sleep(rest, np.int64(_REST))
    return True

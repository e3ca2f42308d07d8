"""BLAS inside compiled kernels: products of matrices that stand in flat arrays.

Bucketed games in double precision, and matrices that carry buckets from street to street, are
products of dense matrices, which the library that SciPy carries does best. (Terminals in single
precision are not dense: see :mod:`.panels`.) Kernels call it by address, so they stay free of Python
and cacheable.
One call runs on one thread: the solvers' own threads each multiply their share, which is faster
than one product shared by all (:func:`on_one_thread`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic
from numpy.typing import DTypeLike

_BYTE = ir.IntType(8).as_pointer()


def gemm_address(dtype: DTypeLike) -> int:
    """Address of BLAS's product of general matrices of `dtype`.

    >>> gemm_address("float32") != gemm_address("float64")
    True
    """
    name = {"float32": "sgemm", "float64": "dgemm"}[np.dtype(dtype).name]
    return int(get_cython_function_address("scipy.linalg.cython_blas", name))


@cache
def on_one_thread() -> None:
    """Keep BLAS from starting threads of its own, in this process, from now on."""
    import scipy.linalg  # noqa: F401  (loads the library that is limited)
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


@intrinsic  # type: ignore[untyped-decorator]
def multiply(
    typing: Any,
    gemm: Any,
    sizes: Any,
    scalars: Any,
    alpha: Any,
    beta: Any,
    left: Any,
    left_at: Any,
    right: Any,
    target: Any,
    target_at: Any,
) -> Any:
    """`target = scalars[alpha] · left · right + scalars[beta] · target`, counted by columns.

    `sizes` are int32: rows of `left`, columns of `right`, columns of `left`, then the steps between
    columns of `left`, `right` and `target`.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def at(number: int, offset: Any) -> Any:
            array = context.make_array(signature.args[number])(context, builder, args[number])
            return builder.bitcast(builder.gep(array.data, [offset]), _BYTE)

        def size(k: int) -> Any:
            return at(1, ir.Constant(ir.IntType(64), k))

        start = ir.Constant(ir.IntType(64), 0)
        plain = builder.alloca(ir.IntType(8))
        builder.store(ir.Constant(ir.IntType(8), ord("N")), plain)
        kind = ir.FunctionType(ir.VoidType(), [_BYTE] * 13)
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(
            function,
            [
                plain, plain, size(0), size(1), size(2), at(2, args[3]), at(5, args[6]), size(3),
                at(7, start), size(4), at(2, args[4]), at(8, args[9]), size(5),
            ],
        )  # fmt: skip
        return context.get_dummy_value()

    whole = types.intp
    signature = types.void(whole, sizes, scalars, whole, whole, left, whole, right, target, whole)
    return signature, generate

"""Sixteen numbers at a time: explicit vector values for compiled kernels.

Short fixed loops do not vectorise reliably by themselves, and loops over many arrays need more
alias checks than the compiler is willing to make. These intrinsics give kernels a value type of
sixteen float32 or float64 lanes with ordinary operators, so that a row rule reads like its formula:

    regret = load(rows, i)
    store(rows, i, regret * discount + gain)

Every row in the project is padded to a whole number of blocks of `LANES`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16
#: Nothing that changes a rounding (see :func:`equipoise.kernel.row_kernel`): every operation is
#: rounded by itself, in the order written.
_FLAGS = ("nnan", "ninf", "nsz")
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


class LanesType(types.Type):  # type: ignore[misc]
    """Numba's type of sixteen lanes of one float type."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Lanes({element})")


def _vector(element: Any) -> ir.VectorType:
    return ir.VectorType(ir.FloatType() if element == types.float32 else ir.DoubleType(), LANES)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes_type: LanesType) -> None:
        super().__init__(manager, lanes_type, _vector(lanes_type.element))


_LANES = {types.float32: LanesType(types.float32), types.float64: LanesType(types.float64)}


def _address(context: Any, builder: Any, array_type: Any, array: Any, at: Any, vector: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _function(builder: Any, name: str, element: Any, count: int = 1) -> Any:
    """One of LLVM's functions from lanes, `count` of them, to lanes."""
    vector = _vector(element)
    full = f"llvm.{name}.v{LANES}f{32 if element == types.float32 else 64}"
    kind = ir.FunctionType(vector, [vector] * count)
    return builder.module.globals.get(full) or ir.Function(builder.module, kind, full)


def _element(array: Any) -> Any:
    """Float type of the lanes an array is read as; 16-bit integers are read as float32."""
    return array.dtype if array.dtype in _LANES else types.float32


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Any, array: Any, at: Any) -> Any:
    """Lanes `array[at : at + 16]` of a one-dimensional contiguous array."""
    element = _element(array)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if array.dtype == element:
            pointer = _address(context, builder, array, args[0], args[1], _vector(element))
            return builder.load(pointer, align=4)
        stored = ir.VectorType(ir.IntType(16), LANES)
        pointer = _address(context, builder, array, args[0], args[1], stored)
        whole = builder.load(pointer, align=2)
        if array.dtype == types.uint16:
            return builder.uitofp(whole, _vector(element))
        return builder.sitofp(whole, _vector(element))

    return _LANES[element](array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing: Any, array: Any, at: Any, value: Any) -> Any:
    """Write lanes to `array[at : at + 16]`; 16-bit integers are rounded to nearest."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _vector(value.element)
        if array.dtype == value.element:
            pointer = _address(context, builder, array, args[0], args[1], vector)
            builder.store(args[2], pointer, align=4)
            return context.get_dummy_value()
        stored = ir.VectorType(ir.IntType(16), LANES)
        pointer = _address(context, builder, array, args[0], args[1], stored)
        rounded = builder.call(_function(builder, "rint", value.element), [args[2]])
        wide = builder.fptosi(rounded, ir.VectorType(_I32, LANES))
        builder.store(builder.trunc(wide, stored), pointer, align=2)
        return context.get_dummy_value()

    return types.none(array, types.intp, value), generate


#: Index that :func:`gather` reads as zero.
NOWHERE = 0xFFFF


@intrinsic  # type: ignore[untyped-decorator]
def gather(typing: Any, array: Any, start: Any, indices: Any, at: Any) -> Any:
    """Lanes `array[start + indices[at + l]]`; zero where the uint16 index is `NOWHERE`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _vector(array.dtype)
        narrow = ir.VectorType(ir.IntType(16), LANES)
        wide = ir.VectorType(_I64, LANES)
        pointer = _address(context, builder, indices, args[2], args[3], narrow)
        index = builder.load(pointer, align=2)
        nowhere = ir.Constant(narrow, [NOWHERE] * LANES)
        mask = builder.icmp_unsigned("!=", index, nowhere)
        data = context.make_array(array)(context, builder, args[0]).data
        width = 32 if array.dtype == types.float32 else 64
        origin = builder.ptrtoint(builder.gep(data, [args[1]]), _I64)
        undefined = ir.Constant(wide, ir.Undefined)
        first = builder.insert_element(undefined, origin, ir.Constant(_I32, 0))
        same = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
        origins = builder.shuffle_vector(first, undefined, same)
        bytes_each = ir.Constant(wide, [width // 8] * LANES)
        distance = builder.mul(builder.zext(index, wide), bytes_each)
        pointers = ir.VectorType(vector.element.as_pointer(), LANES)
        addresses = builder.inttoptr(builder.add(origins, distance), pointers)
        name = f"llvm.masked.gather.v{LANES}f{width}.v{LANES}p0"
        kind = ir.FunctionType(
            vector, [addresses.type, _I32, ir.VectorType(ir.IntType(1), LANES), vector]
        )
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        zero = ir.Constant(vector, [0.0] * LANES)
        return builder.call(function, [addresses, ir.Constant(_I32, 4), mask, zero])

    return _LANES[array.dtype](array, types.intp, indices, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def splat(typing: Any, value: Any) -> Any:
    """The same number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _vector(value)
        undefined = ir.Constant(vector, ir.Undefined)
        single = builder.insert_element(undefined, args[0], ir.Constant(_I32, 0))
        mask = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
        return builder.shuffle_vector(single, undefined, mask)

    return _LANES[value](value), generate


def _operator(symbol: Callable[[Any, Any], Any], instruction: str) -> None:
    """Give lanes an arithmetic operator."""

    @infer_global(symbol)
    class LanesOperator(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, keywords: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], LanesType) and args[0] == args[1]:
                return args[0](*args)
            return None

    @lower_builtin(symbol, LanesType, LanesType)  # type: ignore[untyped-decorator]
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(args[0], args[1], flags=_FLAGS)


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")


@intrinsic  # type: ignore[untyped-decorator]
def fused(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """Lane by lane `x · y + z`, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = _function(builder, "fma", x.element, 3)
        return builder.call(function, args)

    return x(x, y, z), generate


@intrinsic  # type: ignore[untyped-decorator]
def largest(typing: Any, x: Any, y: Any) -> Any:
    """Lane by lane, the larger of two."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        greater = builder.fcmp_ordered(">", args[0], args[1], flags=_FLAGS)
        return builder.select(greater, args[0], args[1])

    return x(x, y), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_above(typing: Any, x: Any, bound: Any, above: Any, otherwise: Any) -> Any:
    """Lane by lane, `above` where `x > bound`, else `otherwise`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        greater = builder.fcmp_ordered(">", args[0], args[1], flags=_FLAGS)
        return builder.select(greater, args[2], args[3])

    return above(x, bound, above, otherwise), generate


@intrinsic  # type: ignore[untyped-decorator]
def magnitude(typing: Any, x: Any) -> Any:
    """Lane by lane, the absolute value."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(_function(builder, "fabs", x.element), [args[0]])

    return x(x), generate


@intrinsic  # type: ignore[untyped-decorator]
def across(typing: Any, x: Any) -> Any:
    """The largest of the lanes, as a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, width = args[0], LANES // 2
        while width:
            turned = [(lane + width) % LANES for lane in range(LANES)]
            order = ir.Constant(ir.VectorType(_I32, LANES), turned)
            moved = builder.shuffle_vector(values, values, order)
            greater = builder.fcmp_ordered(">", values, moved, flags=_FLAGS)
            values = builder.select(greater, values, moved)
            width //= 2
        return builder.extract_element(values, ir.Constant(_I32, 0))

    return x.element(x), generate


@intrinsic  # type: ignore[untyped-decorator]
def added(typing: Any, x: Any) -> Any:
    """The sum of the lanes, as a number: halves are added, then quarters, and so on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, width = args[0], LANES // 2
        while width:
            turned = [(lane + width) % LANES for lane in range(LANES)]
            order = ir.Constant(ir.VectorType(_I32, LANES), turned)
            moved = builder.shuffle_vector(values, values, order)
            values = builder.fadd(values, moved, flags=_FLAGS)
            width //= 2
        return builder.extract_element(values, ir.Constant(_I32, 0))

    return x.element(x), generate


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose 16 vectors of 16 lanes, by instructions that are cheap on wide vectors.

    Interleave neighbouring rows by one lane, then by two, within quarters of a vector; then bring
    the quarters together, twice.
    """
    index = ir.VectorType(_I32, LANES)

    def pick(x: Any, y: Any, lanes: list[int]) -> Any:
        return builder.shuffle_vector(x, y, ir.Constant(index, lanes))

    def within(*lanes: int) -> list[int]:
        return [4 * quarter + lane for quarter in range(4) for lane in lanes]

    ones = within(0, 16, 1, 17), within(2, 18, 3, 19)
    twos = within(0, 1, 16, 17), within(2, 3, 18, 19)
    quarters = [[4 * quarter + lane for quarter in kept for lane in range(4)]
                for kept in ((0, 2, 4, 6), (1, 3, 5, 7))]  # fmt: skip
    four_rows = []
    for first in range(0, LANES, 4):
        pairs = [[pick(rows[first + k], rows[first + k + 1], m) for m in ones] for k in (0, 2)]
        # Columns c, c + 4, c + 8, c + 12 of these four rows, for c = 0, 1, 2, 3.
        four_rows.append([pick(pairs[0][half], pairs[1][half], m) for half in (0, 1) for m in twos])
    columns: list[Any] = [None] * LANES
    for c in range(4):
        for odd in (0, 1):
            above = pick(four_rows[0][c], four_rows[1][c], quarters[odd])
            below = pick(four_rows[2][c], four_rows[3][c], quarters[odd])
            for far in (0, 1):
                columns[c + 4 * odd + 8 * far] = pick(above, below, quarters[far])
    return columns


def _transpose(inward: bool) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def exchange(typing: Any, matrix: Any, starts: Any, column: Any, lanes: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = _vector(matrix.dtype)
            offsets = context.make_array(starts)(context, builder, args[1]).data

            def row(lane: int) -> Any:
                start = builder.load(builder.gep(offsets, [ir.Constant(_I64, lane)]))
                at = builder.add(start, args[2])
                return _address(context, builder, matrix, args[0], at, vector)

            def block(k: int) -> Any:
                scaled = builder.mul(args[2], ir.Constant(_I64, LANES))
                at = builder.add(scaled, ir.Constant(_I64, LANES * k))
                return _address(context, builder, lanes, args[3], at, vector)

            rows = [row(k) for k in range(LANES)]
            blocks = [block(k) for k in range(LANES)]
            source, target = (rows, blocks) if inward else (blocks, rows)
            moved = _transposed(builder, [builder.load(pointer, align=4) for pointer in source])
            for pointer, value in zip(target, moved, strict=True):
                builder.store(value, pointer, align=4)
            return context.get_dummy_value()

        return types.none(matrix, starts, types.intp, lanes), generate

    return exchange


#: `into_lanes(matrix, starts, column, lanes)`: `lanes[16 (column + k) + l] = matrix[starts[l] + column + k]`
#: for a 16×16 block, so that sixteen rows can be swept side by side.
into_lanes = _transpose(inward=True)
#: The way back: `matrix[starts[l] + column + k] = lanes[16 (column + k) + l]`.
out_of_lanes = _transpose(inward=False)

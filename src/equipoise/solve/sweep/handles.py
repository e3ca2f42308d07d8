"""A tuple of arrays as one number: kernels are given the address of a table of addresses.

A game has some ninety flat arrays. A compiled function that takes them as arguments takes six hundred
numbers, and passes them on at every call: seconds of compilation, microseconds a call. Here a
:class:`Handle` lays a tuple of arrays, whole numbers and further such tuples out as a table of
addresses and sizes, once, and kernels get where it stands. They read it by names as they would read
the tuple, `lines.kind[node]`, and what is not read costs nothing.

What a table says does not change while compiled code runs, which the compiler is told: it may read an
address once, before a loop, whatever the loop writes.

Kernels that take nothing but handles and whole numbers can also be called by their own address
(:func:`address_of`, :func:`call`). Then they are not compiled again into each of their callers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

_WORD = ir.IntType(64)
_BYTES = 8


class HandleType(types.Type):  # type: ignore[misc]
    """Numba's type of a handle: name, place in the table and type of each member."""

    def __init__(self, members: tuple[tuple[str, int, Any], ...]) -> None:
        self.members = {name: (at, member) for name, at, member in members}
        told = ", ".join(f"{name}@{at}: {member}" for name, at, member in members)
        super().__init__(name=f"Handle({told})")

    def only(self, names: Iterable[str]) -> HandleType:
        """The type of the same table to a kernel that reads no other members."""
        return HandleType(tuple((name, *self.members[name]) for name in names))


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, handle: HandleType) -> None:
        super().__init__(manager, handle, _WORD)


class Handle:
    """A tuple of arrays, whole numbers and tuples of these, laid out for kernels.

    >>> from collections import namedtuple
    >>> handle = Handle(namedtuple("Pair", "table number")(np.zeros((2, 3)), 7))
    >>> handle.table[1:].tolist()
    [2, 3, 7]
    """

    __slots__ = ("address", "held", "table", "type")

    def __init__(self, held: Any) -> None:
        words: list[int] = []
        self.type: HandleType = _lay(held, words)
        #: Kept alive as long as the table.
        self.held = held
        self.table = np.array(words, dtype=np.int64)
        self.address = int(self.table.__array_interface__["data"][0])

    def only(self, names: tuple[str, ...]) -> Handle:
        """The same table, to kernels that read no other members."""
        part: Handle = object.__new__(Handle)
        part.type = _part_of(self.type, names)
        part.held, part.table, part.address = self.held, self.table, self.address
        return part


def _lay(held: Any, words: list[int]) -> HandleType:
    """Put a tuple's addresses and sizes behind the words; its type, counted from its own start."""
    start = len(words)
    members: list[tuple[str, int, Any]] = []
    for name, value in zip(held._fields, held, strict=True):
        at = len(words) - start
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{name}: kernels read contiguous arrays")
            words.append(value.__array_interface__["data"][0])
            words.extend(value.shape)
            members.append((name, at, (value.dtype, value.ndim)))
        elif isinstance(value, tuple):
            members.append((name, at, _lay(value, words)))
        else:
            words.append(int(value))
            members.append((name, at, None))
    return _type_of(tuple(members))


@cache
def _type_of(members: tuple[tuple[str, int, Any], ...]) -> HandleType:
    def named(told: Any) -> Any:
        if told is None:
            return types.int64
        if isinstance(told, HandleType):
            return told
        dtype, dimensions = told
        return types.Array(_number(dtype), dimensions, "C")

    return HandleType(tuple((name, at, named(told)) for name, at, told in members))


@cache
def _part_of(whole: HandleType, names: tuple[str, ...]) -> HandleType:
    return whole.only(names)


@cache
def _number(dtype: Any) -> Any:
    from numba.np.numpy_support import from_dtype

    return from_dtype(dtype)


# ------------------------------------------------------------------------------ inside kernels


@typeof_impl.register(Handle)  # type: ignore[untyped-decorator]
def _type_of_handle(value: Handle, context: Any) -> HandleType:
    return value.type


@unbox(HandleType)  # type: ignore[untyped-decorator]
def _unbox_handle(kind: HandleType, value: Any, context: Any) -> Any:
    address = context.pyapi.object_getattr_string(value, "address")
    number = context.pyapi.long_as_longlong(address)
    context.pyapi.decref(address)
    failed = cgutils.is_not_null(context.builder, context.pyapi.err_occurred())
    return NativeValue(number, is_error=failed)


@infer_getattr
class _Members(AttributeTemplate):  # type: ignore[misc]
    key = HandleType

    def generic_resolve(self, handle: HandleType, name: str) -> Any:
        return handle.members[name][1] if name in handle.members else None


@lower_getattr_generic(HandleType)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, handle: HandleType, address: Any, name: str) -> Any:
    at, member = handle.members[name]

    def word(k: int) -> Any:
        place = builder.add(address, ir.Constant(_WORD, _BYTES * (at + k)))
        found = builder.load(builder.inttoptr(place, _WORD.as_pointer()))
        found.set_metadata("invariant.load", builder.module.add_metadata([]))
        return found

    if isinstance(member, HandleType):
        return builder.add(address, ir.Constant(_WORD, _BYTES * at))
    if not isinstance(member, types.Array):
        return word(0)
    from numba.np.arrayobj import populate_array

    array = context.make_array(member)(context, builder)
    itemsize = context.get_abi_sizeof(context.get_data_type(member.dtype))
    shape = [word(1 + k) for k in range(member.ndim)]
    strides: list[Any] = []
    step: Any = ir.Constant(_WORD, itemsize)
    for size in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, size)
    data = builder.inttoptr(word(0), context.get_data_type(member.dtype).as_pointer())
    populate_array(array, data=data, shape=cgutils.pack_array(builder, shape),
                   strides=cgutils.pack_array(builder, strides), itemsize=itemsize, meminfo=None)  # fmt: skip
    return impl_ret_borrowed(context, builder, member, array._getvalue())


# ------------------------------------------------------------------------------ by their address


@cache
def address_of(kernel: Any, *arguments: Any) -> int:
    """Address of a kernel's compiled form for these types of arguments; it returns nothing."""
    kernel.compile(arguments)
    made = kernel.overloads[arguments]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


@intrinsic  # type: ignore[untyped-decorator]
def call(
    typing: Any,
    address: Any,
    frame: Any,
    numbers: Any,
    work: Any,
    board: Any,
    part: Any,
    player: Any,
    code: Any,
) -> Any:
    """Call the kernel at `address` with three handles, or where they stand, and whole numbers.

    It raises nothing: there is nobody here to hear of it.
    """
    arguments = [types.int64] * 7

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.call_conv.get_function_type(types.none, arguments)
        returned, raised = (cgutils.alloca_once(builder, kind.args[k].pointee) for k in (0, 1))
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(function, [returned, raised, *args[1:]])
        return context.get_dummy_value()

    whole = (types.int64,) * 4
    return types.void(types.int64, frame, numbers, work, *whole), generate

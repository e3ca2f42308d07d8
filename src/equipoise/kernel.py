"""Compiled kernels: one decorator, one notice, one way to use all cores.

Numba compiles a kernel the first time it meets a set of argument types and keeps the result in a
cache on disk. The rules that make compiled Python as fast as C++ here: flat arrays, unsigned
indices in hot loops, no helper that takes arrays inside a scalar loop, and no allocation inside a loop.

A compiled kernel contains the kernels it calls and the constants it reads, wherever they are written.
Numba stamps what it keeps by the kernel's own file alone; here the stamp covers everything that file
imports from the package, so that an edit, or an upgrade in place, never runs yesterday's code. A file
with kernels should therefore import only kernels and constants, or every edit compiles the world anew.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import caching
from numba.core import event as numba_event
from numba.core.runtime import rtsys
from numba.extending import intrinsic

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows: there processes may compile the same kernel side by side
    fcntl = None

F = TypeVar("F", bound=Callable[..., Any])


# ------------------------------------------------------------------------------- the cache

#: Seconds after which a process no longer waits for another that compiles the same kernel.
_LONGEST_COMPILATION = 300.0
#: An import at the top of a file: the module, and the names taken from it.
_IMPORT = re.compile(
    r"^from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|^import\s+([^\n]*)", re.MULTILINE
)
#: Modules that hold nothing a kernel can read: their edits make no kernel stale.
_UNREAD = {"equipoise.errors"}


@cache
def _imports(path: str) -> tuple[bytes, tuple[str, ...]]:
    """Hash of a source file, and the modules that it may import at its top."""
    content = Path(path).read_bytes()
    found = []
    for module, names, plain in _IMPORT.findall(content.decode("utf-8", "replace")):
        if module:
            found.append(module)
            # `from package import module`: what is no module is not found, and does no harm.
            found += [f"{module}.{name}" for name in re.findall(r"\b\w+\b", names)]
        found += re.findall(r"[\w.]+", plain)
    return hashlib.sha256(content).digest(), tuple(found)


@cache
def source_files(path: str, package: str) -> tuple[str, ...]:
    """A source file and all that it imports, directly or not, of its own package and of ours."""
    ours = (package, "equipoise")
    seen, waiting = {path}, [path]
    while waiting:
        for name in _imports(waiting.pop())[1]:
            if name.partition(".")[0] not in ours or name in _UNREAD:
                continue
            # What is imported at the top of a file is there when its kernels are decorated.
            file = getattr(sys.modules.get(name), "__file__", None)
            if file and file not in seen:
                seen.add(file)
                waiting.append(file)
    return tuple(sorted(seen))


@cache
def source_stamp(path: str, package: str) -> str:
    """What a compiled kernel of a file depends on, as a hash: that file and what it imports."""
    digest = hashlib.sha256()
    for file in source_files(path, package):
        digest.update(_imports(file)[0])
    return digest.hexdigest()


def _stamped(locator: Any) -> Any:
    """A place of Numba's cache whose stamp covers what a kernel's file imports, not that file alone."""

    class Stamped(locator):  # type: ignore[misc]
        def __init__(self, function: Any, file: str) -> None:
            self._package = str(function.__module__).partition(".")[0]
            super().__init__(function, file)

        def get_source_stamp(self) -> Any:
            own = super().get_source_stamp()
            # What is typed at a prompt has no file.
            behind = os.path.exists(self._py_file) and source_stamp(self._py_file, self._package)
            return own, behind

    return Stamped


class _StampedImplementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar[list[Any]] = [
        _stamped(locator) for locator in caching.CompileResultCacheImpl._locator_classes
    ]


class _StampedCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function's compiled forms, made anew when any file behind it changes.

    Of several processes that need the same kernel one compiles it, and the others wait for that.
    """

    _impl_class = _StampedImplementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._turn: Any = None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled form for a signature, if it is there.

        Numba would first load all it needs to compile anything, which takes longer than all our
        kernels together. To run what is compiled already, its runtime is enough.
        """
        rtsys.initialize(target)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(signature, target)
            if found is None and self._turn is None and self._take_turn():
                # Somebody may have compiled it while this process waited for its turn.
                found = self._load_overload(signature, target)
                if found is not None:
                    self._give_turn()
            return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep what was compiled, and let others read it."""
        try:
            super().save_overload(signature, data)
        finally:
            self._give_turn()

    def _take_turn(self) -> bool:
        """Be the one who compiles: wait for whoever is at it, though not for ever."""
        if fcntl is None:
            return False
        path = os.path.join(self.cache_path, f"{self._impl.filename_base}.turn")
        try:
            self._turn = open(path, "wb")  # noqa: SIM115  (held until the kernel is compiled)
        except OSError:
            return False
        end = time.monotonic() + _LONGEST_COMPILATION
        while time.monotonic() < end:
            try:
                fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                time.sleep(0.02)
        return True

    def _give_turn(self) -> None:
        if self._turn is not None:
            self._turn.close()
            self._turn = None


class _WithoutCollection(numba_event.Listener):  # type: ignore[misc]
    """No search for garbage while a kernel is compiled: a tenth of the time, for next to nothing.

    Numba compiles one kernel at a time, callees inside their callers.
    """

    def __init__(self) -> None:
        self._depth, self._collecting = 0, False

    def on_start(self, event: Any) -> None:
        """Stop at the outermost kernel."""
        if self._depth == 0:
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Go on after it, if anybody was at it."""
        self._depth -= 1
        if self._depth == 0 and self._collecting:
            gc.enable()


numba_event.register("numba:compile", _WithoutCollection())


def _compiled(function: F, **options: Any) -> F:
    # Nobody calls a kernel from C.
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    dispatcher: Any = numba.njit(**options)(function)
    # Without a compiler (NUMBA_DISABLE_JIT) the function comes back as it is.
    if dispatcher is not function:
        dispatcher._cache = _StampedCache(function)
    return cast("F", dispatcher)


# ------------------------------------------------------------------------------ the decorators


def kernel(function: F) -> F:
    """Compile `function` without the GIL, cached on disk, float arithmetic free to reassociate."""
    return _compiled(function, fastmath=True)


def exact_kernel(function: F) -> F:
    """Compile `function` like :func:`kernel` but with IEEE arithmetic (NaN, infinity, order kept)."""
    return _compiled(function)


def row_kernel(function: F) -> F:
    """Compile `function` like :func:`kernel` but without reference counts.

    For kernels that pass arrays to small helpers inside a hot loop: they may not allocate. Every
    operation is rounded by itself, in the order written. With sums free to be reordered or fused, a
    helper's own copy and the one inside its caller may round differently, and which of the two runs
    depends on whether this process compiled them or read them from the cache: a resumed run would
    not be the same run.
    """
    return _compiled(function, fastmath={"nnan", "ninf", "nsz"}, _nrt=False)


def kernel_part(function: F) -> F:
    """Compile `function` like :func:`row_kernel`, for other kernels only: Python cannot call it.

    What reads a kernel's arguments from Python's objects is code, too, and for tuples of many arrays
    more of it than the kernel itself.
    """
    options = {"fastmath": {"nnan", "ninf", "nsz"}, "_nrt": False, "no_cpython_wrapper": True}
    part: Any = _compiled(function, **options)

    def keep(made: Any) -> None:
        # Not in the table of what Python may call: there is nothing that it could enter by.
        part.overloads[tuple(made.signature.args)] = made

    def refuse(*arguments: Any, **named: Any) -> None:
        raise TypeError(f"{function.__name__} is a part of kernels: only they can call it")

    if part is not function:
        part.add_overload, part._compile_for_args = keep, refuse
    return cast("F", part)


def inlined_kernel(function: F) -> F:
    """A part of a kernel, written apart for the reader and compiled only inside its caller.

    A kernel that calls another is optimised as a whole, callee included; at the top of a deep tree of
    calls every level costs seconds of compilation. What has but one caller need not be a level.
    """
    options = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True}
    part: F = numba.njit(inline="always", no_cfunc_wrapper=True, **options)(function)
    return part


# ------------------------------------------------------------------------------ the intrinsics


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typing: Any, bits: Any) -> Any:
    """Number of set bits of a uint64: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, at: Any) -> Any:
    """Ask for the cache line of `array[at]`, which will be written; any address is allowed."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        data = context.make_array(array)(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), byte)
        name = "llvm.prefetch.p0"
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        builder.call(function, [pointer, *(ir.Constant(number, n) for n in (1, 3, 1))])
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


# ------------------------------------------------------------------------------ what is said


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

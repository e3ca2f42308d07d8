"""How everything is written: aside, synced, and moved into place in one step.

A reader never meets half a file, whatever ends the writer. What is written stands under a hidden
name beside its target (`.partial-PID-…-NAME`) until it is complete and on the disk; then it takes
the target's place. A writer that fails removes what it began. One that is killed cannot; the next
program that uses the folder does (:func:`sweep_leftovers`), and knows what is left over by a lock
that dies with its writer.

Commands ask :func:`check_target` before they begin to work, so that nothing is computed that could
not be written, and no file is replaced that was not to be.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal, overload

from equipoise.errors import FileError

try:
    import fcntl

    _HAS_LOCKS = True
except ImportError:
    # Not a Unix: folders cannot be locked, and what is left over is known by its age.
    _HAS_LOCKS = False

#: Name of the lock of a folder, within it.
LOCK_NAME = ".lock"
#: Names of what is being written.
_PARTIAL = re.compile(r"\.partial-(\d+)-[0-9a-f]{8}-")
#: As much of a target's name as is repeated: the whole must not become too long.
_REPEATED = 40
#: Devices that are written to as they are.
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr")
#: Where line ends would be translated otherwise.
_AS_IT_IS = getattr(os, "O_BINARY", 0)
#: Seconds after which a left-over is one, where locks do not tell.
_FORGOTTEN = 86_400


# -------------------------------------------------------------------------------- before work


def check_target(
    path: str | Path,
    *,
    overwrite: bool = False,
    suffixes: Sequence[str] | None = None,
    what: str = "",
) -> Path:
    """The path, if a file can be written there; otherwise one sentence that says why not.

    `suffixes` are the endings the name may have, such as `(".png", ".svg")`; `what` is the option
    the path was given by, such as `--plot`. A file that exists is refused unless `overwrite`. What
    killed writers left in the folder is removed.

    >>> check_target("chart.bmp", suffixes=(".png", ".svg"), what="--plot")
    Traceback (most recent call last):
        ...
    equipoise.errors.FileError: --plot 'chart.bmp': end the name with .png or .svg
    """
    told = f"{what} {str(path)!r}".lstrip()
    if not str(path) or "\0" in str(path):
        raise FileError(f"{told}: give the name of a file")
    path = Path(path)
    found = _status(path, told)
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise FileError(f"{told} is a folder: name a file")
    if suffixes is not None and path.suffix.lower() not in suffixes:
        *most, last = suffixes
        choice = f"{', '.join(most)} or {last}" if most else last
        raise FileError(f"{told}: end the name with {choice}")
    if str(path) in _DEVICES:
        return path
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise FileError(f"{told} is no ordinary file: choose another name")
    parent = Path(os.path.realpath(path)).parent
    above = _status(parent, told)
    if above is None:
        raise FileError(f"{told}: there is no folder '{parent}', make it first")
    if not stat.S_ISDIR(above.st_mode):
        raise FileError(f"{told}: '{parent}' is not a folder")
    if found is not None and not overwrite:
        raise FileError(f"{told} exists: add --overwrite to replace it, or choose another name")
    if found is not None and not os.access(path, os.W_OK):
        raise FileError(f"{told} may not be written to: choose another name")
    # What a killed writer left beside is in nobody's way any more.
    sweep_leftovers(parent)
    try:
        descriptor, beside = _create(Path(os.path.realpath(path)))
        os.close(descriptor)
        os.unlink(beside)
    except OSError as error:
        raise FileError(f"{told} cannot be written: {error.strerror}") from None
    return path


def _status(path: Path, told: str) -> os.stat_result | None:
    """What stands at a path; None if nothing does."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileError(f"{told} cannot be written: {error.strerror}") from None


# ------------------------------------------------------------------------------------ writing


@overload
def written(
    path: str | Path, mode: Literal["wb"] = "wb", *, overwrite: bool = True
) -> AbstractContextManager[IO[bytes]]: ...
@overload
def written(
    path: str | Path, mode: Literal["w"], *, overwrite: bool = True
) -> AbstractContextManager[IO[str]]: ...
def written(
    path: str | Path, mode: Literal["w", "wb"] = "wb", *, overwrite: bool = True
) -> AbstractContextManager[IO[Any]]:
    """An open file that becomes `path` when the `with` block ends well, and nothing otherwise.

    Text is UTF-8, lines end with one character. With `overwrite=False` a file that came to be there
    in the meantime is left alone, and that is an error.
    """
    return _written(path, mode, overwrite)


@contextmanager
def _written(path: str | Path, mode: str, overwrite: bool) -> Iterator[IO[Any]]:
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    if str(path) in _DEVICES:
        with _in_a_sentence(path), open(path, mode, **text) as file:
            yield file
        return
    with (
        _beside(path, overwrite) as (descriptor, _),
        open(descriptor, mode, closefd=False, **text) as file,
    ):
        yield file


@contextmanager
def aside(path: str | Path, *, overwrite: bool = True) -> Iterator[Path]:
    """A path to write to, for libraries that want one; it becomes `path` when the block ends well.

    It ends like `path`, so that a format chosen by the ending is the same.
    """
    if str(path) not in _DEVICES:
        with _beside(path, overwrite) as (_, beside):
            yield beside
        return
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / "written"
        yield beside
        with _in_a_sentence(path), beside.open("rb") as file, open(path, "wb") as out:
            shutil.copyfileobj(file, out)


@contextmanager
def _beside(path: str | Path, overwrite: bool) -> Iterator[tuple[int, Path]]:
    """A new file beside the target, open and by name, that is moved there at the end."""
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    with _in_a_sentence(path):
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise FileError(f"{path} is no ordinary file: choose another name")
        descriptor, beside = _create(target)
    try:
        with _in_a_sentence(path):
            yield descriptor, beside
            _sync(beside)
            with suppress(FileNotFoundError):
                # Nothing becomes readable by more people than what it replaces was.
                kept = os.stat(target).st_mode & os.fstat(descriptor).st_mode & 0o666
                os.chmod(beside, kept)
            if not _HAS_LOCKS:
                # Where there are no locks, an open file may not be moved either.
                os.close(descriptor)
                descriptor = -1
            _move(beside, target, overwrite)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    with suppress(OSError):
        # Not every system can sync a folder; the file itself is safe.
        _sync(target.parent)


def _create(target: Path) -> tuple[int, Path]:
    """A new file beside the target, locked for as long as it is open."""
    while True:
        token = f"{os.getpid()}-{os.urandom(4).hex()}"
        beside = target.parent / f".partial-{token}-{target.name[-_REPEATED:]}"
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | _AS_IT_IS, 0o666)
        _lock(descriptor)
        # Another process may have swept it away between the two lines above.
        if _stands(descriptor, beside):
            return descriptor, beside
        os.close(descriptor)


def _move(beside: Path, target: Path, overwrite: bool) -> None:
    if not overwrite:
        try:
            # Unlike a rename, a link never replaces anything.
            os.link(beside, target)
        except FileExistsError:
            raise
        except OSError:
            # Not every file system has links.
            if target.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        else:
            os.unlink(beside)
            return
    os.replace(beside, target)


def _sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _in_a_sentence(path: str | Path) -> Iterator[None]:
    """What the system says of the file as one sentence; of other files it is left as it is."""
    try:
        yield
    except ConnectionError:
        # Of a pipe: nothing is wrong with the file.
        raise
    except OSError as error:
        named = os.path.basename(str(error.filename or ""))
        if (
            named
            and named != os.path.basename(os.path.realpath(path))
            and not _PARTIAL.match(named)
        ):
            raise
        raise FileError(f"cannot write {path}: {error.strerror or error}") from None


# ---------------------------------------------------------------------------------- leftovers


def is_partial(name: str) -> bool:
    """Whether a file's name is that of something half written."""
    return _PARTIAL.match(name) is not None


def sweep_leftovers(folder: str | Path) -> int:
    """Remove what killed writers left in a folder; how many files that were.

    Only files of this module's names whose writer is gone. Whatever cannot be removed stays.
    """
    removed = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            named = _PARTIAL.match(entry.name)
            if named and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    removed += _swept(Path(entry.path), int(named[1]))
    return removed


def _swept(path: Path, writer: int) -> bool:
    descriptor = os.open(path, os.O_RDWR)
    try:
        free = _lock(descriptor)
        if free is None:
            age = time.time() - os.fstat(descriptor).st_mtime
            free = age > _FORGOTTEN or not _is_alive(writer)
        if free:
            os.unlink(path)
    finally:
        os.close(descriptor)
    return free


def _is_alive(process: int) -> bool:
    """Whether a process of this machine lives; where it cannot be known, it is taken to."""
    if not _HAS_LOCKS:
        # Elsewhere than on Unix the question below would be a blow.
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


# -------------------------------------------------------------------------------------- locks


@contextmanager
def locked(folder: str | Path, what: str = "run") -> Iterator[None]:
    """Keep a folder to this process for the length of the block, and clean it of left-overs.

    A folder that another process keeps is refused: `what` says what it is doing there. The lock is
    the system's and ends with the process, however that ends; where a system has none, nothing is
    refused.
    """
    path = Path(folder) / LOCK_NAME
    with _in_a_sentence(path):
        descriptor = _locked(path, f"another {what} writes to {folder}")
    try:
        with _in_a_sentence(path):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        sweep_leftovers(folder)
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)
        os.close(descriptor)


@contextmanager
def in_turn(path: str | Path) -> Iterator[None]:
    """Wait until no other process is in such a block for the same file.

    For what is made once and used by all: who waited looks first whether it is there now. Where
    nothing can be locked nobody waits, and the same may be made twice.
    """
    path = Path(path)
    # Swept like what is half written, should this process be killed.
    turn = path.with_name(f".partial-0-00000000-turn-{path.name}")
    try:
        descriptor = os.open(turn, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        yield
        return
    try:
        if _HAS_LOCKS:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            os.unlink(turn)
        os.close(descriptor)


def _locked(path: Path, refusal: str) -> int:
    """The lock, open and held."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if _lock(descriptor) is False:
            holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
            os.close(descriptor)
            by = f" (process {holder})" if holder else ""
            raise FileError(f"{refusal}{by}: wait for it, or choose another --out")
        # Whoever held it removed it when done: then this is a lock on nothing.
        if _stands(descriptor, path):
            return descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Whether an open file is locked for this process now; None where there are no locks."""
    if not _HAS_LOCKS:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _stands(descriptor: int, path: Path) -> bool:
    """Whether an open file still is the one of that name."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), found)

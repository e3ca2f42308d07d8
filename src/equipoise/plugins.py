"""What others add by name: entry points of installed packages, and classes in users' files.

A package adds agents, games and solvers by entry points in the groups `equipoise.agents`,
`equipoise.games` and `equipoise.solvers`:

    [project.entry-points."equipoise.solvers"]
    mine = "mypackage.solver:Mine"

A file is asked for by its path, `bots/jam.py`, and is run as Python: whoever names it means that. It
becomes a module whose name is its path, so that a worker, which is told only the name of a class,
finds the file again; two files of one name in two folders are two modules. A file that has changed is
run again. It may import its neighbours.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from equipoise.errors import EquipoiseError

#: A module's name with a dot in it is one inside a package: a path has none while it is a name.
_SCHEME = "file:"
_CODES = (("%", "%25"), (".", "%2E"))


def foreign(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by name; none is loaded."""
    return {point.name: point for point in entry_points(group=group)}


def load_foreign(point: EntryPoint, what: str) -> Any:
    """What an entry point leads to; `what` says what it should be."""
    try:
        return point.load()
    except Exception as error:  # whatever another package's module raises
        raise EquipoiseError(
            f"the {what} {point.name!r} of another package cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


class _Loader(SourceFileLoader):
    """Compiles a file whenever it is run: Python's cache would miss two edits within a second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder(MetaPathFinder):
    """Finds modules that are named by the path of a file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_SCHEME):
            return None
        place = fullname.removeprefix(_SCHEME)
        for plain, code in reversed(_CODES):
            place = place.replace(code, plain)
        return spec_from_file_location(fullname, loader=_Loader(fullname, place))


sys.meta_path.append(_Finder())


def module_name(path: str | Path) -> str:
    """The name under which a file is imported.

    >>> module_name("/home/me/jam.py")
    'file:/home/me/jam%2Epy'
    """
    place = str(Path(path).absolute())
    for plain, code in _CODES:
        place = place.replace(plain, code)
    return _SCHEME + place


#: When each file was changed that has been run.
_changed: dict[str, int] = {}


def load_file(path: str | Path) -> ModuleType:
    """A Python file, run as a module; whatever goes wrong in it is one sentence with its line."""
    name = module_name(path)
    try:
        changed = Path(path).stat().st_mtime_ns
        if not Path(path).is_file():
            raise OSError("it is no file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise EquipoiseError(f"{path}: cannot be read ({reason}): name a Python file") from None
    if _changed.get(name) != changed:
        sys.modules.pop(name, None)
    folder = str(Path(path).absolute().parent)
    if folder not in sys.path:
        # Last, so that nothing of ours or of Python's is hidden by a neighbour's name.
        sys.path.append(folder)
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:
        raise EquipoiseError(where(error, path)) from error
    _changed[name] = changed
    return module


def where(error: BaseException, path: str | Path) -> str:
    """An error as a sentence, with the last line of the file that it came through.

    >>> where(ValueError("no such thing"), "jam.py")
    'jam.py: ValueError: no such thing'
    """
    place = str(Path(path).absolute())
    line = None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == place:
            line = frame.lineno
    said = str(error)
    if isinstance(error, SyntaxError) and error.filename == place:
        line, said = error.lineno, error.msg
    at = f"{path}, line {line}" if line else str(path)
    return f"{at}: {type(error).__name__}" + (f": {said}" if said else "")

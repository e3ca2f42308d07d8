"""What docstrings and documents refer to is there: modules, names and files move."""

from __future__ import annotations

import builtins
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import equipoise

ROOT = Path(equipoise.__file__).parent
PROJECT = ROOT.parent.parent
FILES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__main__.py")
DOCUMENTS = sorted((PROJECT / "docs").glob("*.md")) + [
    PROJECT / name for name in ("README.md", "CONTRIBUTING.md")
]
REFERENCE = re.compile(r":(mod|class|func|meth|data|attr):`~?([^`]+)`")
#: A source file or folder of ours, as documents write it: `solve/sweep/evaluators.py`, `cards/`.
PATH = re.compile(r"`((?:tests/|examples/|docs/)?[a-z_]+/[\w./-]*|[a-z_]+\.pyi?)`")


def module_of(path: Path) -> str:
    parts = ("equipoise", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def absolute(target: str, path: Path) -> str:
    """The full name of a module, which may be written relative to the package of a file."""
    if not target.startswith("."):
        return target
    package = ".".join(("equipoise", *path.relative_to(ROOT).parent.parts))
    return package + target


def known_in(module: ModuleType, name: str) -> bool:
    """Whether a module, or one of its classes, has a name, which may be dotted."""
    first, _, rest = name.partition(".")
    if hasattr(module, first):
        return not rest or hasattr(getattr(module, first), rest)
    classes = [thing for thing in vars(module).values() if isinstance(thing, type)]
    return any(hasattr(kind, first) or first in kind.__annotations__ for kind in classes
               if hasattr(kind, "__annotations__")) and not rest  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_docstrings_refer_to_is_there(path):
    text = path.read_text("utf-8")
    wrong = []
    for kind, target in REFERENCE.findall(text):
        target = " ".join(target.split()).removesuffix("()")
        if kind == "mod":
            there = find_spec(absolute(target, path)) is not None
        elif target.startswith("equipoise."):
            home, _, name = target.rpartition(".")
            there = known_in(import_module(home), name)
        else:
            # What is imported for type checkers alone, or built in, may be named too.
            first = target.partition(".")[0]
            imported = re.search(rf"^\s*(?:from .* )?import .*\b{first}\b", text, re.MULTILINE)
            there = (
                known_in(import_module(module_of(path)), target)
                or hasattr(builtins, first)
                or imported is not None
                or find_spec(first) is not None
            )
        if not there:
            wrong.append(f":{kind}:`{target}`")
    assert not wrong


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_documents_name_are_there(path):
    text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
    wrong = [
        target
        for target in PATH.findall(text)
        if not ((ROOT / target).exists() or (PROJECT / target).exists())
    ]
    assert not wrong


def test_a_reference_to_nothing_is_noticed():
    found = REFERENCE.findall("see :mod:`.nothing` and :meth:`~equipoise.games.rules.State.apply`")
    assert [target for _, target in found] == [".nothing", "equipoise.games.rules.State.apply"]
    assert not known_in(import_module("equipoise.games.rules"), "State.nothing")
    assert known_in(import_module("equipoise.games.rules"), "apply")
    assert PATH.findall("in `solve/sweep/sweep.py`, by `cards/`, not `a b`") == [
        "solve/sweep/sweep.py",
        "cards/",
    ]

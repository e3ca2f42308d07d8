"""Who may import whom, and how large things may grow: rules as data, checked on the real sources.

Every import counts, at the top of a module, inside a function or for type checkers alone. What is
loaded by name only (the agents of the registry, the benchmarks of the command line) is not seen here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import equipoise

ROOT = Path(equipoise.__file__).parent

#: Packages in the order data flows: each may import those before it.
PACKAGES = (
    "cards",
    "games",
    "abstraction",
    "solve",
    "search",
    "agents",
    "arena",
    "environment",
    "web",
)
#: What stands on top: `bench` may import all but `cli`, `cli` everything.
TOP = ("bench", "cli", "__main__")

#: Files beside the packages, layer by layer: each may import those of the layers before its own.
FOUNDATION = (
    ("errors", "version", "kernel"),
    ("files", "settings", "numerals", "plugins", "run", "datafolder"),
    ("artefact", "workers", "columnar"),
    ("cache",),
)

#: Inside a package: files and folders, layer by layer. Within a layer any may import any; what is
#: not named stands in the layer of "*".
INSIDE: dict[str, tuple[tuple[str, ...], ...]] = {
    "games": (("*",), ("library",), ("catalogue",)),
    "abstraction": (
        ("boardindex", "fullboards", "kmeans", "integer_program"),
        ("lookup",),
        ("features",),
        ("*",),
        ("buckets",),
        ("tables",),
        ("methods", "report"),
    ),
    "solve": (
        ("sweep", "jointdeal", "*"),
        ("strategies",),
        ("solvers",),
        ("sampling",),
        ("registry", "curve"),
        ("exploitation", "tournament"),
        ("spots",),
        ("study",),
        ("batch", "training"),
    ),
    "agents": (
        ("agent", "simple", "*"),
        ("suite", "blueprint"),
        ("searching", "exploiting"),
        ("registry",),
        ("opponents",),
    ),
    "arena": (
        ("record", "statistics", "shotclock"),
        ("duel",),
        ("matchlog",),
        ("*",),
        ("acpc", "remote"),
        ("histories",),
        ("measures",),
    ),
}
#: Folders that nobody else in their package imports, and that import nobody else there.
APART = (("abstraction", "bets"),)

#: Third parties, and where alone they may be imported.
ONLY_IN = {
    "typer": ("cli",),
    "rich.prompt": ("cli",),
    "nicegui": ("web",),
    "pettingzoo": ("environment",),
    "gymnasium": ("environment",),
    "mcp": ("cli.serving.mcp",),
    "pyspiel": ("environment.openspiel", "bench"),
    "fastapi": ("web",),
    "ray": ("workers", "solve.sampling.sharded"),
}
#: Third parties that take long to load: imported inside functions, or for type checkers.
HEAVY = ("polars", "matplotlib", "scipy", "rich", "hypothesis", "IPython", "uvicorn")

#: What a file with kernels must not import, however far away: an edit there would compile its kernels
#: anew, for kernels are stamped by all that their file imports.
NOT_FOR_KERNELS = (
    "artefact",
    "cache",
    "solve.solvers.solver",
    "solve.sweep.tableau",
)

MOST_LINES = 600
MOST_FUNCTION_LINES = 80
MOST_FILES = 18


@dataclass(frozen=True)
class Import:
    """One import in the sources: `name` imports `target`."""

    name: str
    target: str
    line: int
    #: `top`, `lazy` (inside a function) or `typing`.
    kind: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line} imports {self.target} ({self.kind})"


@cache
def sources() -> dict[str, ast.Module]:
    """Every module by its name below the package, `cards.card`; packages are their `__init__`."""
    found = {}
    for path in sorted((*ROOT.rglob("*.py"), ROOT / "__init__.pyi")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if path.name == "__init__.pyi":
            name = "__init__.pyi"
        found[name] = ast.parse(path.read_text("utf-8"), str(path))
    return found


def _walk(node: ast.AST, kind: str) -> Iterator[tuple[ast.stmt, str]]:
    """The imports among the statements below a node: expressions, which are most nodes, have none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, kind
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(child, "typing")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _walk(child, "lazy")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _walk(child, kind)


@cache
def imports() -> tuple[Import, ...]:
    """Every import; ours are named below the package, others as they are, with a leading "~"."""
    known, found = sources(), []
    for name, tree in known.items():
        for node, kind in _walk(tree, "top"):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            else:
                assert isinstance(node, ast.ImportFrom)
                assert not node.level, f"{name}:{node.lineno}: imports are absolute"
                module = node.module or ""
                below = [f"{module}.{alias.name}" for alias in node.names]
                targets = [
                    one if one.removeprefix("equipoise.") in known else module for one in below
                ]
            for target in dict.fromkeys(targets):
                ours = target == "equipoise" or target.startswith("equipoise.")
                inside = target.removeprefix("equipoise").removeprefix(".")
                found.append(Import(name, inside if ours else f"~{target}", node.lineno, kind))
    return tuple(found)


def ours() -> list[Import]:
    """The imports of our own modules, but for the public names of the package root."""
    return [one for one in imports() if one.target[:1] != "~" and one.name != "__init__.pyi"]


def layer_of(unit: str, layers: tuple[tuple[str, ...], ...]) -> int:
    """Number of the layer of a file or folder."""
    named = [i for i, layer in enumerate(layers) if unit in layer]
    rest = [i for i, layer in enumerate(layers) if "*" in layer]
    return (named or rest)[0]


def place(name: str) -> tuple[int, int]:
    """Where a module stands in the one order of all: what it may import stands before it."""
    first = name.partition(".")[0]
    if not first:
        return len(PACKAGES) + len(TOP), 0
    for number, layer in enumerate(FOUNDATION):
        if first in layer:
            return 0, number
    return 1 + (*PACKAGES, *TOP).index(first), 0


def listed(found: list[Import]) -> str:
    return "\n".join(map(str, found))


def test_the_graph_is_really_read():
    edges = {(one.name, one.target, one.kind) for one in imports()}
    assert ("games.rules", "errors", "top") in edges
    assert ("cards.chart", "~matplotlib.figure", "lazy") in edges
    assert ("cards.chart", "~matplotlib.figure", "typing") in edges
    assert ("__init__.pyi", "games.rules", "top") in edges
    assert len(ours()) > 800


def test_every_module_has_its_place():
    for name in sources():
        if name != "__init__.pyi":
            place(name)


def test_imports_go_from_right_to_left():
    back = [one for one in ours() if place(one.target) > place(one.name)]
    assert not back, listed(back)


def test_files_of_the_foundation_import_only_layers_below():
    beside = [
        one for one in ours() if place(one.name)[0] == 0 and place(one.target) >= place(one.name)
    ]
    assert not beside, listed(beside)


@pytest.mark.parametrize("package", INSIDE)
def test_inside_a_package_imports_go_from_right_to_left(package):
    layers, back = INSIDE[package], []
    for one in ours():
        here, there = one.name.split("."), one.target.split(".")
        if here[0] == there[0] == package and len(here) > 1 and len(there) > 1:
            apart = {(package, unit) for unit in (here[1], there[1])} & set(APART)
            if here[1] != there[1] and (
                apart or layer_of(there[1], layers) > layer_of(here[1], layers)
            ):
                back.append(one)
    assert not back, listed(back)


def test_nobody_below_the_command_line_imports_the_package_root():
    found = [one for one in ours() if one.target == "" and not one.name.startswith("cli")]
    assert not found, listed(found)


def test_third_parties_stay_where_they_belong():
    found = [
        one
        for one in imports()
        for party, places in ONLY_IN.items()
        if f"{one.target}.".startswith(f"~{party}.") and not one.name.startswith(places)
    ]
    assert not found, listed(found)


def test_what_takes_long_to_load_is_imported_inside_functions():
    found = [
        one
        for one in imports()
        if one.kind == "top" and one.target[1:].partition(".")[0] in HEAVY and one.target[0] == "~"
    ]
    assert not found, listed(found)


@pytest.mark.parametrize("kinds", [("top",), ("top", "lazy", "typing")], ids=["top", "all"])
def test_no_modules_import_each_other_in_a_circle(kinds):
    edges: dict[str, set[str]] = {}
    for one in ours():
        if one.kind in kinds and one.target and one.name != one.target:
            edges.setdefault(one.name, set()).add(one.target)
    circle = _circle(edges)
    assert not circle, " → ".join(circle)


def _circle(edges: dict[str, set[str]]) -> list[str]:
    """Some circle of a graph, empty if there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for target in sorted(edges.get(name, ())):
            found = visit(target, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    return next(filter(None, (visit(name, []) for name in sorted(edges))), [])


def test_a_circle_is_found():
    assert _circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert not _circle({"a": {"b", "c"}, "b": {"c"}})


def _compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a kernel, or makes one: those are as long as their loop."""
    words = " ".join(map(ast.unparse, function.decorator_list))
    return any(
        word in words for word in ("kernel", "jit", "intrinsic", "overload", "inlined_kernel")
    )


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_files_with_kernels_import_kernels_and_constants():
    edges: dict[str, set[str]] = {}
    for one in ours():
        if one.kind == "top":
            edges.setdefault(one.name, set()).add(one.target)
    with_kernels = [n for n, tree in sources().items() if any(map(_compiled, _functions(tree)))]
    assert "solve.sweep.sweep" in with_kernels
    wrong = {}
    for name in with_kernels:
        reached, ahead = set[str](), [name]
        while ahead:
            new = edges.get(ahead.pop(), set()) - reached
            reached |= new
            ahead += new
        found = reached & set(NOT_FOR_KERNELS)
        if found:
            wrong[name] = sorted(found)
    assert not wrong


def test_no_file_is_long():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in ROOT.rglob("*.py")
        if (lines := len(path.read_text("utf-8").splitlines())) > MOST_LINES
    }
    assert not long


def test_no_function_is_long_that_is_no_kernel():
    long = [
        f"{name}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for name, tree in sources().items()
        for node in _functions(tree)
        if (node.end_lineno or 0) - node.lineno >= MOST_FUNCTION_LINES and not _compiled(node)
    ]
    assert not long


def test_no_folder_is_crowded():
    crowded = {
        str(folder.relative_to(ROOT)): count
        for folder in (ROOT, *(path for path in ROOT.rglob("*") if path.is_dir()))
        if (count := sum(f.name != "__init__.py" for f in folder.glob("*.py"))) > MOST_FILES
    }
    assert not crowded

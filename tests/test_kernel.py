"""Compiled kernels are made anew when any file behind them changes, and only then."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import equipoise
from equipoise.kernel import source_files

SOURCE = Path(equipoise.__file__).parent

CALLEE = """
from equipoise.kernel import row_kernel
from pair import constants

@row_kernel
def inner(x):
    return x * constants.FACTOR
"""
CALLER = """
import os
from equipoise.kernel import row_kernel
from pair.callee import (
    inner,
)

@row_kernel
def outer(x):
    return inner(x) + 1
"""


def _answer(folder: Path) -> tuple[int, int]:
    """What a new process computes, and how many kernels it compiled."""
    found = subprocess.run(
        # Python's own cache knows a file by its second and size, and edits here are quicker than that.
        [sys.executable, "-B", "-c", "from pair.caller import outer; print('answer', outer(10))"],
        cwd=folder,
        env={**os.environ, "NUMBA_DEBUG_CACHE": "1", "PYTHONPATH": f"{folder}:{SOURCE.parent}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    answer = next(line for line in found.splitlines() if line.startswith("answer"))
    return int(answer.split()[1]), found.count("data saved")


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A package of two kernels, one of which calls the other, which reads a constant of a third file."""
    package = tmp_path / "pair"
    package.mkdir()
    for name, text in {
        "__init__.py": "",
        "constants.py": "FACTOR = 2\n",
        "callee.py": CALLEE,
        "caller.py": CALLER,
        "bystander.py": "",
    }.items():
        (package / name).write_text(text)
    return tmp_path


def test_an_edit_behind_a_kernel_compiles_it_anew_and_no_edit_does_not(pair: Path) -> None:
    assert _answer(pair) == (21, 2)
    assert _answer(pair) == (21, 0)
    (pair / "pair" / "bystander.py").write_text("FACTOR = 7\n")
    assert _answer(pair) == (21, 0)
    (pair / "pair" / "callee.py").write_text(CALLEE.replace("x *", "2 * x *"))
    assert _answer(pair) == (41, 2)
    assert _answer(pair) == (41, 0)
    (pair / "pair" / "caller.py").write_text(CALLER.replace("+ 1", "+ 2"))
    assert _answer(pair) == (42, 1)
    (pair / "pair" / "caller.py").write_text(CALLER)
    (pair / "pair" / "constants.py").write_text("FACTOR = 3\n")
    assert _answer(pair) == (61, 2)


def test_of_two_processes_one_compiles_and_the_other_waits_for_it(pair: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(_answer, [pair, pair]))
    assert [answer for answer, _ in told] == [21, 21]
    assert sum(compiled for _, compiled in told) == 2


#: What makes a file one of compiled code.
COMPILED = re.compile(
    r"^@(kernel|exact_kernel|row_kernel|kernel_part|inlined_kernel|intrinsic)\b", re.MULTILINE
)
#: Others that kernels may read: constants, shapes of tuples, and which kernel is called for which.
CONSTANTS = {
    *("kernel.py", "cards/card.py", "cards/combos.py", "cards/streets.py", "games/nodes.py"),
    *("solve/sweep/layout.py", "solve/sweep/evaluators.py", "solve/sampling/publicstack.py"),
}
KERNELS = sorted(
    path.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("*.py")
    if COMPILED.search(path.read_text("utf-8"))
)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_stamped_by_kernels_and_constants_and_nothing_else(name: str) -> None:
    module = importlib.import_module(f"equipoise.{name.removesuffix('.py').replace('/', '.')}")
    behind = {
        Path(file).relative_to(SOURCE).as_posix()
        for file in source_files(str(module.__file__), "equipoise")
    }
    others = sorted(behind - CONSTANTS - set(KERNELS))
    assert not others, f"{name}: every edit of {', '.join(others)} compiles its kernels anew"


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("sweep", "handles lanes layout"),
        ("steps", "blas given lanes matrices panels rowrules"),
        ("bundles", "lanes layout"),
        ("showdown", "lanes layout"),
    ],
)
def test_the_sweep_and_what_it_calls_by_address_are_stamped_by_what_they_contain(
    name: str, called: str
) -> None:
    module = importlib.import_module(f"equipoise.solve.sweep.{name}")
    behind = {Path(file).stem for file in source_files(str(module.__file__), "equipoise")}
    assert behind >= {"kernel", name, *called.split()}


def test_what_is_a_part_of_kernels_cannot_be_called_from_python() -> None:
    from equipoise.solve.sweep.showdown import fold_lanes

    with pytest.raises(TypeError, match="part of kernels"):
        fold_lanes(1, 2, 3, 4, 5)

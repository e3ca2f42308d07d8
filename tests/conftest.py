"""What all tests share."""

from __future__ import annotations

import gc
import signal
import sys
import textwrap
from functools import cache
from pathlib import Path

import pytest
import typer.main
from hypothesis import settings

from equipoise.files import in_turn

# A shell that starts the tests in the background has Ctrl-C ignored, and children inherit that: tests
# that press it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Typer makes all commands with all their options anew at every call, which takes longer than most calls.
# In a process of its own a command is called once; here it is the same one that is called again.
typer.main.get_command = cache(typer.main.get_command)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests, and have the garbage collector leave alone what stays to the end.

    The library, all tests and what they import are a million objects. Looking through them again and
    again takes a quarter of the collection of tests and a tenth of running them, and finds nothing.
    Workers collect one after the other: the second reads what the first has compiled.
    """
    gc.disable()
    try:
        with in_turn(Path(__file__).parent / "__pycache__" / "collection"):
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


# How long an example takes says how busy the machine is, not whether the property holds.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def undrawn(monkeypatch):
    """Training runs draw no picture of their curve, which takes longer than what tests train."""
    monkeypatch.setattr("equipoise.solve.training.folder.plot_curves", lambda *drawn: None)


@pytest.fixture
def another_package(tmp_path, monkeypatch):
    """Installs, for one test, a distribution with one module `another` and its entry points."""

    def install(code, groups):
        (tmp_path / "another.py").write_text(textwrap.dedent(code), "utf-8")
        told = tmp_path / "another-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
        lines = []
        for group, points in groups.items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
        (told / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "another", raising=False)

    yield install
    sys.modules.pop("another", None)

"""Equipoise: a heads-up Texas hold'em workbench.

>>> import equipoise as eq
>>> eq.hand_name("AsAhAdKsKh")
'full house, aces over kings'
>>> round(eq.equity(["AsAh", "KcKd"]).equity[0], 4)
0.8126
>>> eq.Range.parse("QQ+, AKs").combos
22.0
>>> solver = eq.make_solver("dcfr", eq.game("kuhn"))
>>> done = solver.run(eq.Limit(iterations=500))
>>> abs(solver.value() + 1 / 18) < 0.001
True

The public names are listed once, in the stub beside this file (`__init__.pyi`), which is what type
checkers and editors read. This module reads the same list and loads a name when it is first used,
so that `import equipoise` costs nothing.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any


# Not by its name: `equipoise.cache` is a module of ours.
@functools.cache
def _homes() -> dict[str, str]:
    """Public name -> module that defines it."""
    import ast

    stub = __loader__.get_data(__file__.removesuffix(".py") + ".pyi")
    return {
        alias.name: line.module
        for line in ast.parse(stub).body
        if isinstance(line, ast.ImportFrom) and line.module is not None
        for alias in line.names
    }


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return list(_homes())
    # Dunder names are asked for by Python's own machinery, which need not wait for the list.
    home = None if name.startswith("__") and name != "__version__" else _homes().get(name)
    if home is None:
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted(_homes())

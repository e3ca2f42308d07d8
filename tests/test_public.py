"""The public face: `import equipoise as eq`."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import equipoise as eq

STUB = Path(eq.__file__).with_suffix(".pyi")
LINES = [line for line in ast.parse(STUB.read_text("utf-8")).body if not isinstance(line, ast.Expr)]
NAMES = [alias.name for line in LINES for alias in line.names]


def test_the_stub_is_nothing_but_a_list_of_names():
    assert all(isinstance(line, ast.ImportFrom) and not line.level for line in LINES)
    assert all(alias.asname == alias.name for line in LINES for alias in line.names)
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_what_its_module_defines(name):
    home = next(line.module for line in LINES if line.names[0].name == name)
    assert getattr(eq, name) is getattr(import_module(home), name)


def test_names_are_listed_and_others_are_refused():
    assert set(dir(eq)) == set(eq.__all__) == set(NAMES)
    with pytest.raises(AttributeError, match="no attribute 'solver'"):
        eq.solver
    everything: dict[str, object] = {}
    exec("from equipoise import *", everything)
    assert set(NAMES) <= set(everything)


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, equipoise\n"
        "heavy = {'numpy', 'numba', 'scipy', 'polars', 'matplotlib', 'rich', 'typer', 'ast'}\n"
        "ours = {name for name in sys.modules if name.startswith('equipoise.')}\n"
        "print(sorted(heavy & set(sys.modules) | ours))\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={"PYTHONPATH": str(STUB.parent.parent)}, check=True)  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_a_first_bot_needs_no_deep_import():
    class Jam(eq.Agent):
        def act(self, view: eq.View) -> eq.Action:
            legal = view.state.legal()
            return eq.raise_to(legal.raise_max) if legal.raise_max else eq.CALL

    assert eq.play_match("fold", Jam(), hands=20).mbb_per_hand == -750
    assert isinstance(eq.make_agent("call"), eq.Agent)


def test_a_first_experiment_and_a_first_study_need_no_deep_import():
    solver = eq.make_solver("cfr+", eq.game("kuhn"))
    assert isinstance(solver, eq.Solver)
    assert solver.run(eq.Limit(iterations=50)).done == 50
    assert isinstance(solver.average_strategy(), eq.Strategy)
    spot = eq.Spot("Td9d6hQc2s", "AA,KK", "QQ,JJ", pot=100, stack=100, menu=eq.BetMenu.parse("a"))
    solution = eq.solve_spot(spot, target_pct_pot=1)
    assert isinstance(solution, eq.Solution)
    assert isinstance(solution.at("check"), eq.Position)

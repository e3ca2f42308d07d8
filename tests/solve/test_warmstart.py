"""Kernels compiled in this process and kernels read from the cache give the same bits."""

import subprocess
import sys

SOLVE = """
import hashlib
from equipoise.games.spot import Spot
from equipoise.solve.spots.spotsolver import SpotSolver

spot = Spot("Td9d6hQc", "QQ-99,AKs,KQs,87s", "JJ+,AQs,AKo,T9s", pot=100, stack=200, menu="50%,a")
solver = SpotSolver(spot.game())
solver.advance(12)
print(hashlib.sha256(solver.regrets.data).hexdigest(), solver.exploitability())
"""

#: The sweep and its steps are compiled anew. What they contain is loaded: then a helper's own copy and
#: the one inside a step both stand in the process, as they do where all of them are compiled.
ANEW = """
from numba.core import event
from numba.core.caching import NullCache
from equipoise.solve.sweep.bundles import evaluate_sorted
from equipoise.solve.sweep.steps import down, enter, return_values, up
from equipoise.solve.sweep.sweep import run
kernels = run, enter, down, evaluate_sorted, up, return_values
for kernel in kernels:
    kernel._cache = NullCache()
with event.install_recorder("numba:compile") as compiled:
    exec(SOLVE)
anew = [told.data["dispatcher"] for _, told in compiled.buffer]
assert all(kernel in anew for kernel in kernels)
"""


def told_by(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_warm_start_repeats_a_cold_one_bit_for_bit() -> None:
    # On a machine that has no kernels yet the first compiles all of them.
    first, warm = told_by(SOLVE), told_by(SOLVE)
    assert first == warm
    assert told_by(f"SOLVE = {SOLVE!r}\n{ANEW}") == warm

"""Kernels compiled in this process and kernels read from the cache give the same bits."""

import os
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


def test_a_warm_start_repeats_a_cold_one_bit_for_bit(tmp_path):
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    told = [
        subprocess.run(
            [sys.executable, "-c", SOLVE], capture_output=True, text=True, env=environment
        )
        for _ in range(2)
    ]
    assert [done.returncode for done in told] == [0, 0], told[0].stderr
    assert told[0].stdout == told[1].stdout

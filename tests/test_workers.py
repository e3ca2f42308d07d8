"""Workers: what they are given, and that none outlives the process that started it."""

import subprocess
import sys

import pytest

from equipoise import workers
from equipoise.errors import EquipoiseError

_POOL = """
import os, time
from equipoise.workers import start_pool

if __name__ == "__main__":
    pool = start_pool(2, os.write, 1, b"x", may_fork={fork})
    futures = [pool.submit(time.sleep, 1e6) for _ in range(2)]
    futures[0].result()
"""
_MATCH = """
import os, time
from equipoise.agents.simple import CallAgent
from equipoise.arena.match import play_match

class Stuck(CallAgent):
    def act(self, view):
        os.write(1, b"x")
        time.sleep(1e6)

play_match(Stuck(), "call", hands=4000, workers=2)
"""
_AIVAT = """
import os, pathlib, tempfile, time
from equipoise.agents.simple import CallAgent
from equipoise.arena.measures.aivat import aivat
from equipoise.arena.match import play_match

class Stuck(CallAgent):
    def policy(self, public):
        os.write(1, b"x")
        time.sleep(1e6)

with tempfile.TemporaryDirectory() as folder:
    log = pathlib.Path(folder) / "match.log"
    match = play_match("call", "all-in", hands=400, log=log)
    aivat(match, Stuck(), "all-in", workers=2)
"""


@pytest.mark.parametrize(
    "code",
    [_POOL.format(fork=True), _POOL.format(fork=False), _MATCH, _AIVAT],
    ids=["forked", "spawned", "match", "aivat"],
)
def test_no_worker_outlives_the_process_that_started_it(code):
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    with process:
        try:
            assert process.stdout.read(2) == b"xx"
        finally:
            process.kill()
        # The workers hold the other end: it is closed when the last of them is gone.
        process.communicate(timeout=60)


def test_numbers_of_workers_that_cannot_be_meant():
    for number in (0, -1, 10**9):
        with pytest.raises(EquipoiseError, match="from 1 to 1024"):
            workers.check_workers(number)
    workers.check_workers(1024)

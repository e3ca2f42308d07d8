"""A solve of the study page, without the page: followed, paused, stopped."""

from __future__ import annotations

import time

import pytest

from equipoise.games.spot import Spot
from equipoise.run import Event
from equipoise.web.jobs import Jobs
from equipoise.web.study.running import Running

SPOT = Spot("Td9d6hQc2s", "22+", "TT+", pot=100, stack=200)


def solve(listener, stop):
    """Two looks at once, then on and on until it is told to end."""
    listener(Event(10, exploitability_chips=4.0))
    listener(Event(20, exploitability_chips=2.0))
    done = 21
    while not stop.is_set():
        listener(Event(done))
        done += 1
        time.sleep(0.02)
    return "saved"


@pytest.fixture(scope="module")
def jobs():
    found = Jobs({"long": 1})
    yield found
    found.close()


def until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_paused_and_stopped_both_end_and_only_one_is_gone_on_with(jobs):
    for how, words in (("pause", "paused"), ("stop", "stopped")):
        running = Running(jobs.submit("long", solve), SPOT, 0.5)
        behind = Running(jobs.submit("long", solve), SPOT, 0.5)
        until(lambda running=running: len(running.follow()) > 30 and len(running.points) == 2)
        assert running.points == [(10, 4.0), (20, 2.0)], "every look is on the curve"
        assert running.follow().endswith("iterations, exploitability 2.000 % of pot")
        assert behind.follow() == "waiting for another solve …"
        behind.stop()
        assert behind.follow() == "stopped: not begun"
        getattr(running, how)()
        until(lambda running=running: running.job.over)
        assert running.follow().startswith(f"{words}: ")
        assert running.stopped == (how == "stop")
        assert running.job.state == "cancelled"

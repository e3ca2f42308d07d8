"""Jobs: in other processes, told of, cancelled, and survived when they die."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from equipoise.errors import EquipoiseError
from equipoise.run import Event
from equipoise.web.jobs import Jobs


def add(listener, stop, a, b):
    listener(Event(1, 2, "adding"))
    return a + b, os.getpid()


def refuse(listener, stop):
    raise EquipoiseError("give something else")


def burst(listener, stop):
    raise RuntimeError("burst")


def die(listener, stop):
    os._exit(9)


def heed(listener, stop):
    listener(Event(0))
    while not stop.is_set():
        time.sleep(0.02)
    return "stopped"


def deaf(listener, stop):
    listener(Event(0))
    time.sleep(600)


@pytest.fixture(scope="module")
def jobs():
    found = Jobs({"table": 1, "long": 1})
    yield found
    found.close()


def answer(job):
    return asyncio.run(asyncio.wait_for(job.answer(), 60))


def until_running(job):
    while job.event is None:
        time.sleep(0.01)


def test_work_is_done_elsewhere_and_told_of(jobs):
    job = jobs.submit("table", add, 2, 3)
    total, process = answer(job)
    assert total == 5
    assert process != os.getpid()
    assert job.state == "done"
    assert job.event == Event(1, 2, "adding")
    assert answer(jobs.submit("table", add, 1, 1))[1] == process, "processes are kept"


def test_faults_are_sentences_and_the_lane_goes_on(jobs):
    for work, told in ((refuse, "give something else"), (burst, "burst"), (die, "worker died")):
        job = jobs.submit("table", work)
        with pytest.raises(EquipoiseError, match=told):
            answer(job)
        assert job.state == "failed"
    assert answer(jobs.submit("table", add, 2, 2))[0] == 4


def test_cancelling_ends_the_willing_the_deaf_and_the_waiting(jobs, monkeypatch):
    monkeypatch.setattr("equipoise.web.jobs._GRACE", 0.3)
    running = jobs.submit("long", heed, key="one")
    assert jobs.submit("long", heed, key="one") is running
    waiting = jobs.submit("long", add, 1, 2)
    until_running(running)
    waiting.cancel()
    assert waiting.state == "cancelled", "what has not begun is over at once"
    running.cancel()
    for job in (running, waiting):
        with pytest.raises(EquipoiseError, match="cancelled"):
            answer(job)
        assert job.state == "cancelled"
    stubborn = jobs.submit("long", deaf)
    until_running(stubborn)
    stubborn.cancel()
    with pytest.raises(EquipoiseError, match="cancelled"):
        answer(stubborn)
    assert jobs.find("one") is None
    assert answer(jobs.submit("long", add, 4, 4))[0] == 8

"""The ten lines of docs/bots.md that play over HTTP, and those that play an ACPC dealer, do play."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from equipoise.web.benchmark.server import application

DOCS = (Path(__file__).parents[3] / "docs" / "bots.md").read_text("utf-8")


def example(kind):
    found = re.search(rf"```{kind}\n(.*?)```", DOCS, re.S)
    assert found
    assert len(found[1].strip().splitlines()) <= 16
    return found[1]


def test_ten_lines_of_http_play_and_are_scored(opened_server, monkeypatch, capsys):
    client = opened_server

    def short(address):
        return address.removeprefix("http://127.0.0.1:8300")

    stand_in = types.ModuleType("httpx")
    stand_in.post = lambda address, json: client.post(short(address), json=json)
    stand_in.get = lambda address: client.get(short(address))
    monkeypatch.setitem(sys.modules, "httpx", stand_in)
    exec(example("python-http").replace("range(200)", "range(6)"), {})
    assert "'hands': 6" in capsys.readouterr().out


def _free_ports():
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def test_ten_lines_of_acpc_play_a_match():
    mine, theirs = _free_ports()
    equipoise = [sys.executable, "-m", "equipoise"]
    dealer = subprocess.Popen(
        [*equipoise, "dealer", "--hands", "20", "--seed", "7", "--ports", f"{mine},{theirs}",
         "--t-start", "60", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _wait_for(theirs)
        other = subprocess.Popen([*equipoise, "acpc", "random", "127.0.0.1", str(theirs)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        code = example("python-acpc").replace("16177", str(mine))
        bot = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True)
        assert bot.returncode == 0
        told = json.loads(dealer.communicate(timeout=30)[0])
        assert other.wait(30) == 0
    finally:
        dealer.kill()
    assert told["hands"] == 20
    assert told["stray_lines"] == told["mended_answers"] == [0, 0]


def _wait_for(port):
    """Until somebody listens; a look, not a connection, which would take the seat."""
    wanted = f":{port:04X} "
    for _ in range(600):
        if wanted in Path("/proc/net/tcp").read_text():
            return
        time.sleep(0.1)
    pytest.fail("the dealer does not listen")


@pytest.fixture
def opened_server(tmp_path):
    with TestClient(application(tmp_path, "call"), base_url="http://localhost") as client:
        yield client

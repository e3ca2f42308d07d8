"""A server of its own and a headless Chromium, for tests and for nothing else."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest


def chromium() -> str:
    """The browser's program; where it is missing a sentence says so, which in CI is a failure."""
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
    )
    if not found:
        told = (
            "Chromium is missing: install it (apt-get install chromium), the table is tested in it"
        )
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    return found


class Server:
    """`equipoise web` in a process of its own, which may be killed and started again."""

    def __init__(self, data):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.data, self.address = data, f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self):
        code = "from equipoise.cli import main; main()"
        command = [sys.executable, "-c", code, "web", "--port", str(self.port)]
        env = {**os.environ, "EQUIPOISE_DATA": str(self.data)}
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        assert re.search(r"http://\S+", self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@contextmanager
def launched():
    """A browser."""
    from playwright.sync_api import sync_playwright

    program = chromium()
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def slow_to_connect(page):
    """Hold back all that the server says from here on; what is returned lets it through."""
    held, open_ = [], []

    def through(route):
        server = route.connect_to_server()
        server.on_message(lambda said: route.send(said) if open_ else held.append((route, said)))

    def release():
        open_.append(True)
        for route, said in held:
            route.send(said)

    page.route_web_socket(re.compile("socket.io"), through)
    return release


def until(holds, seconds=60):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found

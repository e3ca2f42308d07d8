"""The browser's server in a process of its own, what it costs, and a headless Chromium to look at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from equipoise.errors import EquipoiseError
from equipoise.web.app import free_port

_CODE = "from equipoise.cli import main; main()"


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """A server with this data folder: its address and process."""
    port = free_port("127.0.0.1", 0)
    command = [sys.executable, "-c", _CODE, "web", "--port", str(port)]
    env = {**os.environ, "EQUIPOISE_DATA": str(folder)}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if "http://" not in process.stdout.readline():
                raise EquipoiseError("the server did not start: try `equipoise web`")
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.kill()


@contextmanager
def browsing() -> Iterator[Any]:
    """A browser without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise EquipoiseError("pages are looked at by Playwright: pip install playwright") from None
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise EquipoiseError("pages are looked at in Chromium: apt-get install chromium")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Usage(NamedTuple):
    """What a process has used; NaN where the system does not tell."""

    #: Megabytes that it holds, pages of mapped files included; those of its own.
    memory: float
    own: float
    #: Seconds of the processor.
    seconds: float

    @classmethod
    def of(cls, pid: int) -> Usage:
        """Ask the system."""
        try:
            status = Path(f"/proc/{pid}/status").read_text("ascii")
            ticks = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return cls(float("nan"), float("nan"), float("nan"))
        held = (re.search(rf"{name}:\s+(\d+) kB", status) for name in ("VmRSS", "RssAnon"))
        memory, own = (int(found.group(1)) / 1024 if found else float("nan") for found in held)
        # After the name come the state and ten counts, then the time in user and in system mode.
        seconds = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
        return cls(memory, own, seconds)

"""A saved solution opened on the study page in a browser, and walked: how long that takes, what it holds.

Files are mapped, not read: what a server holds of one is what was looked at, and that is told apart from
its own memory. Seconds of the server's processor say what a page costs wherever the machine is busy.
"""

from __future__ import annotations

import random
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from equipoise.bench.figures import figure
from equipoise.bench.webserver import Usage, browsing, served
from equipoise.cards.card import cards_text
from equipoise.solve.spots.solution import Solution

#: Positions that are walked to.
_STEPS = 40
_LAST = re.compile("fold|allin")
_STANDING = "n => document.querySelectorAll('.crumbs button').length === n"


def run(file: Path, seed: int = 0) -> dict[str, Any]:
    """Open a solution, walk at random from decision to decision and card to card, and measure."""
    board = cards_text(Solution.look(file).spot.board)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as (address, pid),
        browsing() as browser,
    ):
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(300_000)
        page.goto(f"{address}/study")
        page.locator(".cost", has_text="decisions").wait_for()
        page.get_by_label("saved solution of this machine").fill(str(file.resolve()))
        before, began = Usage.of(pid), time.perf_counter()
        page.get_by_role("button", name="Open", exact=True).click()
        page.locator(".result .title").wait_for()
        page.locator(".result .matrix .cell").nth(168).wait_for()
        wait, opened = time.perf_counter() - began, Usage.of(pid)
        waits, costs, streets = _walk(page, pid, random.Random(seed))
        after = Usage.of(pid)
    figures = [
        figure(f"the file, {board}", file.stat().st_size / 1e6, "MB"),
        figure("click to the first position", wait, "s"),
        figure("of the server's processor", opened.seconds - before.seconds, "s", at_most=1),
        figure("positions walked to", len(waits), ""),
        figure("streets among them", streets, ""),
        figure("click to the next position, median", 1000 * statistics.median(waits), "ms"),
        figure("at the 95th percentile", 1000 * statistics.quantiles(waits, n=20)[-1], "ms"),
        figure("of the server's processor, mean", 1000 * sum(costs) / len(costs), "ms"),
        figure("the server's own memory before", before.own, "MB"),
        figure("opened", opened.own, "MB"),
        figure("walked", after.own, "MB"),
        figure("with pages of the file, walked", after.memory, "MB"),
    ]
    return {"suite": "web", "seed": seed, "figures": figures}


def _walk(page: Any, pid: int, dice: random.Random) -> tuple[list[float], list[float], int]:
    """Seconds of every step and of the server's processor in it, and how many streets were seen."""
    waits, costs, boards, depth = [], [], set(), 1
    for _ in range(_STEPS):
        # Folds and all-ins end a walk, the other ways lead on.
        ways = page.locator(".steps button:enabled").filter(has_not_text=_LAST)
        count = ways.count()
        boards.add(page.locator(".standing .cards img").count())
        used, began = Usage.of(pid).seconds, time.perf_counter()
        if count:
            way, depth = ways.nth(dice.randrange(count)), depth + 1
        else:
            way, depth = page.locator(".crumbs button").first, 1
        way.click()
        page.wait_for_function(_STANDING, arg=depth)
        waits.append(time.perf_counter() - began)
        costs.append(Usage.of(pid).seconds - used)
    return waits, costs, len(boards)

"""The browser's server under load: 50 people at tables at once while it solves a flop for another.

Visitors are programs that speak to the pages as browsers do: they fetch the page, open its socket and
click its buttons, each at a session of its own against an agent that does not search. Every card they
are shown is compared with the deal of their own session, so that cross-talk would be seen. With
`screenshots` pictures of the pages are made by a headless Chromium, those of the documentation; with
`opened` a saved solution is opened and walked in it (:mod:`.webopen`).
"""

from __future__ import annotations

import asyncio
import re
import secrets
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from equipoise.bench import webopen
from equipoise.bench.figures import figure
from equipoise.bench.visitor import Visitor
from equipoise.bench.webserver import Usage, browsing, served
from equipoise.games.dealing import SeededDeals
from equipoise.games.spot import Spot
from equipoise.solve.spots.solution import solve_spot
from equipoise.solve.study.presets import preset
from equipoise.web.faces import card_name
from equipoise.web.seat import GAMES, position_of
from equipoise.web.store import FILE, Store
from equipoise.web.study.solving import START, packed, said, solution_name

#: People at tables, and the hands that each plays.
SESSIONS, HANDS = 50, 4
#: Fetches of each page that is timed.
_FETCHES = 100
_FLOP = (
    'board = "Td 9d 6h"\npot = 200\nstack = 900\n[ranges]\noop = "22+,A2s+,KTs+,QTs+,JTs,ATo+,KQo"\n'
    'ip = "22+,A2s+,K9s+,Q9s+,J9s+,T9s,ATo+,KJo+"\n[menu]\nbets = "50%"\nraises = "60%"\n'
)
#: A river that nobody has solved.
_RIVER = _FLOP.replace("Td 9d 6h", "Td 9d 6h Qc 2s")
_PAGE = "/sessions"
#: Pages of the study: one that opens a solved turn, one that has nothing to open, and the others.
_STUDY = ("/study", f"/study?spot={packed(_RIVER)}", "/study/flops", "/study/jamfold")


def run(
    seed: int = 0, screenshots: Path | None = None, opened: Path | None = None
) -> dict[str, Any]:
    """Measure, or open a saved solution, or make the pictures."""
    if opened is not None:
        return webopen.run(opened, seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if screenshots is not None:
            with served(folder) as (address, _):
                made = _pictures(address, screenshots)
            return {"suite": "web", "seed": seed, "figures": made}
        visitors = _visitors(folder, seed)
        _solved(folder)
        with served(folder) as (address, pid):
            guests = [_Guest(address, visitor) for visitor in visitors]
            found = asyncio.run(_load(address, guests))
            memory = Usage.of(pid).memory
        crossed = _crossed(folder, guests)
    figures = [
        figure("page, 95th percentile, a flop being solved", found["page"], "ms", at_most=200),
        figure("page, median", found["page_median"], "ms"),
        figure("study, 95th percentile, a flop being solved", found["study"], "ms", at_most=200),
        figure("study, median", found["study_median"], "ms"),
        figure("a solved turn opened, 95th percentile", found[_STUDY[0]], "ms", at_most=200),
        figure("a spot described, 95th percentile", found[_STUDY[1]], "ms", at_most=200),
        figure("flops, 95th percentile", found[_STUDY[2]], "ms", at_most=200),
        figure("jam or fold, 95th percentile", found[_STUDY[3]], "ms", at_most=200),
        figure("iterations of the flop meanwhile", found["iterations"], "", at_least=1),
        figure(f"click to answer at {SESSIONS} tables, 95th percentile", found["click"], "ms"),
        figure("sessions at once", found["sessions"], "", at_least=SESSIONS),
        figure("hands finished", found["hands"], "", at_least=SESSIONS * HANDS),
        figure("cards or hands of another session", crossed, "", at_most=0),
        figure("memory of the server's process", memory, "MB"),
    ]
    return {"suite": "web", "seed": seed, "figures": figures}


def _visitors(folder: Path, seed: int) -> list[str]:
    """People who have sat down already, each at his own session."""
    store = Store(folder / FILE)
    visitors = [secrets.token_hex(16) for _ in range(SESSIONS)]
    for number, visitor in enumerate(visitors):
        store.begin_session(visitor, f"v{number}", "call", "nolimit 200", seed=seed + number)
    store.close()
    return visitors


def _solved(folder: Path) -> None:
    """The spot that the study page begins with, solved beforehand."""
    spot = preset(*START)
    (folder / "study").mkdir(exist_ok=True)
    solve_spot(Spot.from_dict(said(spot)), 0.5).save(folder / "study" / solution_name(spot))


async def _load(address: str, guests: list[_Guest]) -> dict[str, float]:
    import httpx

    student = _Student(address, secrets.token_hex(16))
    waits: dict[str, list[float]] = {path: [] for path in (_PAGE, *_STUDY)}
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        # The first visitor waits for the agents, and for jam or fold.
        for path in ("/", *waits):
            (await client.get(path)).raise_for_status()
        await asyncio.sleep(8)
        await student.solve()
        begun = student.iterations
        playing = asyncio.gather(*(guest.play() for guest in guests))
        for _ in range(_FETCHES):
            for path, found in waits.items():
                began = time.perf_counter()
                answer = await client.get(path)
                answer.raise_for_status()
                found.append(1000 * (time.perf_counter() - began))
                await asyncio.sleep(0.05)
        await playing
    solved = student.iterations - begun
    await student.leave()
    clicks = [wait for guest in guests for wait in guest.waits]
    study = [wait for path in _STUDY for wait in waits[path]]
    told = {
        "page": _late(waits[_PAGE]),
        "page_median": statistics.median(waits[_PAGE]),
        "study": _late(study),
        "study_median": statistics.median(study),
        "click": _late(clicks),
        "sessions": float(sum(bool(guest.waits) for guest in guests)),
        "hands": float(sum(guest.hands for guest in guests)),
        "iterations": float(solved),
    }
    return told | {path: _late(waits[path]) for path in _STUDY}


def _late(waits: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(waits, n=20)[-1]


class _Guest(Visitor):
    """A visitor at a table: checks every hand down."""

    def __init__(self, address: str, visitor: str) -> None:
        super().__init__(address, visitor)
        self.waits: list[float] = []
        self.hands = 0
        #: The cards he was shown as his own, hand by hand.
        self.shown: list[str] = []

    async def play(self) -> None:
        """So many hands."""
        await self.enter()
        while self.hands < HANDS:
            felt = self._felt()
            over = 'class="banner' in felt
            if over:
                self.hands += 1
                self.shown.append(self._hole(felt))
            if over or "me to-act" in felt:
                await self._click("next" if over else "call", felt)
            else:
                await self._wait(felt)
        await self.leave()

    def _felt(self) -> str:
        for element in self.elements.values():
            text = str(element.get("props", {}).get("innerHTML", ""))
            if 'class="felt"' in text:
                return text
        return ""

    @staticmethod
    def _hole(felt: str) -> str:
        mine = felt.partition('class="seat me')[2]
        return "|".join(re.findall(r'alt="([a-z ]+)"', mine)[:2])

    async def _click(self, kind: str, felt: str) -> None:
        name = self.find(kind, "act")
        if name is not None:
            began = time.perf_counter()
            await self.send(name)
            await self._wait(felt)
            self.waits.append(1000 * (time.perf_counter() - began))

    async def _wait(self, felt: str) -> None:
        """Until the table looks otherwise."""
        while self._felt() == felt:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 60)


class _Student(Visitor):
    """A visitor who has a flop solved on the study page, further than anybody would wait for."""

    async def solve(self) -> None:
        """Ask for it, and see it begin."""
        await self.enter(f"/study?spot={packed(_FLOP)}")
        target, solve = self.find(label="target, % of pot"), self.find("solve")
        assert target is not None
        assert solve is not None
        await self.send(target, "0.0001")
        await self.send(solve)
        while not self.iterations:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 600)

    @property
    def iterations(self) -> int:
        """How far it is."""
        for element in self.elements.values():
            told = re.match(r"([0-9]+) iterations", str(element.get("text", "")))
            if told:
                return int(told.group(1))
        return 0


def _crossed(folder: Path, guests: list[_Guest]) -> int:
    """Hands in which a visitor was shown other cards than his own session's seed deals him."""
    store, wrong = Store(folder / FILE), 0
    for guest in guests:
        row = store.sessions(guest.visitor)[0]
        deals = SeededDeals(GAMES[row.game], row.seed)
        for number, shown in enumerate(guest.shown):
            hole = deals.deal(number).holes[position_of(row.seat, number)]
            wrong += shown != "|".join(card_name(card) for card in hole)
        wrong += len(guest.shown) != HANDS
    store.close()
    return wrong


def _pictures(address: str, folder: Path) -> list[dict[str, Any]]:
    """Pictures of every page, at the width of a desk and of a phone, dark and light."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with browsing() as browser:
        for kind, width, height, scheme in (
            ("light", 1200, 760, "light"),
            ("phone", 390, 800, "dark"),
            ("desk", 1200, 760, "dark"),
        ):
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
            )
            page = context.new_page()
            for name in _tour(page, address, replays=kind == "desk"):
                path = folder / f"{name}-{kind}.png"
                page.screenshot(path=path)
                # Felt shades into itself: 256 colours show it as well, in a third of the size.
                Image.open(path).convert("RGB").quantize(256, kmeans=2).save(path, optimize=True)
                size = path.stat().st_size / 1000
                made.append(figure(path.name, size, "kB", at_most=200))
            context.close()
    return made


def _study_tour(page: Any, address: str) -> Any:
    """A river solved and walked, and jam or fold."""
    page.goto(f"{address}/study")
    page.get_by_label("board").fill("Ks8d3c2h7d")
    page.wait_for_timeout(1500)
    page.locator(".solve").click()
    page.wait_for_selector(".result .title", timeout=120_000)
    page.wait_for_timeout(1500)
    if page.viewport_size["width"] > 900:
        page.evaluate("document.querySelector('.progress').style.display = 'none'")
        page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(800)
    yield "study"
    page.goto(f"{address}/study/jamfold")
    page.wait_for_selector(".side-by-side .matrix", timeout=120_000)
    page.wait_for_timeout(800)
    yield "jamfold"


def _tour(page: Any, address: str, replays: bool) -> Any:
    """Go through the pages; each name is a picture to take."""
    page.goto(address)
    ready = "() => [...document.querySelectorAll('.act')].some(e => e.offsetParent)"
    page.wait_for_selector(".felt", timeout=60_000)
    page.wait_for_function(ready, timeout=60_000)
    for _ in range(12):
        if page.locator(".act.next:visible").count():
            break
        if page.locator(".slot img").count() >= 3:
            page.keyboard.press("2")
            page.wait_for_timeout(600)
            yield "table"
            page.keyboard.press("c")
            break
        page.keyboard.press("c")
        page.wait_for_timeout(300)
        page.wait_for_function(ready, timeout=60_000)
    while not page.locator(".act.next:visible").count():
        page.wait_for_function(ready, timeout=60_000)
        page.keyboard.press("c")
        page.wait_for_timeout(400)
    page.wait_for_timeout(800)
    yield "showdown"
    hand = page.get_by_role("link", name="Replay the last hand").get_attribute("href")
    page.goto(f"{address}/sessions")
    page.wait_for_selector("table.plain")
    yield "sessions"
    page.goto(f"{address}/rooms")
    page.get_by_role("button", name="Open").click()
    page.wait_for_url("**/room/*")
    page.wait_for_selector(".room-title")
    page.wait_for_timeout(400)
    yield "room"
    yield from _study_tour(page, address)
    if replays:
        # Solving the flop takes a while.
        page.goto(address + hand)
        page.wait_for_selector(".felt")
        page.wait_for_function("() => !document.querySelector('progress.bar')", timeout=240_000)
        page.get_by_role("button", name="Step").click()
        for _ in range(20):
            if page.locator(".range svg").count():
                break
            page.get_by_role("button", name="Step").click()
            page.wait_for_timeout(250)
        page.wait_for_timeout(400)
        yield "replay"

"""The study page in a real browser: a spot painted, typed, solved, walked, locked, compared, shared."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from browser import slow_to_connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SERVE = (
    "from equipoise.web.app import serve; serve(port={port}, ready=lambda a: print(a, flush=True))"
)
#: Milliseconds that a busy machine may take for anything.
PATIENCE = 90_000

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    from equipoise.web.app import free_port

    port = free_port("127.0.0.1", 8460, 40)
    code = f"if __name__ == '__main__':\n    {SERVE.format(port=port)}\n"
    script = tmp_path_factory.mktemp("study") / "serve.py"
    script.write_text(code)
    settings = {**os.environ, "EQUIPOISE_DATA": str(script.parent / "data")}
    running = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=settings)
    running.stdout.readline()
    yield f"http://127.0.0.1:{port}"
    running.terminate()
    running.wait(20)


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as started:
        shown = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield shown
        shown.close()


def pick(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option).first.click()


def test_a_spot_from_the_first_stroke_to_the_link(server, browser):
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server}/study")
    cost = page.locator(".cost")
    page.get_by_label("board").fill("Ks8d3c2h7d")
    expect(cost).to_contain_text("10 decisions")
    pick(page, "preset", "three-bet")
    expect(page.get_by_label("pot", exact=True)).to_have_value("18")
    pick(page, "preset", "single-raised:")
    expect(page.get_by_label("pot", exact=True)).to_have_value("5")
    expect(page.get_by_label("board")).to_have_value("Ks8d3c2h7d")

    # Bad input is a sentence, in every field.
    for label, bad, sentence in (
        ("board", "Ks8dxx", "no rank"), ("pot", "abc", "write a number"), ("stack", "-3", "stack"),
        ("river bets", "50", "needs a unit"), ("river raises", "0%", "more than nothing"),
    ):  # fmt: skip
        field = page.get_by_label(label, exact=True)
        good = field.input_value()
        field.fill(bad)
        expect(cost).to_contain_text(sentence)
        field.fill(good)
        expect(cost).to_contain_text("decisions")
    page.get_by_text("Rake, betting so far").click()
    for label, bad, sentence in (
        ("rake, %", "x", "rake: write a number"), ("rake cap", "3", "fill in both"),
        ("smallest bet", "-1", "min_bet"), ("betting so far: check, bet 3.25", "jump", "jump"),
        ("sizes as text", "bets = ", "TOML"),
    ):  # fmt: skip
        page.get_by_label(label, exact=True).fill(bad)
        expect(cost).to_contain_text(sentence)
        page.get_by_label(label, exact=True).fill("")
        expect(cost).to_contain_text("decisions")
    text = page.get_by_label("oop range as text")
    text.fill("AA,KZ")
    expect(page.locator(".wrong").first).to_contain_text("no rank 'Z'")
    text.fill("QQ+,T9s,76s")
    expect(page.locator(".wrong").first).to_have_text("")

    # Painted: aces to queens suited, in one stroke.
    cells = page.locator("#grid-oop .cell")
    cells.first.scroll_into_view_if_needed()
    first, last = cells.nth(1).bounding_box(), cells.nth(2).bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=4)
    page.mouse.up()
    expect(text).to_have_value("QQ+,AQs+,T9s,76s")

    # Kept by a name, whatever is in it, and found again by it.
    name, mine = page.get_by_label("by name").first, "<b>mine"
    keep = page.get_by_label("Keep the oop range by this name")
    keep.click()
    expect(page.locator(".q-notification", has_text="give the range a name")).to_be_visible()
    name.fill(mine)
    keep.click()
    expect(page.locator(".q-notification", has_text=f"kept as {mine}")).to_be_visible()
    name.fill("")
    text.fill("AA")
    expect(page.get_by_text("6 combos, 0.5 %")).to_be_visible()
    name.fill(mine)
    expect(text).to_have_value("QQ+,AQs+,T9s,76s")

    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.locator(".result .title")).to_have_text("Ks8d3c2h7d, pot 5 bb: oop")
    expect(page.locator(".result .matrix .cell")).to_have_count(169)

    # Walked, compared with another node, and back by the crumbs.
    page.locator(".steps button", has_text="check").first.click()
    expect(page.locator(".result .title")).to_contain_text("check: ip")
    page.get_by_role("tab", name="compare").click()
    page.get_by_role("button", name="Mark this position").click()
    page.locator(".crumbs button").first.click()
    page.locator(".steps button", has_text="bet").first.click()
    expect(page.locator(".crumbs button")).to_have_count(2)
    page.get_by_role("tab", name="compare").click()
    expect(page.locator(".compared")).to_contain_text("EV oop bb")
    page.locator(".crumbs button").first.click()
    expect(page.locator(".result .title")).to_have_text("Ks8d3c2h7d, pot 5 bb: oop")

    # Practised: graded, and a score kept.
    page.get_by_role("button", name="Deal a hand").click()
    page.locator(".drill .standing button").first.click()
    expect(page.locator(".drill .score")).to_contain_text("of 1 right")

    # A file of the spot, and of the position with what every action is worth.
    with page.expect_download() as taken:
        page.get_by_role("button", name="As file").click()
    assert 'board = "Ks8d3c2h7d"' in taken.value.path().read_text()
    page.get_by_role("tab", name="download").click()
    with page.expect_download() as taken:
        page.locator(".report").get_by_role("button", name="CSV").click()
    assert taken.value.path().read_text().splitlines()[0].endswith("ev_bb bet 3.75")

    # Locked to check everything, solved again.
    page.get_by_label("check %").fill("100")
    for box in page.locator(".result input[aria-label^='bet ']").all():
        box.fill("0")
    page.get_by_role("button", name="Lock and solve").click()
    expect(page.locator(".result")).to_contain_text("1 locked")
    expect(page.locator(".action-bar").first).to_contain_text("100.0%")

    # Shared: the address holds the spot, on a phone too.
    page.get_by_role("button", name="Link", exact=True).click()
    page.wait_for_url(re.compile("spot="))
    phone = browser.new_page(viewport={"width": 390, "height": 844})
    phone.set_default_timeout(PATIENCE)
    phone.goto(page.url)
    expect(phone.get_by_label("oop range as text")).to_have_value("QQ+,AQs+,T9s,76s")
    expect(phone.locator(".result .title")).to_have_text("Ks8d3c2h7d, pot 5 bb: oop")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert not errors


def test_what_is_typed_before_the_page_is_connected_stands(server, browser):
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    release = slow_to_connect(page)
    page.goto(f"{server}/study")
    page.get_by_label("board").fill("Ks8d3c2h7d")
    page.get_by_label("oop range as text").fill("QQ+")
    release()
    expect(page.locator(".cost")).to_contain_text("10 decisions")
    expect(page.get_by_text("18 combos")).to_be_visible()
    expect(page.get_by_label("board")).to_have_value("Ks8d3c2h7d")
    expect(page.get_by_label("oop range as text")).to_have_value("QQ+")
    page.close()


def test_paused_gone_on_with_and_walked_beside_another_menu(server, browser):
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.goto(f"{server}/study")
    expect(page.locator(".cost")).to_contain_text("decisions")
    target, solve = page.get_by_label("target, % of pot"), page.locator("button.solve")
    state, sentence = page.locator(".progress .num"), page.locator(".q-notification")

    # What cannot be a target is told, and nothing is started.
    for bad, told in (("soon", "write a number"), ("0", "above 0"), ("101", "above 0")):
        target.fill(bad)
        solve.click()
        expect(sentence.filter(has_text=told).first).to_be_visible()

    # A turn that would take minutes is paused with its curve, and gone on with.
    target.fill("0.0001")
    solve.click()
    expect(page.locator(".progress polyline")).to_be_visible()
    expect(state).to_have_text(re.compile(r"^\d+ iterations, exploitability [\d.]+ % of pot$"))
    page.get_by_role("button", name="Pause").click()
    expect(state).to_contain_text("paused")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    expect(page.locator(".result .title")).to_have_text("Ks8d3c2h, pot 5 bb: oop")
    before = page.locator(".result").get_by_text(re.compile("iterations$")).inner_text()
    target.fill("90")
    page.get_by_role("button", name="Go on").click()
    expect(state).not_to_contain_text("paused")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    expect(page.locator(".result .title")).to_have_text("Ks8d3c2h, pot 5 bb: oop")
    after = page.locator(".result").get_by_text(re.compile("iterations$")).inner_text()
    counts = [int(told.split()[-2].replace(",", "")) for told in (before, after)]
    assert counts[1] >= counts[0] > 0

    # Stopped, it is kept and done with; paused and then described otherwise, it is not gone on with.
    target.fill("0.0001")
    for end, words in (("Stop", "stopped"), ("Pause", "paused")):
        solve.click()
        page.get_by_role("button", name=end).click()
        expect(state).to_contain_text(words)
        expect(page.get_by_role("button", name=end)).to_be_hidden()
        expect(page.get_by_role("button", name="Go on")).to_be_visible(visible=end == "Pause")
    target.fill("90")

    # The same with another menu: both are walked together, hand by hand.
    page.get_by_role("tab", name="compare").click()
    page.get_by_role("button", name="Mark this position").click()
    cost = page.locator(".cost").inner_text()
    page.get_by_label("turn bets").fill("100%")
    expect(page.locator(".cost")).not_to_have_text(cost)
    expect(page.get_by_role("button", name="Go on")).to_be_hidden()
    solve.click()
    expect(page.locator(".steps")).to_contain_text("bet 5")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    page.locator(".steps button", has_text="bet 5").click()
    both = page.locator(".side-by-side .strong")
    expect(both.first).to_have_text("marked: Ks8d3c2h, pot 8.75 bb, bet 3.75: ip")
    expect(both.last).to_have_text("here: Ks8d3c2h, pot 10 bb, bet 5: ip")
    expect(page.locator(".by-hand th")).to_have_count(10)
    page.locator(".side-by-side .cell[data-hand='KQo']").first.click()
    expect(page.locator(".by-hand tbody tr").first).to_contain_text("Q")
    expect(page.locator(".by-hand tbody tr")).to_have_count(9)
    page.get_by_role("switch", name="walk both").click()
    page.locator(".steps button", has_text="call").click()
    expect(both.last).to_have_text("here: Ks8d3c2h, pot 15 bb, bet 5 – call")
    expect(both.first).to_have_text("marked: Ks8d3c2h, pot 8.75 bb, bet 3.75: ip")
    page.locator(".crumbs button").nth(1).click()
    expect(both.last).to_have_text("here: Ks8d3c2h, pot 10 bb, bet 5: ip")
    taken = {}
    for kind in ("CSV", "JSON", "PNG"):
        with page.expect_download() as download:
            page.locator(".report").get_by_role("button", name=kind).click()
        taken[kind] = download.value.path().read_bytes()
    assert taken["CSV"].startswith(b"hand,difference,weight,ev_bb_1,fold (1)")
    assert taken["PNG"].startswith(b"\x89PNG")
    assert json.loads(taken["JSON"])["player"] == "ip"
    page.close()


def test_a_saved_solution_is_opened_locked_wrongly_and_taken_away(server, browser, tmp_path):
    from playwright.sync_api import expect

    from equipoise.games.spot import Spot
    from equipoise.solve.spots.solution import solve_spot

    file = tmp_path / "river.solution"
    told = 'board = "Td9d6hQc2s"\npot = 100\nstack = 200\n[ranges]\noop = "22+"\nip = "TT+,KQs"\n'
    solve_spot(Spot.from_toml(told), 5).save(file)
    (tmp_path / "spot.toml").write_text(told)
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.goto(f"{server}/study")
    sentence, name = page.locator(".q-notification"), page.get_by_label("saved solution of this")
    for bad, why in (("", "which file?"), ("/nowhere", "nowhere"), ("spot.toml", "spot.toml")):
        name.fill(str(tmp_path / bad) if bad.endswith("toml") else bad)
        page.get_by_role("button", name="Open", exact=True).click()
        expect(sentence.filter(has_text=why).first).to_be_visible()
    name.fill(str(file))
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".result .title")).to_have_text("Td9d6hQc2s, pot 100: oop")
    expect(page.get_by_label("pot", exact=True)).to_have_value("100")
    expect(page.get_by_label("oop range as text")).to_have_value("22+")

    page.get_by_label("check %").fill("10")
    page.get_by_role("button", name="Lock and solve").click()
    expect(sentence.filter(has_text="make it 100 %").first).to_be_visible()
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_label("name", exact=True).fill("  ")
    page.get_by_role("button", name="Keep it").click()
    expect(sentence.filter(has_text="give it a name").first).to_be_visible()
    page.keyboard.press("Escape")

    page.get_by_role("tab", name="download").click()
    for kind, starts in (("CSV", b"hand,reach"), ("JSON", b'{"board"'), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator(".report").get_by_role("button", name=kind).click()
        assert download.value.path().read_bytes().startswith(starts)
    page.close()


def test_what_does_not_fit_offers_cuts_that_suffice(server, browser):
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.goto(f"{server}/study")
    page.get_by_label("board").fill("Ks8d3c")
    expect(page.locator(".cost")).to_contain_text("decisions")
    page.get_by_label("turn bets").fill("20%,33%,50%,75%,100%,150%,a")
    page.get_by_label("river bets").fill("33%,50%,75%,100%,150%,a")
    page.wait_for_timeout(1500)
    expect(page.locator(".cuts")).to_contain_text("saves")
    page.get_by_role("button", name=re.compile("Take these cuts")).click()
    expect(page.locator(".cost")).to_contain_text("decisions")
    expect(page.locator(".cuts")).to_have_text("")
    page.close()


def test_flops_solved_sorted_filtered_and_opened(server, browser):
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.goto(f"{server}/study")
    for name, text in (("oop", "QQ+"), ("ip", "AKs,JJ")):
        page.get_by_label(f"{name} range as text").fill(text)
    page.get_by_label("board").fill("Ks8d3c")
    page.get_by_label("stack", exact=True).fill("5")
    expect(page.locator(".cost")).to_contain_text("decisions")
    page.get_by_role("button", name="All flops").click()
    page.wait_for_url(re.compile("/study/flops"))
    target = page.get_by_label("target, % of pot")
    target.fill("nothing")
    expect(page.locator(".cost")).to_contain_text("write a number")
    target.fill("20")
    pick(page, "how many", "5 flops")
    expect(page.locator(".cost")).to_contain_text("5 flops")
    page.get_by_role("button", name="Solve them").click()
    expect(page.locator(".flop-row")).to_have_count(5)
    pick(page, "sort by", "equity_oop")
    page.get_by_label("only: paired").fill("monotne")
    expect(page.locator(".result .wrong")).to_contain_text("did you mean 'monotone'")
    page.get_by_label("only: paired").fill("unpaired")
    expect(page.locator(".result .wrong")).to_have_text("")
    expect(page.locator(".result .h3").nth(1)).to_contain_text("first to act")
    with page.expect_download() as taken:
        page.get_by_role("button", name="PNG").click()
    assert taken.value.path().stat().st_size > 1000
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_label("folder of equipoise batch").fill("/nowhere")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".q-notification")).to_contain_text("no report of a batch")
    page.locator("[data-board]").first.click()
    page.wait_for_url(re.compile(r"/study\?spot="))
    expect(page.get_by_label("oop range as text")).to_have_value("QQ+")
    page.close()


def test_jam_or_fold_by_stack(server, browser):
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 390, "height": 844})
    expect.set_options(timeout=PATIENCE)
    page.goto(f"{server}/study/jamfold?stack=10")
    expect(page.locator(".title").first).to_have_text("Small blind jams 58.3% of hands")
    page.get_by_label("Shorter stack").click()
    expect(page.get_by_text("9.5 big blinds")).to_be_visible()
    expect(page.locator(".matrix")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()

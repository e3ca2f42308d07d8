"""The study page in a real browser: a spot painted, typed, solved, walked, locked, compared, shared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

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

    # Bad input is a sentence, in every field.
    for label, bad, sentence in (
        ("board", "Ks8dxx", "no rank"), ("pot", "abc", "write a number"), ("stack", "-3", "stack"),
    ):  # fmt: skip
        field = page.get_by_label(label, exact=True)
        good = field.input_value()
        field.fill(bad)
        expect(cost).to_contain_text(sentence)
        field.fill(good)
        expect(cost).to_contain_text("decisions")
    text = page.get_by_label("oop range as text")
    text.fill("AA,KZ")
    expect(page.locator(".wrong").first).to_contain_text("no rank 'Z'")
    text.fill("QQ+,T9s,76s")
    expect(page.locator(".wrong").first).to_have_text("")

    # Painted: aces to queens suited, in one stroke.
    cells = page.locator("#grid-oop .cell")
    first, last = cells.nth(1).bounding_box(), cells.nth(2).bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=4)
    page.mouse.up()
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

    # Locked to check everything, solved again.
    page.get_by_label("check %").fill("100")
    for box in page.locator(".result input[aria-label^='bet ']").all():
        box.fill("0")
    page.get_by_role("button", name="Lock and solve").click()
    expect(page.locator(".result")).to_contain_text("1 locked")
    expect(page.locator(".key").first).to_contain_text("100.0%")

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

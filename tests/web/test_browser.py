"""The table in a real browser: hands played by button, slider, text and key; nothing lost, nothing run."""

from __future__ import annotations

import re

import pytest
from browser import Server, launched, slow_to_connect, until

NASTY = (
    "<script>window.hacked=1</script>",
    "9" * 400,
    "🂡🔥",
    "-5",
    "1e9",
    "<img src=x onerror=hacked=1>",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    found = Server(tmp_path_factory.mktemp("data"))
    yield found
    found.kill()


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.fixture
def guest(browser, server):
    """A new visitor's page, and whatever went wrong on it."""
    opened = []

    def new(width=1280, height=860, agent="call", game="No-limit, 200 big blinds"):
        context = browser.new_context(viewport={"width": width, "height": height})
        # How long a page takes says how busy the machine is.
        context.set_default_timeout(300_000)
        page = context.new_page()
        page.foreign = []
        page.on(
            "request",
            lambda r: (
                page.foreign.append(r.url)
                if not r.url.startswith((server.address, "data:", "blob:"))
                else None
            ),
        )
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        opened.append((context, page))
        page.goto(server.address)
        page.wait_for_selector(".felt")
        if agent:
            sit(page, agent, game)
        return page

    yield new
    for context, page in opened:
        assert page.errors == []
        assert page.foreign == []
        assert page.evaluate("window.hacked") is None
        context.close()


def pick(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def sit(page, agent, game):
    if game != "No-limit, 200 big blinds":
        pick(page, "Game", game)
    pick(page, "Opponent", agent)
    page.get_by_role("button", name="Sit down").click()
    page.wait_for_url("**/?session=*")
    page.locator(".seat.opponent .who", has_text=agent).wait_for()


def my_turn(page):
    page.wait_for_function(
        "() => [...document.querySelectorAll('.act.call, .act.next')].some(e => e.offsetParent)"
    )
    return page.locator(".act.call:visible").count() > 0


def pot(page):
    return int(
        re.search(r"Pot ([\d,]+)", page.locator(".pot").inner_text()).group(1).replace(",", "")
    )


def test_a_whole_hand_with_raises_by_text_key_and_slider(guest):
    page = guest()
    assert my_turn(page)
    page.locator(".bet-amount input").fill("400")
    page.get_by_role("button", name=re.compile("Raise to 400")).click()
    page.wait_for_function("() => document.querySelectorAll('.slot img').length === 3")
    assert my_turn(page)
    assert pot(page) == 800
    page.locator(".felt").click()
    page.keyboard.press("2")
    page.get_by_role("button", name=re.compile("Bet 400")).wait_for()
    page.keyboard.press("r")
    page.wait_for_function("() => document.querySelectorAll('.slot img').length === 4")
    assert pot(page) == 1600
    assert my_turn(page)
    box = page.locator(".bet-slider").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 30, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    page.get_by_role("button", name=re.compile("all-in")).wait_for()
    page.locator(".act.bet-now").click()
    page.locator(".banner").wait_for()
    assert (
        "20,000" in page.locator(".banner").inner_text()
        or "split" in page.locator(".banner").inner_text()
    )
    page.locator(".figures", has_text="all-ins by equity").wait_for()
    page.locator(".felt").click()
    page.keyboard.press("n")
    page.locator("h2", has_text="Hand 2").wait_for()


def test_illegal_and_nasty_amounts_cannot_be_sent(guest):
    page = guest()
    my_turn(page)
    field, button = page.locator(".bet-amount input"), page.locator(".act.bet-now")
    for text in (*NASTY, "1", "20001"):
        field.fill(text)
        until(button.is_disabled)
        field.press("Enter")
    assert page.locator(".board img").count() == 0
    field.fill("300")
    until(button.is_enabled)
    name = page.locator(".player-name input")
    for text in NASTY[::5]:
        name.fill(text)
        page.get_by_role("button", name="Sit down").click()
        page.locator(".q-notification").first.wait_for()
    assert my_turn(page)


def test_an_amount_typed_before_the_page_is_connected_stands(guest):
    page = guest()
    my_turn(page)
    release = slow_to_connect(page)
    page.reload()
    page.locator(".bet-amount input").fill("400")
    release()
    page.get_by_role("button", name=re.compile("Raise to 400")).wait_for()
    page.wait_for_timeout(300)
    assert page.locator(".bet-amount input").input_value() == "400"


def test_reload_and_a_killed_server_in_mid_hand_lose_nothing(guest, server):
    page = guest()
    my_turn(page)
    page.keyboard.press("c")
    page.wait_for_function("() => document.querySelectorAll('.slot img').length >= 3")
    seen = [page.locator(".seat.me img").nth(i).get_attribute("alt") for i in (0, 1)]
    page.reload()
    page.wait_for_selector(".felt")
    assert [page.locator(".seat.me img").nth(i).get_attribute("alt") for i in (0, 1)] == seen
    assert page.locator(".slot img").count() >= 3
    server.kill()
    server.start()
    page.goto(page.url)
    page.wait_for_selector(".felt")
    assert [page.locator(".seat.me img").nth(i).get_attribute("alt") for i in (0, 1)] == seen
    assert my_turn(page)


def test_two_people_in_a_room_get_mirrored_cards_and_one_score(guest, server):
    ann, bob = guest(agent=""), guest(agent="")
    ann.goto(f"{server.address}rooms")
    pick(ann, "Opponent", "call")
    ann.get_by_role("button", name="Open").click()
    ann.wait_for_url("**/room/*")
    address = ann.url
    bob.goto(f"{server.address}rooms")
    bob.locator(".room-code input").fill("<b>NO")
    bob.get_by_role("button", name="Join").click()
    bob.locator(".q-notification").first.wait_for()
    bob.goto(address)
    holes = []
    for page, name in ((ann, "Ann"), (bob, "Bob")):
        page.locator(".player-name input").fill(name)
        page.get_by_role("button", name="Sit down").click()
        page.wait_for_url("**/?session=*")
        while my_turn(page):
            before = page.locator(".felt").inner_html()
            page.locator(".act.call").click()
            page.wait_for_function(
                "before => document.querySelector('.felt').innerHTML !== before", arg=before
            )
        mine, his = (
            [page.locator(f".seat.{who} img").nth(i).get_attribute("alt") for i in (0, 1)]
            for who in ("me", "opponent")
        )
        holes.append((mine, his))
    assert holes[0] == holes[1][::-1], "what one holds the bot holds against the other"
    ann.goto(address)
    ann.locator("text=1 deals finished by both").wait_for()
    assert ann.locator(".pair-chips").inner_text() == "+0 chips"


def test_sessions_export_and_replay_with_a_review(guest, server, tmp_path):
    page = guest(agent="all-in")
    for _ in range(2):
        my_turn(page)
        page.keyboard.press("f")
        page.locator(".banner").wait_for()
        page.keyboard.press("n")
    my_turn(page)
    page.goto(f"{server.address}sessions")
    page.get_by_role("link", name="hands").first.click()
    with page.expect_download() as taken:
        page.get_by_role("link", name="Export as ACPC log").click()
    assert taken.value.path().read_text().count("STATE:") == 2
    with page.expect_download() as taken:
        page.get_by_role("link", name="Export as PHH").click()
    assert "variant = 'NT'" in taken.value.path().read_text().replace('"', "'")
    page.get_by_role("link", name="replay").first.click()
    page.locator("text=You had no decision after the flop").wait_for()
    page.get_by_role("button", name="Step").click()
    page.locator("text=step 1 of").wait_for()
    stranger = guest(agent="")
    session = page.url.split("/")[-2]
    assert stranger.request.get(f"{server.address}export/{session}.log").status == 404
    stranger.goto(f"{server.address}?session={session}")
    stranger.locator("text=no such session of yours").wait_for()


@pytest.mark.parametrize("place", ["", "sessions", "rooms"])
def test_a_phone_scrolls_up_and_down_only(guest, server, place):
    page = guest(width=390, height=844, agent="")
    page.goto(server.address + place)
    page.wait_for_selector("main")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

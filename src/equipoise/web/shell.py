"""The frame around every page: what all pages have in common, and which pages there are.

To add a page, write a module with a function `register(house)` that defines it, and add a line to
`PAGES`; the server loads it by name when it starts:

    def register(house: House) -> None:
        @ui.page("/ranges")
        def ranges() -> None:
            with frame(house, "Ranges") as visitor:     # header, navigation, theme, who visits
                ui.label("…")

Pages compute nothing: what takes milliseconds is asked of the library, what takes longer is a job
(:mod:`equipoise.web.jobs`), and what is kept goes to `house.store`. Texts that people typed are shown
by elements that take text (`ui.label`), or through `html.escape`, never as markup. Errors of the
library are caught by :func:`told`, which shows their sentence.

Colours, spacing and the classes `panel`, `muted`, `row-list` … are those of `static/equipoise.css`,
for dark and light alike; Tailwind's classes are not loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from nicegui import ui

from equipoise.errors import EquipoiseError
from equipoise.web.jobs import Jobs
from equipoise.web.store import Store

#: The folder that is served under this path.
STATIC = files("equipoise.web") / "static"
STATIC_PATH = "/static"

#: Themes a visitor can choose, and what NiceGUI calls them.
THEMES: dict[str, bool | None] = {"auto": None, "dark": True, "light": False}
_THEME_ICONS = {"auto": "brightness_auto", "dark": "dark_mode", "light": "light_mode"}
#: Kind of document under which a visitor's settings are kept.
SETTING = "setting"


class Page(NamedTuple):
    """One page, or one group of them."""

    #: What the navigation calls it; "" leaves it out.
    title: str
    path: str
    #: Module whose `register(house)` defines it.
    module: str


#: All pages in the order of the navigation. To add one, add a line.
PAGES: tuple[Page, ...] = (
    Page("Table", "/", "equipoise.web.table"),
    Page("Study", "/study", "equipoise.web.study.page"),
    Page("Sessions", "/sessions", "equipoise.web.sessions"),
    Page("Rooms", "/rooms", "equipoise.web.rooms"),
    Page("", "/hand", "equipoise.web.replay"),
)


@dataclass(frozen=True)
class House:
    """What all pages share."""

    store: Store
    jobs: Jobs
    #: What one page makes and others use, by name: the tables that are open.
    shared: dict[str, Any] = field(default_factory=dict)


def visitor_of_client() -> str:
    """Who looks at the page that is being made."""
    request = ui.context.client.request
    return str(request.scope["visitor"])


@cache
def _stamp() -> str:
    """Changes with the style sheet, so that browsers fetch a new one."""
    return hashlib.sha256((STATIC / "equipoise.css").read_bytes()).hexdigest()[:12]


@contextmanager
def frame(house: House, title: str, wide: bool = False) -> Iterator[str]:
    """Header, navigation and theme of a page; what is made inside is its content. Gives the visitor."""
    visitor = visitor_of_client()
    ui.page_title(f"{title} · Equipoise")
    ui.add_head_html(
        f'<link rel="stylesheet" href="{STATIC_PATH}/equipoise.css?{_stamp()}">'
        '<meta name="theme-color" content="#0f1f1a"><meta name="description" '
        'content="Heads-up hold&#39;em: play, review, study.">'
    )
    ui.colors(primary="#0a7d5f", secondary="#2f6da8", accent="#e69f00", negative="#b3261e")
    with ui.element("header").classes("top"):
        with ui.link(target="/").classes("brand"):
            ui.html('<span class="mark" aria-hidden="true">♠</span>Equipoise', sanitize=False)
        with ui.element("nav").classes("nav").props('aria-label="Pages"'):
            here = ui.context.client.request.url.path
            for page in PAGES:
                if page.title:
                    link = ui.link(page.title, page.path)
                    if here == page.path or (page.path != "/" and here.startswith(page.path)):
                        link.props('aria-current="page"')
        _theme_button(house.store, visitor)
    with ui.element("main").classes("content wide" if wide else "content"):
        yield visitor


def _theme_button(store: Store, visitor: str) -> None:
    chosen = store.kept(visitor, SETTING).get("theme", "auto")
    chosen = chosen if chosen in THEMES else "auto"
    mode = ui.dark_mode(THEMES[chosen])
    state = {"theme": chosen}

    def change() -> None:
        names = list(THEMES)
        state["theme"] = names[(names.index(state["theme"]) + 1) % len(names)]
        mode.value = THEMES[state["theme"]]
        store.keep(visitor, SETTING, "theme", state["theme"])
        button.props(f"icon={_THEME_ICONS[state['theme']]}")
        tip.text = f"theme: {state['theme']}"

    button = ui.button(icon=_THEME_ICONS[chosen], on_click=change, color=None)
    button.props('flat round dense aria-label="Theme: auto, dark or light"').classes("theme")
    with button:
        tip = ui.tooltip(f"theme: {chosen}")


@contextmanager
def told() -> Iterator[None]:
    """An error of the library becomes its sentence on the page, and nothing else happens."""
    try:
        yield
    except EquipoiseError as error:
        complain(str(error))


def complain(sentence: str) -> None:
    """Show a sentence that says what is wrong."""
    ui.notify(" ".join(sentence.split())[:400], type="negative", position="top", html=False)

"""`/sessions`: what was played, filtered, exported as PHH or as an ACPC log, and opened again."""

from __future__ import annotations

import time
from html import escape

from fastapi import Request, Response
from nicegui import app, ui

from equipoise.arena.histories import phh
from equipoise.errors import EquipoiseError
from equipoise.web.fields import Field
from equipoise.web.seat import GAME_NAMES, GAMES
from equipoise.web.shell import House, frame
from equipoise.web.sitting import Sittings, log_text, record_of, score
from equipoise.web.store import HandRow, SessionRow
from equipoise.web.widgets import cards, rate

#: Hands that are listed of a session.
_SHOWN = 100


def register(house: House) -> None:
    """Define the pages, and the files that can be taken along."""
    sittings: Sittings = house.shared["sittings"]

    @app.get("/export/{session}.{kind}")
    def export(request: Request, session: str, kind: str) -> Response:
        try:
            row = sittings.row_of(request.scope["visitor"], session)
        except EquipoiseError:
            return Response(status_code=404)
        hands = [hand for hand in house.store.hands(row.id) if hand.payoff is not None]
        if kind == "log":
            text = log_text(row, hands)
        elif kind == "phhs":
            text = "".join(phh.write_hands(record_of(row, hand) for hand in hands))
        else:
            return Response(status_code=404)
        name = f"equipoise-{row.id}.{kind}"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="text/plain; charset=utf-8", headers=headers)

    @ui.page("/sessions")
    def sessions() -> None:
        with frame(house, "Sessions") as visitor:
            _Sessions(house, visitor)

    @ui.page("/session/{session}")
    def one(session: str) -> None:
        with frame(house, "Session") as visitor:
            try:
                row = sittings.row_of(visitor, session)
            except EquipoiseError as error:
                ui.label(str(error)).classes("panel")
                return
            _session(house, row)


class _Sessions:
    """The list and its filters."""

    def __init__(self, house: House, visitor: str) -> None:
        self.house = house
        self.rows = [(row, house.store.hands(row.id)) for row in house.store.sessions(visitor)]
        ui.html("Sessions", tag="h1", sanitize=False)
        with ui.element("div").classes("line"):
            agents = sorted({row.agent for row, _ in self.rows})
            self.agent = ui.select(["any opponent", *agents], value="any opponent")
            self.game = ui.select({"": "any game", **GAME_NAMES}, value="")
            self.least = Field("least hands", value="").classes("least-hands")
            for field in (self.agent, self.game, self.least):
                field.props("outlined dense options-dense").on_value_change(self.draw)
        self.box = ui.html("", sanitize=False).classes("panel scroll")
        self.draw()

    def draw(self, _: object = None) -> None:
        """Those that pass the filters."""
        least = str(self.least.value or "").strip()
        wanted = int(least) if least.isdecimal() and len(least) < 10 else 0
        parts = []
        for row, hands in self.rows:
            over = [hand for hand in hands if hand.payoff is not None]
            if (
                (self.agent.value not in ("any opponent", row.agent))
                or (self.game.value not in ("", row.game))
                or len(over) < wanted
            ):
                continue
            parts.append(_row(row, over))
        empty = '<p class="muted">No session passes these filters.</p>'
        head = (
            '<table class="plain"><tr><th>when</th><th>opponent</th><th>game</th>'
            '<th class="num">hands</th><th class="num">chips</th><th class="num">bb/100</th>'
            '<th class="num">all-ins by equity</th><th></th></tr>'
        )
        self.box.set_content(f"{head}{''.join(parts)}</table>" if parts else empty)


def _row(row: SessionRow, over: list[HandRow]) -> str:
    now = score(GAMES[row.game], over)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.begun))
    room = f' <a class="small" href="/room/{row.room}">room {row.room}</a>' if row.room else ""
    return (
        f'<tr><td class="num">{when}</td><td>{escape(row.agent)}{room}</td>'
        f'<td>{GAME_NAMES[row.game]}</td><td class="num">{now.hands}</td>'
        f'<td class="num {_mood(now.chips)}">{now.chips:+,g}</td><td class="num">'
        f'{rate(now.raw, "")}</td><td class="num">{rate(now.equity, "")}</td><td>'
        f'<a href="/session/{row.id}">hands</a> · <a href="/?session={row.id}">play on</a></td></tr>'
    )


def _mood(chips: float) -> str:
    return "good" if chips > 0 else "bad" if chips < 0 else ""


def _session(house: House, row: SessionRow) -> None:
    hands = [hand for hand in house.store.hands(row.id) if hand.payoff is not None]
    now = score(GAMES[row.game], hands)
    ui.label(f"{row.player} against {row.agent}").classes("title").props("role=heading")
    ui.label(
        f"{GAME_NAMES[row.game]} · {now.hands} hands · {now.chips:+,g} chips · "
        f"{rate(now.raw)} · all-ins by equity {rate(now.equity)}"
    ).classes("muted")
    ui.html(
        f'<div class="line"><a href="/?session={row.id}">Play on</a>'
        f'<a href="/export/{row.id}.phhs" download>Export as PHH</a>'
        f'<a href="/export/{row.id}.log" download>Export as ACPC log</a></div>',
        sanitize=False,
    )
    parts = []
    for hand in reversed(hands[-_SHOWN:]):
        record = record_of(row, hand)
        me = record.players.index(row.player)
        parts.append(
            f'<tr><td class="num">{hand.number + 1}</td><td><span class="cards">'
            f'{cards(record.holes[me] or ())}</span></td><td><span class="cards">'
            f"{cards(record.board)}</span></td><td>{escape(hand.betting)}</td>"
            f'<td class="num {_mood(hand.payoff or 0)}">{hand.payoff:+,g}</td>'
            f'<td><a href="/hand/{row.id}/{hand.number}">replay</a></td></tr>'
        )
    ui.html(
        '<table class="plain"><tr><th class="num">hand</th><th>you</th><th>board</th><th>betting</th>'
        f'<th class="num">chips</th><th></th></tr>{"".join(parts)}</table>',
        sanitize=False,
    ).classes("panel scroll")

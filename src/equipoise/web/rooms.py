"""Duplicate rooms: two people, two browsers, the same cards mirrored against one bot.

What one is dealt the bot is dealt against the other, so that most of the cards' luck cancels; the pair
is scored together, deal by deal, over those that both have finished, as man-machine matches were played.
"""

from __future__ import annotations

from html import escape

from nicegui import ui

from equipoise.arena.statistics import Estimate, estimate
from equipoise.errors import EquipoiseError
from equipoise.web.fields import Field
from equipoise.web.seat import GAME_NAMES, GAMES
from equipoise.web.shell import House, complain, frame
from equipoise.web.sitting import Sittings, choose_agent, read_name
from equipoise.web.store import RoomRow
from equipoise.web.widgets import rate


def pair_score(house: House, room: RoomRow) -> tuple[int, float, Estimate]:
    """Deals that both have finished, the pair's chips, and its win rate in bb/100 a person."""
    paid: list[dict[int, float]] = [{}, {}]
    for seat, row in house.store.room_sessions(room.code).items():
        hands = house.store.hands(row.id)
        paid[seat] = {hand.number: hand.payoff for hand in hands if hand.payoff is not None}
    both = sorted(paid[0].keys() & paid[1].keys())
    unit = 100 / GAMES[room.game].big_blind / 2
    pairs = [paid[0][number] + paid[1][number] for number in both]
    return len(both), sum(pairs), estimate([unit * chips for chips in pairs])


def register(house: House) -> None:
    """Define the pages."""
    sittings: Sittings = house.shared["sittings"]

    @ui.page("/rooms")
    async def rooms() -> None:
        with frame(house, "Rooms"):
            offers = await sittings.offers()
            ui.html("Duplicate rooms", tag="h1", sanitize=False)
            ui.label(
                "Two people play the same cards, mirrored, against the bot: what you are dealt it is "
                "dealt against your partner. Your scores are added, and most of the luck cancels."
            ).classes("muted")
            with ui.element("div").classes("line rooms"):
                with ui.element("section").classes("panel grow"):
                    ui.html("Open a room", tag="h2", sanitize=False)
                    game = ui.select(GAME_NAMES, value="nolimit 200", label="Game")
                    agent = ui.select(
                        [offer.name for offer in offers["nolimit 200"]],
                        value=offers["nolimit 200"][0].name,
                        label="Opponent",
                    )
                    game.on_value_change(
                        lambda: agent.set_options(
                            [offer.name for offer in offers[str(game.value)]],
                            value=offers[str(game.value)][0].name,
                        )
                    )

                    def begin() -> None:
                        try:
                            chosen = choose_agent(str(agent.value), offers[str(game.value)])
                        except EquipoiseError as error:
                            complain(str(error))
                            return
                        room = house.store.begin_room(chosen, str(game.value))
                        ui.navigate.to(f"/room/{room.code}")

                    ui.button("Open", on_click=begin).props("no-caps unelevated color=primary")
                with ui.element("section").classes("panel grow"):
                    ui.html("Join a room", tag="h2", sanitize=False)
                    code = Field("Code of the room").classes("room-code")

                    def join() -> None:
                        wanted = str(code.value or "").strip().upper()[:20]
                        if house.store.room(wanted) is None:
                            complain(f"there is no room '{wanted}': ask for its code of 8 letters")
                            return
                        ui.navigate.to(f"/room/{wanted}")

                    ui.button("Join", on_click=join).props("no-caps unelevated color=primary")
                    code.on("keydown.enter", join)

    @ui.page("/room/{code}")
    async def room(code: str) -> None:
        with frame(house, "Room") as visitor:
            await sittings.offers()
            found = house.store.room(code.upper()[:20])
            if found is None:
                ui.label("There is no such room: ask for its code.").classes("panel")
                ui.link("All rooms", "/rooms")
                return
            _Room(house, sittings, found, visitor)


class _Room:
    """One browser's view of a room."""

    def __init__(self, house: House, sittings: Sittings, room: RoomRow, visitor: str) -> None:
        self.house, self.sittings, self.room, self.visitor = house, sittings, room, visitor
        ui.label(f"Room {room.code}").classes("title room-title").props("role=heading")
        ui.label(f"{GAME_NAMES[room.game]} against {room.agent}").classes("muted")
        self.score = ui.html("", sanitize=False).classes("panel")
        self.places = ui.html("", sanitize=False).classes("panel")
        with ui.element("section").classes("panel") as self.joining:
            self.name = Field("Your name", value="").props("maxlength=60").classes("player-name")
            ui.button("Sit down", on_click=self.sit).props("no-caps unelevated color=primary")
        self.link = ui.link("Play your side", "/").classes("play-side")
        self.draw()
        ui.timer(2.0, self.draw)

    def sit(self) -> None:
        """Take the side that is free."""
        taken = self.house.store.room_sessions(self.room.code)
        try:
            name = read_name(str(self.name.value or ""))
            free = next((seat for seat in (0, 1) if seat not in taken), None)
            if free is None:
                raise EquipoiseError("both sides of this room are taken: open another")
            row = self.house.store.begin_session(
                self.visitor, name, self.room.agent, self.room.game,
                seed=self.room.seed, seat=free, room=self.room.code,
            )  # fmt: skip
        except EquipoiseError as error:
            complain(str(error))
            return
        self.sittings.open(row)
        ui.navigate.to(f"/?session={row.id}")

    def draw(self) -> None:
        """Who plays, how far they are, and the pair's score."""
        taken = self.house.store.room_sessions(self.room.code)
        deals, chips, win_rate = pair_score(self.house, self.room)
        mood = "good" if chips > 0 else "bad" if chips < 0 else ""
        self.score.set_content(
            f'<div class="spread"><h2>The pair</h2><span class="muted">{deals} deals finished by '
            f'both</span></div><div class="big {mood} pair-chips">{chips:+,g} chips</div>'
            f'<div class="muted">{rate(win_rate)} a person</div>'
        )
        lines = []
        for seat in (0, 1):
            if seat in taken:
                done = [h for h in self.house.store.hands(taken[seat].id) if h.payoff is not None]
                told = f"<b>{escape(taken[seat].player)}</b>, {len(done)} hands finished"
            else:
                told = '<span class="muted">free: send your partner the address of this page</span>'
            lines.append(f"<div>Side {seat + 1}: {told}</div>")
        self.places.set_content("".join(lines))
        mine = next((row for row in taken.values() if row.visitor == self.visitor), None)
        self.joining.set_visibility(mine is None and len(taken) < 2)
        self.link.set_visibility(mine is not None)
        if mine is not None:
            self.link.props(f'href="/?session={mine.id}"')

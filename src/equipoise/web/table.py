"""The table: `/`, where a person plays an agent.

The page draws what a :class:`~equipoise.web.sitting.Sitting` says and hands it what the person does,
by buttons, slider, typed amounts and keys: f folds, c checks or calls, r bets or raises what is typed,
1 to 5 take a share of the pot, n deals the next hand. Only what the rules allow can be sent.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

from fastapi import Response
from nicegui import app, events, ui

from equipoise.agents.human import action_words, read_answer
from equipoise.cards.handnames import hand_name
from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError
from equipoise.games.menu import BetMenu
from equipoise.games.rules import CALL, FOLD, UNLIMITED, Action, Kind, State, raise_to
from equipoise.web.faces import card_svg
from equipoise.web.fields import Field
from equipoise.web.seat import GAME_NAMES
from equipoise.web.shell import House, complain, frame, told
from equipoise.web.sitting import Sitting, Sittings
from equipoise.web.widgets import CARDS_PATH, Felt, Player, cards, rate

#: Shares of the pot behind the keys 1 to 5, and how menus write them.
SIZES = (("⅓ pot", "33%"), ("½ pot", "50%"), ("¾ pot", "75%"), ("Pot", "100%"), ("All-in", "a"))
_MENUS = tuple(BetMenu.parse(size, size) for _, size in SIZES)
#: Steps of the slider: amounts grow by the same factor from one to the next.
_STEPS = 1000


def register(house: House) -> None:
    """Define the page, and the pictures of cards."""
    sittings = Sittings(house)
    house.shared["sittings"] = sittings
    app.on_startup(sittings.offers)

    @app.get(CARDS_PATH + "/{name}.svg")
    def picture(name: str) -> Response:
        try:
            drawn = card_svg(name)
        except EquipoiseError:
            return Response(status_code=404)
        headers = {"cache-control": "public, max-age=86400"}
        return Response(drawn, media_type="image/svg+xml", headers=headers)

    @ui.page("/")
    async def table(session: str = "") -> None:
        with frame(house, "Table", wide=True) as visitor:
            if not await settled(sittings):
                return
            try:
                sitting = await sittings.of_visitor(visitor, session)
            except EquipoiseError as error:
                ui.label(str(error)).classes("panel")
                ui.link("Back to the table", "/")
                return
            TableView(house, sitting, visitor, await sittings.offers())


async def settled(sittings: Sittings) -> bool:
    """Wait until the agents are there; False if the browser went away meanwhile."""
    if sittings.ready:
        return True
    with ui.element("div").classes("panel") as note:
        ui.label("The agents are sitting down: a moment …")
        ui.html('<span class="thinking"><i></i></span>', sanitize=False)
    try:
        await ui.context.client.connected(timeout=10)
    except TimeoutError:
        return False
    await sittings.offers()
    note.delete()
    return True


def felt_of(sitting: Sitting) -> Felt:
    """The table as the person sees it."""
    hand, me = sitting.hand, sitting.me
    state, rules = hand.state, sitting.rules
    shown = state.is_over and state.folded is None
    said = _last_words(state)
    players = []
    for position in (1 - me, me):
        mine = position == me
        hole: tuple[int | None, ...] = hand.deal.holes[position]
        name = ""
        if shown and len(hand.board) >= 3:
            name = hand_name((*hand.deal.holes[position], *hand.board))
        players.append(
            Player(
                name=sitting.row.player if mine else sitting.row.agent,
                cards=hole if mine or shown else (None,) * len(hole),
                stack=None
                if rules.stacks[position] == UNLIMITED
                else rules.stacks[position] - state.committed[position],
                bet=0 if state.is_over else state.committed[position] - state.round_start,
                said=said[position],
                button=position == 1,
                to_act=state.to_act == position,
                folded=state.folded == position,
                thinking=not mine and sitting.thinking_since is not None,
                hand=name,
            )
        )
    banner, won = "", 0.0
    if state.is_over:
        won = hand.payoffs()[me]
        words = f"wins {abs(won):,g}"
        banner = "The pot is split" if not won else f"{sitting.row.agent} {words}"
        if won > 0:
            banner = f"You win {won:,g}"
    bets = sum(player.bet for player in players)
    pair = (players[0], players[1])
    return Felt(pair, hand.board, state.pot - bets, rules.big_blind, banner, won)


def _last_words(state: State) -> dict[int, str]:
    """What each position did last in the round that is played, or in the last of a hand that is over."""
    said = {0: "", 1: ""}
    replay = State.start(state.rules)
    for number, street in enumerate(state.history):
        for action in street:
            assert replay.to_act is not None
            if number == state.round:
                said[replay.to_act] = action_words(replay, action)
            replay = replay.apply(action)
    return said


class TableView:
    """One browser's view of a sitting."""

    def __init__(
        self, house: House, sitting: Sitting, visitor: str, offers: dict[str, tuple[Any, ...]]
    ) -> None:
        self.house, self.sitting, self.visitor, self.offers = house, sitting, visitor, offers
        self._amount = 0
        self._quiet = False
        with ui.element("div").classes("table-page"):
            with ui.element("div").classes("table-main"):
                self.felt = ui.html("", sanitize=False).classes("felt-box")
                self.trouble = ui.label("").classes("panel bad").props('role="alert"')
                self.controls = ui.element("div")
                self._make_controls()
            with ui.element("div").classes("side"):
                self._make_side()
        ui.keyboard(on_key=self._key, ignore=["input", "select", "textarea"])
        self._drawn = ""
        sitting.watchers.append(self.redraw)
        ui.context.client.on_delete(self._leave)
        self.redraw()

    def _leave(self) -> None:
        if self.redraw in self.sitting.watchers:
            self.sitting.watchers.remove(self.redraw)

    # -------------------------------------------------------------------------------- the controls

    def _make_controls(self) -> None:
        with self.controls:
            with ui.element("div").classes("actions") as self.actions:
                self.fold = self._button("Fold", "fold", "F", lambda: self.send(FOLD))
                self.call = self._button("Check", "call", "C", lambda: self.send(CALL))
                with ui.element("div").classes("raise") as self.raising:
                    self.slider = ui.slider(min=0, max=_STEPS, step=1, value=0)
                    self.slider.props('color=accent aria-label="Bet size"').classes("bet-slider")
                    self.slider.on_value_change(self._slid)
                    self.amount = Field("Amount").props("outlined dense inputmode=numeric")
                    self.amount.props('aria-label="Amount"').classes("bet-amount")
                    self.amount.on_value_change(self._typed)
                    self.amount.on("keydown.enter", self.bet)
                    self.bet_button = self._button("Bet", "bet-now", "R", self.bet)
                with ui.element("div").classes("sizes") as self.sizes:
                    self.size_buttons = []
                    for number, (name, _) in enumerate(SIZES, start=1):
                        button = ui.button(
                            name, on_click=lambda _, n=number: self.size(n), color=None
                        )
                        button.props(f"no-caps flat data-size={number}").classes("size")
                        self.size_buttons.append(button)
            self.hint = ui.label("").classes("small bad").props('role="alert"')
            with ui.element("div").classes("actions") as self.after:
                self._button("Next hand", "next", "N", self.next_hand)
            self.waiting = ui.label("").classes("waiting")

    @staticmethod
    def _button(text: str, kind: str, key: str, click: Any) -> ui.button:
        button = (
            ui.button(text, on_click=click, color=None)
            .props("no-caps unelevated")
            .classes(f"act {kind}")
        )
        with button:
            ui.html(f"<kbd>{key}</kbd>", sanitize=False, tag="span")
        return button

    def redraw(self) -> None:
        """Show where the table stands."""
        sitting, state = self.sitting, self.sitting.hand.state
        drawn = felt_of(sitting).html()
        if drawn != self._drawn:
            self._drawn = drawn
            self.felt.set_content(drawn)
        self.trouble.set_visibility(bool(sitting.trouble))
        self.trouble.set_text(sitting.trouble)
        mine = sitting.my_turn
        self.actions.set_visibility(mine)
        self.after.set_visibility(sitting.over)
        self.waiting.set_visibility(not mine and not sitting.over)
        self.waiting.set_text(f"{sitting.row.agent} is thinking …")
        if mine and getattr(self, "_offered", "") != sitting.stamp:
            self._offer(state)
        self._offered = sitting.stamp
        self._draw_side()

    def _offer(self, state: State) -> None:
        """Offer what is legal, the smallest raise to begin with."""
        legal = state.legal()
        self.fold.set_visibility(legal.fold)
        self.call.set_text(f"Call {state.to_call:,}" if legal.fold else "Check")
        can = bool(legal.raise_min)
        limit = state.rules.limit
        self.raising.set_visibility(can)
        self.slider.set_visibility(can and not limit)
        self.amount.set_visibility(can and not limit)
        self.sizes.set_visibility(can and not limit)
        if not can:
            return
        for button, action in zip(self.size_buttons, self._sized(state), strict=True):
            button.set_enabled(action is not None)
        self._set_amount(legal.raise_min - state.round_start)

    def _sized(self, state: State) -> list[Action | None]:
        """What the keys 1 to 5 would bet: the shares of the pot that the rules allow."""
        found: list[Action | None] = []
        for menu in _MENUS:
            raises = [action for action in menu.actions(state) if action.kind == Kind.RAISE]
            found.append(raises[0] if raises else None)
        return found

    # -------------------------------------------------------------------------------- amounts

    def _bounds(self) -> tuple[int, int]:
        state = self.sitting.hand.state
        legal, start = state.legal(), state.round_start
        return legal.raise_min - start, legal.raise_max - start

    def _set_amount(self, amount: int, but: str = "") -> None:
        """The amount everywhere, except where it was just given."""
        self._quiet = True
        least, most = self._bounds()
        self._amount = amount
        if but != "slider":
            share = log(amount / least) / log(most / least) if most > least else 0.0
            self.slider.set_value(round(_STEPS * share))
        if but != "text":
            self.amount.set_value(str(amount))
        self._quiet = False
        self._check(raise_to(amount + self.sitting.hand.state.round_start))

    def _check(self, answer: Action | str) -> None:
        """Only a legal amount can be sent; for another a sentence says what would be."""
        state = self.sitting.hand.state
        right = isinstance(answer, Action) and state.can(answer)
        self.bet_button.set_enabled(right)
        self.hint.set_text("" if right or not isinstance(answer, str) else answer)
        if isinstance(answer, Action) and right:
            # "raises to 300" is what others are told, "Raise to 300" what is offered.
            verb, _, rest = action_words(state, answer).partition(" ")
            self.bet_button.set_text(f"{verb[:-1].capitalize()} {rest}")

    def _slid(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self._quiet or not self.sitting.my_turn:
            return
        least, most = self._bounds()
        if not least:
            return
        share = min(max(float(event.value or 0) / _STEPS, 0.0), 1.0)
        amount = round(exp(log(least) + share * (log(most) - log(least))))
        step = self.sitting.rules.big_blind // 4 or 1
        if least < amount < most:
            amount = min(max(round(amount / step) * step, least), most)
        self._set_amount(amount, but="slider")

    def _typed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self._quiet or not self.sitting.my_turn:
            return
        state = self.sitting.hand.state
        answer = read_answer(state, f"r {str(event.value or '')[:40]}")
        if isinstance(answer, Action) and answer.kind == Kind.RAISE:
            self._set_amount(answer.amount - state.round_start, but="text")
        else:
            self._check(answer if isinstance(answer, str) else "give an amount in chips")

    def size(self, number: int) -> None:
        """Take a share of the pot."""
        state = self.sitting.hand.state
        if not self.sitting.my_turn or state.rules.limit:
            return
        action = self._sized(state)[number - 1]
        if action is not None:
            self._set_amount(action.amount - state.round_start)

    # -------------------------------------------------------------------------------- what is sent

    def send(self, action: Action) -> None:
        """The person acts, if the rules allow it now."""
        state = self.sitting.hand.state
        if self.sitting.my_turn and state.can(action):
            with told():
                self.sitting.act(action, self._offered)

    def bet(self) -> None:
        """Bet or raise what is shown, if it is legal."""
        state = self.sitting.hand.state
        if not self.sitting.my_turn or not state.legal().raise_min:
            return
        if state.rules.limit:
            self.send(raise_to(state.legal().raise_min))
            return
        answer = read_answer(state, f"r {str(self.amount.value or '')[:40]}")
        if isinstance(answer, Action):
            self.send(answer)
        else:
            self._check(answer)

    def next_hand(self) -> None:
        """Deal."""
        self.sitting.deal()

    def _key(self, event: events.KeyEventArguments) -> None:
        if (
            not event.action.keydown
            or event.action.repeat
            or event.modifiers.ctrl
            or event.modifiers.alt
        ):
            return
        key = str(event.key.name).lower()
        if self.sitting.over:
            if key in ("n", " ", "enter"):
                self.next_hand()
        elif key == "f":
            self.send(FOLD)
        elif key == "c":
            self.send(CALL)
        elif key == "r":
            self.bet()
        elif key in ("1", "2", "3", "4", "5"):
            self.size(int(key))

    # -------------------------------------------------------------------------------- the side

    def _make_side(self) -> None:
        sitting = self.sitting
        with ui.element("section").classes("panel").props('aria-label="Score"'):
            self.score = ui.html("", sanitize=False)
            with ui.element("div").classes("line"):
                self.replay = ui.link("Replay the last hand", "/").classes("small")
                ui.link("All sessions", "/sessions").classes("small")
        with ui.element("section").classes("panel").props('aria-label="Hand"'):
            self.log = ui.html("", sanitize=False)
        with ui.element("section").classes("panel").props('aria-label="New session"'):
            ui.html("New session", tag="h2", sanitize=False)
            self.player = Field("Your name", value=sitting.row.player)
            self.player.props("outlined dense maxlength=60").classes("player-name")
            self.game = ui.select(GAME_NAMES, value=sitting.row.game, label="Game")
            self.game.props("outlined dense options-dense").on_value_change(self._game_changed)
            self.agent = ui.select({}, label="Opponent").props("outlined dense options-dense")
            self.about = ui.label("").classes("small muted")
            self.agent.on_value_change(self._agent_changed)
            self._game_changed(None)
            if sitting.row.agent in self.agent.options:
                self.agent.set_value(sitting.row.agent)
            ui.button("Sit down", on_click=self._sit).props("no-caps unelevated color=primary")

    def _game_changed(self, _: object) -> None:
        here = {offer.name: offer.name for offer in self.offers[str(self.game.value)]}
        self.agent.set_options(here, value=next(iter(here)))

    def _agent_changed(self, _: object) -> None:
        for offer in self.offers[str(self.game.value)]:
            if offer.name == self.agent.value:
                self.about.set_text(
                    f"{offer.description}; a decision takes {offer.cost or 'no time'}"
                )

    async def _sit(self) -> None:
        sittings: Sittings = self.house.shared["sittings"]
        try:
            sitting = await sittings.sit(
                self.visitor,
                str(self.player.value or ""),
                str(self.agent.value or ""),
                str(self.game.value or ""),
            )
        except EquipoiseError as error:
            complain(str(error))
            return
        ui.navigate.to(f"/?session={sitting.row.id}")

    def _draw_side(self) -> None:
        sitting, now = self.sitting, self.sitting.score
        without = (
            f"<dt>without luck (AIVAT)</dt><dd>{rate(now.aivat)}</dd>" if now.aivat.count else ""
        )
        mood = "good" if now.chips > 0 else "bad" if now.chips < 0 else ""
        self.score.set_content(
            f'<div class="spread"><h2>Score</h2><span class="muted small">{now.hands} '
            f"hand{'s' * (now.hands != 1)}</span></div>"
            f'<div class="big {mood}">{now.chips:+,g} chips</div><dl class="figures">'
            f"<dt>win rate</dt><dd>{rate(now.raw)}</dd>"
            f"<dt>all-ins by equity</dt><dd>{rate(now.equity)}</dd>{without}</dl>"
        )
        last = next((row for row in reversed(sitting.past)), None)
        self.replay.set_visibility(last is not None)
        if last is not None:
            self.replay.props(f'href="/hand/{sitting.row.id}/{last.number}"')
        self.log.set_content(self._log())

    def _log(self) -> str:
        sitting, state = self.sitting, self.sitting.hand.state
        names = {sitting.me: "you", 1 - sitting.me: sitting.row.agent}
        parts = [
            f'<div class="spread"><h2>Hand {sitting.hand.number + 1}</h2>'
            f'<span class="muted small">{GAME_NAMES[sitting.row.game]}</span></div><div class="log">'
        ]
        replay = State.start(state.rules)
        for number, street in enumerate(state.history):
            board = sitting.hand.deal.boards[number]
            new = board[len(sitting.hand.deal.boards[number - 1]) :] if number else ()
            parts.append(
                f'<span class="street">{STREETS[number]} <span class="cards">{cards(new)}</span></span>'
            )
            for action in street:
                assert replay.to_act is not None
                parts.append(f"<span>{names[replay.to_act]}: {action_words(replay, action)}</span>")
                replay = replay.apply(action)
        return "".join((*parts, "</div>"))

"""`/hand/SESSION/NUMBER`: a hand again, step by step, with what the bot could hold and would play.

At every decision of the bot its range there and its strategy are shown, from its own policy; at every
decision of the person after the flop what an exact solve says of it (:mod:`equipoise.arena.measures.review`).
Both are computed by a job of the lane `long`, once, and kept with the hand.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

import numpy as np
from nicegui import ui

from equipoise.agents.human import action_words
from equipoise.agents.registry import AgentSpec
from equipoise.arena.measures.review import review_hands
from equipoise.arena.record import HandRecord
from equipoise.cards import chart
from equipoise.cards.combos import hand_number
from equipoise.cards.range import Range
from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError
from equipoise.games.belief import Belief
from equipoise.games.notation.labels import action_label
from equipoise.games.policy import PublicState
from equipoise.games.rules import UNLIMITED, State
from equipoise.run import Listener, Stop
from equipoise.web.jobs import Job
from equipoise.web.seat import position_of
from equipoise.web.shell import House, frame
from equipoise.web.sitting import Sittings, record_of
from equipoise.web.store import SessionRow
from equipoise.web.widgets import Felt, Player

#: Seconds that a flop may take here.
FLOP_SECONDS = 60.0


def look_back(
    listener: Listener, stop: Stop, record: HandRecord, me: int, agent: str, seed: int
) -> str:
    """The bot's ranges and strategies, and the person's decisions graded: JSON, by step."""
    found = review_hands(
        [record], record.players[me], flop_seconds=FLOP_SECONDS, progress=listener, stop=stop
    )
    graded = {one.betting: one._asdict() for one in found.decisions}
    return json.dumps({"bot": _bot_steps(record, me, agent, seed), "mine": graded})


def _bot_steps(record: HandRecord, me: int, agent: str, seed: int) -> dict[str, Any]:
    """At every decision of the bot, by the betting before it: its chart, its mix, its real hand's."""
    bot = AgentSpec.read(agent).make(record.rules)
    bot.reset(2 * seed + 1)
    if bot.learns:
        return {}
    belief, state, seen = Belief.start(record.rules), State.start(record.rules), 0
    hole = record.holes[1 - me]
    steps: dict[str, Any] = {}
    assert hole is not None
    bot.begin(record.number, 1 - me)
    for street, actions in enumerate(record.state.history):
        seen += record.rules.board_cards[street]
        board = record.board[:seen]
        belief = belief.see(board)
        for action in actions:
            if state.to_act == 1 - me:
                policy = bot.policy(PublicState(state, board, record.number))
                if policy is None:
                    return steps
                labels = [action_label(state, option) for option in policy.actions]
                branches = belief.branches(policy)
                top = max(float(belief.weights.max()), 1e-12)
                charts = [
                    Range(np.clip(column / top, 0, 1)).to_matrix().tolist() for column in branches.T
                ]
                steps[state.betting_text()] = {
                    "actions": labels,
                    "shares": (branches.sum(axis=0) / max(branches.sum(), 1e-12)).tolist(),
                    "held": policy.probabilities[hand_number(hole)].tolist(),
                    "chart": charts,
                    "combos": float(belief.weights.sum() / top),
                }
                belief = belief.act(policy, action, never="ignore")
            state = state.apply(action)
    return steps


def register(house: House) -> None:
    """Define the page."""
    sittings: Sittings = house.shared["sittings"]

    @ui.page("/hand/{session}/{number}")
    def replay(session: str, number: int) -> None:
        with frame(house, "Replay", wide=True) as visitor:
            try:
                row = sittings.row_of(visitor, session)
                hand = house.store.hand(row.id, number)
                if hand is None or hand.payoff is None:
                    raise EquipoiseError("this hand is not over: play it to its end first")
            except EquipoiseError as error:
                ui.label(str(error)).classes("panel")
                ui.link("Back to the table", "/")
                return
            _Replay(house, row, number, record_of(row, hand), hand.review)


class _Replay:
    """One browser's look at a finished hand."""

    def __init__(
        self, house: House, row: SessionRow, number: int, record: HandRecord, known: str | None
    ) -> None:
        self.house, self.row, self.number, self.record = house, row, number, record
        self.me = position_of(row.seat, number)
        self.states = [State.start(record.rules)]
        for street in record.state.history:
            for action in street:
                self.states.append(self.states[-1].apply(action))
        self.actions = [action for street in record.state.history for action in street]
        self.step = 0
        self.found: dict[str, Any] | None = json.loads(known) if known else None
        self.job: Job | None = None
        with ui.element("div").classes("table-page"):
            with ui.element("div").classes("table-main"):
                self.felt = ui.html("", sanitize=False)
                with ui.element("div").classes("line"):
                    for text, move in (("Start", -99), ("◀ Back", -1), ("Step ▶", 1), ("End", 99)):
                        button = ui.button(text, on_click=lambda _, m=move: self.go(m), color=None)
                        button.props("no-caps unelevated").classes("size step")
                    self.place = ui.label("").classes("muted num")
                self.bot = ui.html("", sanitize=False)
            with ui.element("div").classes("side"):
                with ui.element("section").classes("panel"):
                    self.told = ui.html("", sanitize=False)
                with ui.element("section").classes("panel"):
                    ui.html("Your decisions", tag="h2", sanitize=False)
                    self.mine = ui.html("", sanitize=False)
                    self.cancel = ui.button("Stop", on_click=self._stop, color=None)
                    self.cancel.props("no-caps flat dense").classes("size")
                ui.html(
                    f'<a href="/session/{row.id}">All hands of the session</a>', sanitize=False
                ).classes("small")
        ui.keyboard(on_key=self._key)
        if self.found is None:
            self.job = house.jobs.submit(
                "long", look_back, record, self.me, row.agent, row.seed,
                label=f"hand {number + 1}", key=f"review {row.id} {number}",
            )  # fmt: skip
            self.timer = ui.timer(0.5, self._look)
        self.draw()

    def _stop(self) -> None:
        if self.job is not None:
            self.job.cancel()

    def _look(self) -> None:
        """Whether the job is done."""
        job = self.job
        assert job is not None
        if job.over:
            self.timer.deactivate()
            if job.state == "done":
                self.house.store.set_review(self.row.id, self.number, job.result)
                self.found = json.loads(job.result)
        self.draw()

    def _key(self, event: Any) -> None:
        if event.action.keydown and event.key.arrow_right:
            self.go(1)
        elif event.action.keydown and event.key.arrow_left:
            self.go(-1)

    def go(self, steps: int) -> None:
        """Forwards or back."""
        self.step = min(max(self.step + steps, 0), len(self.states) - 1)
        self.draw()

    def draw(self) -> None:
        """The hand at this step."""
        state = self.states[self.step]
        self.felt.set_content(self._felt(state).html())
        self.place.set_text(f"step {self.step} of {len(self.states) - 1}")
        words = "the hand begins"
        if self.step:
            before = self.states[self.step - 1]
            who = "you" if before.to_act == self.me else self.row.agent
            words = f"{who} {action_words(before, self.actions[self.step - 1])}"
        self.told.set_content(
            f'<h2>Hand {self.number + 1}</h2><div class="muted">{STREETS[state.round]}</div>'
            f"<div>{escape(words)}</div>"
        )
        self.cancel.set_visibility(self.job is not None and not self.job.over)
        self.bot.set_content(self._bot(state))
        self.mine.set_content(self._mine())

    def _felt(self, state: State) -> Felt:
        record, rules = self.record, self.record.rules
        board = record.board[: sum(rules.board_cards[: state.round + state.rounds_to_deal + 1])]
        players = [
            Player(
                name=record.players[position],
                cards=record.holes[position] or (),
                stack=None
                if rules.stacks[position] == UNLIMITED
                else rules.stacks[position] - state.committed[position],
                bet=0 if state.is_over else state.committed[position] - state.round_start,
                button=position == 1,
                to_act=state.to_act == position,
                folded=state.folded == position,
            )
            for position in (1 - self.me, self.me)
        ]
        bets = sum(player.bet for player in players)
        return Felt((players[0], players[1]), board, state.pot - bets, rules.big_blind)

    def _bot(self, state: State) -> str:
        """The bot's range and strategy where it is to act."""
        if self.found is None or state.to_act != 1 - self.me:
            return ""
        step = self.found["bot"].get(state.betting_text())
        if step is None:
            return '<div class="panel muted">This agent tells no policy.</div>'
        matrices = np.array(step["chart"]).transpose(1, 2, 0)
        drawn = chart.svg(matrices, actions=step["actions"], title="")
        rows = "".join(
            f'<tr><td>{escape(name)}</td><td class="num">{share:.1%}</td>'
            f'<td class="num">{held:.1%}</td></tr>'
            for name, share, held in zip(step["actions"], step["shares"], step["held"], strict=True)
        )
        return (
            f'<div class="panel"><h2>What {escape(self.row.agent)} plays here</h2>'
            f'<div class="range-row"><div class="range">{drawn}</div><table class="plain"><tr>'
            '<th>action</th><th class="num">range</th><th class="num">this hand</th></tr>'
            f'{rows}<tr><td class="muted" colspan="3">{step["combos"]:.0f} of 1,326 hands</td></tr>'
            "</table></div></div>"
        )

    def _mine(self) -> str:
        """What the solves say."""
        if self.found is None:
            job = self.job
            if job is not None and job.over:
                return f'<p class="bad">{escape(job.error or "stopped")}</p>'
            told = job.event.what if job is not None and job.event else "waiting for a free worker"
            return f'<p class="muted">solving … {escape(told)}</p><progress class="bar"></progress>'
        rows = []
        for one in sorted(self.found["mine"].values(), key=lambda d: len(d["betting"])):
            if one["ev_lost_bb"] is None:
                verdict = f'<span class="muted">{escape(one["ungraded"])}</span>'
            elif one["ev_lost_bb"] < 0.01:
                verdict = '<b class="good">nothing lost</b>'
            else:
                verdict = (
                    f'<b class="bad">{one["ev_lost_bb"]:.2f} bb lost</b>, better: '
                    f"{escape(one['best'])}"
                )
            rows.append(
                f'<li><span class="muted">{one["street"]}</span> {escape(one["played"])}: '
                f"{verdict}</li>"
            )
        if not rows:
            return '<p class="muted">You had no decision after the flop.</p>'
        return (
            f'<ul class="verdicts">{"".join(rows)}</ul><p class="small muted">Solved with real '
            "cards and bets; ranges are what the bots' policies come with.</p>"
        )

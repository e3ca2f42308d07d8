"""A person at a table, without a browser: what is kept, what is found again, what is told."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from equipoise.arena.histories.history import History
from equipoise.errors import EquipoiseError
from equipoise.games.rules import CALL, FOLD, raise_to
from equipoise.web import seat
from equipoise.web.jobs import Jobs
from equipoise.web.shell import House
from equipoise.web.sitting import Sitting, log_text, read_name, record_of, score
from equipoise.web.store import HandRow, Store


class Here(Jobs):
    """Jobs that are done at once, in this process."""

    def __init__(self):
        super().__init__({})

    def submit(self, lane, work, *args, label="", key=""):
        class Done:
            async def answer(self):
                return work(lambda event: None, None, *args)

        return Done()


@pytest.fixture
def house(tmp_path):
    seat._seats.clear()
    store = Store(tmp_path / "web.sqlite")
    yield House(store, Here())
    store.close()


async def until(sitting, holds):
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError(f"still at {sitting.stamp}")


async def to_me(sitting):
    await until(sitting, lambda: sitting.my_turn or sitting.over)


async def play(sitting, hands, choose):
    """Play some hands; `choose(state, count)` says what the person does."""
    for hand in range(hands):
        await to_me(sitting)
        count = 0
        while not sitting.over:
            sitting.act(choose(sitting.hand.state, count), sitting.stamp)
            count += 1
            await to_me(sitting)
        await until(sitting, lambda: sitting.past[-1].equity is not None)
        if hand < hands - 1:
            sitting.deal()


def choose(state, count):
    if count == 0 and state.legal().raise_min:
        return raise_to(state.legal().raise_min)
    return CALL


@pytest.mark.parametrize(("agent", "game"), [("odd-sizes", "nolimit 100"), ("bucket", "limit")])
def test_a_session_is_a_match_log_that_verifies(house, tmp_path, agent, game):
    row = house.store.begin_session(
        "v" * 32, "Ann", agent, game, seed=11, seat=int(game == "limit")
    )

    async def go():
        await play(Sitting(house, row), 4, choose)

    asyncio.run(go())
    hands = house.store.hands(row.id)
    assert [hand.number for hand in hands] == [0, 1, 2, 3]
    log = tmp_path / "session.log"
    log.write_text(log_text(row, hands))
    problems = []
    history = History.open(log)
    assert history.verify(problems.append) == 4, problems
    assert not problems
    for hand, read in zip(hands, history.hands(), strict=True):
        record = record_of(row, hand)
        assert record.payoffs == read.payoffs
        assert record.payoffs[record.players.index("Ann")] == hand.payoff
    figures = score(seat.GAMES[game], hands)
    assert figures.hands == 4
    assert figures.chips == sum(hand.payoff for hand in hands)
    if agent == "bucket":
        assert figures.aivat.count == 4


def test_a_restart_in_mid_hand_loses_nothing_and_the_agent_answers_the_same(house):
    """Every prefix of a session, taken up by a server that knows nothing, ends alike."""
    rows = [house.store.begin_session("v" * 32, "Ann", "bayes", "limit", seed=5) for _ in range(2)]

    async def straight():
        await play(Sitting(house, rows[0]), 3, choose)

    async def broken():
        count = 0
        while True:
            seat._seats.clear()
            sitting = Sitting(house, rows[1])
            await to_me(sitting)
            if sitting.over:
                await until(sitting, lambda s=sitting: s.past[-1].equity is not None)
                if sitting.hand.number == 2:
                    return
                sitting.deal()
                count = 0
                continue
            sitting.act(choose(sitting.hand.state, count), sitting.stamp)
            # The server goes before the agent has answered.
            for task in sitting._tasks:
                task.cancel()
            count += 1

    asyncio.run(straight())
    asyncio.run(broken())
    assert house.store.hands(rows[0].id) == house.store.hands(rows[1].id)


def test_late_and_illegal_clicks_change_nothing(house):
    row = house.store.begin_session("v" * 32, "Ann", "call", "nolimit 200", seed=3)

    async def go():
        sitting = Sitting(house, row)
        await to_me(sitting)
        stamp = sitting.stamp
        with pytest.raises(EquipoiseError):
            sitting.act(raise_to(10**9), stamp)
        sitting.act(CALL, "0 elsewhere")
        assert sitting.stamp == stamp
        sitting.deal()
        assert sitting.stamp == stamp
        sitting.act(raise_to(500), stamp)
        sitting.act(FOLD, stamp)
        await to_me(sitting)
        assert sitting.hand.state.folded is None
        assert sitting.hand.state.committed == (500, 500)

    asyncio.run(go())


def test_an_agent_that_fails_gives_up_and_says_why(house, monkeypatch):
    row = house.store.begin_session("v" * 32, "Ann", "call", "nolimit 200", seed=3)

    def broken(self, view):
        raise RuntimeError("no idea")

    monkeypatch.setattr("equipoise.agents.simple.CallAgent.act", broken)

    async def go():
        sitting = Sitting(house, row)
        await to_me(sitting)
        assert "no idea" in sitting.trouble
        assert not sitting.hand.state.folded_free

    asyncio.run(go())


def test_both_sides_of_a_room_get_the_same_cards_mirrored(house):
    rows = [
        house.store.begin_session(c * 32, c, "call", "limit", seed=9, seat=s)
        for s, c in enumerate("ab")
    ]

    async def go():
        return [Sitting(house, row) for row in rows]

    one, two = asyncio.run(go())
    assert one.hand.deal == two.hand.deal
    assert one.me == 1 - two.me


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a:b", "x" * 25, "a|b", "\x00"])
def test_names_that_logs_or_pages_could_not_hold_are_refused(name):
    with pytest.raises(EquipoiseError):
        read_name(name)
    assert read_name("Zoë 🂡") == "Zoë-🂡"


def test_scores_state_their_unit():
    rules = seat.GAMES["nolimit 200"]
    rows = [HandRow(n, "", won, won / 2, None, None) for n, won in enumerate((100.0, -300.0))]
    found = score(rules, rows)
    assert found.raw.mean == -100.0  # big blinds in 100 hands
    assert found.equity.mean == -50.0
    assert found.aivat.count == 0
    assert all(a <= b for a, b in pairwise((found.raw.half_width, 1e9)))

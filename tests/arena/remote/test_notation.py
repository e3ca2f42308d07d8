"""The wire: betting both ways on random hands, and answers as a public server really gave them."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.agents.registry import AgentSpec, make_agent
from equipoise.arena.remote.house import House
from equipoise.arena.remote.notation import (
    RULES,
    answer,
    betting_text,
    cards_text,
    increment_text,
    read_answer,
    read_betting,
    read_cards,
    read_increment,
)
from equipoise.errors import EquipoiseError, IllegalActionError, ProtocolError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import Hand
from equipoise.games.rules import State

#: Answers in the form that a public server gave, from published exchanges.
RECORDED = (
    {"old_action": "", "action": "b200", "client_pos": 0, "hole_cards": ["Ac", "9d"], "board": [],
     "token": "a2f42f44-7ff6-40dd-906b-4c2f03fcee57"},
    {"old_action": "b200", "action": "b200c/", "client_pos": 0, "hole_cards": ["As", "7s"],
     "board": ["8h", "6d", "2s"]},
    {"old_action": "b200c/kk/kb200c/", "action": "b200c/kk/kb200c/kk", "client_pos": 0,
     "hole_cards": ["Ad", "9s"], "board": ["Kc", "4c", "3s", "2s", "2d"],
     "bot_hole_cards": ["As", "Ts"], "winnings": -400, "won_pot": -800, "session_num_hands": 1,
     "session_total": -400},
    {"action": "b200c/kb200f", "client_pos": 0, "hole_cards": ["Kd", "2h"],
     "board": ["Th", "9s", "4s"], "bot_hole_cards": ["Kh", "7h"], "winnings": -200, "won_pot": -600,
     "session_num_hands": 19, "baseline_winnings": 0, "session_total": 8850,
     "session_baseline_total": 4450},
    {"action": "b250b750f", "client_pos": 1, "hole_cards": ["Ts", "7d"], "board": [],
     "bot_hole_cards": ["4d", "4c"], "winnings": -250, "won_pot": -1000, "session_num_hands": 18,
     "baseline_winnings": -650, "session_total": 9050, "session_baseline_total": 4450},
)  # fmt: skip


@pytest.mark.parametrize("told", RECORDED)
def test_recorded_answers_are_understood_and_would_be_given_alike(told):
    read = read_answer(told)
    assert betting_text(read.state) == told["action"]
    if read.winnings is None:
        assert read.state.to_act == read.position
        return
    holes = (read.hole, read.opponent) if read.position == 0 else (read.opponent, read.hole)
    deal = SeededDeals(RULES, 1).deal(0)._replace(holes=holes, winner=1 - read.position)
    ours = answer(Hand(read.state, deal, 0), read.position, "", "")
    for key in ("action", "winnings", "won_pot", "hole_cards", "bot_hole_cards"):
        assert ours[key] == told[key]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_betting_and_increments_survive_the_wire(seed):
    draws, agent = Random(seed), make_agent("odd-sizes")
    agent.random.seed(seed)
    hand = Hand(State.start(RULES), SeededDeals(RULES, seed % 7).deal(seed % 50), 0)
    while hand.state.to_act is not None:
        action = agent.act(hand.view())
        word = increment_text(hand.state, action)
        assert read_increment(hand.state, word) == action
        hand.play(action)
        assert read_betting(betting_text(hand.state)) == hand.state
    told = answer(hand, draws.randrange(2), "", "token")
    assert read_answer(told).winnings == told["winnings"]
    assert read_cards(cards_text(hand)) == hand.deal


@pytest.mark.parametrize(
    ("betting", "word"),
    [
        ("", "k"), ("c", "c"), ("c", "f"), ("b200", "k"), ("b200", "b250"), ("b20000", "b20001"),
        ("", "b"), ("", ""), ("", "b-5"), ("", "b1e3"), ("", "call"), ("", "b٣٠٠"), ("", "b" + "9" * 5000),
        ("b200c/", "b50"), ("b20000c///", "k"), ("b200f", "f"),
    ],
)  # fmt: skip
def test_what_is_illegal_is_refused(betting, word):
    with pytest.raises(IllegalActionError):
        read_increment(read_betting(betting), word)


@pytest.mark.parametrize(
    "change",
    [
        {"action": "b200cb"}, {"action": None}, {"action": "kk"}, {"client_pos": 2}, {"board": ["Xx"]},
        {"hole_cards": ["As"]}, {"hole_cards": ["As", "As"]}, {"board": "8h6d2s"}, {"winnings": 5},
        {"action": "b200"}, {"error_msg": "no"}, {"session_total": "lots"}, {"board": ["8h", "6d"]},
        {"hole_cards": ["As", 7]},
    ],
)  # fmt: skip
def test_a_wrong_answer_is_one_sentence(change):
    with pytest.raises(ProtocolError):
        read_answer(RECORDED[1] | change)


@pytest.mark.parametrize("name", ["quick", "random"])
def test_a_copy_that_remembers_nothing_plays_on_as_the_one_that_does(name):
    one = House(AgentSpec.read(name))
    draws = Random(3)
    for number in range(40):
        deal = SeededDeals(RULES, 5).deal(number)
        hand = Hand(State.start(RULES), deal, number)
        client = number % 2
        while hand.state.to_act is not None:
            # A house that is new at every request.
            late = Hand(hand.state, deal, number)
            House(AgentSpec.read(name)).seat(1).play(late, 1 - client, 5)
            told = one.seat(1).play(hand, 1 - client, 5)
            assert not told.faults
            assert late.state == hand.state
            if hand.state.to_act is not None:
                legal = hand.state.legal()
                words = ["c" if legal.fold else "k"] + ["f"] * legal.fold
                if legal.raise_min:
                    words.append(f"b{legal.raise_min - hand.state.round_start}")
                hand.play(read_increment(hand.state, draws.choice(words)))


def test_who_learns_is_not_served():
    learner = AgentSpec.read("program")
    settings = {"command": ("true",)}
    with pytest.raises(EquipoiseError, match="learns"):
        House(AgentSpec(learner.entry, settings, "learner"))

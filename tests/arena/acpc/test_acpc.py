"""ACPC lines: both ways, incrementally as in one go, and never more than a sentence on garbage."""

import contextlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equipoise.arena.acpc import protocol as acpc
from equipoise.arena.acpc import table
from equipoise.arena.acpc.deck import DealerDeck
from equipoise.arena.acpc.protocol import (
    Follower,
    MatchState,
    answer_text,
    hand_line,
    read_answer,
    read_state_line,
)
from equipoise.arena.record import board_cards
from equipoise.errors import EquipoiseError, HistoryError, IllegalActionError, ProtocolError
from equipoise.games.dealing import winner
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    State,
    nolimit,
    raise_to,
)

DATA = Path(__file__).parents[1] / "data"
LOGS = [
    ("dealer_limit.log", LIMIT_HOLDEM, 30),
    ("dealer_nolimit.log", NOLIMIT_HOLDEM, 30),
    ("deepstack.acpc", NOLIMIT_HOLDEM, 40),
]


@pytest.mark.parametrize(("file", "rules", "count"), LOGS)
def test_logged_hands_replay_and_write_back(file, rules, count):
    lines = [line for line in (DATA / file).read_text().splitlines() if line.startswith("STATE")]
    assert len(lines) == count
    for number, line in enumerate(lines, start=1):
        hand = read_state_line(rules, line, number)
        assert hand.faults() == []
        assert hand.payoffs == hand.stated
        assert hand_line(hand) == line


def random_play(rules, seed):
    """The states of one hand at random, from first to last."""
    random, state = Random(seed), State.start(rules)
    yield state
    while not state.is_over:
        legal = state.legal()
        options = [CALL] * 3 + [FOLD] * legal.fold
        if legal.raise_min:
            top = min(legal.raise_max, legal.raise_min + 500)
            options.append(raise_to(random.randint(legal.raise_min, top)))
        state = state.apply(random.choice(options))
        yield state


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([LIMIT_HOLDEM, NOLIMIT_HOLDEM, nolimit(350)]),
       st.integers(0, 1), st.randoms(use_true_random=False))  # fmt: skip
def test_following_lines_equals_reading_them_anew(seed, rules, position, random):
    deal = DealerDeck(seed, rules).deal()
    follower = Follower(rules)
    for state in random_play(rules, seed):
        holes = [deal.holes[0], deal.holes[1]]
        if not state.is_showdown:
            holes[1 - position] = ()
        told = MatchState(
            position, seed, state, tuple(holes), deal.boards[-1][: board_cards(state)]
        )
        # Some lines are missed: the next one says it all again.
        if random.random() < 0.7 or state.is_over:
            assert follower.read(told.line()) == told
            assert Follower(rules).read(told.line()) == told


@pytest.mark.parametrize("kept", [1, 5, 4096])
@pytest.mark.parametrize("rules", [LIMIT_HOLDEM, NOLIMIT_HOLDEM], ids=["limit", "nolimit"])
def test_what_is_kept_of_earlier_hands_changes_nothing(rules, kept, monkeypatch):
    """One reader and one table for many hands, against new ones for each and plain states."""
    monkeypatch.setattr(acpc, "_MOST_SEEN", kept)
    monkeypatch.setattr(table, "_MOST_SEEN", kept)
    deck, follower = DealerDeck(3, rules), Follower(rules)
    plain, ahead = table.DealerTable(rules, 3), table.DealerTable(rules, 3)
    score = [0.0, 0.0]
    for hand in range(60):
        deal = deck.deal()
        if hand:
            plain.next_hand()
            ahead.next_hand()
        for state in random_play(rules, hand % 17):
            if state.history != ((),):
                last = next(part for part in state.history[::-1] if part)[-1]
                plain.play(last)
                ahead.play(last)
            if hand % 3:
                ahead.look_ahead()
            assert plain.hand.state == ahead.hand.state == state
            board = deal.boards[-1][: board_cards(state)]
            for seat in (0, 1):
                position = (seat + hand) % 2
                holes = [deal.holes[0], deal.holes[1]]
                if not state.is_showdown:
                    holes[1 - position] = ()
                told = MatchState(position, hand, state, tuple(holes), board)
                assert plain.line(seat) == ahead.line(seat) == told.line()
                if seat == 0:
                    assert follower.read(told.line()) == told
        won = None if state.folded is not None else winner(*deal.holes, deal.boards[-1])
        for position, chips in enumerate(state.payoffs(won)):
            score[(position + hand) % 2] += chips
        assert plain.log_line() == ahead.log_line()
        assert plain.score == ahead.score == score
    with pytest.raises(IllegalActionError):
        ahead.play(CALL)


def test_a_limit_raise_of_a_wrong_size_is_refused_the_second_time_too():
    dealt = table.DealerTable(LIMIT_HOLDEM, 0)
    dealt.play(raise_to(20))
    dealt.play(FOLD)
    dealt.next_hand()
    with pytest.raises(IllegalActionError):
        dealt.play(raise_to(30))


@pytest.mark.parametrize(
    ("cards", "cure"),
    [
        ("5d5c|/8dAs5d", "5d appears twice"),
        ("5d5c|/8dAs8x", "'8x' is not a card"),
        ("5d5c|/8dAs", "parts of 3, 1, 1"),
        ("5d5c|/8dAs8", "'8' is not a card"),
        ("5d5c|/8dAs8s4h", "parts of 3, 1, 1"),
        ("5d5c|9hQd8s", "2 cards"),
        ("5d5c|:8dAs8s", "is not a card"),
    ],
)
def test_bad_cards_after_good_ones_are_one_sentence(cards, cure):
    follower = Follower(NOLIMIT_HOLDEM)
    follower.read("MATCHSTATE:0:0:c:5d5c|")
    with pytest.raises(ProtocolError, match=cure):
        follower.read(f"MATCHSTATE:0:0:cc/:{cards}")
    good = follower.read("MATCHSTATE:0:0:cc/:5d5c|/8dAs8s")
    assert good == Follower(NOLIMIT_HOLDEM).read("MATCHSTATE:0:0:cc/:5d5c|/8dAs8s")


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("MATCHSTATE:0:0:c", "a line is MATCHSTATE"),
        ("STATE:0:0::5d5c|", "a line is MATCHSTATE"),
        ("MATCHSTATE:2:0::5d5c|", "0 or 1"),
        ("MATCHSTATE:0:x::5d5c|", "whole number"),
        ("MATCHSTATE:0:²::5d5c|", "whole number"),
        ("MATCHSTATE:0:0:cc:5d5c|", "add '/'"),
        ("MATCHSTATE:0:0:c/:5d5c|", "no '/' belongs here"),
        ("MATCHSTATE:0:0:r150:5d5c|", "legal: fold, call or raise to 200-20000"),
        ("MATCHSTATE:0:0:z:5d5c|", "not an action"),
        ("MATCHSTATE:0:0::5d5c", "one '|'"),
        ("MATCHSTATE:0:0::5d5x|", "'5x' is not a card"),
        ("MATCHSTATE:0:0::5d|", "2 cards"),
        ("MATCHSTATE:0:0::5d5d|", "5d appears twice"),
        ("MATCHSTATE:0:0::|5d5c", "own cards are missing"),
        ("MATCHSTATE:0:0:cc/:5d5c|", "0 board cards, the betting has 3"),
        ("MATCHSTATE:0:0:cc/:5d5c|/2c3c", "parts of 3, 1, 1"),
        ("MATCHSTATE:0:0:r20000c///:5d5c|/2c3c4c/5h/6h", "showdown shows both"),
    ],
)
def test_a_bad_match_state_is_one_sentence(line, cure):
    with pytest.raises(ProtocolError, match=cure.replace("|", r"\|")):
        Follower(NOLIMIT_HOLDEM).read(line)


@pytest.mark.parametrize(
    ("line", "error", "cure"),
    [
        ("STATE:2:f:Ah8s|2h4c:50|-50", HistoryError, "STATE:hand:betting"),
        ("STATE:x:f:Ah8s|2h4c:50|-50:a|b", HistoryError, "whole number"),
        ("STATE:2:f:Ah8s|2h4c:50:a|b", HistoryError, "two numbers"),
        ("STATE:2:f:Ah8s|2h4c:50|-5e9:a|b", HistoryError, "two numbers"),
        ("STATE:2:f:Ah8s|2h4c:50|-50:a", HistoryError, "two names"),
        ("STATE:2:f:Ah8s|2h8s:50|-50:a|b", HistoryError, "8s appears twice"),
        ("STATE:2:r1f:Ah8s|2h4c:50|-50:a|b", IllegalActionError, "raise to 200-20000"),
    ],
)
def test_a_bad_log_line_names_its_line(line, error, cure):
    with pytest.raises(error, match=rf"^line 6: .*{cure}"):
        read_state_line(NOLIMIT_HOLDEM, line, 6)


def test_contradictions_are_faults():
    def faults(line):
        return read_state_line(NOLIMIT_HOLDEM, line).faults()

    assert "give 50|-50" in faults("STATE:2:f:Ah8s|2h4c:-50|50:a|b")[0]
    assert "3 board cards" in faults("STATE:2:f:Ah8s|2h4c/7c8c9c:50|-50:a|b")[0]
    assert "does not end" in faults("STATE:2:cr300:Ah8s|2h4c:50|-50:a|b")[0]


def test_answers_are_mended_as_the_dealer_does():
    start = State.start(NOLIMIT_HOLDEM)
    flop = State.from_betting_text(NOLIMIT_HOLDEM, "cc/")
    played = [("r1", "r200"), ("r999999", "r20000"), ("r", "c"), ("", "c"), ("x", "c"), ("f", "f"),
              ("c", "c"), ("r300", "r300"), ("r300 and more", "r300"), ("R300", "c")]  # fmt: skip
    for text, action in played:
        assert str(read_answer(start, text)[0]) == action
        assert read_answer(start, text)[1] == (text.split(" ")[0] == action)
    assert read_answer(flop, "f") == (CALL, False)
    capped = State.from_betting_text(LIMIT_HOLDEM, "rrr")
    assert read_answer(capped, "r") == (CALL, False)
    assert read_answer(State.start(LIMIT_HOLDEM), "r") == (raise_to(20), True)
    all_in = State.from_betting_text(NOLIMIT_HOLDEM, "r20000")
    assert read_answer(all_in, "r20000") == (CALL, False)


def test_limit_answers_carry_no_size():
    assert answer_text(State.start(LIMIT_HOLDEM), raise_to(20)) == "r"
    assert answer_text(State.start(NOLIMIT_HOLDEM), raise_to(300)) == "r300"


PIECES = st.sampled_from(
    ["MATCHSTATE", "STATE", ":", "0", "1", "c", "r300", "r", "/", "f", "|", "5d5c", "9hQd", "8dAs8s",
     "-50", "50|-50", "p1|p2", "", "²", "é", "\x00", "r9999999999999999999999"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(PIECES, max_size=24).map("".join), st.text(max_size=60)))
@example("MATCHSTATE:0:0:r20000c///:5d5c|9hQd/8dAs8s/4h/6d")
def test_garbage_is_refused_by_type(text):
    for read in (
        Follower(NOLIMIT_HOLDEM).read,
        Follower(LIMIT_HOLDEM).read,
        lambda line: read_state_line(NOLIMIT_HOLDEM, line, 1).faults(),
    ):
        with contextlib.suppress(EquipoiseError):
            read(text)
    for state in (State.start(NOLIMIT_HOLDEM), State.start(LIMIT_HOLDEM)):
        assert state.can(read_answer(state, text)[0])

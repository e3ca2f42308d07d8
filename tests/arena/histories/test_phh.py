"""PHH: real hands read and replayed, ours written and read by another library, garbage refused."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.arena.acpc.protocol import read_state_line
from equipoise.arena.histories.phh import read_hand, sections, write_hand, write_hands
from equipoise.errors import EquipoiseError, HistoryError, IllegalActionError
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM

DATA = Path(__file__).parents[1] / "data"
FIXTURE = list(sections((DATA / "headsup.phhs").read_text().splitlines(keepends=True)))

HAND = """variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [20000, 5000]
actions = ['d dh p1 AcJs', 'd dh p2 ????', {actions}]
players = ['ann', 'bob']
hand = 7
"""


def played(*actions: str):
    return read_hand(HAND.format(actions=", ".join(f"'{text}'" for text in actions)))


def real_hands():
    return (read_hand(section.text, section.line) for section in FIXTURE)


def test_real_hands_replay_and_conserve_chips():
    hands = list(real_hands())
    assert len(hands) == len(FIXTURE) == 20
    # In one of them a player folds who could check.
    assert sum(hand.state.folded_free for hand in hands) == 1
    for hand in hands:
        assert len(hand.faults()) == hand.state.folded_free
        assert hand.payoffs is not None
        assert sum(hand.payoffs) == 0
        assert all(
            -stack <= won for stack, won in zip(hand.rules.stacks, hand.payoffs, strict=True)
        )
    assert {hand.chips_per_unit for hand in hands} == {1, 100}
    assert any(hand.mucked for hand in hands)
    assert any(hand.state.rounds_to_deal for hand in hands)


def test_written_hands_read_back():
    hands = list(real_hands())
    text = "".join(write_hands(hands))
    again = [read_hand(part.text, part.line) for part in sections(text.splitlines(keepends=True))]
    for hand, copy in zip(hands, again, strict=True):
        assert copy.state.betting_text() == hand.state.betting_text()
        for name in ("number", "players", "holes", "board", "mucked", "payoffs"):
            assert getattr(copy, name) == getattr(hand, name)
        assert copy.notes["venue"] == hand.notes["venue"]


LOGS = [("dealer_limit.log", LIMIT_HOLDEM), ("deepstack.acpc", NOLIMIT_HOLDEM)]


@pytest.mark.parametrize(("file", "rules"), LOGS)
def test_logs_become_phh_and_come_back(file, rules):
    for line in (DATA / file).read_text().splitlines():
        if line.startswith("STATE"):
            hand = read_state_line(rules, line)
            copy = read_hand(write_hand(hand))
            assert copy.state.history == hand.state.history
            assert copy.payoffs == hand.stated
            assert copy.rules.stacks == rules.stacks


@pytest.mark.parametrize(("file", "rules"), LOGS)
def test_another_library_agrees_on_our_text(file, rules):
    pokerkit = pytest.importorskip("pokerkit")
    count = 0
    for line in (DATA / file).read_text().splitlines():
        if line.startswith("STATE"):
            hand = read_state_line(rules, line)
            history = pokerkit.HandHistory.loads(write_hand(hand))
            *_, state = history
            assert tuple(state.payoffs) == hand.payoffs
            count += 1
    assert count >= 30


def test_another_library_agrees_on_real_stakes():
    pokerkit = pytest.importorskip("pokerkit")
    for hand in real_hands():
        if hand.state.folded is not None and not hand.state.folded_free:
            *_, state = pokerkit.HandHistory.loads(write_hand(hand))
            chips = [round(float(won) * hand.chips_per_unit) for won in state.payoffs]
            assert tuple(chips) == hand.payoffs


def test_raises_count_within_the_street():
    hand = played("p2 cbr 300", "p1 cc", "d db Ks7h5d", "p1 cbr 400", "p2 f")
    assert hand.state.betting_text() == "r300c/r700f"
    assert hand.payoffs == (300, -300)


def test_a_short_stack_is_all_in_and_the_rest_comes_back():
    hand = played("p2 cbr 5000", "p1 cc", "p1 sm AcJs", "p2 sm ????", "p2 sm 2h2d", "d db Ks7h5d",
                  "d db 9c", "d db 3c")  # fmt: skip
    assert hand.state.betting_text() == "r5000c///"
    assert hand.payoffs == (-5000, 5000)


def test_who_shows_against_a_muck_has_won():
    streets = [
        word for cards in ("Ks7h5d", "9c", "3c") for word in (f"d db {cards}", "p1 cc", "p2 cc")
    ]
    hand = played("p2 cc", "p1 cc", *streets, "p1 sm AcJs", "p2 sm ????")
    assert hand.payoffs == (100, -100)
    hand = played("p2 cc", "p1 cc", *streets, "p2 sm ????")
    assert hand.payoffs == (100, -100)
    blind = read_hand(
        HAND.replace("AcJs", "????").format(
            actions=", ".join(f"'{text}'" for text in ("p2 cc", "p1 cc", *streets))
        )
    )
    assert blind.payoffs is None
    assert blind.faults() == []


def test_antes_are_dead_chips():
    text = HAND.replace("antes = [0, 0]", "antes = [25, 25]").format(actions="'p2 f'")
    hand = read_hand(text)
    assert hand.rules.stacks == (19975, 4975)
    assert hand.payoffs == (75, -75)
    assert read_hand(write_hand(hand)).payoffs == (75, -75)


def test_cents_are_exact():
    text = HAND.replace("[20000, 5000]", "[20000.10, 5000.07]").format(
        actions="'p2 cbr 250.70', 'p1 f'"
    )
    hand = read_hand(text)
    assert hand.chips_per_unit == 100
    assert hand.rules.stacks == (2000010, 500007)
    assert "cbr 250.7" in write_hand(hand)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("'NT'", "'PO'", "only NT and FT"),
        ("variant", "variants", "variant None"),
        ("[50, 100]", "[50, 100, 200]", "two players"),
        ("[50, 100]", "[50, -100]", "not an amount"),
        ("[50, 100]", "[50, inf]", "not an amount"),
        ("min_bet = 100", "", "no min_bet"),
        ("antes = [0, 0]", "antes = [0, 5]", "equal antes"),
        ("'p2 cc'", "'p2 cbr'", "needs the amount"),
        ("'p2 cc'", "'p2 cbr x'", "not an amount"),
        ("'p2 cc'", "'p3 cc'", "p1 and p2"),
        ("'p2 cc'", "'p2 sd'", "write d dh"),
        ("'p2 cc'", "'d db AcKs7h'", "before the betting is over"),
        ("'p2 cc'", "7", "list of texts"),
        ("AcJs", "AcJx", "no suit"),
        ("AcJs", "AcJsTd", "two cards"),
        ("['ann', 'bob']", "['ann']", "two names"),
        ("hand = 7", "hand = = 7", "^line 12: this is not TOML"),
        ("hand = 7", "hand = " + "9" * 5000, "too long: write fewer digits"),
        ("hand = 7", "hand = 0x" + "f" * 5000, "too long: write fewer digits"),
        ("hand = 7", "hand = 7\nseats = [" + "9" * 20 + "]", "too long: write fewer digits"),
        ("[20000, 5000]", "[0x" + "f" * 5000 + ", 5000]", "too long: write fewer digits"),
        ("[20000, 5000]", "[999999999999999.000001, 5000]", "count in larger units"),
        ("['ann', 'bob']", "[" * 2000 + "]" * 2000, "not TOML"),
        ("'NT'", "'" + "x" * 5000 + "'", "only NT and FT"),
    ],
)
def test_what_cannot_be_read_says_why(old, new, words):
    text = HAND.format(actions="'p2 cc'")
    assert old in text
    with pytest.raises(EquipoiseError, match=words) as caught:
        read_hand(text.replace(old, new), line=5)
    assert str(caught.value).startswith("line ")
    assert len(str(caught.value)) < 300


def test_a_hand_without_end_is_no_hand():
    with pytest.raises(HistoryError, match="line 1: a hand of more than 65,536 characters"):
        list(sections(["variant = 'NT'\n", *["# and so on\n"] * 10_000]))


@pytest.mark.parametrize("action", ["p1 cc", "p2 cbr 150", "p2 sm AcKd", "p2 cbr 5001"])
def test_illegal_actions_name_the_action(action):
    with pytest.raises(IllegalActionError, match=f"line 1: action 3, '{action}'"):
        played(action)


def test_only_holdem_is_written():
    from equipoise.arena.record import HandRecord
    from equipoise.games.rules import State
    from equipoise.games.spot import postflop

    with pytest.raises(HistoryError, match="only hold'em"):
        write_hand(HandRecord(1, State.start(postflop(100, 200)), (None, None), (), ("a", "b")))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_text_is_refused_by_type(data):
    text = FIXTURE[data.draw(st.integers(0, len(FIXTURE) - 1))].text
    place = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 40))
    text = text[:place] + data.draw(st.text(max_size=10)) + text[place + length :]
    with contextlib.suppress(EquipoiseError):
        read_hand(text).faults()

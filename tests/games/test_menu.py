from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.errors import GameError
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.notation.betsize import BetSize, parse_sizes, sizes_text
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    Kind,
    Rules,
    State,
    nolimit,
    raise_to,
)
from equipoise.games.spot import postflop


def amounts(menu, rules, text=""):
    """The raise-to totals a menu offers after some betting."""
    state = State.from_betting_text(rules, text)
    return [action.amount for action in menu.actions(state) if action.kind == Kind.RAISE]


def street_tree(menu, state):
    """Every line of betting from `state`, named by the chips put in on the street."""
    if state.is_over:
        return None
    branches = {}
    for action in menu.actions(state):
        if action.kind == Kind.RAISE:
            name = str(action.amount - state.round_start)
        else:
            name = "fold" if action.kind == Kind.FOLD else "call"
        branches[name] = street_tree(menu, state.apply(action))
    return branches


# Whole trees.


def test_river_tree():
    menu = BetMenu.parse("50%,100%,a", raises="60%,a")
    end = {"fold": None, "call": None}
    facing = {
        "50": end | {"170": end | {"200": end}, "200": end},
        "100": end | {"200": end},
        "200": end,
    }
    want = {"call": {"call": None} | facing} | facing
    assert street_tree(menu, State.start(postflop(pot=100, stack=200))) == want


def test_flop_tree_with_every_setting():
    # Checked against another solver's tree of this spot (pot 200, stack 900): flop betting, and
    # the turn and river after bet 120, call.
    sizes = {"bets": "60%,e,a", "raises": "2.5x"}
    menu = BetMenu.from_dict(
        {
            "flop": sizes,
            "turn": sizes,
            "river": sizes | {"oop": {"donks": "50%"}},
            "add_allin_threshold": 1.5,
            "force_allin_threshold": 0.15,
            "merging_threshold": 0.1,
        },
        rounds=3,
    )
    spot = postflop(pot=200, stack=900, rounds=3)
    assert amounts(menu, spot) == [120, 900]  # e is 115, merged with 120
    assert amounts(menu, spot, "r120") == [300]
    assert amounts(menu, spot, "r120c/") == [120 + 264, 900]
    assert amounts(menu, spot, "r120c/r384") == [900]  # 2.5x would leave less than 15% of the pot
    assert amounts(menu, spot, "r120c/r384c/") == [900]
    assert amounts(menu, spot, "r120c/cc/") == [120 + 264, 900]
    assert amounts(menu, spot, "cc/cr120c/") == [120 + 220]  # the donk size alone


# Sizes.


@pytest.mark.parametrize(
    ("size", "text", "want"),
    [
        ("50%", "", 50),
        ("33.3%", "", 33),
        ("12.5%", "", 13),  # halves go up
        ("50%", "r60", 60 + 110),  # the pot after the call is 220
        ("3x", "r60", 180),
        ("2.5x", "r61", 153),
        ("70c", "", 70),
        ("200c", "r60", 200),  # raise to, on this street
        ("a", "", 1000),
        ("200c", "r60c/", 260),
        ("2x", "r60c/r160", 60 + 200),
        ("e", "", 88),  # (21 ** (1/3) - 1) / 2 = .8795 … pots
        ("1e", "", 1000),
        ("2e", "", 179),
        ("e88.5%", "", 88),
        ("e50%", "", 50),
    ],
)
def test_what_a_size_comes_to(size, text, want):
    spot = postflop(pot=100, stack=1000, rounds=3)
    opening = text in ("", "r60c/")
    menu = BetMenu.parse(size if opening else "", raises=size)
    assert amounts(menu, spot, text) == [want]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_geometric_bets_are_all_in_on_the_river(rounds):
    spot = postflop(pot=100, stack=1000, rounds=rounds)
    menu = BetMenu.parse("e", raises="")
    state = State.start(spot)
    while not state.is_over:
        state = state.apply(menu.actions(state)[-1])
    assert state.committed == (1000, 1000)
    assert state.round == rounds - 1


def test_exact_where_floats_are_not():
    # 0.29 * 50 is 14.499999999999998 in floating point; 29% of 50 is 14.5.
    assert amounts(BetMenu.parse("29%"), postflop(pot=50, stack=1000)) == [15]


def test_sizes_before_the_flop():
    assert amounts(BetMenu.parse("100%"), NOLIMIT_HOLDEM) == [300]
    assert amounts(BetMenu.parse("2.5x"), NOLIMIT_HOLDEM) == [250]
    assert amounts(BetMenu.parse("3x"), NOLIMIT_HOLDEM, "c") == [300]
    assert amounts(BetMenu.parse("", raises="100%"), NOLIMIT_HOLDEM, "r300") == [900]
    assert amounts(BetMenu.parse("250c"), NOLIMIT_HOLDEM) == [250]


def test_clamped_to_the_rules_and_named_once():
    assert amounts(BetMenu.parse("1%,2%,120c,a,900%"), nolimit(600, 50, 100), "cc/") == [
        200,
        220,
        600,
    ]
    assert amounts(BetMenu.parse("", raises="5%,10%"), NOLIMIT_HOLDEM, "r300") == [500]


def test_all_in_is_the_shorter_stack():
    rules = Rules("uneven", False, (100, 50), (1, 0), (700, 5000), board_cards=(0, 3))
    assert amounts(BetMenu.parse("a"), rules) == [700]
    assert amounts(BetMenu.parse("a"), rules, "c") == [700]
    tiny = Rules("uneven", False, (100, 50), (1, 0), (150, 5000), board_cards=(0, 3))
    assert amounts(BetMenu.parse("a"), tiny) == [200]  # the smallest raise the rules allow


# Thresholds.


@pytest.mark.parametrize(("threshold", "want"), [(0.0, [50]), (1.49, [50]), (1.5, [50, 150])])
def test_all_in_is_added_when_near(threshold, want):
    menu = BetMenu.parse("50%", add_allin_threshold=threshold)
    assert amounts(menu, postflop(pot=100, stack=150)) == want


@pytest.mark.parametrize(
    ("threshold", "want"), [(0.0, [50, 100]), (0.16, [50, 100]), (0.17, [50, 150])]
)
def test_a_size_that_leaves_little_becomes_all_in(threshold, want):
    # After 100 and a call the pot is 300 and 50 are left.
    menu = BetMenu.parse("50%,100%", force_allin_threshold=threshold)
    assert amounts(menu, postflop(pot=100, stack=150)) == want


@pytest.mark.parametrize(
    ("threshold", "want"),
    [(0.0, [50, 60, 80, 120]), (0.09, [60, 80, 120]), (0.125, [50, 80, 120]), (0.3, [60, 120])],
)
def test_close_sizes_are_merged(threshold, want):
    menu = BetMenu.parse("50%,60%,80%,120%", merging_threshold=threshold)
    assert amounts(menu, postflop(pot=100, stack=1000)) == want


# Players, streets and raise numbers.


def test_raise_sizes_by_raise_number():
    menu = BetMenu.parse("100%", raises=["3x", "2x,a", ""])
    assert amounts(menu, NOLIMIT_HOLDEM, "r300") == [900]
    assert amounts(menu, NOLIMIT_HOLDEM, "r300r900") == [1800, 20000]
    assert amounts(menu, NOLIMIT_HOLDEM, "r300r900r1800") == []
    assert amounts(menu, NOLIMIT_HOLDEM, "r300r900r1800r2700") == []


def test_raise_cap():
    menu = BetMenu.parse("100%", max_raises=2)
    assert amounts(menu, NOLIMIT_HOLDEM, "r300") == [900]
    assert amounts(menu, NOLIMIT_HOLDEM, "r300r900") == []
    assert amounts(menu, NOLIMIT_HOLDEM, "r300r900c/") == [2700]


def test_a_player_who_may_not_bet():
    may, may_not = StreetMenu.parse("100%"), StreetMenu()
    menu = BetMenu(((may, may_not),), add_allin_threshold=10)
    spot = postflop(pot=100, stack=150)
    assert amounts(menu, spot) == [100, 150]
    assert menu.actions(State.from_betting_text(spot, "c")) == (CALL,)
    assert menu.actions(State.from_betting_text(spot, "r100")) == (FOLD, CALL)


def test_donk_sizes_need_a_call_in_the_round_before():
    menu = BetMenu.parse("100%", donks="25%")
    spot = postflop(pot=100, stack=5000, rounds=2)
    assert amounts(menu, spot) == [100]
    assert amounts(menu, spot, "cr100c/") == [100 + 75]
    assert amounts(menu, spot, "cr100c/c") == [400]  # the other player's own bet
    assert amounts(menu, spot, "cc/") == [100]
    assert amounts(menu, spot, "r100c/") == [400]
    assert amounts(menu, spot, "r100c/c") == [400]  # the caller, but not first to act
    assert amounts(menu, NOLIMIT_HOLDEM, "r300c/") == [450]
    assert amounts(menu, NOLIMIT_HOLDEM, "cr300c/") == [900]
    assert amounts(BetMenu.parse("100%", donks=""), spot, "cr100c/") == []


def test_streets_differ_and_the_last_repeats():
    flop, turn = StreetMenu.parse("50%"), StreetMenu.parse("100%")
    menu = BetMenu(((flop, flop), (turn, turn)))
    spot = postflop(pot=100, stack=5000, rounds=3)
    assert [amounts(menu, spot, text) for text in ("", "cc/", "cc/cc/")] == [[50], [100], [100]]


def test_full_menus():
    assert amounts(BetMenu.full(), nolimit(10, 1, 2)) == [4, 5, 6, 7, 8, 9, 10]
    limp = State.start(LIMIT_HOLDEM).apply(CALL)
    assert BetMenu.limit().actions(limp) == (CALL, raise_to(20))
    assert amounts(BetMenu.full(), LIMIT_HOLDEM, "rrr") == []
    assert amounts(BetMenu.parse(""), LIMIT_HOLDEM) == []


def test_nothing_to_do_when_the_hand_is_over():
    assert BetMenu.full().actions(State.from_betting_text(NOLIMIT_HOLDEM, "f")) == ()


# Text and settings.


@pytest.mark.parametrize("text", ["", "50%,100%,a", "33.3%,2.5x,100c", "e,2e,e150%,3e33.5%", "*"])
def test_sizes_round_trip(text):
    assert sizes_text(parse_sizes(text)) == text


def test_thirds_are_written_as_fractions():
    assert str(BetSize("%", Fraction(1, 3))) == "100/3%"
    assert BetSize.parse("100/3%") == BetSize("%", Fraction(1, 3))


@pytest.mark.parametrize("text", ["16.666666666666668%", "e0.1000000000000001%", "7/3x", ".5%"])
def test_sizes_are_exact_to_the_last_digit(text):
    assert BetSize.parse(str(BetSize.parse(text))) == BetSize.parse(text)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**9))
def test_every_number_survives_its_text(number):
    for size in (BetSize("%", number), BetSize("e", Fraction(2), number), BetSize("x", number + 1)):
        assert BetSize.parse(str(size)) == size


LONG = "1" * 5000


@pytest.mark.parametrize(
    "text",
    [f"{LONG}%", f"{LONG}e", f"e{LONG}%", f"0.{LONG}x", f"e2{LONG}%", "1/0%", "٣%", f"1/{LONG}c"],
    ids=lambda text: text[:8],
)
def test_numbers_that_mean_nothing_are_refused_in_a_short_sentence(text):
    with pytest.raises(GameError) as caught:
        parse_sizes(text)
    assert len(str(caught.value)) < 200


def test_lists_without_end_are_refused():
    with pytest.raises(GameError, match="over 200 sizes"):
        parse_sizes("50%," * 100_000 + "a")
    with pytest.raises(GameError, match="over 100 raises"):
        StreetMenu.parse("50%", ["3x"] * 1000)


@pytest.mark.parametrize(
    ("settings", "rounds", "told"),
    [
        ({"flop": {"bets": "50%"}}, 1, "'flop' has no effect, for play starts on the river"),
        ({"bets": "a", "preflop": {}}, 3, "'preflop' has no effect, for play starts on the flop"),
        ({"bets": "50%", "river": {"bets": "a"}}, 1, "'bets' has no effect, for others replace it"),
        (
            {"river": {"raises": "3x", "oop": {"raises": "a"}, "ip": {"raises": ""}}},
            2,
            r"'river\.raises' has no effect",
        ),
        ({"turn": {"bb": {"bets": "a"}, "oop": {"bets": "a"}}}, 2, r"'turn\.oop\.bets'"),
    ],
)
def test_settings_that_change_nothing_are_refused(settings, rounds, told):
    with pytest.raises(GameError, match=told):
        BetMenu.from_dict(settings, rounds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("50", "'50': a size needs a unit: 50%, 2.5x, 50c, e or a"),
        ("50%,,a", "'': a size is a number and unit"),
        ("pot", "'pot': a size is a number and unit"),
        ("-5%", "'-5%'"),
        ("0%", "'0%': a size is more than nothing"),
        ("1x", "'1x': a raise is to more than 1x"),
        ("2.5c", "'2.5c': chips are whole numbers"),
        ("0e", "'0e': geometric over 0 streets"),
    ],
)
def test_bad_sizes_name_the_cure(text, message):
    with pytest.raises(GameError, match=message):
        parse_sizes(text)


def test_a_first_bet_has_no_bet_to_multiply():
    with pytest.raises(GameError, match=r"'2\.5x': there is no bet to multiply"):
        amounts(BetMenu.parse("2.5x"), postflop(100, 200))
    with pytest.raises(GameError, match=r"'2\.5x': there is no bet to multiply"):
        BetMenu.from_dict({"preflop": {"bets": "2.5x"}, "turn": {"bets": "2.5x"}})
    menu = BetMenu.from_dict({"preflop": {"bets": "2.5x"}, "flop": {"bets": "50%"}})
    assert amounts(menu, NOLIMIT_HOLDEM) == [250]


def test_settings_are_inherited():
    menu = BetMenu.from_dict(
        {
            "bets": "50%",
            "raises": ["3x", "a"],
            "max_raises": 4,
            "river": {"bets": "100%", "ip": {"raises": ""}},
            "preflop": {"sb": {"bets": "3x"}},
        }
    )
    assert menu.street(0)[1].bets == parse_sizes("3x")
    assert menu.street(0)[0].bets == parse_sizes("50%")
    assert menu.street(2) == menu.street(1)
    river = menu.street(3)
    assert river[0] == StreetMenu.parse("100%", ["3x", "a"], max_raises=4)
    assert river[1] == StreetMenu.parse("100%", "", max_raises=4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bet": "50%"}, "unknown setting 'bet': did you mean 'bets'"),
        ({"flop": {"raise": "50%"}}, r"unknown setting 'flop\.raise': did you mean 'flop\.raises'"),
        ({"flop": {"ip": {"donk": "a"}}}, r"'flop\.ip\.donk': did you mean 'flop\.ip\.donks'"),
        ({"colour": 1}, "unknown setting 'colour': use one of bets"),
        ({"flop": "50%"}, "flop = '50%': write a table"),
        ({"bets": 50}, "bets = 50: write sizes as text"),
        ({"raises": 3}, "raises = 3: write '3x' or a list"),
        ({"raises": ["3x", 2]}, "write '3x' or a list"),
        ({"max_raises": 2.5}, "max_raises = 2.5: write a whole number"),
        ({"max_raises": -1}, "a cap is 0 or more"),
        ({"merging_threshold": "x"}, "merging_threshold = 'x': a threshold is a number"),
        ({"merging_threshold": -0.1}, "merging_threshold = -0.1: a threshold is 0 or more"),
        ({"turn": {"bets": "50"}}, "turn: '50': a size needs a unit"),
    ],
)
def test_bad_settings_name_the_cure(settings, message):
    with pytest.raises(GameError, match=message):
        BetMenu.from_dict(settings)


def test_rounds_and_streets_must_fit():
    with pytest.raises(GameError, match="1 to 4 rounds"):
        BetMenu.from_dict({}, rounds=5)
    flop, turn = StreetMenu.parse("50%"), StreetMenu.parse("100%")
    with pytest.raises(GameError, match="this menu has 2 streets"):
        BetMenu(((flop, flop), (turn, turn))).to_dict(rounds=1)
    with pytest.raises(GameError, match="at least one street"):
        BetMenu(())


# Properties.

size_texts = st.sampled_from(["25%", "33.3%", "75%", "150%", "40c", "700c", "e", "2e", "e80%", "a"])
size_lists = st.lists(size_texts, max_size=3).map(",".join)
raise_lists = st.lists(st.sampled_from(["60%", "2.5x", "3x", "a", "e"]), max_size=3).map(",".join)
street_menus = st.builds(
    StreetMenu.parse,
    size_lists,
    st.lists(raise_lists, max_size=3),
    st.none() | size_lists,
    st.none() | st.integers(0, 4),
)
thresholds = st.sampled_from([0.0, 0.1, 0.15, 0.5, 1.5])
menus = st.builds(
    BetMenu,
    st.lists(st.tuples(street_menus, street_menus), min_size=1, max_size=4).map(tuple),
    thresholds,
    thresholds,
    thresholds,
)


@given(menus)
def test_settings_round_trip(menu):
    assert BetMenu.from_dict(menu.to_dict()) == menu


@given(menu=menus, spot=st.booleans(), data=st.data())
def test_every_action_of_a_menu_is_legal(menu, spot, data):
    rules = postflop(pot=101, stack=950, rounds=3) if spot else nolimit(2000, 50, 100)
    state = State.start(rules)
    while not state.is_over:
        actions = menu.actions(state)
        assert all(state.can(action) for action in actions)
        assert (FOLD in actions) == (state.to_call > 0)
        assert CALL in actions
        sizes = [action.amount for action in actions if action.kind == Kind.RAISE]
        assert sizes == sorted(set(sizes))
        state = state.apply(data.draw(st.sampled_from(actions)))

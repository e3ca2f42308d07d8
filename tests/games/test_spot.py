"""Spots: their text, what is refused and with which words, the game they make and what it costs."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equipoise.cards.card import cards_text, parse_cards
from equipoise.cards.equity import equity
from equipoise.cards.range import Range
from equipoise.errors import CardError, EquipoiseError, GameError, RangeError, TooLargeError
from equipoise.games import betting
from equipoise.games.betting import Betting, Rake, measure
from equipoise.games.boards import all_hands, compatible, pair_mass
from equipoise.games.menu import BetMenu
from equipoise.games.spot import Spot
from equipoise.settings import toml_text
from equipoise.solve.spots.cost import spot_cost
from equipoise.solve.strategies.bestresponse import exploitability_of, value_of
from equipoise.solve.sweep.tableau import Tableau

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "spots").glob("*.toml"))
RIVER = Spot("Td9d6hQc2s", "22+,A2s+,87o", "TT+,AKs,QJ", pot=100, stack=200, menu="50%,a")


def example(name: str) -> Spot:
    return Spot.load(next(path for path in EXAMPLES if path.stem == name))


# ---------------------------------------------------------------------------------- text

sizes = st.lists(
    st.sampled_from(["33%", "50%", "66.7%", "100%", "e", "2e", "e150%", "40c", "a"])
    | st.floats(1e-9, 1e9).map(lambda x: f"{x:.25f}%")
    | st.floats(1e-9, 1e9).map(lambda x: f"e{x:.40f}%"),
    max_size=3,
    unique=True,
).map(",".join)
raise_sizes = st.lists(st.sampled_from(["60%", "2.5x", "3x", "a"]), max_size=2, unique=True).map(
    ",".join
)
street_menus = st.fixed_dictionaries(
    {"bets": sizes},
    optional={
        "raises": raise_sizes | st.lists(raise_sizes, min_size=1, max_size=3),
        "donks": sizes,
        "max_raises": st.integers(0, 4),
    },
)
menus = st.fixed_dictionaries(
    {"bets": sizes},
    optional={
        "raises": raise_sizes,
        "add_allin_threshold": st.floats(0, 3),
        "merging_threshold": st.floats(0, 1),
        "turn": street_menus,
        "river": st.fixed_dictionaries({}, optional={"oop": street_menus, "ip": street_menus}),
    },
)


def random_range(seed: int) -> Range:
    """Some hands, with weights of two decimals."""
    rng = np.random.default_rng(seed)
    hundredths = rng.integers(0, 101, 1326) * (rng.random(1326) < rng.random())
    return Range(hundredths.astype(np.float32) / np.float32(100))


weights = st.integers(0, 2**32 - 1).map(random_range)
texts = st.text(st.characters(codec="utf-8"), max_size=20).filter(str.isprintable)


@given(
    board=st.lists(st.integers(0, 51), min_size=3, max_size=5, unique=True),
    ranges=st.tuples(weights, weights | st.just(Range.full())),
    pot=st.integers(1, 10**9),
    stack=st.integers(1, 10**9),
    menu=menus,
    rake=st.builds(Rake, st.floats(0, 1), st.floats(0, 10**9) | st.just(float("inf"))),
    min_bet=st.integers(1, 1000),
    name=texts,
)
@settings(max_examples=40, deadline=None)
def test_a_spot_survives_its_text(board, ranges, pot, stack, menu, rake, min_bet, name):
    if not all(hands.without(board) for hands in ranges):
        return
    menu = {key: value for key, value in menu.items() if key != "turn" or len(board) < 5}
    try:
        Spot(board, *ranges, pot, stack, menu)
    except GameError as error:
        assume("has no effect" not in str(error))
    spot = Spot(board, *ranges, pot, stack, menu, rake, min_bet, name)
    again = Spot.from_toml(spot.to_toml())
    assert again == spot
    assert hash(again) == hash(spot)
    assert Spot.from_dict(spot.to_dict()) == spot


@given(
    st.recursive(
        st.text(max_size=8)
        | st.integers(-(2**60), 2**60)
        | st.floats(allow_nan=False)
        | st.booleans()
        | st.lists(st.text(max_size=4), max_size=3),
        lambda values: st.dictionaries(st.text(max_size=5), values, max_size=4),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict))
)
@settings(max_examples=150, deadline=None)
def test_toml_is_read_back_as_it_was_written(settings_written):
    assert tomllib.loads(toml_text(settings_written)) == settings_written


def test_a_file_names_the_spot_that_has_no_name(tmp_path):
    path = tmp_path / "my river.toml"
    path.write_text(RIVER.to_toml(), encoding="utf-8")
    assert Spot.load(path) == replace(RIVER, name="my river")
    path.write_text(replace(RIVER, name="x").to_toml(), encoding="utf-8")
    assert Spot.load(path).name == "x"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_commented_and_fit(path):
    spot = Spot.load(path)
    assert path.stem.startswith(spot.street)
    assert path.read_text(encoding="utf-8").count("\n#") >= 4
    assert Spot.from_toml(spot.to_toml()) == spot
    most = 1500 if spot.street == "flop" else 150
    assert spot_cost(spot).memory_mb < most


# ---------------------------------------------------------------------------------- refusals


def changed(**changes: object) -> dict[str, object]:
    """Settings of a good river with some changed; None drops a key."""
    spot = RIVER.to_dict()
    for path, value in changes.items():
        table, *keys = spot, *path.split("__")
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        if value is None:
            del table[keys[-1]]
        else:
            table[keys[-1]] = value
    return spot


NO_BETS = 'menu: it names no bets: add bets = "50%,a", or bets = "" if nobody is to bet'
REFUSED = [
    ({"bord": "x"}, GameError, "unknown setting 'bord': did you mean 'board'?"),
    (
        {"zzz": 1},
        GameError,
        "unknown setting 'zzz': use one of name, board, unit, pot, stack, min_bet, line, ranges, rake, menu",
    ),
    ({"ranges__opp": "AA"}, GameError, "unknown setting 'ranges.opp': did you mean 'ranges.oop'?"),
    ({"rake__rat": 1}, GameError, "unknown setting 'rake.rat': did you mean 'rake.rate'?"),
    ({"menu__bts": "a"}, GameError, "menu: unknown setting 'bts': did you mean 'bets'?"),
    ({"pot": None}, GameError, "the spot has no pot: add pot = 100"),
    (
        {"ranges": None},
        GameError,
        'the spot has no ranges: add [ranges] with oop = "..." and ip = "..."',
    ),
    ({"ranges__ip": None}, GameError, 'the spot has no ranges.ip: add ip = "QQ+,AKs"'),
    (
        {"rake": {"cap": 3}},
        GameError,
        "rake has no rate: add rate = 0.05, or drop the table",
    ),
    ({"ranges": "AA"}, GameError, "ranges = 'AA': write it as a table, under [ranges]"),
    ({"menu": "50%"}, GameError, "menu = '50%': write it as a table, under [menu]"),
    (
        {"board": 12},
        GameError,
        'board = 12: write cards as text, such as "Td 9d 6h"',
    ),
    (
        {"board": "TdTh"},
        CardError,
        "board: 2 cards: give 3 for the flop, 4 for the turn, 5 for the river",
    ),
    (
        {"board": "TdTh2c3c4c5c"},
        CardError,
        "board: 6 cards: give 3 for the flop, 4 for the turn, 5 for the river",
    ),
    ({"board": "TdTd2c"}, CardError, "board: 'TdTd2c': Td appears twice"),
    ({"board": "TdXd2c"}, CardError, "board: 'Xd': no rank 'X' (ranks are 2 to 9, T, J, Q, K, A)"),
    ({"pot": 0}, GameError, "pot = 0: the pot holds at least 1 chip"),
    (
        {"pot": "7.5"},
        GameError,
        "pot = '7.5': write a number, without quotes, such as 97.5",
    ),
    (
        {"pot": True},
        GameError,
        "pot = True: write whole chips, counting in smaller ones if need be",
    ),
    ({"stack": -5}, GameError, "stack = -5: each player needs at least 1 chip to bet"),
    ({"stack": 10**10}, GameError, "stack is more than 1,000,000,000 chips: count in larger ones"),
    ({"min_bet": 0}, GameError, "min_bet = 0: the smallest bet is at least 1 chip"),
    (
        {"ranges__oop": "AZ"},
        RangeError,
        "ranges.oop: 'AZ': no rank 'Z' (ranks are 2 to 9, T, J, Q, K, A), "
        "write hands such as QQ, AKs or AhKd",
    ),
    (
        {"ranges__ip": 3},
        RangeError,
        "ranges.ip = 3: write a range as text, such as 'QQ+,AKs'",
    ),
    (
        {"ranges__ip": "AA:0"},
        RangeError,
        "ranges.ip: no hand has a weight above 0: name one, such as AhKd",
    ),
    (
        {"ranges__oop": "TdTh, 9d9c"},
        RangeError,
        "ranges.oop: every hand holds a card of the board Td9d6hQc2s: add others",
    ),
    (
        {"ranges": {"oop": "AhAs", "ip": "AhKh, AsKs"}},
        RangeError,
        "ranges: every hand of oop shares a card with every hand of ip: add hands to one",
    ),
    (
        {"rake": {"rate": 5}},
        GameError,
        "rake.rate = 5: a rate is between 0 and 1, so 5 % is 0.05",
    ),
    ({"rake": {"rate": "5%"}}, GameError, "rake.rate = '5%': write a number, such as 0.05"),
    (
        {"rake": {"rate": 0.05, "cap": -1}},
        GameError,
        "rake.cap = -1: a cap is 0 chips or more; drop it for none",
    ),
    ({"name": 3}, GameError, "name = 3: write it as text"),
    (
        {"name": "a\nb"},
        GameError,
        "name = 'a\\nb': write it as one line of printable text",
    ),
    (
        {"menu": {"bets": "3x"}},
        GameError,
        "menu: '3x': there is no bet to multiply: write a first bet as 50%, 50c, e or a",
    ),
    (
        {"menu": {"bets": "*"}, "stack": 10**6},
        GameError,
        "menu: '*' of 1,000,000 chips: name the sizes to consider",
    ),
    (
        {"menu": {"bets": f"{10**13}%"}},
        GameError,
        f"menu: '{10**13}%': too large to mean anything: write a",
    ),
    (
        {"menu": {"flop": {"bets": "50%"}}},
        GameError,
        "menu: 'flop' has no effect, for play starts on the river: name that, or drop it",
    ),
    ({"menu": {}}, GameError, NO_BETS),
    ({"menu": {"merging_threshold": 0.1}}, GameError, NO_BETS),
    (
        {"menu": {"bets": "a", "river": {"donks": "50%"}}},
        GameError,
        "menu: 'river.donks' has no effect, for no bet was called before the river: write bets",
    ),
    (
        {"board": "Td 9d 6h", "menu": {"bets": "a", "river": {"ip": {"donks": "50%"}}}},
        GameError,
        "menu: 'river.ip.donks' has no effect, for only oop acts first in a round: drop it",
    ),
    (
        {"menu": {"bets": "9" * 5000 + "%"}},
        GameError,
        f"menu: river: '{'9' * 57}...': a size is a few digits and a unit: 50%, 2.5x, 50c, e or a",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "sentence"), REFUSED, ids=[r[2][:40] for r in REFUSED])
def test_refusals_name_the_key_and_the_cure(changes, kind, sentence):
    with pytest.raises(kind) as caught:
        Spot.from_dict(changed(**changes))
    assert type(caught.value) is kind
    assert str(caught.value) == sentence


def test_refusals_of_python_callers():
    with pytest.raises(GameError, match="menu: it has 3 streets and the board leaves 1"):
        replace(RIVER, menu=example("flop_basic").menu)
    with pytest.raises(GameError, match="menu = 3: write a table"):
        replace(RIVER, menu=3)
    with pytest.raises(GameError, match=r"rake = 0.05: give a rate and a cap, as Rake\(0.05, 3\)"):
        replace(RIVER, rake=0.05)
    with pytest.raises(CardError, match="board: 52: a card is a number from 0 to 51"):
        replace(RIVER, board=(1, 2, 52))


def test_refusals_of_files(tmp_path):
    path = tmp_path / "spot.toml"
    with pytest.raises(GameError, match=r"cannot be read .*: name a text file"):
        Spot.load(path)
    with pytest.raises(GameError, match="cannot be read"):
        Spot.load(tmp_path)
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(GameError, match="not a text file: save it as UTF-8"):
        Spot.load(path)
    path.write_text("pot = = 3", encoding="utf-8")
    with pytest.raises(GameError, match=r"this is not TOML: .*line 1.*: mend that line"):
        Spot.load(path)
    path.write_text(RIVER.to_toml().replace("pot = 100", "pot = 0"), encoding="utf-8")
    with pytest.raises(GameError, match=r"spot.toml: pot = 0: the pot holds at least 1 chip"):
        Spot.load(path)


def test_endless_betting_is_refused_in_words(monkeypatch):
    with pytest.raises(TooLargeError, match="hundreds of raises: lower max_raises"):
        spot_cost(replace(RIVER, stack=100_000, menu=BetMenu.parse("1c", raises="1c")))
    monkeypatch.setattr(betting, "_MOST_ACTIONS", 1000)
    with pytest.raises(TooLargeError, match="more than 1,000 different actions: drop sizes"):
        spot_cost(replace(RIVER, menu="*"))


def test_mangled_files_give_sentences():
    """Whatever a slip of the keyboard does to a file, the answer is a spot or a sentence."""
    rng = random.Random(20)
    originals = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    pieces = ["=", '"', "[", "]", "-1", "0", "1e400", "nan", "*", "x", "%", "a", ",", "\n", "ip."]
    pieces += [
        "[[menu]]",
        "true",
        "'",
        "99999999999999999999",
        "\x00",
        "é",
        "{}",
        ":",
        "+",
        "2024-01-01",
    ]
    read, sentences = 0, []
    for _ in range(1500):
        text = rng.choice(originals)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            cut = at + rng.choice((0, 0, 1, 1, 2, 30))
            inserted = rng.choice(("", rng.choice(pieces), text[cut : cut + rng.randint(1, 40)]))
            text = text[:at] + inserted + text[cut:]
        try:
            spot = Spot.from_toml(text)
            measure(spot.rules, spot.menu, keep_first=True)
            read += 1
        except EquipoiseError as error:
            sentences.append(str(error))
    assert all(sentence and "\n" not in sentence for sentence in sentences)
    assert 200 < read < 1300


# ---------------------------------------------------------------------------------- the game


@pytest.mark.parametrize(
    ("name", "decisions", "actions", "total"),
    [
        ("river_small", (16,), (44,), 16),
        ("turn_medium", (16, 92), (44, 232), 16 + 48 * 92),
        # 36 turns and 1,429 rivers: clubs and spades are alike.
        ("flop_basic", (10, 50, 113), (26, 130, 255), 10 + 36 * 50 + 1429 * 113),
    ],
)
def test_reference_trees_are_reproduced(name, decisions, actions, total):
    spot = example(name)
    tree = Betting.build(spot.rules, spot.menu, keep_first=True)
    assert tuple(len(tree.of_kind(r, 0, 1)) for r in range(spot.rounds)) == decisions
    assert tuple(tree.rows.sum(axis=1)) == actions
    cost = spot_cost(spot)
    assert cost.decisions == decisions
    assert cost.total_decisions == total
    if name == "flop_basic":
        assert total == 163_287


def test_the_first_bet_of_the_reference_flop():
    spot = example("flop_basic")
    tree = Betting.build(spot.rules, spot.menu, keep_first=True)
    assert [tree.label(child) for child in tree.children(0)] == ["check", "bet 120", "allin 900"]


def test_min_bet_rake_and_words_reach_the_game():
    spot = replace(RIVER, min_bet=80, rake=Rake(0.1, 5), name="mine")
    game = spot.game()
    assert [game.betting.label(c) for c in game.betting.children(0)] == [
        "check",
        "bet 80",
        "allin 200",
    ]
    assert game.name == "mine"
    assert RIVER.game().name == "river Td9d6hQc2s"
    board = game.deal.boards[0]
    assert game.board_name(board) == "Td9d6hQc2s"
    names = {game.state_name(board, 0, state) for state in range(len(board.hands[0]))}
    assert names == set(spot.oop_range.without(spot.board).hands())
    assert np.allclose(game.betting.even[game.betting.kind == 3], -2.5)


@pytest.mark.parametrize("board", ["Td9d6hQc2s", "Td9d6hQc", "Td9d6h"])
def test_checked_down_a_range_is_worth_its_equity(board):
    for ranges in (("22+,A2s+", "TT+,AKs:0.5"), ("AhAd", "KsKd"), ("AhAd,8h8d", "AsAd")):
        spot = Spot(board, *ranges, pot=100, stack=200, menu="")
        game = spot.game()
        tableau = Tableau(game)
        value = value_of(tableau, tableau.rows()) + game.value_offset_chips
        exact = equity([spot.oop_range, spot.ip_range], board=board).equity[0]
        assert value == pytest.approx(100 * exact, abs=1e-3)
        assert exploitability_of(tableau, tableau.rows()) == pytest.approx(0, abs=1e-4)


def test_streets_without_sizes_are_checked_through():
    spot = Spot("Td9d6h", "AA", "KK", pot=10, stack=10, menu={"river": {"bets": "a"}})
    tree = Betting.build(spot.rules, spot.menu, keep_first=True)
    assert [len(tree.of_kind(r, 0, 1)) for r in range(3)] == [1, 0, 4]
    for keep_first in (True, False):
        tree = Betting.build(spot.rules, spot.menu, keep_first=keep_first)
        size = measure(spot.rules, spot.menu, keep_first)
        assert size.nodes == tuple(b - a for a, b in tree.spans())
        assert size.rows == tuple(tuple(row) for row in tree.rows.tolist())


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_pair_mass_is_the_sum_over_pairs(seed):
    rng = np.random.default_rng(seed)
    hands = all_hands(52, 2)
    chosen = [rng.choice(1326, rng.integers(1, 60), replace=False) for _ in range(2)]
    ranges = [(hands[c], rng.random(len(c)) ** 8) for c in chosen]
    slow = float(ranges[0][1] @ compatible(hands[chosen[0]], hands[chosen[1]]) @ ranges[1][1])
    assert pair_mass(*ranges) == pytest.approx(slow, rel=1e-9)


def test_pair_mass_keeps_what_little_is_left():
    first = np.array([[51, 50], [51, 49]], dtype=np.int16), np.array([1.0, 1e-9])
    second = np.array([[51, 48], [50, 48]], dtype=np.int16), np.array([1.0, 1.0])
    assert pair_mass(first, second) == pytest.approx(1e-9, rel=1e-12)


# ---------------------------------------------------------------------------------- suits


@pytest.mark.parametrize(
    ("board", "oop", "ip", "boards"),
    [
        # Two suits of the board are missing from it: one exchange.
        ("Td9d6h", "22+,AKs", "AQ", (1, 36, 1429)),
        # A hand in one suit only takes the exchange away.
        ("Td9d6h", "22+,AcKc", "AQ", (1, 49, 2352)),
        # The same in the other player's range.
        ("Td9d6h", "22+,AKs", "AQ,7s5s", (1, 49, 2352)),
        # A range that tells diamonds from hearts leaves clubs and spades alike.
        ("Td9d6h", "22+,8d7d", "AQ", (1, 36, 1429)),
        # A weight is enough.
        ("Td9d6h", "22+,AKs,AcQc:0.5", "AQ", (1, 49, 2352)),
        # Monotone: three suits alike.
        ("9s6s3s", "22+,AKs", "AQ", (1, 23, 675)),
        # Rainbow with a pair: the paired suits can be exchanged.
        ("9s9h3d", "22+,AKs", "AQ", (1, 37, 1476)),
        ("9s6h3d", "22+,AKs", "AQ", (1, 49, 2352)),
        ("9s6h3d2c", "22+,AKs", "AQ", (1, 48)),
        ("9s6s3s2s", "22+,AKs", "AQ", (1, 22)),
    ],
)
def test_boards_are_merged_where_ranges_and_board_allow(board, oop, ip, boards):
    spot = Spot(board, oop, ip, pot=10, stack=10, menu="a")
    assert spot_cost(spot).boards == boards
    assert spot_cost(spot).deals == ((1, 49, 2352) if spot.street == "flop" else (1, 48))
    assert spot_cost(spot, use_symmetry=False).boards == spot_cost(spot).deals
    counts = np.bincount([b.round for b in spot.game().deal.boards])
    assert tuple(counts) == boards


def test_every_deal_is_met_once_with_its_own_cards():
    """A board stands for its deals: going back through the arrivals gives the hands really left."""
    spot = Spot("9s6s3s", "66+,AKs,A5s:0.5", "AQ,76s", pot=10, stack=10, menu="a")
    deal = spot.game().deal
    met = {}
    for board in deal.boards[1:]:
        above = deal.boards[board.parent]
        assert len(board.deals) == len(board.arrivals)
        for dealt, arrival in zip(board.deals, board.arrivals, strict=True):
            assert (board.parent, dealt) not in met
            met[board.parent, dealt] = True
            for player in (0, 1):
                real = above.hands[player][arrival[player]]
                left = {tuple(h) for h in above.hands[player].tolist() if not set(h) & set(dealt)}
                assert {tuple(hand) for hand in real.tolist()} == left
    parents = {parent for parent, _ in met}
    assert len(met) == sum(52 - len(deal.boards[parent].cards) for parent in parents)


def test_a_spot_with_suits_renamed_is_worth_the_same():
    spot = Spot("Td9d6hQc", "22+,AKs,8d7d", "AQ,QJs,7h6h:0.5", pot=100, stack=100, menu="a")
    swap = str.maketrans("cdhs", "shcd")
    moved = Spot(
        cards_text(spot.board).translate(swap), "22+,AKs,8h7h", "AQ,QJs,7c6c:0.5", 100, 100, "a"
    )
    values = []
    for each in (spot, moved):
        tableau = Tableau(each.game())
        rows = tableau.rows()
        values.append((value_of(tableau, rows), exploitability_of(tableau, rows)))
    assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_boards_may_be_given_as_numbers():
    assert replace(RIVER, board=list(parse_cards("Td9d6hQc2s"))) == RIVER


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    spot = Spot("Td9d6hQc2s", "22+", "TT+", pot=100, stack=200, menu="50%,a", name="x")
    path = tmp_path / "spot.toml"
    path.write_text(spot.to_toml(), encoding="utf-8-sig")
    assert Spot.load(path) == spot


def test_donk_bets_that_nobody_makes_are_dropped():
    flop = replace(RIVER, board="Td9d6h", menu=BetMenu.parse("50%", donks="a"))
    assert flop.menu.street(1)[0].donks is not None
    turn = example("turn_donk")
    assert turn.menu.street(1)[0].donks is not None
    assert turn.menu.street(0)[0].donks is turn.menu.street(1)[1].donks is None
    assert replace(RIVER, menu=BetMenu.parse("50%", donks="a")).menu == BetMenu.parse("50%")


def test_spots_introduce_themselves_briefly():
    assert repr(RIVER) == "<Spot Td9d6hQc2s, pot 100, stack 200, 138 v 50 combos>"
    assert len(repr(example("flop_basic"))) < 120


# ---------------------------------------------------------------------------------- the line


@pytest.mark.parametrize(
    ("line", "written", "committed", "player"),
    [
        ("", "", (0, 0), 0),
        (" ", "", (0, 0), 0),
        ("check", "check", (0, 0), 1),
        ("Check ,BET", "check, bet 50", (0, 50), 0),
        ("bet 5", "bet 5", (5, 0), 1),
        ("bet 37, raise 120", "bet 37, raise 120", (37, 120), 0),
        ("all-in", "allin 200", (200, 0), 1),
        ("bet 200", "allin 200", (200, 0), 1),
        ("check, bet 1, raise 2, raise 3", "check, bet 1, raise 2, raise 3", (2, 3), 0),
    ],
)
def test_a_spot_begins_after_its_line(line, written, committed, player):
    spot = replace(RIVER, line=line)
    assert spot.line == written
    assert ", ".join(spot.played) == written
    assert (spot.origin.committed, spot.origin.to_act) == (committed, player)
    assert spot.origin.pot == 100 + sum(committed)
    assert Spot.from_toml(spot.to_toml()) == spot
    assert ("line" in spot.to_dict()) == bool(written)
    game = spot.game()
    assert game.betting.origin == game.betting.states[0] == spot.origin
    assert spot_cost(spot).nodes == tuple(b - a for a, b in game.betting.spans())
    assert game.value_offset_chips == 50 + committed[0]
    assert game.name == f"river Td9d6hQc2s{': ' * bool(written)}{written}"
    assert (game.fingerprint() == RIVER.game().fingerprint()) == (not written)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "check, fold",
            "line: 'fold': after 'check' it is ip's turn: choose from check, bet 1-199 or allin 200",
        ),
        ("bet 300", "'bet 300': after the start it is oop's turn: choose from check, bet 1-199 or"),
        ("bet 50, raise 80", "ip's turn: choose from fold, call, raise 100-199 or allin 200"),
        ("bet 50, bet 100", "'bet 100': after 'bet 50' it is ip's turn: choose from fold"),
        ("raise 50", "'raise 50': after the start it is oop's turn: choose from check"),
        ("allin 150", "'allin 150': after the start"),
        ("allin, raise 200", "after 'allin 200' it is ip's turn: choose from fold or call"),
        ("bet 50,", "'': after 'bet 50' it is ip's turn"),
        ("bet -5", "'bet -5': after the start"),
        ("bet ½", "'bet ½': after the start"),
        ("check, check", "line: the hand is over after 'check, check': leave out its last action"),
        ("bet 50, fold", "line: the hand is over after 'bet 50, fold': leave out its last action"),
        ("bet 50, fold, check", "line: 'check': the hand is over after 'bet 50, fold'"),
        (5, 'line = 5: write actions as text, such as "check, bet 50"'),
    ],
)
def test_a_wrong_line_is_one_sentence(line, told):
    with pytest.raises(EquipoiseError) as caught:
        replace(RIVER, line=line)
    assert told in str(caught.value)


def test_a_line_stays_on_its_street():
    flop = replace(RIVER, board="Td9d6h")
    with pytest.raises(EquipoiseError, match="line: the flop ends after 'check, check': give the"):
        replace(flop, line="check, check")
    with pytest.raises(EquipoiseError, match="'Kh': the street ends with 'bet 50, call': begin on"):
        replace(flop, line="bet, call, Kh")
    assert replace(flop, line="bet 7").game().betting.rounds == 3


def test_a_size_left_out_must_be_the_only_one():
    several = replace(RIVER, menu="33%,66%,a")
    with pytest.raises(EquipoiseError, match="'bet': after the start it is oop's turn"):
        replace(several, line="bet")
    # All-in may be named even where the menu does not have it.
    assert replace(RIVER, menu="50%", line="allin").line == "allin 200"

"""What players do with a solved spot: looking, reports, comparisons, locks by frequency, drills."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_CARDS
from equipoise.errors import ArtefactError, EquipoiseError, IllegalActionError, SolverError
from equipoise.games.betting import Rake
from equipoise.games.spot import Spot
from equipoise.solve.spots.laststreet import LastStreet
from equipoise.solve.spots.solution import Solution, solve_spot
from equipoise.solve.study.comparison import Comparison, alongside
from equipoise.solve.study.drill import Drill
from equipoise.solve.study.equitygraph import EquityGraph
from equipoise.solve.study.frequencylock import by_frequency
from equipoise.solve.study.handclasses import DRAWS, MADE, HandClasses, made_and_draw
from equipoise.solve.study.runouts import RunoutReport

SPOT = """
unit = "bb"
board = "Td 9d 6h Qc"
pot = 6.5
stack = 19.5
[ranges]
oop = "22+,A2s+,KTs+"
ip = "TT+,AQs+,KQs,87s"
[rake]
rate = 0.05
cap = 0.5
[menu]
bets = "50%,a"
raises = "a"
"""


@pytest.fixture(scope="module")
def solved():
    return solve_spot(Spot.from_toml(SPOT), 0.5)


@pytest.fixture(scope="module")
def file(solved, tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "turn.solution"
    solved.save(path)
    return path


@pytest.fixture(scope="module")
def looked(file):
    return Solution.look(file)


# ---------------------------------------------------------------------------------------- looking


def test_the_last_street_is_worth_what_the_sweep_says(solved):
    for board in (1, 20):
        for player in (0, 1):
            swept = solved.tableau.values(player, board, solved.plan)
            found = LastStreet(solved, player, board)
            assert list(found) == list(swept)
            scale = max(np.abs(values).max() for values in swept.values())
            for node, values in swept.items():
                assert np.allclose(found[node], values, atol=1e-5 * scale)


@pytest.mark.parametrize(
    "line", ["", "check", "check, bet 3.25, call, Kh, check", "check, check, 2c"]
)
def test_a_look_shows_what_the_solve_says(solved, looked, line):
    steps = [line] if line else []
    one, other = solved.at(*steps), looked.at(*steps)
    assert one.actions == other.actions
    assert np.array_equal(one.strategy(), other.strategy(), equal_nan=True)
    for player in (0, 1):
        assert np.allclose(one.ev(player), other.ev(player), atol=1e-4, equal_nan=True)
        assert np.allclose(one.equity(player), other.equity(player), equal_nan=True)
    assert np.allclose(one.action_ev(), other.action_ev(), atol=1e-4, equal_nan=True)


def test_a_look_reads_what_it_shows_and_cannot_go_on(looked, file, tmp_path):
    base = looked.plan
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    assert not base.writable() if hasattr(base, "writable") else not looked.plan.flags.writeable
    with pytest.raises(SolverError, match="load a file"):
        looked.solve_on()
    short = tmp_path / "short.solution"
    short.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ArtefactError):
        Solution.look(short)


def test_the_value_of_actions_is_the_value_of_the_hand(looked):
    for line in ("check", "check, check, 2c"):
        here = looked.at(line)
        mixed = (here.strategy() * here.action_ev()).sum(axis=0)
        assert np.allclose(mixed, here.ev(here.player), atol=1e-3, equal_nan=True)
    told = looked.at("check, bet 3.25").hand("AcAh")
    assert told["player"] == "oop"
    assert [row["action"] for row in told["actions"]] == ["fold", "call", "allin 19.5"]
    assert told["actions"][0]["ev_bb"] == pytest.approx(0, abs=1e-4)


def test_both_players_share_the_pot_less_the_rake(looked):
    root = looked.at()
    assert root.pot == 6.5
    assert 6.0 <= root.mean_ev(0) + root.mean_ev(1) <= 6.5
    assert looked.to_dict()["ev_oop_chips"] == pytest.approx(100 * root.mean_ev(0))


def test_exported_lines_can_be_walked(looked):
    frame = looked.to_polars()
    rivers = frame.filter(frame["street"] == "river")
    for place in (0, len(rivers) // 2, len(rivers) - 1):
        row = rivers.row(place, named=True)
        here = looked.at(row["line"])
        at = [str(name) for name in here.columns()["hand"]].index(row["hand"])
        assert ";".join(here.actions) == row["actions"]
        for number, worth in enumerate(here.action_ev()[:, at], start=1):
            told = row[f"ev{number}"]
            assert (worth != worth) if told is None else told == pytest.approx(worth, abs=1e-3)


# ---------------------------------------------------------------------------------------- reports


@pytest.mark.parametrize(
    ("hand", "board", "classes"),
    [
        ("AhKd", "Ks8d3c", ("top pair", "no draw")),
        ("8h8c", "Ks8d3c", ("set", "no draw")),
        ("KhQh", "Ks8h8d", ("top pair", "no draw")),
        ("8cQh", "Ks8h8d", ("trips", "no draw")),
        ("AhAd", "Ks8h8d", ("overpair", "no draw")),
        ("QhJh", "Th9h2c", ("no pair", "combo draw")),
        ("Ah5h", "Kh9h2c", ("ace high", "flush draw")),
        ("Ad5d", "Kh9h2h", ("ace high", "no draw")),
        ("4c3d", "Ah2c9s", ("no pair", "gutshot")),
        ("8s7s", "9d6h2c", ("no pair", "open-ended")),
        ("9c7c", "JdTs8h", ("straight", "no draw")),
        ("2c2d", "KsKdKh", ("full house", "no draw")),
        ("AcQd", "KsKdKh", ("ace high", "no draw")),
        ("8s7s", "9d6h2cKdQd", ("no pair", "no draw")),
    ],
)
def test_classes_that_a_player_would_name(hand, board, classes):
    assert made_and_draw(parse_cards(hand), parse_cards(board)) == classes


def test_straight_draws_agree_with_dealing_every_rank():
    board = parse_cards("Jh9c4d")
    rng = np.random.default_rng(5)
    for combo in rng.choice(len(COMBO_CARDS), 150, replace=False):
        hand = COMBO_CARDS[combo].tolist()
        if set(hand) & set(board):
            continue
        made, draw = made_and_draw(hand, board)
        if made in MADE[:5]:
            continue
        ranks = 0
        for rank in range(13):
            held = {card // 4 for card in (*hand, *board)} | {rank}
            tops = [top for top in range(3, 13) if all((top - k) % 13 in held for k in range(5))]
            ranks += bool(tops)
        expected = 0 if draw in ("no draw", "flush draw") else 1 if draw == "gutshot" else 2
        if draw != "combo draw":
            assert min(ranks, 2) == expected, (hand, draw, ranks)


def test_classes_hold_the_whole_range(looked):
    found = HandClasses(looked.at("check"))
    for kind, names in (("made", MADE), ("draw", DRAWS)):
        rows = [row for row in found.rows if row["kind"] == kind]
        assert {row["class"] for row in rows} <= set(names)
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        mean = sum(row["share"] * row["check"] for row in rows)
        assert mean == pytest.approx(looked.at("check").frequencies()[0], abs=1e-9)


def test_equity_graphs_have_the_mean_of_the_range(looked):
    here = looked.at("check")
    graph = EquityGraph(here)
    for player in (0, 1):
        ends, equity = graph.curves[player]
        assert np.all(np.diff(equity) >= 0)
        assert equity @ np.diff([0, *ends]) == pytest.approx(here.mean_equity(player))


def test_run_outs_are_all_cards_and_average_to_the_pot(looked, tmp_path):
    here = looked.at("check", "check")
    report = RunoutReport(here)
    assert len({row["card"] for row in report.rows}) == 48
    for row in report.rows[:3]:
        after = here.step(row["card"])
        assert row["ev_oop_bb"] == pytest.approx(after.mean_ev("oop"))
        assert [row[action] for action in report.actions] == pytest.approx(after.frequencies())
    report.plot(tmp_path / "cards.png")
    assert (tmp_path / "cards.png").stat().st_size > 5000
    with pytest.raises(IllegalActionError, match="ends its street"):
        RunoutReport(looked.at("check"))


def test_a_position_compared_with_itself_and_with_another(solved, looked):
    same = Comparison(looked.at("check"), looked.at("check"))
    assert max(same.columns()["difference"]) == 0
    other = solve_spot(Spot.from_toml(SPOT.replace('bets = "50%,a"', 'bets = "100%,a"')), 0.5)
    found = Comparison(looked.at(), other.at()).to_dict()
    assert found["frequencies"].keys() == {"check", "bet 3.25", "bet 6.5", "allin 19.5"}
    assert found["frequencies"]["bet 6.5"][0] == 0
    assert abs(found["ev_oop_difference_pct_pot"]) < 5
    chips = solve_spot(Spot("Td9d6hQc2s", "AA", "KK", pot=10, stack=10, menu="a"))
    with pytest.raises(EquipoiseError, match="one unit"):
        Comparison(looked.at(), chips.at())


# ---------------------------------------------------------------------------------- locks, drills


def test_a_line_is_walked_in_another_menu_by_the_nearest_sizes(looked):
    menu = {"bets": "33%,75%", "raises": "60%", "max_raises": 2}
    told = {**Spot.from_toml(SPOT).to_dict(), "menu": menu}
    other = Solution.unsolved(Spot.from_dict(told)).at()
    for line, walked in (
        ("", ()),
        # 3.25 is 1.51 times 2.15, and 4.88 is 1.50 times 3.25.
        ("check, bet 3.25, call, Kh, check", ("check", "bet 4.88", "call", "Kh", "check")),
        ("bet 3.25, allin 19.5", ("bet 4.88", "raise 14.64")),
        ("allin 19.5", ("bet 4.88",)),
    ):
        place = looked.at(line) if line else looked.at()
        assert alongside(other, place.line).line == walked
    with pytest.raises(IllegalActionError, match="there is only fold, call"):
        alongside(looked.at(), ("allin 19.5", "raise 30"))
    with pytest.raises(EquipoiseError, match="on the board"):
        alongside(looked.at(), ("check", "check", "Td"))


def test_a_lock_by_frequency_loses_least():
    spot = Spot("Td9d6hQc2s", "22+,A2s+,KTs+", "TT+,AQs+,KQs,87s", 100, 200, "50%,a")
    solution = solve_spot(spot, 0.1)
    root = solution.at()
    play = by_frequency(root, {"bet 50": 0.3})
    weight = root.weight(0)
    assert np.allclose(play.sum(axis=0), 1)
    assert play[1] @ weight / weight.sum() == pytest.approx(0.3, abs=1e-6)
    # No strategy of that frequency is worth more: any two hands that swap lose.
    worth = np.nan_to_num(root.action_ev())
    gain = worth[1] - np.maximum(worth[0], worth[2])
    betting, passing = gain[play[1] > 0.99], gain[play[1] < 0.01]
    assert betting.min() >= passing.max() - 0.01
    solution.lock(root, play)
    solution.solve_on(0.3)
    assert solution.at().frequencies()[1] == pytest.approx(0.3, abs=1e-3)
    with pytest.raises(SolverError, match="choose from"):
        by_frequency(solution.at(), {"bet 60": 0.3})
    with pytest.raises(SolverError, match="sum to 1"):
        by_frequency(solution.at(), {"bet 50": 0.7, "check": 0.6})


def test_a_drill_deals_what_is_held_and_grades_by_ev(looked):
    here = looked.at("check, bet 3.25")
    drill = Drill(here, np.random.default_rng(3))
    for _ in range(60):
        hand = drill.deal()
        told = here.hand(hand)
        assert told["reach"] > 0
        worth = {row["action"]: row["ev_bb"] for row in told["actions"]}
        best = max(worth, key=worth.__getitem__)
        graded = drill.answer("fold" if best != "fold" else "call")
        assert graded.best == best
        assert graded.loss == pytest.approx(worth[best] - worth[graded.action])
    drill.deal()
    with pytest.raises(IllegalActionError, match="choose one of"):
        drill.answer("limp")
    score = drill.score()
    assert score["hands"] == 60
    assert score["right"] + score["inaccurate"] + score["blunders"] == 60
    assert score["mean_loss_bb"] > 0


# ---------------------------------------------------------------------------------------- amounts


@pytest.mark.parametrize("unit", ["chips", "bb"])
def test_amounts_with_decimals_are_kept(unit):
    text = f'unit = "{unit}"\nboard = "Td9d6hQc2s"\npot = 6.5\nstack = 97.125\nline = "bet 3.125"\n'
    spot = Spot.from_toml(text + 'ranges.oop = "AA"\nranges.ip = "KK"\nmenu.bets = "50%,a"\n')
    assert (spot.pot, spot.stack, spot.parts, spot.min_bet) == (6500, 97125, 1000, 1000)
    assert spot.played == ("bet 3.125",)
    assert Spot.from_toml(spot.to_toml()) == spot
    assert spot.to_dict()["stack"] == 97.125
    with pytest.raises(EquipoiseError, match=r"raise 6\.25-97\.124 or allin 97\.125"):
        Spot.from_dict({**spot.to_dict(), "line": "bet 3.125, raise 5"})


def test_units_do_not_change_the_answer():
    chips = Spot("Td9d6hQc2s", "22+,A2s+", "TT+", 650, 1950, "50%,a", Rake(0.05, 50), min_bet=100)
    text = chips.to_toml().replace("pot = 650", 'unit = "bb"\npot = 6.5')
    text = text.replace("stack = 1950", "stack = 19.5").replace("min_bet = 100\n", "")
    big = Spot.from_toml(text.replace("cap = 50.0", "cap = 0.5"))
    one, other = solve_spot(chips, iterations=20), solve_spot(big, iterations=20)
    assert other.at().mean_ev(0) == pytest.approx(one.at().mean_ev(0) / 100)
    assert other.to_dict()["ev_ip_chips"] == pytest.approx(one.to_dict()["ev_ip_chips"])
    # Every pair of hands is there once.
    assert len(list(combinations(one.at().hands(0), 1))) == len(other.at().hands(0))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ('unit = "eur"', "unit = 'eur': count in one of chips, bb"),
        ("pot = 6.1234567", "at most six decimals"),
        ('menu.bets = "50c"', "chips do not go with big blinds"),
    ],
)
def test_amounts_that_mean_nothing_are_refused(change, sentence):
    lines = {
        "unit": 'unit = "bb"', "pot": "pot = 6.5", "stack": "stack = 20",
        "board": 'board = "Td9d6hQc2s"', "ranges.oop": 'ranges.oop = "AA"',
        "ranges.ip": 'ranges.ip = "KK"', "menu.bets": 'menu.bets = "a"',
    }  # fmt: skip
    lines[change.split(" = ")[0]] = change
    with pytest.raises(EquipoiseError, match=sentence):
        Spot.from_toml("\n".join(lines.values()))

"""Files of hands: recognised by content, verified, counted, exported; damage found by its line."""

import contextlib
import csv
import gzip
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from equipoise.arena.acpc.protocol import hand_line, read_state_line
from equipoise.arena.histories import phh
from equipoise.arena.histories.history import History
from equipoise.arena.histories.parquet import export_hands
from equipoise.arena.histories.players import summarise
from equipoise.arena.match import play_match
from equipoise.errors import EquipoiseError, FileError, HistoryError
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM

DATA = Path(__file__).parents[1] / "data"


def problems_of(path):
    found = []
    right = History.open(path).verify(found.append)
    return right, found


@pytest.mark.parametrize(
    ("file", "kind", "rules", "count"),
    [
        ("dealer_limit.log", "acpc", LIMIT_HOLDEM, 30),
        ("dealer_nolimit.log", "acpc", NOLIMIT_HOLDEM, 30),
        ("deepstack.acpc", "acpc", NOLIMIT_HOLDEM, 40),
        ("dealer_limit.actions.log", "transcript", LIMIT_HOLDEM, 2),
        ("dealer_nolimit.actions.log", "transcript", NOLIMIT_HOLDEM, 6),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_real_files_verify(file, kind, rules, count, packed, tmp_path):
    path = DATA / file
    if packed:
        path = tmp_path / "hands"
        path.write_bytes(gzip.compress((DATA / file).read_bytes()))
    history = History.open(path)
    assert (history.kind, history.rules) == (kind, rules)
    assert problems_of(path) == (count, [])


def test_phh_verifies_but_for_a_free_fold():
    right, found = problems_of(DATA / "headsup.phhs")
    assert right == 19
    assert [problem.damaged for problem in found] == [False]
    assert "folds where checking is free" in found[0].text


def test_free_folds_are_read_and_reported():
    """All that are among 20,000 real hands."""
    path = DATA / "free_folds.phhs"
    hands = list(History.open(path).hands())
    assert len(hands) == 14
    for hand in hands:
        assert hand.payoffs[hand.state.folded] < 0
        assert hand.text().splitlines()[-2].endswith(f"{hand.players[hand.state.folded]} folds")
        again = phh.read_hand(phh.write_hand(hand))
        assert (again.state, again.payoffs) == (hand.state, hand.payoffs)
        assert read_state_line(hand.rules, hand_line(hand)).state == hand.state
    right, found = problems_of(path)
    assert right == 0
    assert len(found) == 14
    assert all("folds where checking is free" in problem.text for problem in found)
    assert not any(problem.damaged for problem in found)


def spoilt(tmp_path, number, old, new, file="dealer_nolimit.log"):
    lines = (DATA / file).read_text().splitlines(keepends=True)
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new, 1)
    path = tmp_path / "spoilt.log"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(
    ("number", "old", "new", "damaged"),
    [
        (5, "20000|-20000", "-20000|20000", False),
        (5, "r19686", "r19", False),
        (7, "2h4c", "2hAh", True),
        (7, "STATE", "STAT", True),
        (7, ":50|", ":x|", True),
    ],
)
def test_each_damage_is_found_on_its_line(tmp_path, number, old, new, damaged):
    path = spoilt(tmp_path, number, old, new)
    right, found = problems_of(path)
    assert right == 29
    assert [(problem.line, problem.damaged) for problem in found] == [(number, damaged)]
    assert found[0].text.startswith(f"line {number}: ")
    if damaged:
        with pytest.raises(HistoryError, match=f"^line {number}: .*--skip-damaged"):
            list(History.open(path).hands())
        skipped = []
        assert len(list(History.open(path).hands(skipped.append))) == 29
        assert [problem.line for problem in skipped] == [number]


def test_a_wrong_line_of_a_transcript_is_found(tmp_path):
    path = spoilt(tmp_path, 7, "9hQd", "9hQc", "dealer_nolimit.actions.log")
    _, found = problems_of(path)
    assert [(problem.line, problem.damaged) for problem in found] == [(7, False)]
    assert "was due" in found[0].text
    path = spoilt(tmp_path, 7, "TO 2", "2", "dealer_nolimit.actions.log")
    assert problems_of(path)[1][0].damaged


def test_a_wrong_score_is_found(tmp_path):
    path = tmp_path / "match.log"
    hands = "STATE:0:f:Ah8s|2h4c:50|-50:p1|p2\nSTATE:1:f:Ah8s|2h4c:50|-50:p2|p1\n"
    path.write_text(hands + "SCORE:0|0:p1|p2\n")
    assert problems_of(path) == (2, [])
    path.write_text(hands + "SCORE:5|-5:p1|p2\n")
    assert [problem.line for problem in problems_of(path)[1]] == [3, 3]


def test_logs_of_our_matches_verify(tmp_path):
    for equity in (False, True):
        log = tmp_path / f"{equity}.log"
        play_match("random", "call", NOLIMIT_HOLDEM, 40, 3, log=log, allin_equity=equity)
        right, found = problems_of(log)
        assert (right, found) == (40, [])


def test_pairs_of_a_duplicate_log_are_samples(tmp_path):
    """The interval is the match's own, whoever reads the log."""
    log = tmp_path / "match.log"
    match = play_match("random", "call", NOLIMIT_HOLDEM, 400, 3, log=log)
    history = History.open(log)
    assert history.duplicate
    players = {player.name: player for player in summarise(history.hands(), history.duplicate)}
    rate = players["random"].win_rate
    assert rate.count == 200
    assert rate.mean == pytest.approx(match.mbb_per_hand)
    assert rate.half_width == pytest.approx(match.ci95_mbb)
    assert players["call"].win_rate.half_width == pytest.approx(match.ci95_mbb)
    alone = summarise(history.hands())[0].win_rate
    assert alone.count == 400
    assert alone.half_width != pytest.approx(match.ci95_mbb, rel=0.05)
    # A pair of which one hand is missing is no sample.
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-2]))
    assert summarise(history.hands(), paired=True)[0].win_rate.count == 199
    log.unlink()
    play_match("random", "call", NOLIMIT_HOLDEM, 40, 3, log=log, duplicate=False)
    assert not History.open(log).duplicate


HAND_LINE = "STATE:0:f:Ah8s|2h4c:50|-50:p1|p2\n"


@pytest.mark.parametrize(
    "header",
    ["[1]", "{", "[" * 100_000, '{"game": 7}', '{"game": "GAMEDEF"}', '{"seed": ' + "9" * 5000 + "}",
     '{"game": "GAMEDEF\\nlimit\\nnumPlayers=2\\nnumRounds=300000000"}'],
)  # fmt: skip
def test_a_damaged_header_is_passed_over(tmp_path, header):
    path = tmp_path / "match.log"
    path.write_text(f"# match {header}\n{HAND_LINE}")
    assert problems_of(path) == (1, [])


@pytest.mark.parametrize("score", ["nan|nan", "9" * 5000 + "|0", "inf|-inf", "x|y", "1_0|-1_0"])
def test_a_score_that_is_no_number_is_damage(tmp_path, score):
    path = tmp_path / "match.log"
    path.write_text(f"{HAND_LINE}SCORE:{score}:p1|p2\n")
    right, found = problems_of(path)
    assert right == 1
    assert [(problem.line, problem.damaged) for problem in found] == [(2, True)]
    assert len(found[0].text) < 200


@pytest.mark.parametrize("seed", ["9" * 5000, "4294967296", "٣"])
def test_a_transcript_needs_a_seed(tmp_path, seed):
    path = tmp_path / "match.log"
    path.write_text(f"# name/game/hands/seed demo nolimit 1 {seed}\nSTARTED at 0.0\n")
    _, found = problems_of(path)
    assert [problem.text for problem in found] == [
        "line 1: a seed is a number from 0 to 4294967295"
    ]


def test_lines_without_end_take_little_memory(tmp_path):
    path = tmp_path / "match.log"
    path.write_bytes(b"# " + b"x" * (8 << 20))
    with pytest.raises(HistoryError, match="no hand history"):
        History.open(path)


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x1f\x8bbroken", b"\xff" * 500])
def test_what_is_no_history_is_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(HistoryError):
        History.open(path)
    for name in ("nothing", "a\0b", "x" * 5000, "."):
        with pytest.raises(HistoryError, match="cannot read"):
            History.open(tmp_path / name)


def test_a_cut_archive_is_one_sentence(tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress((DATA / "deepstack.acpc").read_bytes())[:-300])
    with pytest.raises(HistoryError, match="damaged after line"):
        list(History.open(path).hands())


def test_random_damage_never_escapes(tmp_path):
    random = Random(5)
    path = tmp_path / "fuzzed"
    for file in ("dealer_nolimit.log", "headsup.phhs", "dealer_limit.actions.log"):
        good = (DATA / file).read_bytes()
        for _ in range(40):
            data = bytearray(good)
            for _ in range(random.randint(1, 6)):
                place = random.randrange(len(data))
                data[place : place + random.randint(0, 20)] = random.randbytes(random.randint(0, 8))
            path.write_bytes(data)
            found = []
            with contextlib.suppress(EquipoiseError):
                history = History.open(path)
                history.verify(found.append)
                summarise(history.hands(found.append))
            assert all(problem.text.startswith("line ") for problem in found)


def test_figures_of_players_counted_by_hand(tmp_path):
    path = tmp_path / "match.log"
    path.write_text(
        # bob folds his button: no bet was faced
        "STATE:0:f:Ah8s|2h4c:50|-50:ann|bob\n"
        # ann limps, bob checks his option; ann bets the flop, bob folds
        "STATE:1:cc/cr200f:Ah8s|2h4c/7c8c9c:-100|100:bob|ann\n"
        # bob raises, ann calls, checked down: ann's eights win
        "STATE:2:r300c/cc/cc/cc:Ah8s|2h4c/7c8c9c/Kd/3d:300|-300:ann|bob\n"
        # ann raises, bob re-raises, ann folds
        "STATE:3:r300r900f:Ah8s|2h4c:300|-300:bob|ann\n"
    )
    ann, bob = summarise(History.open(path).hands())
    assert (ann.name, ann.hands, bob.hands) == ("ann", 4, 4)
    assert (ann.vpip, bob.vpip) == (3 / 4, 2 / 4)
    assert (ann.raised_preflop, bob.raised_preflop) == (1 / 4, 2 / 4)
    # ann faced two raises and folded to one, bob one bet and one raise of ann's
    assert (ann.fold_to_bet, bob.fold_to_bet) == (1 / 2, 1 / 2)
    assert (ann.showdown, ann.won_at_showdown, bob.won_at_showdown) == (1 / 4, 1, 0)
    assert ann.win_rate.mean == pytest.approx((500 + 1000 + 3000 - 3000) / 4)
    assert ann.win_rate.mean == -bob.win_rate.mean
    assert ann.win_rate.half_width == pytest.approx(bob.win_rate.half_width)
    assert ann.to_dict()["ci95_mbb"] > 0


def test_export(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "hands.parquet"
    assert export_hands(History.open(DATA / "deepstack.acpc").hands(), path) == 40
    table = polars.read_parquet(path)
    assert table.height == 40
    assert (table["payoff_chips_0"] + table["payoff_chips_1"]).abs().sum() == 0
    lines = (DATA / "deepstack.acpc").read_text().splitlines()
    assert table["betting"].to_list() == [line.split(":")[2] for line in lines]
    assert list(tmp_path.iterdir()) == [path]
    assert export_hands(History.open(DATA / "headsup.phhs").hands(), path) == 20
    assert polars.read_parquet(path)["hole_0"].null_count() > 0
    with pytest.raises(FileError, match="cannot write"):
        export_hands([], tmp_path / "none" / "x.parquet")


def test_export_is_what_the_name_says(tmp_path):
    path = tmp_path / "hands.csv"
    assert export_hands(History.open(DATA / "deepstack.acpc").hands(), path) == 40
    rows = list(csv.DictReader(path.open()))
    lines = (DATA / "deepstack.acpc").read_text().splitlines()
    assert [row["betting"] for row in rows] == [line.split(":")[2] for line in lines]
    assert [row["player_0"] for row in rows] == [line.split(":")[5].split("|")[0] for line in lines]
    with pytest.raises(HistoryError, match=r"as \.parquet or \.csv"):
        export_hands([], tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == [path]


def test_text_reads_like_poker():
    hands = list(History.open(DATA / "dealer_nolimit.log").hands())
    assert hands[0].text().splitlines() == [
        "hand 0: no-limit hold'em 50-100, stack 20000",
        "  big blind p1 5d5c 20000, button p2 9hQd 20000",
        "  preflop (150): p2 raises to 19686, p1 raises to 20000 all-in, p2 calls 314",
        "  flop 8d As 8s (40000)",
        "  turn 8d As 8s 4h (40000)",
        "  river 8d As 8s 4h 6d (40000)",
        "  p1 wins 20000 at the showdown",
    ]


def test_reading_histories_compiles_nothing():
    line = (
        "import sys; from equipoise.arena.histories import history, phh; "
        "print([m for m in ('numba', 'llvmlite', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

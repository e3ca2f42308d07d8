"""Tournaments: the cross table, both rankings by hand, triplets, files."""

import csv
import io
import math

import numpy as np
import pytest

from equipoise.agents.agent import Agent
from equipoise.agents.simple import CallAgent
from equipoise.arena.crosstable import save, to_csv, to_html, to_png
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.tournament import Tournament, match_seeds, play_tournament
from equipoise.errors import EquipoiseError, FileError
from equipoise.games.rules import NOLIMIT_HOLDEM


def match(a: str, b: str, payoffs: list[float], duplicate: bool = True) -> MatchResult:
    return MatchResult(
        a=a,
        b=b,
        rules=NOLIMIT_HOLDEM,
        seed=0,
        duplicate=duplicate,
        payoffs=np.array(payoffs, dtype=np.float64),
        faults=(),
        forfeited_by=None,
        interrupted=False,
        hands_now=len(payoffs),
        seconds=1.0,
        log=None,
    )


def by_rates(names: str, rates: dict[str, float]) -> Tournament:
    """A tournament whose match `xy` is won by x at so many chips a hand."""
    matches = {}
    for pair, chips in rates.items():
        i, j = names.index(pair[0]), names.index(pair[1])
        matches[i, j] = match(*pair, [chips - 1, chips - 1, chips + 1, chips + 1])
    return Tournament(tuple(names), NOLIMIT_HOLDEM, 0, matches)


def test_bankroll_and_runoff_disagree_where_they_should():
    # d is weak and loses most to a; without d, a loses to both others.
    result = by_rates("abcd", {"ab": -1, "ac": -2, "ad": 30, "bc": 4, "bd": 5, "cd": 6})
    # Totals over three opponents: a +27, b 1+4+5 = 10, c 2-4+6 = 4, d -41.
    assert [result.total(i)[0] for i in range(4)] == pytest.approx([90, 100 / 3, 40 / 3, -410 / 3])
    assert result.by_bankroll() == [0, 1, 2, 3]
    # Run-off: d goes (-41); then a -3, b +5, c -2: a goes; then c loses 4 to b.
    assert result.by_runoff() == [1, 2, 0, 3]


def test_ties_at_the_bottom_are_broken_by_the_total_then_by_order():
    result = by_rates("abc", {"ab": 0, "ac": 0, "bc": 0})
    assert result.by_runoff() == [0, 1, 2]


def test_rates_and_intervals_are_the_rows():
    result = by_rates("ab", {"ab": 3})
    half = 10 * 12.7062047 * math.sqrt(2) / math.sqrt(2)
    assert result.rate(0, 1) == pytest.approx((30, half))
    assert result.rate(1, 0) == pytest.approx((-30, half))
    assert result.total(1) == pytest.approx((-30, half))


def test_variances_of_independent_matches_add():
    result = by_rates("abc", {"ab": 1, "ac": 5, "bc": 0})
    error = result.matches[0, 1].estimate.standard_error
    mean, half = result.total(0)
    assert mean == pytest.approx(30)
    # 4.302653: Student's quantile with two degrees of freedom.
    assert half == pytest.approx(4.302653 * error * math.sqrt(2) / 2, rel=1e-6)


def test_a_pair_is_won_by_the_sum_of_its_hands():
    played = match("a", "b", [5, 1, -5, -1, 5, -1, 0, 3, 0, 0, 4, -4])
    assert played.triplet == (3, 1, 2)
    result = Tournament(("a", "b"), NOLIMIT_HOLDEM, 0, {(0, 1): played})
    assert result.triplet(0, 1) == (3, 1, 2)
    assert result.triplet(1, 0) == (1, 3, 2)
    assert match("a", "b", [5, 1, -5], duplicate=False).triplet == (2, 1, 0)


def test_everybody_plays_everybody():
    result = play_tournament(["fold", "call", "all-in", "random"], hands=40, seed=3)
    assert sorted(result.matches) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert result.rate(0, 2) == (-750, 0)
    assert result.triplet(2, 0) == (20, 0, 0)
    assert len({played.seed for played in result.matches.values()}) == 6
    told = result.to_dict()
    assert set(told["runoff"]) == {"fold", "call", "all-in", "random"}
    assert sum(row["mbb_per_hand"] for row in told["bankroll"]) == pytest.approx(0)


def test_seeds_of_matches_are_distinct_and_reproducible():
    seeds = match_seeds(7, 500)
    assert len(set(seeds)) == 500
    assert seeds[:10] == match_seeds(7, 10)
    assert not set(seeds) & set(match_seeds(8, 500))


def test_logs_let_a_tournament_go_on(tmp_path):
    players = ["random", "call", "fold"]
    whole = play_tournament(players, hands=40, seed=1)
    play_tournament(players, hands=20, seed=1, logs=tmp_path)
    again = play_tournament(players, hands=40, seed=1, logs=tmp_path, resume=True)
    assert all(again.matches[key].hands_now == 20 for key in again.matches)
    assert to_csv(again) == to_csv(whole)


def test_logs_are_replaced_only_if_so_asked(tmp_path):
    players = ["random", "call", "fold"]
    play_tournament(["random", "fold"], hands=4, logs=tmp_path)
    with pytest.raises(FileError, match=r"random\.fold\.log' exists: add --overwrite"):
        play_tournament(players, hands=4, seed=1, logs=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["random.fold.log"]
    play_tournament(players, hands=4, seed=1, logs=tmp_path, overwrite=True)
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(FileError, match="no logs of these players"):
        play_tournament(players, hands=4, seed=1, logs=tmp_path / "typo", resume=True)
    assert not (tmp_path / "typo").exists()


def test_names_of_players_lead_nowhere_else(tmp_path):
    class Odd(CallAgent):
        def __init__(self, name):
            super().__init__()
            self.name = name

    names = ("../x", "a.b", "c", "a", "b.c", r"$\frac$")
    logs = tmp_path / "logs"
    result = play_tournament([Odd(name) for name in names], hands=4, logs=logs)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert len(list(logs.iterdir())) == 15
    assert to_png(result).startswith(b"\x89PNG")


def test_an_interrupted_tournament_keeps_its_matches():
    class Impatient(Agent):
        name = "impatient"

        def act(self, view):
            raise KeyboardInterrupt

    result = play_tournament(["fold", "all-in", Impatient()], hands=4)
    assert result.interrupted
    assert list(result.matches) == [(0, 1)]
    assert result.rate(2, 0) is None
    assert result.triplet(0, 2) is None
    assert result.by_bankroll()[0] == 1
    assert "Stopped" in to_html(result)


def test_files_hold_the_table(tmp_path):
    result = play_tournament(["fold", "call", "all-in"], hands=20)
    rows = list(csv.DictReader(io.StringIO(to_csv(result))))
    assert [(row["a"], row["b"]) for row in rows] == [
        ("fold", "call"),
        ("fold", "all-in"),
        ("call", "all-in"),
    ]
    assert float(rows[1]["mbb_per_hand"]) == -750
    assert to_png(result).startswith(b"\x89PNG")
    page = to_html(result)
    assert "+750 ± 0" in page
    assert "(10, 0, 0)" in page
    for ending in (".csv", ".png", ".html"):
        save(result, tmp_path / f"cross{ending}")
        assert (tmp_path / f"cross{ending}").stat().st_size > 100
    with pytest.raises(EquipoiseError, match="is saved as"):
        save(result, tmp_path / "cross.pdf")


def test_players_are_at_least_two_and_have_names_of_their_own():
    with pytest.raises(EquipoiseError, match="at least two"):
        play_tournament(["call"])
    with pytest.raises(EquipoiseError, match="two players are called 'call'"):
        play_tournament(["call", "fold", "call"])

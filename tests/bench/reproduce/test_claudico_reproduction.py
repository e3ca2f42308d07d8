"""What is said of Claudico: regions of hands, counts of Rhode Island, and the match's significance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equipoise.agents.blueprint.files import find_blueprint
from equipoise.agents.registry import make_agent
from equipoise.bench.reproduce.claudico import counting, matches, merging, regions, riverregions
from equipoise.bench.reproduce.claudico.endgames import overbet
from equipoise.bench.reproduce.claudico.matches import significance_of
from equipoise.bench.reproduce.claudico.orderings import (
    ORDERINGS,
    solve_ordering,
    solve_regions,
)
from equipoise.bench.reproduce.claudico.riverplay import added_by_endgames
from equipoise.bench.reproduce.claudico.significance import significance, standard_errors, win_rate
from equipoise.bench.reproduce.claudico.spots import SPOT_B
from equipoise.errors import ArtefactError, SolverError
from equipoise.solve.spots.bucketedriver import solve_river


@pytest.mark.parametrize("pot", [0.5, 1.0, 2.0, 4.0])
def test_even_hands_have_the_closed_form(pot: float) -> None:
    found, ordering = solve_regions(pot)
    assert ordering == "I"
    assert tuple(found) == pytest.approx(tuple(regions.uniform_regions(pot)), abs=1e-12)
    checked = regions.check_regions(pot, regions.UNIFORM, regions.UNIFORM, found)
    assert checked.value == pytest.approx(-found.b / 2, abs=1e-12)
    assert abs(checked.epsilon) < 1e-12


@pytest.mark.parametrize("pot", [0.5, 1.0, 2.0, 4.0])
def test_half_streets_have_one_too(pot: float) -> None:
    found, _ = solve_regions(pot, half_street=True)
    assert tuple(found) == pytest.approx(tuple(regions.half_street_regions(pot)), abs=1e-12)
    checked = regions.check_regions(pot, regions.UNIFORM, regions.UNIFORM, found, half_street=True)
    assert checked.value == pytest.approx(pot * found.b / 2, abs=1e-12)
    assert abs(checked.epsilon) < 1e-12
    # Who may bet after a check would.
    whole = regions.check_regions(pot, regions.UNIFORM, regions.UNIFORM, found)
    assert whole.epsilon > 1e-3


@pytest.mark.parametrize(("number", "ordering"), [(0, "I"), (1, "II"), (2, "III")])
def test_other_hands_too(number: int, ordering: str) -> None:
    pot, own, other, value = regions.INSTANCES[number]
    found, name = solve_regions(pot, own, other)
    checked = regions.check_regions(pot, own, other, found)
    assert name == ordering
    assert checked.value == pytest.approx(value, abs=1e-9)
    assert abs(checked.epsilon) < 1e-9


def test_a_wrong_border_and_a_wrong_ordering_show_themselves() -> None:
    moved = {"a": 0.002129, "b": 0.0041, "c": 0.000112, "d": 0.001767, "e": 0.002521, "f": 0.004125}
    even = regions.uniform_regions(1.0)
    for border, cost in moved.items():
        off = even._replace(**{border: getattr(even, border) + 0.01})
        found = regions.check_regions(1.0, regions.UNIFORM, regions.UNIFORM, off)
        assert found.epsilon == pytest.approx(cost, abs=1e-6)
    pot, own, other, _ = regions.INSTANCES[1]
    guess = solve_ordering(pot, own, other, ORDERINGS["I"])
    assert guess.b > guess.f
    assert regions.check_regions(pot, own, other, guess).epsilon == pytest.approx(0.0244, abs=1e-4)


def test_values_agree_with_playing_the_hands_out() -> None:
    """Both players' hands on a fine grid, every pair of them."""
    pot, own, other, value = regions.INSTANCES[0]
    at, _ = solve_regions(pot, own, other)
    edges = np.linspace(0, 1, 1501)
    x = (edges[1:] + edges[:-1]) / 2
    mine = np.diff([own.below(e) for e in edges])
    his = np.diff([other.below(e) for e in edges])
    won = (x[:, None] > x[None]) + 0.5 * (x[:, None] == x[None])
    bets, calls = ((x <= at.b) | (x >= at.a))[:, None], (x >= at.c)[:, None]
    answers, stabs = x >= at.d, (x <= at.f) | (x >= at.e)
    showdown = (pot + 2) * won - 1
    facing = np.where(answers, showdown, pot)
    checked = np.where(stabs, np.where(calls, showdown, 0.0), pot * won)
    total = mine @ np.where(bets, facing, checked) @ his - pot / 2
    assert total == pytest.approx(value, abs=2e-3)


@pytest.mark.parametrize(("river", "most"), [(0, 0.5), (3, 0.5), (4, 1.0), (7, 1.0)])
def test_regions_on_real_rivers_are_near_the_exact_solution(river: int, most: float) -> None:
    spot = riverregions.RIVERS[river]
    found = riverregions.solve_by_regions(spot, 20)
    assert abs(found["model_epsilon_pct_pot"]) < 1e-7
    assert 0 < found["exploitability_pct_pot"] < most
    # Coarser distributions lie further from the hands.
    coarse = riverregions.solve_by_regions(spot, 3)
    assert coarse["exploitability_pct_pot"] > found["exploitability_pct_pot"]


def test_hands_of_a_rank_are_divided_as_it_lies_in_the_regions() -> None:
    spot = riverregions.RIVERS[0]
    game = spot.game(use_symmetry=False)
    hands = riverregions.OrderedHands(game, 10)
    assert hands.above(0.0, 0).min() == 1
    assert hands.above(1.0, 1).max() == 0
    half = hands.above(0.5, 0)
    order = np.argsort(hands.rank[0])
    assert (np.diff(half[order]) >= 0).all()
    assert (np.diff(hands.left) > 0).all()
    assert hands.left[1:] == pytest.approx(hands.right[:-1], abs=1e-12)


def test_distributions_rise() -> None:
    with pytest.raises(SolverError, match="rises"):
        regions.Hands(((0, 0), (0.5, 0.7), (0.4, 0.8), (1, 1)))


def test_rhode_island_is_counted() -> None:
    assert counting.unmerged().sequences == 91_224_226
    assert counting.by_suits() == (13, 325, 9997)
    assert counting.by_suits().sequences == 6_889_976
    assert counting.by_flushes() == (13, 325, 7969)
    printed = counting.by_results()
    assert printed == (13, 205, 1774)
    assert printed.sequences == counting.PRINTED


def test_the_printed_merge_costs_what_suits_do_not() -> None:
    (row,) = merging.merge_costs(quick=True)
    assert row["by_suits"]["value_chips"] == pytest.approx(-0.323464, abs=1e-6)
    assert row["by_suits"]["exploitability_chips"] < 1e-9
    assert row["by_results"]["value_chips"] == pytest.approx(-0.348892, abs=1e-6)
    # Its equilibrium is not unique, and real cards see the difference.
    cost = row["by_results"]["exploitability_chips"]
    assert cost == pytest.approx(row["known_chips"], rel=0.1)


def test_no_merge_of_five_cards_costs_more_than_its_bound() -> None:
    rows = merging.bound_rows()
    assert len(rows) == 16
    assert rows[0]["bound_chips"] == pytest.approx(0, abs=1e-12)
    for row in rows[1:]:
        assert 0 < row["exploitability_chips"] <= row["bound_chips"]


def test_the_match_is_significant_at_90_and_not_at_95() -> None:
    assert win_rate(732_713, 80_000, 100) == pytest.approx(9.1589, abs=5e-5)
    assert win_rate(103_992, 15_000, 50) == pytest.approx(13.8656, abs=5e-5)
    rate = significance()["bb_per_100"]
    assert standard_errors(rate, 2) == pytest.approx((4.6730, 5.5682), abs=1e-4)
    assert standard_errors(rate, 1) == pytest.approx((5.5682, 7.1467), abs=1e-4)
    assert significance_of(1.0, 2.0) < 0.9 < significance_of(9.16, 10.0) < 0.95


def test_overbets_by_buckets_do_not_tell_bluffs_apart() -> None:
    solved = solve_river(SPOT_B, 20)
    assert overbet(solved, "3s2c") == pytest.approx(overbet(solved, "3c2c"), abs=1e-9)


def test_what_is_added_at_rivers_is_counted_there_alone() -> None:
    """Who checks down has half of every pot he limps into; who jams rivers has all of it from a folder."""
    plain, folder = make_agent("call"), make_agent("fold")
    told = added_by_endgames(plain, make_agent("all-in"), folder, 6, seed=1)
    # From the big blind no river comes: the folder does not limp.
    assert (told["hands"], told["rivers"]) == (6, 3)
    assert told["mbb_per_hand"] == pytest.approx(500)
    assert told["pct_of_river_pot"] == pytest.approx(50)
    same = added_by_endgames(make_agent("quick"), make_agent("quick"), plain, 4, seed=1)
    assert same["mbb_per_hand"] == pytest.approx(0, abs=1e-9)


def test_matches_are_kept_and_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "cache_folder", lambda: tmp_path)
    keeper = matches.Keeper("quick")
    calls = []

    def measure(log: Path) -> dict[str, Any]:
        calls.append(log)
        log.write_text("a match", encoding="utf-8")
        return {"hands": 2}

    assert keeper.kept(["x", 1], measure) == {"hands": 2} == keeper.kept(["x", 1], measure)
    assert len(calls) == 1
    assert not calls[0].exists()
    keeper.kept(["x", 2], measure)
    assert len(calls) == 2
    monkeypatch.setattr(matches, "MEETINGS", (("none", "none, purified"), ("none", "tartanian4")))
    monkeypatch.setattr(matches, "OPPONENTS", ())
    monkeypatch.setattr(matches, "_rivers", lambda *_: [])

    def find(source: str) -> Path:
        if source == "tartanian4":
            raise ArtefactError("train it with `equipoise train tartanian4`")
        return find_blueprint(source)

    monkeypatch.setattr(matches, "find_blueprint", find)
    effort = matches.Effort(20, 4, 2, 2, 2)
    told = matches.play_all("quick", effort, 0, 1, lambda _: None)
    assert [row["hands"] for row in told["meetings"]] == [20]
    assert "equipoise train" in told["missing"]["tartanian4"]
    again = matches.play_all("quick", effort, 0, 1, lambda _: None)
    assert again == told


def test_what_is_kept_is_of_the_agent_as_it_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "cache_folder", lambda: tmp_path)
    keeper = matches.Keeper("quick")
    before, told = keeper.stamp("exact"), keeper.stamp("exact, no gadget")
    entry = matches.AGENTS["claudico"]
    changed = replace(entry, settings={**entry.settings, "gadget": "maxmargin"})
    monkeypatch.setitem(matches.AGENTS, "claudico", changed)
    assert keeper.stamp("exact") != before
    # What is told overrules what ships.
    assert keeper.stamp("exact, no gadget") == told


def test_slow_players_have_fewer_hands() -> None:
    effort = matches.Effort(5, 4, 3, 2, 1)
    assert effort.of_match("none", "none, purified") == effort.of_match("none", "tartanian5") == 5
    assert effort.of_match("exact, no gadget", "none") == effort.of_match("none", "exact") == 4
    assert effort.of_match("exact", "lp") == 3
    assert [effort.to_rivers(name) for name in ("exact", "lp, no large bets")] == [2, 1]
    for row in matches.RIVERS:
        assert all(name in matches.SETTINGS or name in matches.OPPONENTS for name in row)

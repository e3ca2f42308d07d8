"""Claudico: thresholds before the river, rivers solved on the true pot from unprocessed ranges."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equipoise.agents.oddsizes import OddSizesAgent
from equipoise.agents.registry import AgentSpec, make_agent
from equipoise.agents.searching import claudicoagent
from equipoise.agents.searching.claudicoagent import ClaudicoAgent
from equipoise.arena.match import play_match
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import parse_combo
from equipoise.errors import EquipoiseError, SolverError
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, State
from equipoise.search.menus import endgame_menu
from equipoise.search.trunk import trunk_ranges

RIVER = parse_cards("Kc8d4d5d2s")


def agent(endgame: str, **more: Any) -> ClaudicoAgent:
    told: dict[str, Any] = {"blueprint": "quick", "budget": 0.1, "river_seconds": 3600.0}
    return ClaudicoAgent(NOLIMIT_HOLDEM, endgame=endgame, **(told | more))


def public(text: str, board: tuple[int, ...] = RIVER) -> PublicState:
    return PublicState(State.from_betting_text(NOLIMIT_HOLDEM, text), board, 0)


def plays(policy: Policy, hand: str) -> dict[str, float]:
    row = policy.probabilities[parse_combo(hand)].tolist()
    return dict(zip(map(str, policy.actions), row, strict=True))


@pytest.mark.parametrize("endgame", ["lp", "exact"])
def test_rivers_are_solved_and_earlier_streets_are_not(endgame: str) -> None:
    solved, plain = agent(endgame), agent("none")
    turn = public("r300c/cr450c/c", RIVER[:4])
    assert np.array_equal(solved.policy(turn).probabilities, plain.policy(turn).probabilities)
    river = public("r300c/cr450c/cc/")
    policy = solved.policy(river)
    assert policy.actions == endgame_menu(river.state).actions(river.state)
    assert policy.probabilities.sum(axis=1) == pytest.approx(np.ones(1326), abs=1e-5)
    assert solved.fallbacks == 0
    # The nuts never fold, whatever is bet.
    facing = plays(solved.policy(public("r300c/cr450c/cc/cr1111")), "Ad3d")
    assert facing["f"] < 0.01


def test_ranges_come_from_the_blueprint_without_thresholds() -> None:
    bold = agent("exact", postprocess="purify")
    assert bold.trunk is not None
    river = public("r300c/cr450c/cc/")
    ranges = trunk_ranges(bold.resolvers[0].trunk, river.state, RIVER)
    whole = trunk_ranges(agent("exact").resolvers[0].trunk, river.state, RIVER)
    assert all(np.allclose(one, other) for one, other in zip(ranges, whole, strict=True))
    pure = trunk_ranges(bold.plain.policy, river.state, RIVER)
    assert any((one > 0).sum() > (two > 0).sum() for one, two in zip(ranges, pure, strict=True))


def test_thresholds_grow_by_round() -> None:
    told = AgentSpec.read("claudico").entry.settings
    levels = [float(part.split()[1]) for part in told["postprocess"].split("/")]
    assert levels == sorted(set(levels))
    played = agent("none", postprocess="raw/raw/threshold 0.3/raw")
    turn = public("r300c/cc/", RIVER[:4])
    table = played.policy(turn).probabilities
    assert ((table == 0) | (table > 0.3 - 1e-6)).all()


def test_large_bets_are_in_or_out() -> None:
    river = public("r300c/cc/cc/")
    kept, out = (endgame_menu(river.state, large).actions(river.state) for large in (True, False))
    assert set(out) < set(kept)
    pot = river.state.pot
    assert max(action.amount for action in out) - river.state.committed[0] <= pot
    small = agent("lp", large_bets=False).policy(river)
    assert small.actions == out


def test_a_gadget_changes_what_is_played() -> None:
    river = public("r300c/cr450c/cc/")
    free, safe = (agent("exact", gadget=kind).policy(river) for kind in ("none", "resolve"))
    assert free.actions == safe.actions
    assert not np.allclose(free.probabilities, safe.probabilities, atol=0.02)


def test_where_the_program_fails_the_blueprint_plays_and_it_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, river = agent("lp"), public("r300c/cr450c/cc/")

    def gives_up(*_: object) -> None:
        raise SolverError("HiGHS gave up")

    monkeypatch.setattr("equipoise.search.resolver.solve_by_program", gives_up)
    found = broken.policy(river)
    assert broken.fallbacks == 1
    assert "HiGHS" in broken.failure
    assert np.array_equal(found.probabilities, broken.plain.policy(river).probabilities)


@pytest.mark.parametrize("endgame", ["lp", "exact"])
def test_a_range_without_hands_is_played_by_the_blueprint(
    endgame: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, river = agent(endgame), public("r300c/cr450c/cc/")

    def nobody(*_: object) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(1326), np.zeros(1326)

    monkeypatch.setattr("equipoise.search.resolver.trunk_ranges", nobody)
    found = empty.policy(river)
    assert empty.fallbacks == 1
    assert np.array_equal(found.probabilities, empty.plain.policy(river).probabilities)


def test_fallbacks_are_counted_in_the_result_and_noted_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gives_up(*_: object) -> None:
        raise SolverError("HiGHS gave up")

    monkeypatch.setattr("equipoise.search.resolver.solve_by_program", gives_up)
    log = tmp_path / "match.log"
    match = play_match(agent("lp"), "call", hands=20, seed=4, log=log)
    assert match.fallbacks[0] > 0
    assert match.to_dict()["fallbacks"] == list(match.fallbacks)
    noted = [line for line in log.read_text().splitlines() if line.startswith("# NOTE 0 ")]
    assert len(noted) == match.fallbacks[0]
    assert all("the blueprint answered" in line and "HiGHS gave up" in line for line in noted)
    # A log with notes is one like any other.
    again = play_match(agent("lp"), "call", hands=24, seed=4, log=log, resume=True)
    assert again.hands == 24


def test_whole_hands_against_odd_sizes() -> None:
    made = agent("lp", buckets=6)
    match = play_match(made, OddSizesAgent(), hands=30, seed=4)
    assert not match.faults
    twin = copy.deepcopy(made)
    river = public("r300c/cr450c/cc/")
    assert np.array_equal(twin.policy(river).probabilities, made.policy(river).probabilities)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"endgame": "lpp"}, "endgame"),
        ({"gadget": "safe"}, "gadget"),
        ({"bucketing": "depth"}, "bucketing"),
        ({"blueprint": "no-such-thing"}, "no blueprint"),
    ],
)
def test_what_it_does_not_take(told: dict[str, Any], why: str) -> None:
    with pytest.raises(EquipoiseError, match=why):
        make_agent("endgames", **({"blueprint": "quick"} | told))


def test_it_is_listed() -> None:
    assert AgentSpec.read("claudico").entry.load() is claudicoagent.ClaudicoAgent

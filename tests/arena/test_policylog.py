"""Policies kept beside a log: AIVAT does not search for them again."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.agents.searching.searchagent import SearchAgent
from equipoise.arena.match import play_match
from equipoise.arena.measures.aivat import aivat
from equipoise.arena.policylog import (
    kept_lines,
    kept_policies,
    policies_path,
    policy_line,
    read_policy,
)
from equipoise.cards.card import parse_cards
from equipoise.errors import ArtefactError
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, State, raise_to


def searcher() -> SearchAgent:
    return SearchAgent(NOLIMIT_HOLDEM, "quick", search="river", budget=0.03, river_seconds=3600.0)


class Forbidden(SearchAgent):
    """Must not search."""

    def _searched(self, public: PublicState) -> Policy:
        raise AssertionError(f"searched {public.state.betting_text()}")


def test_a_line_tells_its_policy() -> None:
    chances = np.random.default_rng(1).dirichlet([1, 1, 1], 1326).astype(np.float32)
    policy = Policy((FOLD, CALL, raise_to(1250)), chances)
    hand, seat, betting, read = read_policy(policy_line(17, 1, "r250c/cr400", policy))
    assert (hand, seat, betting, read.actions) == (17, 1, "r250c/cr400", policy.actions)
    assert np.array_equal(read.probabilities, chances)


def test_what_was_searched_is_not_searched_again(tmp_path) -> None:
    log = tmp_path / "match.log"
    # Whatever has to be compiled is, before a clock is watched.
    river = State.from_betting_text(NOLIMIT_HOLDEM, "r250c/cc/cc/")
    searcher().policy(PublicState(river, parse_cards("Td9d6hQc2s"), 0))
    match = play_match(searcher(), "odd-sizes", hands=30, seed=4, log=log)
    assert not match.faults
    kept = kept_lines(log)
    assert kept
    assert all(seat == 0 for hand in kept.values() for seat, _ in kept_policies(hand))
    forbidden = Forbidden(NOLIMIT_HOLDEM, "quick", search="river", budget=0.03)
    quick = aivat(match, forbidden, "odd-sizes")
    policies_path(log).unlink()
    slow = aivat(match, searcher(), "odd-sizes")
    assert quick.payoffs == pytest.approx(slow.payoffs)
    # A match that is played again begins its policies anew; without a log none are kept.
    play_match("call", "odd-sizes", hands=2, seed=4, log=log, overwrite=True)
    assert not policies_path(log).exists()


@pytest.mark.parametrize(
    "line",
    [
        "POLICY:1:0:cc/:c:AAAA\n",
        "POLICY:1:2:cc/:c:eJw=\n",
        "POLICY:1:0:cc/\n",
        policy_line(1, 0, "", Policy((CALL,), np.full((1326, 1), np.nan, dtype=np.float32))),
        policy_line(1, 0, "", Policy((CALL,), np.ones((1326, 1)))).replace(":c:", ":c,r2:"),
        policy_line(1, 0, "", Policy((CALL,), np.ones((1326, 1)))).replace(":c:", ":x:"),
    ],
)
def test_what_is_no_policy_is_refused(line: str) -> None:
    with pytest.raises(ArtefactError, match="is no policy"):
        read_policy(line)

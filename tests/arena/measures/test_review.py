"""Reviews: known blunders cost what they must, mixtures cost nothing, and worst comes first."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.arena.acpc.protocol import hand_line
from equipoise.arena.measures.review import review_hands
from equipoise.arena.record import HandRecord
from equipoise.cards.card import parse_cards
from equipoise.cli import app
from equipoise.errors import HistoryError
from equipoise.games.rules import NOLIMIT_HOLDEM, State
from equipoise.search.solved import solve_subgame
from equipoise.search.subgame import Subgame

BOARD = parse_cards("Td9d6hQc2s")


def record(betting, hole="KdJd", other="AhAc", number=0):
    state = State.from_betting_text(NOLIMIT_HOLDEM, betting)
    holes = (parse_cards(hole), parse_cards(other))
    return HandRecord(number, state, holes, BOARD, ("Ann", "call"))


def test_action_values_average_to_the_value_of_the_hand():
    state = State.from_betting_text(NOLIMIT_HOLDEM, "r900c/cc/cc/r1800")
    everything = np.ones(1326)
    solved = solve_subgame(Subgame(state, BOARD, (everything, everything)), iterations=60)
    actions, values = solved.action_values(state)
    policy = solved.policy(state)
    assert policy.actions == actions
    held = solved.reach(state.to_act, state) > 0.5
    mean = (policy.probabilities.T * values).sum(axis=0)
    assert np.abs(mean - solved.values(state.to_act, state))[held].max() < 0.5
    fold = values[0][held]
    assert np.abs(fold + state.committed[state.to_act]).max() < 0.5


def test_folding_the_nuts_loses_more_than_the_pot_and_calling_with_them_less():
    # The straight to the king is the nuts here, and whoever calls everything may hold anything.
    folds = review_hands([record("r900c/cc/cc/cr1800f")], "Ann", "call", flop_seconds=0)
    blunder = folds.decisions[0]
    assert (blunder.street, blunder.played) == ("river", "fold")
    assert blunder.ev_lost_bb > (1800 + 1800) / 100
    assert blunder.best.startswith(("raise", "allin"))
    calls = review_hands([record("r900c/cc/cc/cr1800c")], "Ann", "call", flop_seconds=0)
    call = next(one for one in calls.graded if one.played == "call")
    assert 0 <= call.ev_lost_bb < blunder.ev_lost_bb
    assert call.exploitability_pct_pot < 2
    lost = [one.ev_lost_bb for one in calls.graded]
    assert lost == sorted(lost, reverse=True)
    assert all(value >= 0 for value in lost)
    flops = [one for one in calls.decisions if one.street == "flop"]
    assert [one.ungraded for one in flops] == ["flops were left out"]


def test_the_command_says_the_same_and_refuses_in_a_sentence(tmp_path):
    log = tmp_path / "hands.log"
    log.write_text(hand_line(record("r900c/cc/cc/cr1800f", number=3)) + "\n")
    runner = CliRunner()
    words = ["review", str(log), "--player", "Ann", "--reference", "call", "--flop-seconds", "0"]
    done = runner.invoke(app, [*words, "--json"], catch_exceptions=False)
    told = json.loads(done.stdout)
    assert told["decisions"][0]["hand"] == 3
    assert told["ev_lost_bb"] == pytest.approx(sum(d["ev_lost_bb"] or 0 for d in told["decisions"]))
    assert told["graded"] + told["ungraded"] == len(told["decisions"])
    with pytest.raises(HistoryError, match="Ann"):
        review_hands([record("r900c/cc/cc/cr1800f")], "Anna", "call")

"""Matches: exact values, one result for any number of workers, faults, logs that go on."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.agents.agent import Agent
from equipoise.agents.simple import CallAgent, RandomAgent
from equipoise.arena import matchlog
from equipoise.arena.duel import Duel
from equipoise.arena.match import play_match
from equipoise.arena.shotclock import shot_clock
from equipoise.cards.card import parse_cards
from equipoise.cards.equity import equity
from equipoise.errors import ArtefactError, EquipoiseError, FileError
from equipoise.games.dealing import SeededDeals
from equipoise.games.hand import hand_seed
from equipoise.games.rules import (
    CALL,
    FOLD,
    LIMIT_HOLDEM,
    NOLIMIT_HOLDEM,
    Action,
    Rules,
    State,
    nolimit,
    raise_to,
)

KUHN = Rules(
    name="Kuhn poker",
    limit=True,
    blinds=(1, 1),
    first=(0,),
    raise_sizes=(1,),
    max_raises=(1,),
    suits=1,
    ranks=3,
    hole_cards=1,
    board_cards=(0,),
)


class Scripted(Agent):
    """Calls, but does something else in the hands it is told to."""

    name = "scripted"

    def __init__(self, deed=None, when=lambda hand: True):
        super().__init__()
        self.deed, self.when = deed, when

    def act(self, view):
        if self.deed is not None and self.when(view.hand):
            return self.deed(view)
        return CALL


def explode(view):
    raise RuntimeError("out\nof order")


# Exact values


@pytest.mark.parametrize(
    ("rules", "rate"), [(NOLIMIT_HOLDEM, -750), (LIMIT_HOLDEM, -750), (nolimit(40, 1, 2), -750)]
)
def test_folding_loses_the_blinds_exactly(rules, rate):
    result = play_match("fold", "all-in", rules, hands=400, seed=5)
    assert result.mbb_per_hand == rate
    assert result.ci95_mbb == 0
    assert result.triplet == (0, 200, 0)


def test_pairs_are_won_by_the_sum_of_their_hands():
    """A win rate above 0 never stands beside pairs that were all lost."""
    result = play_match("call", "odd-sizes", hands=100, seed=1)
    sums = result.payoffs.reshape(-1, 2).sum(axis=1)
    both = (result.payoffs.reshape(-1, 2) > 0).all(axis=1)
    assert result.triplet == tuple(int(part.sum()) for part in (sums > 0, sums < 0, sums == 0))
    assert both.sum() < result.triplet[0]
    assert result.to_dict()["triplet"] == list(result.triplet)


@pytest.mark.parametrize("name", ["call", "all-in", "fold"])
@pytest.mark.parametrize("rules", [NOLIMIT_HOLDEM, LIMIT_HOLDEM, KUHN])
def test_a_deterministic_agent_against_itself_scores_nothing(name, rules):
    result = play_match(name, name, rules, hands=300, seed=6)
    assert result.mbb_per_hand == 0
    assert result.std_mbb == 0


def test_one_agent_may_play_itself():
    agent = RandomAgent()
    result = play_match(agent, agent, hands=100)
    assert result.hands == 100
    assert not result.faults


def test_swapping_the_agents_negates_the_result():
    one = play_match("call", "fold", hands=1000, seed=8)
    other = play_match("fold", "call", hands=1000, seed=8)
    assert one.mbb_per_hand == -other.mbb_per_hand > 0
    assert one.samples_mbb.tolist() == (-other.samples_mbb).tolist()


def test_duplicate_removes_the_luck_of_the_cards():
    paired = play_match("random", "call", LIMIT_HOLDEM, hands=4000, seed=1)
    plain = play_match("random", "call", LIMIT_HOLDEM, hands=4000, seed=1, duplicate=False)
    assert paired.std_mbb < 0.9 * plain.std_mbb


def test_the_expected_loss_of_random_against_fold_is_met():
    result = play_match("random", "fold", NOLIMIT_HOLDEM, hands=20000, seed=3)
    assert abs(result.mbb_per_hand - _random_against_fold()) < 4 * result.estimate.standard_error


def _random_against_fold() -> float:
    """The value of the betting alone: showdowns are even on average."""

    def value(state: State, random_seat: int) -> float:
        if state.is_over:
            return 0.0 if state.is_showdown else state.payoffs()[random_seat]
        legal = state.legal()
        if state.to_act != random_seat:
            return value(state.apply(FOLD if legal.fold else CALL), random_seat)
        kinds = [CALL] + [FOLD] * legal.fold + [raise_to(legal.raise_min)] * bool(legal.raise_min)
        return sum(value(state.apply(kind), random_seat) for kind in kinds) / len(kinds)

    start = State.start(NOLIMIT_HOLDEM)
    return 1000 / 100 * (value(start, 0) + value(start, 1)) / 2


# Seeds and workers


@pytest.mark.parametrize("hands", [6, 5000])
def test_any_number_of_workers_gives_the_same_match(hands, tmp_path):
    logs = [tmp_path / f"{workers}.log" for workers in (1, 2, 3)]
    results = [
        play_match("random", "random", hands=hands, seed=7, workers=workers, log=log)
        for workers, log in zip((1, 2, 3), logs, strict=True)
    ]
    assert len({result.payoffs.tobytes() for result in results}) == 1
    assert len({log.read_text() for log in logs}) == 1
    assert results[0].mbb_per_hand != 0


def test_a_process_with_threads_plays_the_same_match():
    # It must not fork: its workers start anew.
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        spawned = play_match("random", "call", hands=200, seed=7, workers=2)
    finally:
        done.set()
        thread.join()
    assert (
        spawned.payoffs.tolist() == play_match("random", "call", hands=200, seed=7).payoffs.tolist()
    )


def test_another_seed_is_another_match():
    rates = {play_match("random", "call", hands=200, seed=seed).mbb_per_hand for seed in range(8)}
    assert len(rates) == 8


def test_seeds_of_hands_and_seats_are_distinct():
    seeds = {
        hand_seed(seed, hand, seat)
        for seed in (0, 1, 2, 2**40)
        for hand in (*range(50), 2**31, 2**32)
        for seat in (0, 1)
    }
    assert len(seeds) == 4 * 52 * 2


def test_agents_draw_from_the_seed_of_their_hand():
    drawn = {}

    class Drawing(CallAgent):
        def begin(self, hand, position):
            drawn[self.seat, hand] = self.random.random()

    first, second = Drawing(), Drawing()
    first.seat, second.seat = 0, 1
    play_match(first, second, hands=20, seed=3)
    assert len(set(drawn.values())) == 40
    assert drawn[1, 7] == Random(hand_seed(3, 7, 1)).random()


def test_learners_are_played_in_order_by_one_worker():
    seen = []

    class Learner(CallAgent):
        learns = True

        def observe(self, result):
            seen.append((result.hand, result.position, result.opponent, result.payoff))

    result = play_match(Learner(), "call", hands=3000, workers=2)
    assert [hand for hand, *_ in seen] == list(range(3000))
    assert [position for _, position, *_ in seen] == [0, 1] * 1500
    assert all(len(shown) == 2 for _, _, shown, _ in seen)
    assert sum(payoff for *_, payoff in seen) == result.payoffs.sum()


def test_cards_are_shown_only_at_a_showdown_or_by_a_trainer():
    shown = []

    class Watcher(CallAgent):
        def observe(self, result):
            shown.append((result.opponent, result.full_board, result.board))

    # On the button `fold` folds to the big blind; in the big blind it checks to the end.
    play_match(Watcher(), "fold", hands=2)
    assert [len(cards or ()) for cards, *_ in shown] == [0, 2]
    assert [len(board) for *_, board in shown] == [0, 5]
    assert [full for _, full, _ in shown] == [None, None]
    shown.clear()

    class Raiser(Watcher):
        def act(self, view):
            legal = view.state.legal()
            return raise_to(legal.raise_max) if legal.raise_max else CALL

    play_match(Raiser(), "fold", hands=2)
    assert [part[:2] for part in shown] == [(None, None)] * 2
    shown.clear()
    play_match(Raiser(), "fold", hands=2, reveal=True)
    assert all(len(cards) == 2 and len(full) == 5 and not board for cards, full, board in shown)


def test_agents_see_what_a_player_may_see():
    deal = SeededDeals(NOLIMIT_HOLDEM, 0).deal(0)
    seen = []

    class Watcher(CallAgent):
        def act(self, view):
            seen.append(view)
            return CALL

    watcher = Watcher()
    duel = Duel(NOLIMIT_HOLDEM, (watcher, CallAgent()), 0)
    duel.play(deal, 0, first=1)
    assert [view.board for view in seen] == list(deal.boards)
    assert {view.hole for view in seen} == {deal.holes[1]}
    assert {view.position for view in seen} == {1}


# Refusals


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"hands": 11}, "duplicate pairs"),
        ({"hands": 0}, "at least 1"),
        ({"seed": -1}, "from 0 to"),
        ({"workers": 0}, "from 1 to 1024"),
        ({"workers": 10**9}, "from 1 to 1024"),
        ({"seed": 1 << 63}, "from 0 to"),
        ({"max_faults": 0}, "first fault"),
        ({"resume": True}, "nothing to resume"),
        ({"log": "/no/such/directory/a.log"}, "there is no folder"),
        ({"log": ""}, "give the name of a file"),
        ({"log": "x" * 5000}, "cannot be written"),
        ({"log": "/dev"}, "is a folder"),
        ({"log": "/tmp/nothing.log", "resume": True}, "there is no log .* to resume from"),
        ({"log": "a.log", "resume": True, "overwrite": True}, "either gone on from or replaced"),
        ({"allin_equity": True, "rules": KUHN}, "full deck"),
        ({"a": "nobody"}, "no agent"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, sentence):
    with pytest.raises(EquipoiseError, match=sentence):
        play_match(**{"a": "call", "b": "call", "hands": 10, **settings})


def test_odd_hands_are_fine_without_duplicate():
    result = play_match("call", "all-in", LIMIT_HOLDEM, hands=11, duplicate=False)
    assert (result.hands, result.pairs) == (11, 0)
    assert result.std_mbb == pytest.approx((100 * result.payoffs).std(ddof=1))


# Faults


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        (explode, "RuntimeError: out of order"),
        (lambda view: raise_to(10**6), "cannot raise to 1000000"),
        (lambda view: None, "returned None"),
        (lambda view: "c", "returned 'c'"),
        (lambda view: Action(7, 0), "no action"),
        (lambda view: raise_to(250.5), "no action"),
        (lambda view: sys.exit(3), "SystemExit: 3"),
    ],
)
def test_a_fault_folds_or_checks_and_is_reported(deed, reason, tmp_path):
    log = tmp_path / "match.log"
    # Against all-in both seats face a bet: the fault folds.
    agent = Scripted(deed, lambda hand: hand in (2, 3))
    result = play_match(agent, "all-in", hands=8, log=log)
    assert result.payoffs[2:4].tolist() == [-100, -50]
    assert [fault.hand for fault in result.faults] == [2, 3]
    assert all(reason in fault.reason and fault.seat == 0 for fault in result.faults)
    assert result.forfeited_by is None
    assert log.read_text().count("# FAULT ") == 2
    assert result.to_dict()["faults"] == [2, 0]


def test_a_fault_without_a_bet_checks():
    result = play_match(Scripted(explode, lambda hand: hand == 0), "call", hands=2)
    honest = play_match("call", "call", hands=2)
    assert result.payoffs.tolist() == honest.payoffs.tolist()
    # The big blind was asked four times.
    assert len(result.faults) == 4


def test_numpy_numbers_are_actions_all_the_same():
    def deed(view):
        least = view.state.legal().raise_min
        return Action(np.int64(2), np.int64(least)) if least else CALL

    result = play_match(Scripted(deed), "fold", hands=2)
    assert not result.faults
    assert result.mbb_per_hand == 750


@pytest.mark.parametrize("workers", [1, 2])
def test_too_many_faults_forfeit_the_match(workers, tmp_path):
    log = tmp_path / "match.log"
    agent = Scripted(explode, lambda hand: hand >= 3000 and hand % 100 == 0)
    result = play_match(agent, "all-in", hands=8000, workers=workers, log=log)
    assert result.forfeited_by == "scripted"
    assert len(result.faults) == 10
    assert result.hands == 3902
    assert not result.interrupted
    assert log.read_text().count("STATE:") == 3902


def test_a_slow_agent_is_at_fault():
    def doze(view):
        time.sleep(0.02)
        return CALL

    agent = Scripted(doze, lambda hand: hand == 1)
    result = play_match(agent, "all-in", hands=4, seconds_per_action=0.01)
    assert [fault.hand for fault in result.faults] == [1]
    assert "0.01 s are allowed" in result.faults[0].reason
    assert play_match(agent, "all-in", hands=4).faults == ()


def loop(view):
    while True:
        pass


def sleep(view):
    time.sleep(1e6)


def loop_and_catch(view):
    while True:
        with suppress(Exception):
            time.sleep(1e6)


@pytest.mark.parametrize("deed", [loop, sleep, loop_and_catch])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_that_never_returns_forfeits(deed, workers, tmp_path):
    log = tmp_path / "match.log"
    agent = Scripted(deed, lambda hand: hand >= 200)
    result = play_match(
        *(agent, "all-in"),
        hands=4000,
        workers=workers,
        log=log,
        seconds_per_action=0.05,
        max_faults=2,
    )
    assert result.forfeited_by == "scripted"
    assert result.hands == 202
    assert log.read_text().count("called away: 0.05 s are allowed") == 2
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_hooks_that_never_return_are_ended_too():
    class Stuck(CallAgent):
        def begin(self, hand, position):
            loop(None)

        def observe(self, result):
            sleep(None)

    result = play_match("call", Stuck(), hands=2, seconds_per_action=0.05)
    assert [fault.seat for fault in result.faults] == [1] * 4


def test_outside_the_main_thread_python_code_is_ended_all_the_same():
    results = []

    def play():
        agent = Scripted(loop, lambda hand: hand == 1)
        results.append(play_match(agent, "all-in", hands=4, seconds_per_action=0.05))

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    thread.join(30)
    assert [fault.hand for fault in results[0].faults] == [1]
    assert results[0].hands == 4


def test_a_signal_that_is_taken_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    try:
        agent = Scripted(loop, lambda hand: hand == 1)
        result = play_match(agent, "all-in", hands=4, seconds_per_action=0.05)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(result.faults) == 1
    assert heard == []


def test_many_quick_decisions_are_no_long_one():
    with shot_clock(object, 0.05):
        time.sleep(0.3)


def test_faults_in_begin_and_observe_are_survived():
    class Broken(CallAgent):
        def begin(self, hand, position):
            raise ValueError("no pencil")

        def observe(self, result):
            raise ValueError("no memory")

    result = play_match("call", Broken(), hands=4)
    assert [fault.seat for fault in result.faults] == [1] * 8
    assert result.hands == 4


def test_an_agent_that_cannot_start_is_refused():
    class Late(CallAgent):
        def reset(self, seed):
            raise OSError("no table")

    class Careless(CallAgent):
        def __init__(self):
            pass

        def reset(self, seed):
            pass

    with pytest.raises(EquipoiseError, match="call could not start: OSError: no table"):
        play_match(Late(), "call", hands=2)
    with pytest.raises(EquipoiseError, match="has no `random`"):
        play_match(Careless(), "call", hands=2)


# Equity


def test_an_early_all_in_is_paid_by_its_equity(tmp_path):
    log = tmp_path / "match.log"
    result = play_match("all-in", "call", hands=6, seed=4, allin_equity=True, log=log)
    for number, deal in enumerate(SeededDeals(NOLIMIT_HOLDEM, 4).deals(0, 3)):
        share = equity(list(deal.holes)).equity[0]
        assert result.payoffs[2 * number] == pytest.approx(20000 * (2 * share - 1), abs=1e-6)
        assert result.payoffs[2 * number + 1] == -result.payoffs[2 * number]
    again = matchlog.read_past(log, _header(log), 2)
    assert again.payoffs == result.payoffs.tolist()


def test_rivers_and_folds_are_paid_as_dealt():
    plain = play_match("call", "fold", hands=50, seed=2)
    fair = play_match("call", "fold", hands=50, seed=2, allin_equity=True)
    assert plain.payoffs.tolist() == fair.payoffs.tolist()


# Logs


def _header(log) -> matchlog.Header:
    line = next(line for line in log.read_text().splitlines() if line.startswith("# match "))
    return matchlog.Header(**json.loads(line.removeprefix("# match ")))


@pytest.mark.parametrize("rules", [NOLIMIT_HOLDEM, LIMIT_HOLDEM, KUHN])
def test_a_log_replays(rules, tmp_path):
    log = tmp_path / "match.log"
    result = play_match("random", "random", rules, hands=600, seed=2, log=log)
    lines = [line for line in log.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 601
    deals = list(SeededDeals(rules, 2).deals(0, 300))
    for hand, line in enumerate(lines[:-1]):
        _, number, betting, cards, chips, names = line.split(":")
        assert int(number) == hand
        state = State.from_betting_text(rules, betting)
        deal = deals[hand // 2]
        winner = deal.winner if state.folded is None else None
        assert chips == "|".join(str(payoff) for payoff in state.payoffs(winner))
        assert names == ("random-2|random" if hand % 2 else "random|random-2")
        holes, *streets = cards.split("/")
        assert tuple(parse_cards(hole) for hole in holes.split("|")) == deal.holes
        board = parse_cards("".join(streets))
        assert board == deal.boards[state.round + state.rounds_to_deal]
    total = int(result.payoffs.sum())
    assert lines[-1] == f"SCORE:{total}|{-total}:random|random-2"


@settings(max_examples=15, deadline=None)
@given(cut=st.floats(0.2, 1.0))
def test_a_log_cut_anywhere_goes_on_to_the_same_end(cut, tmp_path_factory):
    log = tmp_path_factory.mktemp("logs") / "match.log"
    whole = play_match("random", "call", hands=60, seed=5, log=log)
    data = log.read_bytes()
    start = data.index(b"STATE")
    log.write_bytes(data[: start + int(cut * (len(data) - start))])
    again = play_match("random", "call", hands=60, seed=5, log=log, resume=True)
    assert log.read_bytes() == data
    assert again.payoffs.tolist() == whole.payoffs.tolist()
    assert again.hands_now <= 60


def test_a_match_may_be_made_longer(tmp_path):
    log, other = tmp_path / "match.log", tmp_path / "other.log"
    play_match("random", "call", hands=100, seed=5, log=log)
    longer = play_match("random", "call", hands=3000, seed=5, log=log, resume=True, workers=2)
    whole = play_match("random", "call", hands=3000, seed=5, log=other)
    assert longer.hands_now == 2900
    assert longer.payoffs.tolist() == whole.payoffs.tolist()
    assert log.read_text().splitlines()[2:] == other.read_text().splitlines()[2:]


def test_faults_in_a_log_still_count(tmp_path):
    log = tmp_path / "match.log"
    agent = Scripted(explode, lambda hand: hand % 2 == 0)
    first = play_match(agent, "all-in", hands=12, log=log)
    assert first.forfeited_by is None
    again = play_match(agent, "all-in", hands=40, log=log, resume=True)
    assert again.hands == 20
    assert again.forfeited_by == "scripted"


def test_resume_refuses_what_does_not_belong(tmp_path):
    log = tmp_path / "match.log"
    play_match("random", "call", hands=10, seed=5, log=log)
    with pytest.raises(ArtefactError, match="its seed is 5"):
        play_match("random", "call", hands=10, seed=6, log=log, resume=True)
    with pytest.raises(ArtefactError, match="its b is 'call'"):
        play_match("random", "fold", hands=10, seed=5, log=log, resume=True)
    with pytest.raises(ArtefactError, match=r"its game is .no-limit .*, not .limit hold'em 5-10"):
        play_match("random", "call", LIMIT_HOLDEM, hands=10, seed=5, log=log, resume=True)
    with pytest.raises(EquipoiseError, match="already holds 10 hands"):
        play_match("random", "call", hands=8, seed=5, log=log, resume=True)
    log.write_text(log.read_text().replace("STATE:4:", "STATE:5:"))
    with pytest.raises(ArtefactError, match="hand 4 is damaged"):
        play_match("random", "call", hands=10, seed=5, log=log, resume=True)
    log.write_text("something else\n")
    with pytest.raises(ArtefactError, match="not the log"):
        play_match("random", "call", hands=10, seed=5, log=log, resume=True)


@pytest.mark.parametrize("allin_equity", [False, True])
@pytest.mark.parametrize(
    ("field", "new"),
    [
        (1, "4"),
        (1, "03"),
        (2, "r20000f"),
        (2, "r20000"),
        (2, "r" + "9" * 5000),
        (2, "nonsense"),
        (3, "AhKh|QcQd/2c3c4c/5d/6d"),
        (3, ""),
        (4, "nan|nan"),
        (4, "9e9|-9e9"),
        (4, "0|0"),
        (4, "-1|1"),
        (5, "call|all-in\n"),
        (5, "\n"),
    ],
)
def test_a_log_that_was_edited_is_not_believed(tmp_path, field, new, allin_equity):
    log = tmp_path / "match.log"
    settings = {"seed": 2, "log": log, "allin_equity": allin_equity}
    play_match("call", "random", hands=20, **settings)
    lines = log.read_text().splitlines(keepends=True)
    fields = lines[5].split(":")
    assert fields[1] == "3"
    fields[field] = new
    lines[5] = ":".join(fields)
    log.write_text("".join(lines))
    with pytest.raises(ArtefactError, match=r"match\.log, line 6: hand 3 ") as told:
        play_match("call", "random", hands=40, resume=True, **settings)
    assert len(str(told.value)) < 700
    assert log.read_text() == "".join(lines)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("# FAULT x", "is no fault"),
        ("# FAULT", None),
        ("# FAULT 1 2 reason", "is no fault"),
        ("# FAULT " + "9" * 5000 + " 0 slow", "is no fault"),
        ("# match [1]", "header is damaged"),
        ("# match " + "[" * 100_000, "header is damaged"),
        ("# match {", "header is damaged"),
        ("# match {}", "another match: its a is None"),
        ('# match {"a": ' + "9" * 5000 + "}", "header is damaged"),
    ],
)
def test_damaged_comments_of_a_log_are_one_sentence(tmp_path, line, words):
    log = tmp_path / "match.log"
    play_match("random", "call", hands=10, seed=5, log=log)
    log.write_text(log.read_text() + line + "\n")
    if words is None:
        assert play_match("random", "call", hands=10, seed=5, log=log, resume=True).hands == 10
        return
    with pytest.raises(ArtefactError, match=words) as told:
        play_match("random", "call", hands=10, seed=5, log=log, resume=True)
    assert len(str(told.value)) < 400


def test_a_log_is_replaced_only_if_so_asked(tmp_path):
    log = tmp_path / "match.log"
    play_match("random", "call", hands=10, seed=5, log=log)
    before = log.read_bytes()
    with pytest.raises(FileError, match=r"match\.log' exists: add --overwrite"):
        play_match("nobody", "call", hands=10, seed=6, log=log)
    assert log.read_bytes() == before
    play_match("random", "call", hands=10, seed=6, log=log, overwrite=True)
    assert log.read_bytes() != before
    log.write_bytes(b"")
    play_match("random", "call", hands=10, seed=5, log=log, resume=True)
    assert log.read_bytes() == before


def test_two_matches_do_not_write_one_log(tmp_path):
    log = tmp_path / "match.log"
    writer = matchlog.LogWriter(log, 0, "# first\n")
    with pytest.raises(FileError, match="another match writes to"):
        play_match("random", "call", hands=10, log=log, overwrite=True)
    assert log.read_text() == "# first\n"
    writer.close()
    play_match("random", "call", hands=10, log=log, overwrite=True)


@pytest.fixture
def full_disk():
    """Files may grow no larger than the given bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_one_sentence_and_leaves_whole_deals(tmp_path, full_disk):
    whole, log = tmp_path / "whole.log", tmp_path / "match.log"
    play_match("random", "call", hands=6000, seed=5, log=whole)
    data = whole.read_bytes()
    full_disk(len(data) * 2 // 3)
    with pytest.raises(
        FileError, match=r"cannot write the log .*: make room and go on with --resume"
    ):
        play_match("random", "call", hands=6000, seed=5, log=log)
    kept = log.read_bytes()
    assert data.startswith(kept)
    assert kept.endswith(b"\n")
    assert kept.count(b"STATE") % 2 == 0
    full_disk(len(data) * 2)
    play_match("random", "call", hands=6000, seed=5, log=log, resume=True)
    assert log.read_bytes() == data


def test_a_disk_without_room_for_a_header_is_left_as_it_was(tmp_path, full_disk):
    full_disk(10)
    with pytest.raises(FileError, match="choose another place"):
        play_match("random", "call", hands=10, log=tmp_path / "match.log")
    assert list(tmp_path.iterdir()) == []


def test_a_learner_does_not_resume(tmp_path):
    class Learner(CallAgent):
        learns = True

    log = tmp_path / "match.log"
    play_match(Learner(), "call", hands=10, log=log)
    with pytest.raises(EquipoiseError, match="learns"):
        play_match(Learner(), "call", hands=20, log=log, resume=True)


def test_an_interrupted_match_keeps_whole_deals(tmp_path):
    def interrupt(view):
        raise KeyboardInterrupt

    log = tmp_path / "match.log"
    agent = Scripted(interrupt, lambda hand: hand == 2501)
    result = play_match(agent, "call", hands=5000, log=log)
    assert result.interrupted
    assert result.hands == 2500
    assert log.read_text().splitlines()[-1].startswith("SCORE:")
    agent.deed = None
    whole = play_match(agent, "call", hands=5000, log=log, resume=True)
    assert whole.payoffs.tolist() == play_match(agent, "call", hands=5000).payoffs.tolist()


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_does_not_wait_for_an_agent_that_hangs(tmp_path):
    ready = tmp_path / "ready"
    code = (
        "import pathlib, time\n"
        "from equipoise.agents.simple import CallAgent\n"
        "from equipoise.arena.match import play_match\n"
        "class Stuck(CallAgent):\n"
        "    def act(self, view):\n"
        f"        pathlib.Path({str(ready)!r}).touch()\n"
        "        time.sleep(1e6)\n"
        "r = play_match(Stuck(), 'call', hands=4000, workers=2)\n"
        "print(r.hands, r.interrupted)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    told, _ = process.communicate(timeout=30)
    assert told.split() == ["0", "True"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_what_was_played(workers, tmp_path):
    log = tmp_path / "match.log"
    code = (
        "from equipoise.arena.match import play_match\n"
        f"r = play_match('random', 'call', hands=10_000_000, workers={workers}, log={str(log)!r})\n"
        "print(r.hands, r.interrupted)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size > 500_000) and time.monotonic() < deadline:
        time.sleep(0.05)
    # As a terminal does, to the whole group.
    os.killpg(process.pid, signal.SIGINT)
    told, _ = process.communicate(timeout=30)
    hands, interrupted = told.split()
    assert process.returncode == 0
    assert interrupted == "True"
    assert log.read_text().count("STATE:") == int(hands) > 1000

"""Subgames of real hands: true pots, real bets, values that agree with the spot solver."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from equipoise.cards.card import parse_cards
from equipoise.cards.combos import COMBO_COUNT, parse_combo
from equipoise.cards.matchup import compatible_weight
from equipoise.cards.range import Range
from equipoise.errors import CardError, GameError, IllegalActionError, RangeError, SolverError
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy
from equipoise.games.rules import CALL, LIMIT_HOLDEM, NOLIMIT_HOLDEM, State, raise_to
from equipoise.games.spot import Spot, postflop
from equipoise.run import Stop
from equipoise.search.gadgets import Gadget, SubgameSolver
from equipoise.search.menus import LineMenu, menu_for
from equipoise.search.solved import Solved, solve_subgame
from equipoise.search.subgame import Subgame, iterations_for
from equipoise.solve.spots.solution import solve_spot

RIVER = parse_cards("Td9d6hQc2s")
TURN = parse_cards("Td9d6hQc")
OOP, IP = Range.parse("22+,A2s+,KTs+,QJs,J9s"), Range.parse("TT+,AQs+,KQs,98s,76s:0.5")


def played(text: str) -> State:
    return State.from_betting_text(NOLIMIT_HOLDEM, text)


@cache
def solved_river() -> Solved:
    state = played("r250c/cc/cc/")
    return solve_subgame(Subgame(state, RIVER, (OOP, IP), "50%,a"), iterations=600)


def test_a_river_agrees_with_the_spot_solver() -> None:
    """Chips are counted from the start of the hand here, from the middle of the pot there."""
    spot = Spot(RIVER, OOP, IP, pot=500, stack=19750, menu="50%,a", min_bet=100)
    answer = solve_spot(spot, target_pct_pot=0.05)
    solved, state = solved_river(), played("r250c/cc/cc/")
    values = solved.values(0, state)
    reach = solved.reach(0, state)
    met = compatible_weight(solved.reach(1, state))
    mean = float((values * reach) @ met / (reach @ met))
    assert mean + 250 == pytest.approx(answer.at().mean_ev("oop"), abs=1.0)


@pytest.mark.parametrize("board", ["Td9d6hQc2s", "Jh9h4hTs3c"])
def test_with_fifty_pots_behind_lines_that_are_settled_stay_so(board: str) -> None:
    """Where no step is bounded, hands that change their mind at once undo what was learnt."""
    state = State.start(postflop(400, 19800, 1, min_bet=100))
    menu = BetMenu.parse("33%,75%,150%,a", "75%,a")
    subgame = Subgame(state, parse_cards(board), (Range.full(), Range.full()), menu)
    left = []
    for step in (SubgameSolver.default.step, 0.0):
        how = replace(SubgameSolver.default, step=step)
        solver = SubgameSolver(subgame.game(), ranges=(np.ones(1081),) * 2, discounting=how)
        solver.advance(180)
        left.append(solver.exploitability() / 400)
    assert left[0] < 0.005 < left[1]


def test_values_of_both_sum_to_nothing_at_every_decision() -> None:
    solved = solved_river()
    for node in solved.game.betting.of_kind(0, 0, 1).tolist():
        state = solved.game.betting.states[node]
        total = 0.0
        for player in (0, 1):
            met = compatible_weight(solved.reach(1 - player, state)) * solved.reach(player, state)
            if met.sum() < 1e-3:
                break
            total += float(solved.values(player, state) @ met) / float(met.sum())
        assert total == pytest.approx(0.0, abs=0.5)


def test_a_hand_that_folds_has_lost_what_it_put_in() -> None:
    solved = solved_river()
    after = played("r250c/cc/cc/r20000")
    fold = solved.policy(after).probabilities[parse_combo("7s6s"), 0]
    assert fold == pytest.approx(1.0, abs=0.01)
    assert solved.values(1, after)[parse_combo("7s6s")] == pytest.approx(-250, abs=2)


def test_best_values_are_not_below_those_played() -> None:
    solved, state = solved_river(), played("r250c/cc/cc/")
    for player in (0, 1):
        best = solved.values(player, state, how="best")
        assert (best - solved.values(player, state) > -0.05).all()
        assert (best - solved.values(player, state)).max() < 60


def test_every_hand_has_a_policy_also_outside_the_range() -> None:
    policy = solved_river().policy(played("r250c/cc/cc/"))
    rows = policy.probabilities
    assert rows.shape == (COMBO_COUNT, len(policy.actions))
    assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    # Aces are in neither range's leavings: 72o is outside, and has learnt not to call a shove.
    after = solved_river().policy(played("r250c/cc/cc/r20000"))
    assert after.probabilities[parse_combo("7h3c"), 0] > 0.99
    assert after.probabilities[parse_combo("Js8s"), 1] > 0.99


def test_a_turn_is_solved_with_its_rivers() -> None:
    # Sets, overpairs, draws: small ranges, so that all 48 rivers are soon solved.
    state = played("r250c/r500r1500c/")
    subgame = Subgame(
        state, TURN, (Range.parse("TT,99,KQs,J8s"), Range.parse("AA,QQ,AdKd,87s")), "a"
    )
    solved = solve_subgame(subgame, iterations=60)
    assert len(solved.game.deal.boards) == 49
    river = (*TURN, parse_cards("2s")[0])
    after = state.apply(CALL).apply(CALL)
    values, reach = solved.values(0, after, river), solved.reach(0, after, river)
    assert reach[parse_combo("KsQs")] > 0
    assert reach[parse_combo("2s2h")] == 0
    assert values[parse_combo("TsTh")] > values[parse_combo("KsQs")]
    # The mean over the cards that come is the value before they do.
    ends = [s for s in solved.ends_of_street if s.history == after.history]
    assert len(ends) == 1
    policy = solved.policy(after, river)
    assert policy.probabilities[parse_combo("KsQs")].sum() == pytest.approx(1.0)
    with pytest.raises(GameError, match="not played on the board"):
        solved.policy(after)
    with pytest.raises(GameError, match="does not come after"):
        solved.policy(after, RIVER[:3] + parse_cards("3c4c"))


def test_merged_run_outs_have_the_answers_of_all() -> None:
    board = parse_cards("TdTh6d2h")
    state = played("r250c/r500r1500c/")
    ranges = (Range.parse("AA,KK"), Range.parse("QQ,AK"))
    subgame = Subgame(state, board, ranges, "a")
    assert len(subgame.game().deal.boards) < 40
    solved = solve_subgame(subgame, iterations=100)
    after = state.apply(CALL).apply(CALL)
    spade, club = ((*board, card) for card in parse_cards("9s9c"))
    with_spade = solved.policy(after, spade).probabilities
    with_club = solved.policy(after, club).probabilities
    assert with_spade[parse_combo("AsAc")] == pytest.approx(
        with_club[parse_combo("AsAc")], abs=1e-6
    )
    first = with_spade[parse_combo("AsKs")]
    assert first == pytest.approx(with_club[parse_combo("AcKc")], abs=1e-6)


def test_run_outs_are_merged_only_if_alternatives_allow_it() -> None:
    board, state = parse_cards("TdTh6d2h"), played("r250c/r500r1500c/")
    subgame = Subgame(state, board, (Range.parse("AA,KK"), Range.parse("QQ,AK")), "a")
    even, uneven = np.zeros(COMBO_COUNT), np.zeros(COMBO_COUNT)
    uneven[parse_combo("QsQh")] = 500.0
    boards = []
    for worth in (even, uneven):
        solved = solve_subgame(subgame, 0, Gadget("resolve", worth), iterations=5)
        boards.append(len(solved.game.deal.boards))
    assert boards[0] < boards[1] == 49


def test_the_real_bet_is_in_the_tree_and_the_earlier_play_is_kept() -> None:
    start = played("r250c/cc/cc/")
    check = Policy((CALL, raise_to(500)), np.tile(np.float32([1.0, 0.0]), (COMBO_COUNT, 1)))
    line = (CALL, raise_to(577))
    subgame = Subgame(start, RIVER, (OOP, IP), "50%,a", line=line, kept={start.history: check})
    assert subgame.now.betting_text() == "r250c/cc/cc/cr577"
    solved = solve_subgame(subgame, iterations=50)
    assert solved.knows(subgame.now)
    assert raise_to(577) in solved.policy(start.apply(CALL)).actions
    assert raise_to(577) not in solved.policy(start).actions
    first = solved.policy(start)
    at = first.actions.index(CALL)
    assert first.probabilities[solved._combos[0], at] == pytest.approx(1.0)
    assert solved.reach(0, subgame.now) == pytest.approx(solved.reach(0, start))


def test_asked_twice_it_answers_the_same() -> None:
    state = played("r250c/cc/cc/r400")
    answers = [solve_subgame(Subgame(state, RIVER, (OOP, IP))).policy(state) for _ in range(2)]
    assert np.array_equal(answers[0].probabilities, answers[1].probabilities)
    small = Subgame(state, RIVER, (OOP, IP), "a").game()
    assert iterations_for(small) == 300


# ------------------------------------------------------------------------------------------- menus


def test_menus_shrink_with_depth() -> None:
    deep, shallow = played("cc/cc/"), played("r300r1000r4000c/cc/")
    for state in (deep, shallow):
        menu = menu_for(state)
        decisions = Subgame(state, TURN, (OOP, IP), menu).betting
        assert 0 < int((decisions.kind < 2).sum()) <= 160
    assert menu_for(State.from_betting_text(LIMIT_HOLDEM, "cc/cc/")).actions


def test_trees_of_a_line_are_counted_as_they_are_built() -> None:
    from equipoise.games.betting import measure

    start = played("cc/cc/cc/")
    menu = LineMenu.along(menu_for(start), start, (raise_to(217), raise_to(777)))[0]
    size = measure(start.rules, menu, keep_first=True, start=start)
    built = Subgame(start, RIVER, (OOP, IP), menu).betting
    assert size.total == len(built.kind)


# ------------------------------------------------------------------------------------ limits, stops


def test_a_clock_cuts_a_solve_short() -> None:
    state = played("cc/cc/")
    subgame = Subgame(state, TURN, (Range.full(), Range.full()), "a")
    solved = solve_subgame(subgame, iterations=100_000, seconds=0.3)
    assert solved.stopped
    assert 0 < solved.iterations < 100_000


def test_a_stop_reaches_a_search() -> None:
    state, stop = played("cc/cc/"), Stop()
    subgame = Subgame(state, TURN, (Range.full(), Range.full()), "a")
    begun = threading.Event()
    told: list[float] = []

    def ask() -> None:
        begun.wait()
        while not stop.watched:
            time.sleep(0.001)
        told.append(time.perf_counter())
        stop.set()

    thread = threading.Thread(target=ask)
    thread.start()
    begun.set()
    solved = solve_subgame(subgame, iterations=10_000_000, stop=stop)
    thread.join()
    assert solved.stopped
    assert told


# --------------------------------------------------------------------------------------- bad input


def test_what_a_subgame_refuses() -> None:
    full, state = (Range.full(), Range.full()), played("cc/cc/cc/")
    with pytest.raises(RangeError, match="player 1 has no hand that the board"):
        Subgame(state, RIVER, (Range.full(), np.zeros(COMBO_COUNT)))
    with pytest.raises(RangeError, match="no hand that the board"):
        Subgame(state, RIVER, (Range.parse("TdTc"), Range.full()))
    with pytest.raises(RangeError, match="has 3 weights"):
        Subgame(state, RIVER, (Range.full(), np.ones(3)))
    with pytest.raises(GameError, match="the hand is over"):
        Subgame(played("cc/cc/cc/cc"), RIVER, full)
    with pytest.raises(CardError, match="4 cards after 'cc/cc/cc/': give 5"):
        Subgame(state, TURN, full)
    with pytest.raises(CardError, match="board"):
        Subgame(state, (*TURN, TURN[0]), full)
    with pytest.raises(GameError, match="begin on the flop or later"):
        Subgame(played("c"), (), full)
    with pytest.raises(GameError, match="leaves nobody a choice"):
        solve_subgame(Subgame(state, RIVER, full, ""))
    with pytest.raises(IllegalActionError, match="plays r50"):
        Subgame(state, RIVER, full, line=(raise_to(50),))
    with pytest.raises(GameError, match="leaves its street"):
        Subgame(played("cc/cc/"), TURN, full, "a", line=(CALL, CALL))
    with pytest.raises(SolverError, match="5 alternatives"):
        solve_subgame(Subgame(state, RIVER, full, "a"), 0, Gadget("resolve", np.zeros(5)))
    with pytest.raises(GameError, match="not in the tree"):
        solved_river().policy(played("r250c/cc/cc/r999"))

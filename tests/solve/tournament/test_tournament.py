"""Whole tournaments of jam or fold: the grid, values and endings by slow twins, and ε by a check."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.errors import GameError
from equipoise.run import Stop
from equipoise.solve.tournament.icm import prize_equities
from equipoise.solve.tournament.jamfold3 import DECISIONS, endings_of
from equipoise.solve.tournament.tournament import Tournament, rounded

PRIZES = (50, 30, 20)


@pytest.fixture(scope="module")
def solved() -> Tournament:
    """Thirty big blinds in steps of ten: one point for three players, two heads-up."""
    found = Tournament(30, PRIZES, 3)
    changes = [found.sweep() for _ in range(4)]
    assert changes[-1] < changes[0] / 20
    return found


part = st.fractions(0, 1, max_denominator=24)


@settings(max_examples=200, deadline=None)
@given(part, part, st.integers(3, 20))
def test_rounding_keeps_expected_stacks(one, two, steps):
    low, high = sorted((one, two))
    point = [float(steps * low), float(steps * (high - low)), float(steps * (1 - high))]
    corners = rounded(point)
    assert sum(chance for chance, _ in corners) == pytest.approx(1)
    for player in range(3):
        mean = sum(chance * corner[player] for chance, corner in corners)
        assert mean == pytest.approx(point[player], abs=1e-6)
    for _, corner in corners:
        assert sum(corner) == steps
        assert all(abs(x - y) < 1 + 1e-6 for x, y in zip(corner, point, strict=True))
        # Nobody who is out is dealt in again.
        assert all(x >= 0 and (y > 0 or x == 0) for x, y in zip(corner, point, strict=True))


def test_endings_are_what_values_are_made_of(solved):
    """Chances of endings times what they pay are the values that tensors give."""
    rng = np.random.default_rng(5)
    stacks = (7.0, 11.0, 12.0)
    hand = solved.hand(stacks)
    solved.solver.button_folds = False
    solved.solver.play_for(hand)
    played = {name: rng.random(169) * (rng.random(169) < 0.5) for name in DECISIONS}
    chances = solved.solver.endings(played)
    pays = np.array([hand.worth(after) for after in endings_of(stacks)])
    assert chances @ pays == pytest.approx(solved.solver.values(played), abs=1e-4)


def test_seats_move_on():
    told = Tournament(30, PRIZES, 3)
    number = {point: n for n, point in enumerate(told.points)}
    # All three are left: the old small blind has the button.
    paid, moves = told.continuation((10, 10, 10), (10, 10, 10))
    assert paid == [0, 0, 0]
    even = 3 * number[1, 1, 1]
    assert sorted(moves) == [(0, even + 2, 1), (1, even, 1), (2, even + 1, 1)]
    # The button is out: the small blind has the big blind next, and twice the chips.
    paid, moves = told.continuation((10, 10, 10), (0, 20, 10))
    place = 3 * number[0, 1, 2]
    assert paid == [20, 0, 0]
    assert sorted(moves) == [(1, place + 2, 1), (2, place + 1, 1)]
    # Heads-up the blinds change hands, and who is out was paid third prize.
    paid, moves = told.continuation((0, 10, 20), (0, 20, 10))
    assert (paid, sorted(moves)) == ([20, 0, 0], [(1, place + 2, 1), (2, place + 1, 1)])
    # Two bust at once: the larger stack before the hand is second.
    assert told.continuation((5, 10, 15), (0, 0, 30)) == ([20, 30, 50], [])


def test_values_are_those_of_play_that_goes_on(solved):
    """By dealing hand after hand, against the linear system."""
    assert solved.values.reshape(-1, 3).sum(axis=1) == pytest.approx(100)
    hands = [solved.hand(solved._stacks(point)) for point in solved.points]
    by_hand = solved.values.copy()
    for number, hand in enumerate(hands):
        chances = solved._endings[number]
        pays = np.array([hand.worth(after) for after in endings_of(hand.stacks)])
        by_hand[3 * number : 3 * number + 3] = chances @ pays
    assert by_hand == pytest.approx(solved.values, abs=1e-9)
    won, dealt = _played_out(solved, solved.points.index((1, 1, 1)), 600)
    start = 3 * solved.points.index((1, 1, 1))
    error = won.std(axis=0) / np.sqrt(len(won))
    assert won.sum(axis=1) == pytest.approx(100)
    assert (np.abs(won.mean(axis=0) - solved.values[start : start + 3]) <= 4 * error).all()
    spread = dealt.std(axis=0) / np.sqrt(len(dealt))
    assert (dealt.mean(axis=0) <= solved.hands_left() + 4 * spread).all()


def _played_out(solved, start, games):
    """Prizes won and hands dealt by player, dealt hand after hand with stacks rounded by chance."""
    rng = np.random.default_rng(2)
    after = [endings_of(solved._stacks(point)) for point in solved.points]
    summed = [np.cumsum(chances) for chances in solved._endings]
    won, dealt = np.zeros((games, 3)), np.zeros((games, 3))
    for game in range(games):
        places = {player: 3 * start + player for player in range(3)}
        while places:
            dealt[game, list(places)] += 1
            number = next(iter(places.values())) // 3
            ending = min(np.searchsorted(summed[number], rng.random()), len(summed[number]) - 1)
            corners = rounded([stack / solved.step for stack in after[number][ending]])
            sums = np.cumsum([chance for chance, _ in corners])
            point = corners[min(np.searchsorted(sums, rng.random()), len(corners) - 1)][1]
            paid, moves = solved.continuation(
                solved._stacks(solved.points[number]), [told * solved.step for told in point]
            )
            onward = {seat: place for seat, place, _ in moves}
            for player, place in places.items():
                if place % 3 not in onward:
                    won[game, player] = paid[place % 3]
            places = {p: onward[at % 3] for p, at in places.items() if at % 3 in onward}
    return won, dealt


def test_nobody_gains_by_deviating(solved):
    epsilon = solved.epsilon()
    assert 0 <= epsilon <= 0.01
    # Whoever sits at a table of players who always jam gains much, and is found out.
    kept = solved.strategies, solved._endings, solved.values
    try:
        solved.strategies = [{name: np.ones(169) for name in DECISIONS} for _ in solved.points]
        solved._endings = []
        for number, played in enumerate(solved.strategies):
            if not solved.points[number][0]:
                played["b_jam"] = np.zeros(169)
            solved._endings.append(solved.solver.endings(played))
        solved.values = solved._value([[told] * 3 for told in solved._endings])
        assert solved.epsilon() > 2
    finally:
        solved.strategies, solved._endings, solved.values = kept


def test_stopping_and_what_is_no_grid():
    stop = Stop()
    stop.set()
    found = Tournament(30, PRIZES, 3)
    assert found.sweep(stop=stop) is None
    assert found.values[:3] == pytest.approx(prize_equities((0, 1, 2), PRIZES))
    assert found.run((10, 10, 10), 0.1, stop=stop) is None
    # After a sweep there is something to tell, but no check.
    found.sweep()
    told = found.run((10, 10, 10), 0.1, stop=stop)
    assert sum(told.hand.ev) == pytest.approx(100, abs=1e-3)
    assert (told.epsilon, told.error, told.settled) == (None, None, False)
    with pytest.raises(GameError, match="at most 5 steps"):
        Tournament(5, PRIZES, 6)
    with pytest.raises(GameError, match="3 to 40"):
        Tournament(30, PRIZES, 2)
    with pytest.raises(GameError, match="prizes fall"):
        Tournament(30, (20, 30, 50), 3)

"""Threads that meet inside compiled code: they share the duties, wait for each other, and are let go."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from equipoise.games.spot import Spot
from equipoise.kernel import row_kernel
from equipoise.solve.solvers.cfr import CFR, DCFR
from equipoise.solve.sweep.crew import TAKEN, meet, meeting_board, rest_address, take


def turn() -> Spot:
    return Spot("Td9d6hQc", "QQ-99,AKs,KQs", "JJ+,AQs,T9s", pot=100, stack=200, menu="50%,a")


@row_kernel
def count_together(board, members, rest, member, rounds, counted, seen):
    """Everybody counts to `rounds` in his own place; after each count all places must be alike."""
    for k in range(rounds):
        counted[member] = k + 1
        if not meet(board, members, rest):
            return
        for other in range(members):
            if counted[other] != k + 1:
                seen[member] += 1
        take(board, TAKEN)
        if not meet(board, members, rest):
            return


@pytest.mark.parametrize(("sleeping", "members", "rounds"), [(True, 3, 100), (False, 2, 5)])
def test_nobody_goes_on_before_all_have_come(sleeping: bool, members: int, rounds: int) -> None:
    rest = rest_address() if sleeping else 0
    board = meeting_board(members)
    counted, late = np.zeros(members, dtype=np.int64), np.zeros(members, dtype=np.int64)
    crew = [
        threading.Thread(
            target=count_together, args=(board, members, rest, member, rounds, counted, late)
        )
        for member in range(members)
    ]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert counted.tolist() == [rounds] * members
    assert not late.any()
    assert board[TAKEN] == members * rounds


def test_simultaneous_updates_are_the_same_on_any_number_of_threads() -> None:
    game, found = turn().game(), []
    for threads in (1, 2, 5):
        solver = CFR(game, alternating=False, threads=threads)
        solver.advance(3)
        found.append((solver.plan, solver.regrets))
    for plan, regrets in found[1:]:
        assert np.array_equal(plan, found[0][0])
        assert np.array_equal(regrets, found[0][1])


def test_a_member_that_cannot_go_on_does_not_keep_the_others_waiting() -> None:
    game = turn().game()
    solver, whole = DCFR(game, threads=3), DCFR(game)
    tableau, entered = solver.tableau, list[int]()
    shares = tableau.shares()

    def call(member: int) -> None:
        if member == 0:
            while len(entered) < 2:
                time.sleep(0.001)
            raise KeyboardInterrupt
        entered.append(member)
        board, members = shares[member].board, len(shares)
        numbers = np.zeros(members, dtype=np.int64)
        count_together(board, members, shares[member].rest, member, 1, numbers, numbers)

    with pytest.raises(KeyboardInterrupt):
        tableau.together(call)
    solver.advance(4)
    whole.advance(4)
    assert np.array_equal(solver.regrets, whole.regrets)

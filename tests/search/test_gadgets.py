"""Gadgets of the search against linear programs, on games where the truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from equipoise.bench.reproduce.subgames.leduc import (
    Resolved,
    SecondRound,
    blueprints,
    exploited,
    resolved_by_program,
    resolved_by_sweep,
    second_rounds,
    sequence_leduc,
)
from equipoise.bench.reproduce.subgames.sequences import SequenceGame
from equipoise.errors import RangeError, SolverError
from equipoise.games.library.leduc import leduc
from equipoise.games.spot import Spot
from equipoise.search.gadgets import UNSAFE, Gadget, SubgameSolver, meeting, with_gifts
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Tableau


@cache
def game_and_value() -> tuple[SequenceGame, float]:
    game = sequence_leduc()
    return game, game.equilibrium()[1]


def lost(name: str, seat: int, found: Resolved) -> float:
    game, value = game_and_value()
    return exploited(game, blueprints()[name], seat, found.play, value)


@cache
def rounds(name: str, seat: int) -> list[SecondRound]:
    return second_rounds(game_and_value()[0], blueprints()[name], seat)


@cache
def swept(name: str, seat: int, method: str) -> Resolved:
    game, own = game_and_value()[0], rounds(name, seat)
    return resolved_by_sweep(game, blueprints()[name], seat, method, 1000, rounds=own)


@cache
def programmed(name: str, seat: int, method: str) -> Resolved:
    game, own = game_and_value()[0], rounds(name, seat)
    return resolved_by_program(game, blueprints()[name], seat, method, rounds=own)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("method", ["resolve, best response", "maxmargin", "reach-maxmargin"])
def test_an_equilibrium_of_leduc_stays_one(method: str, seat: int) -> None:
    assert lost("exact", seat, programmed("exact", seat, method)) < 1e-6
    assert lost("exact", seat, swept("exact", seat, method)) < 0.005


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", ["noisy", "uniform", "J=Q"])
def test_with_best_response_alternatives_no_seat_is_worse_off(name: str, seat: int) -> None:
    game, value = game_and_value()
    before = game.exploitability(blueprints()[name], value)[seat]
    for method in ("resolve, best response", "maxmargin", "reach-maxmargin"):
        assert lost(name, seat, programmed(name, seat, method)) <= before + 1e-9
        assert lost(name, seat, swept(name, seat, method)) <= before + 0.005


#: Unique optima of unsafe solving, and least margins of maxmargin.
UNSAFE_LOST = {
    "noisy": (0.148169, 0.159229),
    "uniform": (0.899977, 0.802935),
    "J=Q": (0.421060, 0.502273),
}
LEAST = {"exact": (0, 0), "noisy": (0.021009, 0.012824), "uniform": (0.1875, 0.1875), "J=Q": (0, 0)}


@pytest.mark.parametrize("name", UNSAFE_LOST)
def test_unsafe_solving_finds_the_least_exploitable_answer_to_the_ranges(name: str) -> None:
    for seat in (0, 1):
        found = lost(name, seat, swept(name, seat, "unsafe"))
        assert found == pytest.approx(UNSAFE_LOST[name][seat], abs=0.003)


@pytest.mark.parametrize("name", LEAST)
def test_least_margins_agree_with_the_program(name: str) -> None:
    for seat in (0, 1):
        program = programmed(name, seat, "maxmargin")
        assert program.margin == pytest.approx(LEAST[name][seat], abs=1e-6)
        assert swept(name, seat, "maxmargin").margin == pytest.approx(program.margin, abs=0.01)


@pytest.mark.parametrize("name", ["exact", "noisy", "uniform"])
def test_the_excess_over_self_play_agrees_with_the_program(name: str) -> None:
    for seat in (0, 1):
        program = programmed(name, seat, "resolve, self-play")
        found = swept(name, seat, "resolve, self-play").excess
        assert found == pytest.approx(program.excess, abs=0.02)


def test_ties_are_broken_by_the_range() -> None:
    """Among safe strategies those that are good against the range: near unsafe, and safe."""
    for name in ("noisy", "uniform"):
        mean = sum(lost(name, s, swept(name, s, "resolve, best response")) for s in (0, 1)) / 2
        assert mean < sum(UNSAFE_LOST[name]) / 2 + 0.05


def test_unsafe_against_wrong_ranges_gets_worse_where_gadgets_do_not() -> None:
    game, value = game_and_value()
    for seat, least in ((0, 0.044621), (1, 0.068700)):
        play = [blueprints()["exact" if s == seat else "noisy"][s] for s in (0, 1)]
        found, here = {}, second_rounds(game, play, seat)
        for method in ("unsafe", "resolve, best response", "maxmargin"):
            own = resolved_by_sweep(game, play, seat, method, 400, rounds=here).play
            found[method] = exploited(game, play, seat, own, value)
        assert found["unsafe"] > least - 0.002
        assert found["resolve, best response"] < 0.005
        assert found["maxmargin"] < 0.005


def test_a_line_that_is_never_taken_has_flat_hands() -> None:
    never = [one for one in rounds("J=Q", 0) if set(one.weight.values()) == {1.0}]
    assert never
    small = leduc().below(int(leduc().betting.start[1]), 1)
    empty = SubgameSolver(small, ranges=(np.ones(3), np.zeros(3)))
    flat = SubgameSolver(small, ranges=(np.ones(3), np.ones(3)))
    for solver in (empty, flat):
        solver.advance(50)
    assert np.array_equal(empty.plan, flat.plan)


# -------------------------------------------------------------------------------------- real hands


@cache
def river() -> Spot:
    return Spot(
        "Td9d6hQc2s",
        "AA,KQs,J9s,87s,A5s,65s",
        "KK,QJs,98s,JTs,A4s,76s",
        pot=100,
        stack=250,
        menu={"bets": "75%,a", "raises": "a"},
    )


@pytest.mark.parametrize("kind", ["unsafe", "resolve", "maxmargin"])
@pytest.mark.parametrize("me", [0, 1])
def test_a_gadget_over_real_hands_converges(kind: str, me: int) -> None:
    game, random = river().game(), np.random.default_rng(5)
    tableau = Tableau(game)
    rows = tableau.rows()
    rows[:] = random.uniform(0, 1, len(rows))
    states = [len(hands) for hands in game.deal.boards[0].hands]
    ranges = tuple(random.uniform(0.1, 1, n) for n in states)
    tableau.reach(me)[:] = ranges[me]
    mass = meeting(game, 1 - me, ranges[me])
    worth = tableau.sweep(1 - me, rowrules.BEST, facing=rows) / mass
    gadget = UNSAFE if kind == "unsafe" else Gadget(kind, worth)
    solver = SubgameSolver(game, ranges=ranges, gadget=gadget, me=me)
    solver.advance(100)
    early = solver.exploitability()
    solver.advance(900)
    late = solver.exploitability()
    assert -1e-4 < late < 0.05
    assert late < early / 3
    if kind == "maxmargin":
        assert solver.margins().min() > -0.1
    if kind == "resolve":
        assert solver.margins().min() > -0.1


def test_masses_are_those_of_hands_that_share_no_card() -> None:
    game, random = river().game(), np.random.default_rng(1)
    first, second = game.deal.boards[0].hands
    reach = random.uniform(0, 1, len(second))
    slow = [
        sum(w for w, his in zip(reach, second.tolist(), strict=True) if not set(mine) & set(his))
        for mine in first.tolist()
    ]
    assert meeting(game, 0, reach) == pytest.approx(slow)


def test_threads_change_nothing() -> None:
    spot = Spot("Td9d6hQc", "AA,KQs,J9s", "KK,QJs,98s", pot=100, stack=150, menu="a")
    game = spot.game()
    states = [len(hands) for hands in game.deal.boards[0].hands]
    plans = []
    for threads in (1, 2):
        gadget = Gadget("resolve", np.zeros(states[1]))
        solver = SubgameSolver(
            game, ranges=(np.ones(states[0]), np.ones(states[1])), gadget=gadget, threads=threads
        )
        solver.advance(20)
        plans.append(solver.plan)
    assert np.array_equal(*plans)


def test_what_breaks_ties_fades_and_so_does_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight that stays lets a hand gain above its alternative as long as the range pays for it."""
    spot = Spot(
        "Td9d6hQc2s",
        "QQ,99,AQs,KdQd,JTs,T8s,98s,AsKs,65s",
        "66,TT,A9s,AdJd,KQs,QTs,J8s,87s,75s",
        *(100, 300, "75%,a"),
    )
    game = spot.game()
    ranges = (
        np.ones(len(game.deal.boards[0].hands[0])),
        np.ones(len(game.deal.boards[0].hands[1])),
    )
    alike = SubgameSolver(game, ranges=ranges)
    alike.plan[:] = 1
    gadget = Gadget("resolve", alike.best_values())

    def least_margin() -> float:
        solver = SubgameSolver(game, ranges=ranges, gadget=gadget)
        solver.advance(1500)
        return float(solver.margins().min())

    assert least_margin() > -0.002
    monkeypatch.setattr("equipoise.search.gadgets._WHOLE_TIES", 10**9)
    assert least_margin() < -0.005


# --------------------------------------------------------------------------------------- bad input


def test_what_a_gadget_refuses() -> None:
    small = leduc().below(int(leduc().betting.start[1]), 1)
    good = (np.ones(3), np.ones(3))
    with pytest.raises(SolverError, match="needs alternatives"):
        Gadget("maxmargin")
    with pytest.raises(SolverError, match="no gadget 'safe'"):
        Gadget("safe", [0.0])  # type: ignore[arg-type]
    with pytest.raises(SolverError, match="takes no alternatives"):
        Gadget("unsafe", [0.0])
    with pytest.raises(SolverError, match="finite"):
        Gadget("resolve", [np.nan])
    with pytest.raises(SolverError, match="2 alternatives: give one for each of the opponent's 3"):
        SubgameSolver(small, ranges=good, gadget=Gadget("resolve", [0.0, 1.0]))
    with pytest.raises(RangeError, match="player 0: no hand has a weight above 0"):
        SubgameSolver(small, ranges=(np.zeros(3), np.ones(3)))
    with pytest.raises(RangeError, match="has 2 weights"):
        SubgameSolver(small, ranges=(np.ones(3), np.ones(2)))
    with pytest.raises(RangeError, match="finite, and 0 or more"):
        SubgameSolver(small, ranges=(np.ones(3), np.array([1.0, -1.0, 0.0])))
    with pytest.raises(SolverError, match="me = 2"):
        SubgameSolver(small, ranges=good, me=2)
    with pytest.raises(SolverError, match="no margins"):
        SubgameSolver(small, ranges=good).margins()
    with pytest.raises(SolverError, match="0 chips or more"):
        with_gifts([1.0], [-1.0])
    with pytest.raises(SolverError, match="2 gifts for 1"):
        with_gifts([1.0], [1.0, 2.0])

"""The run loop, by solvers of tiny games and by a clock of its own."""

from __future__ import annotations

import math
import signal
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from equipoise.errors import SolverError
from equipoise.games.catalogue import kuhn, leduc
from equipoise.run import (
    Event,
    Figures,
    Limit,
    Looks,
    LooksByCost,
    LooksForTarget,
    Loop,
    Saves,
    Stop,
)
from equipoise.solve.solvers.cfr import DCFR, CFRPlus

KUHN, LEDUC = kuhn(), leduc()


class Counter:
    """Iterations, looks and saves that take as long as they are told, by a clock of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, iteration_cost: float = 0.01) -> None:
        self.iteration, self.now, self.abreast = 0, 0.0, 1
        self.iteration_cost, self.look_cost, self.save_cost = iteration_cost, 0.0, 0.0
        self.looks, self.saves, self.recorded = list[int](), list[int](), list[Event]()
        self.figures: Figures = (1.0, None)
        monkeypatch.setattr("equipoise.run.time.perf_counter", lambda: self.now)

    def make_ready(self) -> None:
        self.now += 1000.0

    def advance(self, count: int) -> None:
        self.iteration += count
        self.now += count * self.iteration_cost

    def look(self) -> Figures:
        self.looks.append(self.iteration)
        self.now += self.look_cost
        return self.figures

    def save(self) -> None:
        self.saves.append(self.iteration)
        self.now += self.save_cost


# ------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({}, "a run needs a limit"),
        ({"check_every": 5}, "a run needs a limit"),
        ({"iterations": -1}, "iterations = -1: give 0 or more"),
        ({"seconds": -0.5}, "seconds = -0.5: give 0 or more"),
        ({"seconds": float("nan")}, "seconds = nan: give 0 or more"),
        ({"seconds": float("inf")}, "seconds = inf: give 0 or more"),
        ({"exploitability_chips": -1e-9}, "give 0 or more"),
        ({"exploitability_pct_pot": float("nan")}, "exploitability_pct_pot = nan: give 0 or more"),
        ({"exploitability_bb": 1.0, "exploitability_chips": 1.0}, "give one"),
        ({"iterations": 5, "check_every": 0}, "check_every = 0: give 1 or more"),
    ],
)
def test_limits_that_make_no_sense(limits: dict[str, Any], told: str) -> None:
    with pytest.raises(SolverError, match=told):
        Limit(**limits)


def test_chips_percent_of_the_pot_and_big_blinds_are_one_limit() -> None:
    """Leduc: a pot of 2 antes at the start, and bets told in antes."""
    in_chips = DCFR(LEDUC).run(Limit(exploitability_chips=0.02, check_every=1))
    for other in ({"exploitability_pct_pot": 1.0}, {"exploitability_bb": 0.02 / LEDUC.unit_chips}):
        assert DCFR(LEDUC).run(Limit(check_every=1, **other)).done == in_chips.done > 10


# --------------------------------------------------------------------------------------- stops


def test_any_thread_stops_a_run_in_any_thread(tmp_path: Path) -> None:
    """No run knows of signals: it ends as by a limit, and what is done is saved."""
    path, stop, begun = tmp_path / "checkpoint", Stop(), threading.Event()
    solver, ended = CFRPlus(LEDUC), list[Event]()

    def work() -> None:
        limit = Limit(seconds=600)
        ended.append(solver.run(limit, lambda event: begun.set(), path, stop=stop))

    other = threading.Thread(target=work)
    other.start()
    assert begun.wait(60)
    assert stop.watched
    stop.set()
    other.join(60)
    assert not other.is_alive()
    assert not stop.watched
    assert ended[0].done == solver.iteration == CFRPlus.load(path, LEDUC).iteration > 0
    assert ended[0].exploitability_chips == solver.exploitability()


def test_a_stop_that_is_set_before_lets_nothing_begin() -> None:
    stop = Stop()
    stop.set()
    last = CFRPlus(KUHN).run(Limit(iterations=50), stop=stop)
    assert last.done == 0
    assert last.exploitability_chips is not None


def test_a_stop_on_a_shared_flag() -> None:
    flag = threading.Event()
    first, second = Stop(flag), Stop(flag)
    first.set()
    assert second.is_set()


def test_a_run_leaves_ctrl_c_to_whoever_hears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler of somebody else is called at once, in the midst of iterations."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        solver = CFRPlus(KUHN)
        advance = solver.advance

        def pressed(count: int) -> None:
            signal.raise_signal(signal.SIGINT)
            assert heard
            advance(count)

        monkeypatch.setattr(solver, "advance", pressed)
        assert solver.run(Limit(iterations=3)).done == 3
    finally:
        signal.signal(signal.SIGINT, before)


def test_looks_that_nobody_wants_end_no_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small game is iterated faster than it is entered."""
    chunks = {}
    for wanted in (False, True):
        work, chunks[wanted] = Counter(monkeypatch, iteration_cost=1e-6), list[int]()
        advance = work.advance

        def counted(count: int, advance: Any = advance, into: Any = chunks[wanted]) -> None:
            into.append(count)
            advance(count)

        monkeypatch.setattr(work, "advance", counted)
        record = work.recorded.append if wanted else None
        Loop(work, Limit(iterations=300), work.look, record=record).run()
        assert work.iteration == sum(chunks[wanted]) == 300
    assert chunks[False] == [1, 2, 4, 8, 16, 32, 64, 128, 45]
    assert len(chunks[True]) > 30


def test_slow_iterations_go_on_abreast(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes longer than a chunk does not leave the other threads idle."""
    work = Counter(monkeypatch, iteration_cost=3.0)
    work.abreast = 4
    heard: list[Event] = []
    Loop(work, Limit(iterations=13), work.look, looks=Looks(100)).run(heard.append)
    steps = [later.done - earlier.done for earlier, later in pairwise(heard)]
    assert max(steps) == 4


def test_an_iteration_that_breaks_off_is_not_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Counter(monkeypatch)

    def fails(count: int) -> None:
        work.iteration += 1
        raise MemoryError

    monkeypatch.setattr(work, "advance", fails)
    loop = Loop(work, Limit(iterations=5), work.look, saves=Saves(work.save))
    with pytest.raises(MemoryError):
        loop.run()
    assert work.saves == []


def test_what_a_listener_raises_is_raised_and_the_work_saved(monkeypatch) -> None:
    work = Counter(monkeypatch)

    def fails(event: Event) -> None:
        raise RuntimeError("no ink")

    loop = Loop(work, Limit(iterations=5), work.look, saves=Saves(work.save))
    with pytest.raises(RuntimeError, match="no ink"):
        loop.run(fails)
    assert work.saves == [1]


def test_an_interrupt_is_recorded_and_saved_and_told_to_nobody(monkeypatch) -> None:
    work, heard = Counter(monkeypatch), list[Event]()

    def press(event: Event) -> None:
        heard.append(event)
        if event.done > 4:
            raise KeyboardInterrupt

    saves = Saves(work.save)
    limit = Limit(iterations=100, check_every=90)
    loop = Loop(work, limit, work.look, record=work.recorded.append, saves=saves)
    last = loop.run(press)
    assert loop.stopped
    assert loop.interrupted
    assert work.saves == [work.iteration] == [heard[-1].done] == [last.done]
    assert work.recorded == [last]
    assert last.exploitability_chips == 1.0


# ---------------------------------------------------------------------- clocks, looks and saves


def test_a_run_that_goes_on_knows_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Counter(monkeypatch)
    since = Event(0, seconds=7.0)
    last = Loop(work, Limit(seconds=10.0), work.look, since=since).run()
    assert last.seconds == pytest.approx(10.0, abs=0.011)
    assert work.iteration == pytest.approx(300, abs=2)


def test_a_run_that_has_met_its_limit_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Counter(monkeypatch)
    since = Event(0, seconds=7.0, exploitability_chips=0.1, judged_chips=0.3)
    limit = Limit(exploitability_chips=0.3)
    assert Loop(work, limit, work.look, since=since).run() == since
    assert work.looks == []


def test_the_figure_on_other_boards_is_the_one_to_reach(monkeypatch) -> None:
    work = Counter(monkeypatch)
    work.figures = (0.1, 0.4)
    limit = Limit(iterations=50, exploitability_chips=0.3)
    assert Loop(work, limit, work.look).run().done == 50


def test_saves_on_the_clock_and_a_look_before_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As training does it: a save may take a twentieth of the time, the look before it included."""
    work = Counter(monkeypatch)
    work.look_cost, work.save_cost = 0.1, 0.4
    looks = LooksByCost(share=0.001, in_doubling=1, first_seconds=1e9)
    saves = Saves(work.save, every=5.0, timed=True)
    loop = Loop(
        work, Limit(seconds=100.0), work.look, record=work.recorded.append, looks=looks, saves=saves
    )
    last = loop.run()
    assert last.seconds == pytest.approx(100.0, abs=0.2)
    assert [event.done for event in work.recorded] == work.saves
    # One after 5 s, then every 10 s besides what it takes, and the end.
    assert len(work.saves) == 1 + 8 + 1
    assert work.iteration == pytest.approx((100 - 9 * 0.5) / 0.01, abs=20)


def test_saves_are_not_further_apart_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Counter(monkeypatch)
    work.save_cost = 100.0
    saves = Saves(work.save, every=1.0, most=2.0, at_end=False)
    Loop(work, Limit(seconds=10.05), work.look, saves=saves).run()
    assert len(work.saves) == 5


def test_looks_that_cost_much_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Counter(monkeypatch)
    work.look_cost = 1.0
    looks = LooksByCost(share=0.05, in_doubling=100, first_seconds=3.0)
    heard: list[Event] = []
    Loop(work, Limit(seconds=100.0), work.look, looks=looks).run(heard.append)
    at = [event.seconds for event in heard if event.exploitability_chips is not None]
    assert at[0] == pytest.approx(4.1, abs=0.2)
    assert len(at) == 6


@pytest.mark.parametrize("power", [0.9, 1.7, 2.5])
@pytest.mark.parametrize("target", [0.5, 0.003])
def test_looks_for_a_target_are_few_and_soon_after_it(
    power: float, target: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Counter(monkeypatch)

    def look() -> Figures:
        work.look()
        # A wave on the curve, which the prediction does not know of.
        return (50.0 + 2.0 * (work.iteration % 7 > 3)) / work.iteration**power, None

    last = Loop(work, Limit(exploitability_chips=target), look, looks=LooksForTarget(target)).run()
    assert last.exploitability_chips is not None
    assert last.exploitability_chips <= target
    met = next(
        n for n in range(1, 1 << 20) if (50.0 + 2.0 * (n % 7 > 3)) / float(n) ** power <= target
    )
    assert last.done <= max(32, met * (52 / 50) ** (2 / power) * 1.04 + 1)
    assert len(work.looks) <= math.log2(last.done) + 8

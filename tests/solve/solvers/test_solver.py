"""Runs: when they stop, what they report, and that they go on from a checkpoint as if never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equipoise import artefact
from equipoise.errors import ArtefactError
from equipoise.games.catalogue import holdem_small, kuhn, leduc
from equipoise.run import Event, Limit
from equipoise.solve.curve import Curve, plot_curves
from equipoise.solve.registry import SOLVERS, make_solver
from equipoise.solve.sampling.mccfr import MonteCarloCFR
from equipoise.solve.solvers.cfr import CFR, DCFR, CFRPlus
from equipoise.solve.solvers.egt import ExcessiveGap

KUHN, LEDUC = kuhn(), leduc()


# ------------------------------------------------------------------------------------- limits


def test_iterations_are_counted_in_all() -> None:
    solver = CFRPlus(KUHN)
    assert solver.run(Limit(iterations=20)).done == solver.iteration == 20
    assert solver.run(Limit(iterations=50)).done == solver.iteration == 50
    assert solver.run(Limit(iterations=50)).done == solver.iteration == 50


def test_a_run_is_as_good_as_its_steps() -> None:
    """However a run is cut into pieces, the numbers are the same."""
    by_hand, run = DCFR(LEDUC), DCFR(LEDUC)
    for _ in range(123):
        by_hand.step()
    last = run.run(Limit(iterations=123, check_every=7), lambda event: None)
    assert np.array_equal(by_hand.plan, run.plan)
    assert last.exploitability_chips == by_hand.exploitability()


class Clocked(CFRPlus):
    """A solver whose iterations and loading take as long as it is told, by a clock of its own."""

    def __init__(self, cost: float, loading: float = 0.0) -> None:
        super().__init__(KUHN)
        self.now, self.cost, self.loading, self.chunks = 0.0, cost, loading, list[int]()

    def prepare(self) -> None:
        self.now += self.loading

    def advance(self, count: int) -> None:
        self.now += count * self.cost
        self.iteration += count
        self.chunks.append(count)


@pytest.mark.parametrize("cost", [2e-5, 0.003, 0.07, 0.5])
def test_seconds_are_those_of_iterations(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading is not on the clock, and a run ends within an iteration of its time."""
    solver = Clocked(cost, loading=10.0)
    monkeypatch.setattr("equipoise.run.time.perf_counter", lambda: solver.now)
    last = solver.run(Limit(seconds=1.3))
    assert 1.3 - 1e-9 <= last.seconds <= 1.3 + cost
    assert last.done == solver.iteration == round(last.seconds / cost)
    assert max(solver.chunks) * cost <= max(0.11, cost)
    again = solver.run(Limit(seconds=1.3))
    assert 1.3 - 1e-9 <= again.seconds <= 1.3 + cost


def test_chunks_stay_short_however_far_apart_the_checks_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = Clocked(0.001)
    monkeypatch.setattr("equipoise.run.time.perf_counter", lambda: solver.now)
    solver.run(Limit(iterations=100_000))
    assert max(solver.chunks) <= 101


def test_listening_and_saving_are_not_on_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = Clocked(0.01)
    monkeypatch.setattr("equipoise.run.time.perf_counter", lambda: solver.now)

    def slow(event_or_path: object) -> None:
        solver.now += 5.0

    monkeypatch.setattr(solver, "save", slow)
    last = solver.run(Limit(seconds=1.0), slow, tmp_path / "saved", checkpoint_seconds=0.2)
    assert last.seconds == pytest.approx(1.0, abs=0.02)
    assert solver.iteration == pytest.approx(100, abs=2)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_preparing_changes_nothing(name: str, threads: int) -> None:
    """A prepared solver goes on as if it had not been."""
    plain, prepared = (make_solver(name, LEDUC, threads=threads) for _ in range(2))
    for solver in (plain, prepared):
        solver.advance(3)
    prepared.prepare()
    for solver in (plain, prepared):
        solver.advance(3)
    assert prepared.iteration == plain.iteration
    if not (threads == 2 and isinstance(plain, MonteCarloCFR)):
        assert np.array_equal(prepared.plan, plain.plan)


def test_a_prepared_solver_loads_nothing_more() -> None:
    """Every kernel that a run calls is there before the first iteration."""
    code = """
import gc, sys
from numba.core.dispatcher import Dispatcher
from equipoise.games.catalogue import kuhn
from equipoise.solve.registry import SOLVERS
from equipoise.run import Limit

def loaded():
    found = (thing for thing in gc.get_objects() if isinstance(thing, Dispatcher))
    return {(kernel.py_func.__name__, str(s)) for kernel in found for s in kernel.signatures}

solver = SOLVERS[sys.argv[1]](kuhn())
solver.prepare()
before = loaded()
solver.run(Limit(iterations=5))
print(sorted(loaded() - before))
"""
    for name in ("cfr+", "lp", "external"):
        done = subprocess.run(
            [sys.executable, "-c", code, name], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]", name


def test_target() -> None:
    solver = CFRPlus(LEDUC)
    last = solver.run(Limit(iterations=100_000, exploitability_chips=0.05))
    assert last.exploitability_chips is not None
    assert last.exploitability_chips <= 0.05
    assert last.exploitability_chips == solver.exploitability()
    assert solver.iteration < 200


# ------------------------------------------------------------------------------------- events


def test_events() -> None:
    heard: list[Event] = []
    solver = DCFR(LEDUC)
    last = solver.run(Limit(iterations=200, check_every=25), heard.append)
    assert heard[-1] == last
    assert [e.done for e in heard] == sorted(e.done for e in heard)
    assert [e.seconds for e in heard] == sorted(e.seconds for e in heard)
    measured = [e for e in heard if e.exploitability_chips is not None]
    assert [e.done for e in measured] == list(range(25, 201, 25))
    replayed = DCFR(LEDUC)
    for event in measured:
        replayed.advance(event.done - replayed.iteration)
        assert event.exploitability_chips == replayed.exploitability()


def test_checks_grow_further_apart() -> None:
    curve = Curve()
    CFRPlus(KUHN).run(Limit(iterations=3000), curve)
    at = [event.done for event in curve.points]
    assert at[0] == 1
    assert at[-1] == 3000
    assert len(at) < 80
    assert at[-2] - at[-3] > 10 * (at[1] - at[0])


def test_the_last_event_is_measured_even_if_nobody_listens() -> None:
    solver = CFRPlus(KUHN)
    last = solver.run(Limit(iterations=37, check_every=1000))
    assert last.exploitability_chips == solver.exploitability()


def test_an_exact_answer_is_marked_and_does_not_stretch_the_picture() -> None:
    curves = {}
    for name in ("cfr+", "lp"):
        curve = Curve()
        make_solver(name, LEDUC).run(Limit(iterations=100), curve)
        curves[name] = curve.points
    reached = min(event.exploitability_chips or 1.0 for event in curves["cfr+"])
    assert (curves["lp"][0].exploitability_chips or 0.0) < 1e-9 < reached
    for axes in plot_curves(curves, "leduc").axes:
        assert axes.get_ylim()[0] > reached / 10
        marked = [line for line in axes.lines if line.get_marker() == "D"]
        assert [line.get_ydata()[0] for line in marked] == [reached]
    (alone,) = plot_curves({"lp": curves["lp"]}, "leduc").axes[:1]
    assert alone.get_ylim()[0] >= 1e-13


def test_solvers_and_strategies_introduce_themselves_briefly() -> None:
    solver = make_solver("cfr+", LEDUC)
    solver.step()
    assert repr(solver) == "<CFRPlus of leduc: 1 iterations>"
    assert repr(solver.average_strategy()).startswith("<TabularStrategy of leduc:")


def test_curves_are_drawn(tmp_path: Path) -> None:
    curves = {}
    for name in ("cfr", "dcfr"):
        curve = Curve()
        make_solver(name, KUHN).run(Limit(iterations=50), curve)
        curves[name] = curve.points
    figure = plot_curves(curves, "kuhn", tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]
    for axes, key in zip(figure.axes, ("done", "seconds"), strict=True):
        drawn = axes.lines[1].get_xydata()
        wanted = [(getattr(e, key), e.exploitability_chips) for e in curves["dcfr"]]
        np.testing.assert_allclose(drawn, wanted)


# -------------------------------------------------------------------------------- checkpoints


def same(first: Any, second: Any) -> None:
    """Two solvers that hold the very same numbers."""
    assert first.iteration == second.iteration
    assert first.arrays().keys() == second.arrays().keys()
    for name, array in first.arrays().items():
        assert np.array_equal(array, second.arrays()[name]), name
    assert first.scalars() == second.scalars()


@pytest.mark.parametrize("name", SOLVERS)
def test_resuming_is_exact(name: str, tmp_path: Path) -> None:
    straight, stopped = make_solver(name, LEDUC), make_solver(name, LEDUC)
    straight.advance(30)
    stopped.advance(17)
    stopped.save(tmp_path / "checkpoint")
    resumed = SOLVERS[name].load(tmp_path / "checkpoint", leduc())
    same(resumed, stopped)
    resumed.advance(13)
    same(resumed, straight)
    assert np.array_equal(resumed.average_strategy().numbers, straight.average_strategy().numbers)
    assert resumed.exploitability() == straight.exploitability()
    assert straight.plan.any()


@pytest.mark.parametrize(
    "solver",
    [
        CFR(LEDUC, alternating=False),
        DCFR(LEDUC, alpha=2.0, beta=0.5, gamma=1.0),
        DCFR(holdem_small("limit", evaluator="sorted"), storage="16-bit"),
        DCFR(LEDUC, precision="float32"),
        ExcessiveGap(LEDUC, prox="euclidean", steps="theoretical"),
    ],
    ids=["simultaneous", "exponents", "compressed", "float32", "egt"],
)
def test_settings_are_kept(solver: Any, tmp_path: Path) -> None:
    solver.advance(5)
    solver.save(tmp_path / "checkpoint")
    resumed = type(solver).load(tmp_path / "checkpoint", solver.game)
    assert resumed.settings() == solver.settings()
    assert resumed.tableau.dtype == solver.tableau.dtype
    for each in (solver, resumed):
        each.advance(5)
    same(resumed, solver)


@pytest.mark.parametrize("evaluator", ["matrix", "sorted"])
def test_resuming_with_two_threads(evaluator: str, tmp_path: Path) -> None:
    """Sums come in another order: the values agree within a ten-thousandth of the pot."""
    game = holdem_small("short", evaluator=evaluator, menu="a")
    near = 1e-4 * 2 * float(game.betting.swing.max())
    alone, straight, stopped = DCFR(game), DCFR(game, threads=2), DCFR(game, threads=2)
    assert straight.tableau.threads == 2
    alone.advance(60)
    straight.advance(60)
    stopped.advance(34)
    stopped.save(tmp_path / "checkpoint")
    resumed = DCFR.load(tmp_path / "checkpoint", game, threads=2)
    assert resumed.tableau.threads == 2
    resumed.advance(26)
    assert resumed.value() == pytest.approx(straight.value(), abs=near)
    assert resumed.exploitability() == pytest.approx(straight.exploitability(), abs=near)
    assert straight.value() == pytest.approx(alone.value(), abs=near)
    assert straight.exploitability() < 2 * alone.exploitability() < 100 * near


KILLED = """
import sys
from equipoise.games.catalogue import leduc
from equipoise.solve.solvers.cfr import DCFR
from equipoise.run import Limit
DCFR(leduc()).run(Limit(seconds=60), checkpoint=sys.argv[1], checkpoint_seconds=0.05)
"""
RESUMED = """
import sys
from equipoise.games.catalogue import leduc
from equipoise.solve.solvers.cfr import DCFR
resumed, straight = DCFR.load(sys.argv[1], leduc()), DCFR(leduc())
before = resumed.iteration
resumed.advance(10)
straight.advance(resumed.iteration)
print(before, all((a == b).all() for a, b in zip(resumed.arrays().values(), straight.arrays().values())))
"""


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    # Both processes find the kernels compiled: fresh code may round the last bit otherwise.
    DCFR(LEDUC).step()
    path = tmp_path / "checkpoint"
    running = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
    try:
        saved = set()
        # Killed at any moment after a few checkpoints, perhaps while another is being written.
        for _ in range(6000):
            if path.exists():
                saved.add(path.stat().st_mtime_ns)
            if len(saved) > 2:
                break
            assert running.poll() is None
            time.sleep(0.01)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert running.returncode == -signal.SIGKILL
    line = [sys.executable, "-c", RESUMED, str(path)]
    told = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout
    iterations, alike = told.split()
    assert int(iterations) > 0
    assert alike == "True"


@pytest.mark.parametrize("where", ["in an iteration", "between iterations"])
def test_an_interrupted_run_is_saved(where: str, tmp_path: Path, monkeypatch) -> None:
    """Ctrl-C anywhere: what is saved is a whole number of iterations."""
    path, solver = tmp_path / "checkpoint", DCFR(LEDUC)
    sweeps = solver.tableau.iterate
    calls = 0

    def interrupted(*given: Any, **more: Any) -> None:
        nonlocal calls
        sweeps(*given, **more)
        calls += 1
        if calls == 4 and where == "in an iteration":
            signal.raise_signal(signal.SIGINT)

    def listener(event: Event) -> None:
        if event.done > 10 and where == "between iterations":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(solver.tableau, "iterate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solver.run(Limit(iterations=100_000), listener, checkpoint=path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    resumed, straight = DCFR.load(path, LEDUC), DCFR(LEDUC)
    assert 0 < resumed.iteration < 1000
    resumed.advance(5)
    straight.advance(resumed.iteration)
    same(resumed, straight)


def test_checkpoints_as_the_run_goes(tmp_path: Path, monkeypatch) -> None:
    path, solver = tmp_path / "checkpoint", Clocked(0.01)
    monkeypatch.setattr("equipoise.run.time.perf_counter", lambda: solver.now)
    saved: list[int] = []
    save, cost = solver.save, 0.0

    def counted(at: Path) -> None:
        saved.append(solver.iteration)
        save(at)
        solver.now += cost

    monkeypatch.setattr(solver, "save", counted)
    solver.run(Limit(iterations=100), checkpoint=path, checkpoint_seconds=0.2)
    assert len(saved) == 4
    assert saved[-1] == 100
    assert CFRPlus.load(path, KUHN).iteration == 100
    assert os.listdir(tmp_path) == ["checkpoint"]
    saved.clear()
    solver.run(Limit(iterations=200), checkpoint=path)
    assert saved == [200]
    # A save that takes a tenth of a second is worth twenty times that of iterations.
    saved.clear()
    cost = 0.1
    solver.run(Limit(iterations=800), checkpoint=path, checkpoint_seconds=0.2)
    assert len(saved) == 4


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    path, solver = tmp_path / "checkpoint", DCFR(KUHN)
    solver.advance(17)
    solver.save(path)
    with pytest.raises(ArtefactError, match="a checkpoint of dcfr, not cfr"):
        CFR.load(path, KUHN)
    with pytest.raises(ArtefactError, match=r"a checkpoint of another game \(kuhn\)"):
        DCFR.load(path, LEDUC)
    with pytest.raises(ArtefactError, match="another game"):
        DCFR.load(path, kuhn(max_raises=2))
    whole = path.read_bytes()
    for content in (whole[:-1], whole[: len(whole) // 2], b""):
        path.write_bytes(content)
        with pytest.raises(ArtefactError, match="damaged"):
            DCFR.load(path, KUHN)
    later = whole.replace(b'"iteration\\": 17', b'"iteration\\": 18')
    assert later != whole
    path.write_bytes(later)
    with pytest.raises(ArtefactError, match="damaged"):
        DCFR.load(path, KUHN)
    solver.average_strategy().save(path)
    with pytest.raises(ArtefactError, match="holds a strategy, not a solver"):
        DCFR.load(path, KUHN)
    with pytest.raises(ArtefactError, match="no such file"):
        DCFR.load(tmp_path / "nothing", KUHN)


# ----------------------------------------------------------------------------------- registry


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_has_the_same_verbs(name: str) -> None:
    solver = make_solver(name, KUHN)
    assert solver.exploitability() == pytest.approx(0.458333, abs=1e-6)
    solver.step()
    assert solver.iteration == 1
    last = solver.run(Limit(iterations=3000))
    assert last.exploitability_chips == pytest.approx(solver.exploitability())
    assert last.exploitability_chips < 0.1
    assert solver.value() == pytest.approx(-1 / 18, abs=0.2)
    assert solver.average_strategy().game is KUHN


@pytest.mark.parametrize("name", ["dcfr", "egt", "external"])
def test_signed_nonsense_is_refused(tmp_path: Path, name: str) -> None:
    """A checkpoint whose checksum is right and whose content is not."""
    path, kind = tmp_path / "saved", type(make_solver(name, KUHN))
    kind(KUHN).save(path)
    told, arrays = artefact.read(path, "solver")
    told = {key: told[key] for key in ("configuration", "iteration", "scalars")}
    configuration = told["configuration"]
    for part, keys in (
        (told, told),
        (told["scalars"], told["scalars"]),
        (configuration, ("game_fingerprint", "solver", "precision", "settings")),
    ):
        for key in list(keys):
            value = part[key]
            for other in (None, "banana", float("nan"), -1, [[]], {"a": 1}):
                part[key] = other
                artefact.write(path, "solver", arrays=arrays, **told)
                with pytest.raises(ArtefactError):
                    kind.load(path, KUHN)
            part[key] = value
    for key, array in arrays.items():
        for other in (array[:-1], array.astype(np.int8), np.full(array.shape, np.nan)):
            artefact.write(path, "solver", arrays={**arrays, key: other}, **told)
            with pytest.raises(ArtefactError):
                kind.load(path, KUHN)
        artefact.write(path, "solver", arrays={k: arrays[k] for k in arrays if k != key}, **told)
        with pytest.raises(ArtefactError, match=f"{key} is missing"):
            kind.load(path, KUHN)

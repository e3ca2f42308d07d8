"""Training runs: the same with and without a stop, saved, refused and reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tinyrecipe import TINY

from equipoise import artefact
from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.tables.transitions import Transitions, classed_street
from equipoise.errors import ArtefactError, FileError, RecipeError, SolverError
from equipoise.run import Event, Stop
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.training import model as trainingmodel
from equipoise.solve.training import run as training
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.folder import RunFolder
from equipoise.solve.training.forms import likeliest, quantised
from equipoise.solve.training.recipe import Recipe
from equipoise.solve.training.run import TrainingRun, finish, train
from equipoise.solve.training.sanity import rank_correlation, sanity

pytestmark = pytest.mark.usefixtures("undrawn")


def tiny(solver: str = "dcfr", iterations: int = 12, **changes: object) -> Recipe:
    told = tomllib.loads(TINY)
    told["model"]["judge"] = 100
    told |= {"solver": {"name": solver}, "limit": {"iterations": iterations}} | changes
    return Recipe.from_dict(told)


CARDS = {
    "model": {"kind": "cards"},
    "abstraction": {"method": "equity", "count": 4, "remembers": False},
}
INDEPENDENT = {
    "rules": {"game": "limit"},
    "menu": {},
    "model": {"kind": "independent", "boards": 60, "classes": "flop"},
    "abstraction": {"method": "equity", "count": 4, "remembers": False},
}
KINDS = [
    ("dcfr", {}),
    ("egt", {}),
    ("board-sampling", {}),
    ("cards", CARDS),
    ("fp", INDEPENDENT),
]


@pytest.fixture(autouse=True)
def _few_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Independent buckets move by chances drawn here; counting those of all boards takes minutes."""

    def drawn(
        buckets: Abstraction, boards: object, seed: object, classes: np.ndarray, *_: object
    ) -> Transitions:
        classed = classed_street(classes)
        rng = np.random.default_rng(5)
        counts = buckets.counts

        def step(street: int) -> np.ndarray:
            chances = rng.random((counts[street], counts[street - 1]))
            return chances / chances.sum(axis=0)

        edge = rng.random((counts[3], counts[3])) / 3 + np.tri(counts[3]) / 2
        steps = [tuple(step(street) for street in (1, 2, 3)) for _ in range(11)]
        return Transitions(
            rng.dirichlet(np.ones(counts[0])),
            rng.dirichlet(np.ones(11)),
            tuple(steps[0][: classed - 1] + known[classed - 1 :] for known in steps),
            (edge - edge.T,) * 11,
            classed=classed,
        )

    monkeypatch.setattr(trainingmodel, "transitions", drawn)


@pytest.mark.parametrize(("solver", "changes"), KINDS, ids=[name for name, _ in KINDS])
def test_a_resumed_run_is_the_same_run(solver: str, changes: dict, tmp_path: Path) -> None:
    whole = TrainingRun(tiny(solver, 9, **changes), tmp_path / "whole", threads=1).run()
    TrainingRun(tiny(solver, 4, **changes), tmp_path / "half", threads=1).run()
    half = TrainingRun(tiny(solver, 9, **changes), tmp_path / "half", threads=1).run(resume=True)
    assert half.solver.iteration == whole.solver.iteration == 9
    for name, kept in whole.solver.arrays().items():
        np.testing.assert_array_equal(half.solver.arrays()[name], kept, err_msg=name)
    assert half.last.exploitability_bb == whole.last.exploitability_bb
    blueprint, report = finish(half)
    assert report.findings[0].passed
    again = Blueprint.load(tmp_path / "half" / "blueprint.safetensors")
    np.testing.assert_array_equal(again.weights, blueprint.weights)
    assert again.abstraction.fingerprint == half.model.abstraction.fingerprint
    assert again.recipe == half.recipe
    for name in ("recipe.toml", "curve.csv", "sanity.txt"):
        assert (tmp_path / "half" / name).stat().st_size > 40


def test_blueprint_plays_what_was_trained(tmp_path: Path) -> None:
    trained = TrainingRun(tiny(iterations=40), tmp_path / "run", threads=1).run()
    fine, _ = finish(trained)
    blueprint, _ = finish(trained, "full")
    assert fine.form == "fine"
    betting, strategy = blueprint.betting, trained.strategy
    for node in np.flatnonzero(betting.kind < 2)[::7].tolist():
        exact = strategy.rows(node, betting.round_of(node))
        rows = blueprint.rows(node)
        assert np.abs(rows - exact).max() < 1 / 255
        assert np.abs(fine.rows(node) - exact).max() < 1 / 65535
        np.testing.assert_allclose(rows.sum(axis=0), 1, atol=1e-6)
        np.testing.assert_array_equal(rows[:, 1], blueprint.probabilities(node, 1))
    big = trained.recipe.rules.big_blind
    judged = blueprint.in_game(trained.model.judge).exploitability() / big
    assert judged == pytest.approx(trained.best.judged_bb, rel=0.05)
    own = blueprint.exploitability() / big
    assert own == pytest.approx(trained.best.exploitability_bb, rel=0.05)
    gains = [blueprint.best_response(player).value for player in (0, 1)]
    assert sum(gains) / 2 == pytest.approx(own * big, rel=1e-4)
    coarse, pure = blueprint.in_form("coarse"), blueprint.in_form("pure")
    assert np.abs(coarse.rows(0) - blueprint.rows(0)).max() < 1 / 15
    assert set(np.unique(pure.rows(0))) <= {0.0, 1.0}
    assert pure.rows(0)[:, 2].argmax() == blueprint.rows(0)[:, 2].argmax()
    np.testing.assert_array_equal(pure.rows(0)[:, 2], pure.probabilities(0, 2))
    assert pure.save(tmp_path / "pure") < coarse.save(tmp_path / "coarse")
    with pytest.raises(SolverError, match="cannot be made full"):
        pure.in_form("full")
    with pytest.raises(SolverError, match="no such decision"):
        blueprint.probabilities(0, 99)


def test_columns_of_flop_classes(tmp_path: Path) -> None:
    trained = TrainingRun(tiny("cfr+", 3, **INDEPENDENT), tmp_path / "run", threads=1).run()
    blueprint, _ = finish(trained)
    node = int(blueprint.betting.start[1])
    assert blueprint.classes is not None
    assert blueprint.classes.max() == 10
    assert blueprint.rows(node).shape[1] == 11 * blueprint.abstraction.counts[1]
    # Classes of the flop stand in the order of the boards of the game.
    exact = trained.strategy.rows(node, 1 + 6)
    found = [blueprint.probabilities(node, bucket, 6) for bucket in range(exact.shape[1])]
    assert np.abs(np.array(found).T - exact).max() < 1 / 255
    assert blueprint.board_class((0, 4, 8)) == 0
    assert blueprint.board_class((0, 4, 9)) in range(1, 6)
    big = trained.recipe.rules.big_blind
    assert blueprint.in_game(trained.model.game).exploitability() / big == pytest.approx(
        trained.best.exploitability_bb, rel=0.05
    )
    np.testing.assert_array_equal(blueprint.rows(node, 6), np.array(found).T)


def test_columns_of_classes_of_the_turn(tmp_path: Path) -> None:
    settings = INDEPENDENT | {"model": INDEPENDENT["model"] | {"classes": "turn"}}
    trained = TrainingRun(tiny("cfr+", 3, **settings), tmp_path / "run", threads=2).run()
    blueprint, _ = finish(trained)
    counts, betting = blueprint.abstraction.counts, blueprint.betting
    widths = [blueprint.rows(int(betting.start[s])).shape[1] for s in range(4)]
    assert widths == [counts[0], counts[1], 11 * counts[2], 11 * counts[3]]
    assert blueprint.board_class((0, 4, 8)) == 0
    assert blueprint.board_class((0, 4, 9, 14)) == blueprint.board_class((0, 4, 9, 14, 51)) > 0
    blueprint.save(tmp_path / "turn.blueprint")
    again = Blueprint.load(tmp_path / "turn.blueprint")
    big = trained.recipe.rules.big_blind
    assert again.in_game(trained.model.game).exploitability() / big == pytest.approx(
        trained.best.exploitability_bb, rel=0.05
    )


def test_a_run_begins_with_a_strategy_of_other_sizes(tmp_path: Path) -> None:
    """What it begins with plays the old sizes as they were played, and the new one not yet."""
    first = TrainingRun(tiny("public", 300, **CARDS), tmp_path / "first", threads=1).run()
    before, _ = finish(first, "full")
    menu = {"bets": "50%,100%,a", "max_raises": 2}
    recipe = tiny("public", 1, **CARDS, menu=menu)
    start = TrainingRun(recipe, tmp_path / "next", threads=1, start=before, counts=60_000)
    after = start.run().strategy
    sizes = [str(action) for action in map(after.betting.actions.__getitem__, range(1, 6))]
    assert sizes == ["f", "c", "r200", "r300", "r1000"]
    begun, rows = before.rows(0), after.rows(0)
    np.testing.assert_allclose(rows[[0, 1, 3, 4]], begun, atol=1 / 200)
    assert rows[2].max() < 1 / 200


def test_a_run_begins_with_a_strategy_as_it_is_played(tmp_path: Path) -> None:
    """Purified, it begins with nothing but the likeliest actions, and goes on from there."""
    first = TrainingRun(tiny("public", 300, **CARDS), tmp_path / "first", threads=1).run()
    before, _ = finish(first, "full")
    recipe = tiny("public", 1, **CARDS)
    how = {"threads": 1, "start": before, "counts": 60_000}
    pure = PostProcessing.parse("purify")
    for played, most in ((None, before.rows(0).max(axis=0)), (pure, 1.0)):
        run = TrainingRun(recipe, tmp_path / str(played), played=played, **how).run()
        np.testing.assert_allclose(run.strategy.rows(0).max(axis=0), most, atol=1 / 200)
    mixed = before.rows(0).max(axis=0)
    assert mixed.min() < 0.9


def test_limits_are_kept(tmp_path: Path) -> None:
    timed = TrainingRun(tiny(limit={"minutes": 0.005}), tmp_path / "time", threads=1).run()
    assert 0.25 < timed.last.seconds < 5
    assert timed.solver.iteration > 12
    target = tiny(limit={"target_bb": 1.0, "iterations": 5000})
    reached = TrainingRun(target, tmp_path / "target", threads=1).run()
    assert reached.last.judged_bb is not None
    assert reached.last.judged_bb <= 1.0
    assert reached.to_dict()["iterations"] < 5000
    heard = []
    run = TrainingRun(tiny(iterations=30), tmp_path / "heard", threads=1)
    run.run(listener=heard.append)
    assert heard[-1].done == 30
    assert heard[-1].judged_chips > 0


def test_ctrl_c_saves_and_goes_on(tmp_path: Path) -> None:
    pressed = []

    def press(event: Event) -> None:
        if event.done >= 3 and not pressed:
            pressed.append(event.done)
            os.kill(os.getpid(), signal.SIGINT)

    stopped = TrainingRun(tiny(iterations=5000), tmp_path / "run", threads=1).run(listener=press)
    assert stopped.interrupted
    assert 3 <= stopped.solver.iteration < 5000
    assert stopped.points[-1].iteration == stopped.solver.iteration
    more = tiny(iterations=stopped.solver.iteration + 2)
    again = TrainingRun(more, tmp_path / "run", threads=1).run(resume=True)
    assert again.solver.iteration == stopped.solver.iteration + 2
    assert not again.interrupted


def test_another_thread_stops_a_run(tmp_path: Path) -> None:
    stop, begun = Stop(), threading.Event()
    training = TrainingRun(tiny(iterations=10**9), tmp_path / "run", threads=1)
    ended = []

    def work() -> None:
        ended.append(training.run(listener=lambda event: begun.set(), stop=stop))

    other = threading.Thread(target=work)
    other.start()
    assert begun.wait(60)
    stop.set()
    other.join(60)
    assert ended[0].interrupted
    assert ended[0].last.iteration == ended[0].solver.iteration > 0
    more = tiny(iterations=ended[0].last.iteration + 2)
    again = TrainingRun(more, tmp_path / "run", threads=1).run(resume=True)
    assert again.last.iteration == ended[0].last.iteration + 2


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    folder, limits = tmp_path / "run", {"minutes": 5, "checkpoint_minutes": 0.005}
    (tmp_path / "tiny.toml").write_text(tiny(limit=limits).to_toml())
    code = "from equipoise.cli import main; main()"
    command = ["-c", code, "train", "tiny.toml", "--out", "run", "--threads", "1"]
    run = subprocess.Popen(
        [sys.executable, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        until = time.monotonic() + 60
        while not (folder / "checkpoint.safetensors").exists() and time.monotonic() < until:
            assert run.poll() is None, run.stdout.read().decode()
            time.sleep(0.02)
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
    done = artefact.read(folder / "checkpoint.safetensors", "solver")[0]["iteration"]
    again = TrainingRun(tiny(iterations=done + 3), folder, threads=1).run(resume=True)
    whole = TrainingRun(tiny(iterations=done + 3), tmp_path / "whole", threads=1).run()
    for name, kept in whole.solver.arrays().items():
        np.testing.assert_array_equal(again.solver.arrays()[name], kept)


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def taking(self, seconds: float, work: Callable[..., Any]) -> Callable[..., Any]:
        """The work, and that many seconds gone by."""

        def slow(*args: Any, **kwargs: Any) -> Any:
            self.now += seconds
            return work(*args, **kwargs)

        return slow


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Seconds of training go by only in what a test says takes some."""
    made = Clock()
    monkeypatch.setattr("equipoise.run.time.perf_counter", made)
    return made


def test_kernels_are_loaded_before_the_clock_starts(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded = []
    monkeypatch.setattr(DCFR, "prepare", clock.taking(40, loaded.append))
    monkeypatch.setattr(DCFR, "advance", clock.taking(1, DCFR.advance))
    trained = TrainingRun(tiny(limit={"minutes": 0.1}), tmp_path / "run", threads=1).run()
    assert loaded == [trained.solver]
    assert trained.last.seconds == 6
    assert trained.solver.iteration >= 6


#: Trains by recipes, each in a process that has all imports and no kernel, and says what was loaded late.
LOADED = """
import gc, json, os, sys
from numba.core.dispatcher import Dispatcher
from equipoise.run import Loop
from equipoise.solve.training import folder
from equipoise.solve.training import run as training
from equipoise.solve.training.recipe import Recipe

def loaded():
    found = (thing for thing in gc.get_objects() if isinstance(thing, Dispatcher))
    return {(kernel.py_func.__name__, str(s)) for kernel in found for s in kernel.signatures}

seen = []

def watched(work):
    def do(*given):
        done = work(*given)
        seen.append(loaded())
        return done
    return do

Loop._begin = watched(Loop._begin)
Loop.run = watched(Loop.run)
folder.plot_curves = lambda *drawn: None
for name in sys.argv[1:]:
    for threads in (1, 2):
        child = os.fork()
        if not child:
            run = training.TrainingRun(Recipe.load(name), f"{name}{threads}.run", threads=threads)
            run.run()
            print(json.dumps([name, threads, sorted(seen[1] - seen[0])]), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
"""


def test_a_run_loads_nothing_once_its_clock_goes(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{name}.toml") for name, _ in KINDS[:4]]
    for name, (solver, changes) in zip(names, KINDS[:4], strict=True):
        Path(name).write_text(tiny(solver, 3, **changes).to_toml())
    done = subprocess.run([sys.executable, "-c", LOADED, *names], capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told == [[name, threads, []] for name in names for threads in (1, 2)], done.stderr


def test_the_first_checkpoint_comes_soon_and_later_ones_by_what_they_cost(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(DCFR, "advance", clock.taking(1, DCFR.advance))
    saves = []

    def save(solver: Solver, path: Path) -> None:
        Solver.save(solver, path)
        clock.now += 2
        saves.append(clock.now - 1000)

    monkeypatch.setattr(DCFR, "save", save)
    TrainingRun(tiny(limit={"minutes": 5}), tmp_path / "run", threads=1).run()
    assert saves[0] <= 15
    gaps = np.diff(saves[:-1])
    assert len(gaps) >= 5
    # Two seconds of saving are a twentieth of forty.
    assert ((gaps >= 40) & (gaps <= 45)).all()


class KilledError(Exception):
    """Stands for the end of a process."""


@pytest.mark.parametrize(
    ("owner", "name"),
    [(RunFolder, "write_curve"), (training._Best, "write"), (DCFR, "save")],
    ids=["curve", "best", "checkpoint"],
)
def test_a_run_killed_while_it_saves_goes_on(
    owner: type, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whichever of its files a killed run had not come to write, nothing of the others is lost."""
    folder, often = tmp_path / "run", {"iterations": 30, "checkpoint_minutes": 1e-9}
    write, calls = getattr(owner, name), []

    def dying(*args: Any) -> Any:
        calls.append(name)
        if len(calls) == 4:
            raise KilledError
        return write(*args)

    monkeypatch.setattr(owner, name, dying)
    with pytest.raises(KilledError):
        TrainingRun(tiny(limit=often), folder, threads=1).run()
    kept = artefact.read(folder / "best.safetensors", "best plan")[0]["point"]
    again = TrainingRun(tiny(iterations=30), folder, threads=1).run(resume=True)
    whole = TrainingRun(tiny(iterations=30), tmp_path / "whole", threads=1).run()
    for array, expected in whole.solver.arrays().items():
        np.testing.assert_array_equal(again.solver.arrays()[array], expected)
    assert again.best.exploitability_bb <= kept["exploitability_bb"]


def test_a_damaged_curve_is_refused(tmp_path: Path) -> None:
    """Its seconds are those that a limit of minutes counts on from."""
    TrainingRun(tiny(iterations=2), tmp_path / "run", threads=1).run()
    curve = tmp_path / "run" / "curve.csv"
    for row in ("2,nan,1,1", "2,1,inf,1", "x,1,1,1", "2"):
        curve.write_text(f"iteration,seconds,exploitability_bb,judged_bb\n{row}\n")
        with pytest.raises(ArtefactError, match=r"curve\.csv: damaged .*: start anew"):
            TrainingRun(tiny(iterations=4), tmp_path / "run", threads=1).run(resume=True)
    curve.unlink()
    with pytest.raises(ArtefactError, match="does not reach the checkpoint"):
        TrainingRun(tiny(iterations=4), tmp_path / "run", threads=1).run(resume=True)


def test_other_runs_are_left_alone(tmp_path: Path) -> None:
    TrainingRun(tiny(iterations=2), tmp_path / "run", threads=1).run()
    with pytest.raises(RecipeError, match="go on with --resume, replace it with --overwrite"):
        TrainingRun(tiny(iterations=2), tmp_path / "run", threads=1).run()
    with pytest.raises(RecipeError, match=r"made otherwise: .* with --overwrite"):
        TrainingRun(tiny("cfr+"), tmp_path / "run", threads=1).run(resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for overwrite in (False, True):
        with pytest.raises(RecipeError, match="is in use"):
            TrainingRun(tiny(), tmp_path / "mine", threads=1).run(overwrite=overwrite)
    with pytest.raises(ArtefactError, match="cannot make the folder"):
        TrainingRun(tiny(), tmp_path / "mine" / "letter.txt" / "run", threads=1).run()
    with pytest.raises(RecipeError, match="give the name of a folder"):
        TrainingRun(tiny(), tmp_path / "a\0b", threads=1).run()


def test_a_run_is_replaced_if_that_is_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    finish(TrainingRun(tiny(iterations=2), folder, threads=1).run())
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(RecipeError, match="choose one"):
        TrainingRun(tiny(), folder, threads=1).run(resume=True, overwrite=True)
    again = TrainingRun(tiny("cfr+", 3), folder, threads=1).run(overwrite=True)
    assert again.solver.iteration == 3
    assert not (folder / "blueprint.safetensors").exists()
    assert (folder / "notes.txt").read_text() == "mine"
    assert Recipe.load(folder / "recipe.toml").solver == "cfr+"
    # A folder whose files cannot be read any more is a run's all the same.
    (folder / "recipe.toml").write_text("name = ")
    with pytest.raises(RecipeError, match=r"recipe\.toml"):
        TrainingRun(tiny(), folder, threads=1).run()
    assert (
        TrainingRun(tiny(iterations=2), folder, threads=1).run(overwrite=True).last.iteration == 2
    )


def test_a_recipe_written_by_hand_is_not_replaced(tmp_path: Path) -> None:
    written = "# my own words\n" + tiny().to_toml()
    (tmp_path / "recipe.toml").write_text(written)
    for overwrite in (False, True):
        with pytest.raises(RecipeError, match="was written by hand"):
            TrainingRun(tiny(), tmp_path, threads=1).run(overwrite=overwrite)
    assert (tmp_path / "recipe.toml").read_text() == written


def test_going_on_with_no_run_is_refused_and_names_those_that_there_are(tmp_path: Path) -> None:
    def refusal() -> str:
        with pytest.raises(RecipeError) as caught:
            TrainingRun(tiny(), tmp_path / "typo.run", threads=1).run(resume=True)
        assert not (tmp_path / "typo.run").exists()
        return str(caught.value)

    assert refusal().endswith("holds no run to go on with: leave --resume out to start one")
    TrainingRun(tiny(iterations=2), tmp_path / "other", threads=1).run()
    assert "runs beside it are other (or leave --resume out" in refusal()
    TrainingRun(tiny(iterations=2), tmp_path / "tyop.run", threads=1).run()
    assert f"did you mean '{tmp_path / 'tyop.run'}'?" in refusal()


def test_a_folder_belongs_to_one_process(tmp_path: Path) -> None:
    """Who holds a folder keeps others out until its blueprint is written, and lets go of it."""
    first = TrainingRun(tiny(iterations=2), tmp_path / "run", threads=1)
    with first.files.held():
        trained = first.run()
        with pytest.raises(FileError, match=r"another training run writes to .*run"):
            TrainingRun(tiny(iterations=2), tmp_path / "run", threads=1).run(overwrite=True)
        finish(trained)
    later = TrainingRun(tiny(iterations=4), tmp_path / "run", threads=1).run(resume=True)
    assert later.solver.iteration == 4


def test_what_a_killed_process_left_is_no_run(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("12345678\n")
    (tmp_path / ".partial-12345678-00000000-curve.csv").write_text("")
    assert TrainingRun(tiny(iterations=2), tmp_path, threads=1).run().solver.iteration == 2
    assert not (tmp_path / ".partial-12345678-00000000-curve.csv").exists()


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    trained = TrainingRun(tiny(iterations=3), tmp_path / "run", threads=1).run()
    finish(trained)
    path = tmp_path / "run" / "blueprint.safetensors"
    with pytest.raises(ArtefactError, match="holds a solver, not a blueprint"):
        Blueprint.load(tmp_path / "run" / "checkpoint.safetensors")
    data = bytearray(path.read_bytes())
    data[-100] ^= 255
    path.write_bytes(data)
    with pytest.raises(ArtefactError, match="damaged"):
        Blueprint.load(path)
    path.write_bytes(data[:5000])
    with pytest.raises(ArtefactError, match="damaged"):
        Blueprint.load(path)
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-9])
    with pytest.raises(ArtefactError, match="damaged"):
        TrainingRun(tiny(iterations=9), tmp_path / "run", threads=1).run(resume=True)


def test_quantising_is_fair() -> None:
    rng = np.random.default_rng(1)
    table = rng.dirichlet((0.3, 0.3, 0.3, 0.3), 500).T
    for parts in (65535, 255, 15):
        found = quantised(table, parts).astype(np.int64)
        assert (found.sum(axis=0) == parts).all()
        assert np.abs(found / parts - table).max() < 1 / parts
    ties = likeliest(np.tile([[0.4], [0.4], [0.2]], 400), rng)
    assert set(ties.tolist()) == {0, 1}
    assert 120 < (ties == 0).sum() < 280


def test_a_turned_strategy_is_found_out(tmp_path: Path) -> None:
    trained = TrainingRun(tiny(iterations=300), tmp_path / "run", threads=1).run()
    blueprint, report = finish(trained)
    assert not report.breaches, str(report)
    assert sum(report.first_in.values()) == pytest.approx(1, abs=1e-4)
    # The same strategy with buckets counted from the other end.
    turned = blueprint.weights.copy()
    layout = blueprint.layout
    for node in np.flatnonzero(layout.offset >= 0).tolist():
        start, size = int(layout.offset[node]), int(layout.columns[node] * layout.actions[node])
        block = turned[start : start + size].reshape(int(layout.actions[node]), -1)
        block[:] = block[:, ::-1].copy()
    broken = Blueprint(blueprint.recipe, blueprint.abstraction, blueprint.form, turned)
    found = sanity(broken)
    told = [breach.check for breach in found.breaches]
    assert "raising hands are stronger than folded ones" in told or "aces are never" in str(told)
    assert any("fold less" in check for check in told)
    assert all(breach.diagnosis for breach in found.breaches)
    assert "BREACH" in str(found)


def test_rank_correlation_counts_masses() -> None:
    rng = np.random.default_rng(2)
    one, two, mass = rng.random(6), rng.random(6), np.array([1, 2, 3, 1, 1, 4])
    spread = np.repeat(np.arange(6), mass)
    each = rank_correlation(one[spread], two[spread], np.ones(len(spread)))
    assert rank_correlation(one, two, mass.astype(float)) == pytest.approx(each)
    assert rank_correlation(one, np.ones(6), np.ones(6)) == 0


def test_train_gives_the_blueprint_and_keeps_the_run(tmp_path: Path) -> None:
    blueprint = train(tiny(limit={"iterations": 20}), tmp_path / "run")
    kept = Blueprint.load(tmp_path / "run" / "blueprint.safetensors")
    assert (kept.weights == blueprint.weights).all()
    with pytest.raises((FileError, RecipeError, ArtefactError, SolverError), match="--resume"):
        train(tiny(limit={"iterations": 20}), tmp_path / "run")


def test_the_curve_of_a_run_is_a_table(tmp_path: Path) -> None:
    trained = TrainingRun(tiny(limit={"iterations": 20}), tmp_path / "run").run()
    frame = trained.to_polars()
    assert frame["iteration"].to_list() == [point.iteration for point in trained.points]
    assert frame["exploitability_bb"][-1] == trained.last.exploitability_bb

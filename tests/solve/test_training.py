"""Training runs: the same with and without a stop, saved, refused and reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from equipoise import artefact
from equipoise.abstraction.abstraction import Abstraction
from equipoise.abstraction.transitions import Transitions, street_of
from equipoise.errors import ArtefactError, RecipeError, SolverError
from equipoise.solve import trainingmodel
from equipoise.solve.blueprint import Blueprint, likeliest, quantised
from equipoise.solve.recipe import Recipe
from equipoise.solve.sanity import rank_correlation, sanity
from equipoise.solve.training import Training, finish, result

TINY = {
    "name": "tiny",
    "rules": {"game": "nolimit", "stack": 1000},
    "menu": {"bets": "100%,a", "max_raises": 2},
    "abstraction": {"method": "equity", "count": 3},
    "model": {"kind": "joint", "boards": 150, "judge": 100},
    "solver": {"name": "dcfr", "precision": "float32"},
    "limit": {"iterations": 12},
}


def tiny(solver: str = "dcfr", iterations: int = 12, **changes: object) -> Recipe:
    told = TINY | {"solver": {"name": solver}, "limit": {"iterations": iterations}} | changes
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
        classed = street_of(classes)
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
    whole = Training(tiny(solver, 9, **changes), tmp_path / "whole", threads=1).run()
    Training(tiny(solver, 4, **changes), tmp_path / "half", threads=1).run()
    half = Training(tiny(solver, 9, **changes), tmp_path / "half", threads=1).run(resume=True)
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
    trained = Training(tiny(iterations=40), tmp_path / "run", threads=1).run()
    fine, _ = finish(trained)
    blueprint, _ = finish(trained, "full")
    assert fine.form == "fine"
    betting, strategy = blueprint.betting, trained.strategy
    for node in np.flatnonzero(betting.kind < 2)[::7].tolist():
        exact = strategy.at(node, betting.round_of(node))
        rows = blueprint.rows(node)
        assert np.abs(rows - exact).max() < 1 / 255
        assert np.abs(fine.rows(node) - exact).max() < 1 / 65535
        np.testing.assert_allclose(rows.sum(axis=0), 1, atol=1e-6)
        np.testing.assert_array_equal(rows[:, 1], blueprint.probabilities(node, 1))
    judged = blueprint.exploitability_bb(trained.model.judge)
    assert judged == pytest.approx(trained.best.judged_bb, rel=0.05)
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
    trained = Training(tiny("cfr+", 3, **INDEPENDENT), tmp_path / "run", threads=1).run()
    blueprint, _ = finish(trained)
    node = int(blueprint.betting.start[1])
    assert blueprint.classes is not None
    assert blueprint.classes.max() == 10
    assert blueprint.rows(node).shape[1] == 11 * blueprint.abstraction.counts[1]
    # Classes of the flop stand in the order of the boards of the game.
    exact = trained.strategy.at(node, 1 + 6)
    found = [blueprint.probabilities(node, bucket, 6) for bucket in range(exact.shape[1])]
    assert np.abs(np.array(found).T - exact).max() < 1 / 255
    assert blueprint.board_class((0, 4, 8)) == 0
    assert blueprint.board_class((0, 4, 9)) in range(1, 6)
    assert blueprint.exploitability_bb(trained.model.game) == pytest.approx(
        trained.best.exploitability_bb, rel=0.05
    )


def test_columns_of_classes_of_the_turn(tmp_path: Path) -> None:
    settings = INDEPENDENT | {"model": INDEPENDENT["model"] | {"classes": "turn"}}
    trained = Training(tiny("cfr+", 3, **settings), tmp_path / "run", threads=2).run()
    blueprint, _ = finish(trained)
    counts, betting = blueprint.abstraction.counts, blueprint.betting
    widths = [blueprint.rows(int(betting.start[s])).shape[1] for s in range(4)]
    assert widths == [counts[0], counts[1], 11 * counts[2], 11 * counts[3]]
    assert blueprint.board_class((0, 4, 8)) == 0
    assert blueprint.board_class((0, 4, 9, 14)) == blueprint.board_class((0, 4, 9, 14, 51)) > 0
    blueprint.save(tmp_path / "turn.blueprint")
    again = Blueprint.load(tmp_path / "turn.blueprint")
    assert again.exploitability_bb(trained.model.game) == pytest.approx(
        trained.best.exploitability_bb, rel=0.05
    )


def test_limits_are_kept(tmp_path: Path) -> None:
    timed = Training(tiny(limit={"minutes": 0.005}), tmp_path / "time", threads=1).run()
    assert 0.25 < timed.last.seconds < 5
    assert timed.solver.iteration > 12
    target = tiny(limit={"target_bb": 1.0, "iterations": 5000})
    reached = Training(target, tmp_path / "target", threads=1).run()
    assert reached.last.judged_bb is not None
    assert reached.last.judged_bb <= 1.0
    assert result(reached)["iterations"] < 5000
    heard = []
    run = Training(tiny(iterations=30), tmp_path / "heard", threads=1)
    run.run(listener=lambda iteration, seconds, point: heard.append((iteration, point)))
    assert heard[-1][0] == 30
    assert heard[-1][1].judged_bb > 0


def test_ctrl_c_saves_and_goes_on(tmp_path: Path) -> None:
    pressed = []

    def press(iteration: int, seconds: float, point: object) -> None:
        if iteration >= 3 and not pressed:
            pressed.append(iteration)
            os.kill(os.getpid(), signal.SIGINT)

    stopped = Training(tiny(iterations=5000), tmp_path / "run", threads=1).run(listener=press)
    assert stopped.interrupted
    assert 3 <= stopped.solver.iteration < 5000
    assert stopped.points[-1].iteration == stopped.solver.iteration
    more = tiny(iterations=stopped.solver.iteration + 2)
    again = Training(more, tmp_path / "run", threads=1).run(resume=True)
    assert again.solver.iteration == stopped.solver.iteration + 2
    assert not again.interrupted


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    folder, limits = tmp_path / "run", {"minutes": 5, "checkpoint_minutes": 0.005}
    (tmp_path / "tiny.toml").write_text(tiny(limit=limits).toml())
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
    again = Training(tiny(iterations=done + 3), folder, threads=1).run(resume=True)
    whole = Training(tiny(iterations=done + 3), tmp_path / "whole", threads=1).run()
    for name, kept in whole.solver.arrays().items():
        np.testing.assert_array_equal(again.solver.arrays()[name], kept)


def test_other_runs_are_left_alone(tmp_path: Path) -> None:
    Training(tiny(iterations=2), tmp_path / "run", threads=1).run()
    with pytest.raises(RecipeError, match="go on with --resume"):
        Training(tiny(iterations=2), tmp_path / "run", threads=1).run()
    with pytest.raises(RecipeError, match="made otherwise"):
        Training(tiny("cfr+"), tmp_path / "run", threads=1).run(resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(RecipeError, match="is in use"):
        Training(tiny(), tmp_path / "mine", threads=1).run()
    with pytest.raises(ArtefactError, match="cannot make the folder"):
        Training(tiny(), tmp_path / "mine" / "letter.txt" / "run", threads=1).run()


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    trained = Training(tiny(iterations=3), tmp_path / "run", threads=1).run()
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
        Training(tiny(iterations=9), tmp_path / "run", threads=1).run(resume=True)
    (tmp_path / "run" / "curve.csv").write_text("iteration,seconds\nx,1\n")


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
    trained = Training(tiny(iterations=300), tmp_path / "run", threads=1).run()
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

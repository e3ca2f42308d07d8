"""Work on a real Ray cluster of two nodes, and what happens when parts of it are not there."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from equipoise.arena.match import play_match
from equipoise.cli import main
from equipoise.errors import EquipoiseError, SolverError
from equipoise.games.catalogue import leduc
from equipoise.games.spot import Spot
from equipoise.run import Limit
from equipoise.solve.batch.jobs import Batch, SpotJob
from equipoise.solve.batch.run import run_batch
from equipoise.solve.sampling.mccfr import CardGame
from equipoise.solve.sampling.sharded import ShardedSampling
from equipoise.workers import cluster, cluster_cores, join_cluster, start_pool

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture(scope="module")
def address():
    """Two nodes of one processor each."""
    ray = pytest.importorskip("ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made.address
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def game():
    return CardGame.of(leduc())


def test_one_worker_is_the_single_process_and_a_lost_one_comes_back(address, game, tmp_path):
    here = ShardedSampling(game, seed=1, batch=50)
    there = ShardedSampling(game, seed=1, batch=50, workers=1, address=address)
    for solver in (here, there):
        solver.prepare()
        solver.advance(10)
    assert np.array_equal(here.gathered(), there.gathered())
    there.save(tmp_path / "kept")
    here.save(tmp_path / "same")
    ray, actor = there.crew._ray, there.crew._actors[0]
    pid = ray.get(actor.__ray_call__.remote(lambda self: os.getpid()))
    os.kill(pid, 9)
    for solver in (here, there):
        solver.advance(10)
    # What was lost is what came after the checkpoint: nothing, here.
    assert np.array_equal(here.gathered(), there.gathered())
    told = there.report()
    assert told["lost_workers"] == 1
    assert told["workers"][0]["bytes_moved"] > 0
    assert told["workers"][0]["memory_bytes"] > 1_000_000
    there.close()
    # The head lost: another one goes on from the checkpoint, on two workers.
    again = ShardedSampling.load(tmp_path / "kept", game, workers=2, address=address)
    again.advance(400)
    assert again.exploitability() < 0.3
    again.close()


def test_matches_and_batches_give_the_same_bytes(address, tmp_path):
    rivers = Batch(
        [
            SpotJob(
                f"river {card}",
                Spot(f"Td9d6hQc{card}", "22+,A2s+", "TT+,AQs+", pot=100, stack=100, menu="a"),
            )
            for card in ("2s", "3s", "4s")
        ]
    )
    logs, answers = [], []
    for where in (None, address):
        name = "there" if where else "here"
        with cluster(where):
            if where:
                assert cluster_cores() == 2
            log = tmp_path / f"{name}.log"
            play_match("random", "call", hands=2000, seed=5, workers=2, log=log)
            logs.append(log.read_bytes())
            limit = Limit(iterations=20, exploitability_pct_pot=0.0)
            outcomes = run_batch(rivers, tmp_path / name, limit, 2, through="river")
        kept = sorted((tmp_path / name).rglob("*.solution"))
        assert len(kept) == 3
        # All but how long it took.
        told = [{**outcome.result, "seconds": 0} for outcome in outcomes]
        answers.append((told, [load_file(path) for path in kept]))
    assert logs[0] == logs[1]
    assert answers[0][0] == answers[1][0]
    for here, there in zip(answers[0][1], answers[1][1], strict=True):
        assert here.keys() == there.keys()
        assert all(np.array_equal(here[key], there[key]) for key in here)


def test_more_workers_than_the_cluster_has_room_for(address, game):
    with pytest.raises(EquipoiseError, match="workers = 3: the cluster has room for 2"):
        ShardedSampling(game, workers=3, address=address)
    with cluster(address), pytest.raises(EquipoiseError, match="room for 2, choose at most"):
        start_pool(3, len, ())


def test_a_job_that_fails_fails_as_it_would_here(address):
    with cluster(address):
        pool = start_pool(1, len, ())
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        assert list(pool.map(abs, [-2, 3, -4])) == [2, 3, 4]
        pool.shutdown()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("127.0.0.1:1", "nobody answers at 127.0.0.1:1"),
        ("nonsense", "give HOST:PORT"),
        ("host:99999", "give HOST:PORT"),
    ],
)
def test_an_address_nobody_answers_is_a_sentence(where, said, monkeypatch):
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(EquipoiseError, match=said):
        join_cluster(where)


def test_a_cluster_of_another_version_is_a_sentence(monkeypatch):
    import ray

    def refuse(**told):
        raise RuntimeError("Version mismatch: the cluster was started with Ray 1.0.\nmore")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(EquipoiseError, match=r"Ray 1\.0\): start one .* of the same versions"):
        join_cluster("auto")


def test_commands_refuse_before_they_write(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("equipoise.workers._PATIENCE", 0.5)
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    out = tmp_path / "report"
    spot = "examples/spots/river_small.toml"
    for words in (
        ["batch", spot, "--out", str(out), "--address", "127.0.0.1:1"],
        ["match", "random", "call", "--log", str(out), "--address", "127.0.0.1:1"],
        ["train", "quick", "--workers", "2", "--out", str(out)],
    ):
        monkeypatch.setattr(sys, "argv", ["equipoise", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert "Traceback" not in capsys.readouterr().err
        assert not out.exists()


def test_nothing_of_ray_is_imported_unless_asked_for():
    code = (
        "import sys, equipoise.cli, equipoise.solve.registry, equipoise.arena.match; "
        "print('ray' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_more_workers_than_classes(game):
    with pytest.raises(SolverError, match="choose at most 3"):
        ShardedSampling(game, workers=4)

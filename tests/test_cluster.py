"""Work on a real Ray cluster of two nodes, and what happens when parts of it are not there."""

from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
import threading

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
from equipoise.workers import check_address, cluster, cluster_cores, join_cluster, start_pool


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


def test_one_worker_is_the_single_process_and_a_lost_one_comes_back(
    address, game, tmp_path, monkeypatch
):
    # A round of several parts, more than are on their way at once.
    monkeypatch.setattr("equipoise.solve.sampling.shards._PART", 20)
    monkeypatch.setattr("equipoise.solve.sampling.shards._END", 10)
    here = ShardedSampling(game, seed=1, batch=50)
    there = ShardedSampling(game, seed=1, batch=50, workers=1, address=address)
    for solver in (here, there):
        solver.prepare()
        solver.advance(10)
    assert np.array_equal(here.gathered(), there.gathered())
    there.save(tmp_path / "kept")
    here.save(tmp_path / "same")
    ray, actor = there.crew._ray, there.crew.places[0].actor
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
    # Lost with a part answered and others under way: those are asked of the one in its place.
    parts = list(here.head.rounds(21))
    worker = there.crew.places[0]

    def asked():
        yield parts[0]
        # It answers in turn, and this turn never comes: the others are under way when it dies.
        worker.asked += 1
        yield from parts[1:]

    answers = there.crew.play(21, asked())
    found = [next(answers)]
    ray.kill(there.crew.places[0].actor)
    found += answers
    assert [len(values) for values in found] == [len(part.entry) for part in parts]
    assert there.report()["lost_workers"] == 2
    there.close()
    # The head lost: another one goes on from the checkpoint, on two workers.
    again = ShardedSampling.load(tmp_path / "kept", game, workers=2, address=address)
    again.advance(400)
    assert again.exploitability() < 0.3
    again.close()


HEAD = """
import sys
from equipoise.games.catalogue import leduc
from equipoise.solve.sampling.mccfr import CardGame
from equipoise.solve.sampling.sharded import ShardedSampling

address, path = sys.argv[1:]
solver = ShardedSampling(CardGame.of(leduc()), seed=7, batch=50, workers=1, address=address)
for _ in range(1000):
    solver.advance(5)
    solver.save(path)
    print(solver.iteration, flush=True)
"""


def test_a_head_that_is_killed_goes_on_from_its_last_checkpoint(address, game, tmp_path):
    path = tmp_path / "kept"
    words = [sys.executable, "-c", HEAD, address, str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as head:
        told = [int(next(head.stdout)) for _ in range(3)]
        head.kill()
        told += map(int, head.stdout)
    # The worker of the lost head is gone, or there would be no room for this one beside another.
    again = ShardedSampling.load(path, game, workers=2, address=address)
    again.close()
    again = ShardedSampling.load(path, game, workers=1, address=address)
    assert 15 <= told[-1] <= again.iteration <= told[-1] + 5
    again.advance(10)
    whole = ShardedSampling(game, seed=7, batch=50)
    whole.advance(again.iteration)
    assert np.array_equal(whole.gathered(), again.gathered())
    again.close()


def test_a_full_disk_leaves_the_last_checkpoint_and_the_run(address, game, tmp_path, monkeypatch):
    path = tmp_path / "kept"
    there = ShardedSampling(game, seed=1, batch=50, workers=1, address=address)
    there.advance(5)
    there.save(path)
    before = path.read_bytes()
    there.advance(5)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(EquipoiseError, match="No space left on device"):
            there.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]
    # What was learnt is still there, and so is the way back for a lost worker.
    there.save(path)
    whole = ShardedSampling(game, seed=1, batch=50)
    whole.advance(10)
    assert np.array_equal(ShardedSampling.load(path, game).gathered(), whole.gathered())
    there.close()


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


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "nobody answers at 127.0.0.1"),
        (b"", "nobody answers at 127.0.0.1"),
        (b"HTTP/1.1 400 Bad Request", "is no Ray cluster"),
        (b"SSH-2.0-OpenSSH_9", "is no Ray cluster"),
    ],
)
def test_something_else_at_the_address_is_a_sentence(answer, said, monkeypatch):
    monkeypatch.setattr("equipoise.workers._PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            there, _ = server.accept()
            with there:
                there.recv(100)
                if answer is None:
                    # Somebody who listens and never says a word.
                    there.recv(100)
                else:
                    there.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(EquipoiseError, match=said):
            check_address(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def test_a_cluster_of_another_version_is_a_sentence(address):
    code = (
        "import sys, ray; ray.__version__ = '1.0'\n"
        "from equipoise.workers import join_cluster\n"
        "join_cluster(sys.argv[1])"
    )
    words = [sys.executable, "-c", code, address]
    told = subprocess.run(words, capture_output=True, text=True, check=False).stderr
    said = told.strip().splitlines()[-1]
    assert re.search(r"cannot be joined \(Version mismatch.*of the same versions of Ray", said)


def test_a_machine_that_cannot_start_a_cluster_says_so(monkeypatch):
    import ray

    def refuse(**told):
        raise Exception("The current node timed out during startup. This could happen because ...")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(
        EquipoiseError, match=r"cannot be started here \(The current node timed out"
    ):
        join_cluster(None)


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

"""The store: nothing is half there, whoever is killed when."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.web import store as module
from equipoise.web.store import Store


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path / "web.sqlite")
    yield found
    found.close()


def test_sessions_and_hands_are_found_again(store):
    ann = store.begin_session("a" * 32, "Ann", "call", "limit", seed=7)
    bob = store.begin_session("b" * 32, "Bob", "call", "limit")
    for session, betting in ((ann, "rc/"), (bob, "cc/")):
        store.begin_hand(session.id, 0)
        store.set_betting(session.id, 0, betting)
    assert store.hand(ann.id, 0).betting == "rc/"
    store.finish_hand(ann.id, 0, "rf", 10.0)
    store.set_betting(ann.id, 0, "rc/")
    assert store.hand(ann.id, 0).betting == "rf", "a finished hand does not change"
    store.begin_hand(ann.id, 0)
    assert store.hand(ann.id, 0).payoff == 10.0
    assert [row.id for row in store.sessions("a" * 32)] == [ann.id]
    store.forget_session(ann.id)
    assert store.hands(ann.id) == []
    assert store.hand(bob.id, 0).betting == "cc/"


def test_each_side_of_a_room_is_taken_once(store):
    room = store.begin_room("call", "limit")
    store.begin_session("a" * 32, "Ann", "call", "limit", seed=room.seed, seat=0, room=room.code)
    with pytest.raises(EquipoiseError, match="taken"):
        store.begin_session("b" * 32, "Bob", "call", "limit", seat=0, room=room.code)
    with pytest.raises(EquipoiseError, match="taken"):
        store.begin_session("a" * 32, "Ann", "call", "limit", seat=1, room=room.code)
    store.begin_session("b" * 32, "Bob", "call", "limit", seed=room.seed, seat=1, room=room.code)
    assert sorted(store.room_sessions(room.code)) == [0, 1]


def test_documents_belong_to_their_visitor_and_are_bounded(store, monkeypatch):
    store.keep("a", "range", "mine", "AA")
    store.keep("a", "range", "mine", "KK")
    assert store.kept("a", "range") == {"mine": "KK"}
    assert store.kept("b", "range") == {}
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 1)
    store.keep("a", "range", "mine", "QQ")
    with pytest.raises(EquipoiseError, match="delete some"):
        store.keep("a", "range", "other", "QQ")
    with pytest.raises(EquipoiseError, match="characters"):
        store.keep("a", "range", "mine", "x" * (module.MOST_CHARACTERS + 1))
    store.drop("a", "range", "mine")
    assert store.kept("a", "range") == {}


def test_a_killed_writer_loses_at_most_the_action_in_flight(tmp_path):
    path = tmp_path / "web.sqlite"
    script = """
        import sys
        from pathlib import Path
        from equipoise.web.store import Store
        store = Store(Path(sys.argv[1]))
        session = store.begin_session("v", "Ann", "call", "limit", seed=1)
        store.begin_hand(session.id, 0)
        print(session.id, flush=True)
        for count in range(1, 10**6):
            store.set_betting(session.id, 0, "c" * count)
            print(count, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        session = writer.stdout.readline().strip()
        for _ in range(50):
            writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        said = writer.stdout.read().split()
    known = int(said[-1]) if said else 50
    store = Store(path)
    betting = store.hand(session, 0).betting
    assert len(betting) in (known, known + 1)
    store.close()


def test_foreign_and_later_files_are_refused(tmp_path):
    path = tmp_path / "web.sqlite"
    path.write_text("no database, but long enough to be looked at " * 50)
    with pytest.raises(ArtefactError, match="EQUIPOISE_DATA"):
        Store(path)
    path.unlink()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(ArtefactError, match="later version"):
        Store(path)

"""`equipoise cache`: what is there is listed, what can be made again is removed, nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise import artefact
from equipoise.cache import Kept, cached_table, clear, contents, table_path
from equipoise.cli import app
from equipoise.errors import FileError
from equipoise.files import written

runner = CliRunner()
MARK = "0123456789abcdef"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EQUIPOISE_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def filled(folder: Path) -> Path:
    cached_table("a test", None, (500,), np.uint8, lambda out: out.fill(1))
    artefact.write(folder / f"joint-{MARK}.safetensors", "thing", {}, {})
    artefact.write(folder / f"joint-{MARK}.unfinished", "thing", {}, {})
    (folder / "tables" / f".river-scores-{MARK}.npy.ab_9zz12").write_bytes(bytes(4000))
    (folder / "quick.run" / "deep").mkdir(parents=True)
    (folder / "quick.run" / "blueprint.safetensors").write_bytes(bytes(2000))
    (folder / "quick.run" / "deep" / "recipe.toml").write_bytes(bytes(345))
    (folder / "letter.txt").write_text("dear")
    (folder / "tables" / "mine.npy").write_text("not made here")
    return folder


def as_json(*words: str) -> dict:
    done = runner.invoke(app, ["cache", *words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def kinds(found: list[Kept]) -> list[str]:
    return sorted(kept.kind for kept in found)


def test_what_is_there_is_listed_the_largest_first(filled: Path) -> None:
    told = as_json()
    assert told["folder"] == str(filled)
    assert [(one["kind"], one["size_bytes"]) for one in told["files"][:3]] == [
        ("left-over", 4000),
        ("trained", 2345),
        ("table", 128 + 500 + 32),
    ]
    assert told["files"][1]["name"] == "quick.run"
    assert kinds(contents()) == ["artefact", "artefact", "left-over", "table", "trained"]
    assert told["size_bytes"] == sum(one["size_bytes"] for one in told["files"])
    assert (told["removed"], told["removed_bytes"]) == ([], 0)


def test_clearing_leaves_what_was_trained_and_what_is_not_ours(filled: Path) -> None:
    told = as_json("--clear")
    assert len(told["removed"]) == 4
    assert [one["name"] for one in told["files"]] == ["quick.run"]
    assert sorted(os.listdir(filled)) == ["letter.txt", "quick.run", "tables"]
    assert os.listdir(filled / "tables") == ["mine.npy"]
    made = []
    cached_table("a test", None, (500,), np.uint8, made.append)
    assert len(made) == 1


def test_what_is_being_written_stays(folder: Path) -> None:
    with written(folder / f"joint-{MARK}.safetensors", "w") as file:
        file.write("half")
        assert clear() == []
        assert kinds(contents()) == ["left-over"]
    assert kinds(contents()) == ["artefact"]


def test_when_a_table_was_used_is_known(filled: Path, monkeypatch) -> None:
    monkeypatch.setattr("equipoise.cache._SETTLED", -1)
    path = table_path("a test", None)
    (checked,) = [path.with_name(path.name + ".checked")]
    for _ in range(2):
        cached_table("a test", None, (500,), np.uint8, lambda out: None)
        os.utime(checked, (2e9, 2e9))
        (table,) = (kept for kept in contents() if kept.kind == "table")
        assert table.used == 2e9
        cached_table("a test", None, (500,), np.uint8, lambda out: None)
        assert checked.stat().st_mtime < 2e9


def test_people_read_a_table(filled: Path) -> None:
    shown = runner.invoke(app, ["cache"], catch_exceptions=False).stdout
    assert "quick.run" in shown
    assert "3 kB" in shown
    shown = runner.invoke(app, ["cache", "--clear"], catch_exceptions=False).stdout
    assert "4 files removed" in shown
    assert "delete those folders yourself" in shown


def test_long_lists_are_cut(folder: Path) -> None:
    for number in range(25):
        (folder / f"joint-{number:016x}.safetensors").write_bytes(bytes(1000))
    shown = runner.invoke(app, ["cache"], catch_exceptions=False).stdout
    assert "25 files, 25 kB" in " ".join(shown.split())
    assert "5 more, 5 kB: add --all" in shown
    shown = runner.invoke(app, ["cache", "--all"], catch_exceptions=False).stdout
    assert "0000000000000018" in shown
    assert "more" not in shown


def test_an_empty_folder(folder: Path) -> None:
    assert "empty" in runner.invoke(app, ["cache"], catch_exceptions=False).stdout
    assert as_json("--clear")["removed"] == []


def test_what_cannot_be_removed_is_told(filled: Path, monkeypatch) -> None:
    def refused(*given, **more) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(FileError, match=r"cannot remove .*: Permission denied"):
        clear()

"""Files are written whole or not at all, and read only if every byte is as it was written."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from equipoise import artefact
from equipoise.errors import ArtefactError

ROWS = {"rows": np.arange(12.0), "few": np.array([[1, 2], [3, 4]], dtype=np.int16)}


def written(folder: Path) -> Path:
    path = folder / "file.equipoise"
    artefact.write(path, "thing", {"game": "leduc", "sizes": (1, 2)}, ROWS, iteration=17)
    return path


def test_round_trip(tmp_path: Path) -> None:
    path = written(tmp_path)
    manifest, arrays = artefact.read(path, "thing")
    assert manifest["iteration"] == 17
    assert manifest["configuration"] == {"game": "leduc", "sizes": [1, 2]}
    assert arrays.keys() == ROWS.keys()
    for name, array in ROWS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)
    assert os.listdir(tmp_path) == [path.name]


def test_strided_arrays_are_written_as_they_look(tmp_path: Path) -> None:
    path, table = tmp_path / "file", np.arange(12.0).reshape(3, 4)
    artefact.write(path, "thing", {}, {"turned": table.T, "every": table[:, ::2]})
    arrays = artefact.read(path, "thing")[1]
    assert np.array_equal(arrays["turned"], table.T)
    assert np.array_equal(arrays["every"], table[:, ::2])


def test_every_single_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        for flip in (0x01, 0x10):
            damaged = bytearray(whole)
            damaged[at] ^= flip
            path.write_bytes(damaged)
            with pytest.raises(ArtefactError):
                artefact.read(path, "thing")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    for length in (0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ArtefactError, match="damaged, or not an Equipoise file"):
            artefact.read(path, "thing")
    path.write_bytes(whole + b"more")
    with pytest.raises(ArtefactError):
        artefact.read(path, "thing")


@pytest.mark.parametrize("content", [b"", b"a letter to a friend, quite long", b"{}" * 40])
def test_foreign_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match="not an Equipoise file"):
        artefact.read(path, "thing")


def test_tensors_of_somebody_else(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "foreign"
    for metadata in (None, {"format": "pt"}, {"manifest": "[1]"}, {"manifest": "{}"}):
        save_file({"rows": np.zeros(3)}, path, metadata=metadata)
        with pytest.raises(ArtefactError, match="not an Equipoise file"):
            artefact.read(path, "thing")


def test_missing_file_wrong_kind_and_other_format(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(ArtefactError, match="no such file"):
        artefact.read(tmp_path / "nothing", "thing")
    with pytest.raises(ArtefactError, match="no such file"):
        artefact.read(tmp_path, "thing")
    path = written(tmp_path)
    with pytest.raises(ArtefactError, match="holds a thing, not a strategy"):
        artefact.read(path, "strategy")
    monkeypatch.setattr(artefact, "FORMAT", 99)
    with pytest.raises(ArtefactError, match="written in format 1, this version reads 99"):
        artefact.read(path, "thing")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch) -> None:
    path = written(tmp_path)
    before = path.read_bytes()

    def full(arrays, beside, metadata) -> None:
        Path(beside).write_bytes(b"half of i")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(ArtefactError, match=r"cannot write .*No space left"):
        artefact.write(path, "thing", {}, ROWS)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """The system itself cuts the write short, inside the library that writes."""
    path = written(tmp_path)
    before = path.read_bytes()
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(ArtefactError, match="cannot write"):
            artefact.write(path, "thing", {}, {"rows": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    def interrupted(*given, **more) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        artefact.write(tmp_path / "file", "thing", {}, ROWS)
    assert os.listdir(tmp_path) == []


def test_folders_that_cannot_be_written_to(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(ArtefactError, match="No such file or directory"):
        artefact.write(tmp_path / "nowhere" / "file", "thing", {}, ROWS)
    with pytest.raises(ArtefactError, match="Is a directory"):
        artefact.write(tmp_path, "thing", {}, ROWS)

    def refused(*given, **more) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    # The one who runs the tests may be allowed to write anywhere.
    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(ArtefactError, match=r"cannot write .*Permission denied"):
        artefact.write(tmp_path / "file", "thing", {}, ROWS)
    assert os.listdir(tmp_path) == []


def test_fingerprints_are_of_values() -> None:
    assert artefact.fingerprint({"a": 1, "b": [2]}) == artefact.fingerprint({"b": [2], "a": 1})
    assert artefact.fingerprint({"a": 1}) != artefact.fingerprint({"a": 2})
    assert artefact.fingerprint({"a": 1}) == artefact.fingerprint(json.loads('{"a": 1}'))

"""Files are written whole or not at all, and read only if every byte is as it was written."""

from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, FileError, GameError

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


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """The system itself cuts the write short."""
    path = written(tmp_path)
    before = path.read_bytes()
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(FileError, match="cannot write"):
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


def test_folders_that_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file or directory"):
        artefact.write(tmp_path / "nowhere" / "file", "thing", {}, ROWS)
    with pytest.raises(FileError, match="Is a directory"):
        artefact.write(tmp_path, "thing", {}, ROWS)
    assert os.listdir(tmp_path) == []


def test_the_umask_is_kept_to(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert written(tmp_path).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_the_bytes_are_those_of_the_library_that_reads_them() -> None:
    from safetensors.numpy import save

    rng = np.random.default_rng(5)
    metadata = {"manifest": '{"é\\"": "\u2028\x01"}'}
    for count in range(12):
        arrays: dict[str, NDArray[Any]] = {}
        for number in range(count):
            kind = str(rng.choice(list(artefact._TYPES)))
            shape = tuple(rng.integers(0, 4, size=rng.integers(0, 4)).tolist())
            arrays[f"{rng.integers(100)}/é{number}"] = rng.integers(0, 2, size=shape).astype(kind)
        ours = b"".join(bytes(part) for part in artefact._parts(arrays, metadata))
        assert ours == save(arrays, metadata)


def test_arrays_of_other_machines_and_of_no_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    artefact.write(path, "thing", {}, {"rows": np.arange(3, dtype=">i4"), "one": np.array(7)})
    arrays = artefact.read(path, "thing")[1]
    assert arrays["rows"].tolist() == [0, 1, 2]
    assert arrays["one"].shape == ()
    with pytest.raises(ArtefactError, match="'texts' of type <U1: no file can hold it"):
        artefact.write(path, "thing", {}, {"texts": np.array(["a"])})


def signed(path: Path, manifest: dict[str, Any], arrays: artefact.Arrays = ROWS) -> Path:
    """A file whose checksum is right, whatever is in it."""
    manifest = {**manifest, "checksum": artefact._checksum(manifest, arrays)}
    text = json.dumps(manifest)
    path.write_bytes(b"".join(map(bytes, artefact._parts(arrays, {"manifest": text}))))
    return path


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ({"equipoise": ["thing"]}, "not an Equipoise file"),
        ({"equipoise": "x" * 9999}, "holds a x{40}, not a thing"),
        ({"equipoise": "thing", "format": [1] * 9999}, r"written in format \[1.{0,50}, this"),
        ({"equipoise": "thing", "format": 1}, "it has no configuration"),
    ],
)
def test_signed_nonsense(tmp_path: Path, manifest: dict[str, Any], why: str) -> None:
    with pytest.raises(ArtefactError, match=why):
        artefact.read(signed(tmp_path / "file", manifest), "thing")


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"equipoise": NaN}', "\udcff"])
def test_manifests_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "file"
    save_file(ROWS, path, metadata={"manifest": json.dumps(text)[1:-1]})
    with pytest.raises(ArtefactError, match="not an Equipoise file"):
        artefact.read(path, "thing")


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3", "F8_E5M2"])
def test_types_that_numpy_has_not(tmp_path: Path, kind: str) -> None:
    size = 2 if kind == "BF16" else 1
    header = {"a": {"dtype": kind, "shape": [1], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    path = tmp_path / "file"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(size))
    with pytest.raises(ArtefactError, match="not an Equipoise file"):
        artefact.read(path, "thing")


@pytest.mark.parametrize(
    "wrong", [KeyError("a"), TypeError("b"), MemoryError(), ZeroDivisionError(), GameError("c")]
)
def test_what_makes_no_sense_is_a_file_of_another_version(wrong: Exception) -> None:
    with (
        pytest.raises(ArtefactError, match="f: not a thing of this version"),
        artefact.understanding("f", "thing"),
    ):
        raise wrong


def test_an_error_that_names_the_file_passes() -> None:
    with (
        pytest.raises(ArtefactError, match=r"^f: damaged$"),
        artefact.understanding("f", "thing"),
    ):
        raise ArtefactError("f: damaged")


def test_fingerprints_are_of_values() -> None:
    assert artefact.fingerprint({"a": 1, "b": [2]}) == artefact.fingerprint({"b": [2], "a": 1})
    assert artefact.fingerprint({"a": 1}) != artefact.fingerprint({"a": 2})
    assert artefact.fingerprint({"a": 1}) == artefact.fingerprint(json.loads('{"a": 1}'))

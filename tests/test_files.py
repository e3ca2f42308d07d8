"""Files appear whole or not at all, replace nothing unasked, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise import files
from equipoise.errors import FileError
from equipoise.files import LOCK_NAME, aside, check_target, locked, sweep_leftovers, written


def refusal(path: str | Path, **more) -> str:
    with pytest.raises(FileError) as caught:
        check_target(path, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def child(code: str, *words: object) -> subprocess.Popen[str]:
    """Another Python process that says when it is where it should be."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
def full_disk() -> Iterator[None]:
    """The system itself cuts files at 1,000 bytes."""
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, ignored)


# -------------------------------------------------------------------------------- before work


def test_a_good_target_passes_and_nothing_is_left(tmp_path: Path) -> None:
    assert check_target(tmp_path / "a.png", suffixes=(".png",)) == tmp_path / "a.png"
    assert check_target(str(tmp_path / "A.PNG"), suffixes=(".png",)) == tmp_path / "A.PNG"
    assert names(tmp_path) == []


def test_an_existing_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "old.log"
    path.write_text("20,000 hands")
    assert refusal(path, what="--log") == (
        f"--log '{path}' exists: add --overwrite to replace it, or choose another name"
    )
    assert check_target(path, overwrite=True) == path
    assert path.read_text() == "20,000 hands"
    assert names(tmp_path) == ["old.log"]


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "give the name of a file" in refusal("")
    assert "give the name of a file" in refusal("a\0b")
    assert "is a folder: name a file" in refusal(tmp_path)
    assert "is a folder: name a file" in refusal(".", what="--export")
    assert "there is no folder" in refusal(tmp_path / "nowhere" / "a")
    assert "is not a folder" in refusal(tmp_path / "file" / "a")
    assert "File name too long" in refusal(tmp_path / ("a" * 300))
    assert "cannot be written" in refusal("/proc/self/mem", overwrite=True)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be written" in refusal(tmp_path / "loop")


def test_endings_that_cannot_be_written(tmp_path: Path) -> None:
    endings = (".png", ".svg", ".pdf")
    told = refusal(tmp_path / "a.bmp", suffixes=endings, what="--plot")
    assert told == f"--plot '{tmp_path / 'a.bmp'}': end the name with .png, .svg or .pdf"
    assert refusal("a", suffixes=(".png",)).endswith("end the name with .png")


def test_special_files_are_never_replaced(tmp_path: Path) -> None:
    for device in ("/dev/null", "/dev/stdout"):
        assert check_target(device) == Path(device)
    for device in ("/dev/full", "/dev/zero"):
        assert "no ordinary file" in refusal(device, overwrite=True)
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in refusal(tmp_path / "pipe", overwrite=True)
    with pytest.raises(FileError, match="no ordinary file"), written(tmp_path / "pipe"):
        pass
    with pytest.raises(FileError, match="no ordinary file"), aside(tmp_path / "pipe"):
        pass
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_folders_that_may_not_be_written_to(tmp_path: Path, monkeypatch) -> None:
    def refused(*given, **more) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    # The one who runs the tests may be allowed to write anywhere.
    monkeypatch.setattr("os.open", refused)
    assert "cannot be written: Permission denied" in refusal(tmp_path / "a")


# ------------------------------------------------------------------------------------ writing


def test_written_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with written(path, "w") as file:
        file.write("é\nb")
        assert not path.exists()
    assert path.read_bytes() == "é\nb".encode()
    with written(path) as raw:
        raw.write(b"new")
        assert path.read_bytes() == "é\nb".encode()
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


def test_aside_ends_like_its_target(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 60 + ".png")
    with aside(path) as beside:
        assert beside.suffix == ".png"
        assert beside.parent == tmp_path
        beside.write_bytes(b"picture")
        assert names(tmp_path) == [beside.name]
    assert path.read_bytes() == b"picture"
    assert names(tmp_path) == [path.name]


def test_a_library_that_makes_the_file_anew(tmp_path: Path) -> None:
    with aside(tmp_path / "a") as beside:
        other = tmp_path / "other"
        other.write_bytes(b"renamed over")
        other.replace(beside)
    assert (tmp_path / "a").read_bytes() == b"renamed over"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, GeneratorExit])
def test_what_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fail(half: int) -> None:
        raise error

    with pytest.raises(error), written(path, "w") as file:
        fail(file.write("half"))
    with pytest.raises(error), aside(path) as beside:
        fail(beside.write_text("half"))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(FileError, match=r"^cannot write .*/a: File too large$"), written(path) as f:
        f.write(bytes(100_000))
    with pytest.raises(FileError, match="cannot write"), written(path) as f:
        # What is still in the buffer is written, and refused, at the end.
        f.write(bytes(1001))
    with pytest.raises(FileError, match="cannot write"), aside(path) as beside:
        beside.write_bytes(bytes(2000))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_disk_that_fails_when_synced(tmp_path: Path, monkeypatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match="No space left on device"), written(tmp_path / "a", "w"):
        pass
    assert names(tmp_path) == []


def test_everything_is_synced_before_it_is_renamed(tmp_path: Path, monkeypatch) -> None:
    seen: list[str] = []
    sync, move = os.fsync, os.replace

    def told(descriptor: int) -> None:
        found = os.fstat(descriptor)
        seen.append("folder" if stat.S_ISDIR(found.st_mode) else f"{found.st_size} bytes")
        sync(descriptor)

    def moved(*given) -> None:
        seen.append("moved")
        move(*given)

    monkeypatch.setattr("os.fsync", told)
    monkeypatch.setattr("os.replace", moved)
    with written(tmp_path / "a", "w") as file:
        file.write("12345")
    with aside(tmp_path / "b") as beside:
        beside.write_text("123")
    assert seen == ["5 bytes", "moved", "folder", "3 bytes", "moved", "folder"]


@pytest.mark.usefixtures("umask")
def test_the_umask_is_kept_to(tmp_path: Path) -> None:
    with written(tmp_path / "a", "w") as file:
        file.write("mine")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    os.umask(0o027)
    with aside(tmp_path / "b") as beside:
        beside.write_text("ours")
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o640
    # What was private stays private.
    with written(tmp_path / "a", "w") as file:
        file.write("mine")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data" / "real")
    with written(tmp_path / "link", "w") as file:
        file.write("through")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "data" / "real").read_text() == "through"


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a"
    with pytest.raises(FileError, match="File exists"), written(path, "w", overwrite=False):
        path.write_text("theirs")
    assert path.read_text() == "theirs"

    def none(*given, **more) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("os.link", none)
    with pytest.raises(FileError, match="File exists"), written(path, "w", overwrite=False):
        pass
    path.unlink()
    with written(path, "w", overwrite=False) as file:
        file.write("mine")
    assert path.read_text() == "mine"
    assert names(tmp_path) == ["a"]


def test_places_that_cannot_be_written_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, why in (
        (tmp_path, "Is a directory"),
        (Path("/"), "Is a directory|busy"),
        (tmp_path / "no" / "a", "No such file or directory"),
        (tmp_path / "file" / "a", "Not a directory"),
    ):
        with pytest.raises(FileError, match=why), written(path, "w") as file:
            file.write("nowhere")
    assert names(tmp_path) == ["file"]


def test_troubles_of_other_files_are_not_told_as_ours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), written(tmp_path / "a", "w"):
        (tmp_path / "absent").read_text()
    with pytest.raises(BrokenPipeError), written(tmp_path / "a", "w"):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
    assert names(tmp_path) == []


def test_devices_are_written_as_they_are() -> None:
    with written("/dev/null", "w") as file:
        file.write("gone")
    with aside("/dev/null") as beside:
        beside.write_text("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    code = "from equipoise.files import aside\nwith aside('/dev/stdout') as p: p.write_text('told')"
    process = child(code)
    assert said(process) == "told"
    assert process.wait() == 0


# ---------------------------------------------------------------------------------- leftovers

WRITE_FOR_EVER = """
import sys
from equipoise.files import written
with written(sys.argv[1]) as file:
    file.write(bytes(50_000))
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_leaves_what_is_swept_away(tmp_path: Path) -> None:
    process = child(WRITE_FOR_EVER, tmp_path / "table.npy")
    assert said(process) == "writing"
    (tmp_path / "other").write_text("")
    (partial,) = (name for name in names(tmp_path) if name != "other")
    assert sweep_leftovers(tmp_path) == 0
    assert partial in names(tmp_path)
    process.kill()
    process.wait()
    assert partial in names(tmp_path)
    assert sweep_leftovers(tmp_path) == 1
    assert names(tmp_path) == ["other"]


def test_what_is_left_where_a_command_will_write_is_swept(tmp_path: Path) -> None:
    (tmp_path / ".partial-1-00000000-spot.solution").write_text("left by a killed save")
    with written(tmp_path / "table.npy", "w") as file:
        file.write("live")
        check_target(tmp_path / "spot.solution")
    assert names(tmp_path) == ["table.npy"]


def test_only_what_was_written_here_is_swept(tmp_path: Path) -> None:
    kept = [".partial", ".partial-x-00000000-a", "partial-1-00000000-a", ".a.partial"]
    for name in kept:
        (tmp_path / name).write_text("")
    (tmp_path / ".partial-1-00000000-folder").mkdir()
    assert sweep_leftovers(tmp_path) == 0
    assert sweep_leftovers(tmp_path / "absent") == 0
    assert len(names(tmp_path)) == len(kept) + 1


def test_without_locks_the_process_and_the_age_tell(tmp_path: Path, monkeypatch) -> None:
    gone = child("")
    gone.wait()
    monkeypatch.setattr(files, "_lock", lambda descriptor: None)
    for name in (f".partial-{gone.pid}-00000000-a", f".partial-{os.getpid()}-00000000-a"):
        (tmp_path / name).write_text("")
    old = tmp_path / f".partial-{os.getpid()}-00000001-a"
    old.write_text("")
    os.utime(old, (0, 0))
    assert sweep_leftovers(tmp_path) == 2
    assert names(tmp_path) == [f".partial-{os.getpid()}-00000000-a"]


# -------------------------------------------------------------------------------------- locks

HOLD_FOR_EVER = """
import sys
from equipoise.files import locked
with locked(sys.argv[1], "training"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_locked_by_one_process(tmp_path: Path) -> None:
    process = child(HOLD_FOR_EVER, tmp_path)
    assert said(process) == "held"
    with pytest.raises(FileError) as caught, locked(tmp_path, "training"):
        pass
    assert str(caught.value) == (
        f"another training writes to {tmp_path} (process {process.pid}): wait for it, or choose "
        "another --out"
    )
    process.kill()
    process.wait()
    with locked(tmp_path):
        assert names(tmp_path) == [LOCK_NAME]
    assert names(tmp_path) == []


def test_a_folder_is_locked_within_one_process_too(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(FileError, match="another run"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_folder_that_is_opened_is_swept(tmp_path: Path) -> None:
    (tmp_path / ".partial-1-00000000-a").write_text("left by a killed run")
    with locked(tmp_path):
        assert names(tmp_path) == [LOCK_NAME]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"), locked(tmp_path / "absent"):
        pass

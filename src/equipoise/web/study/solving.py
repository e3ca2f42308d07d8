"""What the study page has done elsewhere: spots solved, paused, locked and gone on with, each in one file.

A spot has one file in the folder, named by what it says; with locks it has another. So a link opens
what was solved before, and a pause is nothing but a solve that was stopped and saved.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.artefact import fingerprint
from equipoise.datafolder import data_folder
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.run import Listener, Stop

if TYPE_CHECKING:
    from equipoise.solve.spots.solution import Solution

#: A lock: line, what each action does, the hands it is for ("" for all), or how often over all hands.
LockWords = tuple[str, dict[str, float], str, bool]
#: Preset and board that the page begins with: a turn is solved in a second.
START = ("single-raised", "Ks8d3c2h")
#: Characters of a link's spot, packed and not.
_MOST_PACKED, _MOST_TEXT = 20_000, 200_000
#: Seconds that a solve which is paused may take to end its iteration and write its file.
SECONDS_TO_SAVE = 900.0


def study_folder() -> Path:
    """Where solved spots are kept."""
    folder = data_folder() / "study"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def said(spot: Spot) -> dict[str, Any]:
    """All that a spot says; two that say the same are one, whatever they are called."""
    return {key: value for key, value in spot.to_dict().items() if key != "name"}


def solution_name(spot: Spot, locks: Sequence[LockWords] = ()) -> str:
    """What the file of a spot's solution is called."""
    return f"{fingerprint([said(spot), [list(lock) for lock in locks]])}.solution"


def solution_file(spot: Spot, locks: Sequence[LockWords] = ()) -> Path:
    """Where the solution of a spot is, or will be."""
    return study_folder() / solution_name(spot, locks)


def looked(path: Path) -> Solution:
    """A saved solution to look at; one that was looked at lately, and is the same, is not opened again."""
    try:
        told = path.stat()
    except OSError:
        from equipoise.solve.spots.solution import Solution

        return Solution.look(path)
    return _looked(path, told.st_mtime_ns, told.st_size)


@lru_cache(maxsize=8)
def _looked(path: Path, changed: int, size: int) -> Solution:
    from equipoise.solve.spots.solution import Solution

    return Solution.look(path)


def packed(text: str) -> str:
    """A spot's text as a link holds it.

    >>> unpacked(packed("board = 'AsKsQs'"))
    "board = 'AsKsQs'"
    """
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpacked(link: str) -> str:
    """The text of a link; what is none is refused."""
    if len(link) > _MOST_PACKED:
        raise EquipoiseError("the link is too long to hold a spot: copy it again")
    try:
        raw = base64.urlsafe_b64decode(link + "=" * (-len(link) % 4))
        unzip = zlib.decompressobj()
        text = unzip.decompress(raw, _MOST_TEXT)
        if not unzip.eof:
            raise ValueError
        return text.decode()
    except (ValueError, zlib.error):
        raise EquipoiseError("the link holds no spot: copy it again, whole") from None


def solve_work(
    listener: Listener,
    stop: Stop,
    text: str,
    target_pct_pot: float,
    locks: Sequence[LockWords],
    base: str | None,
) -> dict[str, Any]:
    """Solve a spot, or go on with its file, until the target is met or somebody pauses; saved either way.

    A spot without a file of its own goes on from `base`, where there is one: another file of the same spot,
    or the solution without locks; locks need numbers of 32 bits, so none goes on from a base of 16. Long
    solves are saved on the way.
    """
    from equipoise.solve.spots.fitting import storage_for
    from equipoise.solve.spots.solution import Solution
    from equipoise.solve.spots.solutionfile import is_solution

    spot = Spot.from_toml(text)
    path = solution_file(spot, locks)
    if is_solution(path):
        solution = Solution.load(path, threads=None)
    else:
        begun = None if base is None else Solution.load(base, threads=None)
        if begun is None or (locks and begun.storage == "16-bit"):
            begun = Solution.unsolved(spot, None, "32-bit" if locks else storage_for(spot))
        solution = begun
        if not solution.iterations and any(overall for _, _, _, overall in locks):
            # Which hands lose least is known once the rest is solved.
            solution.solve_on(target_pct_pot, listener=listener, stop=stop)
            if stop.is_set():
                raise EquipoiseError("paused before the lock was put on: lock again")
        for lock in locks:
            _lock(solution, lock)
    solution.solve_on(target_pct_pot, listener=listener, stop=stop, checkpoint=path)
    solution.save(path)
    return {**solution.to_dict(), "file": str(path)}


def batch_work(
    listener: Listener, stop: Stop, text: str, flops: int | None, target_pct_pot: float, folder: str
) -> dict[str, Any]:
    """Solve a spot on many flops into a folder, and report on those that are solved, all or some."""
    from equipoise.run import Limit
    from equipoise.solve.batch.jobs import Batch, keep_template
    from equipoise.solve.batch.report import BatchReport
    from equipoise.solve.batch.run import run_batch
    from equipoise.solve.spots.fitting import storage_for

    template = Spot.from_toml(text)
    batch = Batch.from_flops(template, flops)
    outcomes = run_batch(
        batch, folder, Limit(exploitability_pct_pot=target_pct_pot), workers=1,
        listener=listener, storage=storage_for(template), stop=stop,
    )  # fmt: skip
    report = BatchReport(outcomes)
    report.save(Path(folder) / "report")
    keep_template(folder, template)
    return {"solved": len(report.spots), "of": len(batch.jobs)}


def batch_folder(spot: Spot, target_pct_pot: float) -> Path:
    """Where the flops of a spot are solved to; a larger number of them goes on in the same folder."""
    told = {key: value for key, value in said(spot).items() if key != "board"}
    name = f"{spot.name or 'flops'}-{fingerprint([told, target_pct_pot])[:12]}"
    return study_folder() / "flops" / name


def batch_folders() -> dict[str, Path]:
    """Folders with a report, by name, those written last first."""
    found = [at for at in (study_folder() / "flops").glob("*") if (at / "report").is_dir()]
    found.sort(key=lambda at: -(at / "report").stat().st_mtime)
    return {at.name: at for at in found}


def short_work(listener: Listener, stop: Stop) -> dict[str, Any]:
    """Jam or fold at every stack of the page: charts, and the spans of stacks of every class."""
    from equipoise.solve.study.shortstacks import ShortStacks

    found = ShortStacks(listener=listener, stop=stop)
    return {
        "stacks": list(found.stacks),
        "jam": found.frequencies("jam"),
        "call": found.frequencies("call"),
        "jam_share": [chart.jam_share for chart in found.charts],
        "call_share": [chart.call_share for chart in found.charts],
        "hands": found.columns(),
    }


def _lock(solution: Any, lock: LockWords) -> None:
    from equipoise.solve.study.frequencylock import by_frequency

    line, play, hands, overall = lock
    position = solution.at(line) if line.strip() else solution.at()
    if overall:
        solution.lock(position, by_frequency(position, play))
    else:
        solution.lock(position, play, hands.strip() or None)

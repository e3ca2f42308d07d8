"""The answers of a batch: what is told of a solved spot, and the folder that keeps it.

The answer to a spot is a small JSON file named by the spot and by a hash of the spot and of what it
is solved to. It is moved into place whole and carries a checksum: what is missing, damaged or changed
is found by reading.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.artefact import fingerprint
from equipoise.errors import ArtefactError
from equipoise.files import sweep_leftovers, written
from equipoise.games.spot import Spot
from equipoise.run import Limit
from equipoise.solve.batch.jobs import SpotJob
from equipoise.solve.solvers.cfr import Storage
from equipoise.solve.spots.position import Position
from equipoise.solve.spots.solution import Solution

#: Changes whenever the meaning of a result does.
LAYOUT = 1
#: How the first decision is called among lines.
ROOT = "root"
#: What every spot is solved to unless told otherwise.
LIMIT = Limit(exploitability_pct_pot=0.5)

Result = dict[str, Any]


@dataclass(frozen=True)
class JobOutcome:
    """What became of a job."""

    job: SpotJob
    #: What :func:`summary` told, or nothing if it failed.
    result: Result | None
    #: Why it failed.
    error: str = ""
    #: Whether it was solved before this run.
    resumed: bool = False


def summary(solution: Solution) -> Result:
    """Figures of a solved spot: the whole, and the first decisions of both players.

    The lines are the first decision, and the decision after each of its actions: how often a line
    is taken, what it is worth to both players, and each action's frequency and value.
    """
    root = solution.at()
    lines = []
    if root.to_act is not None:
        lines.append(_line(root, 1.0))
        for action, reach in zip(root.actions, root.frequencies(), strict=True):
            after = root.step(action)
            if after.to_act is not None:
                lines.append(_line(after, float(reach)))
    told: Result = _known({**solution.to_dict(), "pot": solution.pot, "lines": lines})
    return told


def _line(position: Position, reach: float) -> dict[str, Any]:
    who = position.to_act
    assert who is not None
    spot, actions = position.answer.spot, []
    for action, frequency in zip(position.actions, position.frequencies(), strict=True):
        after = position.step(action)
        paid = (after.state.committed[who] - position.state.committed[who]) / spot.parts
        # Folding is worth 0 by definition, up to the rounding of sums.
        worth = 0.0 if action == "fold" else (after.mean_ev(who) - paid) * spot.chips_per_unit
        actions.append({"action": action, "frequency": float(frequency), "ev_chips": worth})
    return {
        "line": ", ".join(position.line) or ROOT,
        "player": position.player,
        "pot": position.pot,
        "reach": reach,
        "ev_oop_chips": position.mean_ev("oop") * spot.chips_per_unit,
        "ev_ip_chips": position.mean_ev("ip") * spot.chips_per_unit,
        "equity_oop": position.mean_equity("oop"),
        "actions": actions,
    }


def _known(value: Any) -> Any:
    """Plain types, None for what is not a number."""
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return None if isinstance(value, float) and value != value else value


class Results:
    """The answers of a batch in a folder, and solutions beside them if they are kept."""

    def __init__(
        self,
        folder: str | Path,
        limit: Limit = LIMIT,
        storage: Storage = "32-bit",
        through: str | None = None,
    ) -> None:
        self.folder = Path(folder)
        #: What every spot is solved to, and how many bits its numbers are kept in meanwhile.
        self.limit, self.storage = limit, storage
        #: Street up to which whole solutions are kept; None for not at all.
        self.through = through

    def make_folders(self) -> None:
        """Make sure that answers can be written, before anything is solved."""
        for folder in (self.folder / "results", self.folder / "solutions"):
            if folder.name == "solutions" and self.through is None:
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ArtefactError(f"cannot make {folder}: {error.strerror}") from None
            sweep_leftovers(folder)

    def identity(self, spot: Spot) -> str:
        """A hash of a spot, whatever its name, and of what it is solved to."""
        settings = spot.to_dict()
        settings.pop("name", None)
        goal = {
            "target_pct_pot": self.limit.exploitability_pct_pot,
            "seconds": self.limit.seconds,
            "iterations": self.limit.iterations,
            "compressed": self.storage == "16-bit",
        }
        return fingerprint({"spot": settings, "goal": goal, "layout": LAYOUT})

    def path(self, job: SpotJob) -> Path:
        """Where the answer to a job is."""
        return self.folder / "results" / f"{self._stem(job)}.json"

    def solution_path(self, job: SpotJob) -> Path | None:
        """Where the solution of a job is kept, if it is."""
        if self.through is None:
            return None
        return self.folder / "solutions" / f"{self._stem(job)}.{self.through}.solution"

    def _stem(self, job: SpotJob) -> str:
        readable = re.sub(r"[^A-Za-z0-9._-]+", "_", job.name)[:60]
        return f"{readable}-{self.identity(job.spot)}"

    def read(self, job: SpotJob) -> Result | None:
        """The answer to a job; None if it is missing, damaged or another's."""
        try:
            told = json.loads(self.path(job).read_text(encoding="utf-8"))
            result = told["result"]
            if told["identity"] != self.identity(job.spot):
                return None
            if told["checksum"] != fingerprint(result) or not isinstance(result, dict):
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        kept = self.solution_path(job)
        return None if kept is not None and not kept.is_file() else result

    def write(self, job: SpotJob, result: Result) -> None:
        """Write the answer, whole or not at all."""
        path = self.path(job)
        told = {
            "name": job.name,
            "identity": self.identity(job.spot),
            "checksum": fingerprint(result),
            "result": result,
        }
        with written(path, "w") as out:
            json.dump(told, out)
